// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Does it help? If enabled, a random share of the jobs is left alone. Comparing them with the other jobs
/// gives the effect of each kind of action on this cluster. A kind of action that provably does not help is
/// stopped.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/size.hpp>
#include <straggle/mitigate/effect.hpp>
#include <straggle/record/record_reader.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// Compares observations with and without an action, in strata of comparable ones.
///
/// Outcomes are logarithms of times. The means of the two sides are compared within each stratum; strata are
/// weighted by their information, n m / (n + m). The interval is a confidence sequence (a normal mixture, H.
/// Robbins, Statistical methods related to the law of the iterated logarithm, 1970,
/// doi:10.1214/aoms/1177696786): it stays valid however often it is read.
///
/// Known weakness: an effect on all jobs at once, such as a queue that grows because slots are gone, hits the
/// jobs left alone as well and does not show.
/// @par Cost
/// `observe` O(1), `effect_of` O(strata); 24 KB, allocates nothing
/// @par Guarantees
/// sums are integers on a fixed grid: order and merging do not change a bit. noexcept except for contracts
class effect_meter {
  public:
    /// @pre `left_alone` in [0, 1), `level` in (0, 1), `most` from 1 to 2^27
    explicit effect_meter(effect_options options = {}) : options_(options) {
        STRAGGLE_EXPECTS(options.left_alone >= 0 && options.left_alone < 1);
        STRAGGLE_EXPECTS(options.level > 0 && options.level < 1);
        STRAGGLE_EXPECTS(options.most > 0 && options.most <= most_ever / 2);
    }

    /// Whether a job is left alone.
    /// @param job_hash any hash of its name
    [[nodiscard]] bool is_left_alone(std::uint64_t job_hash) const noexcept {
        // Mix it: a standard library's hash may be the number itself.
        std::uint64_t const h = detail::mixed(job_hash, options_.key + 1);
        return static_cast<double>(h >> 11) * 0x1p-53 < options_.left_alone;
    }

    /// Adds the time of one observation.
    /// @param stratum groups comparable observations; any number, folded into 32 strata per kind
    /// @param acted_on false if it was left alone but would have been acted on
    /// @param time in any unit, the same within a stratum, or relative to the prediction; ignored unless
    /// positive and finite
    void observe(action_kind kind, std::uint64_t stratum, bool acted_on, double time) noexcept {
        if (!(time > 0) || !detail::is_finite(time)) return;
        tally& t = tallies_[static_cast<std::size_t>(kind)];
        std::uint64_t const folded = (stratum ^ (stratum >> 29)) * 0xBF58476D1CE4E5B9u;
        sums& s = t.strata[detail::to_size(folded >> 59)][acted_on ? 1 : 0];
        double const log_time = std::log(time) * grid;
        auto const x = static_cast<std::int64_t>(
            std::llrint(log_time > limit ? limit : (log_time < -limit ? -limit : log_time)));
        ++s.count;
        s.sum += x;
        s.squares += x * x;
        if (++t.seen > options_.most) fade(t);
    }

    /// The effect of a kind, from the observations so far.
    [[nodiscard]] effect effect_of(action_kind kind) const noexcept {
        tally const& t = tallies_[static_cast<std::size_t>(kind)];
        effect e{.is_stopped = t.is_stopped};
        double weight = 0, difference = 0, within = 0, freedom = 0;
        for (auto const& stratum : t.strata) {
            sums const &alone = stratum[0], &treated = stratum[1];
            e.alone += alone.count;
            e.treated += treated.count;
            if (alone.count == 0 || treated.count == 0) continue;
            double const n = static_cast<double>(alone.count), m = static_cast<double>(treated.count);
            double const w = n * m / (n + m);
            weight += w;
            difference += w * (mean(treated) - mean(alone));
            within += spread(alone) + spread(treated);
            freedom += n + m - 2;
        }
        if (e.alone < options_.least || e.treated < options_.least || !(freedom >= 2) || !(weight > 0))
            return e;
        difference /= weight * grid;
        double const deviation = std::sqrt(within / freedom) / grid;
        // Makes the mixture narrowest at about 30 observations.
        constexpr double tuned = 10;
        double const alpha = 1 - options_.level;
        double const half = deviation * std::sqrt((weight + tuned) / (weight * weight) *
                                                  std::log((weight + tuned) / (tuned * alpha * alpha)));
        e.value = std::exp(difference);
        e.low = std::exp(difference - half);
        e.high = std::exp(difference + half);
        return e;
    }

    /// Stops a kind whose interval lies wholly above 1: things take longer with it than without.
    /// @return true if this call stopped it
    bool judge(action_kind kind) noexcept {
        tally& t = tallies_[static_cast<std::size_t>(kind)];
        if (t.is_stopped || !(effect_of(kind).low > 1)) return false;
        return t.is_stopped = true;
    }
    /// Whether a kind has been stopped.
    [[nodiscard]] bool is_stopped(action_kind kind) const noexcept {
        return tallies_[static_cast<std::size_t>(kind)].is_stopped;
    }
    /// Lets a stopped kind try again and forgets its observations.
    void resume(action_kind kind) noexcept { tallies_[static_cast<std::size_t>(kind)] = {}; }

    /// Adds the observations of another meter; a kind stopped there is judged again here.
    void merge(effect_meter const& other) noexcept {
        for (std::size_t k = 0; k < action_kind_count; ++k) {
            tally& t = tallies_[k];
            for (std::size_t s = 0; s < strata_count; ++s)
                for (std::size_t side = 0; side < 2; ++side)
                    t.strata[s][side].add(other.tallies_[k].strata[s][side]);
            t.seen += other.tallies_[k].seen;
            if (t.seen > options_.most) fade(t);
        }
    }

    /// All fields, for archives.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.tallies_);
    }

  private:
    static constexpr std::size_t strata_count = 32;
    static constexpr double grid = 4096;       // steps per unit of a logarithm
    static constexpr double limit = 40 * 4096; // times from 10^-17 to 10^17 in any unit
    static constexpr std::uint64_t most_ever = std::uint64_t{1}
                                               << 28; // limit per kind, so that no sum overflows

    struct sums {
        std::uint64_t count = 0;
        std::int64_t sum = 0, squares = 0;

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a.varint(self.count);
            if (!a.expect(self.count <= most_ever) || self.count == 0) return;
            a(self.sum, self.squares);
            auto const n = static_cast<std::int64_t>(self.count), most = static_cast<std::int64_t>(limit);
            a.expect(self.sum <= n * most && self.sum >= -n * most && self.squares >= 0 &&
                     self.squares <= n * most * most);
        }
        void add(sums const& o) noexcept {
            count += o.count;
            sum += o.sum;
            squares += o.squares;
        }
    };
    struct tally {
        std::array<std::array<sums, 2>, strata_count> strata{};
        std::uint64_t seen = 0;
        bool is_stopped = false;

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.is_stopped, self.strata);
            a.varint(self.seen);
            a.expect(self.seen <= most_ever);
        }
    };

    static double mean(sums const& s) noexcept {
        return static_cast<double>(s.sum) / static_cast<double>(s.count);
    }
    static double spread(sums const& s) noexcept {
        double const about = static_cast<double>(s.squares) - static_cast<double>(s.sum) * mean(s);
        return about > 0 ? about : 0;
    }
    static void fade(tally& t) noexcept {
        t.seen = 0;
        for (auto& stratum : t.strata)
            for (sums& s : stratum) {
                // Halve each sum exactly; the mean fills in for what does not divide.
                s = {.count = s.count / 2, .sum = s.sum / 2, .squares = s.squares / 2};
                if (s.count == 0) s = {};
                t.seen += s.count;
            }
    }

    effect_options options_;
    std::array<tally, action_kind_count> tallies_{};
};

} // namespace straggle::mitigate
