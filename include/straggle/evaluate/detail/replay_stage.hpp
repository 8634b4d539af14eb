// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `evaluate/replay.hpp`: the jobs that run at one moment of a recorded history, as detectors
/// see them.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/evaluate/detail/recording_tape.hpp>
#include <straggle/record/running.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Time>
class replay_stage {
  public:
    // To before the beginning. The tape stays where it is until the end.
    void rewind(tape<Time> const& t) {
        tape_ = &t;
        progress_.assign(t.attempts.size(), std::nullopt);
        done_.assign(t.tasks.size(), 0);
        place_.assign(t.tasks.size(), 0);
        task_of_row_.clear();
        for (taped_attempt<Time> const& a : t.attempts) {
            if (task_of_row_.size() <= a.row) task_of_row_.resize(a.row + std::size_t{1}, no_attempt);
            task_of_row_[a.row] = a.task;
        }
        slot_.assign(t.jobs.size(), no_attempt);
        live_.clear();
        free_.clear();
        for (std::size_t i = pool_.size(); i-- > 0;) free_.push_back(static_cast<std::uint32_t>(i));
        starts_ = ends_ = reports_ = 0;
    }

    // Nothing will happen any more.
    [[nodiscard]] bool is_over() const noexcept {
        return starts_ == tape_->attempts.size() && ends_ == starts_;
    }
    // Nothing runs.
    [[nodiscard]] bool is_idle() const noexcept { return starts_ == ends_; }
    // @pre there is one
    [[nodiscard]] Time next_start() const { return tape_->attempts[starts_].start; }
    // When something happens next. @pre not over
    [[nodiscard]] Time next_time() const {
        tape<Time> const& t = *tape_;
        Time now = t.attempts[t.by_end[ends_]].end;
        if (starts_ < t.attempts.size()) now = (std::min)(now, t.attempts[starts_].start);
        if (reports_ < t.readings.size()) now = (std::min)(now, t.readings[reports_].time);
        return now;
    }

    // Everything up to now, in order of time; at one time attempts end before others begin.
    template <class Announcer>
    void advance(Announcer& announce, Time const& now) {
        tape<Time> const& t = *tape_;
        for (;;) {
            bool const may_start = starts_ < t.attempts.size() && !(now < t.attempts[starts_].start);
            bool const may_end = ends_ < t.by_end.size() && !(now < t.attempts[t.by_end[ends_]].end);
            if (!may_start && !may_end) break;
            std::uint32_t const ending = may_end ? t.by_end[ends_] : no_attempt;
            // One that has not begun takes no time: it ends at once when it does.
            bool const end_first = may_end && ending < starts_ &&
                                   (!may_start || !(t.attempts[starts_].start < t.attempts[ending].end));
            if (end_first) {
                ++ends_;
                finish(announce, ending);
            } else {
                begin(announce, static_cast<std::uint32_t>(starts_++));
            }
        }
        for (; reports_ < t.readings.size() && !(now < t.readings[reports_].time); ++reports_) {
            taped_reading<Time> const& r = t.readings[reports_];
            progress_[r.attempt] = r.progress;
            std::uint32_t const slot = slot_[t.tasks[t.attempts[r.attempt].task].job];
            if (slot != no_attempt) pool_[slot].touched = true;
        }
    }

    // Calls show(now) for each job with running tasks, those that began first first. Returns how many.
    template <class Show>
    std::uint64_t present_all(Time const& now, Show& show) {
        std::uint64_t looks = 0;
        for (std::uint32_t const slot : live_) looks += present(pool_[slot], now, show) ? 1u : 0u;
        retire();
        return looks;
    }
    // The same for jobs to which something has happened since.
    template <class Show>
    std::uint64_t present_touched(Time const& now, Show& show) {
        std::uint64_t looks = 0;
        for (std::uint32_t const slot : live_)
            if (std::exchange(pool_[slot].touched, false)) looks += present(pool_[slot], now, show) ? 1u : 0u;
        retire();
        return looks;
    }

    // The job that is shown.
    [[nodiscard]] detect::job_view const& view() const noexcept { return view_; }
    // Which task of the tape a suspect of it is, by its row.
    [[nodiscard]] std::uint32_t task_of(std::uint32_t row) const {
        STRAGGLE_EXPECTS(row < task_of_row_.size() && task_of_row_[row] != no_attempt);
        return task_of_row_[row];
    }

  private:
    // A running task, for `job_progress`.
    struct shown_task {
        Time start;
        std::optional<double> progress;
        double input;
        std::uint32_t node, copies, task, row;
    };
    struct live_job {
        detect::job_progress<std::uint32_t, Time> progress;
        std::vector<std::uint32_t> running; // attempts, and some that have ended since the last look
        std::uint32_t job = no_attempt, attempts_left = 0;
        bool touched = false;
    };

    template <class Announcer>
    void begin(Announcer& announce, std::uint32_t i) {
        taped_attempt<Time> const& a = tape_->attempts[i];
        std::uint32_t const j = tape_->tasks[a.task].job;
        if (slot_[j] == no_attempt) open(announce, j, a.start);
        live_job& job = pool_[slot_[j]];
        job.touched = true;
        job.running.push_back(i);
    }
    template <class Announcer>
    void finish(Announcer& announce, std::uint32_t i) {
        taped_attempt<Time> const& a = tape_->attempts[i];
        taped_task const& task = tape_->tasks[a.task];
        live_job& job = pool_[slot_[task.job]];
        job.touched = true;
        --job.attempts_left;
        if (task.winner != i) return;
        done_[a.task] = 1;
        bool const taken = job.progress.observe(a.node, a.end - a.start, a.input, a.predicted);
        STRAGGLE_EXPECTS(taken);
        announce.finished(a.row);
    }
    template <class Announcer>
    void open(Announcer& announce, std::uint32_t j, Time const& now) {
        if (free_.empty()) {
            pool_.emplace_back();
            free_.push_back(static_cast<std::uint32_t>(pool_.size() - 1));
        }
        std::uint32_t const slot = slot_[j] = free_.back();
        free_.pop_back();
        live_.push_back(slot);
        live_job& job = pool_[slot];
        job.progress.clear();
        job.progress.set_tasks(tape_->jobs[j].tasks);
        job.progress.set_begin(now);
        job.running.clear();
        job.job = j;
        job.attempts_left = tape_->jobs[j].attempts;
        announce.begins(j, now, job.progress);
    }
    // Jobs whose attempts have all ended give their memory to others.
    void retire() {
        std::erase_if(live_, [this](std::uint32_t slot) {
            if (pool_[slot].attempts_left > 0) return false;
            slot_[pool_[slot].job] = no_attempt;
            free_.push_back(slot);
            return true;
        });
    }

    template <class Show>
    bool present(live_job& job, Time const& now, Show& show) {
        gather(job, now);
        if (shown_.empty()) return false;
        constexpr running_fields fields{.node = &shown_task::node,
                                        .start = &shown_task::start,
                                        .progress = &shown_task::progress,
                                        .input = &shown_task::input,
                                        .copies = &shown_task::copies};
        job.progress.running(shown_, fields, now);
        view_ = job.progress.view();
        STRAGGLE_EXPECTS(view_.running.size() == shown_.size());
        running_.assign(view_.running.begin(), view_.running.end());
        for (std::size_t i = 0; i < running_.size(); ++i) running_[i].row = shown_[i].row;
        view_.running = running_;
        show(now);
        return true;
    }
    // One of each task that runs: the attempt that is furthest.
    void gather(live_job& job, Time const& now) {
        shown_.clear();
        std::erase_if(job.running, [&](std::uint32_t i) {
            taped_attempt<Time> const& a = tape_->attempts[i];
            if (done_[a.task] != 0 || !(now < a.end)) return true;
            std::uint32_t& place = place_[a.task];
            if (place < shown_.size() && shown_[place].task == a.task) {
                shown_task& s = shown_[place];
                ++s.copies;
                if (progress_[i].value_or(0.0) > s.progress.value_or(0.0))
                    s = {a.start, progress_[i], a.input, a.node, s.copies, a.task, a.row};
                return false;
            }
            place = static_cast<std::uint32_t>(shown_.size());
            shown_.push_back({a.start, progress_[i], a.input, a.node, 1, a.task, a.row});
            return false;
        });
    }

    tape<Time> const* tape_ = nullptr;
    std::size_t starts_ = 0, ends_ = 0, reports_ = 0; // how far on the tape
    std::vector<std::optional<double>> progress_;     // by attempt: the last reading
    std::vector<char> done_;                          // by task
    std::vector<std::uint32_t> place_;                // by task: in `shown_`, if it is there
    std::vector<std::uint32_t> task_of_row_;          // by row of the user's history
    std::vector<std::uint32_t> slot_;                 // by job: in `pool_`
    std::vector<live_job> pool_;
    std::vector<std::uint32_t> live_, free_; // in `pool_`; the live ones in order of their beginning
    std::vector<shown_task> shown_;          // of the job that is shown
    std::vector<detect::running_task> running_;
    detect::job_view view_;
};

} // namespace straggle::detail
