// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Simulated fleets with a known truth, for the tables of docs/reference/evidence.md.
#pragma once

#include <straggle/blacklist/node_stage.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

namespace straggle_bench {

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

// Ten nodes with four slots each; 80 tasks arrive at regular intervals, first come, first served; no decision
// is obeyed.
struct shop {
    double task = 8, window = 10;    // minutes
    double factor = 1;               // of the slow node
    double since = 0, until = 1e300; // when it is slow
    durations kind = durations::lognormal;
    double cv = 0.3;
    bool tells_running = true;
    double every = 5; // minutes between jobs
    // A share of the tasks is `hardness` times as long, always several neighbors of a job together; `packed`:
    // tasks go to the first node with a free slot, so that neighbors meet.
    double hard = 0, hardness = 1;
    unsigned neighbors = 1;
    bool packed = false;
};
class cluster {
  public:
    cluster(shop const& of, std::uint64_t seed) : of_(of), random_(seed) {
        for (std::uint32_t n = 0; n < nodes; ++n) {
            rows_.push_back({.node = n, .slots = slots, .busy = 0});
            for (std::uint32_t s = 0; s < slots; ++s) free_.push_back(n);
        }
    }
    void step() {
        double const until = now_ + of_.window;
        for (;;) {
            // The next event: an end, or a job.
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
                double by = 1;
                for (std::uint64_t t = 0; t < 80; ++t) {
                    if (of_.hard > 0 && t % of_.neighbors == 0)
                        by =
                            std::uniform_real_distribution<double>()(random_) < of_.hard ? of_.hardness : 1.0;
                    waits_.push_back({left_.size(), t, by});
                }
                left_.push_back(80);
                next_job_ += of_.every;
            }
            while (!waits_.empty() && !free_.empty()) {
                if (of_.packed)
                    std::iter_swap(std::min_element(free_.begin(), free_.end()), free_.end() - 1);
                else
                    std::swap(free_[random_() % free_.size()], free_.back());
                std::uint32_t const node = free_.back();
                free_.pop_back();
                auto const [job, task, by] = waits_.front();
                waits_.pop_front();
                double const took = of_.task * by * draw(of_.kind, of_.cv, random_) *
                                    (node == slow && at >= of_.since && at < of_.until ? of_.factor : 1.0);
                runs_.push_back({node, job, task, at, at + took});
            }
        }
        now_ = until;
        running_.clear();
        for (auto& r : rows_) r.busy = 0;
        for (auto const& r : runs_) {
            if (of_.tells_running) running_.push_back({r.node, r.job, r.task, r.start});
            ++rows_[r.node].busy;
        }
        decisions.decide(now_, running_, rows_, {.waiting = waits_.size()});
    }

    // Whether everything that runs on the slow node began after it became slow, at least `age` ago.
    [[nodiscard]] bool is_stuck_for(double age) const {
        bool any = false;
        for (attempt const& r : runs_)
            if (r.node == slow) {
                any = true;
                if (r.start < of_.since || now_ - r.start < age) return false;
            }
        return any;
    }
    [[nodiscard]] double now() const { return now_; }

    static constexpr std::uint32_t nodes = 10, slots = 4, slow = 6;
    node_stage decisions;
    std::uint64_t tasks_of_slow = 0; // that ended

  private:
    struct attempt {
        std::uint32_t node;
        std::uint64_t job, task;
        double start, end;
    };
    struct waiting {
        std::uint64_t job, task;
        double by;
    };

    shop of_;
    engine random_;
    double now_ = 0, next_job_ = 0;
    std::vector<blacklist::node_row> rows_;
    std::vector<std::uint32_t> free_;
    std::vector<attempt> runs_;
    std::vector<running_attempt> running_;
    std::deque<waiting> waits_;
    std::vector<int> left_; // tasks of each job
};

// Twenty tasks per node and window, one job per window. `noise`: in each hour (six windows) a node is slower
// or faster by this much, and 0.7 of that carries over to the next. The slow node is repaired before window
// `mended`.
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
    // Returns the number of tasks on the slow node.
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
                // Four slots, with five tasks in sequence on each.
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
    node_stage decisions;
    unsigned window = 0;

  private:
    fleet f_;
    engine random_;
    std::normal_distribution<double> normal_;
    std::vector<double> hour_;
    std::vector<blacklist::node_row> rows_;
    double now_ = 0;
};

} // namespace straggle_bench
