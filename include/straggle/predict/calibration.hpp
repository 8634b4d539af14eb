// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Do 80 % of the tasks finish within the range that was said to hold 80 % of them? Counts, as they finish,
/// and widens or narrows the ranges to come until they do.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/stats/confidence.hpp>
#include <straggle/stats/empirical.hpp>
#include <straggle/stats/student_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::predict {

/// How ranges are kept honest.
struct calibration_options {
    /// By how much an end moves, in logarithms of odds, when it was missed at the wrong moment. More follows
    /// a change sooner, less makes the ranges of a quiet stream steadier. 0: nothing is adapted.
    double step = 0.1;
    /// Beyond the samples an end grows by this factor's exponential for every unit of log-odds: 0.1 makes
    /// 10 % longer of odds 2.7 times smaller.
    double stretch = 0.1;
};

/// A range of times that was predicted, and what the ends were set to then.
struct predicted_range {
    double low = 0;   ///< the range is [low, high], in the unit of the samples
    double high = 0;  ///< `low <= high`
    double below = 0; ///< log-odds of a time that is not below `low`
    double above = 0; ///< log-odds of a time that is not above `high`

    /// Whether a time is in the range.
    [[nodiscard]] constexpr bool holds(double time) const noexcept { return low <= time && time <= high; }
    friend constexpr bool operator==(predicted_range const&, predicted_range const&) = default;
};

/// Makes ranges of predicted distributions that hold the truth as often as they claim to, equally often
/// missed on both sides.
///
/// A range from samples holds the next value as often as it should when the two are exchangeable
/// (`empirical_view::range`). Tasks are not: those of a burst finish in the order of their lengths, so that
/// the next one is longer than all that are known; a node gets slower; a new job is like none before. So each
/// end follows the outcomes: it is the quantile of the samples at a level that goes up by
/// `step` (1 - miss) when the truth was beyond, and down by `step` miss when it was not, where miss =
/// (1 - asked) / 2. Levels are logarithms of odds, log(p / (1 - p)), so that they can go on for ever: past
/// the outermost of n samples, p = n / (n + 1), the end moves away from it, by `stretch`. It never comes
/// nearer than the median of the samples.
///
/// **Guarantee**, for truths told before the next range is asked for, whatever the tasks do: the share
/// missed on one side is at most miss + (l - b) / (step n) after n tasks, where the level has gone from
/// b = log((1 - miss) / miss) to l; and l is at most log(samples) + log(ratio) / stretch + step if no truth
/// is more than `ratio` times the outermost sample. It is exactly that much unless the median alone is often
/// enough. With the defaults, and truths up to 3 times the largest of 10 samples, that makes at most 11 % in
/// 1000 tasks and 1.1 % in 10 000; what was seen in real histories is far less (0.04 to 1.1 % in 1000 to
/// 8400).
///
/// **Answers that come late.** A scheduler asks when a task starts and hears when it ends, hundreds of others
/// having been asked about meanwhile. Were each of them held against the range given then, one bad guess
/// would be paid for hundreds of times, and ranges would grow without bound. So each is held against what the
/// range would be *now*: the one given, moved as its levels have moved since. Only the counts are about the
/// range that was given. Nothing can be promised then; docs/guide/detecting.md has what was measured.
///
/// Source: I. Gibbs and E. Candes, Adaptive conformal inference under distribution shift (2021), whose rule
/// this is for each end. Ours: the two ends (a one-sided error cannot be mended by a wider middle), log-odds
/// and the stretch beyond the samples instead of an infinite range at level 1, the bound at the median, and
/// late answers.
/// @par Example
/// `calibration fair(0.8); auto r = fair.range(*times); ... fair.record(*r, took);`
/// @par Cost
/// 64 bytes; `range` O(1) after looking at the largest samples, with two exponentials and a
/// logarithm, `record` O(1); allocates nothing
/// @par Guarantees
/// noexcept but for contracts; deterministic
class calibration {
  public:
    /// @param coverage share of the truths that ranges have to hold
    /// @param how how fast ranges follow
    /// @pre 0 < `coverage` < 1; `step` and `stretch` finite, not negative and at most 1
    explicit calibration(double coverage = 0.8, calibration_options const& how = {})
        : asked_(coverage), options_(how) {
        STRAGGLE_EXPECTS(coverage > 0 && coverage < 1);
        STRAGGLE_EXPECTS(how.step >= 0 && how.step <= 1);
        STRAGGLE_EXPECTS(how.stretch >= 0 && how.stretch <= 1);
        restart();
    }

    /// The share of the truths that ranges have to hold.
    [[nodiscard]] double asked() const noexcept { return asked_; }
    /// The options it was made with.
    [[nodiscard]] calibration_options const& options() const noexcept { return options_; }

    /// A range for the next value of a distribution.
    /// @param times samples of it, none negative: one is enough
    /// @return `status::insufficient_evidence` for no samples; `status::out_of_domain` for negative ones
    [[nodiscard]] outcome<predicted_range> range(stats::empirical_view const& times) const {
        if (times.empty()) return status::insufficient_evidence;
        double const least = times[0], most = times[times.size() - 1];
        if (!(least >= 0)) return status::out_of_domain;
        double const samples = static_cast<double>(times.size()), outermost = std::log(samples);
        // Quantiles as in `empirical_view::range`: the k-th of n samples is at k / (n + 1).
        auto const quantile = [&](double p) {
            double const place = (samples + 1) * p - 1;
            double const q = place > 0 ? place / (samples - 1) : 0.0;
            return times.quantile(q < 1 ? q : 1.0).value();
        };
        predicted_range r{least, most, below_, above_};
        if (below_ < outermost)
            r.low = quantile(1 / (1 + std::exp(below_)));
        else
            r.low = least * std::exp(-options_.stretch * (below_ - outermost));
        if (above_ < outermost)
            r.high = quantile(1 / (1 + std::exp(-above_)));
        else
            r.high = most * std::exp(options_.stretch * (above_ - outermost));
        r.high = (std::min)(r.high, (std::numeric_limits<double>::max)());
        r.low = (std::min)(r.low, r.high); // rounding, where both are the median
        return r;
    }

    /// Takes in how a prediction has turned out.
    /// @param predicted by `range`, at any time before
    /// @param time the task has taken
    /// @return `status::out_of_domain`, and nothing else, for what is not a range or not a time
    status record(predicted_range const& predicted, double time) {
        if (!detail::is_finite(time) || !(time >= 0) || !detail::is_finite(predicted.low) ||
            !detail::is_finite(predicted.high) || !(0 <= predicted.low && predicted.low <= predicted.high) ||
            !is_level(predicted.below) || !is_level(predicted.above))
            return status::out_of_domain;
        ++recorded_;
        if (time < predicted.low) ++too_short_;
        if (time > predicted.high) ++too_long_;
        double const low = predicted.low * std::exp(options_.stretch * (predicted.below - below_));
        double const high = predicted.high * std::exp(options_.stretch * (above_ - predicted.above));
        below_ = moved(below_, time < low);
        above_ = moved(above_, time > high);
        return status::ok;
    }

    /// How many predictions have turned out.
    [[nodiscard]] std::uint64_t recorded() const noexcept { return recorded_; }
    /// Of those, in how many the task took less than the range.
    [[nodiscard]] std::uint64_t too_short() const noexcept { return too_short_; }
    /// Of those, in how many the task took more than the range.
    [[nodiscard]] std::uint64_t too_long() const noexcept { return too_long_; }

    /// The share of truths that were in their range.
    /// @return `status::insufficient_evidence` before the first
    [[nodiscard]] outcome<double> coverage() const noexcept {
        if (recorded_ == 0) return status::insufficient_evidence;
        return static_cast<double>(recorded_ - too_short_ - too_long_) / static_cast<double>(recorded_);
    }

    /// How well `coverage` is known, if truths miss their ranges independently of each other. (Those of a
    /// burst do not: then less is known. Those of a range that adapts make up for each other: then more.)
    ///
    /// Source: E. B. Wilson, Probable inference (1927): the shares p with |share - p| <= z sqrt(p (1 - p) /
    /// n).
    /// @return `status::insufficient_evidence` before the first
    [[nodiscard]] outcome<stats::interval>
    coverage_interval(stats::confidence_level level = 0.95) const noexcept {
        outcome<double> const share = coverage();
        if (!share) return share.reason();
        double const n = static_cast<double>(recorded_);
        constexpr double normal = (std::numeric_limits<double>::max)(); // degrees of freedom
        outcome<double> const z = stats::student_t_quantile_upper(level.tail(), normal);
        if (!z) return z.reason();
        double const z2 = *z * *z, p = *share, scale = 1 / (n + z2);
        double const middle = (n * p + z2 / 2) * scale;
        double const half = *z * std::sqrt(n * p * (1 - p) + z2 / 4) * scale;
        return stats::interval{(std::max)(middle - half, 0.0), (std::min)(middle + half, 1.0)};
    }

    /// The coverage the next range would have to be asked for if times were exchangeable: how far from honest
    /// the samples alone are. `asked()` at first; more when they promise too much.
    [[nodiscard]] double level() const noexcept {
        return 1 - 1 / (1 + std::exp(below_)) - 1 / (1 + std::exp(above_));
    }

    /// Takes in all that another one has recorded; its levels count as much as its records.
    /// @pre the other one was asked for the same
    void merge(calibration const& other) {
        STRAGGLE_EXPECTS(other.asked_ == asked_ && other.options_.step == options_.step &&
                         other.options_.stretch == options_.stretch);
        std::uint64_t const all = recorded_ + other.recorded_;
        if (other.recorded_ == 0) return;
        double const share = static_cast<double>(other.recorded_) / static_cast<double>(all);
        below_ += share * (other.below_ - below_);
        above_ += share * (other.above_ - above_);
        recorded_ = all;
        too_short_ += other.too_short_;
        too_long_ += other.too_long_;
    }

    /// Forgets all records and begins anew.
    void clear() noexcept { restart(); }

    /// Appends what has been recorded, but neither what was asked for nor the options.
    void write(byte_writer& out) const { base::write_fields(out, *this); }
    /// Replaces what has been recorded by what `write` has appended.
    /// @return the reason of the reader; `status::corrupt` for numbers that no records make; nothing has
    /// changed then
    status restore(byte_reader& in) {
        auto read = *this;
        base::read_fields(in, read);
        if (in.ok()) *this = read;
        return in.reason();
    }

  private:
    friend class base::writing_archive;
    friend class base::reading_archive;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a.varint(self.recorded_);
        a.varint(self.too_short_);
        a.varint(self.too_long_);
        a(self.below_, self.above_);
        a.expect(is_level(self.below_) && is_level(self.above_));
        a.expect(self.too_short_ <= self.recorded_ && self.too_long_ <= self.recorded_ - self.too_short_);
    }
    // From the median on; the other end is for truths that cannot be reached, such as times above a range of
    // zeros, so that they can be forgotten.
    static constexpr double highest_level = 100;
    [[nodiscard]] static constexpr bool is_level(double x) noexcept {
        return detail::is_finite(x) && x >= 0 && x <= highest_level;
    }

    void restart() noexcept {
        recorded_ = too_short_ = too_long_ = 0;
        below_ = above_ = std::log((1 + asked_) / (1 - asked_));
    }
    [[nodiscard]] double moved(double level, bool missed) const noexcept {
        double const miss = (1 - asked_) / 2;
        return std::clamp(level + options_.step * ((missed ? 1 : 0) - miss), 0.0, highest_level);
    }

    double asked_;
    calibration_options options_;
    double below_ = 0; // log-odds of not missing on that side
    double above_ = 0;
    std::uint64_t recorded_ = 0;
    std::uint64_t too_short_ = 0;
    std::uint64_t too_long_ = 0;
};

} // namespace straggle::predict
