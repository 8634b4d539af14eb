// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "observe.hpp"

#include "../cluster/draw.hpp"
#include "../cluster/engine.hpp"
#include "../cluster/workload.hpp"
#include "obeyed.hpp"

#include <straggle/stats/order.hpp>

#include <algorithm>
#include <cmath>

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

bool is_out(lab::service s) {
    return s == lab::service::none || s == lab::service::copies_only;
}
bool was_out(obeyed const& policy, std::uint32_t node, double time) {
    bool out = false;
    for (obeyed::change const& c : policy.changes())
        if (c.node == node && c.from <= time) out = is_out(c.to);
    return out;
}

void judge_attempts(cluster::result const& r, obeyed const& policy, std::vector<double>& m) {
    m[wasted] = m[used] = m[copies] = m[trials] = 0;
    double first = 0;
    for (cluster::attempt_record const& a : r.attempts) {
        bool const lost = a.how == cluster::ending::killed;
        m[used] += a.took();
        m[wasted] += lost ? a.took() : 0;
        if (!a.copy) continue;
        bool const trial = was_out(policy, a.node, a.start);
        m[trial ? trials : copies] += 1;
        first += trial || lost ? 0 : 1;
    }
    m[won] = first / m[copies];
}

// How long the machine was weak between two times. Its faults do not overlap.
double weak_between(cluster::plan const& plan, std::uint32_t node, double from, double to) {
    double sum = 0;
    for (cluster::fault const& f : plan.faults)
        if (f.node == node) sum += std::max(0.0, std::min(to, f.to) - std::max(from, f.from));
    return sum;
}

void judge_nodes(cluster::plan const& plan, obeyed const& policy, double end, std::vector<double>& m) {
    m[weak] = m[weak_out] = m[healthy_out] = 0;
    for (std::uint32_t n = 0; n < plan.nodes.size(); ++n) {
        m[weak] += weak_between(plan, n, 0, end) / 3600;
        double from = 0;
        bool out = false;
        auto const add = [&](double to) {
            double const ill = out ? weak_between(plan, n, from, to) : 0;
            m[weak_out] += ill / 3600;
            m[healthy_out] += out ? (to - from - ill) / 3600 : 0;
        };
        for (obeyed::change const& c : policy.changes()) {
            if (c.node != n) continue;
            add(c.from);
            from = c.from;
            out = is_out(c.to);
        }
        add(end);
    }
}

// The share of its cores that a full machine has left.
double left_of(cluster::node_spec const& n, cluster::fault const& f) {
    return f.kind == cluster::fault_kind::memory ? 1 / f.strength : n.slots / (n.slots + f.strength);
}

double load_of(cluster::plan const& plan) {
    double flops = 0, speed = 0;
    for (cluster::job_spec const& job : plan.jobs)
        for (cluster::phase_spec const& phase : job.phases)
            for (cluster::task_spec const& t : phase.tasks) flops += t.flops;
    for (cluster::node_spec const& n : plan.nodes) speed += n.speed * n.cores;
    for (cluster::fault const& f : plan.faults) {
        cluster::node_spec const& n = plan.nodes[f.node];
        double const share = (std::min(f.to, until) - f.from) / until;
        speed -= n.speed * n.cores * share * (1 - left_of(n, f));
    }
    return flops / (speed * until);
}

} // namespace

cluster::plan make_plan(scenario const& where, std::uint64_t seed) {
    cluster::plan plan;
    plan.seed = seed;
    plan.nodes.assign(30, {});
    cluster::draw unlike(seed, 4);
    for (cluster::node_spec& node : plan.nodes) {
        if (!(where.spread > 0)) break;
        double const factor = unlike.lognormal(where.spread);
        node.speed *= factor;
        node.disk *= factor;
    }
    cluster::draw random(seed, 3);
    for (std::uint32_t n = 0; n < where.cpu_faults + where.memory_faults; ++n)
        add_fault(plan, where, n, random);
    cluster::draw arrival(seed, 2);
    plan.jobs = cluster::arrivals({"WordCount", "Sort", "BBP"}, {.maps = 60, .reduces = 15}, where.gap, until,
                                  arrival);
    return plan;
}

std::vector<double> observe(scenario const& where, std::string_view policy, std::uint64_t seed) {
    cluster::plan const plan = make_plan(where, seed);
    obeyed decides(policy, plan, seed);
    cluster::result const r = cluster::run(plan, decides);
    std::vector<double> m(measures, std::nan(""));
    judge_jobs(r, m);
    judge_attempts(r, decides, m);
    judge_nodes(plan, decides, r.makespan, m);
    m[joules] = r.joules;
    m[load] = load_of(plan);
    return m;
}

} // namespace together
