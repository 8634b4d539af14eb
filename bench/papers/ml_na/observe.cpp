// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "observe.hpp"

#include "../cluster/engine.hpp"
#include "../cluster/workload.hpp"
#include "blacklists.hpp"
#include "schedulers.hpp"

#include <straggle/stats/order.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace ml_na {

namespace {

constexpr std::uint32_t nodes = 30;
constexpr double until = nine_months::months * month_length, learned = 4 * month_length;
constexpr std::size_t week = 7; // days
// The mean depth of weakness in the made-up months; nothing gets weaker here.
constexpr double full_depth = 0.45;

slowdown_by_day draw_slowdown(std::uint64_t seed) {
    nine_months::dice d(seed);
    slowdown_by_day all;
    for (std::uint32_t n = 0; n < nodes; ++n) all.push_back(nine_months::slowdown(d));
    return all;
}

cluster::plan make_plan(severity const& how_weak, slowdown_by_day const& slow, std::uint64_t seed) {
    cluster::plan plan;
    plan.seed = seed;
    plan.nodes.assign(nodes, {});
    for (std::uint32_t n = 0; n < nodes; ++n)
        for (std::size_t d = 0; d < days_in_all; ++d) {
            if (slow[n][d] < weak_from) continue; // the engine itself makes machines differ slightly
            double const from = static_cast<double>(d) * day, depth = std::min(1.0, slow[n][d] / full_depth);
            plan.faults.push_back({.node = n,
                                   .kind = cluster::fault_kind::memory,
                                   .from = from,
                                   .to = from + day,
                                   .strength = std::pow(how_weak.cpu, depth),
                                   .disk_strength = std::pow(how_weak.disk, depth)});
        }
    cluster::draw arrival(seed, 2);
    plan.jobs =
        cluster::arrivals({"WordCount", "Sort", "BBP"}, {.maps = 60, .reduces = 15}, 150, until, arrival);
    std::erase_if(plan.jobs, [](cluster::job_spec const& job) { // month 7 begins with three idle days
        return job.arrival >= 6 * month_length && job.arrival < 6 * month_length + 3 * day;
    });
    return plan;
}

void judge_jobs(cluster::result const& r, std::vector<double>& m) {
    std::vector<double> times;
    double sum = 0, early = 0, early_sum = 0;
    for (cluster::job_result const& job : r.jobs) {
        if (job.arrival < learned) continue;
        times.push_back(job.took());
        sum += job.took();
        if (std::fmod(job.arrival, month_length) >= static_cast<double>(week) * day) continue;
        early += 1;
        early_sum += job.took();
    }
    m[mean] = sum / static_cast<double>(times.size());
    m[first_week] = early_sum / early;
    m[p99] = straggle::stats::quantile_in_place(times, 0.99).value_or(std::nan(""));
}

void judge_blacklist(slowdown_by_day const& slow, std::vector<policies::blacklist_log> const& log,
                     std::vector<double>& m) {
    double days = 0, all_out = 0, both = 0, fresh = 0, fresh_out = 0, old = 0, old_out = 0;
    for (policies::blacklist_log const& entry : log) {
        std::size_t const today = day_at(entry.from);
        if (entry.from < learned || entry.from >= until) continue;
        days += 1;
        std::set<std::uint32_t> is_out(entry.avoided.begin(), entry.avoided.end());
        is_out.insert(entry.on_probation.begin(), entry.on_probation.end());
        all_out += static_cast<double>(is_out.size());
        for (std::uint32_t n = 0; n < nodes; ++n) {
            if (slow[n][today] < weak_from) continue;
            bool const is_new = slow[n][today - week] < weak_from, found = is_out.contains(n);
            both += found ? 1 : 0;
            (is_new ? fresh : old) += 1;
            (is_new ? fresh_out : old_out) += found ? 1 : 0;
        }
    }
    m[precision] = both / all_out;
    m[recall] = both / (fresh + old);
    m[recall_new] = fresh_out / fresh;
    m[recall_old] = old_out / old;
    m[machines_out] = all_out / days;
    m[machines_weak] = (fresh + old) / days;
}

} // namespace

std::vector<double> observe(severity const& how_weak, std::string const& scheduler, std::uint64_t seed) {
    slowdown_by_day const slow = draw_slowdown(seed);
    cluster::plan const plan = make_plan(how_weak, slow, seed);
    policies::scheduler const s = make_scheduler(scheduler, slow, seed);
    cluster::result const r = cluster::run(plan, *s.decides);
    std::vector<double> m(measures, std::nan(""));
    judge_jobs(r, m);
    judge_blacklist(slow, *s.log, m);
    return m;
}

std::vector<double> judge_first_days(std::uint64_t seed) {
    slowdown_by_day const slow = draw_slowdown(seed);
    told_blacklist told(by_month(slow, [](auto from, auto) { return *from; }));
    for (std::size_t d = 0; d < days_in_all; ++d) told.round(static_cast<double>(d) * day);
    std::vector<double> m(measures, std::nan(""));
    judge_blacklist(slow, told.log, m);
    return m;
}

} // namespace ml_na
