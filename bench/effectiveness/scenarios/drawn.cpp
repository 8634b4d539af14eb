// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Draws any number of scenarios from broad ranges.
#include "../cluster/draw.hpp"
#include "scenario.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <initializer_list>

namespace lab {

namespace {

double between(draw& d, double low, double high) { // uniform in the logarithm
    return std::exp(d.uniform(std::log(low), std::log(high)));
}
template <class T>
T one_of(draw& d, std::initializer_list<T> all) {
    return all.begin()[d.below(all.size())];
}
double rounded(double x) { // to three digits, so that what is printed is what is run
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", x);
    return std::atof(text);
}

void draw_faults(scenario& s, draw& d) {
    s.fault = one_of<char const*>(d, {"none", "none", "none", "some", "some", "some", "some", "some",
                                      "gradual", "rack", "hung", "attempts", "hole"});
    s.more.fault_share = rounded(between(d, 0.01, 0.6));
    s.more.fault_factor = rounded(between(d, 1.15, 10));
    bool const for_good = d.uniform() < 0.5;
    s.more.fault_tasks = for_good ? 0 : rounded(between(d, 1, 100));
    s.failures = d.uniform() < 0.75 ? 0 : rounded(between(d, 0.002, 0.05));
    s.away = d.uniform() < 0.8 ? 0 : 0.02;
}

void draw_work(scenario& s, draw& d) {
    s.durations = one_of<char const*>(d, {"lognormal", "lognormal", "lognormal", "lognormal", "sizes_known",
                                          "sizes_hidden", "pareto_luck", "pareto_size", "exponential"});
    double const sigma = between(d, 0.03, 1.2), of_task = d.uniform();
    s.more.task_sigma = rounded(sigma * std::sqrt(of_task));
    s.more.luck_sigma = rounded(sigma * std::sqrt(1 - of_task));
    s.min_tasks = one_of<std::uint32_t>(d, {1, 1, 2, 5, 20});
    s.max_tasks = static_cast<std::uint32_t>(s.min_tasks * between(d, 1, 60));
    s.task_seconds = rounded(between(d, 0.01, 3600));
    s.more.kinds = static_cast<std::uint32_t>(1 + d.below(12));
    s.more.burst = d.uniform() < 0.6 ? 0 : rounded(d.uniform(0.2, 0.95));
    s.load = rounded(d.uniform(0.3, 1.3));
}

void draw_cluster(scenario& s, draw& d) {
    s.nodes = static_cast<std::uint32_t>(between(d, 2, 400));
    s.slots = one_of<std::uint32_t>(d, {1, 2, 4, 8, 16});
    while (s.nodes * s.slots > 800) s.slots /= 2;
    s.generations = d.uniform() < 0.7 ? 1 : 2;
    s.classes_told = d.uniform() < 0.5;
    s.more.node_spread = rounded(between(d, 0.003, 0.15));
    s.more.launch = rounded(between(d, 0.003, 0.5));
    s.more.locality = d.uniform() < 0.7 ? 1 : rounded(d.uniform(1.1, 2.5));
    if (d.uniform() < 0.75) return;
    s.more.contention = rounded(d.uniform(0.1, 1.5));
    s.more.shares_link = d.uniform() < 0.3;
}

void draw_master(scenario& s, draw& d) {
    s.progress = static_cast<progress_mode>(d.below(5));
    s.copies_first = d.uniform() < 0.5;
    s.more.heartbeat = rounded(between(d, 0.01, 0.3));
    s.more.reports = static_cast<double>(1 + d.below(4));
    s.more.decide_every = one_of<std::uint32_t>(d, {1, 1, 1, 2, 5});
}

void fit(scenario& s) {
    s.more.tasks = 1500;
    s.more.waves = 10;
    if (!(s.more.contention > 0)) return; // the engine cannot combine these with contention
    s.failures = s.away = 0;
    if (s.fault == "hole") s.fault = "none";
}

scenario quiet(char const* name) {
    scenario s{.name = name, .nodes = 50, .slots = 4, .durations = "lognormal", .fault = "none", .load = 0.6};
    s.min_tasks = 5;
    s.max_tasks = 100;
    s.task_seconds = 30;
    s.more.task_sigma = s.more.luck_sigma = 0.2;
    return s;
}

} // namespace

scenario draw_scenario(std::uint64_t seed, std::uint64_t number) {
    // Each part has a draw of its own: a part that draws more does not change the others.
    draw cluster(seed, 31, number), work(seed, 32, number), faults(seed, 33, number),
        master(seed, 34, number);
    scenario s;
    s.name = "drawn-" + std::to_string(seed) + '-' + std::to_string(number);
    draw_cluster(s, cluster);
    draw_work(s, work);
    draw_faults(s, faults);
    draw_master(s, master);
    fit(s);
    return s;
}

std::vector<scenario> edge_scenarios() {
    std::vector<scenario> all;
    auto const add = [&](char const* name, auto change) {
        all.push_back(quiet(name));
        change(all.back());
        fit(all.back());
    };
    auto const few_slow = [](scenario& s) {
        s.fault = "some";
        s.more.fault_share = 0.1;
        s.more.fault_factor = 2;
    };
    add("edge-one-task", [&](scenario& s) { s.min_tasks = s.max_tasks = 1; });
    add("edge-one-task-slow", [&](scenario& s) { s.min_tasks = s.max_tasks = 1, few_slow(s); });
    add("edge-two-tasks", [&](scenario& s) { s.min_tasks = s.max_tasks = 2, few_slow(s); });
    add("edge-ms", [&](scenario& s) { // tasks of 30 ms, a decision every 10 ms
        s.task_seconds = 0.03, s.more.heartbeat = 1. / 3, s.more.reports = 1, few_slow(s);
    });
    add("edge-below-heartbeat", [&](scenario& s) { // tasks of 5 ms, a decision every 10 ms
        s.task_seconds = 0.005, s.more.heartbeat = 2, s.more.reports = 1, few_slow(s);
    });
    add("edge-one-slot", [&](scenario& s) { s.slots = 1, s.nodes = 100, few_slow(s); });
    add("edge-two-nodes", [&](scenario& s) { s.nodes = 2, s.slots = 8, s.max_tasks = 20, few_slow(s); });
    add("edge-three-nodes", [&](scenario& s) { s.nodes = 3, s.slots = 4, s.max_tasks = 20, few_slow(s); });
    add("edge-four-nodes-quiet", [&](scenario& s) { s.nodes = 4, s.slots = 2, s.max_tasks = 20; });
    add("edge-thousand-nodes", [&](scenario& s) { s.nodes = 1000, s.slots = 1, few_slow(s); });
    add("edge-all-noisy", [&](scenario& s) { // every node, a quarter of the time
        s.fault = "some", s.more.fault_share = 1, s.more.fault_factor = 2, s.more.fault_tasks = 3;
    });
    add("edge-crowd", [&](scenario& s) { s.more.contention = 1; });
    add("edge-crowd-slow", [&](scenario& s) { s.more.contention = 1, few_slow(s); });
    add("edge-crowd-80", [&](scenario& s) { s.more.contention = 1, s.load = 0.8; });
    add("edge-link", [&](scenario& s) { s.more.contention = 1.5, s.more.shares_link = true, few_slow(s); });
    add("edge-launch", [&](scenario& s) { s.more.launch = 1, few_slow(s); });
    add("edge-bursts", [&](scenario& s) { s.more.burst = 0.9, few_slow(s); });
    add("edge-far-data", [&](scenario& s) { s.more.locality = 2.5; });
    add("edge-uneven-nodes", [&](scenario& s) { s.more.node_spread = 0.3; });
    return all;
}

std::string describe(scenario const& s) {
    static constexpr std::array progress{"exact", "noisy", "jumping", "phased", "absent"};
    regime const& m = s.more;
    char text[2048];
    std::snprintf(
        text, sizeof text,
        "nodes=%u,slots=%u,generations=%u,durations=%s,task_sigma=%g,luck_sigma=%g,fault=%s,fault_share=%g,"
        "fault_factor=%g,fault_tasks=%g,load=%g,min_tasks=%u,max_tasks=%u,task_seconds=%g,progress=%s,"
        "copies=%s,classes=%s,failures=%g,away=%g,heartbeat=%g,reports=%g,launch=%g,node_spread=%g,burst=%g,"
        "contention=%g,shares_link=%d,locality=%g,decide_every=%u,kinds=%u,waves=%g,stages=%u,"
        "copy_start=%g,swing=%g,service=%g,preempted=%g,lives=%u,late_ends=%g,lost_reports=%g,skew=%g,obeys=%"
        "u,"
        "excludes_only=%d",
        s.nodes, s.slots, s.generations, s.durations.c_str(), m.task_sigma, m.luck_sigma, s.fault.c_str(),
        m.fault_share, m.fault_factor, m.fault_tasks, s.load, s.min_tasks, s.max_tasks, s.task_seconds,
        progress[static_cast<std::size_t>(s.progress)], s.copies_first ? "before" : "after",
        s.classes_told ? "told" : "untold", s.failures, s.away, m.heartbeat, m.reports, m.launch,
        m.node_spread, m.burst, m.contention, m.shares_link ? 1 : 0, m.locality, m.decide_every, m.kinds,
        m.waves, m.stages, m.copy_start, m.swing, m.service, m.preempted, m.lives, m.seen.late_ends,
        m.seen.lost_reports, m.seen.skew, m.seen.obeys, m.seen.excludes_only ? 1 : 0);
    return text;
}

} // namespace lab
