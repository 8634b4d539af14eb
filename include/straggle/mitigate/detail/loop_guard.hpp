// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/mitigator.hpp`: whether the input is fit to act on. Watches the clocks and the
/// feed; all limits are multiples of how long attempts and rounds take on this cluster.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/size.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// How the caller's clock moved since the last decision.
enum class clock_step : std::uint8_t { usual, back, forward };

class loop_guard {
  public:
    // Begins a round at `now` of the caller's clock. @pre `now` is a number
    clock_step begin(double now) noexcept {
        clock_step step = clock_step::usual;
        wild_ = 0;
        is_one_ahead_ = false;
        if (rounds_ == 0) {
            raw_ = decided_ = begun_ = now;
        } else if (double const back = decided_ - now; back > slack()) {
            step = clock_step::back;
            // Starts before the jump come from the old clock. After a small jump, distrust all starts below
            // its last reading; after a large one, its attempts are gone before the new clock gets there.
            trusted_from_ = back > 10 * longest() ? now : raw_;
            shift_ += raw_ - now;
            raw_ = decided_ = begun_ = now;
        } else if (!(back > 0)) { // else threads read the clock out of order: hold it
            if (is_jump(now - raw_)) {
                step = clock_step::forward;
                trusted_from_ = now;
            } else {
                auto gaps = gaps_;
                gaps[detail::to_size(rounds_ % gaps.size())] = -back;
                set_gaps(gaps);
            }
            decided_ = now;
            if (raw_ < now) raw_ = now; // else nodes are ahead: hold it
        }
        ++rounds_;
        if (step != clock_step::usual) quiet_until_ = this->now() + longest();
        if (news_ < this->now() && step != clock_step::usual) news_ = this->now();
        return step;
    }
    // A reading that no working clock gives: billions of times all steps and attempts so far.
    [[nodiscard]] bool is_wild(double raw) const noexcept {
        if (!is_finite(raw)) return true;
        double const gap = raw > raw_ ? raw - raw_ : raw_ - raw;
        double const l = longest(), g = usual_gap(), known = l > g ? l : g;
        return !(gap <= (known > 0 ? 0x1p32 * known : 0x1p45));
    }
    // A round whose time is wild or not a number: time stands still and nothing new is decided. True once the
    // clock has repeated itself often enough: it has a new origin, and the caller must call `rebase`.
    bool stand_still() noexcept {
        if (rounds_ != 0) quiet_until_ = now() + longest();
        return ++wild_ >= patience;
    }
    // From now on the caller's clock has a new origin; the library's time continues.
    void rebase() noexcept {
        shift_ = now();
        raw_ = decided_ = begun_ = trusted_from_ = 0;
        wild_ = 0;
        is_one_ahead_ = false;
        quiet_until_ = news_ = now();
        quiet_until_ += longest();
    }
    // The library's time; never goes back.
    [[nodiscard]] double now() const noexcept { return raw_ + shift_; }
    // Converts the caller's time to the library's.
    [[nodiscard]] double at(double raw) const noexcept { return raw + shift_; }
    // Whether a start was stamped by the clock in use now.
    [[nodiscard]] bool trusts(double raw_start) const noexcept {
        return !(raw_start < trusted_from_) && !is_wild(raw_start);
    }

    // An attempt's end between two decisions carries a time. It may come from a node's clock, so a single end
    // advances time by at most a usual step.
    void tick(double raw) noexcept {
        if (is_wild(raw) || !(raw > raw_)) return;
        double const most = latest();
        raw_ = raw < most ? raw : most;
    }
    // How far clocks within the cluster may disagree: a tenth of the longest recent attempt or the longest
    // recent step between decisions, whichever is more.
    [[nodiscard]] double slack() const noexcept {
        double const g = usual_gap(), l = longest() / 10;
        return g > l ? g : l;
    }
    // Whether a node's record ends later than it can be now. If two nodes in a row say so, and the earlier of
    // the two times is no jump, the next decision is late and the clock advances.
    bool is_ahead(double raw, std::uint32_t node) noexcept {
        if (!(raw - latest() > slack())) {
            is_one_ahead_ = false;
            return false;
        }
        if (is_one_ahead_ && ahead_node_ != node) {
            double const both = raw < ahead_to_ ? raw : ahead_to_;
            if (is_wild(both) || is_far(both - raw_)) return has_ahead_ = true;
            raw_ = both;
        }
        is_one_ahead_ = true;
        ahead_node_ = node;
        ahead_to_ = raw;
        if (!(raw - latest() > slack())) return false;
        return has_ahead_ = true;
    }
    // Whether there was such a record; reading clears it.
    [[nodiscard]] bool take_ahead() noexcept { return std::exchange(has_ahead_, false); }
    void ended(double duration) noexcept {
        news_ = now();
        if (!(duration >= 0)) return;
        // The longest recent duration, with a slowly fading memory of earlier ones.
        if (duration > longest_now_) longest_now_ = duration;
        if (++ended_ % 256 == 0) {
            longest_before_ = longest_now_ > longest_before_ / 2 ? longest_now_ : longest_before_ / 2;
            longest_now_ = 0;
        }
    }
    [[nodiscard]] std::uint64_t ends() const noexcept { return ended_; }
    void news() noexcept { news_ = now(); }
    void runs(std::size_t attempts) noexcept {
        was_busy_ = attempts != 0;
        if (!was_busy_) news_ = now(); // an idle cluster has no news to report
    }

    // Nothing was reported for long although attempts run.
    [[nodiscard]] bool is_stale() const noexcept {
        return was_busy_ && longest() > 0 && now() - news_ > 5 * longest() &&
               now() - news_ > 20 * usual_gap();
    }
    // Stale for so long that earlier decisions no longer hold.
    [[nodiscard]] bool is_void() const noexcept { return is_stale() && now() - news_ > 20 * longest(); }
    [[nodiscard]] bool is_quiet() const noexcept { return now() < quiet_until_; }
    void keep_quiet() noexcept { quiet_until_ = now() + longest(); }
    // The longest recent attempt; 0 before the first one ends.
    [[nodiscard]] double longest() const noexcept {
        return longest_now_ > longest_before_ ? longest_now_ : longest_before_;
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.raw_, self.decided_, self.begun_, self.shift_, self.trusted_from_, self.news_);
        a(self.quiet_until_, self.longest_now_, self.longest_before_, self.ahead_to_);
        a.expect(are_finite(self.raw_, self.decided_, self.begun_, self.shift_, self.trusted_from_,
                            self.news_, self.quiet_until_, self.longest_now_, self.longest_before_,
                            self.ahead_to_));
        a.expect(self.longest_now_ >= 0 && self.longest_before_ >= 0);
        auto gaps = self.gaps_;
        a(gaps);
        for (double const gap : gaps) a.expect(is_finite(gap) && gap >= 0);
        if constexpr (Archive::reads) self.set_gaps(gaps);
        a.varint(self.rounds_);
        a.varint(self.ended_);
        a(self.wild_, self.ahead_node_, self.was_busy_, self.is_one_ahead_, self.has_ahead_);
        a.expect(self.wild_ < patience);
    }

  private:
    [[nodiscard]] bool is_jump(double gap) const noexcept {
        return was_busy_ && rounds_ >= gaps_.size() && gap > 20 * usual_gap() && gap > 3 * longest();
    }
    // Ahead by more than two agreeing nodes may claim. Before the first attempt ends: by more than the time
    // elapsed.
    [[nodiscard]] bool is_far(double gap) const noexcept {
        double const l = longest();
        return gap > 20 * usual_gap() && gap > (l > 0 ? 3 * l : decided_ - begun_);
    }
    [[nodiscard]] double usual_gap() const noexcept { return usual_gap_; }
    // Keeps the maximum up to date here, because every attempt asks for it.
    void set_gaps(std::array<double, 8> const& gaps) noexcept {
        gaps_ = gaps;
        usual_gap_ = 0;
        for (double const g : gaps_) usual_gap_ = g > usual_gap_ ? g : usual_gap_;
    }
    // The latest time possible before the next decision, unless that decision is late.
    [[nodiscard]] double latest() const noexcept {
        if (rounds_ == 0) return (std::numeric_limits<double>::max)();
        double const step = rounds_ > 1 ? usual_gap() : longest(), most = decided_ + step;
        if (rounds_ == 1 && !(step > 0)) return (std::numeric_limits<double>::max)();
        return raw_ > most ? raw_ : most;
    }

    static constexpr std::uint32_t patience = 4; // in rounds

    double raw_ = 0, shift_ = 0;
    double decided_ = 0; // caller's clock at the last decision
    double begun_ = 0;   // and at the first decision since it jumped
    double trusted_from_ = -1e300;
    double news_ = 0, quiet_until_ = -1e300;
    double longest_now_ = 0, longest_before_ = 0;
    std::array<double, 8> gaps_{}; // modify through set_gaps only
    double usual_gap_ = 0;
    std::uint64_t rounds_ = 0, ended_ = 0;
    std::uint32_t wild_ = 0; // consecutive wild rounds
    bool was_busy_ = false;
    bool is_one_ahead_ = false, has_ahead_ = false;
    std::uint32_t ahead_node_ = 0;
    double ahead_to_ = 0;
};

// Begins a round at the caller's time, whatever its value.
template <class Line, class Time>
clock_step begin_round(Line& line, loop_guard& guard, Time const& now) noexcept {
    bool const is_usable = line.is_usable(now);
    if (!line.is_set() && is_usable) line.set_origin(now);
    if (is_usable && !guard.is_wild(line.at(now))) return guard.begin(line.at(now));
    if (guard.stand_still() && is_usable) {
        guard.rebase();
        line.set_origin(now);
    }
    return clock_step::forward;
}

// Counts actions within a sliding period, in eighths of the period.
class action_meter {
  public:
    // Moves on to `now`. A period of 0 counts nothing.
    void advance(double now, double period) noexcept {
        if (!(period > 0)) return;
        double const step = period / static_cast<double>(counts_.size());
        while (now >= begin_ + step) {
            if (now - begin_ > 2 * period || !(begin_ + step > begin_)) { // all counts have expired
                counts_ = {};
                begin_ = now;
                return;
            }
            begin_ += step;
            head_ = (head_ + 1) % counts_.size();
            counts_[head_] = 0;
        }
    }
    void charge(std::uint64_t actions) noexcept { counts_[head_] += actions; }
    [[nodiscard]] std::uint64_t total() const noexcept {
        std::uint64_t sum = 0;
        for (std::uint64_t const n : counts_) sum += n;
        return sum;
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.begin_);
        a.varint(self.head_);
        a.expect(is_finite(self.begin_) && self.head_ < self.counts_.size());
        for (auto& n : self.counts_) {
            a.varint(n);
            a.expect(n < (std::uint64_t{1} << 48));
        }
    }

  private:
    std::array<std::uint64_t, 9>
        counts_{}; // one more than a period holds: the oldest expires only once it has passed in full
    std::size_t head_ = 0;
    double begin_ = 0; // of the current step
};

} // namespace straggle::detail
