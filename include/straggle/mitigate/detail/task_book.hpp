// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: what is remembered of each running task between rounds.
#pragma once

#include <straggle/assign/race_record.hpp>
#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/predict/progress_trust.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// A running task: its reports, and its race if it has a copy.
struct task_note {
    std::uint64_t job = 0, task = 0;
    double start = 0; // of the original
    predict::progress_track track{};
    assign::race_claim claim{}; // of the last copy advised
    double copy_start = 0;
    std::uint32_t kind = no_index;
    std::uint32_t round = 0;    // last seen
    std::uint16_t launched = 0; // copies seen
    bool advised = false, racing = false, counted = false, over = false;

    [[nodiscard]] bool is_before(std::uint64_t other_job, std::uint64_t other_task) const noexcept {
        return job != other_job ? job < other_job : task < other_task;
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.job, self.task, self.start, self.track, self.kind, self.round);
        a(self.advised, self.racing, self.counted, self.over);
        std::uint64_t copies = self.launched;
        a.varint(copies);
        a.expect(is_finite(self.start) && copies <= (std::numeric_limits<std::uint16_t>::max)());
        if constexpr (Archive::reads) self.launched = static_cast<std::uint16_t>(copies & 0xffff);
        if (self.launched > 0) a(self.copy_start);
        a.expect(is_finite(self.copy_start));
        if (self.advised) a(self.claim);
    }
};

// Notes in order of job and task: a round reads them and writes the next ones in that order.
class task_book {
  public:
    void begin() {
        next_.clear();
        at_ = 0;
        ++round_;
    }
    // The note of a task; call in ascending order of job and task.
    task_note& turn_to(std::uint64_t job, std::uint64_t task) {
        while (at_ < notes_.size() && notes_[at_].is_before(job, task)) keep(notes_[at_++]);
        if (at_ < notes_.size() && notes_[at_].job == job && notes_[at_].task == task && !notes_[at_].over)
            next_.push_back(notes_[at_++]);
        else
            next_.push_back({});
        task_note& n = next_.back();
        n.job = job;
        n.task = task;
        n.round = round_;
        return n;
    }
    void end() {
        while (at_ < notes_.size()) keep(notes_[at_++]);
        notes_.swap(next_);
    }
    [[nodiscard]] task_note* find(std::uint64_t job, std::uint64_t task) noexcept {
        auto const at = std::lower_bound(notes_.begin(), notes_.end(), 0,
                                         [&](task_note const& n, int) { return n.is_before(job, task); });
        return at != notes_.end() && at->job == job && at->task == task ? &*at : nullptr;
    }
    // Index of the last note written, valid after the round.
    [[nodiscard]] std::size_t last() const noexcept { return next_.size() - 1; }
    [[nodiscard]] task_note& operator[](std::size_t i) noexcept { return notes_[i]; }
    [[nodiscard]] std::size_t size() const noexcept { return notes_.size(); }

    void write(byte_writer& out) const {
        out.u32(round_);
        out.count(notes_.size());
        for (task_note const& n : notes_) base::write_fields(out, n);
    }
    // @pre the book is new
    void read(byte_reader& in) {
        round_ = in.u32();
        for (std::size_t n = in.count(44); n > 0 && in.ok(); --n) {
            task_note next;
            base::read_fields(in, next);
            if (!in.expect((notes_.empty() || notes_.back().is_before(next.job, next.task)) &&
                           round_ - next.round < kept_rounds))
                return;
            notes_.push_back(next);
        }
    }

  private:
    static constexpr std::uint32_t kept_rounds = 3;

    // A missing task may be between two attempts, or its end may be reported late: keep its note for a while.
    void keep(task_note const& n) {
        if (!n.over && round_ - n.round < kept_rounds) next_.push_back(n);
    }
    std::vector<task_note> notes_{}, next_{};
    std::size_t at_ = 0;
    std::uint32_t round_ = 0;
};

} // namespace straggle::detail
