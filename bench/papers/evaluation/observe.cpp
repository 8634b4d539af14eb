// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "observe.hpp"
#include "../../../examples/programs/common/node_aware.hpp"

#include "../cluster/draw.hpp"
#include "../cluster/workload.hpp"

#include <straggle/detect/speculative_lag.hpp>
#include <straggle/evaluate/detection_metrics.hpp>
#include <straggle/evaluate/power.hpp>
#include <straggle/papers/evaluation_2019.hpp>
#include <straggle/stats/order.hpp>

#include <cmath>
#include <memory>
#include <stdexcept>

namespace evaluation {

namespace {

constexpr std::uint32_t nodes = 20, slots = 8, maps = 320, reduces = 160;
constexpr double heartbeat = 1;

// Shows a rule all times in milliseconds, as Hadoop counts.
template <class Detector>
struct in_milliseconds {
    static constexpr std::string_view name = "in milliseconds";
    Detector base{};
    std::vector<straggle::detect::running_task> shown{};

    straggle::detect::detection_note detect(straggle::detect::job_view const& job,
                                            straggle::detect::detector_scratch& scratch,
                                            std::vector<straggle::detect::finding>& out) {
        shown.assign(job.running.begin(), job.running.end());
        for (auto& t : shown) t.elapsed *= 1000;
        straggle::detect::job_view in_ms = job; // these rules look at running tasks only
        in_ms.running = shown;
        return base.detect(in_ms, scratch, out);
    }
};

// A scheduler of any detector, and when it named tasks.
struct observer {
    std::unique_ptr<cluster::policy> decides;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> const* named;
};

observer make(run_options const& how, history const& known) {
    straggle::assign::reservation const share = how.for_tasks > 1
                                                    ? straggle::assign::reservation::shared()
                                                    : straggle::assign::reservation(how.for_tasks);
    auto const build = [&](auto rule, history const& h, auto use_rows) {
        auto made =
            std::make_unique<detecting<decltype(rule)>>(std::move(rule), share, h, how.seed, use_rows);
        auto const* const named = &made->named;
        return observer{std::move(made), named};
    };
    auto const nothing = [](auto&, std::vector<double> const&) {};
    using namespace straggle;
    namespace paper = straggle::papers::evaluation_2019;
    // The lag is the task's, as in Hadoop: see the report for what the job's would do.
    if (how.detector == "Default")
        return build(detect::task_lag{paper::hadoop_default{}, how.lag}, {}, nothing);
    if (how.detector == "LATE") return build(detect::task_lag{paper::late{}, how.lag}, {}, nothing);
    if (how.detector == "LATE as printed, ms")
        return build(detect::task_lag{in_milliseconds<paper::late_as_printed>{}, how.lag}, {}, nothing);
    if (how.detector == "LATE as printed, s")
        return build(detect::task_lag{paper::late_as_printed{}, how.lag}, {}, nothing);
    if (how.detector == "Hierarchical")
        return build(detect::task_lag{paper::hierarchical{}, how.lag}, {}, nothing);
    if (how.detector == "Default, job's lag")
        return build(detect::speculative_lag{paper::hadoop_default{}, how.lag}, {}, nothing);
    using rule = program::node_aware<policies::told_usual_time>;
    rule aware{};
    aware.report_interval = 3;
    if (how.detector == "node_aware cold") return build(aware, {}, nothing);
    aware.in_time = how.detector != "node_aware all";
    if (how.detector == "node_aware warm" || !aware.in_time)
        return build(aware, known,
                     [](rule& r, std::vector<double> const& rows) { r.usual_time_of.by_row = &rows; });
    throw std::invalid_argument("no detector is called " + how.detector);
}

// The outcome of each map, as the metrics take it.
std::vector<straggle::evaluate::task_outcome> outcomes(cluster::result const& r, observer const& o,
                                                       std::vector<double> const& usual) {
    std::vector<straggle::evaluate::task_outcome> tasks(maps);
    std::vector<double> begun(maps);
    for (cluster::attempt_record const& a : r.attempts) {
        if (a.phase != 0) continue;
        straggle::evaluate::task_outcome& t = tasks[a.task];
        t.usual = usual[a.task];
        bool const finished = a.how == cluster::ending::finished;
        if (a.copy) {
            ++t.copies;
            t.copies_time += a.took();
            if (finished) t.winner_time = a.took();
        } else {
            begun[a.task] = a.start;
            t.execution = a.took();
            if (!finished) t.progress = a.progress;
        }
    }
    for (auto const& [who, when] : *o.named)
        if (who.first == 0) // what the master named in the heartbeat before it learned of the end
            tasks[who.second].detected = std::min(when - begun[who.second], tasks[who.second].execution);
    return tasks;
}

double energy_by_model(cluster::plan const& plan, cluster::result const& r) {
    straggle::evaluate::energy_sweep sweep;
    for (cluster::attempt_record const& a : r.attempts) sweep.observe(a.node, a.start, a.end);
    // Machines are never turned off: their static power runs all the time.
    auto const dynamic = sweep.energy([&plan](std::uint32_t n) {
        return straggle::evaluate::power_model{
            .static_watts = 0, .dynamic_watts = plan.power.core, .cores = plan.nodes[n].cores, .threads = 8};
    });
    if (!dynamic) return std::nan("");
    return dynamic->joules + plan.power.idle * static_cast<double>(plan.nodes.size()) * r.makespan;
}

class no_copies final : public cluster::policy {};

} // namespace

cluster::plan make_plan(scenario const& where, std::uint64_t input, std::uint64_t seed) {
    cluster::plan plan;
    plan.seed = seed;
    plan.heartbeat = heartbeat;
    plan.attempt_noise = 0.07; // with the machines' own: about that of the paper's cluster, by table 5
    plan.breath_noise = 0.03;
    std::uint32_t last = 0;
    for (std::uint32_t cores = 1; cores <= 4; ++cores) {
        last += where.percent[cores - 1] * nodes / 100;
        while (plan.nodes.size() < last) plan.nodes.push_back({.cores = cores, .slots = slots});
    }
    cluster::draw random(input, 5);
    plan.jobs.push_back(cluster::word_count(
        {.maps = maps, .reduces = reduces, .flops = 25e9, .spread = 0.08, .reduce_spread = 0.1}, random));
    for (cluster::phase_spec& phase : plan.jobs[0].phases) // everything except computing is negligible
        for (cluster::task_spec& t : phase.tasks) t.read = t.write = t.fetch = 0;
    for (cluster::task_spec& t : plan.jobs[0].phases[1].tasks) t.flops /= 2;
    return plan;
}

std::vector<double> map_times(scenario const& where, std::uint64_t input, std::uint64_t seed) {
    no_copies none;
    cluster::result const r = cluster::run(make_plan(where, input, seed), none);
    std::vector<double> times(maps);
    for (cluster::attempt_record const& a : r.attempts)
        if (a.phase == 0) times[a.task] = a.took();
    return times;
}

std::vector<double> slowdown_of(scenario const& where, std::uint64_t input, std::uint64_t seed,
                                std::vector<double> const& usual) {
    no_copies none;
    cluster::result const r = cluster::run(make_plan(where, input, seed), none);
    std::vector<std::vector<double>> ratios(nodes);
    for (cluster::attempt_record const& a : r.attempts)
        if (a.phase == 0) ratios[a.node].push_back(a.took() / usual[a.task]);
    std::vector<double> slowdown;
    for (auto& of_node : ratios) slowdown.push_back(straggle::stats::median_in_place(of_node).value_or(1.0));
    return slowdown;
}

std::vector<double> one_machine(std::uint32_t tasks, std::uint64_t seed) {
    cluster::plan plan;
    plan.seed = seed;
    plan.attempt_noise = 0.07;
    plan.breath_noise = 0.03;
    plan.nodes.assign(2, {.cores = 4, .slots = tasks}); // the second does nothing, which gives the idle power
    cluster::draw random(seed, 5);
    plan.jobs.push_back(
        cluster::word_count({.maps = tasks, .reduces = 1, .flops = 25e9, .spread = 0.02}, random));
    plan.jobs[0].phases.resize(1);
    for (cluster::task_spec& t : plan.jobs[0].phases[0].tasks) t.read = t.write = t.fetch = 0;
    class first_only final : public cluster::policy {
        bool avoids(std::uint32_t node) const override { return node > 0; }
    } policy;
    cluster::result const r = cluster::run(plan, policy);
    double sum = 0, end = 0;
    for (cluster::attempt_record const& a : r.attempts) {
        sum += a.took();
        end = std::max(end, a.end);
    }
    double const model = straggle::papers::evaluation_2019::machines.watts(tasks);
    return {sum / static_cast<double>(r.attempts.size()),
            (r.joules - plan.power.idle * r.makespan) / r.makespan, model};
}

std::vector<double> observe(scenario const& where, run_options const& how, history const& known) {
    cluster::plan const plan = make_plan(where, how.input, how.seed);
    observer const o = make(how, known);
    cluster::result const r = cluster::run(plan, *o.decides);
    straggle::evaluate::detection_metrics all{straggle::papers::evaluation_2019::judging};
    for (straggle::evaluate::task_outcome const& t : outcomes(r, o, known.usual)) all.observe(t);
    std::vector<double> m(measures, std::nan(""));
    m[precision] = all.precision_in_time().value_or(std::nan(""));
    m[precision_of_all] = all.precision().value_or(std::nan(""));
    m[recall] = all.recall().value_or(std::nan(""));
    m[latency] = all.detection_latency().value_or(std::nan(""));
    m[fake] = all.fake_positive_ratio().value_or(std::nan(""));
    m[undetected] = all.undetected_time().value_or(std::nan(""));
    m[ratio] = all.straggler_ratio().value_or(std::nan(""));
    m[seconds] = r.jobs[0].took();
    m[joules] = r.joules;
    m[joules_of_model] = energy_by_model(plan, r);
    m[copies] = r.copies;
    m[won] = r.won;
    return m;
}

} // namespace evaluation
