// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// DSB algorithm 1 as a long-running component: takes task attempts one at a time as they end, for months,
/// and ranks the nodes on request, over everything or over a sliding window of time.
///
/// Windows. Time is divided into steps of `slide`, counted from the epoch of the clock, and an attempt
/// belongs to the step in which it ended. The window at a time `now` is the last `window / slide` completed
/// steps: without `slide`, windows do not overlap (as in the paper). The current step is not in any window
/// yet, but `rank()` without a time includes it.
///
/// Attempts that arrive late or out of order are added to the step they ended in, as long as the monitor
/// holds it: the steps of the window and the current one. Earlier ones are dropped and counted as too old.
/// The window moves by the ends of the attempts themselves, or by the caller's clock if `observe(attempt,
/// now)` is used; then an attempt that claims to end in a future step is dropped and counted as early, so a
/// node with a wrong clock cannot push the others out of the window.
///
/// The attempts of the window are scored against a baseline: everything known about their job. A slow task
/// ends when its siblings have long left the window, and the few that remain with it would not reveal that it
/// is slow. Therefore each job is remembered as one sum after its steps have expired, until `finish`, or
/// until it has not been seen for three times its longest attempt.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/storable.hpp>
#include <straggle/monitor/detail/bucket_clock.hpp>
#include <straggle/monitor/detail/intake.hpp>
#include <straggle/monitor/detail/look_ahead.hpp>
#include <straggle/monitor/detail/monitor_bytes.hpp>
#include <straggle/monitor/detail/monitor_fields.hpp>
#include <straggle/monitor/detail/window_ranker.hpp>
#include <straggle/monitor/detail/window_store.hpp>
#include <straggle/monitor/monitor_counts.hpp>
#include <straggle/monitor/monitor_options.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/record/attempt.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI {

/// Monitors how nodes run tasks.
///
/// Source: DSB algorithm 1. Ours: sliding windows, a baseline longer than the window, late attempts, jobs
/// that end, merging and storing. The result is that of `rank_nodes` over the same attempts, and with windows
/// that of `rank_window` (every success counts: report the loser of a race as killed, or with
/// `observe_censored`). As long as no limit was reached and no job was forgotten, which `counts` shows, it
/// has the same bits for any order of arrival of integer durations, and is within 1e-12 of a score for
/// floating-point ones, whatever their common offset. Nodes are in order of first appearance since they were
/// last without evidence.
///
/// @tparam Record the user's record type
/// @tparam Fields an `attempt_fields`; by default those of `task_traits`
/// @tparam Ranking a `rank_options` with a `moment_normalizer`
/// @tparam Time type of attempts' ends; `std::int64_t` if the fields name no end
/// @par Cost
/// `observe` O(1); allocates nothing once the job has a pair with the node in the current step, nor for new
/// jobs that are no more and no larger than earlier ones. `rank` O(jobs + pairs + nodes log nodes), allocates
/// nothing in the steady state. A pair is one job on one node in one time step and takes 32 bytes, at most 96
/// with the slack of tables; a job about 300 with its first four pairs; a node about 80 per step in which
/// jobs on it were finished.
/// @par Guarantees
/// deterministic; if an allocation or the user's own code throws, everything is unchanged except for time:
/// the window may have moved, and repeating the call gives the result it would have given. A moved-from
/// monitor is empty. One thread at a time.
/// @snippet monitor.cpp watch
template <class Record, class Fields = typename detail::traits_fields<Record>::type,
          class Ranking = rank_options<>, class Time = typename detail::end_time<Fields, Record>::type>
    requires record::attempt_fields_for<Fields, Record> && detail::is_rank_options<Ranking> &&
             rank::moment_normalizer<decltype(Ranking::normalizer)> && base::clock_time<Time>
class monitor : detail::intake<Record, Fields, Ranking, Time> {
    using intake = detail::intake<Record, Fields, Ranking, Time>;
    using evidence_type = typename intake::evidence_type;
    using ids = detail::looked_up;
    using intake::clock_;
    using intake::counts_;
    using intake::evidence_;
    using intake::fields_;
    using intake::options_;

  public:
    /// Type of job names.
    using job_id = typename intake::job_id;
    /// Type of node names.
    using node_id = typename intake::node_id;
    /// What `rank` returns.
    using ranking_type = node_ranking<node_id, job_id>;
    /// Points in time.
    using time_type = Time;
    /// Lengths of time.
    using span_type = typename intake::span_type;
    /// Options of a monitor.
    using options = typename intake::options;

    /// A monitor of records whose `task_traits` name the fields.
    explicit monitor(options how = {})
        requires record::has_task_traits<Record>
        : monitor(task_traits<Record>::fields, std::move(how)) {}

    /// @param record_fields an `attempt_fields` that names the members of a record
    /// @param how window and rules
    explicit monitor(Fields record_fields, options how = {})
        : intake(std::move(record_fields), std::move(how)), ranker_(options_.ranking.ranker) {}
    /// Copies everything except spare memory.
    monitor(monitor const&) = default;
    /// Leaves the source empty, and usable as far as its fields and rules are.
    monitor(monitor&&) = default;
    /// Copies the other monitor, or changes nothing if an allocation fails.
    monitor& operator=(monitor const& other)
        requires std::is_move_assignable_v<Fields>
    {
        return *this = monitor(other);
    }
    /// Leaves the source empty, and usable as far as its fields and rules are.
    monitor& operator=(monitor&&) = default;
    ~monitor() = default;

    /// Adds an attempt that ended; its own end moves the window. (Without an `end` field there is no window
    /// to move.)
    /// @return whether it entered the statistics; if not, `counts` has the reason
    bool observe(Record const& attempt) { return this->observe_by(fields_, attempt); }

    /// Adds an attempt that ended; the caller's clock moves the window. Without an `end` field the attempt
    /// counts as ending now.
    bool observe(Record const& attempt, time_type now) { return this->observe_at(now, fields_, attempt); }

    /// Adds many attempts that ended, such as those of a heartbeat: the same as `observe` for each, but
    /// faster, because their memory accesses overlap.
    /// @return how many entered the statistics
    std::size_t observe(std::span<Record const> attempts) {
        return observe_all(attempts, [this](Record const& attempt, ids const& known) STRAGGLE_INLINE_LAMBDA {
            return this->observe_by(fields_, attempt, known);
        });
    }
    /// The same at the caller's time.
    std::size_t observe(std::span<Record const> attempts, time_type now) {
        return observe_all(attempts, [&](Record const& attempt, ids const& known) STRAGGLE_INLINE_LAMBDA {
            return this->observe_at(now, fields_, attempt, known);
        });
    }

    /// Reports that an attempt of a job is still running, and for how long: a job with running attempts is
    /// not over, and the longer they run, the longer its siblings are remembered. Does not enter the
    /// statistics.
    /// @param job which one
    /// @param age how long the attempt has run
    /// @param now on the caller's clock; moves the window as in `observe`
    /// @return whether the job is known
    bool observe_running(typename interner<job_id>::key_type job, span_type age, time_type now) {
        std::optional<std::int64_t> const present = clock_.bucket_of(now);
        STRAGGLE_EXPECTS(present.has_value());
        evidence_.advance(*present);
        double const length = static_cast<double>(detail::ticks_of(age)) / this->durations_in_time();
        return evidence_.note_running(job, *present, detail::as_length(length > 0 ? length : 0.0));
    }

    /// Adds an attempt that was killed because a later copy of its task was faster, as if it had ended when
    /// it was killed. Call it instead of `observe`; the attempt's `status` is ignored. Not for the copy that
    /// lost, which started later, nor for attempts killed to free resources or by a user.
    ///
    /// Source: ours. The task took at least that long; without these attempts, good copies would hide the
    /// very machines that make them necessary. It counts as a normal duration; the true one is longer, so its
    /// score is too low, never too high. In batch, `rank_nodes` gives the same for records whose status says
    /// success.
    /// @return whether it entered the statistics; if not, `counts` has the reason. Counted as `used`.
    bool observe_censored(Record const& attempt)
        requires std::copy_constructible<Fields>
    {
        return this->observe_by(detail::fields_of_successes<Fields>(fields_), attempt);
    }
    /// The same at the caller's time.
    bool observe_censored(Record const& attempt, time_type now)
        requires std::copy_constructible<Fields>
    {
        return this->observe_at(now, detail::fields_of_successes<Fields>(fields_), attempt);
    }

    /// Ranks the nodes over everything up to now: the current step, and as many before it as make a window.
    /// @return the ranking, valid until the next call
    ranking_type const& rank() {
        if (evidence_.empty()) return rank_steps(0, -1, -1);
        std::int64_t const last = evidence_.head();
        return rank_steps(first_of_window(last), last, last);
    }

    /// Ranks the nodes over the window at `now`, and moves the window there; for a `now` in the past, uses
    /// what is still stored of that window. The baseline of a job is everything that ended in the step of
    /// `now` or before. Without windows, the same as `rank()`.
    ranking_type const& rank(time_type now) {
        if (!clock_.is_running()) return rank();
        std::int64_t const last = window_number(now);
        evidence_.advance(last + 1);
        return rank_steps(first_of_window(last), last, last + 1);
    }

    /// The number of the window at `now`, by its last step: increases by one per slide, and is -1 for a
    /// monitor without windows. The unit in which a `rolling_blacklister` counts exclusions.
    /// @pre `now` is a number, and within 2^62 slides
    [[nodiscard]] std::int64_t window_number(time_type now) const {
        std::optional<std::int64_t> const going_on = clock_.bucket_of(now);
        STRAGGLE_EXPECTS(going_on.has_value());
        return *going_on - 1;
    }

    /// False if attempts never expire.
    [[nodiscard]] bool has_window() const noexcept { return clock_.is_running(); }
    /// Number of consecutive windows that contain a step: `window / slide`, 1 without windows.
    [[nodiscard]] std::int64_t windows_overlap() const noexcept {
        return has_window() ? static_cast<std::int64_t>(evidence_.ring()) - 1 : 1;
    }

    /// Reports that a job has ended, so that its memory can be reused: its scores become final.
    /// @return whether the memory was released at once. A job with attempts in several time steps stays until
    /// the last of them leaves the window; so does one beyond `max_finished`, which is counted; an unknown
    /// job has nothing to release. A job with too few tasks for scores is dropped. Siblings that end after
    /// the release count as a separate job.
    /// after it was given back are a job of their own.
    bool finish(typename interner<job_id>::key_type job) {
        auto& held = evidence_.held();
        std::uint32_t const j = held.jobs().find(job);
        if (j == evidence_type::none) return false;
        if (held.is_in_ring(j)) {
            if (held.after(held.row(j).first) != nullptr) {
                held.past(j).is_finished = true;
                return false;
            }
            if (!ranker_.fold(evidence_, options_.ranking, j, options_.max_finished, is_window_alone())) {
                ++counts_.value.unfinished_jobs;
                held.past(j).is_finished = true;
                return false;
            }
        }
        held.erase(j);
        held.tidy();
        return true;
    }

    /// Merges another monitor, as if this one had observed everything: shards of a large cluster can be
    /// monitored separately and combined for ranking. Associative and commutative, bit for bit with integer
    /// durations, except for the order in which nodes first appeared. Before merging, do not finish a job
    /// whose attempts are spread over several monitors.
    /// @pre the other has the same window, slide and rules, and is a different object
    /// @par Cost
    /// O(pairs of both): copies this monitor, for the strong guarantee
    void merge(monitor const& other) {
        STRAGGLE_EXPECTS(&other != this && clock_.step() == other.clock_.step() &&
                         evidence_.ring() == other.evidence_.ring());
        evidence_type merged = evidence_;
        std::uint64_t const over_capacity = merged.merge(other.evidence_, this->bounds());
        evidence_ = std::move(merged);
        counts_.value += other.counts_.value;
        counts_.value.attempts.used -= over_capacity;
        counts_.value.over_capacity += over_capacity;
    }

    /// All evidence, as bytes that `restore` reads on any machine.
    [[nodiscard]] std::vector<std::byte> serialize() const
        requires base::storable_identifier<job_id> && base::storable_identifier<node_id>
    {
        return detail::monitor_bytes::write(evidence_, counts_.value, clock_.step());
    }

    /// Restores serialized state; on failure nothing changes.
    /// @return `status::ok`; `truncated`, `corrupt` or `unknown_version` for bytes that are incomplete or
    /// from a newer library; `wrong_kind` for bytes of another type, or of a monitor with other durations,
    /// identifiers or windows; `out_of_range` for more than the options allow. Arbitrary bytes give a status;
    /// never allocates more than a multiple of their size
    [[nodiscard]] status restore(std::span<std::byte const> bytes)
        requires base::storable_identifier<job_id> && base::storable_identifier<node_id>
    {
        evidence_type read(evidence_.ring(), this->memory(options_));
        monitor_counts counts;
        status const s = detail::monitor_bytes::read(bytes, read, counts, clock_.step(), this->bounds());
        if (s != status::ok) return s;
        evidence_ = std::move(read);
        counts_.value = counts;
        return status::ok;
    }

    /// Forgets everything but the options.
    void clear() noexcept {
        evidence_.clear();
        counts_.value = {};
    }

    /// The result of the last `rank`; empty before it.
    [[nodiscard]] ranking_type const& ranking() const& noexcept { return ranker_.ranking(); }
    void ranking() const&& = delete; // keep the monitor in a variable first
    /// What became of all attempts so far.
    [[nodiscard]] monitor_counts counts() const noexcept {
        monitor_counts all = counts_.value;
        all.forgotten_jobs += evidence_.held().forgotten();
        all.evicted_jobs += evidence_.held().evicted();
        return all;
    }
    /// Number of pairs of a job and a node, over all time steps.
    [[nodiscard]] std::size_t pairs() const noexcept { return evidence_.held().pairs(); }
    /// Number of remembered jobs, with or without attempts in the window.
    [[nodiscard]] std::size_t jobs() const noexcept { return evidence_.held().jobs().size(); }
    /// Number of nodes with stored evidence.
    [[nodiscard]] std::size_t nodes() const noexcept { return evidence_.held().nodes().size(); }
    /// Number of node scores from finished jobs, over all time steps.
    [[nodiscard]] std::size_t finished_scores() const noexcept { return evidence_.finished(); }

  private:
    [[nodiscard]] bool is_window_alone() const noexcept {
        return options_.baseline == score_baseline::window;
    }
    [[nodiscard]] std::int64_t first_of_window(std::int64_t last) const noexcept {
        return clock_.is_running() ? last - static_cast<std::int64_t>(evidence_.ring()) + 2 : last;
    }

    template <class Observe>
    std::size_t observe_all(std::span<Record const> attempts, Observe&& observe) {
        return detail::observe_ahead(
            evidence_.held(), attempts, [this](Record const& a) { return this->look_up(a); }, observe);
    }

    ranking_type const& rank_steps(std::int64_t first, std::int64_t last, std::int64_t known_by) {
        return ranker_.rank(evidence_, options_.ranking, first, last, known_by, is_window_alone());
    }

    detail::evidence_ranker<evidence_type, Ranking> ranker_;
};

/// A monitor whose type is deduced from the fields:
/// `auto watched = monitor_of<attempt>(fields, {.window = 10min, .slide = 1min});`
template <class Record, class Fields, class Ranking = rank_options<>>
    requires record::attempt_fields_for<Fields, Record>
[[nodiscard]] auto monitor_of(Fields fields, typename monitor<Record, Fields, Ranking>::options how = {}) {
    return monitor<Record, Fields, Ranking>(std::move(fields), std::move(how));
}

/// Not a valid call: makes the compiler say which field does not fit.
template <class Record, class Fields, class... Options>
    requires(!record::attempt_fields_for<Fields, Record>)
auto monitor_of(Fields const&, Options const&...) {
    return detail::explain_attempt_fields<Fields, Record>();
}

} // namespace straggle
