// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How far can progress be trusted? Watches what the progress of tasks promised and when they really ended,
/// and gives progress the weight that it has earned, no more.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
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

/// What the reports of one running attempt have shown so far. Kept by the caller beside the attempt.
struct progress_track {
    static constexpr std::size_t parts = detail::progress_errors::count; ///< equal parts of the way

    double first_time = 0, first = 0;    ///< the first progress above 0, and when
    double time = 0, last = 0;           ///< when progress rose for the last time, and to what
    std::size_t reached = parts;         ///< the last part that was entered; `parts`: none yet
    std::array<float, parts> promised{}; ///< what was left, as it looked on entering each part; 0: not seen
    std::array<float, parts> since{};    ///< age of the track then

    /// Takes in a report. Progress that falls, repeats itself or is no number changes nothing.
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
        promised[part] = static_cast<float>(left());
        since[part] = static_cast<float>(time - first_time);
        reached = part;
    }
    /// What is left, at `time`, if the work goes on as it has since the first report; 0: not known.
    [[nodiscard]] double left() const noexcept {
        double const done = last - first;
        return done > 0 && last < 1 ? (1 - last) * (time - first_time) / done : 0.0;
    }
    /// What looked to be left on entering the last part; 0: none was entered.
    [[nodiscard]] double promise() const noexcept {
        return reached < parts ? static_cast<double>(promised[reached]) : 0.0;
    }
    /// How long ago that was. @pre a part was entered
    [[nodiscard]] double since_promise(double now) const noexcept {
        return now - first_time - static_cast<double>(since[reached]);
    }
};

/// What progress is worth on entering one part of the way: a correction and its doubt, of the logarithm of
/// what is left.
struct progress_worth {
    double bias = 0;     ///< promised more than was left where this is above 0
    double variance = 0; ///< of the logarithm
    double tasks = 0;    ///< that it was learned from, in the part that most have shown
};

/// Learns, by kind and part of the way, how what progress promised compares with what came.
///
/// A rate is counted from the first report above 0, not from the launch, so that a late start is no slow
/// task. Errors are logarithms of promised / real time left: a phase that always runs fast or slow is a bias
/// and is corrected, jumps and noise are a variance. Before tasks have ended progress weighs next to nothing.
///
/// A part that no task has gone through that ended is taken to be as the others are: reports of a usual task
/// skip the first part, and the slow tasks that are seen there do not end, as their copies win.
///
/// Source: ours.
/// @par Cost
/// `worth` O(log kinds), `observe_ended` and 16 steps; 420 bytes a kind; allocates nothing once it has grown
/// @par Guarantees
/// noexcept but for memory; deterministic
class progress_trust {
  public:
    /// @param most_kinds kinds kept; further ones share what all have shown
    explicit progress_trust(std::size_t most_kinds = 1024) : most_kinds_(most_kinds) {}

    /// A task ended well at `end`: what its reports promised is held against it.
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
    /// What progress is worth in a part of the way.
    [[nodiscard]] progress_worth worth(std::uint32_t kind, std::size_t part) const noexcept {
        // What is not shown yet counts as much as two tasks, or five where other kinds have shown it. Of a
        // part that no task has shown the others tell as much as doubt does when sixty tasks have shown them.
        constexpr double as_many = 2, kind_prior = 5, by_others = 60;
        auto const& everywhere = all_.together;
        double const seen = everywhere.n / (everywhere.n + by_others);
        progress_worth const out = after(all_, part, seen * everywhere.mean,
                                         seen * all_.of_another() + (1 - seen) * table::doubt, as_many);
        entry const* const e = find(kind);
        if (!e) return out;
        // What is the kind's in all parts, and what is the part's in all kinds.
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
    /// Reads what `write` has appended; the reader says if it is not that, and this is then of no use.
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
    /// Takes in what another one has learned.
    void merge(progress_trust const& other) {
        all_.merge(other.all_);
        for (entry const& e : other.kinds_) {
            if (table* const own = of(e.kind)) own->merge(other.tables_[e.place]);
        }
    }

  private:
    using table = detail::progress_errors;

    // What is believed of a part after its errors were seen, of what was believed as firmly as `as_many`
    // tasks show it.
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

// How well what progress promised fits to what a task has left.
class promise_fit {
  public:
    promise_fit(predict::progress_track const& track, double now,
                predict::progress_worth const& worth) noexcept
        : promised_(track.promise()),
          stale_(promised_ > 0 ? (std::max)(track.since_promise(now), 0.0) : 0.0),
          log_promised_(std::log(promised_) - worth.bias),
          precision_(1 / (worth.variance + 0.0025)) {}

    [[nodiscard]] double operator()(double left) const noexcept { return 1 / unlikely(left); }
    // Errors are not normal: far ones are less unlikely (four degrees of freedom).
    [[nodiscard]] double unlikely(double left) const noexcept {
        double const miss = std::log(left + stale_) - log_promised_;
        double const z = 1 + miss * miss * precision_ / 4;
        return z * z * std::sqrt(z);
    }
    // The better the less is left.
    [[nodiscard]] bool falls_from(double left) const noexcept {
        return std::log(left + stale_) >= log_promised_;
    }
    // Less than the first and more than the second fit a ten-thousandth as well as what was promised, or
    // less.
    [[nodiscard]] std::array<double, 2> likely() const noexcept {
        constexpr double z = 39.810717055349734; // 10^(4 / 2.5)
        double const wide = std::sqrt(4 * (z - 1) / precision_);
        return {std::exp(log_promised_ - wide) - stale_, std::exp(log_promised_ + wide) - stale_};
    }

  private:
    double promised_, stale_, log_promised_, precision_;
};

// The cells of time in which both are weighed: in logarithms so wide, from 1/100 to 78 times the usual time.
inline constexpr std::size_t promise_cells = 64;
inline constexpr double promise_step = 0.14;
// What of the weight may be left out.
inline constexpr double promise_loss = 0.001;

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::predict {

/// The time that a running task has left, from its siblings and its progress, each weighed by what it is
/// worth: the siblings' curve, given its age, times the likelihood of what progress promises.
/// @param outlook of its job
/// @param factor of the task, `sibling_times::factor`
/// @param age of the task now
/// @param track its reports
/// @param now on the clock of the reports
/// @param worth of progress on entering the last part: what it promised then is what finished tasks are
/// compared with
/// @par Cost
/// O(64), three logarithms or exponentials each; the fewer, the more progress is worth
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
    double sum = 0, all = 0, lost = 0; // `sum`: what ends almost at once
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
    // Where progress is worth much it leaves few cells; unless siblings are sure of something else.
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

/// Whether by `left_by_both` it is more likely than not, and sure, that no more than some time is left: if
/// true, at least nine of its points are below that. Looks at a dozen times where that one looks at 64, and
/// gives up where the answer is not plain.
/// @param time that is asked about; the others are those of `left_by_both`
/// @par Cost
/// O(12), three logarithms or exponentials each
[[nodiscard]] inline bool is_soon_by_both(time_outlook const& outlook, double factor, double age,
                                          progress_track const& track, double now,
                                          progress_worth const& worth, double time) noexcept {
    if (!(track.promise() > 0) || !(worth.tasks > 0)) return false;
    // Chances and edges of cells are computed in another order there: by so much they may differ.
    constexpr double rounding = 1e-6, least = 1e-9;
    // What is left out there may be of what is below.
    constexpr double certain = 1 - 2 * detail::promise_loss;
    constexpr double pace = 5, wide = 2.0137527074704766; // cells at a time: so much in logarithms, e^0.7
    double const first = outlook.usual() * factor * 0.01;
    double cell = std::floor(std::log(time / first) / detail::promise_step - rounding);
    if (!(cell >= 1) || !(time > rounding * age)) return false;
    cell = (std::min)(cell, static_cast<double>(detail::promise_cells));
    double const edge = first * std::exp(cell * detail::promise_step); // below the time, where cells meet
    detail::promise_fit const fit(track, now, worth);
    auto const survival = outlook.survival_after(age / factor);
    double const still = survival((age + edge) / factor), fits = fit(edge);
    double above = still, below = 0; // at most, at least
    if (fit.falls_from(edge)) above *= fits;
    auto const is_plain = [&] { return 7.5 * below * certain > 8.5 * (above + least); };
    double at = edge, alive = still, here = fits;
    for (int i = 0; i < 6 && cell >= pace; ++i, cell -= pace) {
        at /= wide;
        double const before = survival((age + at) / factor), there = fit(at);
        below += (before - alive) * (std::min)(here, there); // between two times it is no worse than at both
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
