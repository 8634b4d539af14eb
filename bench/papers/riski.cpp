// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The experiments of S. Zheng, X. Liao, X. Liu, Risk intelligence: making profit from uncertainty in data
/// processing system (2014), on a simulated cluster: figures 10, 12, 13, 14, 16.
#include "cluster/isolated.hpp"
#include "report/report.hpp"
#include "riski/observe.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace riski;

constexpr std::array<char const*, 7> schedulers{
    "no copies", "LATE", "RiskI", "RiskI as printed", "expected gain", "straggle", "straggle priced"};

using samples = std::vector<std::vector<double>>; // a row per run

// All schedulers at once, by their place: the same seeds for all.
std::vector<samples> repeat(report::options const& how, riski_case const& c,
                            std::span<char const* const> names = schedulers) {
    return cluster::run_grid(
        names.size(), how.repetitions(),
        [&](std::size_t who, std::size_t run) { return observe(c, names[who], run + 1); }, how.workers);
}

template <class Of>
report::estimate over_runs(samples const& r, Of of) {
    std::vector<double> values;
    for (std::size_t i = 0; i < r.size(); ++i) values.push_back(of(i));
    return report::median_of(std::move(values));
}
report::estimate of(samples const& r, std::size_t m) {
    return over_runs(r, [&](std::size_t i) { return r[i][m]; });
}
report::estimate share(samples const& r, std::size_t m, std::size_t whole) {
    return over_runs(r, [&](std::size_t i) { return r[i][m] / r[i][whole]; }); // none of none is NaN
}

// What the paper says about a scheduler in one experiment.
struct told {
    std::optional<double> copies{}, won{};
};

// By how much a time is shorter than LATE's, run by run.
report::estimate shorter(samples const& r, samples const& late, std::size_t m) {
    return over_runs(r, [&](std::size_t i) { return 1 - r[i][m] / late[i][m]; });
}

void rows(report::table& out, std::string const& group, std::vector<samples> const& all,
          std::array<told, schedulers.size()> const& paper = {}) {
    samples const& late = all[1];
    for (std::size_t s = 0; s < schedulers.size(); ++s) {
        samples const& r = all[s];
        out.row(group, schedulers[s], "mean seconds", of(r, mean));
        out.row(group, schedulers[s], "p50 seconds", of(r, median));
        out.row(group, schedulers[s], "p99 seconds", of(r, p99));
        out.row(group, schedulers[s], "mean shorter than LATE's", shorter(r, late, mean));
        out.row(group, schedulers[s], "p99 shorter than LATE's", shorter(r, late, p99));
        out.row(group, schedulers[s], "copies", of(r, copies), paper[s].copies);
        out.row(group, schedulers[s], "share that won", share(r, won, copies), paper[s].won);
        out.row(group, schedulers[s], "originals killed at once", of(r, killed));
        out.row(group, schedulers[s], "slot time wasted", of(r, wasted));
    }
}

void figure_10(report::options const& how) {
    report::table out(how, "riski-figure-10");
    rows(out, "large jobs", repeat(how, {.sizes = "large"}),
         {{{}, {181, {}}, {34, 28.0 / 34}, {}, {}, {}, {}}});
    rows(out, "medium jobs", repeat(how, {.sizes = "medium"}));
    rows(out, "small jobs", repeat(how, {.sizes = "small"}));
}

void by_part(report::table& out, std::string const& group, std::vector<samples> const& all,
             std::array<std::array<told, 2>, parts.size() - 1> const& paper) {
    constexpr std::array<char const*, parts.size() - 1> names{"1 medium", "2 small", "3 small and large",
                                                              "4 large", "5 medium"};
    for (std::size_t s = 1; s < schedulers.size(); ++s)
        for (std::size_t p = 0; p < names.size(); ++p) {
            told const of_paper = s <= 2 ? paper[p][s - 1] : told{};
            out.row(group, schedulers[s], std::string(names[p]) + ": copies", of(all[s], copies_in_part + p),
                    of_paper.copies);
            out.row(group, schedulers[s], std::string(names[p]) + ": won", of(all[s], won_in_part + p),
                    of_paper.won);
        }
}

// Not in the paper: RiskI changed step by step.
void step_by_step(report::table& out, std::string const& group, report::options const& how,
                  riski_case const& c, std::vector<samples> const& all) {
    constexpr std::array<char const*, 4> steps{"with similar_tasks", "racing", "and by progress",
                                               "and node_aware"};
    std::vector<samples> r = repeat(how, c, steps);
    auto const row = [&](std::string const& name, samples const& these) {
        out.row(group, name, "mean shorter than LATE's", shorter(these, all[1], mean));
        out.row(group, name, "p99 shorter than LATE's", shorter(these, all[1], p99));
        out.row(group, name, "copies", of(these, copies));
        out.row(group, name, "share that won", share(these, won, copies));
    };
    row("RiskI", all[2]);
    for (std::size_t i = 0; i < steps.size(); ++i) row(steps[i], r[i]);
    row("and expected gain: straggle", all[5]);
    row("and priced: straggle priced", all[6]);
}

// The most that can be gained: the same jobs on machines whose neighbors take nothing. No copy does better.
void never_slow(report::table& out, std::string const& group, report::options const& how, double interval,
                samples const& late) {
    constexpr std::array<char const*, 1> nobody{"no copies"};
    std::vector<samples> const r = repeat(how, {.interval = interval, .neighbors = 0}, nobody);
    out.row(group, "machines never slow", "mean shorter than LATE's", shorter(r[0], late, mean));
    out.row(group, "machines never slow", "p99 shorter than LATE's", shorter(r[0], late, p99));
}

// Figures 12 and 13, and figure 14, whose first testbed is that of figure 12.
void figures_12_to_14(report::options const& how) {
    report::table whole(how, "riski-figures-12-13"), in_parts(how, "riski-parts"),
        testbeds(how, "riski-figure-14"), steps(how, "riski-steps");
    std::vector<samples> const busy = repeat(how, {.interval = 60}), idle = repeat(how, {.interval = 120});
    rows(whole, "BBP every 60 s", busy);
    never_slow(whole, "BBP every 60 s", how, 60, busy[1]);
    rows(whole, "BBP every 120 s", idle);
    never_slow(whole, "BBP every 120 s", how, 120, idle[1]);
    for (double const interval : {60.0, 120.0})
        rows(whole, interval < 100 ? "Sort every 60 s" : "Sort every 120 s",
             repeat(how, {.kind = "Sort", .interval = interval}));
    by_part(in_parts, "BBP every 60 s", busy, {{{{{48, 19}, {13, 11}}}, {}, {}, {}, {}}});
    // "No backup task succeeded in the first two parts", of LATE's; RiskI launched none.
    by_part(in_parts, "BBP every 120 s", idle,
            {{{{{{}, 0}, {0, 0}}}, {{{{}, 0}, {0, 0}}}, {}, {{{39, {}}, {12, 11}}}, {}}});
    step_by_step(steps, "BBP every 60 s", how, {.interval = 60}, busy);
    step_by_step(steps, "BBP every 120 s", how, {.interval = 120}, idle);
    rows(testbeds, "testbed 1", busy);
    std::vector<samples> const second = repeat(how, {.neighbors = 2}), third = repeat(how, {.neighbors = 8});
    rows(testbeds, "testbed 2", second);
    rows(testbeds, "testbed 3", third);
    for (auto const& [name, r] : {std::pair{"testbed 2", &second}, {"testbed 3", &third}})
        for (std::size_t s = 0; s < schedulers.size(); ++s)
            testbeds.row(name, schedulers[s], "mean over that of testbed 1",
                         over_runs((*r)[s], [&, one = &busy[s], two = &(*r)[s]](std::size_t i) {
                             return (*two)[i][mean] / (*one)[i][mean];
                         }));
}

// The paper's own machines: as fast as table 1 says, with the slots of table 3, and nothing that comes and
// goes. Then the effect of each difference from the setting above.
void settings(report::options const& how) {
    report::table out(how, "riski-settings");
    for (double const interval : {60.0, 120.0}) {
        std::string const every = interval < 100 ? ", every 60 s" : ", every 120 s";
        riski_case const speeds{.interval = interval, .neighbors = 0, .table_1 = true};
        rows(out, "speeds of table 1" + every, repeat(how, speeds));
        riski_case slots = speeds;
        slots.table_3 = true;
        rows(out, "speeds of table 1, slots of table 3" + every, repeat(how, slots));
        slots.neighbors = 1;
        rows(out, "the same, and faults that come and go" + every, repeat(how, slots));
    }
}

// Table 1 and figures 2 to 4 and 15: times of equal maps on each machine, and of one task again and again.
void equal_tasks(report::options const& how) {
    report::table out(how, "riski-table-1");
    constexpr std::array<std::array<double, 3>, 4> paper{{{108.61, 18.46, 159.0 / 80},
                                                          {92.66, 9.68, 116.0 / 75},
                                                          {73.61, 5.61, 84.0 / 63},
                                                          {43.5, 4.94, 54.0 / 32}}};
    std::vector<samples> const r = cluster::run_grid(
        1, how.repetitions(), [](std::size_t, std::size_t run) { return observe_equal_tasks(run + 1); },
        how.workers);
    for (std::size_t n = 0; n <= paper.size(); ++n) {
        std::string const who = n == 0 ? "all" : "node " + std::to_string(n);
        std::size_t const at = 3 * n;
        auto const told = [&](double of_all, auto of_node) {
            return n == 0 ? of_all : of_node(paper[n - 1]);
        };
        out.row("128 equal maps", who, "mean over the mean of all",
                over_runs(r[0], [&](std::size_t i) { return r[0][i][at] / r[0][i][0]; }),
                told(1, [](auto const& p) { return p[0] / 80; }));
        out.row("128 equal maps", who, "deviation over its mean",
                over_runs(r[0], [&](std::size_t i) { return r[0][i][at + 1] / r[0][i][at]; }),
                told(27.42 / 80, [](auto const& p) { return p[1] / p[0]; }));
        out.row("128 equal maps", who, "longest over shortest",
                over_runs(r[0], [&](std::size_t i) { return r[0][i][at + 2]; }),
                told(159.0 / 32, [](auto const& p) { return p[2]; }));
    }
    // Nine sets of neighbors in the paper; here how many maps run on the machine at once.
    for (std::size_t beside = 0; beside < 8; ++beside) {
        std::size_t const at = 15 + 2 * beside;
        std::string const x = std::to_string(beside + 1);
        out.row("one map 20 times", "time over that alone", x,
                over_runs(r[0], [&](std::size_t i) { return r[0][i][at] / r[0][i][15]; }));
        out.row("one map 20 times", "longest over shortest", x,
                over_runs(r[0], [&](std::size_t i) { return r[0][i][at + 1]; }));
    }
}

void figure_16(report::options const& how) {
    report::table out(how, "riski-figure-16");
    for (double const neighbors : {1.0, 8.0})
        for (char const* const kind : {"BBP", "Sort"}) {
            riski_case const c{.kind = kind, .interval = 120, .neighbors = neighbors};
            std::vector<cluster::measurement> all;
            for (std::uint64_t seed = 1; seed <= how.repetitions(); ++seed)
                all.push_back([&c, seed] { return observe_predictions(c, seed); });
            samples const r = cluster::run_isolated(all, how.workers);
            std::string const series = std::string(kind) + (neighbors < 2 ? " testbed 1" : " testbed 3");
            std::size_t at = 0;
            for (char const* const group : {"width of the range over its mean",
                                            "share of the times in the range", "error of the median"})
                for (std::uint32_t const n : executions)
                    out.row(group, series, std::to_string(n), of(r, at++));
        }
}

} // namespace

int main(int argc, char** argv) {
    return report::run(argc, argv, [](report::options const& how) {
        figure_10(how);
        figures_12_to_14(how);
        settings(how);
        equal_tasks(how);
        figure_16(how);
    });
}
