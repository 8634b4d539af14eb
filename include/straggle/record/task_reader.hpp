// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `blacklist/dynamic_blacklist.hpp` and `mitigate/mitigator.hpp`: converts the user's running
/// attempts to plain numbers, and groups them by task.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/base/row_sort.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/record_reader.hpp>
#include <straggle/record/running.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Tasks that run more than once, in this round and the previous one: an attempt killed while its task had
// another was outrun, and the one that started later is the copy. `copies_after` lies halfway between the
// first two starts: a start computed from a duration is late by the delay with which the end was reported.
class race_book {
  public:
    struct race {
        std::uint64_t task;
        double copies_after;
    };
    void begin_round() {
        before_.swap(now_);
        now_.clear();
        next_ = 0;
    }
    void add(std::uint64_t task, double copies_after) { now_.push_back({task, copies_after}); } // in order
    // Keeps a task with one running attempt; call in order, interleaved with `add`. A race is remembered
    // until its last attempt ends: the killed attempt may be reported many rounds after the winner.
    void keep(std::uint64_t task) {
        while (next_ < before_.size() && before_[next_].task < task) ++next_;
        if (next_ < before_.size() && before_[next_].task == task) now_.push_back(before_[next_]);
    }
    // The races of the previous round.
    [[nodiscard]] std::span<race const> before() const noexcept { return span_of(before_); }
    [[nodiscard]] race const* find(std::uint64_t task) const noexcept {
        race const* const r = find_in(now_, task);
        return r != nullptr ? r : find_in(before_, task);
    }

    void write(byte_writer& out) const {
        for (std::vector<race> const* const races : {&now_, &before_}) {
            out.count(races->size());
            for (race const& r : *races) {
                out.u64(r.task);
                out.real(r.copies_after);
            }
        }
    }
    void read(byte_reader& in) {
        for (std::vector<race>* const races : {&now_, &before_}) {
            races->resize(in.count(16));
            for (std::size_t i = 0; i < races->size() && in.ok(); ++i) {
                (*races)[i] = {in.u64(), in.real()};
                in.expect(is_finite((*races)[i].copies_after) &&
                          (i == 0 || (*races)[i - 1].task < (*races)[i].task));
            }
        }
    }

  private:
    static race const* find_in(std::vector<race> const& races, std::uint64_t task) noexcept {
        auto const at = std::lower_bound(races.begin(), races.end(), task,
                                         [](race const& r, std::uint64_t t) { return r.task < t; });
        return at != races.end() && at->task == task ? &*at : nullptr;
    }
    std::vector<race> now_, before_; // by task
    std::size_t next_ = 0;           // next entry of `before_` to compare
};

template <class Running, class Fields>
class task_reader {
  public:
    using kind_table = typename label_table<decltype(Fields::kind), Running>::type;

    explicit task_reader(Fields fields, std::uint64_t key) : fields_(std::move(fields)), key_(key) {}

    [[nodiscard]] Fields const& fields() const noexcept { return fields_; }
    [[nodiscard]] std::span<read_running_row const> rows() const noexcept { return span_of(rows_); }
    // The goals of jobs, by job; only of those whose records state one.
    [[nodiscard]] std::span<running_goal const> goals() const noexcept { return span_of(goals_); }
    [[nodiscard]] std::uint64_t key() const noexcept { return key_; }
    [[nodiscard]] race_book const& races() const noexcept { return races_; }
    [[nodiscard]] race_book& races() noexcept { return races_; }

    // Reads all running attempts of a round. `node_of(name)` gives the index of a node. `when`: the caller's
    // time; a call that is repeated at the same time counts once.
    template <class Range, class Line, class Guard, class NodeOf, class KindOf, class LeftAlone>
    void read(double when, Range&& running, Line const& line, Guard const& guard, NodeOf&& node_of,
              KindOf&& kind_of, LeftAlone&& left_alone, record::running_counts& counts,
              std::uint64_t& other_clock) {
        rows_.clear();
        unplaced_.clear();
        goals_.clear();
        if (when == counted_at_) {
            counts = counted_before_;
            other_clock -= other_clock_;
        }
        counted_at_ = when;
        counted_before_ = counts;
        other_clock_ = 0;
        if constexpr (std::ranges::sized_range<Range>) reserve_for(rows_, std::ranges::size(running));
        std::uint32_t at = 0;
        for (Running const& r : running) {
            std::uint32_t const row = at++;
            ++counts.seen;
            auto const reject = [&](record::running_rejection why) {
                ++counts.rejected[static_cast<std::size_t>(why)];
            };
            auto const& node = project(fields_.node, r);
            auto const& job = project(fields_.job, r);
            if (!is_present(node) || !is_present(job)) {
                reject(record::running_rejection::missing_node);
                continue;
            }
            double const start = read_point(line, fields_.start, r);
            // Its start is unusable, but it runs: count it as an attempt of its task.
            auto const unplaced = [&] {
                if constexpr (has_task<Fields>)
                    unplaced_.push_back(read_key(fields_.task, r, key_of(unwrap(job), key_), no_task));
            };
            if (!is_finite(start)) {
                reject(record::running_rejection::missing_start);
                unplaced();
                continue;
            }
            if (!guard.trusts(start)) {
                ++other_clock;
                ++other_clock_;
                unplaced();
                continue;
            }
            read_running_row out{.row = row, .start = guard.at(start)};
            if (out.start > guard.now()) {
                if (out.start - guard.now() > guard.slack()) {
                    reject(record::running_rejection::not_started);
                    unplaced();
                    continue;
                }
                out.start = guard.now(); // its node's clock is slightly ahead
            }
            out.node = node_of(unwrap(node));
            if (out.node == no_index) continue;
            out.job = key_of(unwrap(job), key_);
            out.left_alone = left_alone(out.job);
            if constexpr (has_task<Fields>) out.task = read_key(fields_.task, r, out.job, no_task);
            read_work(r, kind_of, out);
            if constexpr (has_progress<Fields>) {
                out.progress = read_number(fields_.progress, r);
                if (!(out.progress >= 0 && out.progress <= 1)) { // also true for NaN
                    out.progress = unknown;
                    ++(is_present(project(fields_.progress, r)) ? counts.misreported : counts.unreported);
                }
            }
            if constexpr (has_reported<Fields>) {
                out.reported = guard.at(read_point(line, fields_.reported, r));
                if (!(out.reported <= guard.now() && out.reported >= out.start)) out.reported = unknown;
            }
            if constexpr (has_copies<Fields>)
                out.attempts = (std::max)(read_count(project(fields_.copies, r), 0), std::uint32_t{1});
            if constexpr (has_may_copy<Fields>) out.may_copy = read_flag(fields_.may_copy, r, true);
            if constexpr (has_is_copy<Fields>) {
                auto const& flag = project(fields_.is_copy, r);
                out.knows_copy = is_present(flag);
                out.is_copy = out.knows_copy && unwrap(flag);
            }
            if constexpr (has_waited<Fields>) {
                out.waited = read_wait(fields_.waited, r, guard.now() - out.start);
                // A gang waits for all its tasks: a copy of one would need copies of all.
                if (is_present(project(fields_.waited, r))) out.may_copy = false;
            }
            if (out.task == no_task) out.may_copy = false; // a copy could not be matched to its task
            if constexpr (has_goal<Fields>) read_goal(r, line, guard, out.job);
            rows_.push_back(out);
            ++counts.used;
        }
        group();
        if constexpr (has_goal<Fields>) join_goals();
    }

    // The job, kind and input of a waiting task.
    template <class KindOf>
    [[nodiscard]] read_running_row read_waiting(Running const& r, KindOf&& kind_of) const {
        read_running_row out;
        auto const& job = project(fields_.job, r);
        if (is_present(job)) {
            out.job = key_of(unwrap(job), key_);
            if constexpr (has_task<Fields>) out.task = read_key(fields_.task, r, out.job, no_task);
        }
        read_work(r, kind_of, out);
        return out;
    }

  private:
    struct place {
        std::uint64_t task;
        std::uint32_t at; // index among the rows
    };

    template <class KindOf>
    void read_work(Running const& r, KindOf&& kind_of, read_running_row& out) const {
        if constexpr (has_kind<Fields>) {
            auto const& kind = project(fields_.kind, r);
            if (is_present(kind)) out.kind = kind_of(unwrap(kind));
        }
        if constexpr (has_input<Fields>) {
            out.input = read_number(fields_.input, r);
            if (!(out.input > 0) || !is_finite(out.input)) out.input = unknown;
        }
    }
    template <class Line, class Guard>
    void read_goal(Running const& r, Line const& line, Guard const& guard, std::uint64_t job) {
        running_goal goal{.job = job, .weight = unknown};
        if constexpr (has_deadline<Fields>) {
            double const deadline = read_point(line, fields_.deadline, r);
            if (is_finite(deadline)) goal.deadline = guard.at(deadline);
        }
        if constexpr (has_weight<Fields>) {
            double const weight = read_number(fields_.weight, r);
            if (weight >= 0 && is_finite(weight)) goal.weight = weight;
        }
        if constexpr (has_job_tasks<Fields>) goal.tasks = read_count(project(fields_.job_tasks, r), 0);
        if (is_nan(goal.weight) && !is_finite(goal.deadline) && goal.tasks == 0) return;
        if (!goals_.empty() && goals_.back().job == job) // the tasks of a job are often adjacent
            join(goals_.back(), goal);
        else
            goals_.push_back(goal);
    }
    // Of one job: the earliest deadline, the largest weight and the largest number of tasks count.
    static void join(running_goal& into, running_goal const& other) noexcept {
        into.deadline = (std::min)(into.deadline, other.deadline);
        if (is_nan(into.weight) || into.weight < other.weight) into.weight = other.weight;
        into.tasks = (std::max)(into.tasks, other.tasks);
    }
    void join_goals() {
        sort_rows(goals_, [](running_goal const& a, running_goal const& b) { return a.job < b.job; });
        std::size_t kept = 0;
        for (running_goal const& goal : goals_) {
            if (kept > 0 && goals_[kept - 1].job == goal.job)
                join(goals_[kept - 1], goal);
            else
                goals_[kept++] = goal;
        }
        goals_.resize(kept);
        for (running_goal& g : goals_)
            if (is_nan(g.weight)) g.weight = 1;
    }

    // Lists the attempts of tasks that run more than once, or did in the previous round. These are few, so a
    // table of tasks finds them for less than sorting all rows by task.
    void find_races() {
        order_.clear();
        std::size_t const slots = std::bit_ceil(2 * rows_.size() + 2);
        int const shift = 64 - std::countr_zero(slots);
        row_of_.assign(slots, no_index);
        auto const row_of = [&](std::uint64_t task) -> std::uint32_t& {
            std::uint64_t at = task >> shift;
            while (row_of_[at] != no_index && rows_[row_of_[at]].task != task) at = (at + 1) & (slots - 1);
            return row_of_[at];
        };
        auto const list = [&](std::uint64_t task) {
            if (std::uint32_t const row = row_of(task); row != no_index) order_.push_back({task, row});
        };
        for (std::uint32_t i = 0; i < rows_.size(); ++i) {
            if (rows_[i].task == no_task) continue;
            std::uint32_t& row = row_of(rows_[i].task);
            if (row == no_index) {
                row = i;
                continue;
            }
            order_.push_back({rows_[i].task, row});
            order_.push_back({rows_[i].task, i});
        }
        for (race_book::race const& r : races_.before()) list(r.task);
        for (std::uint64_t const task : unplaced_) list(task);
        sort_rows(order_, [this](place const& a, place const& b) {
            if (a.task != b.task) return a.task < b.task;
            read_running_row const &x = rows_[a.at], &y = rows_[b.at];
            if (x.start != y.start) return x.start < y.start;
            return x.node != y.node ? x.node < y.node : a.at < b.at;
        });
        order_.erase(std::unique(order_.begin(), order_.end(),
                                 [](place const& a, place const& b) { return a.at == b.at; }),
                     order_.end());
    }
    // Groups attempts by task: how many there are, and which started first.
    void group() {
        std::sort(unplaced_.begin(), unplaced_.end());
        races_.begin_round();
        find_races();
        auto other = unplaced_.begin();
        for (std::size_t i = 0; i < order_.size();) {
            std::size_t end = i + 1;
            while (end < order_.size() && order_[end].task == order_[i].task) ++end;
            auto together = static_cast<std::uint32_t>(end - i);
            if (together > 1) {
                double const first = rows_[order_[i].at].start, second = rows_[order_[i + 1].at].start;
                races_.add(order_[i].task, first + (second - first) / 2);
            } else {
                races_.keep(order_[i].task);
            }
            while (other != unplaced_.end() && *other < order_[i].task) ++other;
            for (; other != unplaced_.end() && *other == order_[i].task; ++other) ++together;
            for (std::size_t k = i; k < end; ++k) {
                read_running_row& r = rows_[order_[k].at];
                if (r.attempts < together) r.attempts = together;
                if (!r.knows_copy) r.is_copy = k != i;
            }
            i = end;
        }
    }

    Fields fields_;
    std::uint64_t key_;
    std::vector<read_running_row> rows_;
    std::vector<running_goal> goals_;
    std::vector<place> order_;
    std::vector<std::uint32_t> row_of_;   // table of tasks
    std::vector<std::uint64_t> unplaced_; // tasks of attempts without a usable start
    race_book races_;
    record::running_counts counted_before_; // before the last round
    double counted_at_ = unknown;           // time of the last round
    std::uint64_t other_clock_ = 0;         // in the last round
};

} // namespace straggle::detail
