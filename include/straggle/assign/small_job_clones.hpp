// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Clones of all tasks of small jobs, from their start: too few siblings to tell in time which task is late.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/record/cluster_load.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::assign {

/// How many clones there may be. Shares, no times.
struct small_job_clones_options {
    double stragglers_left =
        0.05;                 ///< a job may straggle in spite of its clones with this probability, in (0, 1)
    double budget = 0.05;     ///< share of the slots that clones may take, in [0, 1]
    double utilization = 0.8; ///< share of the slots that may be taken, clones too, in [0, 1]
};

/// How many clones each task of a new job gets beside its original: all tasks the same, or none where the
/// budget does not last. The first of a task's attempts to end counts, the others are stopped.
///
/// A task straggles with probability p, learnt from the jobs that are over. A job of n tasks of which each
/// runs c times straggles with 1 - (1 - p^c)^n; c is the least that brings this down to `stragglers_left`.
/// Jobs of many tasks need many clones, and get none: they are helped by copies of what is late
/// (`mitigate::copy_planner`). Tasks with side effects, and gangs, are the caller's to leave out.
///
/// Source: Ananthanarayanan, Ghodsi, Shenker, Stoica, Effective Straggler Mitigation: Attack of the Clones
/// (NSDI 2013), sections 3 and 4.1: the number of clones, the budget, all or nothing. Left out: delay
/// assignment of intermediate data.
/// @par Cost
/// O(1), 40 bytes
/// @par Guarantees
/// deterministic; throws nothing
class small_job_clones {
  public:
    /// @pre the options are in their ranges
    explicit small_job_clones(small_job_clones_options options = {}) : options_(options) {
        STRAGGLE_EXPECTS(options.stragglers_left > 0 && options.stragglers_left < 1);
        STRAGGLE_EXPECTS(options.budget >= 0 && options.budget <= 1);
        STRAGGLE_EXPECTS(options.utilization >= 0 && options.utilization <= 1);
    }

    /// A job is over.
    /// @param tasks of it
    /// @param stragglers how many of them took more than twice their median; more than `tasks` counts as all
    void observe(std::size_t tasks, std::size_t stragglers) noexcept {
        tasks_ += static_cast<double>(tasks);
        stragglers_ += static_cast<double>(stragglers < tasks ? stragglers : tasks);
    }
    /// Share of tasks that straggle; 5 % before anything is known.
    [[nodiscard]] double straggler_share() const noexcept { return (stragglers_ + 5) / (tasks_ + 100); }

    /// How many clones each task of a new job gets.
    /// @param tasks of the job
    /// @param load of the cluster now: all slots; those that are busy; copies, also those that are promised
    /// and have not begun; tasks that wait, not those of this job
    /// @return 0 for none
    [[nodiscard]] std::uint32_t clones_for(std::size_t tasks, cluster_load const& load) const noexcept {
        if (tasks == 0 || load.slots == 0) return 0;
        auto const n = static_cast<double>(tasks), slots = static_cast<double>(load.slots);
        double const of_task = 1 - std::pow(1 - options_.stragglers_left, 1 / n), share = straggler_share();
        // Where nearly all straggle no number of clones is enough, and none is affordable.
        double const runs = share < 1 ? std::ceil(std::log(of_task) / std::log(share) - 1e-9) : 1e300;
        double const more = runs > 1 ? (runs - 1) * n : 0.0;
        double const clones = static_cast<double>(load.copies) + more;
        double const taken = static_cast<double>(load.busy) + static_cast<double>(load.waiting) + more;
        if (!(clones <= options_.budget * slots) || !(taken <= options_.utilization * slots)) return 0;
        return static_cast<std::uint32_t>(more / n);
    }

    /// The options.
    [[nodiscard]] small_job_clones_options const& options() const noexcept { return options_; }

  private:
    small_job_clones_options options_;
    double tasks_ = 0, stragglers_ = 0;
};

} // namespace straggle::assign
