// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "observe.hpp"

#include "../cluster/draw.hpp"
#include "../cluster/workload.hpp"
#include "schedulers.hpp"

#include <straggle/stats/order.hpp>

#include <cmath>
#include <set>
#include <vector>

namespace together {

namespace {

constexpr double until = 2.5 * 3600;

// As bad as in the experiments on blacklisting.
constexpr cluster::fault weak_cpu{.kind = cluster::fault_kind::cpu, .strength = 1};
constexpr cluster::fault weak_memory{
    .kind = cluster::fault_kind::memory, .strength = 3, .disk_strength = 15, .noise = 0.3};

void add_fault(cluster::plan& plan, scenario const& where, std::uint32_t node, cluster::draw& random) {
    cluster::fault f = node < where.cpu_faults ? weak_cpu : weak_memory;
    f.node = node;
    if (!where.come_and_go) {
        plan.faults.push_back(f);
        return;
    }
    for (double at = random.exponential(learned); at < until;) {
        f.from = at;
        f.to = at + learned + random.exponential(learned);
        plan.faults.push_back(f);
        at = f.to + learned + random.exponential(learned);
    }
}

void judge_jobs(cluster::result const& r, std::vector<double>& m) {
    std::vector<double> times;
    double sum = 0;
    for (cluster::job_result const& job : r.jobs) {
        if (job.arrival < learned) continue;
        times.push_back(job.took());
        sum += job.took();
    }
    m[mean] = sum / static_cast<double>(times.size());
    m[p99] = straggle::stats::quantile_in_place(times, 0.99).value_or(std::nan(""));
}

void judge_attempts(cluster::result const& r, std::vector<double>& m) {
    m[wasted] = m[used] = m[copies] = 0;
    double first = 0;
    for (cluster::attempt_record const& a : r.attempts) {
        if (a.start < learned) continue;
        bool const lost = a.how == cluster::ending::killed;
        m[used] += a.took();
        m[wasted] += lost ? a.took() : 0;
        m[copies] += a.copy ? 1 : 0;
        first += a.copy && !lost ? 1 : 0;
    }
    m[won] = first / m[copies];
}

void judge_blacklist(cluster::plan const& plan, std::vector<policies::blacklist_log> const& log,
                     std::vector<double>& m) {
    double windows = 0, caught = 0, weak = 0, wrong = 0;
    for (policies::blacklist_log const& entry : log) {
        if (entry.from < learned) continue;
        windows += 1;
        std::set<std::uint32_t> ill;
        for (cluster::fault const& f : plan.faults)
            if (f.from <= entry.from && f.to > entry.from) ill.insert(f.node);
        weak += static_cast<double>(ill.size());
        for (auto const* machines : {&entry.avoided, &entry.on_probation})
            for (std::uint32_t const n : *machines) (ill.contains(n) ? caught : wrong) += 1;
    }
    if (windows > 0) m[healthy_out] = wrong / windows;
    if (weak > 0) m[found] = caught / weak;
}

} // namespace

cluster::plan make_plan(scenario const& where, std::uint64_t seed) {
    cluster::plan plan;
    plan.seed = seed;
    plan.nodes.assign(30, {});
    cluster::draw random(seed, 3);
    for (std::uint32_t n = 0; n < where.cpu_faults + where.memory_faults; ++n)
        add_fault(plan, where, n, random);
    cluster::draw arrival(seed, 2);
    plan.jobs =
        cluster::arrivals({"WordCount", "Sort", "BBP"}, {.maps = 60, .reduces = 15}, 150, until, arrival);
    return plan;
}

std::vector<double> observe(scenario const& where, std::string const& scheduler, std::uint64_t seed) {
    cluster::plan const plan = make_plan(where, seed);
    policies::scheduler const s = make_scheduler(scheduler, plan, seed);
    cluster::result const r = cluster::run(plan, *s.decides);
    std::vector<double> m(measures, std::nan(""));
    judge_jobs(r, m);
    judge_attempts(r, m);
    judge_blacklist(plan, *s.log, m);
    m[joules] = r.joules;
    return m;
}

} // namespace together
