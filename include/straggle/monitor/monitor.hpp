// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// DSB algorithm 1 as a living component: takes task attempts one at a time as they end, for months, and
/// ranks the nodes whenever it is asked, over all there was or over a window of time that moves along.
///
/// Windows. Time is cut into steps of `slide`, counted from the epoch of the clock, and an attempt belongs to
/// the step in which it ended. The window at a time `now` is the last `window / slide` steps that are over by
/// then: with `slide` left out, windows do not overlap (the paper's). A step that is still going on is in no
/// window yet; `rank()` without a time looks at it all the same.
///
/// Attempts that come late or out of order go into the step they ended in as long as the monitor holds it:
/// the steps of the window and the one going on. Earlier ones are dropped and counted as too old. The clock
/// that moves the window is the end of the attempts themselves, or the caller's own where
/// `observe(attempt, now)` is used; then an attempt that claims to end in a step to come is dropped and
/// counted as early, and one node with a wrong clock cannot push the others out of the window.
///
/// What is scored are the attempts of the window. What they are scored against, the baseline, is all that is
/// known of their job: a task that is slow ends when its siblings have long left the window, and among the
/// few that are left with it nobody could tell. So a job is remembered by one sum after its steps are gone,
/// until `finish`, or until nothing was seen of it for three times its longest attempt.
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

/// Watches how nodes run tasks.
///
/// Source: DSB algorithm 1. Ours: windows that slide, a baseline that is longer than the window, late
/// attempts, jobs that end, merging and storing. The result is that of `rank_nodes` over the same attempts,
/// and with windows that of `rank_window` (every success counts: report the loser of a race as killed, or by
/// `observe_censored`). As long as no bound has bitten and no job was forgotten, which `counts` tells, it is
/// for integer durations the same bits in any order of arrival, and for floating ones within 1e-12 of a
/// score, whatever they have in common. Nodes come in order of first appearance since they were last without
/// evidence.
///
/// @tparam Record the user's record type
/// @tparam Fields an `attempt_fields`; left out, those of `task_traits`
/// @tparam Ranking a `rank_options` with a `moment_normalizer`
/// @tparam Time what attempts end at; `std::int64_t` where the fields name no end
/// @par Cost
/// `observe` O(1); allocates nothing once the job has a pair with the node in the current step, nor for new
/// jobs that are no more and no larger than those before. `rank` O(jobs + pairs + nodes log nodes), allocates
/// nothing in the steady state. A pair is one job on one node in one step of time and takes 32 bytes, at most
/// 96 with the slack of tables; a job about 300 with its first four pairs; a node about 80 per step in which
/// jobs of it were finished.
/// @par Guarantees
/// deterministic; what throws, an allocation or what the user passes in, leaves all as it was but for time:
/// where the window had to move it has moved, and doing the same again comes to what it would have come to.
/// A monitor that was moved from is empty. One thread at a time.
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
    /// How jobs are named.
    using job_id = typename intake::job_id;
    /// How nodes are named.
    using node_id = typename intake::node_id;
    /// What `rank` returns.
    using ranking_type = node_ranking<node_id, job_id>;
    /// Points of time.
    using time_type = Time;
    /// Lengths of time.
    using span_type = typename intake::span_type;
    /// How to watch.
    using options = typename intake::options;

    /// A monitor of records whose `task_traits` name the fields.
    explicit monitor(options how = {})
        requires record::has_task_traits<Record>
        : monitor(task_traits<Record>::fields, std::move(how)) {}

    /// @param record_fields an `attempt_fields` that names the members of a record
    /// @param how window and rules
    explicit monitor(Fields record_fields, options how = {})
        : intake(std::move(record_fields), std::move(how)), ranker_(options_.ranking.ranker) {}
    /// Copies all but spare memory.
    monitor(monitor const&) = default;
    /// Leaves the other one empty, and of as much use as its fields and rules are.
    monitor(monitor&&) = default;
    /// Becomes a copy, or changes nothing should an allocation fail.
    monitor& operator=(monitor const& other)
        requires std::is_move_assignable_v<Fields>
    {
        return *this = monitor(other);
    }
    /// Leaves the other one empty, and of as much use as its fields and rules are.
    monitor& operator=(monitor&&) = default;
    ~monitor() = default;

    /// Takes in an attempt that has ended; its own end moves the window. (Without an `end` field there is no
    /// window to move.)
    /// @return whether it entered the statistics; if not, `counts` tells why
    bool observe(Record const& attempt) { return this->observe_by(fields_, attempt); }

    /// Takes in an attempt that has ended; the caller's clock moves the window. Without an `end` field the
    /// attempt is taken to end now.
    bool observe(Record const& attempt, time_type now) { return this->observe_at(now, fields_, attempt); }

    /// Takes in many attempts that have ended, as a heartbeat brings them, one after the other: the same as
    /// `observe` for each, and faster, as what one needs comes from memory while others are worked on.
    /// @return how many entered the statistics
    std::size_t observe(std::span<Record const> attempts) {
        return observe_all(attempts, [this](Record const& attempt, ids const& known) STRAGGLE_INLINE_LAMBDA {
            return this->observe_by(fields_, attempt, known);
        });
    }
    /// The same by the caller's clock.
    std::size_t observe(std::span<Record const> attempts, time_type now) {
        return observe_all(attempts, [&](Record const& attempt, ids const& known) STRAGGLE_INLINE_LAMBDA {
            return this->observe_at(now, fields_, attempt, known);
        });
    }

    /// Says that an attempt of a job is still running, and since when: a job of which something runs is not
    /// over, and the longer it runs the longer its siblings are remembered. Enters no statistics.
    /// @param job which one
    /// @param age how long the attempt has run
    /// @param now the caller's clock; as in `observe` it moves the window
    /// @return whether anything is known of the job
    bool observe_running(typename interner<job_id>::key_type job, span_type age, time_type now) {
        std::optional<std::int64_t> const present = clock_.bucket_of(now);
        STRAGGLE_EXPECTS(present.has_value());
        evidence_.advance(*present);
        double const length = static_cast<double>(detail::ticks_of(age)) / this->durations_in_time();
        return evidence_.note_running(job, *present, detail::as_length(length > 0 ? length : 0.0));
    }

    /// Takes in an attempt that was killed because a later copy of its task was faster: as if it had ended
    /// when it was killed. To be called instead of `observe`; what its `status` says is not read. Not for the
    /// copy that lost, which began later, nor for attempts that were killed for room or by a user.
    ///
    /// Source: ours. It took at least so long, and left out, the better the copies the less is known of the
    /// machines that make them necessary. It enters as a duration like any other; the true one is longer, so
    /// its score is too low, never too high. In batch, `rank_nodes` gives the same for records whose status
    /// says success.
    /// @return whether it entered the statistics; if not, `counts` tells why. Counted as `used`.
    bool observe_censored(Record const& attempt)
        requires std::copy_constructible<Fields>
    {
        return this->observe_by(detail::fields_of_successes<Fields>(fields_), attempt);
    }
    /// The same by the caller's clock.
    bool observe_censored(Record const& attempt, time_type now)
        requires std::copy_constructible<Fields>
    {
        return this->observe_at(now, detail::fields_of_successes<Fields>(fields_), attempt);
    }

    /// Ranks the nodes over everything up to now: the step that is going on, and as many before it as make a
    /// window.
    /// @return the ranking, valid until the next call
    ranking_type const& rank() {
        if (evidence_.empty()) return rank_steps(0, -1, -1);
        std::int64_t const last = evidence_.head();
        return rank_steps(first_of_window(last), last, last);
    }

    /// Ranks the nodes over the window at `now`, which also moves it on; a `now` in the past is answered
    /// with what is still held of the window then. The baseline of a job is what ended in the step of `now`
    /// or before. Without windows the same as `rank()`.
    ranking_type const& rank(time_type now) {
        if (!clock_.is_running()) return rank();
        std::int64_t const last = window_number(now);
        evidence_.advance(last + 1);
        return rank_steps(first_of_window(last), last, last + 1);
    }

    /// The number of the window at `now`, by its last step: goes up by one per slide, and is -1 for a monitor
    /// without windows. What a `rolling_blacklister` counts exclusions in.
    /// @pre `now` is a number, and within 2^62 slides
    [[nodiscard]] std::int64_t window_number(time_type now) const {
        std::optional<std::int64_t> const going_on = clock_.bucket_of(now);
        STRAGGLE_EXPECTS(going_on.has_value());
        return *going_on - 1;
    }

    /// False when everything counts for ever.
    [[nodiscard]] bool has_window() const noexcept { return clock_.is_running(); }
    /// In how many windows in a row a step is: `window / slide`, 1 without windows.
    [[nodiscard]] std::int64_t windows_overlap() const noexcept {
        return has_window() ? static_cast<std::int64_t>(evidence_.ring()) - 1 : 1;
    }

    /// Says that a job has ended, so that its memory can be used again: its scores are reckoned for good.
    /// @return whether it was given back at once. One with attempts in several steps of time stays until the
    /// last of them leaves the window; so does one where `max_finished` allows no more, which is counted; an
    /// unknown job has nothing to give back. What it had too few tasks to say is dropped. Siblings that end
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

    /// Takes in all that another monitor has seen, as if it had been shown here: shards of a large cluster
    /// watch on their own and are put together for ranking. Associative and commutative, to the bit for
    /// integer durations, but for the order in which nodes first appeared. Finish no job before that is not
    /// wholly with one monitor.
    /// @pre the other one has the same window, slide and rules, and is not this one
    /// @par Cost
    /// O(pairs of both): takes a copy of this one, for the strong guarantee
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

    /// All that was seen, as bytes that `restore` reads on any machine.
    [[nodiscard]] std::vector<std::byte> serialize() const
        requires base::storable_identifier<job_id> && base::storable_identifier<node_id>
    {
        return detail::monitor_bytes::write(evidence_, counts_.value, clock_.step());
    }

    /// Becomes what was serialized; nothing changes when that fails.
    /// @return `status::ok`; `truncated`, `corrupt` or `unknown_version` for bytes that are not whole or from
    /// a newer library; `wrong_kind` for bytes of something else, or of a monitor with other durations,
    /// identifiers or windows; `out_of_range` for more than the options allow. Any bytes whatever give a
    /// status; never allocates more than a multiple of their size
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
    /// What became of all attempts there ever were.
    [[nodiscard]] monitor_counts counts() const noexcept {
        monitor_counts all = counts_.value;
        all.forgotten_jobs += evidence_.held().forgotten();
        all.evicted_jobs += evidence_.held().evicted();
        return all;
    }
    /// Pairs of a job and a node held, of all steps of time together.
    [[nodiscard]] std::size_t pairs() const noexcept { return evidence_.held().pairs(); }
    /// Jobs remembered, with attempts in the window or without.
    [[nodiscard]] std::size_t jobs() const noexcept { return evidence_.held().jobs().size(); }
    /// Nodes with evidence that is held.
    [[nodiscard]] std::size_t nodes() const noexcept { return evidence_.held().nodes().size(); }
    /// Scores of nodes by finished jobs that are held, of all steps of time together.
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

/// Is no monitor: says which field does not fit.
template <class Record, class Fields, class... Options>
    requires(!record::attempt_fields_for<Fields, Record>)
auto monitor_of(Fields const&, Options const&...) {
    return detail::explain_attempt_fields<Fields, Record>();
}

} // namespace straggle
