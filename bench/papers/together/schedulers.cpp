// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "schedulers.hpp"

#include "../policies/composed.hpp"
#include "forecasting.hpp"
#include "helping.hpp"

#include <straggle/blacklist/cooldown.hpp>
#include <straggle/detect/cap.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/node_aware.hpp>
#include <straggle/detect/over_median.hpp>

#include <algorithm>
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

using gain = straggle::detect::largest_gain<straggle::detect::average_rate_estimate, told_replacement>;
using aware = straggle::detect::node_aware<policies::told_usual_time>;

using block = straggle::blacklist::cooldown<std::uint32_t>;

// Machines of tasks that got a copy, or were suspected, get nothing for a minute.
struct blocked_for_a_minute {
    std::shared_ptr<block> blocked;
    double now = 0;
    std::vector<policies::blacklist_log> log{};
    void ended(cluster::attempt_record const&, double) {}
    void round(double t) { now = t; }
    bool avoids(std::uint32_t node) const { return blocked->avoids(node, now); }
    bool tries(std::uint32_t) const { return false; }
};

// Both: for long on the evidence of windows, for a minute on that of a single task.
template <class Kept>
struct kept_and_blocked : Kept {
    blocked_for_a_minute minute;

    kept_and_blocked(Kept kept, blocked_for_a_minute m) : Kept(std::move(kept)), minute(std::move(m)) {}
    void round(double now) {
        Kept::round(now);
        minute.round(now);
    }
    bool avoids(std::uint32_t node) const { return Kept::avoids(node) || minute.avoids(node); }
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

} // namespace

policies::scheduler make_scheduler(std::string const& name, cluster::plan const& plan, std::uint64_t seed) {
    using policies::compose;
    std::vector<std::uint32_t> const kinds = kinds_of(plan);
    auto const help = [&](auto rule, parts const& with) {
        return helping<decltype(rule)>(std::move(rule), with, kinds, seed, [](auto& r, auto const& rows) {
            if constexpr (requires { r.usual_time_of.by_row; }) r.usual_time_of.by_row = &rows;
            if constexpr (requires { r.base.replacement.usual; }) r.base.replacement.usual.by_row = &rows;
        });
    };
    policies::no_blacklist const nobody;
    auto const machines = static_cast<std::uint32_t>(plan.nodes.size());
    auto const blocked = std::make_shared<block>(straggle::blacklist::cooldown_options{.stragglers = 1});
    aware by_node{};
    by_node.report_interval = plan.report_interval;
    straggle::detect::cap const hadoop{gain{}};
    policies::kept_blacklist kept(window, machines);
    forecasting forecast(window);
    if (name == "Hadoop") return compose(nobody, help(hadoop, {.pause = 15}));
    if (name == "Spark") return compose(nobody, help(straggle::detect::over_median{}, {}));
    if (name == "Flink") {
        *blocked = block({.stragglers = 1, .most = 1}); // it has no limit
        return compose(blocked_for_a_minute{blocked}, help(straggle::detect::flink{}, {.blocked = blocked}));
    }
    if (name == "detector") return compose(nobody, help(by_node, {}));
    if (name == "predictor") return compose(nobody, help(hadoop, {.predicts = true, .pause = 15}));
    if (name == "assigner") {
        parts const with{.assigns = true, .slot_price = slot_price, .left = remaining_by::value};
        return compose(nobody, help(gain{.most = 1000}, with));
    }
    if (name == "blacklist") return compose(std::move(kept), help(hadoop, {.pause = 15}));
    if (name == "forecast") {
        straggle::blacklist::forecast_weak const expected{forecast.expected()};
        return compose(forecast_blacklist(window, machines, std::move(forecast), expected),
                       help(hadoop, {.pause = 15}));
    }
    if (name == "brief block")
        return compose(blocked_for_a_minute{blocked}, help(hadoop, {.pause = 15, .blocked = blocked}));

    parts all{.predicts = true,
              .assigns = true,
              .slot_price = slot_price,
              .progress = policies::progress_as::recent_rate,
              .blocked = blocked};
    straggle::blacklist::either const selection{straggle::blacklist::clearly_dominated{},
                                                straggle::blacklist::forecast_weak{forecast.expected()}};
    forecast_blacklist both(window, machines, std::move(forecast), selection);
    if (name == "together") return compose(kept_and_blocked(std::move(both), {blocked}), help(by_node, all));
    if (name == "without forecast")
        return compose(kept_and_blocked(std::move(kept), {blocked}), help(by_node, all));
    if (name == "without brief block") {
        all.blocked = nullptr;
        return compose(std::move(both), help(by_node, all));
    }
    if (name == "without recent_rate") {
        all.progress = policies::progress_as::told;
        return compose(kept_and_blocked(std::move(both), {blocked}), help(by_node, all));
    }
    if (name == "without predictor") {
        all.predicts = false;
        return compose(kept_and_blocked(std::move(both), {blocked}), help(by_node, all));
    }
    if (name == "without blacklist") return compose(blocked_for_a_minute{blocked}, help(by_node, all));
    if (name == "with Flink's rule") {
        all.left = remaining_by::as_long_again;
        return compose(kept_and_blocked(std::move(both), {blocked}), help(straggle::detect::flink{}, all));
    }
    throw std::invalid_argument("no scheduler is called " + name);
}

} // namespace together
