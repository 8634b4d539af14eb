// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How far can progress be trusted? Compares what the progress of tasks promised with when they really ended,
/// and weights progress accordingly.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/size.hpp>
#include <straggle/predict/detail/progress_errors.hpp>
#include <straggle/predict/time_outlook.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::predict {

/// A summary of the reports of one running attempt. The caller keeps it with the attempt.
struct progress_track {
    static constexpr std::size_t parts = detail::progress_errors::count; ///< equal parts of the way

    double first_time = 0, first = 0;    ///< the first progress above 0, and its time
    double time = 0, last = 0;           ///< the last increase of progress: its time and value
    std::size_t reached = parts;         ///< the last part entered; `parts`: none yet
    std::array<float, parts> promised{}; ///< apparent remaining time on entering each part; 0: not seen
    std::array<float, parts> since{};    ///< age of the track at that time

    /// Adds a report. Ignores progress that falls, repeats itself or is not a number.
    void observe(double progress, double when) noexcept {
        if (!(progress > 0) || !(progress <= 1) || !detail::is_finite(when)) return;
        if (first == 0) {
            first = last = progress;
            first_time = time = when;
            return;
        }
        if (!(progress > last) || !(when > time)) return;
        last = progress;
        time = when;
        auto const part = (std::min)(static_cast<std::size_t>(progress * parts), parts - 1);
        if (promised[part] > 0 || !(progress < 1)) return;
        double const promise = left(), age = time - first_time;
        constexpr double most = static_cast<double>((std::numeric_limits<float>::max)());
        if (!(promise < most) || !(age < most)) return;
        promised[part] = static_cast<float>(promise);
        since[part] = static_cast<float>(age);
        reached = part;
    }
    /// All of it.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.first);
        a.expect(self.first >= 0 && self.first <= 1);
        if (self.first == 0) return; // no report yet
        a(self.first_time, self.time, self.last);
        a.expect(detail::is_finite(self.first_time) && detail::is_finite(self.time));
        a.expect(self.time >= self.first_time && self.last >= self.first && self.last <= 1);
        std::uint64_t entered = self.reached;
        a.varint(entered);
        a.expect(entered <= parts);
        if constexpr (Archive::reads) self.reached = entered < parts ? detail::to_size(entered) : parts;
        if (self.reached == parts) return;
        for (std::size_t i = 0; i < parts; ++i) {
            a(self.promised[i]);
            if (self.promised[i] > 0) a(self.since[i]);
            a.expect(self.promised[i] >= 0 && self.since[i] >= 0);
        }
    }
    /// The remaining time, as of `time`, at the pace since the first report; 0: unknown.
    [[nodiscard]] double left() const noexcept {
        double const done = last - first;
        return done > 0 && last < 1 ? (1 - last) * (time - first_time) / done : 0.0;
    }
    /// The apparent remaining time on entering the last part; 0: none was entered.
    [[nodiscard]] double promise() const noexcept {
        return reached < parts ? static_cast<double>(promised[reached]) : 0.0;
    }
    /// Time since then. @pre a part was entered
    [[nodiscard]] double since_promise(double now) const noexcept {
        return now - first_time - static_cast<double>(since[reached]);
    }
};

/// How reliable progress is on entering one part of the way: bias and variance of the logarithm of the
/// remaining time.
struct progress_worth {
    double bias = 0;     ///< above 0: more was promised than was left
    double variance = 0; ///< of the logarithm
    double tasks = 0;    ///< tasks it was learned from, in the part with most data
};

/// Learns, by kind and part of the way, how promises of progress compare with actual times.
///
/// Rates are counted from the first report above 0, not from the launch, so that a late start does not count
/// as slow. Errors are logarithms of promised / actual remaining time: a phase that is always fast or slow is
/// a bias and is corrected; jumps and noise are variance. Before tasks have ended, progress has almost no
/// weight.
///
/// A part that no ended task has passed through is assumed to be like the others: reports of a usual task
/// skip the first part, and slow tasks seen there do not end, as their copies win.
///
/// Source: ours.
/// @par Cost
/// `worth` O(log kinds), `observe_ended` plus 16 steps; 420 bytes per kind; allocates nothing once it has
/// grown
/// @par Guarantees
/// noexcept except for memory; deterministic
class progress_trust {
  public:
    /// @param most_kinds kinds kept; further ones share the record of all
    explicit progress_trust(std::size_t most_kinds = 1024) : most_kinds_(most_kinds) {}

    /// A task succeeded at `end`: compares its reports' promises with that.
    void observe_ended(std::uint32_t kind, progress_track const& track, double end) {
        table* const own = of(kind);
        for (std::size_t i = 0; i < progress_track::parts; ++i) {
            double const promised = static_cast<double>(track.promised[i]);
            double const left = end - (track.first_time + static_cast<double>(track.since[i]));
            if (!(promised > 0) || !(left > 0)) continue;
            double const error = std::log(promised / left);
            all_.parts[i].add(error);
            if (own) own->parts[i].add(error);
        }
        if (track.reached == progress_track::parts) return; // it has promised nothing
        all_.settle();
        if (own) own->settle();
    }
    /// How reliable progress is in a part of the way.
    [[nodiscard]] progress_worth worth(std::uint32_t kind, std::size_t part) const noexcept {
        // Weights of priors in tasks: two for the unknown, five if other kinds have data. For a part without
        // data, the other parts count as much as doubt does once they have data from sixty tasks.
        constexpr double as_many = 2, kind_prior = 5, by_others = 60;
        auto const& everywhere = all_.together;
        double const seen = everywhere.n / (everywhere.n + by_others);
        progress_worth const out = after(all_, part, seen * everywhere.mean,
                                         seen * all_.of_another() + (1 - seen) * table::doubt, as_many);
        entry const* const e = find(kind);
        if (!e) return out;
        // Combines the kind over all parts with the part over all kinds.
        table const& own = tables_[e->place];
        double const share = own.together.n / (own.together.n + kind_prior);
        return after(own, part, out.bias + share * (own.together.mean - everywhere.mean),
                     out.variance * (1 + share * (own.louder_than(all_) - 1)), kind_prior);
    }

    /// Appends what was learned.
    void write(byte_writer& out) const {
        base::write_fields(out, all_);
        out.count(kinds_.size());
        for (entry const& e : kinds_) {
            out.u32(e.kind);
            base::write_fields(out, tables_[e.place]);
        }
    }
    /// Reads what `write` appended; if that is invalid, the reader fails and the object is unusable.
    void read(byte_reader& in) {
        base::read_fields(in, all_);
        kinds_.clear();
        tables_.clear();
        for (std::size_t n = in.count(4 + 24 * progress_track::parts); n > 0 && in.ok(); --n) {
            std::uint32_t const kind = in.u32();
            table t;
            base::read_fields(in, t);
            if (!in.expect(kinds_.empty() || kinds_.back().kind < kind)) return;
            if (kinds_.size() >= most_kinds_) continue;
            kinds_.push_back({kind, static_cast<std::uint32_t>(tables_.size())});
            tables_.push_back(t);
        }
    }
    /// Merges what another object has learned.
    void merge(progress_trust const& other) {
        all_.merge(other.all_);
        for (entry const& e : other.kinds_) {
            if (table* const own = of(e.kind)) own->merge(other.tables_[e.place]);
        }
    }

  private:
    using table = detail::progress_errors;

    // Posterior for a part after its errors, given a prior with the weight of `as_many` tasks.
    [[nodiscard]] static progress_worth after(table const& of, std::size_t part, double mean, double variance,
                                              double as_many) noexcept {
        detail::part_errors const& e = of.parts[part];
        double const n = e.n + as_many, apart = e.mean - mean;
        return {(e.n * e.mean + as_many * mean) / n,
                (e.square() + as_many * variance + e.n * as_many / n * apart * apart) / n, of.together.n};
    }
    struct entry {
        std::uint32_t kind, place;
    };

    [[nodiscard]] entry const* find(std::uint32_t kind) const noexcept {
        auto const at = std::lower_bound(kinds_.begin(), kinds_.end(), kind,
                                         [](entry const& e, std::uint32_t k) { return e.kind < k; });
        return at != kinds_.end() && at->kind == kind ? &*at : nullptr;
    }
    table* of(std::uint32_t kind) {
        if (kind == (std::numeric_limits<std::uint32_t>::max)()) return nullptr;
        if (entry const* const e = find(kind)) return &tables_[e->place];
        if (kinds_.size() >= most_kinds_) return nullptr;
        auto const at = std::lower_bound(kinds_.begin(), kinds_.end(), kind,
                                         [](entry const& e, std::uint32_t k) { return e.kind < k; });
        kinds_.insert(at, {kind, static_cast<std::uint32_t>(tables_.size())});
        return &tables_.emplace_back();
    }

    std::size_t most_kinds_;
    table all_{};
    std::vector<entry> kinds_{}; // by kind
    std::vector<table> tables_{};
};

} // namespace straggle::predict

namespace straggle::inline STRAGGLE_ABI::detail {

// Likelihood of a remaining time, given what progress promised.
class promise_fit {
  public:
    // `least`: variance that no record of errors excludes.
    promise_fit(predict::progress_track const& track, double now, predict::progress_worth const& worth,
                double least = 0.0025) noexcept
        : promised_(track.promise()),
          stale_(promised_ > 0 ? (std::max)(track.since_promise(now), 0.0) : 0.0),
          log_promised_(std::log(promised_) - worth.bias),
          precision_(1 / (worth.variance + least)) {}

    [[nodiscard]] double operator()(double left) const noexcept { return 1 / unlikely(left); }
    // Errors have heavier tails than a normal distribution (four degrees of freedom).
    [[nodiscard]] double unlikely(double left) const noexcept {
        double const miss = std::log(left + stale_) - log_promised_;
        double const z = 1 + miss * miss * precision_ / 4;
        return z * z * std::sqrt(z);
    }
    // From there on, a smaller remaining time fits better.
    [[nodiscard]] bool falls_from(double left) const noexcept {
        return std::log(left + stale_) >= log_promised_;
    }
    // The range outside of which a time fits at most a ten-thousandth as well as the promise.
    [[nodiscard]] std::array<double, 2> likely() const noexcept {
        constexpr double z = 39.810717055349734; // 10^(4 / 2.5)
        double const wide = std::sqrt(4 * (z - 1) / precision_);
        return {std::exp(log_promised_ - wide) - stale_, std::exp(log_promised_ + wide) - stale_};
    }

  private:
    double promised_, stale_, log_promised_, precision_;
};

// The cells of time for combining both: equal in logarithm, from 1/100 to 78 times the usual time.
inline constexpr std::size_t promise_cells = 64;
inline constexpr double promise_step = 0.14;
// Share of the weight that may be ignored.
inline constexpr double promise_loss = 0.001;

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::predict {

/// The remaining time of a running task from its siblings and its progress, weighted by their reliability:
/// the siblings' curve, given the task's age, times the likelihood of what progress promises.
/// @param outlook of its job
/// @param factor of the task, `sibling_times::factor`
/// @param age current age of the task
/// @param track its reports
/// @param now on the clock of the reports
/// @param worth of progress on entering the last part: the promise made then is what finished tasks are
/// compared with
/// @par Cost
/// O(64), three logarithms or exponentials each; fewer the more reliable progress is
[[nodiscard]] inline time_points left_by_both(time_outlook const& outlook, double factor, double age,
                                              progress_track const& track, double now,
                                              progress_worth const& worth) {
    auto const by_siblings = [&] {
        time_points out = outlook.times_after(age / factor);
        for (double& t : out.at) t = (std::max)(t * factor - age, 0.0);
        return out;
    };
    if (!(track.promise() > 0) || !(worth.tasks > 0)) return by_siblings();
    constexpr std::size_t cells = detail::promise_cells;
    constexpr double step = detail::promise_step;
    detail::promise_fit const fit(track, now, worth);
    std::array<double, cells> weight{};
    double const first = outlook.usual() * factor * 0.01, grow = std::exp(step), half = std::exp(step / 2);
    auto const edge = [&](std::size_t cell) { return first * std::exp(static_cast<double>(cell) * step); };
    auto const survival = outlook.survival_after(age / factor);
    double sum = 0, all = 0, lost = 0; // `sum`: probability of ending almost at once
    auto const weigh = [&](std::size_t begin, std::size_t end) {
        double low = edge(begin), before = survival((age + low) / factor);
        sum = begin == 0 ? (1 - before) / fit.unlikely(first / 2) : 0.0;
        lost = begin == 0 ? 0.0 : (1 - before) * fit(low);
        all = sum;
        for (std::size_t i = begin; i < end; ++i, low *= grow) {
            double const after = survival((age + low * grow) / factor);
            weight[i] = (before - after) / fit.unlikely(low * half);
            all += weight[i];
            before = after;
        }
        if (end < cells) lost += before * fit(low);
    };
    // Reliable progress leaves few cells to evaluate, unless siblings contradict it with certainty.
    auto const cell_of = [&](double left) {
        double const place = left > first ? std::log(left / first) / step : 0.0;
        return static_cast<std::size_t>((std::min)(place, static_cast<double>(cells) - 1));
    };
    auto const likely = fit.likely();
    std::size_t begin = cell_of(likely[0]), end = cell_of(likely[1]) + 1;
    weigh(begin, end);
    if (!(lost <= detail::promise_loss * all)) weigh(begin = 0, end = cells);
    if (!(all > 0)) return by_siblings();
    time_points out;
    double reached = sum, at = edge(begin);
    std::size_t cell = begin;
    for (std::size_t i = 0; i < time_points::count; ++i) {
        double const target = all * (static_cast<double>(i) + 0.5) / static_cast<double>(time_points::count);
        if (target <= sum) {
            out.at[i] = first * target / sum;
            continue;
        }
        while (cell + 1 < end && reached + weight[cell] < target) {
            reached += weight[cell++];
            at *= grow;
        }
        double const part = weight[cell] > 0 ? (target - reached) / weight[cell] : 0.5;
        out.at[i] = at * (1 + (part < 1 ? part : 1.0) * (grow - 1));
    }
    return out;
}

/// Whether `left_by_both` would certainly say that, more likely than not, at most some time is left: if true,
/// at least nine of its points are below that. Evaluates a dozen times instead of 64, and returns false if
/// the answer is not clear.
/// @param time the time in question; the others are those of `left_by_both`
/// @par Cost
/// O(12), three logarithms or exponentials each
[[nodiscard]] inline bool is_soon_by_both(time_outlook const& outlook, double factor, double age,
                                          progress_track const& track, double now,
                                          progress_worth const& worth, double time) noexcept {
    if (!(track.promise() > 0) || !(worth.tasks > 0)) return false;
    // Probabilities and cell edges are computed in a different order there: tolerance for the difference.
    constexpr double rounding = 1e-6, least = 1e-9;
    // The weight ignored there may lie below the time.
    constexpr double certain = 1 - 2 * detail::promise_loss;
    constexpr double pace = 5,
                     wide = 2.0137527074704766; // cells at a time, and their width in logarithms, e^0.7
    double const first = outlook.usual() * factor * 0.01;
    double cell = std::floor(std::log(time / first) / detail::promise_step - rounding);
    if (!(cell >= 1) || !(time > rounding * age)) return false;
    cell = (std::min)(cell, static_cast<double>(detail::promise_cells));
    double const edge = first * std::exp(cell * detail::promise_step); // below the time, at a cell boundary
    detail::promise_fit const fit(track, now, worth);
    auto const survival = outlook.survival_after(age / factor);
    double const still = survival((age + edge) / factor), fits = fit(edge);
    double above = still, below = 0; // upper bound, lower bound
    if (fit.falls_from(edge)) above *= fits;
    auto const is_plain = [&] { return 7.5 * below * certain > 8.5 * (above + least); };
    double at = edge, alive = still, here = fits;
    for (int i = 0; i < 6 && cell >= pace; ++i, cell -= pace) {
        at /= wide;
        double const before = survival((age + at) / factor), there = fit(at);
        below += (before - alive) *
                 (std::min)(here, there); // between two times it is at least the smaller of both
        if (is_plain()) return true;
        alive = before;
        here = there;
    }
    if (!fit.falls_from(edge)) return false;
    above = 0;
    at = edge;
    alive = still;
    here = fits;
    for (int i = 0; i < 3; ++i) {
        at *= wide;
        double const after = survival((age + at) / factor);
        above += (alive - after) * here;
        alive = after;
        here = fit(at);
    }
    above += alive * here;
    return is_plain();
}

} // namespace straggle::predict
