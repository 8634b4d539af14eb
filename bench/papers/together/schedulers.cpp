// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "schedulers.hpp"

#include "../policies/composed.hpp"
#include "helping.hpp"

#include <straggle/detect/cap.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/node_aware.hpp>
#include <straggle/detect/over_median.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace together {

namespace {

constexpr double window = 900; // of the blacklist
// Seconds of a job per second of a slot: more than the assigner's default, as copies are to waste less than
// Hadoop's. Chosen on other seeds than those that are reported.
constexpr double slot_price = 0.5;

using gain = straggle::largest_gain<straggle::linear_estimate, told_replacement>;
using aware = straggle::node_aware<policies::told_usual_time>;

// Flink's: machines of slow tasks get nothing for a minute.
struct blocked_for_a_minute {
    std::shared_ptr<std::map<std::uint32_t, double>> until;
    double now = 0;
    std::vector<policies::blacklist_log> log{};
    void ended(cluster::attempt_record const&, double) {}
    void round(double t) { now = t; }
    bool avoids(std::uint32_t node) const {
        auto const at = until->find(node);
        return at != until->end() && now < at->second;
    }
    bool tries(std::uint32_t) const { return false; }
};

// A task whose copy won took at least as long as it had run when it was killed: counted as if it had ended
// then. Without it, the better the copies the less is known of the machines that make them necessary.
struct kept_by_losers : policies::kept_blacklist {
    using kept_blacklist::kept_blacklist;
    void ended(cluster::attempt_record a, double now) {
        if (!a.copy) a.how = cluster::ending::finished;
        kept_blacklist::ended(a, now);
    }
};

// Both: for long on the evidence of windows, for a minute on that of a single task.
struct kept_and_blocked : kept_by_losers {
    blocked_for_a_minute blocked;

    kept_and_blocked(kept_by_losers kept, blocked_for_a_minute minute)
        : kept_by_losers(std::move(kept)), blocked(std::move(minute)) {}
    void round(double now) {
        kept_by_losers::round(now);
        blocked.round(now);
    }
    bool avoids(std::uint32_t node) const { return kept_by_losers::avoids(node) || blocked.avoids(node); }
};

// The kind of each job by its name.
std::vector<std::uint32_t> kinds_of(cluster::plan const& plan) {
    std::vector<std::string> names;
    std::vector<std::uint32_t> kinds;
    for (cluster::job_spec const& job : plan.jobs) {
        auto const at = std::find(names.begin(), names.end(), job.kind);
        kinds.push_back(static_cast<std::uint32_t>(at - names.begin()));
        if (at == names.end()) names.push_back(job.kind);
    }
    return kinds;
}

template <class Blacklist, class Speculation>
policies::scheduler compose(Blacklist blacklist, Speculation speculation) {
    auto made = std::make_unique<policies::composed<Blacklist, Speculation>>(std::move(blacklist),
                                                                             std::move(speculation));
    auto const* log = &made->blacklist().log;
    return {std::move(made), log};
}

} // namespace

policies::scheduler make_scheduler(std::string const& name, cluster::plan const& plan, std::uint64_t seed) {
    std::vector<std::uint32_t> const kinds = kinds_of(plan);
    auto const help = [&](auto rule, parts const& with) {
        return helping<decltype(rule)>(std::move(rule), with, kinds, seed, [](auto& r, auto const& rows) {
            if constexpr (requires { r.usual_time_of.by_row; }) r.usual_time_of.by_row = &rows;
            if constexpr (requires { r.base.replacement.usual; }) r.base.replacement.usual.by_row = &rows;
        });
    };
    policies::no_blacklist const nobody;
    auto const machines = static_cast<std::uint32_t>(plan.nodes.size());
    auto const until = std::make_shared<std::map<std::uint32_t, double>>();
    aware by_node{};
    by_node.report_interval = plan.report_interval;
    straggle::cap const hadoop{gain{}};
    if (name == "Hadoop") return compose(nobody, help(hadoop, {.pause = 15}));
    if (name == "Spark") return compose(nobody, help(straggle::over_median{}, {}));
    if (name == "Flink")
        return compose(blocked_for_a_minute{until}, help(straggle::flink{}, {.blocked = until}));
    if (name == "detector") return compose(nobody, help(by_node, {}));
    if (name == "predictor") return compose(nobody, help(hadoop, {.predicts = true, .pause = 15}));
    if (name == "assigner") {
        parts const with{.assigns = true, .slot_price = slot_price, .left = remaining_by::value};
        return compose(nobody, help(gain{.most = 1000}, with));
    }
    if (name == "blacklist")
        return compose(policies::kept_blacklist(window, machines), help(hadoop, {.pause = 15}));
    kept_by_losers kept(window, machines);
    if (name == "blacklist and losers") return compose(std::move(kept), help(hadoop, {.pause = 15}));
    parts all{.predicts = true, .assigns = true, .slot_price = slot_price, .blocked = until};
    if (name == "together") return compose(kept_and_blocked(std::move(kept), {until}), help(by_node, all));
    all.left = remaining_by::as_long_again;
    if (name == "together by Flink's rule")
        return compose(kept_and_blocked(std::move(kept), {until}), help(straggle::flink{}, all));
    all.predicts = false;
    if (name == "Flink's rule without predictor")
        return compose(kept_and_blocked(std::move(kept), {until}), help(straggle::flink{}, all));
    throw std::invalid_argument("no scheduler is called " + name);
}

} // namespace together
