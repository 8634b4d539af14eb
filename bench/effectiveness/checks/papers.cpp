// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The same cluster, jobs and policies here and on the simulator of `bench/papers`, which is SimGrid.
/// Separate from the other checks, because it needs SimGrid (STRAGGLE_BUILD_PAPERS).
#include "../cluster/engine.hpp"
#include "../policies/make_policy.hpp"
#include "../run/measurement.hpp"

#include "../../papers/cluster/engine.hpp"
#include "../../papers/cluster/isolated.hpp"
#include "../../papers/together/obeyed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <tuple>
#include <vector>

namespace {

constexpr std::size_t nodes = 20, slots = 2, jobs = 80, weak = 3;
constexpr double load = 0.7, usual = 40;
// SimGrid's nodes have states of speed 2 % apart: those nearest to 1 and to a half.
double const well = 1.2 * std::pow(0.98, 9), slow = 1.2 * std::pow(0.98, 43);

lab::plan small_cluster(std::uint64_t seed) {
    lab::plan p;
    p.seed = seed;
    p.heartbeat = 1;
    p.report_interval = 3;
    p.launch = 1.5;
    for (std::size_t n = 0; n < nodes; ++n) {
        lab::node_spec node{.slots = slots, .speed = well};
        if (n < weak) node.faults = {{0, well / slow}};
        p.nodes.push_back(node);
    }
    lab::draw d(seed, 5);
    double work = 0;
    for (std::size_t j = 0; j < jobs; ++j) {
        lab::job_spec job;
        std::size_t const tasks = 5 + d.below(36);
        for (std::size_t t = 0; t < tasks; ++t) {
            job.tasks.push_back({usual * d.lognormal(0.3), 1});
            work += job.tasks.back().work + p.launch;
        }
        p.jobs.push_back(std::move(job));
    }
    std::vector<double> arrivals;
    for (std::size_t j = 0; j < jobs; ++j)
        arrivals.push_back(std::floor(d.uniform(0, work / (load * nodes * slots)))); // on a round
    std::sort(arrivals.begin(), arrivals.end());
    for (std::size_t j = 0; j < jobs; ++j) p.jobs[j].arrival = arrivals[j];
    return p;
}

cluster::plan the_same(lab::plan const& what) {
    cluster::plan p;
    p.seed = what.seed;
    p.breath_noise = 0;
    p.heartbeat = what.heartbeat;
    p.report_interval = what.report_interval;
    p.launch = what.launch;
    p.nodes.assign(nodes, {.cores = slots, .slots = slots});
    for (std::uint32_t n = 0; n < weak; ++n)
        p.faults.push_back({.node = n, .kind = cluster::fault_kind::memory, .strength = 2, .noise = 0});
    for (lab::job_spec const& j : what.jobs) {
        cluster::job_spec job{.kind = "same", .arrival = j.arrival, .phases = {{}}};
        for (lab::task_spec const& t : j.tasks) job.phases[0].tasks.push_back({.flops = t.work * 1e9});
        p.jobs.push_back(std::move(job));
    }
    return p;
}

enum measured : std::size_t { mean, p99, wasted, copies };

std::vector<double> run_here(char const* name, std::uint64_t seed) {
    auto const decides =
        lab::find_policy(name).make({.nodes = nodes, .slots = nodes * slots, .launch = 1.5, .seed = seed});
    lab::result const r = lab::run(small_cluster(seed), *decides);
    lab::measurement const m = lab::measure(r);
    return {m.mean, m.p99, m.wasted / (m.wasted + m.useful), static_cast<double>(m.copies)};
}

std::vector<double> run_there(char const* name, std::uint64_t seed) {
    cluster::plan const what = the_same(small_cluster(seed));
    together::obeyed decides(name, what, seed);
    cluster::result const r = cluster::run(what, decides);
    lab::result same;
    for (auto const& j : r.jobs) same.job_times.push_back(j.took() - 0.5); // reported in the next round
    for (auto const& a : r.attempts)
        (a.how == cluster::ending::finished ? same.useful : same.wasted) += a.took();
    lab::measurement const m = lab::measure(same);
    return {m.mean, m.p99, m.wasted / (m.wasted + m.useful), static_cast<double>(r.copies)};
}

// Waits for three seconds, keeps the first machine for the last, and stops the first task once.
class contrary final : public cluster::policy {
  public:
    bool is_last_resort(std::uint32_t node) const override { return node == 0; }
    std::size_t place_task(cluster::waiting_task const&, std::span<std::uint32_t const>,
                           double now) override {
        return now < 3 ? wait : 0;
    }
    void step(cluster::cluster_view const& view, cluster::requests& out) override {
        for (cluster::attempt_view const& a : view.phases.front().attempts)
            if (a.who.task == 0 && a.who.number == 0 && a.progress.value_or(0) > 0.5)
                out.kills.push_back({a.who.phase, a.who.task, a.who.node});
    }
};

// Three machines of one slot and three tasks: 1 if everything that `contrary` requests was done.
std::vector<double> is_obeyed() {
    cluster::plan p;
    p.breath_noise = 0;
    p.nodes.assign(3, {.slots = 1});
    p.jobs.push_back({.kind = "three", .phases = {{.tasks = {3, {.flops = 20e9}}}}});
    contrary decides;
    auto const attempts = cluster::run(p, decides).attempts;
    auto const stopped = std::find_if(attempts.begin(), attempts.end(), [](auto const& a) {
        return a.how == cluster::ending::killed && a.task == 0 && !a.outrun && a.start >= 3;
    });
    auto const again = std::find_if(attempts.begin(), attempts.end(), [](auto const& a) {
        return a.how == cluster::ending::finished && a.task == 0 && a.number == 1 && !a.copy;
    });
    bool const last = std::any_of(attempts.begin(), attempts.end(),
                                  [](auto const& a) { return a.node == 0 && a.task == 2; });
    bool const all = attempts.size() == 4 && stopped != attempts.end() && again != attempts.end() && last &&
                     again->start >= stopped->end;
    return {all ? 1.0 : 0.0};
}

} // namespace

int main() {
    constexpr std::size_t seeds = 16;
    bool alike = true;
    if (cluster::run_isolated({is_obeyed}, 1)[0][0] < 1) {
        std::puts("SimGrid's cluster does not wait, keep a machine for the last, or stop an attempt as told");
        return 1;
    }
    for (char const* name : {"nothing", "spark", "late", "flink", "library_nodes_only", "library"}) {
        auto const runs = cluster::run_grid(
            2, seeds,
            [name](std::size_t where, std::size_t seed) {
                return where == 0 ? run_here(name, seed + 1) : run_there(name, seed + 1);
            },
            2);
        double sums[2][4] = {};
        for (std::size_t where = 0; where < 2; ++where)
            for (auto const& r : runs[where])
                for (std::size_t i = 0; i < 4; ++i) sums[where][i] += r[i] / seeds;
        std::printf("%-18s", name);
        for (auto const& [what, word, most] :
             {std::tuple{mean, "mean", 0.02}, {p99, "p99", 0.04}, {copies, "copies", 0.15}}) {
            double const off = sums[0][what] > 0 ? sums[0][what] / sums[1][what] - 1 : 0;
            alike = alike && std::fabs(off) <= most;
            std::printf("  %s %.1f, SimGrid %.1f: %+.1f %%", word, sums[0][what], sums[1][what], 100 * off);
        }
        std::printf("  wasted %.2f %%, SimGrid %.2f %%\n", 100 * sums[0][wasted], 100 * sums[1][wasted]);
    }
    std::puts(alike ? "alike" : "NOT alike: mean within 2 %, p99 4 %, copies 15 %");
    return alike ? 0 : 1;
}
