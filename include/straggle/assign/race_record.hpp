// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Learns from copies that ran: do they win as often as predicted, are late tasks late because of their place
/// or because of themselves, and how much do two attempts of one task differ?
#pragma once

#include <straggle/assign/race_record_options.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::assign {

/// A guess of a time: mean and variance of its logarithm.
struct log_guess {
    double mean = 0;     ///< of the logarithm
    double variance = 0; ///< of the logarithm
};

/// The claim about a race at its start; made by `claim_of`.
struct race_claim {
    double claimed = 0;  ///< probability that the copy wins, before any correction
    double age = 0;      ///< of the task, when its copy began
    double relative = 1; ///< slowdown of the copy's node / slowdown of the task's own node
    log_guess place{};   ///< time of the copy if the place is to blame
    log_guess task{};    ///< the same if the task is

    /// All of it.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.claimed, self.age, self.relative, self.place.mean, self.place.variance, self.task.mean,
          self.task.variance);
        a.expect(self.claimed >= 0 && self.claimed <= 1 && self.age >= 0 && detail::is_finite(self.age) &&
                 self.relative >= 0 && detail::is_finite(self.relative));
        for (log_guess const* const g : {&self.place, &self.task})
            a.expect(std::fabs(g->mean) < 1e4 && g->variance >= 0 && g->variance < 1e8);
    }
};

/// Learns from races between tasks and their copies.
///
/// Each race is evaluated on its own: how likely is the time that the copy took, or had run when it lost, if
/// the place was to blame, and how likely if the task was? A win on a faster node alone proves nothing, but a
/// copy that takes three times the usual time shows which was to blame. By Bayes' rule a race counts for one
/// or the other, for its kind and for all. If the task is to blame, a copy does not take exactly as long as
/// the task: how much two attempts of one task differ is learned as well, by Bayes' rule among a few values.
/// In addition, claimed probabilities are compared with outcomes: if copies win less often than claimed, all
/// claims are lowered on the log-odds scale.
///
/// Source: ours; the correction is Platt's with slope 1.
/// @par Cost
/// O(log kinds); 24 bytes per kind
/// @par Guarantees
/// deterministic
class race_record {
  public:
    /// @param options prior beliefs
    explicit race_record(race_record_options const& options = {}) : options_(options) {}

    /// Probability that a late task of this kind is late because of itself.
    [[nodiscard]] double of_task(std::uint32_t kind) const noexcept {
        double const all =
            (options_.of_task * options_.as_many + all_.of_task) / (options_.as_many + all_.races);
        tally const* const own = find(kind);
        return own ? (all * options_.as_many + own->of_task) / (options_.as_many + own->races) : all;
    }
    /// How much two attempts of one task differ, apart from their place: standard deviation of the logarithm
    /// of their ratio.
    [[nodiscard]] double apart() const noexcept { return apart_; }
    /// The win probability that a claim has turned out to mean.
    [[nodiscard]] double corrected(double claimed) const noexcept {
        double const p = (std::min)((std::max)(claimed, 0.001), 0.999);
        double const shifted = 1 / (1 + (1 - p) / p * std::exp(-shift_));
        tenth const& t = tenths_[place_in_tenths(shifted)];
        return (tenth_prior * shifted + t.won) / (tenth_prior + t.races);
    }
    /// A race is over.
    /// @param claim made at its start
    /// @param took how long the copy ran, above 0, in the unit of the claim
    /// @param copy_won whether the copy ended first
    void observe(std::uint32_t kind, race_claim const& claim, double took, bool copy_won) {
        double const place = likely_by_place(claim.place, log_of(took), copy_won), before = of_task(kind);
        each_luck const luck = copy_won ? by_luck(claim, took) : by_whole_task(claim, took);
        blame(kind, blame_of(kind, expected(copy_won ? by_task(claim, took) : luck), place));
        luck_.races += 1;
        for (std::size_t k = 0; k < differ.size(); ++k)
            luck_.logs[k] += std::log(before * luck[k] + (1 - before) * place + anything);
        if (luck_.races > options_.remembered) fade(luck_, 0.5);
        weigh_lucks();
        double const odds = (std::min)((std::max)(claim.claimed, 0.001), 0.999);
        double const p = 1 / (1 + (1 - odds) / odds * std::exp(-shift_));
        tenth& at = tenths_[place_in_tenths(p)];
        at.races += 1;
        at.won += copy_won ? 1 : 0;
        if (at.races > options_.remembered) {
            at.races *= 0.5;
            at.won *= 0.5;
        }
        information_ = (std::min)(information_ + p * (1 - p), 15.0);
        shift_ += ((copy_won ? 1 : 0) - p) / (4 + information_);
        shift_ = (std::min)((std::max)(shift_, -3.0), 3.0);
        ++races_;
        if (copy_won) ++won_;
    }
    /// Number of races.
    [[nodiscard]] std::uint64_t races() const noexcept { return races_; }
    /// Number of races that the copy won.
    [[nodiscard]] std::uint64_t won() const noexcept { return won_; }

    /// All that was learned, for archives.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.all_, self.shift_, self.information_, self.tenths_);
        a.varint(self.races_);
        a.varint(self.won_);
        a.items(self.kinds_, 20);
        a(self.luck_);
        a.expect(self.shift_ >= -3 && self.shift_ <= 3 && self.information_ >= 0 && self.information_ <= 15 &&
                 self.won_ <= self.races_);
        for (std::size_t k = 1; k < self.kinds_.size(); ++k)
            a.expect(self.kinds_[k - 1].kind < self.kinds_[k].kind);
        if constexpr (Archive::reads) {
            if (self.kinds_.size() > self.options_.most_kinds) self.kinds_.resize(self.options_.most_kinds);
            if (a.ok()) self.weigh_lucks();
        }
    }
    /// Adds the races of another record.
    void merge(race_record const& other) {
        double const races = static_cast<double>(races_), more = static_cast<double>(other.races_);
        if (more > 0) shift_ = (races * shift_ + more * other.shift_) / (races + more);
        information_ = (std::min)(information_ + other.information_, 15.0);
        for (std::size_t i = 0; i < tenths_.size(); ++i) {
            tenth& t = tenths_[i];
            t.races += other.tenths_[i].races;
            t.won += other.tenths_[i].won;
            if (!(t.races > options_.remembered)) continue;
            t.won *= options_.remembered / t.races;
            t.races = options_.remembered;
        }
        races_ += other.races_;
        won_ += other.won_;
        for (std::size_t k = 0; k < differ.size(); ++k) luck_.logs[k] += other.luck_.logs[k];
        luck_.races += other.luck_.races;
        if (luck_.races > options_.remembered) fade(luck_, options_.remembered / luck_.races);
        weigh_lucks();
        merge(all_, other.all_);
        for (tally const& k : other.kinds_)
            if (tally* const own = place_of(k.kind)) merge(*own, k);
    }

  private:
    static constexpr double anything = 0.05; // probability floor for any outcome
    // Values for the difference of two attempts, equally likely before the first race.
    static constexpr std::array<double, 4> differ{0.1, 0.2, 0.4, 0.8};
    using each_luck = std::array<double, 4>;

    [[nodiscard]] static double beyond(double z) noexcept { return 0.5 * std::erfc(z * 0.7071067811865476); }
    // Likelihood that a copy ends after this time, or has not ended by then, given its difference from a
    // guess.
    [[nodiscard]] static double likely(log_guess const& guess, double differs, double log,
                                       bool ended) noexcept {
        double const deviation = std::sqrt(guess.variance + differs * differs);
        double const z = (log - guess.mean) / deviation;
        double const p = ended ? 0.3989422804014327 * std::exp(-z * z / 2) / deviation : beyond(z);
        return p >= 0 ? p : 0.0;
    }
    [[nodiscard]] static double likely_by_place(log_guess const& place, double log, bool ended) noexcept {
        return likely(place, differ.front(), log, ended);
    }
    // The same for a copy that takes as long as its task, given that the task has run so long that a copy of
    // it takes more than `least`: a copy that wins by far shows that the task is not to blame.
    [[nodiscard]] static double likely_by_task(log_guess const& task, double differs, double log,
                                               double least) noexcept {
        double const left = (std::max)(likely(task, differs, least, false), anything);
        double const p = likely(task, differs, log, true) * beyond((least - log) / differs) / left;
        return p >= 0 ? p : 0.0;
    }
    // Likelihoods if the task is to blame, for each value of the difference.
    [[nodiscard]] static each_luck by_task(race_claim const& claim, double took) noexcept {
        double const log = log_of(took), least = log_of((claim.age + took) * claim.relative);
        each_luck p{};
        for (std::size_t k = 0; k < differ.size(); ++k)
            p[k] = likely_by_task(claim.task, differ[k], log, least);
        return p;
    }
    // The same for a winning copy, to learn the difference: combines its time with the fact that its task
    // takes even longer. Either the guess and the copy together make that plausible, or the copy was very
    // lucky. (Not used for the blame, as it trusts the guess too much: if that is off, lucky copies would
    // seem to be the rule.)
    [[nodiscard]] static each_luck by_luck(race_claim const& claim, double took) noexcept {
        double const log = log_of(took), least = log_of((claim.age + took) * claim.relative);
        double const v = claim.task.variance + differ.front() * differ.front();
        double const left = (std::max)(beyond((least - claim.task.mean) / std::sqrt(v)), anything);
        each_luck p{};
        for (std::size_t k = 0; k < differ.size(); ++k) {
            double const d = differ[k] * differ[k], all = v + d; // the task's time, given the copy's: Bayes
            double const mean = (claim.task.mean * d + log * v) / all, deviation = std::sqrt(v * d / all);
            double const luck = likely({claim.task.mean, v}, differ[k], log, true);
            p[k] = luck * beyond((least - mean) / deviation) / left;
            if (!(p[k] >= 0)) p[k] = 0;
        }
        return p;
    }
    // For a losing copy: the length of its task is known.
    [[nodiscard]] static each_luck by_whole_task(race_claim const& claim, double took) noexcept {
        double const log = log_of(took), whole = log_of((claim.age + took) * claim.relative);
        each_luck p{};
        for (std::size_t k = 0; k < differ.size(); ++k) p[k] = likely({whole, 0}, differ[k], log, false);
        return p;
    }
    [[nodiscard]] double expected(each_luck const& p) const noexcept {
        double sum = 0;
        for (std::size_t k = 0; k < differ.size(); ++k) sum += lucks_[k] * p[k];
        return sum;
    }

    [[nodiscard]] double blame_of(std::uint32_t kind, double by_task, double by_place) const noexcept {
        double const t = of_task(kind), weight = t * (by_task + anything);
        return weight / (weight + (1 - t) * (by_place + anything));
    }
    [[nodiscard]] static double log_of(double time) noexcept {
        return std::log((std::max)(time, (std::numeric_limits<double>::min)()));
    }
    void blame(std::uint32_t kind, double share) {
        add(all_, share);
        if (tally* const own = place_of(kind)) add(*own, share);
    }

    struct tally {
        double of_task = 0, races = 0;
        std::uint32_t kind = (std::numeric_limits<std::uint32_t>::max)();

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.of_task, self.races, self.kind);
            a.expect(self.of_task >= 0 && self.of_task <= self.races && self.races < 1e15);
        }
    };
    [[nodiscard]] tally const* find(std::uint32_t kind) const noexcept {
        auto const at = std::lower_bound(kinds_.begin(), kinds_.end(), kind,
                                         [](tally const& k, std::uint32_t id) { return k.kind < id; });
        return at != kinds_.end() && at->kind == kind ? &*at : nullptr;
    }
    // The entry of a kind, created if there is room; null if not, or if the kind is unknown.
    tally* place_of(std::uint32_t kind) {
        if (kind == (std::numeric_limits<std::uint32_t>::max)()) return nullptr;
        auto const at = std::lower_bound(kinds_.begin(), kinds_.end(), kind,
                                         [](tally const& k, std::uint32_t id) { return k.kind < id; });
        if (at != kinds_.end() && at->kind == kind) return &*at;
        return kinds_.size() < options_.most_kinds ? &*kinds_.insert(at, tally{0, 0, kind}) : nullptr;
    }
    void merge(tally& t, tally const& other) const noexcept {
        t.of_task += other.of_task;
        t.races += other.races;
        if (!(t.races > options_.remembered)) return;
        t.of_task *= options_.remembered / t.races;
        t.races = options_.remembered;
    }
    void add(tally& t, double share) const noexcept {
        t.of_task += share;
        t.races += 1;
        if (!(t.races > options_.remembered)) return;
        t.of_task *= 0.5;
        t.races *= 0.5;
    }

    // Log likelihood of each value of the difference, the largest normalized to 0.
    struct luck_tally {
        each_luck logs{};
        double races = 0;

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.logs, self.races);
            for (double const log : self.logs) a.expect(log <= 0 && log > -1e15);
            a.expect(self.races >= 0 && self.races < 1e15);
        }
    };
    static void fade(luck_tally& t, double by) noexcept {
        for (double& log : t.logs) log *= by;
        t.races *= by;
    }
    void weigh_lucks() noexcept {
        double const best = *std::max_element(luck_.logs.begin(), luck_.logs.end());
        double sum = 0;
        for (std::size_t k = 0; k < differ.size(); ++k) {
            luck_.logs[k] -= best;
            sum += lucks_[k] = std::exp(luck_.logs[k]);
        }
        for (double& l : lucks_) l /= sum;
        apart_ = expected(differ);
    }

    race_record_options options_;
    luck_tally luck_{};
    each_luck lucks_{0.25, 0.25, 0.25, 0.25}; // probability of each value
    double apart_ = 0.375;                    // their expectation
    tally all_{};
    std::vector<tally> kinds_{}; // by kind
    // Claims in one tenth, after the shift.
    struct tenth {
        double races = 0, won = 0;

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.races, self.won);
            a.expect(self.won >= 0 && self.won <= self.races && self.races < 1e15);
        }
    };
    static constexpr double tenth_prior = 20; // weight of the shifted claim in races
    [[nodiscard]] static std::size_t place_in_tenths(double p) noexcept {
        return (std::min)(static_cast<std::size_t>(p * 10), std::size_t{9});
    }

    std::array<tenth, 10> tenths_{};
    double shift_ = 0, information_ = 0;
    std::uint64_t races_ = 0, won_ = 0;
};

} // namespace straggle::assign
