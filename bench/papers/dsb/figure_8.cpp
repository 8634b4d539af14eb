// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "figure_8.hpp"

#include "../cluster/isolated.hpp"
#include "observe.hpp"

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/papers/dsb_2019.hpp>
#include <straggle/rank/normalize.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/stats/order.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

namespace dsb {

namespace {

struct named_case {
    char const* name;
    cluster_case what;
};
constexpr std::array<named_case, 3> cases{
    {{"OpenNebula", {.nodes = 30, .cpu_faults = 5, .memory_faults = 5, .hours = 1}},
     {"ExoGENI", {.nodes = 20, .cpu_faults = 3, .memory_faults = 3, .hours = 1}},
     {"OpenNebula 2", {.nodes = 30, .cpu_faults = 2, .memory_faults = 2, .hours = 1}}}};

// The share of named machines that are weak, and of weak machines that are named.
template <class Named>
void judge(Named const& named, cluster_case const& c, std::vector<double>& out) {
    double right = 0, cpu = 0, all = 0;
    for (auto const& v : named) {
        all += 1;
        cpu += v.id < c.cpu_faults ? 1 : 0;
        right += v.id >= c.cpu_faults && v.id < c.cpu_faults + c.memory_faults ? 1 : 0;
    }
    out.push_back(right / c.memory_faults);
    out.push_back(cpu / c.cpu_faults);
    out.push_back(all - right - cpu);
}

// The machines named by the paper's rule and by `dominated`, then the quartiles of the scores of each
// machine.
std::vector<double> look(cluster_case const& c, std::uint64_t seed) {
    cluster::plan const plan = make_plan(c, seed);
    auto const s = policies::make_scheduler("yarn", {.nodes = c.nodes, .seed = seed, .k = {}});
    cluster::result const r = cluster::run(plan, *s.decides);
    std::vector<double> out;
    auto const ranking =
        straggle::rank_nodes(r.attempts, policies::attempt_fields, straggle::papers::dsb_2019::ranking());
    auto const paper = straggle::papers::dsb_2019::blacklist().decide(ranking);
    judge(paper.blacklisted(), c, out);
    auto const ours = straggle::rank_nodes(r.attempts, policies::attempt_fields);
    auto const decision =
        straggle::blacklister(straggle::blacklist::dominated{}, straggle::record::unlimited{}).decide(ours);
    judge(decision.blacklisted(), c, out);

    auto const scores = straggle::rank::normalize(r.attempts, policies::attempt_fields,
                                                  straggle::papers::dsb_2019::ranking());
    std::vector<std::vector<double>> of(c.nodes);
    for (auto const& a : scores.attempts) of[scores.nodes[a.node]].push_back(a.score);
    for (std::vector<double>& z : of)
        for (double const q : {0.05, 0.25, 0.5, 0.75, 0.95})
            out.push_back(straggle::stats::quantile_in_place(z, q).value_or(std::nan("")));
    return out;
}

} // namespace

void figure_8(report::options const& how) {
    report::table found(how, "figure-8"), boxes(how, "figure-8-boxes");
    for (named_case const& c : cases) {
        std::vector<cluster::measurement> runs;
        for (std::uint64_t seed = 1; seed <= how.repetitions(); ++seed)
            runs.push_back([&c, seed] { return look(c.what, seed); });
        auto const all = cluster::run_isolated(runs, how.workers);
        constexpr std::array<char const*, 3> what{"memory faults named", "CPU faults named",
                                                  "healthy machines named"};
        for (std::size_t rule = 0; rule < 2; ++rule)
            for (std::size_t i = 0; i < what.size(); ++i) {
                std::vector<double> values;
                for (auto const& v : all) values.push_back(v[3 * rule + i]);
                // The figure shows all memory faults on top and no healthy machine among them.
                std::optional<double> paper;
                if (i == 0) paper = 1;
                if (i == 2) paper = 0;
                found.row(c.name, rule == 0 ? "dsb_2019" : "dominated", what[i], report::median_of(values),
                          paper);
            }
        constexpr std::array<char const*, 5> marks{"5", "25", "50", "75", "95"};
        for (std::uint32_t n = 0; n < c.what.nodes; ++n) {
            char const* const kind = n < c.what.cpu_faults                          ? "cpu"
                                     : n < c.what.cpu_faults + c.what.memory_faults ? "memory"
                                                                                    : "healthy";
            for (std::size_t i = 0; i < marks.size(); ++i)
                boxes.row(c.name, "node" + std::to_string(n) + " " + kind, marks[i],
                          report::median_of({all.front()[6 + 5 * n + i]}));
        }
    }
}

void overhead(report::options const& how) {
    report::table out(how, "dsb-overhead");
    using clock = std::chrono::steady_clock;
    for (named_case const& c : cases) {
        std::vector<cluster::measurement> runs;
        for (std::uint64_t seed = 1; seed <= how.repetitions(); ++seed)
            runs.push_back([&c, seed] {
                cluster::plan const plan = make_plan(c.what, seed);
                auto const s =
                    policies::make_scheduler("yarn", {.nodes = c.what.nodes, .seed = seed, .k = {}});
                cluster::result const r = cluster::run(plan, *s.decides);
                policies::dsb_blacklist loop(hour, {}, seed);
                auto const begin = clock::now();
                for (auto const& a : r.attempts) loop.ended(a, a.end);
                auto const seen = clock::now();
                loop.round(hour);
                std::chrono::duration<double, std::nano> const observing = seen - begin,
                                                               ranking = clock::now() - seen;
                auto const n = static_cast<double>(r.attempts.size());
                return std::vector<double>{n, observing.count() / n, ranking.count() / 1e3};
            });
        auto const all = cluster::run_isolated(runs, 1); // nothing runs beside it
        constexpr std::array<char const*, 3> what{"attempts in the hour", "nanoseconds to take in one",
                                                  "microseconds to rank and decide"};
        for (std::size_t i = 0; i < what.size(); ++i) {
            std::vector<double> values;
            for (auto const& v : all) values.push_back(v[i]);
            out.row(c.name, "dsb_2019", what[i], report::median_of(values));
        }
    }
}

} // namespace dsb
