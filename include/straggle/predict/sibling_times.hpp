// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long does a task take, here or there, given only the times of its siblings? Needs neither progress nor
/// profile: the durations of a job, of its kind and of the cluster suffice.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/predict/detail/id_places.hpp>
#include <straggle/predict/detail/input_effect.hpp>
#include <straggle/predict/detail/job_times.hpp>
#include <straggle/predict/detail/time_shape.hpp>
#include <straggle/predict/sibling_times_options.hpp>
#include <straggle/predict/time_outlook.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace straggle::inline STRAGGLE_ABI::predict {

/// The properties of a task that affect its time.
struct sized_task {
    double age = 0;                                          ///< since its start, in the unit of all times
    double slowdown = 1;                                     ///< of its node
    double input = std::numeric_limits<double>::quiet_NaN(); ///< size, above 0; NaN: unknown
    /// share of the other slots of its node that were busy while it ran, in [0, 1]; NaN: unknown
    double crowd = std::numeric_limits<double>::quiet_NaN();
};

/// What is known of a task's time apart from its node: `sibling_times::parts`.
struct time_parts {
    double usual = 0;   ///< time of a task of its job with the job's mean input, on a usual node
    log_factor input{}; ///< by its input, against that mean
    log_factor crowd{}; ///< by the crowd on its node, against the mean crowd of its siblings
    log_factor kind{};  ///< its job against jobs of its kind
};

/// Learns how long tasks take, and predicts the time of a task given that it still runs.
///
/// **Job, kind, cluster.** Durations are kept as counts on a logarithmic scale (bins of 1.6 %), by job; a
/// finished job is added to its kind and to the cluster, relative to its median. The fewer tasks a job has,
/// the more the times of its kind contribute: a beta process with a prior weight of `job_weight` tasks. So
/// the median comes from the job if possible, and the tail, which no task of the job has reached yet, comes
/// from its kind, the cluster, and finally the prior: one of twenty tasks is longer by a Pareto factor of
/// mean logarithm 0.7.
///
/// **Running siblings count.** Tasks of a burst end in the order of their lengths; those that still run are
/// censored at their age, so that the median is not mistaken for that of the shortest. The job has an
/// estimate once half of the started tasks have been seen to end, or if its kind is known.
///
/// **Node and input.** A duration is divided by the slowdown of its node. If inputs are passed, the exponent
/// of time in input is learned within jobs (0: time does not depend on it) and combined with that of other
/// kinds; until it is known, a task is assumed to need more time for more input, so that large inputs do not
/// count as stragglers.
///
/// Source: N. L. Hjort, Nonparametric Bayes estimators based on beta processes in models for life history
/// data (1990); E. L. Kaplan and P. Meier (1958) is the case of weight 0. Ours: the three layers, and
/// shifting the prior to the job's quantiles.
/// @par Cost
/// `observe` O(log jobs), `outlook` O(384 + running); 3.3 KiB per job, 1.7 KiB per kind; allocates nothing
/// once it has grown
/// @par Guarantees
/// deterministic; independent of the unit of time
class sibling_times {
  public:
    /// @param options weights and bounds
    explicit sibling_times(sibling_times_options const& options = {}) : options_(options) {
        for (std::size_t b = 0; b <= detail::log_bins::count; ++b)
            assumed_[b] = detail::assumed_survival(detail::log_bins::log_at(static_cast<double>(b)));
    }

    /// A task succeeded.
    /// @param job and `kind`: of the task; the largest number stands for an unknown kind
    /// @param duration above 0
    /// @param slowdown of its node, above 0
    /// @param input its size; NaN: unknown
    /// @param crowd share of the other slots of its node that were busy; NaN: unknown
    /// @return false, with nothing learned, if a time is invalid
    bool observe(std::uint64_t job, std::uint32_t kind, double duration, double slowdown = 1,
                 double input = std::numeric_limits<double>::quiet_NaN(),
                 double crowd = std::numeric_limits<double>::quiet_NaN()) {
        return take(job, kind, {duration, slowdown, input, crowd}, true);
    }
    /// A task was stopped after `duration`, for example because its copy won: it would have taken longer. The
    /// parameters are those of `observe`.
    bool observe_censored(std::uint64_t job, std::uint32_t kind, double duration, double slowdown = 1,
                          double input = std::numeric_limits<double>::quiet_NaN()) {
        return take(job, kind, {duration, slowdown, input}, false);
    }

    /// Computes the distribution of a job's times.
    /// @param job and `kind`: as in `observe`
    /// @param running its running tasks, with their slowdowns and inputs
    /// @param out written if the result is true
    /// @return false if too little is known: its kind is unknown, and less than half of its tasks have ended
    bool outlook(std::uint64_t job, std::uint32_t kind, std::span<sized_task const> running,
                 time_outlook& out) {
        detail::kind_times const* const of_kind = kinds_.find(kind);
        detail::job_times* const of_job = jobs_.find(job);
        bool const has_level = of_kind && of_kind->weight > 0;
        if (of_job) of_job->seen = ++clock_;
        if (!has_level && (!of_job || of_job->known == 0)) return false;
        now_ = of_job ? *of_job : detail::job_times{};
        now_.centre();
        if (now_.known == 0) now_.origin = of_kind->level;
        now_.input = usual_input(of_job, of_kind);
        detail::input_effect const by_input = input_of(kind);
        double inputs = now_.inputs.n, input = now_.inputs.n * (now_.inputs.x + now_.input);
        for (sized_task const& t : running) {
            double log = std::log(t.age / t.slowdown);
            if (!(log > least_log)) continue; // not started yet, or invalid numbers
            if (now_.input > detail::no_input && t.input > 0) {
                double const x = std::log(t.input);
                log -= by_input.longest(x - now_.input);
                inputs += 1;
                input += x;
            }
            now_.stopped.add(detail::log_bins::bin(log - now_.origin), 1);
        }
        detail::seen_quantile const seen(now_.ended, now_.stopped);
        if (!seen.is_median() && !has_level) return false;
        shape_as_of(kind, of_kind);
        out.input_ = inputs > 0 ? input / inputs : now_.input;
        write_curve(seen, has_level ? of_kind : nullptr, by_input, out);
        return true;
    }

    /// How much longer a task takes than the usual one of its job, due to its node and its input. An upper
    /// bound where uncertain, so that size is not mistaken for slowdown.
    /// @param job and `kind`: as in `observe`
    /// @param task its age is ignored
    /// @return a factor for the times of `outlook`
    [[nodiscard]] double factor(std::uint64_t job, std::uint32_t kind,
                                sized_task const& task) const noexcept {
        bool const is_sized = task.input > 0;
        if (!is_sized && task.slowdown == 1) return 1; // the usual case
        double log = std::log(task.slowdown);
        if (is_sized)
            if (double const usual = usual_input(jobs_.find(job), kinds_.find(kind));
                usual > detail::no_input)
                log += input_of(kind).longest(std::log(task.input) - usual);
        double const f = std::exp(log);
        return f > 0 ? f : 1.0; // invalid numbers
    }

    /// The parts of a task's time, for `detect::cause_of`. Unlike `factor`, best estimates.
    ///
    /// How time grows with the crowd is learned within jobs, over all kinds.
    /// @param job and `kind`: as in `observe`
    /// @param task its age and slowdown are ignored
    /// @param of the job's, by `outlook`
    [[nodiscard]] time_parts parts(std::uint64_t job, std::uint32_t kind, sized_task const& task,
                                   time_outlook const& of) const noexcept {
        time_parts out{.usual = of.usual()};
        if (of.usual_of_kind() > 0) out.kind.mean = std::log(of.usual() / of.usual_of_kind());
        detail::job_times const* const j = jobs_.find(job);
        double const usual = usual_input(j, kinds_.find(kind));
        if (usual > detail::no_input && task.input > 0) {
            detail::input_effect const by = input_of(kind);
            out.usual *= std::exp(by.mean() * (of.input_ - usual));
            out.input = part_of(by, std::log(task.input) - of.input_);
        }
        if (task.crowd >= 0 && j && j->crowd.n > 0)
            out.crowd = part_of(all_crowd_.from_none(), task.crowd - j->crowd.x);
        return out;
    }

    /// How much longer a task takes if all other slots of its node are busy: logarithm of a factor, shrunk by
    /// its uncertainty, 0 if it may be chance.
    [[nodiscard]] double crowding() const noexcept {
        detail::input_effect const e = all_crowd_.from_none();
        double const square = e.mean() * e.mean(), error = e.deviation() * e.deviation();
        return square > error ? e.mean() * (1 - error / square) : 0.0;
    }

    /// The job is over: adds it to its kind and drops it.
    void finish(std::uint64_t job) {
        detail::job_times* const j = jobs_.find(job);
        if (!j) return;
        fold(*j);
        jobs_.erase(job);
    }

    /// Drops a job, with all its data.
    void forget(std::uint64_t job) { jobs_.erase(job); }

    /// Appends all that was learned, unfinished jobs included.
    void write(byte_writer& out) const {
        base::write_fields(out, all_);
        base::write_fields(out, all_input_);
        base::write_fields(out, all_crowd_);
        write_places(out, kinds_);
        write_places(out, jobs_);
    }
    /// Reads what `write` appended into a new object; if that is invalid, the reader fails and the object is
    /// unusable. What exceeds the bounds of the options is dropped, least recently seen first.
    void read(byte_reader& in) {
        ++learned_;
        base::read_fields(in, all_);
        base::read_fields(in, all_input_);
        base::read_fields(in, all_crowd_);
        read_places(in, kinds_, options_.most_kinds);
        read_places(in, jobs_, options_.most_jobs);
    }
    /// Merges what another object has learned about kinds and the cluster.
    void merge(sibling_times const& other) {
        ++learned_;
        for (std::size_t b = 0; b < detail::log_bins::count; ++b)
            if (other.all_.bins[b] > 0) all_.add(b, static_cast<double>(other.all_.bins[b]));
        all_.bound(cluster_memory * options_.kind_memory);
        all_input_.add(other.all_input_);
        all_crowd_.add(other.all_crowd_);
        other.kinds_.for_each([&](std::uint64_t id, detail::kind_times const& k) {
            detail::kind_times& own = kind_of(id);
            own.seen = ++clock_;
            own.merge(k, options_.kind_memory, input_of(static_cast<std::uint32_t>(id)).mean());
        });
    }

    /// Number of remembered jobs.
    [[nodiscard]] std::size_t jobs() const noexcept { return jobs_.size(); }
    /// Number of remembered kinds.
    [[nodiscard]] std::size_t kinds() const noexcept { return kinds_.size(); }
    /// How often a job or a kind was dropped for lack of room.
    [[nodiscard]] std::uint64_t over_capacity() const noexcept { return over_capacity_; }
    /// Observations with invalid times.
    [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }
    /// Options it was made with.
    [[nodiscard]] sibling_times_options const& options() const noexcept { return options_; }

  private:
    static constexpr std::uint32_t no_kind = (std::numeric_limits<std::uint32_t>::max)();
    static constexpr double cluster_memory = 10; // relative to that of a kind
    static constexpr double least_log = -700;

    // In order of last use, which is what `seen` is for.
    template <class State>
    static void write_places(byte_writer& out, detail::id_places<State> const& places) {
        out.count(places.size());
        places.for_each([&](std::uint64_t id, State const& s) {
            out.u64(id);
            base::write_fields(out, s);
        });
    }
    template <class State>
    void read_places(byte_reader& in, detail::id_places<State>& places, std::size_t most) {
        for (std::size_t n = in.count(8); n > 0 && in.ok(); --n) {
            std::uint64_t const id = in.u64();
            State next;
            base::read_fields(in, next);
            if (!in.expect(places.find(id) == nullptr)) return;
            next.seen = ++clock_;
            if (in.ok()) places.get(id, most, [](State const&) {}) = next;
        }
    }

    detail::kind_times& kind_of(std::uint64_t id) {
        return kinds_.get(id, options_.most_kinds, [this](detail::kind_times const&) {
            ++over_capacity_;
            ++learned_; // and forgotten
        });
    }
    [[nodiscard]] static log_factor part_of(detail::input_effect const& by, double more) noexcept {
        return {by.mean() * more, by.deviation() * std::fabs(more)};
    }
    // The logarithm of the input to which the times of a job refer: that of its first task, or, until one has
    // ended, that of its kind.
    [[nodiscard]] static double usual_input(detail::job_times const* job,
                                            detail::kind_times const* kind) noexcept {
        if (job != nullptr && job->input > detail::no_input) return job->input;
        return job != nullptr && job->known > 0 ? detail::no_input
               : kind != nullptr                ? kind->level_input
                                                : detail::no_input;
    }
    [[nodiscard]] detail::input_effect input_of(std::uint32_t kind) const noexcept {
        detail::kind_times const* const k = kinds_.find(kind);
        return (k ? k->input : detail::input_effect{}).over(all_input_);
    }

    bool take(std::uint64_t job, std::uint32_t kind, sized_task const& task, bool ended) {
        constexpr double most = (std::numeric_limits<double>::max)();
        if (!(task.age > 0) || !(task.age <= most) || !(task.slowdown > 0) || !(task.slowdown <= most)) {
            ++rejected_;
            return false;
        }
        detail::kind_times* const k = kind == no_kind ? nullptr : &kind_of(kind);
        if (k) k->seen = ++clock_;
        detail::job_times& j = jobs_.get(job, options_.most_jobs, [this](detail::job_times& out) {
            ++over_capacity_;
            fold(out);
        });
        j.seen = ++clock_;
        j.kind = kind;
        double log = std::log(task.age) - std::log(task.slowdown);
        if (task.input > 0 && task.input <= most) {
            double const x = std::log(task.input);
            if (!(j.input > detail::no_input)) j.input = x;
            if (ended) {
                detail::input_sums const more = j.inputs.add(x - j.input, log);
                all_input_.add(more);
                if (k) k->input.add(more);
            }
            log -= input_of(kind).mean() * (x - j.input);
        }
        if (ended && task.crowd >= 0 && task.crowd <= 1) all_crowd_.add(j.crowd.add(task.crowd, log));
        j.add(log, ended);
        return true;
    }

    // Computes the shape of a kind, cached for the jobs of a round.
    void shape_as_of(std::uint32_t kind, detail::kind_times const* of_kind) {
        if (cluster_learned_ != learned_) {
            cluster_ = assumed_;
            detail::mix_into(cluster_, all_, options_.cluster_weight);
        } else if (shape_kind_ == kind) {
            return;
        }
        cluster_learned_ = learned_;
        shape_kind_ = kind;
        shape_ = cluster_;
        if (of_kind) detail::mix_into(shape_, of_kind->shape, options_.kind_weight);
    }
    // For the job in `now_`, with the shape of its kind in `shape_`.
    void write_curve(detail::seen_quantile const& seen, detail::kind_times const* level,
                     detail::input_effect const& by_input, time_outlook& out) const noexcept {
        using bins = detail::log_bins;
        double const below =
            detail::place_of(shape_, 0.8413); // one standard deviation below, for a normal distribution
        double const spread = (std::max)((detail::place_of(shape_, 0.5) - below) / bins::per_unit, 0.02);
        out.of_kind_ = 0;
        // Position of the median, relative to the origin: combines the job and its kind.
        double precision = 0, middle = 0;
        if (seen.events > 0) {
            double const own =
                bins::log_at(seen.place) - bins::log_at(detail::place_of(shape_, seen.survival));
            // Approximate variance of a sample quantile, at the median or further out.
            double const tail_end = seen.survival < 0.95 ? 1.5 - seen.survival : 0.5;
            double const v = spread * spread * 1.6 / seen.events / tail_end;
            precision = 1 / v;
            middle = own / v;
        }
        if (level) {
            double const log = level->level_at(now_.input, by_input.mean());
            double const between = level->spread + 0.25 / (level->weight * level->weight);
            out.of_kind_ = std::exp(log);
            precision += 1 / between;
            middle += (log - now_.origin) / between;
        }
        middle /= precision;
        double const wider = std::sqrt(1 + 1 / (precision * spread * spread));

        // The beta process: hazards of the kind, corrected by the job's data at each age.
        double prior = 1, hazard = 0, at_risk = now_.ended.total + now_.stopped.total;
        double const narrower = 1 / wider, shift = bins::centre + middle * bins::per_unit;
        for (std::size_t b = 0; b < bins::count; ++b) {
            double const place = bins::centre + (static_cast<double>(b + 1) - shift) * narrower;
            double const next = (std::min)(prior, detail::curve_at(shape_, place));
            double const d = static_cast<double>(now_.ended.bins[b]);
            double const c = static_cast<double>(now_.stopped.bins[b]);
            double const weight = options_.job_weight * prior + at_risk - c / 2;
            constexpr double unseen = 0.02; // no task was ever that late
            double const h = weight > 1e-12 ? (options_.job_weight * (prior - next) + d) / weight : unseen;
            out.hazard_[b] = hazard;
            if (h > 0) hazard += detail::hazard_of((std::min)(h, 0.999));
            prior = next;
            at_risk = (std::max)(at_risk - (d + c), 0.0);
        }
        out.hazard_[bins::count] = hazard;
        out.origin_ = now_.origin;
        out.siblings_ = seen.events;
        double const median = out.place_of(0.69314718055994531);
        out.usual_ = std::exp(now_.origin + bins::log_at(median));
        out.spread_ = (median - out.place_of(0.17275377902344989)) / bins::per_unit; // one standard deviation
    }

    // Adds a job's data to its kind and to the cluster.
    void fold(detail::job_times& j) {
        if (!(j.tasks() >= detail::ended_mass::fewest)) return; // most jobs of few tasks
        j.centre();
        detail::ended_mass mass;
        if (!mass.read(j)) return;
        ++learned_;
        mass.add_to(all_, cluster_memory * options_.kind_memory);
        detail::kind_times* const kind = j.kind == no_kind ? nullptr : kinds_.find(j.kind);
        if (!kind) return;
        mass.add_to(kind->shape, options_.kind_memory);
        kind->add_level(j.origin + detail::log_bins::log_at(mass.median), j.input, input_of(j.kind).mean());
    }

    sibling_times_options options_;
    detail::id_places<detail::job_times> jobs_{};
    detail::id_places<detail::kind_times> kinds_{};
    detail::log_counts all_{};
    detail::input_effect all_input_{}, all_crowd_{};
    detail::survival_curve assumed_{}, cluster_{}, shape_{}; // of any task, of a kind
    std::uint64_t learned_ = 1,
                  cluster_learned_ = 0;  // change counters of the shapes, and their values when computed
    std::uint32_t shape_kind_ = no_kind; // the kind in `shape_`
    detail::job_times now_{};            // scratch for an outlook
    std::uint64_t clock_ = 0, over_capacity_ = 0, rejected_ = 0;
};

} // namespace straggle::predict
