// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The nodes of a cluster, and the limits of the command line as limits of the library.
#pragma once

#include "history.hpp"
#include "options.hpp"

#include <straggle/blacklist/limits.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>

#include <random>
#include <tuple>

namespace straggle_rank {

/// What limits need to know about every node.
struct fleet {
    std::vector<std::string> names;
    std::vector<double> slots;
    std::vector<std::string> domains; ///< empty if not requested
};

/// All nodes of a history; their failure domains are the first group of the expression, or all it matches;
/// nodes it does not match share one domain.
[[nodiscard]] fleet fleet_of(history const& h, options const& o);

/// Projections from a node to what limits need to know about it.
struct slots_of {
    std::vector<double> const* slots;
    double operator()(std::uint32_t node) const { return (*slots)[node]; }
};
struct domain_of {
    std::vector<std::string> const* domains;
    std::string const& operator()(std::uint32_t node) const { return (*domains)[node]; }
};

/// The requested limits, as a tuple. @pre the fleet outlives them
[[nodiscard]] inline auto limits_of(fleet const& f, limit_options const& g) {
    auto const wanted = []<class Limit>(bool yes, Limit limit) {
        return yes ? std::optional<Limit>(std::move(limit)) : std::optional<Limit>();
    };
    double const open_above = g.fail_open.value_or(1);
    return std::tuple(
        wanted(g.fail_open.has_value(), straggle::blacklist::fail_open(open_above, open_above / 2)),
        wanted(g.domain.has_value(), straggle::blacklist::one_per_domain<domain_of>(domain_of{&f.domains})),
        wanted(g.min_healthy.has_value(), straggle::blacklist::at_least_healthy_slots<slots_of>(
                                              g.min_healthy.value_or(0), slots_of{&f.slots})),
        wanted(g.max_nodes.has_value(), straggle::blacklist::at_most(g.max_nodes.value_or(0))),
        wanted(g.max_fraction.has_value(), straggle::blacklist::share_of_slots<slots_of>(
                                               g.max_fraction.value_or(0), slots_of{&f.slots})));
}

/// Calls visit(policy) with the selection policy as a type of the library.
/// @param engine for a random fill; must live as long as the policy
template <class Visit>
auto with_selection(selection const& chosen, std::mt19937_64& engine, Visit&& visit) {
    return std::visit(
        [&]<class Policy>(Policy const& policy) {
            if constexpr (std::same_as<Policy, top_k>) {
                if (!policy.seed) return visit(straggle::blacklist::top_k_intersection(policy.k));
                engine.seed(*policy.seed);
                return visit(straggle::blacklist::top_k_intersection(policy.k, engine));
            } else if constexpr (std::same_as<Policy, by_slowdown>) {
                return visit(straggle::blacklist::slower_by{.least_slowdown = policy.least});
            } else {
                return visit(policy);
            }
        },
        chosen);
}

} // namespace straggle_rank
