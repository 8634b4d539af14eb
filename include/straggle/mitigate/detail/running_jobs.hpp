// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/detail/task_stage.hpp`: which jobs run, which are over, and how
/// many tasks a job has.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

struct running_job {
    std::uint64_t job;
    double seen, longest; // when last seen, and its longest attempt
    bool is_over = false;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.job, self.seen, self.longest, self.is_over);
        a.expect(is_finite(self.seen) && self.longest >= 0 && is_finite(self.longest));
    }
};

// Jobs with running tasks, when they end, and how many tasks a job has.
class running_jobs {
  public:
    // Call in ascending order of jobs within a round.
    void seen(std::uint64_t job, double now, double longest) {
        auto const at = place_of(job);
        if (at == jobs_.end() || at->job != job) {
            new_.push_back({job, now, longest});
            return;
        }
        if (at->is_over) *at = {job, now, longest};
        at->seen = now;
        at->longest = (std::max)(at->longest, longest);
    }
    // A job is over, whether it was ever seen or not.
    void finish(std::uint64_t job) {
        count_job();
        auto const at = place_of(job);
        if (at != jobs_.end() && at->job == job) at->is_over = true;
    }
    // Ends a round: jobs not seen for long are over, too. Calls end(job) for each.
    template <class End>
    void finish_idle(double now, double usual, End&& end) {
        next_.clear();
        auto fresh = new_.begin();
        for (running_job const& j : jobs_) {
            while (fresh != new_.end() && fresh->job < j.job) next_.push_back(*fresh++);
            if (j.is_over) continue;
            if (now - j.seen > 2 * (std::max)(j.longest, usual)) {
                end(j.job);
                count_job();
            } else {
                next_.push_back(j);
            }
        }
        next_.insert(next_.end(), fresh, new_.end());
        jobs_.swap(next_);
        new_.clear();
    }

    // The number of tasks per job comes from ended tasks and finished jobs.
    void count_task() noexcept { tasks_ += 1; }
    [[nodiscard]] double tasks_per_job() const noexcept {
        constexpr double as_many = 5, before = 20; // prior: weight in jobs, and tasks per job
        return (tasks_ + as_many * before) / (over_ + as_many);
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.tasks_, self.over_);
        a.expect(self.tasks_ >= 0 && self.tasks_ < 1e15 && self.over_ >= 0 && self.over_ <= 200);
        a.items(self.jobs_, 25);
        for (std::size_t j = 1; j < self.jobs_.size(); ++j)
            a.expect(self.jobs_[j - 1].job < self.jobs_[j].job);
    }

  private:
    [[nodiscard]] std::vector<running_job>::iterator place_of(std::uint64_t job) noexcept {
        return std::lower_bound(jobs_.begin(), jobs_.end(), job,
                                [](running_job const& n, std::uint64_t id) { return n.job < id; });
    }
    void count_job() noexcept {
        over_ += 1;
        constexpr double remembered = 200;
        if (!(over_ > remembered)) return;
        over_ /= 2;
        tasks_ /= 2;
    }

    std::vector<running_job> jobs_{}, new_{}, next_{}; // by number
    double tasks_ = 0, over_ = 0;
};

} // namespace straggle::detail
