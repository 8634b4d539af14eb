// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a `dynamic_blacklist` finds by its defaults, how soon, and how often it is wrong: the tables of
/// docs/reference/evidence.md, see bench/evidence.sh. Arguments: how many runs there are, in units of 20, and
/// one table of windows, detection, errors, recovery.

#include <straggle/blacklist/node_decisions.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace straggle;
using engine = std::mt19937_64;

enum class durations { lognormal, gamma, pareto, two_sizes };

double draw(durations kind, double cv, engine& random) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    switch (kind) {
    case durations::lognormal: {
        double const squares = std::log1p(cv * cv);
        return std::exp(std::sqrt(squares) * normal(random) - squares / 2);
    }
    case durations::gamma: {
        double const shape = 1 / (cv * cv);
        return std::gamma_distribution<double>(shape, 1 / shape)(random) + 1e-9;
    }
    case durations::pareto:
        return std::pow(1 - uniform(random), -1 / 1.8);
    default:
        return (uniform(random) < 0.2 ? 3.0 : 0.5) * std::exp(0.2 * normal(random));
    }
}

// 95 % of a share, k of n (Wilson).
struct share {
    double low, high;
    share(double k, double n) {
        double const z = 1.96, p = k / n, by = 1 + z * z / n, mid = p + z * z / (2 * n);
        double const wide = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
        low = std::max((mid - wide) / by, 0.0);
        high = std::min((mid + wide) / by, 1.0);
    }
};

// Ten nodes with four slots each, 80 tasks every five minutes, first come first served; nobody obeys.
class cluster {
  public:
    cluster(double task, double window, double factor, std::uint64_t seed)
        : random_(seed), task_(task), window_(window), factor_(factor) {
        for (std::uint32_t n = 0; n < nodes; ++n) {
            rows_.push_back({.node = n, .slots = slots, .busy = 0});
            for (std::uint32_t s = 0; s < slots; ++s) free_.push_back(n);
        }
    }
    void step() {
        double const until = now_ + window_;
        for (;;) {
            // What comes first: an end, or a job.
            auto const first = std::min_element(runs_.begin(), runs_.end(),
                                                [](auto const& a, auto const& b) { return a.end < b.end; });
            bool const is_end = first != runs_.end() && first->end <= next_job_;
            double const at = is_end ? first->end : next_job_;
            if (at > until) break;
            if (is_end) {
                decisions.observe({first->node, first->job, first->task, first->start, first->end}, at);
                tasks_of_slow += first->node == slow;
                free_.push_back(first->node);
                if (--left_[static_cast<std::size_t>(first->job)] == 0) decisions.finish_job(first->job);
                *first = runs_.back();
                runs_.pop_back();
            } else {
                for (std::uint64_t t = 0; t < 80; ++t) waits_.push_back({left_.size(), t});
                left_.push_back(80);
                next_job_ += 5;
            }
            while (!waits_.empty() && !free_.empty()) {
                std::swap(free_[random_() % free_.size()], free_.back());
                std::uint32_t const node = free_.back();
                free_.pop_back();
                auto const [job, task] = waits_.front();
                waits_.pop_front();
                double const took =
                    task_ * draw(durations::lognormal, 0.3, random_) * (node == slow ? factor_ : 1.0);
                runs_.push_back({node, job, task, at, at + took});
            }
        }
        now_ = until;
        running_.clear();
        for (auto& r : rows_) r.busy = 0;
        for (auto const& r : runs_) {
            running_.push_back({r.node, r.job, r.task, r.start});
            ++rows_[r.node].busy;
        }
        decisions.decide(now_, running_, rows_, {.waiting = waits_.size()});
    }

    static constexpr std::uint32_t nodes = 10, slots = 4, slow = 6;
    node_decisions decisions;
    std::uint64_t tasks_of_slow = 0; // that ended

  private:
    struct attempt {
        std::uint32_t node;
        std::uint64_t job, task;
        double start, end;
    };
    struct waiting {
        std::uint64_t job, task;
    };

    engine random_;
    double task_, window_, factor_, now_ = 0, next_job_ = 0;
    std::vector<blacklist::node_row> rows_;
    std::vector<std::uint32_t> free_;
    std::vector<attempt> runs_;
    std::vector<running_attempt> running_;
    std::deque<waiting> waits_;
    std::vector<int> left_; // tasks of each job
};

// By how many tasks of a node the normal bound is reached: more than `least_slowdown`, false alarms 0.1 %,
// power 95 %, times 1.5.
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
                cluster c(s.task, s.window, factor, run + 1);
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

// Twenty tasks per node and window, one job in each. `noise`: a node's hour (six windows) is that much slower
// or faster, and 0.7 of it stays for the next. The slow node is mended before window `mended`.
struct fleet {
    unsigned nodes = 10;
    double factor = 1;
    durations kind = durations::lognormal;
    double cv = 0.3, noise = 0;
    bool obeyed = false;
    unsigned mended = ~0u;
};
class twenty_each {
  public:
    twenty_each(fleet const& f, std::uint64_t seed) : f_(f), random_(seed), hour_(f.nodes) {
        for (double& x : hour_) x = f.noise * normal_(random_);
        for (std::uint32_t n = 0; n < f.nodes; ++n) rows_.push_back({.node = n, .slots = 4});
    }
    // Returns how many tasks the slow node had.
    unsigned step() {
        if (window % 6 == 0)
            for (double& x : hour_) x = 0.7 * x + f_.noise * 0.714 * normal_(random_);
        unsigned worked = 0;
        for (std::uint32_t n = 0; n < f_.nodes; ++n) {
            unsigned tasks = 20;
            if (f_.obeyed) {
                node_state const state = decisions.state(n);
                if (state == node_state::excluded || state == node_state::away) tasks = 0;
                if (state == node_state::on_probation) tasks = 5 * std::min(decisions.probe_slots(n), 4u);
            }
            if (n == slow) worked = tasks;
            double const by = std::exp(hour_[n]) * (n == slow && window < f_.mended ? f_.factor : 1.0);
            for (unsigned k = 0; k < tasks; ++k) {
                // Four slots, five tasks after each other in each.
                double const start = now_ + 2 * static_cast<double>(k / 4);
                decisions.observe({n, window, n * 20u + k, start, start + by * draw(f_.kind, f_.cv, random_)},
                                  start + 2);
            }
        }
        decisions.finish_job(window);
        now_ += 10;
        ++window;
        decisions.decide(now_, {}, rows_, {});
        return worked;
    }
    static constexpr std::uint32_t slow = 3;
    node_decisions decisions;
    unsigned window = 0;

  private:
    fleet f_;
    engine random_;
    std::normal_distribution<double> normal_;
    std::vector<double> hour_;
    std::vector<blacklist::node_row> rows_;
    double now_ = 0;
};

void detection(unsigned runs) {
    std::printf("\n| slowdown | cv | noise of hours | within windows | runs | found | interval |\n"
                "|---|---|---|---|---|---|---|\n");
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
            std::printf("| %.1f | %.1f | %.0f %% | %u | %u | %.1f %% | %.1f to %.1f %% |\n", g.factor, g.cv,
                        100 * noise, g.windows, runs, 100.0 * found / runs, 100 * s.low, 100 * s.high);
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

// Obeyed: a node that is excluded does nothing, one on probation as many tasks as it has slots for probes.
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
    if (only.empty() || only == "detection") detection(20 * scale);
    if (only.empty() || only == "errors") false_exclusions(scale);
    if (only.empty() || only == "recovery") recovery(10 * scale);
}
