// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What limits cost, and what they save: a selection that names many nodes (`clearly_dominated`, window by
/// window) with each of them alone, and with none. `docs/guide/monitoring.md` has what came of it.
#include "library_watch.hpp"

#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/exclusion.hpp>
#include <straggle/blacklist/limits.hpp>
#include <straggle/blacklist/timed_limits.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace lab {

namespace {

namespace blacklist = straggle::blacklist;

// What limits ask of the cluster, as of this round.
struct cluster_facts {
    double needed = 0;                  // nodes for all tasks: each has as many slots
    std::vector<std::uint32_t> domains; // by node
};
using facts = std::shared_ptr<cluster_facts>;

struct nodes_needed {
    facts of;
    double operator()() const { return of->needed; }
};
struct domain_of {
    facts of;
    std::uint32_t operator()(std::uint32_t node) const { return of->domains[node]; }
};

template <class Limit>
class limited final : public policy {
    using keeper = straggle::ranked_blacklist<std::uint32_t, blacklist::clearly_dominated,
                                              blacklist::probation<blacklist::escalating>, Limit>;

  public:
    limited(setup const& where, Limit limit, facts seen)
        : watch_(where, keeper({}, {}, std::move(limit))), seen_(std::move(seen)) {}

    void on_task_end(attempt_record const& a, double now) override { watch_.ended(a, now); }
    void on_job_end(std::uint32_t job, double) override { watch_.finish(job); }
    void decide(cluster_view const& view, decisions& out) override {
        double work = view.waiting, slots = 0;
        seen_->domains.clear();
        for (node_view const& n : view.nodes) {
            work += n.busy;
            slots += n.slots;
            seen_->domains.push_back(n.domain);
        }
        seen_->needed = work * static_cast<double>(view.nodes.size()) / slots;
        watch_.decide(view, out);
        watch_.probe(view, out);
    }

  private:
    library_watch<keeper> watch_;
    facts seen_;
};

// `limit(where, seen)` makes the limit.
template <class Make>
std::unique_ptr<policy> make(setup const& where, Make const& limit) {
    facts const seen = std::make_shared<cluster_facts>();
    return std::make_unique<limited<decltype(limit(where, seen))>>(where, limit(where, seen), seen);
}

template <auto Limit>
add_policy add(std::string_view name, std::string_view what) {
    return add_policy({name, what, false, [](setup const& s) { return make(s, Limit); }, true});
}

constexpr auto no_limit = [](setup const&, facts const&) { return straggle::record::unlimited{}; };
constexpr auto slots = [](setup const&, facts const&) { return blacklist::at_most_slot_fraction<>(0.2); };
constexpr auto few = [](setup const&, facts const&) { return blacklist::at_most(1); };
constexpr auto healthy = [](setup const& s, facts const&) {
    return blacklist::at_least_healthy_slots<>(0.9 * s.nodes);
};
constexpr auto domain = [](setup const&, facts const& seen) {
    return blacklist::one_per_domain<domain_of, std::uint32_t>(domain_of{seen});
};
constexpr auto rate = [](setup const&, facts const&) { return blacklist::rate_limit(0.25); };
constexpr auto open = [](setup const&, facts const&) { return blacklist::fail_open(); };
constexpr auto demand = [](setup const&, facts const& seen) {
    return blacklist::release_on_demand(nodes_needed{seen});
};

add_policy const policies[] = {
    add<no_limit>("limit_none", "clearly_dominated, no limit"),
    add<slots>("limit_slots", "clearly_dominated, at_most_slot_fraction: a fifth"),
    add<few>("limit_few", "clearly_dominated, at_most one node"),
    add<healthy>("limit_healthy", "clearly_dominated, at_least_healthy_slots: nine tenths"),
    add<domain>("limit_domain", "clearly_dominated, one_per_domain"),
    add<rate>("limit_rate", "clearly_dominated, rate_limit: a node in four windows"),
    add<open>("limit_fail_open", "clearly_dominated, fail_open"),
    add<demand>("limit_on_demand", "clearly_dominated, release_on_demand: slots for all tasks"),
};

} // namespace

} // namespace lab
