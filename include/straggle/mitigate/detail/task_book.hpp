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
#include <straggle/base/grow.hpp>
#include <straggle/base/prefetch.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/predict/progress_trust.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// A running task: its reports, and its race if it has a copy.
struct task_note {
    std::uint64_t job = 0, task = 0;
    double start = 0; // of the original
    double crowd = 0; // `node_crowds::sum` at that time
    predict::progress_track track{};
    double copy_start = 0;
    std::uint32_t kind = no_index;
    std::uint32_t round = 0;        // last seen
    std::uint32_t claim = no_index; // place of the claim of the last copy advised
    std::uint16_t launched = 0;     // copies seen
    bool advised = false, racing = false, counted = false, over = false;

    [[nodiscard]] bool is_before(std::uint64_t other_job, std::uint64_t other_task) const noexcept {
        return job != other_job ? job < other_job : task < other_task;
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.job, self.task, self.start, self.crowd, self.track, self.kind, self.round);
        a(self.advised, self.racing, self.counted, self.over);
        std::uint64_t copies = self.launched;
        a.varint(copies);
        a.expect(is_finite(self.start) && is_finite(self.crowd) &&
                 copies <= (std::numeric_limits<std::uint16_t>::max)());
        if constexpr (Archive::reads) self.launched = static_cast<std::uint16_t>(copies & 0xffff);
        if (self.launched > 0) a(self.copy_start);
        a.expect(is_finite(self.copy_start));
    }
};

// Notes stay where they are, in blocks that never move; a round writes their order by job and task anew.
class task_book {
  public:
    void begin() {
        for (std::uint32_t const place : added_)
            free_.push_back(place); // of a round that an allocation ended
        added_.clear();
        dropped_.clear();
        next_.clear();
        at_ = 0;
        ++round_;
    }
    // The note of a task; call in ascending order of job and task.
    task_note& turn_to(std::uint64_t job, std::uint64_t task) {
        prefetch(at_ + ahead);
        while (at_ < order_.size() && note(order_[at_]).is_before(job, task)) keep(order_[at_++]);
        if (at_ < order_.size() && is_of(note(order_[at_]), job, task) && !note(order_[at_]).over)
            next_.push_back(order_[at_++]);
        else
            next_.push_back(add());
        task_note& n = note(next_.back());
        n.job = job;
        n.task = task;
        n.round = round_;
        return n;
    }
    void end() {
        while (at_ < order_.size()) keep(order_[at_++]);
        order_.swap(next_);
        for (std::uint32_t const place : dropped_) {
            free_.push_back(place);
            std::uint32_t const claim = std::exchange(note(place).claim, no_index);
            if (claim != no_index) free_claims_.push_back(claim);
        }
        added_.clear();
        dropped_.clear();
    }
    // A copy of the task was advised.
    void advise(task_note& n, assign::race_claim const& claim) {
        if (n.claim == no_index) {
            if (free_claims_.empty()) {
                make_room_for_one(claims_);
                reserve_for(free_claims_, claims_.capacity()); // dropping a note needs no memory later
                claims_.emplace_back();
                free_claims_.push_back(static_cast<std::uint32_t>(claims_.size() - 1));
            }
            n.claim = free_claims_.back();
            free_claims_.pop_back();
        }
        claims_[n.claim] = claim;
        n.advised = true;
        n.counted = false;
    }
    // @pre `advise` was called for it
    [[nodiscard]] assign::race_claim const& claim_of(task_note const& n) const noexcept {
        return claims_[n.claim];
    }
    [[nodiscard]] task_note* find(std::uint64_t job, std::uint64_t task) noexcept {
        auto const at = std::lower_bound(order_.begin(), order_.end(), 0, [&](std::uint32_t place, int) {
            return note(place).is_before(job, task);
        });
        return at != order_.end() && is_of(note(*at), job, task) ? &note(*at) : nullptr;
    }
    // Index of the last note written, in order; valid after the round.
    [[nodiscard]] std::size_t last() const noexcept { return next_.size() - 1; }
    [[nodiscard]] task_note& operator[](std::size_t i) noexcept { return note(order_[i]); }
    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }

    void write(byte_writer& out) const {
        out.u32(round_);
        out.count(order_.size());
        for (std::uint32_t const place : order_) {
            task_note const& n = note(place);
            base::write_fields(out, n);
            if (n.advised) base::write_fields(out, claims_[n.claim]);
        }
    }
    // @pre the book is new
    void read(byte_reader& in) {
        round_ = in.u32();
        for (std::size_t n = in.count(44); n > 0 && in.ok(); --n) {
            task_note next;
            base::read_fields(in, next);
            if (next.advised) {
                assign::race_claim claim;
                base::read_fields(in, claim);
                bool const is_counted = next.counted;
                advise(next, claim);
                next.counted = is_counted;
            }
            if (!in.expect((order_.empty() || note(order_.back()).is_before(next.job, next.task)) &&
                           round_ - next.round < kept_rounds))
                return;
            order_.push_back(add());
            note(order_.back()) = next;
        }
        added_.clear();
    }

  private:
    static constexpr std::uint32_t kept_rounds = 3;
    static constexpr std::size_t block = 256; // notes
    static constexpr std::size_t ahead = 4;   // notes to prefetch

    [[nodiscard]] static bool is_of(task_note const& n, std::uint64_t job, std::uint64_t task) noexcept {
        return n.job == job && n.task == task;
    }
    [[nodiscard]] task_note& note(std::uint32_t place) noexcept {
        return blocks_[place / block][place % block];
    }
    [[nodiscard]] task_note const& note(std::uint32_t place) const noexcept {
        return blocks_[place / block][place % block];
    }
    void prefetch(std::size_t at) const noexcept {
        if (at >= order_.size()) return;
        task_note const* const rows = blocks_[order_[at] / block].data();
        prefetch_row(rows, order_[at] % block);
    }
    // A new note.
    std::uint32_t add() {
        if (free_.empty()) {
            // Places that become free need no memory later.
            reserve_for(free_, (blocks_.size() + 1) * block);
            make_room_for_one(blocks_);
            blocks_.emplace_back(block);
            auto const end = static_cast<std::uint32_t>(blocks_.size() * block);
            for (std::uint32_t place = end; place > end - block; --place) free_.push_back(place - 1);
        }
        added_.push_back(free_.back());
        std::uint32_t const place = free_.back();
        free_.pop_back();
        note(place) = {};
        return place;
    }
    // A missing task may be between two attempts, or its end may be reported late: keep its note for a while.
    void keep(std::uint32_t place) {
        task_note const& n = note(place);
        (!n.over && round_ - n.round < kept_rounds ? next_ : dropped_).push_back(place);
    }

    std::vector<std::vector<task_note>> blocks_{};
    std::vector<std::uint32_t> order_{}, next_{};    // places of notes
    std::vector<std::uint32_t> free_{};              // places without a note
    std::vector<std::uint32_t> added_{}, dropped_{}; // in this round
    std::vector<assign::race_claim> claims_{};       // few tasks get a copy
    std::vector<std::uint32_t> free_claims_{};
    std::size_t at_ = 0;
    std::uint32_t round_ = 0;
};

} // namespace straggle::detail
