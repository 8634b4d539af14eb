// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "decide.hpp"

#include "text.hpp"

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>

#include <cmath>
#include <random>
#include <regex>

namespace straggle_rank {

namespace {

// Projections from a node to what guards want to know of it.
struct slots_of {
    history const* h;
    double operator()(std::uint32_t node) const { return h->slots[node]; }
};
struct domain_of {
    std::vector<std::string> names;
    std::string const& operator()(std::uint32_t node) const { return names[node]; }
};

// A guard that the user may not have asked for.
template <class Guard, class... Arguments>
straggle::optional_guard<Guard> wanted(bool yes, Arguments&&... arguments) {
    if (!yes) return straggle::optional_guard<Guard>();
    return straggle::optional_guard<Guard>(Guard(std::forward<Arguments>(arguments)...));
}

// The failure domain of every node: the first group of the expression, or all it matches; nodes it does not
// match share one domain.
std::vector<std::string> domains(history const& h, std::string const& expression) {
    constexpr std::size_t longest = 1024; // std::regex recurses over its text
    std::regex const regex(expression);
    std::vector<std::string> result;
    for (std::string const& name : h.nodes.ids()) {
        std::string const head = name.substr(0, longest);
        std::smatch match;
        if (std::regex_search(head, match, regex))
            result.push_back(match[match.size() > 1 ? 1 : 0]);
        else
            result.emplace_back();
    }
    return result;
}

template <class Policy>
decision decide_with(Policy policy, ranking const& r, history const& h, options const& o) {
    guard_options const& g = o.guards;
    using fraction_guard = straggle::at_most_slot_fraction<slots_of>;
    using healthy_guard = straggle::at_least_healthy_slots<slots_of>;
    using domain_guard = straggle::one_per_domain<domain_of>;
    domain_of domain{g.domain ? domains(h, *g.domain) : std::vector<std::string>{}};
    double const open_above = g.fail_open.value_or(1);

    straggle::blacklister blacklister(
        std::move(policy), wanted<straggle::fail_open>(g.fail_open.has_value(), open_above, open_above / 2),
        wanted<domain_guard>(g.domain.has_value(), std::move(domain)),
        wanted<healthy_guard>(g.min_healthy.has_value(), g.min_healthy.value_or(0), slots_of{&h}),
        wanted<straggle::at_most>(g.max_nodes.has_value(), g.max_nodes.value_or(0)),
        wanted<fraction_guard>(g.max_fraction.has_value(), g.max_fraction.value_or(0), slots_of{&h}));
    return blacklister.decide(r);
}

// What was measured, in words.
std::string evidence(verdict const& v, options const& o) {
    std::string const interval = percent(o.confidence) + " interval " + signed_number(v.ci.low) + " to " +
                                 signed_number(v.ci.high) + ", " + counted(v.n, "task");
    if (o.normaliser == normaliser::ratio)
        return "takes " + fixed(v.mean, 2) + " times as long as usual (" + interval + ")";
    return fixed(std::fabs(v.mean), 2) + (v.mean < 0 ? " deviations faster" : " deviations slower") +
           " than siblings elsewhere (" + interval + ")";
}

} // namespace

decision decide(ranking const& r, history const& h, options const& o) {
    return std::visit(
        [&]<class Policy>(Policy const& policy) {
            if constexpr (std::same_as<Policy, top_k>) {
                if (!policy.seed) return decide_with(straggle::top_k_intersection(policy.k), r, h, o);
                std::mt19937_64 engine(*policy.seed);
                return decide_with(straggle::top_k_intersection(policy.k, engine), r, h, o);
            } else {
                return decide_with(policy, r, h, o);
            }
        },
        o.selection);
}

std::string reason(verdict const& v, ranking const& r, options const& o) {
    std::string const what = evidence(v, o) + "; ";
    std::string const faster = std::to_string(v.provably_faster) + " of the " +
                               std::to_string(r.nodes().size() - 1) + " other nodes are faster beyond doubt";
    if (v.rule == "dominated") return what + faster;
    if (v.rule == "dominated_fdr")
        return what + faster + ", p = " + short_number(v.value) + ", at most " + short_number(v.threshold);
    if (v.rule == "weakest_level") return what + "no other node is slower beyond doubt";
    if (v.rule == "top_k_intersection")
        return what + "among the slowest or least steady of the weakest level";
    return what + "the mean exceeds the threshold of " + signed_number(v.threshold);
}

std::string guard_reason(std::string_view guard, options const& o) {
    guard_options const& g = o.guards;
    if (guard == "at_most_slot_fraction")
        return "at most " + percent(g.max_fraction.value_or(0)) + " of all slots may be taken out";
    if (guard == "at_most")
        return "at most " + counted(g.max_nodes.value_or(0), "node") + " may be taken out";
    if (guard == "at_least_healthy_slots")
        return short_number(g.min_healthy.value_or(0)) + " slots have to stay in service";
    if (guard == "one_per_domain") return "it is the last one of its failure domain";
    if (guard == "fail_open")
        return "more than " + percent(g.fail_open.value_or(0)) +
               " of the nodes look weak at once: rather distrust the measurement";
    return std::string(guard);
}

std::string remark(decision const& d, ranking const& r) {
    switch (d.note()) {
    case straggle::selection_note::all_overlap:
        return r.nodes().size() < 2 ? "only one node could be ranked"
                                    : "the intervals of all nodes overlap: nobody is slower beyond doubt";
    case straggle::selection_note::too_few_nodes:
        return "too few nodes could be ranked (" + std::to_string(r.nodes().size()) + ") for this policy";
    case straggle::selection_note::unreachable_threshold:
        return "no node of a fleet of this size can be that far from the mean: choose a smaller K";
    case straggle::selection_note::none:
        break;
    }
    return {};
}

} // namespace straggle_rank
