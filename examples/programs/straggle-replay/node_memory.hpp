// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How slow nodes were in earlier jobs: the knowledge of a warm detector.
#pragma once

#include "history.hpp"

#include <straggle/stats/order.hpp>

#include <cmath>
#include <vector>

namespace straggle_replay {

/// Learns while a history is replayed. The slowdown of a node is the geometric mean of the times of its tasks
/// over the median of their jobs, as if it had run two usual tasks more, so that one slow task does not
/// condemn a node. A job counts when all of its tasks have finished.
class node_memory {
  public:
    explicit node_memory(history const& h) : history_(h), jobs_(h.jobs.size()), nodes_(h.nodes.size()) {
        recording const& tape = *h.tape;
        for (std::size_t task = 0; task < tape.tasks(); ++task)
            if (tape.fate_of(task) != replaying::task_fate::never_finished)
                ++jobs_[tape.job(tape.job_of(task))].left;
    }

    template <class Job>
    void begins(Job& starting) {
        for (std::uint32_t n = 0; n < nodes_.size(); ++n)
            if (nodes_[n].tasks > 0)
                starting.set_slowdown(n, std::exp(nodes_[n].logs / (nodes_[n].tasks + 2)));
    }
    void finished(std::size_t row) {
        job& j = jobs_[*history_.attempts[row].job];
        j.rows.push_back(row);
        ++tasks_;
        if (--j.left == 0) learn(j);
    }
    /// Tasks that have finished.
    [[nodiscard]] std::uint64_t tasks() const { return tasks_; }

  private:
    static constexpr std::size_t least = 5; // tasks of a job with a meaningful median

    struct job {
        std::vector<std::size_t> rows;
        std::size_t left = 0; // tasks
    };
    struct node {
        double logs = 0, tasks = 0;
    };

    [[nodiscard]] double time_of(std::size_t row) const {
        attempt const& a = history_.attempts[row];
        return static_cast<double>((*a.end - *a.start).count());
    }
    void learn(job& j) {
        std::vector<double> times;
        for (std::size_t const row : j.rows)
            if (double const t = time_of(row); t > 0) times.push_back(t);
        if (times.size() >= least) {
            double const median = *straggle::stats::median_in_place(times);
            for (std::size_t const row : j.rows) {
                double const t = time_of(row);
                if (!(t > 0)) continue;
                node& n = nodes_[*history_.attempts[row].node];
                n.logs += std::log(t / median);
                n.tasks += 1;
            }
        }
        j.rows = {};
    }

    history const& history_;
    std::vector<job> jobs_;
    std::vector<node> nodes_;
    std::uint64_t tasks_ = 0;
};

} // namespace straggle_replay
