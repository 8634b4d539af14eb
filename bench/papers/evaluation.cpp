// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The experiments of T.-D. Phan, G. Pallez, S. Ibrahim, P. Raghavan, A new framework for evaluating
/// straggler detection mechanisms in MapReduce (2019), on a simulated cluster: tables 5 to 7, figures 3 to 6.
#include "cluster/isolated.hpp"
#include "evaluation/observe.hpp"
#include "report/report.hpp"

#include <straggle/stats/order.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace evaluation;

constexpr std::size_t runs_for_usual = 10; // the paper's
constexpr std::array<char const*, 9> detectors{"Default",
                                               "Hierarchical",
                                               "LATE",
                                               "LATE as printed, ms",
                                               "node_aware cold",
                                               "node_aware warm",
                                               "LATE as printed, s",
                                               "Default, job's lag",
                                               "node_aware all"};
constexpr std::size_t by_reservation = 6; // this many of them; the others are for comparison

using samples = std::vector<std::vector<double>>; // a row per run

// The times of each map in ten runs on equal machines, by repetition: each has data of its own.
std::vector<samples> equal_runs(report::options const& how) {
    return cluster::run_grid(
        how.repetitions(), runs_for_usual,
        [](std::uint64_t i, std::uint64_t run) {
            return map_times(homogeneous, i + 1, 1000 * (i + 1) + run);
        },
        how.workers);
}

std::vector<double> usual_times(samples const& runs, double quantile) {
    std::vector<double> usual;
    for (std::size_t task = 0; task < runs[0].size(); ++task) {
        std::vector<double> times;
        for (auto const& run : runs) times.push_back(run[task]);
        usual.push_back(straggle::stats::quantile_in_place(times, quantile).value_or(std::nan("")));
    }
    return usual;
}

void table_5(report::options const& how, std::vector<samples> const& equal) {
    report::table out(how, "table-5");
    for (auto const& [x, q, paper] : {std::tuple{"0.25", 0.25, 0.0816},
                                      {"0.5", 0.5, 0.0066},
                                      {"0.6", 0.6, 0.0031},
                                      {"0.7", 0.7, 0.0016},
                                      {"0.9", 0.9, 0.0006}}) {
        std::vector<double> shares;
        for (samples const& runs : equal) {
            std::vector<double> const usual = usual_times(runs, q);
            double stragglers = 0, all = 0;
            for (auto const& run : runs)
                for (std::size_t task = 0; task < run.size(); ++task) {
                    all += 1;
                    stragglers += run[task] > 1.2 * usual[task] ? 1 : 0;
                }
            shares.push_back(stragglers / all);
        }
        out.row("stragglers on equal machines", "WordCount", x, report::median_of(shares), paper);
    }
}

// What is known before the job runs, by repetition.
std::vector<history> learn(report::options const& how, scenario const& where,
                           std::vector<samples> const& equal) {
    std::vector<history> known(how.repetitions());
    std::vector<cluster::measurement> all;
    for (std::size_t i = 0; i < known.size(); ++i) {
        known[i].usual = usual_times(equal[i], 0.5);
        all.push_back([&where, i, &known] { return slowdown_of(where, 500 + i, 50 + i, known[i].usual); });
    }
    samples const slowdown = cluster::run_isolated(all, how.workers);
    for (std::size_t i = 0; i < known.size(); ++i) known[i].slowdown = slowdown[i];
    return known;
}

samples repeat(report::options const& how, scenario const& where, run_options const& run,
               std::vector<history> const& known) {
    std::vector<cluster::measurement> all;
    for (std::size_t i = 0; i < known.size(); ++i)
        all.push_back([&where, run, i, &known] {
            run_options mine = run;
            mine.input = mine.seed = i + 1;
            return observe(where, mine, known[i]);
        });
    return cluster::run_isolated(all, how.workers);
}

report::estimate of(samples const& runs, measure m) {
    std::vector<double> values;
    for (auto const& r : runs) values.push_back(r[m]);
    return report::median_of(std::move(values));
}
report::estimate ratio_of(samples const& runs, samples const& reference, measure m) {
    std::vector<double> values;
    for (std::size_t i = 0; i < runs.size(); ++i) values.push_back(runs[i][m] / reference[i][m]);
    return report::median_of(std::move(values));
}

using paper_row = std::array<double, 5>; // precision, recall, latency, fake, undetected
constexpr double none = -1;
std::optional<double> told(double x) {
    return x < 0 ? std::nullopt : std::optional(x);
}

void characteristics(report::table& out, std::string const& group, std::string const& who, samples const& r,
                     paper_row const& paper) {
    out.row(group, who, "precision", of(r, precision), told(paper[0]));
    out.row(group, who, "precision, fake positives left in", of(r, precision_of_all), told(paper[0]));
    out.row(group, who, "recall", of(r, recall), told(paper[1]));
    out.row(group, who, "latency", of(r, latency), told(paper[2]));
    out.row(group, who, "fake positives", of(r, fake), told(paper[3]));
    out.row(group, who, "undetected time", of(r, undetected), told(paper[4]));
}

void table_6(report::options const& how, std::vector<samples> const& equal) {
    report::table out(how, "table-6"), energy(how, "energy");
    constexpr paper_row unknown{none, none, none, none, none};
    // Default, Hierarchical, LATE in C1 to C4.
    constexpr std::array<std::array<paper_row, 3>, 4> paper{{
        {{{.64, .48, .55, .05, 2.1}, {1, .47, .65, 0, 2.1}, {.83, .61, .44, .04, 1.8}}},
        {{{.64, .46, .41, .02, 1.8}, {1, .33, .57, .01, 1.8}, {.82, .60, .38, .04, 1.6}}},
        {{{.22, .41, .49, .07, 1.9}, {.88, .37, .55, .04, 1.9}, {.24, .55, .48, .06, 1.8}}},
        {{{.12, .50, .51, .01, 2.1}, {.98, .38, .53, .02, 2.1}, {.31, .62, .48, .03, 2.0}}},
    }};
    for (std::size_t s = 0; s < scenarios.size(); ++s) {
        scenario const& where = scenarios[s];
        std::vector<history> const known = learn(how, where, equal);
        for (std::size_t d = 0; d < detectors.size(); ++d) {
            // The paper's LATE is one of the two.
            bool const is_late = d == 2 || d == 3;
            auto const write = [&](std::string const& group, samples const& r) {
                characteristics(out, group, detectors[d], r,
                                is_late ? paper[s][2]
                                : d < 2 ? paper[s][d]
                                        : unknown);
                out.row(group, detectors[d], "stragglers", of(r, ratio));
                out.row(group, detectors[d], "seconds", of(r, seconds));
            };
            samples const r = repeat(how, where, {.detector = detectors[d]}, known);
            write(where.name, r);
            if (d < by_reservation)
                write(std::string(where.name) + ", shared slots",
                      repeat(how, where, {.detector = detectors[d], .for_tasks = 2}, known));
            std::vector<double> apart;
            for (auto const& run : r) apart.push_back(run[joules_of_model] / run[joules] - 1);
            energy.row("evaluate/power against the plug-in", detectors[d], where.name,
                       report::median_of(apart));
        }
    }
}

void figure_1(report::options const& how) {
    report::table out(how, "figure-1");
    for (std::uint32_t n = 1; n <= 8; ++n) {
        std::vector<cluster::measurement> all;
        for (std::uint64_t seed = 1; seed <= how.repetitions(); ++seed)
            all.push_back([n, seed] { return one_machine(n, seed); });
        samples const r = cluster::run_isolated(all, how.workers);
        for (auto const& [what, i] :
             {std::pair{"seconds of a task", 0u}, {"watts", 1u}, {"watts by evaluate/power", 2u}}) {
            std::vector<double> values;
            for (auto const& run : r) values.push_back(run[i]);
            // The model of section 4.1 with the numbers under the figure: 65 W and 17 W for each busy core.
            std::optional<double> paper;
            if (i == 1) paper = 65 + 17.0 * std::min(n, 4u);
            out.row(what, "WordCount", std::to_string(n), report::median_of(values), paper);
        }
    }
}

// Figure 2: how ten equal runs differ, task by task: how far from the median of the ten.
void figure_2(report::options const& how, std::vector<samples> const& equal) {
    report::table out(how, "figure-2");
    for (double const q : {0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0}) {
        std::vector<double> values;
        for (samples const& runs : equal) {
            std::vector<double> const usual = usual_times(runs, 0.5);
            std::vector<double> over;
            for (auto const& run : runs)
                for (std::size_t task = 0; task < run.size(); ++task) over.push_back(run[task] / usual[task]);
            values.push_back(straggle::stats::quantile_in_place(over, q).value_or(std::nan("")));
        }
        out.row("time over the task's usual time", "WordCount",
                std::to_string(static_cast<int>(100 * q + 0.5)) + " %", report::median_of(values));
    }
    std::vector<double> outliers;
    for (samples const& runs : equal) {
        std::vector<double> const usual = usual_times(runs, 0.5);
        double n = 0;
        for (auto const& run : runs)
            for (std::size_t task = 0; task < run.size(); ++task) n += run[task] > 1.2 * usual[task] ? 1 : 0;
        outliers.push_back(n);
    }
    out.row("outliers among 3200 times", "WordCount", "", report::median_of(outliers), 21);
}

void figure_3(report::options const& how, std::vector<samples> const& equal) {
    report::table out(how, "figure-3");
    std::vector<history> const known = learn(how, scenarios[1], equal);
    for (double const lag : {10.0, 20.0, 30.0, 40.0, 50.0, 60.0}) {
        samples const r = repeat(how, scenarios[1], {.detector = "Default", .lag = lag}, known);
        std::optional<double> paper; // in words: 0.14 at 60 s, "small" at 20 s
        if (lag == 60) paper = 0.14;
        if (lag == 20) paper = 0.02;
        out.row("fake positives", "Default", std::to_string(static_cast<int>(lag)), of(r, fake), paper);
    }
}

void reservations(report::options const& how, std::vector<samples> const& equal) {
    report::table seven(how, "table-7"), four(how, "figures-4-6");
    constexpr paper_row unknown{none, none, none, none, none};
    struct share {
        char const* name;
        double for_tasks;
        std::array<paper_row, 3> paper;
    };
    constexpr std::array<share, 6> shares{{
        {"100", 1, {{{.62, .36, .41, none, 2.5}, {1, .22, .5, none, 2.52}, {.69, .45, .36, none, 2.26}}}},
        {"95", .95, {{{.55, .41, .17, none, 2.0}, {.99, .29, .23, none, 2.08}, {.68, .6, .18, none, 2.0}}}},
        {"90", .9, {{{.53, .42, .15, none, 2.03}, {1, .3, .03, none, 2.1}, {.63, .63, .16, none, 2.01}}}},
        {"75",
         .75,
         {{{.58, .57, .08, none, 2.08}, {.99, .29, .05, none, 2.12}, {.67, .65, .18, none, 2.02}}}},
        {"50", .5, {{{.57, .68, .01, none, 2.08}, {.96, .32, .03, none, 1.99}, {.6, .7, .09, none, 2.04}}}},
        {"Shared",
         2,
         {{{.55, .56, .32, none, 2.01}, {.99, .29, .65, none, 2.03}, {.65, .6, .17, none, 2.28}}}},
    }};
    std::vector<history> const known = learn(how, scenarios[1], equal);
    samples reference;
    for (share const& s : shares)
        for (std::size_t d = 0; d < by_reservation; ++d) {
            samples const r =
                repeat(how, scenarios[1], {.detector = detectors[d], .for_tasks = s.for_tasks}, known);
            if (reference.empty()) reference = r; // Default with all slots for tasks
            characteristics(seven, s.name, detectors[d], r,
                            d == 3  ? s.paper[2]
                            : d < 3 ? s.paper[d]
                                    : unknown);
            // In words: Hierarchical, shared, takes 10 % less time and 6 % less energy than the reference.
            bool const said = d == 1 && s.for_tasks > 1;
            four.row("job time", detectors[d], s.name, ratio_of(r, reference, seconds),
                     said ? std::optional(0.90) : std::nullopt);
            four.row("energy", detectors[d], s.name, ratio_of(r, reference, joules),
                     said ? std::optional(0.94) : std::nullopt);
            four.row("copies", detectors[d], s.name, of(r, copies));
            four.row("copies that won", detectors[d], s.name, of(r, won));
        }
}

} // namespace

int main(int argc, char** argv) {
    return report::run(argc, argv, [](report::options const& how) {
        std::vector<samples> const equal = equal_runs(how);
        figure_1(how);
        figure_2(how, equal);
        table_5(how, equal);
        table_6(how, equal);
        figure_3(how, equal);
        reservations(how, equal);
    });
}
