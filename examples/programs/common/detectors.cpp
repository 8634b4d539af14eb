// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "detectors.hpp"
#include "node_aware.hpp"

#include "settings.hpp"

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/mantri.hpp>
#include <straggle/detect/min_progress.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/tail_of_siblings.hpp>
#include <straggle/papers/evaluation_2019.hpp>

#include <array>
#include <limits>

namespace program {

namespace {

using straggle::detect::task_scope;

constexpr double any = 1e9, tiny = 1e-9;
constexpr std::array<std::pair<std::string_view, task_scope>, 3> scopes{
    {{"running", task_scope::running}, {"started", task_scope::started}, {"all", task_scope::all}}};

// Any of them, because a wrapper needs a single type.
struct rule {
    static constexpr std::string_view name = "rule";
    std::function<straggle::detect::detection_note(straggle::detect::job_view const&,
                                                   straggle::detect::detector_scratch&,
                                                   std::vector<straggle::detect::finding>&)>
        look;

    template <class Detector>
        requires(!std::same_as<Detector, rule>)
    explicit rule(Detector detector)
        : look([detector](straggle::detect::job_view const& job, straggle::detect::detector_scratch& scratch,
                          std::vector<straggle::detect::finding>& out) mutable {
              return detector.detect(job, scratch, out);
          }) {}
    // Changes the detector within.
    // NOLINTNEXTLINE(readability-make-member-function-const)
    straggle::detect::detection_note detect(straggle::detect::job_view const& job,
                                            straggle::detect::detector_scratch& scratch,
                                            std::vector<straggle::detect::finding>& out) {
        return look(job, scratch, out);
    }
};

// What is known about each task.
struct usual_times {
    decltype(known_of_tasks::usual_time_of) told{};
    straggle::outcome<double> operator()(straggle::detect::running_task const& task,
                                         straggle::detect::job_view const& job) const {
        if (!told) return straggle::status::insufficient_evidence;
        return told(task, job);
    }
};

rule make_progress_gap(settings& s, known_of_tasks const&) {
    straggle::detect::progress_gap d;
    s.take("gap", d.gap, 0, 1);
    s.choose("over", d.over, scopes);
    return rule(d);
}
rule make_late(settings& s, known_of_tasks const&) {
    straggle::detect::late d;
    s.take("alpha", d.alpha, 0, any);
    s.choose("over", d.over, scopes);
    return rule(d);
}
rule make_late_as_printed(settings& s, known_of_tasks const&) {
    straggle::papers::evaluation_2019::late_as_printed d;
    s.take("alpha", d.alpha, 0, any);
    return rule(d);
}
rule make_late_with_caps(settings& s, known_of_tasks const&) {
    straggle::detect::late_with_caps d =
        s.flag("mr1") ? straggle::detect::late_with_caps::mr1() : straggle::detect::late_with_caps{};
    bool const quantiles = d.scale == straggle::detect::late_scale::quantile;
    s.take("slow_task", d.slow_task, 0, quantiles ? 1 : any);
    s.take("slow_node", d.slow_node, 0, quantiles ? 1 : any);
    s.take("cap_of_running", d.cap_of_running, 0, 1);
    s.take("lag", d.lag, 0, any);
    return rule(d);
}
rule make_hierarchical(settings& s, known_of_tasks const& known) {
    constexpr std::array<std::pair<std::string_view, decltype(&make_late)>, 2> bases{
        {{"progress_gap", make_progress_gap}, {"late", make_late}}};
    auto base = bases[0].second;
    s.choose("base", base, bases);
    straggle::detect::hierarchical<rule> d{base(s, known)};
    s.take("share", d.share, 0, any);
    return rule(d);
}
rule make_average_time(settings& s, known_of_tasks const&) {
    straggle::detect::average_time d;
    s.take("factor", d.factor, 0, any);
    return rule(d);
}
rule make_over_median(settings& s, known_of_tasks const&) {
    straggle::detect::over_median d =
        s.flag("spark_4") ? straggle::detect::over_median::spark_4() : straggle::detect::over_median{};
    s.take("multiplier", d.multiplier, 0, any);
    s.take("quantile", d.quantile, 0, 1);
    s.take("min_time", d.min_time, 0, any);
    return rule(d);
}
rule make_flink(settings& s, known_of_tasks const&) {
    straggle::detect::flink d;
    s.take("multiplier", d.multiplier, 0, any);
    s.take("ratio", d.ratio, 0, 1 - tiny);
    s.take("lower_bound", d.lower_bound, 0, any);
    return rule(d);
}
rule make_largest_gain(settings& s, known_of_tasks const&) {
    straggle::detect::largest_gain<> d;
    s.take("most", d.most, 1, 1000000);
    s.take("min_share", d.min_share, 0, 1);
    return rule(d);
}
rule make_tail_of_siblings(settings& s, known_of_tasks const&) {
    straggle::detect::tail_of_siblings d;
    s.take("threshold", d.threshold, 1, any);
    s.take("deviations", d.deviations, 0, any);
    s.take("chance", d.chance, 0, 1);
    return rule(d);
}
rule make_mantri(settings& s, known_of_tasks const&) {
    straggle::detect::mantri<> d;
    s.take("delta", d.delta, 0, 1 - tiny);
    s.take("start_up", d.start_up, 0, any);
    s.take("min_finished", d.min_finished, 1, 1000000);
    return rule(d);
}
rule make_node_aware(settings& s, known_of_tasks const& known) {
    program::node_aware<usual_times> d;
    if (s.is_warm()) d.usual_time_of.told = known.usual_time_of;
    if (known.threshold > 1) d.straggler_threshold = known.threshold;
    if (s.is_warm()) d.usual_time = known.usual_seconds;
    d.resolution = known.resolution.value_or(d.resolution);
    d.report_interval = known.report_interval.value_or(d.report_interval);
    s.take("straggler_threshold", d.straggler_threshold, 1 + tiny, any);
    s.take("sureness", d.sureness, 0, any);
    s.take("usual_time", d.usual_time, 0, any);
    s.take("spread", d.spread, tiny, any);
    s.take("drift", d.drift, 0, any);
    s.take("resolution", d.resolution, tiny, any);
    s.take("report_interval", d.report_interval, 0, any);
    s.take("fast_share", d.fast_share, 0, 1);
    s.take("sharing", d.sharing, 0, 1);
    s.take("model_doubt", d.model_doubt, tiny, any);
    double start_up = -1; // not given
    s.take("start_up", start_up, 0, any);
    if (start_up >= 0) d.start_up = start_up;
    return rule(d);
}

struct entry {
    std::string_view name;
    rule (*make)(settings&, known_of_tasks const&);
    bool can_be_warm = false;
};
constexpr std::array<entry, 12> catalogue{{{"progress_gap", make_progress_gap},
                                           {"late", make_late},
                                           {"late_as_printed", make_late_as_printed},
                                           {"late_with_caps", make_late_with_caps},
                                           {"hierarchical", make_hierarchical},
                                           {"average_time", make_average_time},
                                           {"over_median", make_over_median},
                                           {"flink", make_flink},
                                           {"largest_gain", make_largest_gain},
                                           {"mantri", make_mantri},
                                           {"tail_of_siblings", make_tail_of_siblings},
                                           {"node_aware", make_node_aware, true}}};

// The wrappers around every rule.
rule wrapped(rule inner, settings& s) {
    double lag = 0, task_lag = 0, min_progress = 0;
    s.take("lag", lag, 0, any);
    s.take("task_lag", task_lag, 0, any);
    s.take("min_progress", min_progress, 0, 1);
    if (min_progress > 0) inner = rule(straggle::detect::min_progress<rule>{std::move(inner), min_progress});
    if (task_lag > 0) inner = rule(straggle::detect::task_lag<rule>{std::move(inner), task_lag});
    if (lag > 0) inner = rule(straggle::detect::speculative_lag<rule>{std::move(inner), lag});
    return inner;
}

} // namespace

straggle::detect::suspect_list<> contestant::operator()(straggle::detect::job_view const& job) {
    if (warm_) return look_(job);
    nodes_.assign(job.nodes.begin(), job.nodes.end());
    for (straggle::detect::job_node& n : nodes_) {
        n.modelled = false;
        n.slowdown = 1;
    }
    straggle::detect::job_view cold = job;
    cold.nodes = nodes_;
    return look_(cold);
}

contestant make_contestant(std::string_view specification, known_of_tasks const& known) {
    settings s(specification);
    for (entry const& e : catalogue) {
        if (e.name != s.name()) continue;
        bool const warm = e.can_be_warm && s.warm(known.warm);
        rule made = wrapped(e.make(s, known), s);
        s.finish();
        return {std::string(specification), warm,
                [scan = straggle::detect::straggler_scan(std::move(made))](
                    straggle::detect::job_view const& job) mutable { return scan(job); }};
    }
    std::string names;
    for (entry const& e : catalogue) (names += names.empty() ? "" : ", ") += e.name;
    s.wrong("'" + std::string(s.name()) + "' is not one of all, " + names);
}

std::vector<std::string> every_detector() {
    std::vector<std::string> all;
    for (entry const& e : catalogue) {
        all.emplace_back(e.name);
        if (e.can_be_warm) all.push_back(std::string(e.name) + ":warm=1");
    }
    return all;
}

std::string detector_help() {
    constexpr std::size_t indent = 18, width = 120;
    std::string text;
    for (entry const& e : catalogue) {
        settings s(e.name);
        if (e.can_be_warm) static_cast<void>(s.warm());
        static_cast<void>(e.make(s, {}));
        std::string line = "  " + std::string(e.name);
        line.resize(indent, ' ');
        std::string known = s.known();
        while (indent + known.size() > width) {
            std::size_t const end = known.rfind(' ', width - indent);
            text += line + known.substr(0, end) + "\n";
            known.erase(0, end + 1);
            line.assign(indent, ' ');
        }
        text += line + known + "\n";
    }
    return text;
}

} // namespace program
