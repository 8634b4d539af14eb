// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Do 80 % of the tasks finish within the range predicted to contain 80 % of them? Counts outcomes as tasks
/// finish, and widens or narrows later ranges until they do.
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

/// How ranges are calibrated.
struct calibration_options {
    /// How far an end moves, in log-odds, when a truth beyond it shows that it was wrong. Larger values
    /// follow a change sooner, smaller ones keep the ranges of a quiet stream steadier. 0: no adaptation.
    double step = 0.1;
    /// Beyond the samples an end grows exponentially by this rate per unit of log-odds: 0.1 makes it 10 %
    /// longer for odds 2.7 times smaller.
    double stretch = 0.1;
};

/// A predicted range of times, with the state of its ends at that time.
struct predicted_range {
    double low = 0;   ///< the range is [low, high], in the unit of the samples
    double high = 0;  ///< `low <= high`
    double below = 0; ///< log-odds of a time that is not below `low`
    double above = 0; ///< log-odds of a time that is not above `high`

    /// Whether a time is in the range.
    [[nodiscard]] constexpr bool holds(double time) const noexcept { return low <= time && time <= high; }
    friend constexpr bool operator==(predicted_range const&, predicted_range const&) = default;
};

/// Makes ranges of predicted distributions contain the truth as often as they claim, and miss equally often
/// on both sides.
///
/// A range from samples contains the next value as often as it should if the two are exchangeable
/// (`empirical_view::range`). Tasks are not: those of a burst finish in the order of their lengths, so the
/// next one is longer than all known ones; a node gets slower; a new job is unlike earlier ones. So each end
/// follows the outcomes: it is the quantile of the samples at a level that rises by `step` (1 - miss) when
/// the truth was beyond it, and falls by `step` miss when it was not, where miss = (1 - asked) / 2. Levels
/// are log-odds, log(p / (1 - p)), and so unbounded: past the outermost of n samples, p = n / (n + 1), the
/// end moves away from it, by `stretch`. It never crosses the median of the samples.
///
/// **Guarantee**, if each truth is recorded before the next range is requested, for any sequence of tasks:
/// the share missed on one side is at most miss + (l - b) / (step n) after n tasks, where the level has gone
/// from b = log((1 - miss) / miss) to l; and l is at most log(samples) + log(ratio) / stretch + step if no
/// truth is more than `ratio` times the outermost sample. The bound is attained unless the median alone
/// suffices often enough. With the defaults, and truths up to 3 times the largest of 10 samples, it is at
/// most 11 % in 1000 tasks and 1.1 % in 10 000; the shares observed in real histories are far smaller (0.04
/// to 1.1 % in 1000 to 8400).
///
/// **Late answers.** A scheduler requests a range when a task starts and learns the truth when it ends, after
/// requesting hundreds of others. If each truth were compared with the original range, one bad guess would be
/// penalized hundreds of times, and ranges would grow without bound. So it is compared with what the range
/// would be *now*: the original one, moved as its levels have moved since. Only the counts refer to the
/// original range. There is no guarantee in this case; docs/reference/detecting.md has measurements.
///
/// Source: I. Gibbs and E. Candes, Adaptive conformal inference under distribution shift (2021), applied to
/// each end. Ours: two separate ends (a one-sided error cannot be fixed by a wider middle), log-odds and the
/// stretch beyond the samples instead of an infinite range at level 1, the bound at the median, and late
/// answers.
/// @par Example
/// `calibration fair(0.8); auto r = fair.range(*times); ... fair.record(*r, took);`
/// @par Cost
/// 64 bytes; `range` O(1) after looking at the largest samples, with two exponentials and a
/// logarithm, `record` O(1); allocates nothing
/// @par Guarantees
/// noexcept except for contracts; deterministic
class calibration {
  public:
    /// @param coverage share of the truths that ranges must contain
    /// @param how how fast ranges adapt
    /// @pre 0 < `coverage` < 1; `step` and `stretch` finite, not negative and at most 1
    explicit calibration(double coverage = 0.8, calibration_options const& how = {})
        : asked_(coverage), options_(how) {
        STRAGGLE_EXPECTS(coverage > 0 && coverage < 1);
        STRAGGLE_EXPECTS(how.step >= 0 && how.step <= 1);
        STRAGGLE_EXPECTS(how.stretch >= 0 && how.stretch <= 1);
        restart();
    }

    /// The share of the truths that ranges must contain.
    [[nodiscard]] double asked() const noexcept { return asked_; }
    /// The options it was made with.
    [[nodiscard]] calibration_options const& options() const noexcept { return options_; }

    /// A range for the next value from a distribution.
    /// @param times samples of it, none negative; one is enough
    /// @return `status::insufficient_evidence` without samples; `status::out_of_domain` if any is negative
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
        r.low = (std::min)(r.low, r.high); // rounding, if both are the median
        return r;
    }

    /// Records the outcome of a prediction.
    /// @param predicted an earlier result of `range`
    /// @param time the task's actual time
    /// @return `status::out_of_domain`, with no effect, if an argument is not a range or not a time
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

    /// Number of recorded outcomes.
    [[nodiscard]] std::uint64_t recorded() const noexcept { return recorded_; }
    /// Outcomes shorter than their range.
    [[nodiscard]] std::uint64_t too_short() const noexcept { return too_short_; }
    /// Outcomes longer than their range.
    [[nodiscard]] std::uint64_t too_long() const noexcept { return too_long_; }

    /// The share of truths inside their range.
    /// @return `status::insufficient_evidence` before the first
    [[nodiscard]] outcome<double> coverage() const noexcept {
        if (recorded_ == 0) return status::insufficient_evidence;
        return static_cast<double>(recorded_ - too_short_ - too_long_) / static_cast<double>(recorded_);
    }

    /// Confidence interval of `coverage`, if truths miss their ranges independently. (Within a burst they do
    /// not, so it is too narrow. Adaptive ranges compensate for misses, so it is then too wide.)
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

    /// The coverage one would have to request if times were exchangeable: how far from calibrated the samples
    /// alone are. Initially `asked()`; more if they promise too much.
    [[nodiscard]] double level() const noexcept {
        return 1 - 1 / (1 + std::exp(below_)) - 1 / (1 + std::exp(above_));
    }

    /// Adds the records of another calibration; levels are averaged, weighted by the number of records.
    /// @pre both have the same requested coverage
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

    /// Forgets all records and restarts.
    void clear() noexcept { restart(); }

    /// Appends what was recorded, but not the requested coverage or the options.
    void write(byte_writer& out) const { base::write_fields(out, *this); }
    /// Replaces what was recorded with what `write` appended.
    /// @return the status of the reader; `status::corrupt` for numbers that no records can produce; nothing
    /// has changed then
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
    // From the median on; the upper bound is for unreachable truths, such as times above a range of zeros, so
    // that the level can return.
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
