// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The job of Hadoop's TestRuntimeEstimators, second by second, with a detector of the library in the place
/// of its speculator: 200 maps and 150 reduces on 600 slots.
///
/// It follows the Java code step by step, because the order of things decides who gets the next free slot: an
/// attempt ends when it is next looked at, and tasks are looked at in order, maps before reduces.
#pragma once

#include <straggle/detect/job_progress.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace straggle_test {

/// What happened, to whom, when: time in ms; the gain only where a copy was asked for.
struct mapreduce_event {
    std::int64_t time;
    std::string what;
    double gain = 0;
};

/// A running attempt as the detector is shown it; its number is the row of the table of estimators.
struct mapreduce_attempt {
    int node;
    double progress;
    std::int64_t start;
    std::uint32_t copies;
    std::size_t number;
};
inline constexpr straggle::running_fields mapreduce_fields{.node = &mapreduce_attempt::node,
                                                           .start = &mapreduce_attempt::start,
                                                           .progress = &mapreduce_attempt::progress,
                                                           .copies = &mapreduce_attempt::copies};

/// @tparam Estimator fed with what each attempt reports
template <class Estimator>
class mapreduce_job {
  public:
    /// @param fresh an estimator without readings
    explicit mapreduce_job(Estimator const& fresh) : fresh_(fresh), reports_(2 * (maps + reduces), fresh) {
        for (std::size_t i = 0; i < maps + reduces; ++i) {
            tasks_.push_back({i < maps, i < maps ? i : i - maps, {attempt{}}, false});
            waiting_[tasks_.back().is_map] += 1;
        }
        progress_[true].set_tasks(maps);
        progress_[false].set_tasks(reduces);
    }

    /// Runs the job to its end.
    /// @param detector_for makes a detector of a table of estimators, one per row of the view
    template <class DetectorFor>
    std::vector<mapreduce_event> const& run(DetectorFor&& detector_for) {
        for (bool done = false; !done;) {
            done = true;
            for (task& t : tasks_) {
                if (!is_finished(t)) done = false;
                for (std::size_t i = 0; i < t.attempts.size(); ++i) look_at(t, i);
            }
            now_ += 1000;
            if (now_ % 10000 == 0 && !done) {
                scan(true, detector_for);
                scan(false, detector_for);
            }
        }
        return events_;
    }

    /// Copies that ended before their original.
    [[nodiscard]] int won() const { return won_; }
    /// When the last task ended.
    [[nodiscard]] std::int64_t end() const { return end_; }

  private:
    static constexpr std::size_t maps = 200, reduces = 150;
    enum class state { fresh, running, succeeded, killed };
    struct attempt {
        state s = state::fresh;
        std::int64_t start = 0;
    };
    struct task {
        bool is_map;
        std::size_t index;
        std::vector<attempt> attempts;
        bool counted; // among the finished
    };

    [[nodiscard]] static double runtime(task const& t, std::size_t i) {
        switch (t.index % 4) {
        case 0:
            return t.index % 40 == 0 && i == 0 ? 600e3 : 200e3;
        case 1:
            return 150e3;
        case 3:
            return 250e3;
        default:
            return 200e3;
        }
    }
    [[nodiscard]] static int slots(task const& t) { return t.is_map ? 3 : 4; }
    [[nodiscard]] std::size_t number(task const& t, std::size_t i) const {
        return 2 * static_cast<std::size_t>(&t - tasks_.data()) + i;
    }

    double progress(task& t, std::size_t i) {
        attempt const& a = t.attempts[i];
        if (a.s == state::fresh) return 0;
        double const since = static_cast<double>(now_ - a.start);
        if (t.is_map) return (std::min)(since / runtime(t, i), 1.0);
        if (maps_looked_at_ != now_ && maps_done_ < maps) {
            maps_looked_at_ = now_;
            maps_done_ = 0;
            for (std::size_t m = 0; m < maps; ++m) maps_done_ += is_finished(tasks_[m]);
        }
        if (maps_done_ < maps) return 0.5 * static_cast<double>(maps_done_) / static_cast<double>(maps);
        if (shuffled_ == 0) shuffled_ = now_;
        return (std::min)(0.5 + static_cast<double>(now_ - shuffled_) / (2 * runtime(t, i)), 1.0);
    }

    state state_of(task& t, std::size_t i) {
        attempt& a = t.attempts[i];
        if (a.s != state::running || progress(t, i) < 1) return a.s;
        a.s = state::succeeded;
        in_use_ -= slots(t);
        end_ = now_;
        for (std::size_t other = 0; other < t.attempts.size(); ++other) {
            if (other == i || state_of(t, other) != state::running) continue;
            std::string const name = (t.is_map ? "map " : "reduce ") + std::to_string(t.index);
            if (i > other) {
                ++won_;
                events_.push_back({now_, "copy wins: " + name});
                in_use_ -= slots(t);
                t.attempts[other].s = state::killed;
            } else {
                events_.push_back({now_, "original wins: " + name});
            }
        }
        return a.s;
    }

    bool is_finished(task& t) {
        for (std::size_t i = 0; i < t.attempts.size(); ++i)
            if (state_of(t, i) == state::succeeded) return true;
        return false;
    }

    // Starts an attempt if there is room; otherwise takes in what it reports.
    void look_at(task& t, std::size_t i) {
        state const s = state_of(t, i);
        attempt& a = t.attempts[i];
        if (s == state::fresh && 600 - in_use_ >= slots(t)) {
            a = {state::running, now_};
            in_use_ += slots(t);
            --waiting_[t.is_map];
        } else if (s == state::running) {
            reports_[number(t, i)].observe(static_cast<double>(now_ - a.start), progress(t, i));
        } else if (s == state::succeeded && !t.counted) {
            t.counted = true;
            progress_[t.is_map].observe(0, now_ - a.start);
        }
    }

    template <class DetectorFor>
    void scan(bool is_map, DetectorFor&& detector_for) {
        if (waiting_[is_map] > 0) return;
        rows_.clear();
        table_.clear();
        for (task& t : tasks_) {
            if (t.is_map != is_map) continue;
            // One row per task: the attempt that is furthest.
            mapreduce_attempt row{0, -1, 0, 0, 0};
            for (std::size_t i = 0; i < t.attempts.size(); ++i) {
                if (state_of(t, i) != state::running) continue;
                std::uint32_t const copies = row.copies + 1;
                if (progress(t, i) > row.progress)
                    row = {0, progress(t, i), t.attempts[i].start, copies, number(t, i)};
                row.copies = copies;
            }
            if (row.copies == 0) continue;
            rows_.push_back(row);
            table_.push_back(reports_[row.number]);
        }
        progress_[is_map].running(rows_, mapreduce_fields, now_);
        straggle::detect::job_view const view = progress_[is_map].view();
        suspects_.clear();
        auto const detector = detector_for(std::span<Estimator const>(table_));
        detector.detect(view, scratch_, suspects_);
        for (straggle::detect::finding const& s : suspects_) {
            task& t = tasks_[rows_[view.running[s.task].row].number / 2];
            t.attempts.emplace_back();
            reports_[number(t, 1)] = fresh_;
            ++waiting_[is_map];
            events_.push_back({now_, (is_map ? "copy map " : "copy reduce ") + std::to_string(t.index),
                               s.value - s.threshold});
        }
    }

    Estimator fresh_;
    std::vector<Estimator> reports_; // by number of the attempt
    std::vector<task> tasks_;
    std::vector<mapreduce_event> events_;
    straggle::detect::job_progress<int, std::int64_t> progress_[2];
    int waiting_[2] = {0, 0};
    int in_use_ = 0, won_ = 0;
    std::int64_t now_ = 1000, end_ = 0, shuffled_ = 0, maps_looked_at_ = 0;
    std::size_t maps_done_ = 0;
    std::vector<mapreduce_attempt> rows_;
    std::vector<Estimator> table_;
    straggle::detect::detector_scratch scratch_;
    std::vector<straggle::detect::finding> suspects_;
};

} // namespace straggle_test
