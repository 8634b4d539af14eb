// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "observe.hpp"

#include "../cluster/draw.hpp"
#include "../cluster/workload.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace dsb {

namespace {

// Chosen so that jobs under YARN's speculation slow down about as much as in table 2 (Sort 3.4 times,
// WordCount 1.7 times); nothing else was fitted.
constexpr cluster::fault weak_cpu{.kind = cluster::fault_kind::cpu, .strength = 1};
constexpr cluster::fault weak_memory{
    .kind = cluster::fault_kind::memory, .strength = 3, .disk_strength = 15, .noise = 0.3};
// At which jobs under YARN's speculation take about the seconds of table 2.
constexpr cluster::fault milder_memory{
    .kind = cluster::fault_kind::memory, .strength = 4, .disk_strength = 6, .noise = 0.3};

void add_fault(cluster::plan& plan, cluster::fault f, cluster_case const& c, cluster::draw& random) {
    if (!c.come_and_go) {
        plan.faults.push_back(f);
        return;
    }
    for (double at = random.exponential(hour); at < c.hours * hour;) {
        f.from = at;
        f.to = at + hour + random.exponential(hour);
        plan.faults.push_back(f);
        at = f.to + hour + random.exponential(hour);
    }
}

bool is_weak(cluster::plan const& plan, std::uint32_t node, double from, bool memory_only) {
    return std::any_of(plan.faults.begin(), plan.faults.end(), [&](cluster::fault const& f) {
        return f.node == node && f.from < from + hour && f.to > from &&
               (!memory_only || f.kind == cluster::fault_kind::memory);
    });
}

// Whether the same fault lasts from one time to another: a machine that returns in between does so in vain.
bool is_one_fault(cluster::plan const& plan, std::uint32_t node, double from, double to) {
    return std::any_of(plan.faults.begin(), plan.faults.end(), [&](cluster::fault const& f) {
        return f.node == node && f.from <= from && f.to > to;
    });
}

double mean_time(cluster::result const& r, std::string const& kind) {
    double sum = 0, n = 0;
    for (cluster::job_result const& job : r.jobs)
        if (job.kind == kind && job.arrival >= hour) {
            sum += job.took();
            n += 1;
        }
    return sum / n; // NaN without jobs
}

void judge_copies(cluster::result const& r, double slots, std::vector<double>& m) {
    double copies = 0, won = 0, killed = 0, all = 0;
    for (cluster::attempt_record const& a : r.attempts) {
        if (a.start < hour) continue;
        bool const lost = a.how == cluster::ending::killed;
        copies += a.copy ? 1 : 0;
        won += a.copy && !lost ? 1 : 0;
        killed += lost ? a.took() : 0;
        all += a.took();
    }
    m[success] = won / copies;
    m[dsb::copies] = copies;
    m[wasted] = killed / all;
    m[in_use] = all / (slots * (r.makespan - hour));
}

void judge_blacklist(cluster::plan const& plan, std::vector<policies::blacklist_log> const& log,
                     std::vector<double>& m) {
    std::set<std::uint32_t> out;
    std::map<std::uint32_t, double> last_out; // when a machine was last seen to be out
    double windows = 0, sum = 0, healthy = 0, found = 0, weak_windows = 0, again = 0;
    for (policies::blacklist_log const& entry : log) {
        std::set<std::uint32_t> now(entry.avoided.begin(), entry.avoided.end());
        now.insert(entry.on_probation.begin(), entry.on_probation.end());
        for (std::uint32_t const n : now) {
            bool const is_healthy = !is_weak(plan, n, entry.from, false);
            if (!out.contains(n) && last_out.contains(n) &&
                (is_healthy || is_one_fault(plan, n, last_out[n], entry.from)))
                again += 1;
            if (is_healthy) healthy += 1;
        }
        for (std::uint32_t const n : now) last_out[n] = entry.from;
        out = std::move(now);
        windows += 1;
        sum += static_cast<double>(out.size());
        double weak = 0, caught = 0;
        for (std::uint32_t n = 0; n < plan.nodes.size(); ++n)
            if (is_weak(plan, n, entry.from, true)) {
                weak += 1;
                caught += out.contains(n) ? 1 : 0;
            }
        if (weak > 0) {
            weak_windows += 1;
            found += caught / weak;
        }
    }
    m[avoided] = windows > 0 ? sum / windows : 0;
    m[healthy_avoided] = windows > 0 ? healthy / windows : 0;
    m[weak_found] = found / weak_windows;
    m[relapses] = again;
}

} // namespace

cluster::plan make_plan(cluster_case const& c, std::uint64_t seed) {
    cluster::plan plan;
    plan.seed = seed;
    plan.nodes.assign(c.nodes, {});
    plan.shuffle_from_disk = c.shuffle_from_disk;
    cluster::draw unlike(seed, 4);
    for (cluster::node_spec& node : plan.nodes) {
        if (!(c.spread > 0)) break;
        double const factor = unlike.lognormal(c.spread);
        node.speed *= factor;
        node.disk *= factor;
    }
    cluster::draw random(seed, 3);
    for (std::uint32_t n = 0; n < c.cpu_faults + c.memory_faults; ++n) {
        cluster::fault f = n < c.cpu_faults ? weak_cpu : c.milder ? milder_memory : weak_memory;
        f.node = n;
        add_fault(plan, f, c, random);
    }
    cluster::draw arrival(seed, 2);
    cluster::workload_sizes sizes;
    sizes.maps = 4 * c.nodes; // two waves
    sizes.reduces = c.nodes;
    plan.jobs = cluster::arrivals({"WordCount", "Sort"}, sizes, 500, c.hours * hour, arrival);
    return plan;
}

std::vector<double> observe(cluster_case const& c, std::string const& scheduler,
                            policies::scheduler_options how) {
    cluster::plan const plan = make_plan(c, how.seed);
    how.nodes = c.nodes;
    policies::scheduler const s = policies::make_scheduler(scheduler, how);
    cluster::result const r = cluster::run(plan, *s.decides);
    std::vector<double> m(measures, std::nan(""));
    m[word_count] = mean_time(r, "WordCount");
    m[sort] = mean_time(r, "Sort");
    double slots = 0;
    for (cluster::node_spec const& node : plan.nodes) slots += node.slots;
    judge_copies(r, slots, m);
    judge_blacklist(plan, *s.log, m);
    return m;
}

} // namespace dsb
