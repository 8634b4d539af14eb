// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long does a task take, here or there, if all that is known is how long its siblings took? Needs no
/// progress and no profile: the durations of a job, of its kind and of the cluster are enough.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/detail/input_effect.hpp>
#include <straggle/predict/detail/time_shape.hpp>
#include <straggle/predict/time_outlook.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::predict {

/// What `sibling_times` may keep and how fast it learns.
struct sibling_times_options {
    std::size_t most_jobs = 4096;  ///< jobs remembered; the one not seen for longest goes first
    std::size_t most_kinds = 1024; ///< kinds remembered, in the same way
    double job_weight = 4;         ///< so many ended siblings count as much as what their kind says
    double kind_weight = 30;       ///< so many tasks of a kind count as much as what the cluster says
    double cluster_weight = 30;    ///< so many tasks of the cluster count as much as what is assumed
    double kind_memory = 2000;     ///< tasks of a kind after which half is forgotten
};

/// A task as far as its time is concerned.
struct sized_task {
    double age = 0;                                          ///< since its start, in the unit of all times
    double slowdown = 1;                                     ///< of its node
    double input = std::numeric_limits<double>::quiet_NaN(); ///< size, above 0; NaN: unknown
};

/// Learns how long tasks take and says how long one will, given that it still runs.
///
/// **Job, kind, cluster.** Durations are kept as counts on a logarithmic scale (bins of 3 %), by job; a job
/// that is over is added to its kind and to the cluster, relative to its median. What a job shows of its
/// times is joined with what its kind has shown as far as the job has few tasks: a beta process whose prior
/// weighs `job_weight` tasks. So the median comes from the job where it can, and what nobody in the job has
/// lived to show, the tail, comes from its kind, the cluster, and in the end from what is assumed: of twenty
/// tasks one is longer by a Pareto factor of mean logarithm 0.7.
///
/// **Running siblings count.** Tasks of a burst end in the order of their lengths; those that still run are
/// censored at their age and keep the median from being taken for that of the shortest. The job has an
/// estimate when half of what was started has been seen to end, or when its kind is known.
///
/// **Node and input.** A duration is divided by the slowdown of its node. Where inputs are told, the exponent
/// of time in input is learnt within jobs (0: time does not depend on it) and joined with what other kinds
/// show; as long as it is not known, a task is taken to need more for more input, so that large inputs are no
/// stragglers.
///
/// Source: N. L. Hjort, Nonparametric Bayes estimators based on beta processes in models for life history
/// data (1990); E. L. Kaplan and P. Meier (1958) is the case of weight 0. Ours: the three layers, the shift
/// of the prior to where the job's quantiles are.
/// @par Cost `observe` O(log jobs), `outlook` O(256 + running); 1.2 KiB a job, 1.1 KiB a kind; allocates
/// nothing once it has grown
/// @par Guarantees deterministic; times of another unit give the same answers in that unit
class sibling_times {
  public:
    explicit sibling_times(sibling_times_options options = {}) : options_(options) {}

    /// A task ended well.
    /// @param duration above 0
    /// @param slowdown of its node, above 0
    /// @return false, and nothing learnt, for what is no time
    bool observe(std::uint64_t job, std::uint32_t kind, double duration, double slowdown = 1,
                 double input = std::numeric_limits<double>::quiet_NaN()) {
        return take(job, kind, duration, slowdown, input, true);
    }
    /// A task was stopped after `duration`, for instance because its copy was first: it would have taken
    /// longer.
    bool observe_censored(std::uint64_t job, std::uint32_t kind, double duration, double slowdown = 1,
                          double input = std::numeric_limits<double>::quiet_NaN()) {
        return take(job, kind, duration, slowdown, input, false);
    }

    /// What is known of the times of a job.
    /// @param running its tasks that run, their slowdowns and inputs told
    /// @param out written where true is returned
    /// @return false if too little is known: nothing of its kind, and less than half of its tasks have ended
    bool outlook(std::uint64_t job, std::uint32_t kind, std::span<sized_task const> running,
                 time_outlook& out) {
        std::uint32_t const k = find(kinds_, kind);
        std::uint32_t const j = find(jobs_, job);
        kind_state const* const of_kind = k == none ? nullptr : &kind_states_[k];
        job_state* const of_job = j == none ? nullptr : &job_states_[j];
        if (of_job) of_job->seen = ++clock_;
        return estimate(of_job, of_kind, running, out);
    }

    /// By how much longer a task takes than the usual one of its job: its node and its input. The upper side
    /// of what is known, so that size is not taken for slowness.
    /// @return a factor for the times of `outlook`
    [[nodiscard]] double factor(std::uint64_t job, std::uint32_t kind,
                                sized_task const& task) const noexcept {
        std::uint32_t const j = find(jobs_, job), k = find(kinds_, kind);
        double log = std::log(task.slowdown);
        if (j != none && job_states_[j].has_input)
            log += input_of(k).longest(std::log(task.input) - job_states_[j].input);
        double const f = std::exp(log);
        return f > 0 ? f : 1.0; // input unknown, or numbers that are none
    }

    /// The job is over: it is added to its kind and forgotten.
    void finish(std::uint64_t job) {
        std::uint32_t const j = find(jobs_, job);
        if (j == none) return;
        fold(job_states_[j]);
        drop(jobs_, job);
        job_states_[j] = {};
        free_jobs_.push_back(j);
    }

    /// Jobs that are remembered.
    [[nodiscard]] std::size_t jobs() const noexcept { return jobs_.size(); }
    /// Kinds that are remembered.
    [[nodiscard]] std::size_t kinds() const noexcept { return kinds_.size(); }
    /// How often a job or a kind went because there was no room.
    [[nodiscard]] std::uint64_t over_capacity() const noexcept { return over_capacity_; }
    /// Facts that were no times.
    [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }
    /// Options it was made with.
    [[nodiscard]] sibling_times_options const& options() const noexcept { return options_; }

  private:
    static constexpr std::uint32_t none = (std::numeric_limits<std::uint32_t>::max)();
    static constexpr std::size_t early = 9; // durations kept as they are until the scale can be centred

    struct entry {
        std::uint64_t id;
        std::uint32_t place;
    };
    struct job_state {
        detail::log_counts ended{}, stopped{};
        std::array<double, early> first{};
        std::array<bool, early> first_ended{};
        double origin = 0; // logarithm at the centre of the bins
        double input = 0;  // logarithm of the first input: sizes are relative to it
        detail::input_sums inputs{};
        double longest = 0;
        std::uint64_t seen = 0;
        std::uint32_t kind = none;
        std::uint32_t known = 0; // durations, at most `early` if not yet centred
        bool has_input = false, centred = false;
    };
    struct kind_state {
        detail::log_counts shape{};
        detail::input_effect input{};
        double level = 0, level_weight = 0, level_spread = 0; // logarithms of the medians of its jobs
        double level_input = 0;                               // input that the level is for
        std::uint64_t seen = 0;
    };

    [[nodiscard]] static std::uint32_t find(std::vector<entry> const& in, std::uint64_t id) noexcept {
        auto const at = std::lower_bound(in.begin(), in.end(), id,
                                         [](entry const& e, std::uint64_t x) { return e.id < x; });
        return at != in.end() && at->id == id ? at->place : none;
    }
    static void drop(std::vector<entry>& in, std::uint64_t id) {
        auto const at = std::lower_bound(in.begin(), in.end(), id,
                                         [](entry const& e, std::uint64_t x) { return e.id < x; });
        if (at != in.end() && at->id == id) in.erase(at);
    }
    template <class State>
    std::uint32_t place_of(std::vector<entry>& in, std::vector<State>& states,
                           std::vector<std::uint32_t>& free, std::size_t most, std::uint64_t id) {
        if (std::uint32_t const there = find(in, id); there != none) return there;
        if (in.size() >= most && !in.empty()) {
            ++over_capacity_;
            entry const* oldest = &in.front();
            for (entry const& e : in)
                if (states[e.place].seen < states[oldest->place].seen) oldest = &e;
            entry const out = *oldest;
            if constexpr (std::is_same_v<State, job_state>) fold(states[out.place]);
            states[out.place] = {};
            free.push_back(out.place);
            drop(in, out.id);
        }
        if (free.empty()) {
            free.push_back(static_cast<std::uint32_t>(states.size()));
            states.emplace_back();
        }
        std::uint32_t const place = free.back();
        free.pop_back();
        auto const at = std::lower_bound(in.begin(), in.end(), id,
                                         [](entry const& e, std::uint64_t x) { return e.id < x; });
        in.insert(at, {id, place});
        return place;
    }

    [[nodiscard]] detail::input_effect input_of(std::uint32_t k) const noexcept {
        return k == none ? all_input_.over({}) : kind_states_[k].input.over(all_input_);
    }

    bool take(std::uint64_t job, std::uint32_t kind, double duration, double slowdown, double input,
              bool ended) {
        if (!(duration > 0) || !(duration <= (std::numeric_limits<double>::max)()) || !(slowdown > 0)) {
            ++rejected_;
            return false;
        }
        std::uint32_t k = none;
        if (kind != none) {
            k = place_of(kinds_, kind_states_, free_kinds_, options_.most_kinds, kind);
            kind_states_[k].seen = ++clock_;
        }
        job_state& j = job_states_[place_of(jobs_, job_states_, free_jobs_, options_.most_jobs, job)];
        j.seen = ++clock_;
        j.kind = kind;
        double log = std::log(duration) - std::log(slowdown);
        if (input > 0 && input <= (std::numeric_limits<double>::max)()) {
            double const x = std::log(input);
            if (!j.has_input) j.input = x;
            j.has_input = true;
            if (ended) {
                detail::input_sums const more = j.inputs.add(x - j.input, log);
                all_input_.add(more);
                if (k != none) kind_states_[k].input.add(more);
            }
            log -= input_of(k).mean() * (x - j.input);
        }
        j.longest = (std::max)(j.longest, duration);
        if (!j.centred && j.known < early) {
            j.first[j.known] = log;
            j.first_ended[j.known++] = ended;
            return true;
        }
        centre(j);
        (ended ? j.ended : j.stopped).add(detail::log_bins::bin(log - j.origin), 1);
        j.ended.bound(20000);
        j.stopped.bound(20000);
        return true;
    }

    static void centre(job_state& j) noexcept {
        if (j.centred) return;
        auto sorted = j.first;
        auto const end = sorted.begin() + static_cast<std::ptrdiff_t>(j.known);
        std::sort(sorted.begin(), end);
        j.origin = sorted[j.known / 2];
        for (std::size_t i = 0; i < j.known; ++i)
            (j.first_ended[i] ? j.ended : j.stopped).add(detail::log_bins::bin(j.first[i] - j.origin), 1);
        j.centred = true;
    }

    // What the kind and the cluster say of the shape, relative to the median.
    void shape_of(kind_state const* kind, detail::survival_curve& curve) const noexcept {
        for (std::size_t b = 0; b <= detail::log_bins::count; ++b) curve[b] = assumed_[b];
        detail::mix_into(curve, all_, options_.cluster_weight);
        if (kind) detail::mix_into(curve, kind->shape, options_.kind_weight);
    }

    bool estimate(job_state* job, kind_state const* kind, std::span<sized_task const> running,
                  time_outlook& out) {
        constexpr std::size_t bins = detail::log_bins::count;
        if (!assumed_made_) {
            for (std::size_t b = 0; b <= bins; ++b)
                assumed_[b] = detail::assumed_survival(detail::log_bins::log_at(static_cast<double>(b)));
            assumed_made_ = true;
        }
        bool const level_known = kind && kind->level_weight > 0;
        job_state empty;
        if (!job) job = &empty;
        job_state& j = *job;
        if (j.known == 0 && !level_known) return false;
        // Where the job has not been centred yet, a centre for this once.
        double origin = j.origin;
        detail::log_counts ended = j.ended, stopped = j.stopped;
        if (!j.centred) {
            job_state once = j;
            if (j.known > 0)
                centre(once);
            else
                once.origin = kind->level;
            origin = once.origin;
            ended = once.ended;
            stopped = once.stopped;
        }
        detail::input_effect const by_input = input_of(j.kind == none ? none : find(kinds_, j.kind));
        for (sized_task const& t : running) {
            double log = std::log(t.age / t.slowdown);
            if (!(log > -700)) continue; // has not begun, or numbers that are none
            if (j.has_input && t.input > 0) log -= by_input.longest(std::log(t.input) - j.input);
            stopped.add(detail::log_bins::bin(log - origin), 1);
        }

        // Kaplan and Meier: how far down has the curve of this job been seen?
        double at_risk = ended.total + stopped.total, survives = 1, events = 0;
        double best = 1, best_place = 0; // the point nearest to the median
        for (std::size_t b = 0; b < bins && at_risk > 0.5; ++b) {
            double const d = static_cast<double>(ended.bins[b]), c = static_cast<double>(stopped.bins[b]);
            if (d > 0) {
                double const before = survives;
                survives *= 1 - (std::min)(d / at_risk, 1.0);
                events += d;
                if (best > 0.5) { // the median lies in this bin, or beyond
                    double const part = survives < 0.5 ? (before - 0.5) / (before - survives) : 1.0;
                    best = (std::max)(survives, 0.5);
                    best_place = static_cast<double>(b) + part;
                }
            }
            at_risk -= d + c;
        }
        bool const median_seen = best <= 0.5 && events >= 3;
        if (!median_seen && !level_known) return false;

        detail::survival_curve shape;
        shape_of(kind, shape);
        double const spread = (std::max)((detail::place_of(shape, 0.5) - detail::place_of(shape, 0.8413)) /
                                             detail::log_bins::per_unit,
                                         0.02);
        // The median, relative to the origin: by the job, and by its kind.
        double middle = 0, doubt = 0;
        {
            double precision = 0, sum = 0;
            if (events > 0) {
                double const own = detail::log_bins::log_at(best_place) -
                                   detail::log_bins::log_at(detail::place_of(shape, best));
                double const p = (std::max)(best, 0.5), n = events;
                // Variance of a sample quantile, about what it is for the median or further out.
                double const v = spread * spread * 1.6 / n / (p < 0.95 ? 1 - (p - 0.5) : 0.5);
                precision += 1 / v;
                sum += own / v;
            }
            if (level_known) {
                double level = kind->level;
                if (j.has_input && kind->level_input > no_input)
                    level += by_input.mean() * (j.input - kind->level_input);
                double const between = kind->level_spread + 0.25 / (kind->level_weight * kind->level_weight);
                precision += 1 / between;
                sum += (level - origin) / between;
            }
            middle = sum / precision;
            doubt = 1 / precision;
        }
        double const wider = std::sqrt(1 + doubt / (spread * spread));

        // The beta process: hazards of the kind, corrected by what is seen of the job at each age.
        double prior = 1, hazard = 0;
        at_risk = ended.total + stopped.total;
        for (std::size_t b = 0; b < bins; ++b) {
            double const edge = detail::log_bins::log_at(static_cast<double>(b + 1));
            double const e = (edge - middle) / wider;
            double const next = (std::min)(
                prior, detail::curve_at(shape, detail::log_bins::centre + e * detail::log_bins::per_unit));
            double const d = static_cast<double>(ended.bins[b]), c = static_cast<double>(stopped.bins[b]);
            double const weight = options_.job_weight * prior + at_risk - c / 2;
            double h = weight > 1e-12 ? (options_.job_weight * (prior - next) + d) / weight : 0.02;
            h = h > 0 ? (std::min)(h, 0.999) : 0.0;
            out.hazard_[b] = hazard;
            hazard -= std::log1p(-h);
            prior = next;
            at_risk -= d + c;
            if (at_risk < 0) at_risk = 0;
        }
        out.hazard_[bins] = hazard;
        out.origin_ = origin;
        out.siblings_ = events;
        double const median = quantile_place(out, 0.69314718055994531);
        double const below = quantile_place(out, 0.17275377902344989); // one deviation of a normal
        out.usual_ = std::exp(origin + detail::log_bins::log_at(median));
        out.spread_ = (median - below) / detail::log_bins::per_unit;
        return true;
    }

    [[nodiscard]] static double quantile_place(time_outlook const& o, double hazard) noexcept {
        std::size_t low = 0, high = detail::log_bins::count;
        while (high - low > 1) {
            std::size_t const middle = low + (high - low) / 2;
            (o.hazard_[middle] <= hazard ? low : high) = middle;
        }
        double const rise = o.hazard_[low + 1] - o.hazard_[low];
        double const part = rise > 0 ? (hazard - o.hazard_[low]) / rise : 0.5;
        return static_cast<double>(low) + (std::min)((std::max)(part, 0.0), 1.0);
    }

    // Adds what a job has shown to its kind and to the cluster.
    void fold(job_state& j) {
        centre(j);
        double const n = j.ended.total + j.stopped.total;
        if (!(j.ended.total >= 3)) return;
        // Stopped tasks count where those that lived on ended.
        std::array<double, detail::log_bins::count> mass{};
        double at_risk = n, survives = 1;
        for (std::size_t b = 0; b < detail::log_bins::count && at_risk > 0.5; ++b) {
            double const d = static_cast<double>(j.ended.bins[b]);
            double const dies = survives * (std::min)(d / at_risk, 1.0);
            mass[b] = dies;
            survives -= dies;
            at_risk -= d + static_cast<double>(j.stopped.bins[b]);
        }
        double const seen = 1 - survives;
        if (!(seen > 0.5)) return;
        double sum = 0, median = detail::log_bins::centre;
        for (std::size_t b = 0; b < detail::log_bins::count; ++b) {
            if (sum + mass[b] >= 0.5) {
                median = static_cast<double>(b) + (mass[b] > 0 ? (0.5 - sum) / mass[b] : 0.5);
                break;
            }
            sum += mass[b];
        }
        std::uint32_t const k = find(kinds_, j.kind);
        kind_state* const kind = j.kind == none || k == none ? nullptr : &kind_states_[k];
        long const shift =
            static_cast<long>(detail::log_bins::centre) - static_cast<long>(std::floor(median));
        for (std::size_t b = 0; b < detail::log_bins::count; ++b) {
            if (!(mass[b] > 0)) continue;
            long const to =
                std::clamp(static_cast<long>(b) + shift, 0L, static_cast<long>(detail::log_bins::count) - 1);
            double const weight = mass[b] * n;
            all_.add(static_cast<std::size_t>(to), weight);
            if (kind) kind->shape.add(static_cast<std::size_t>(to), weight);
        }
        all_.bound(10 * options_.kind_memory);
        if (!kind) return;
        kind->shape.bound(options_.kind_memory);
        double const level = j.origin + detail::log_bins::log_at(median);
        double at = level;
        if (j.has_input) {
            if (kind->level_weight > 0 && kind->level_input > no_input)
                at -= input_of(k).mean() * (j.input - kind->level_input);
            else
                kind->level_input = j.input;
        } else if (!(kind->level_weight > 0)) {
            kind->level_input = no_input;
        }
        constexpr double remembered = 20; // jobs: then older ones fade
        kind->level_weight = (std::min)(kind->level_weight + 1, remembered);
        double const share = 1 / kind->level_weight, step = at - kind->level;
        if (kind->level_weight > 1)
            kind->level_spread = (1 - share) * (kind->level_spread + share * step * step);
        kind->level += share * step;
    }

    static constexpr double no_input = -1e300;

    sibling_times_options options_;
    std::vector<entry> jobs_{}, kinds_{}; // by id
    std::vector<job_state> job_states_{};
    std::vector<kind_state> kind_states_{};
    std::vector<std::uint32_t> free_jobs_{}, free_kinds_{};
    detail::log_counts all_{};
    detail::input_effect all_input_{};
    detail::survival_curve assumed_{};
    std::uint64_t clock_ = 0, over_capacity_ = 0, rejected_ = 0;
    bool assumed_made_ = false;
};

} // namespace straggle::predict
