// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a `dynamic_blacklist` finds with its defaults, how soon, and how often it is wrong: the tables of
/// docs/reference/evidence.md, see bench/evidence.sh. Arguments: the number of runs, in units of 20, and one
/// of the tables windows, stuck, episodes, running, hard, detection, errors, recovery.

#include <blacklist/fleets.hpp>

#include <straggle/blacklist/node_stage.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace straggle;
using namespace straggle_bench;

// Number of tasks of a node at which the normal bound shows a slowdown above `least_slowdown`: false alarms
// 0.1 %, power 95 %, times 1.5.
double tasks_needed(double factor, double cv) {
    double const by = 4.735 * std::sqrt(std::log1p(cv * cv)) / std::log(factor / 1.1);
    return 1.5 * by * by;
}

void windows(unsigned runs) {
    std::printf("| tasks of | windows of | slowdown | tasks needed | windows from then on | named in | share "
                "| healthy "
                "nodes named |\n|---|---|---|---|---|---|---|---|\n");
    struct shape {
        double task, window;
        char const *task_name, *window_name;
        unsigned windows;
    };
    for (shape const s : {shape{8, 10, "8 min", "10 min", 576}, shape{8, 30, "8 min", "30 min", 192},
                          shape{8, 60, "8 min", "60 min", 96}, shape{60, 10, "1 h", "10 min", 576},
                          shape{1.0 / 6, 1.0 / 6, "10 s", "10 s", 2160}})
        for (double const factor : {1.5, 2.0, 3.0, 4.0}) {
            double const needed = tasks_needed(factor, 0.3);
            std::uint64_t all = 0, named = 0, healthy = 0, wrong = 0;
            for (unsigned run = 0; run < runs; ++run) {
                cluster c({.task = s.task, .window = s.window, .factor = factor}, run + 1);
                for (unsigned w = 0; w < s.windows; ++w) {
                    bool const due = static_cast<double>(c.tasks_of_slow) >= needed;
                    c.step();
                    for (std::uint32_t n = 0; n < c.nodes; ++n) {
                        bool const is = c.decisions.state(n) != node_state::healthy;
                        if (n != c.slow) {
                            ++healthy;
                            wrong += is;
                        } else if (due) {
                            ++all;
                            named += is;
                        }
                    }
                }
            }
            std::printf("| %s | %s | %.1f | %.1f | %llu | %llu | %.1f %% | %llu of %llu |\n", s.task_name,
                        s.window_name, factor, needed, static_cast<unsigned long long>(all),
                        static_cast<unsigned long long>(named),
                        100 * static_cast<double>(named) / static_cast<double>(all),
                        static_cast<unsigned long long>(wrong), static_cast<unsigned long long>(healthy));
            std::fflush(stdout);
        }
}

// The slow node works like the others for two hours; then nothing ends there for a long time, or ever again.
void stuck(unsigned runs) {
    std::printf("| tasks of | windows of | durations | slowdown | runs | out within two windows | median, in "
                "windows | "
                "slowest |\n|---|---|---|---|---|---|---|---|\n");
    struct shape {
        double task, window;
        char const *task_name, *window_name;
    };
    struct times {
        durations kind;
        double cv, past; // the 99th percentile
        char const* name;
    };
    double const sigma = std::sqrt(std::log1p(0.09)), wide = std::sqrt(std::log1p(0.36));
    for (shape const s : {shape{8, 10, "8 min", "10 min"}, shape{60, 10, "1 h", "10 min"},
                          shape{1.0 / 6, 1.0 / 6, "10 s", "10 s"}})
        for (times const t :
             {times{durations::lognormal, 0.3, std::exp(2.326 * sigma - sigma * sigma / 2), "cv 0.3"},
              times{durations::lognormal, 0.6, std::exp(2.326 * wide - wide * wide / 2), "cv 0.6"},
              times{durations::pareto, 0, std::pow(0.01, -1 / 1.8), "Pareto 1.8"}})
            for (double const factor : {20.0, 1e9}) {
                std::vector<double> took;
                double const since = (std::max)(120.0, 8 * s.task);
                for (unsigned run = 0; run < runs; ++run) {
                    cluster c({.task = s.task,
                               .window = s.window,
                               .factor = factor,
                               .since = since,
                               .kind = t.kind,
                               .cv = t.cv},
                              run + 1);
                    while (c.now() < since) c.step();
                    unsigned windows = 0;
                    bool is_past = false;
                    while (windows < 1000 && c.decisions.state(c.slow) == node_state::healthy) {
                        c.step();
                        windows += is_past;
                        is_past = is_past || c.is_stuck_for(t.past * s.task);
                    }
                    took.push_back(windows);
                }
                std::sort(took.begin(), took.end());
                auto const soon = std::upper_bound(took.begin(), took.end(), 2.0) - took.begin();
                std::printf("| %s | %s | %s | %s | %u | %.1f %% | %.0f | %.0f |\n", s.task_name,
                            s.window_name, t.name, factor < 100 ? "20" : "hangs", runs,
                            100 * static_cast<double>(soon) / static_cast<double>(took.size()),
                            took[took.size() / 2], took.back());
                std::fflush(stdout);
            }
}

// A node is slow for 10 to 40 minutes; tasks that begin in that time stay slow to their end. Decides every
// minute.
void episodes(unsigned runs) {
    std::printf("| slowdown | episodes | weak minutes | named in | episodes it was named in "
                "|\n|---|---|---|---|---|\n");
    for (double const factor : {2.0, 3.0, 5.0}) {
        double weak = 0, named = 0;
        unsigned found = 0;
        engine random(7);
        for (unsigned run = 0; run < runs; ++run) {
            double const length = std::uniform_real_distribution<double>(10, 40)(random);
            cluster c({.task = 1, .window = 1, .factor = factor, .since = 60, .until = 60 + length}, run + 1);
            while (c.now() < 60) c.step();
            bool any = false;
            while (c.now() < 60 + length) {
                c.step();
                bool const is = c.decisions.state(c.slow) != node_state::healthy;
                weak += 1;
                named += is;
                any = any || is;
            }
            found += any;
        }
        std::printf("| %.1f | %u | %.0f | %.1f %% | %.1f %% |\n", factor, runs, weak, 100 * named / weak,
                    100.0 * found / runs);
        std::fflush(stdout);
    }
}

// Nothing is wrong with the nodes, but some tasks are hard: how often a node is named, at 80 % load.
void hard_tasks(unsigned runs) {
    std::printf(
        "| tasks of | hard | how much longer | neighbors | fleet windows | nodes named | per 1000 windows "
        "|\n|---|---|---|---|---|---|---|\n");
    for (double const task : {8.0, 1.0 / 6})
        for (double const hard : {0.01, 0.05})
            for (double const by : {5.0, 20.0})
                for (unsigned const neighbors : {1u, 4u, 8u}) {
                    std::uint64_t windows = 0, named = 0;
                    for (unsigned run = 0; run < runs; ++run) {
                        cluster c({.task = task,
                                   .window = task < 1 ? 4 * task : 10,
                                   .every = task * 80 * (1 + hard * (by - 1)) / (40 * 0.8),
                                   .hard = hard,
                                   .hardness = by,
                                   .neighbors = neighbors,
                                   .packed = neighbors > 1},
                                  run + 1);
                        std::vector<bool> was(c.nodes);
                        for (unsigned w = 0; w < 1000; ++w, ++windows) {
                            c.step();
                            for (std::uint32_t n = 0; n < c.nodes; ++n) {
                                bool const is = c.decisions.state(n) != node_state::healthy;
                                named += is && !was[n];
                                was[n] = is;
                            }
                        }
                    }
                    std::printf("| %s | %.0f %% | %.0f | %u | %llu | %llu | %.1f |\n",
                                task < 1 ? "10 s" : "8 min", 100 * hard, by, neighbors,
                                static_cast<unsigned long long>(windows),
                                static_cast<unsigned long long>(named),
                                1000 * static_cast<double>(named) / static_cast<double>(windows));
                    std::fflush(stdout);
                }
}

// Nothing is wrong: whether passing running attempts blames nodes that would not be blamed without.
void running(unsigned runs) {
    std::printf(
        "| durations | tasks of | windows of | fleet windows | false exclusions | with ended attempts only "
        "|\n|---|---|---|---|---|---|\n");
    struct kind {
        durations of;
        char const* name;
        double cv;
    };
    for (kind const k : {kind{durations::lognormal, "lognormal, cv 0.1", 0.1},
                         {durations::lognormal, "lognormal, cv 0.3", 0.3},
                         {durations::lognormal, "lognormal, cv 0.6", 0.6},
                         {durations::pareto, "Pareto 1.8", 0},
                         {durations::two_sizes, "two sizes", 0}})
        for (double const task : {8.0, 1.0 / 6}) { // jobs that last for several windows, or less than one
            std::uint64_t all = 0, wrong[2] = {0, 0};
            for (bool const tells : {true, false})
                for (unsigned run = 0; run < runs; ++run) {
                    cluster c({.task = task, .kind = k.of, .cv = k.cv, .tells_running = tells}, run + 1);
                    std::vector<bool> was(c.nodes, false);
                    for (unsigned w = 0; w < 288; ++w) {
                        c.step();
                        all += tells;
                        for (std::uint32_t n = 0; n < c.nodes; ++n) {
                            bool const is = c.decisions.state(n) != node_state::healthy;
                            wrong[tells ? 0 : 1] += is && !was[n];
                            was[n] = is;
                        }
                    }
                }
            std::printf("| %s | %s | 10 min | %llu | %llu | %llu |\n", k.name, task > 1 ? "8 min" : "10 s",
                        static_cast<unsigned long long>(all), static_cast<unsigned long long>(wrong[0]),
                        static_cast<unsigned long long>(wrong[1]));
            std::fflush(stdout);
        }
}

// The power of the best possible test (Neyman and Pearson) of that slowdown against the least one, for a node
// of `twenty_each`: it knows how much tasks and hours vary and how fast the others are, sees all windows at
// once, and errs as often as one node of ten may if one fleet window in 1000 is wrong.
double best_power(double factor, double cv, double noise, unsigned windows) {
    unsigned const hours = (windows + 5) / 6;
    std::vector<std::vector<double>> a(hours,
                                       std::vector<double>(hours + 1)); // covariances of hours, and ones
    for (unsigned i = 0; i < hours; ++i) {
        for (unsigned j = 0; j < hours; ++j) a[i][j] = noise * noise * std::pow(0.7, i < j ? j - i : i - j);
        a[i][i] += std::log1p(cv * cv) / (20 * std::min(6u, windows - 6 * i));
        a[i][hours] = 1;
    }
    for (unsigned i = 0; i < hours; ++i) // positive definite: no pivots are needed
        for (unsigned k = 0; k < hours; ++k)
            if (double const by = a[k][i] / a[i][i]; k != i)
                for (unsigned j = i; j <= hours; ++j) a[k][j] -= by * a[i][j];
    double information = 0;
    for (unsigned i = 0; i < hours; ++i) information += a[i][hours] / a[i][i];
    auto const upper = [](double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); };
    double low = 0, high = 40;
    for (int i = 0; i < 100; ++i)
        (upper((low + high) / 2) > windows / (1000.0 * 10) ? low : high) = (low + high) / 2;
    return upper(low - std::log(factor / 1.1) * std::sqrt(information));
}

void detection(unsigned runs) {
    std::printf(
        "\n| slowdown | cv | noise of hours | within windows | runs | found | interval | the best test |\n"
        "|---|---|---|---|---|---|---|---|\n");
    struct goal {
        double factor, cv;
        unsigned windows;
    };
    for (double const noise : {0.0, 0.05})
        for (goal const g : {goal{2, 1.0, 8}, goal{1.3, 0.6, 30}, goal{1.5, 0.3, 3}}) {
            unsigned found = 0;
            for (unsigned run = 0; run < runs; ++run) {
                twenty_each t({.factor = g.factor, .cv = g.cv, .noise = noise}, run + 1);
                bool is = false;
                while (!is && t.window < g.windows) {
                    t.step();
                    is = t.decisions.state(t.slow) != node_state::healthy;
                }
                found += is;
            }
            share const s(found, runs);
            std::printf("| %.1f | %.1f | %.0f %% | %u | %u | %.1f %% | %.1f to %.1f %% | %.1f %% |\n",
                        g.factor, g.cv, 100 * noise, g.windows, runs, 100.0 * found / runs, 100 * s.low,
                        100 * s.high, 100 * best_power(g.factor, g.cv, noise, g.windows));
            std::fflush(stdout);
        }
}

void false_exclusions(unsigned runs) {
    std::printf(
        "\n| nodes | durations | cv | noise of hours | fleet windows | false exclusions | per 1000 windows, "
        "upper end of 95 %% |\n|---|---|---|---|---|---|---|\n");
    struct kind {
        durations of;
        char const* name;
        double cv;
    };
    for (unsigned const nodes : {10u, 100u, 1000u}) {
        std::uint64_t wrong_of_all = 0, windows_of_all = 0;
        for (kind const k : {kind{durations::lognormal, "lognormal", 0.1},
                             {durations::lognormal, "lognormal", 0.6},
                             {durations::lognormal, "lognormal", 1},
                             {durations::gamma, "gamma", 1},
                             {durations::pareto, "Pareto 1.8", 0},
                             {durations::two_sizes, "two sizes", 0}})
            for (double const noise : {0.0, 0.05}) {
                unsigned const times = std::max(runs / (nodes == 10 ? 1 : 12), 1u);
                std::uint64_t wrong = 0, all = 0;
                for (unsigned run = 0; run < times; ++run) {
                    twenty_each t({.nodes = nodes, .kind = k.of, .cv = k.cv, .noise = noise}, run + 1);
                    std::vector<bool> was(nodes, false);
                    for (unsigned w = 0; w < (nodes == 1000 ? 50u : 200u); ++w, ++all) {
                        t.step();
                        for (std::uint32_t n = 0; n < nodes; ++n) {
                            bool const is = t.decisions.state(n) != node_state::healthy;
                            wrong += is && !was[n];
                            was[n] = is;
                        }
                    }
                }
                std::printf("| %u | %s | %.1f | %.0f %% | %llu | %llu | %.2f |\n", nodes, k.name, k.cv,
                            100 * noise, static_cast<unsigned long long>(all),
                            static_cast<unsigned long long>(wrong),
                            1000 * share(static_cast<double>(wrong), static_cast<double>(all)).high);
                std::fflush(stdout);
                wrong_of_all += wrong;
                windows_of_all += all;
            }
        std::printf(
            "| %u | all of these | | | %llu | %llu | %.2f |\n", nodes,
            static_cast<unsigned long long>(windows_of_all), static_cast<unsigned long long>(wrong_of_all),
            1000 * share(static_cast<double>(wrong_of_all), static_cast<double>(windows_of_all)).high);
    }
}

// Decisions are obeyed: an excluded node does nothing, one on probation runs as many tasks as it has slots
// for probes.
void recovery(unsigned runs) {
    std::printf("\n| slowdown | cv | runs | back within 5 windows with tasks | median | slowest |\n"
                "|---|---|---|---|---|---|\n");
    struct kind {
        double factor, cv;
    };
    for (kind const k : {kind{1.5, 0.3}, {2, 0.3}, {2, 1}, {4, 0.6}}) {
        std::vector<unsigned> took;
        for (unsigned run = 0; run < runs; ++run) {
            twenty_each t({.factor = k.factor, .cv = k.cv, .obeyed = true, .mended = 20}, run + 1);
            while (t.window < 20) t.step();
            if (t.decisions.state(t.slow) == node_state::healthy) continue;
            unsigned windows = 0;
            while (t.window < 400 && t.decisions.state(t.slow) != node_state::healthy)
                if (t.step() != 0) ++windows;
            took.push_back(windows);
        }
        std::sort(took.begin(), took.end());
        auto const soon = std::upper_bound(took.begin(), took.end(), 5u) - took.begin();
        std::printf("| %.1f | %.1f | %zu | %.1f %% | %u | %u |\n", k.factor, k.cv, took.size(),
                    100 * static_cast<double>(soon) / static_cast<double>(took.size()), took[took.size() / 2],
                    took.back());
        std::fflush(stdout);
    }
}

} // namespace

int main(int count, char** values) {
    unsigned const scale = count > 1 ? static_cast<unsigned>(std::max(1, std::atoi(values[1]))) : 1;
    std::string const only = count > 2 ? values[2] : "";
    if (only.empty() || only == "windows") windows(std::max(scale / 5, 1u));
    if (only.empty() || only == "stuck") stuck(2 * scale);
    if (only.empty() || only == "episodes") episodes(20 * scale);
    if (only.empty() || only == "running") running(std::max(scale / 5, 1u));
    if (only.empty() || only == "hard") hard_tasks(std::max(scale / 5, 1u));
    if (only.empty() || only == "detection") detection(20 * scale);
    if (only.empty() || only == "errors") false_exclusions(scale);
    if (only.empty() || only == "recovery") recovery(10 * scale);
}
