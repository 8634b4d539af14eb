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
#include <straggle/rank/detail/bucket_clock.hpp>
#include <straggle/rank/detail/monitor_bytes.hpp>
#include <straggle/rank/detail/monitor_fields.hpp>
#include <straggle/rank/detail/window_ranker.hpp>
#include <straggle/rank/detail/window_store.hpp>
#include <straggle/rank/monitor_counts.hpp>
#include <straggle/rank/monitor_options.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/record/attempt.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
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
/// only what ended in the window is scored, against all that is known of its job (every success counts:
/// report the loser of a race as killed, or with `observe_censored`). As long as no limit was reached and no
/// job was forgotten, which `counts` shows, it has the same bits for any order of arrival of integer
/// durations, and is within 1e-12 of a score for floating-point ones, whatever their common offset. Nodes are
/// in order of first appearance since they were last without evidence.
///
/// @tparam Record the user's record type
/// @tparam Fields an `attempt_fields`; by default those of `task_traits`
/// @tparam Ranking a `rank_options` with a `moment_normalizer`
/// @tparam Time type of attempts' ends; `std::int64_t` if the fields name no end
/// @par Cost
/// `observe` O(1); allocates nothing once the job has a pair with the node in the current step, nor for new
/// jobs that are no more and no larger than earlier ones. `rank` O(jobs + pairs + nodes log nodes), allocates
/// nothing in the steady state. A pair is one job on one node in one time step and takes 64 bytes, with the
/// slack of tables about 120, at most 200; a job about 150; a node about 150 per step in which jobs on it
/// were finished.
/// @par Guarantees
/// deterministic; if an allocation or the user's own code throws, everything is unchanged except for time:
/// the window may have moved, and repeating the call gives the result it would have given. A moved-from
/// monitor is empty. One thread at a time.
/// @snippet monitor.cpp watch
template <class Record, class Fields = typename detail::traits_fields<Record>::type,
          class Ranking = rank_options<>, class Time = typename detail::end_time<Fields, Record>::type>
    requires record::attempt_fields_for<Fields, Record> && detail::is_rank_options<Ranking> &&
             rank::moment_normalizer<decltype(Ranking::normalizer)> && base::clock_time<Time>
class monitor {
    using reading = detail::reading_t<Fields, Record>;

  public:
    /// Type of job names.
    using job_id = owned_identifier_t<detail::field_value_t<decltype(Fields::job), Record>>;
    /// Type of node names.
    using node_id = owned_identifier_t<detail::field_value_t<decltype(Fields::node), Record>>;
    /// What `rank` returns.
    using ranking_type = node_ranking<node_id, job_id>;
    /// Points in time.
    using time_type = Time;
    /// Lengths of time.
    using span_type = std::remove_cvref_t<decltype(std::declval<Time>() - std::declval<Time>())>;
    /// Options of a monitor.
    using options = monitor_options<span_type, Ranking>;

    /// A monitor of records whose `task_traits` name the fields.
    explicit monitor(options how = {})
        requires record::has_task_traits<Record>
        : monitor(task_traits<Record>::fields, std::move(how)) {}

    /// @param record_fields an `attempt_fields` that names the members of a record
    /// @param how window and rules
    explicit monitor(Fields record_fields, options how = {})
        : fields_(std::move(record_fields)),
          options_(std::move(how)),
          clock_(detail::step_length(options_)),
          store_(detail::steps_of_window(options_) + (clock_.is_running() ? 1 : 0), remembered_steps()),
          ranker_(options_.ranking.ranker) {}
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
    bool observe(Record const& attempt) { return observe_by(fields_, attempt); }

    /// Adds an attempt that ended; the caller's clock moves the window. Without an `end` field the attempt
    /// counts as ending now.
    bool observe(Record const& attempt, time_type now) { return observe_at(now, fields_, attempt); }

    /// Adds many attempts that ended: the same as `observe` for each.
    /// @return how many entered the statistics
    std::size_t observe(std::span<Record const> attempts) {
        std::size_t entered = 0;
        for (Record const& attempt : attempts) entered += observe(attempt) ? 1u : 0u;
        return entered;
    }
    /// The same at the caller's time.
    std::size_t observe(std::span<Record const> attempts, time_type now) {
        std::size_t entered = 0;
        for (Record const& attempt : attempts) entered += observe(attempt, now) ? 1u : 0u;
        return entered;
    }

    /// Reports that an attempt of a job is still running, and for how long: a job with running attempts is
    /// not over, and the longer they run, the longer its siblings are remembered. Does not enter the
    /// statistics.
    /// @param job which one
    /// @param age how long the attempt has run
    /// @param now on the caller's clock; moves the window as in `observe`
    /// @return whether the job is known
    bool observe_running(typename interner<job_id>::key_type job, span_type age, time_type now) {
        std::int64_t const present = advance_to(now);
        double const length = static_cast<double>(detail::ticks_of(age)) / durations_in_time();
        constexpr double most = (std::numeric_limits<double>::max)();
        return store_.note_running(job, present, length > 0 ? (std::min)(length, most) : 0.0);
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
        return observe_by(detail::fields_of_successes<Fields>(fields_), attempt);
    }
    /// The same at the caller's time.
    bool observe_censored(Record const& attempt, time_type now)
        requires std::copy_constructible<Fields>
    {
        return observe_at(now, detail::fields_of_successes<Fields>(fields_), attempt);
    }

    /// Ranks the nodes over everything up to now: the current step, and as many before it as make a window.
    /// @return the ranking, valid until the next call
    ranking_type const& rank() {
        if (store_.empty()) return rank_steps(0, -1, -1);
        std::int64_t const last = store_.head();
        return rank_steps(first_of_window(last), last, last);
    }

    /// Ranks the nodes over the window at `now`, and moves the window there; for a `now` in the past, uses
    /// what is still stored of that window. The baseline of a job is everything that ended in the step of
    /// `now` or before. Without windows, the same as `rank()`.
    ranking_type const& rank(time_type now) {
        if (!clock_.is_running()) return rank();
        std::int64_t const last = window_number(now);
        store_.advance(last + 1);
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
        return has_window() ? static_cast<std::int64_t>(store_.ring()) - 1 : 1;
    }

    /// Reports that a job has ended, so that its memory can be reused: its scores become final.
    /// @return whether the memory was released at once. A job with attempts in several time steps stays until
    /// the last of them leaves the window; so does one beyond `max_finished`, which is counted; an unknown
    /// job has nothing to release. A job with too few tasks for scores is dropped. Siblings that end after
    /// the release count as a separate job.
    bool finish(typename interner<job_id>::key_type job) {
        std::uint32_t const j = store_.jobs().find(job);
        if (j == store_type::none) return false;
        auto& row = store_.job(j);
        if (row.first != store_type::none) {
            if (store_.is_in_several_steps(j)) {
                row.is_finished = true;
                return false;
            }
            if (!ranker_.fold(store_, options_.ranking, j, options_.max_finished, is_window_alone())) {
                ++store_.counts().unfinished_jobs;
                row.is_finished = true;
                return false;
            }
        }
        store_.erase(j);
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
                         store_.ring() == other.store_.ring());
        store_type merged = store_;
        merged.merge(other.store_, bounds());
        store_ = std::move(merged);
    }

    /// All evidence, as bytes that `restore` reads on any machine.
    [[nodiscard]] std::vector<std::byte> serialize() const
        requires base::storable_identifier<job_id> && base::storable_identifier<node_id>
    {
        return bytes_type::write(store_, clock_.step());
    }

    /// Restores serialized state; on failure nothing changes.
    /// @return `status::ok`; `truncated`, `corrupt` or `unknown_version` for bytes that are incomplete or
    /// from a newer library; `wrong_kind` for bytes of another type, or of a monitor with other durations,
    /// identifiers or windows; `out_of_range` for more than the options allow. Arbitrary bytes give a status;
    /// never allocates more than a multiple of their size
    [[nodiscard]] status restore(std::span<std::byte const> bytes)
        requires base::storable_identifier<job_id> && base::storable_identifier<node_id>
    {
        store_type read(store_.ring(), remembered_steps());
        status const s = bytes_type::read(bytes, read, clock_.step(), bounds());
        if (s == status::ok) store_ = std::move(read);
        return s;
    }

    /// Forgets everything but the options.
    void clear() noexcept { store_.clear(); }

    /// The result of the last `rank`; empty before it.
    [[nodiscard]] ranking_type const& ranking() const& noexcept { return ranker_.ranking(); }
    void ranking() const&& = delete; // keep the monitor in a variable first
    /// What became of all attempts so far.
    [[nodiscard]] monitor_counts counts() const noexcept { return store_.counts(); }
    /// Number of pairs of a job and a node, over all time steps.
    [[nodiscard]] std::size_t pairs() const noexcept { return store_.pairs(); }
    /// Number of remembered jobs, with or without attempts in the window.
    [[nodiscard]] std::size_t jobs() const noexcept { return store_.jobs().size(); }
    /// Number of nodes with stored evidence.
    [[nodiscard]] std::size_t nodes() const noexcept { return store_.nodes().size(); }
    /// Number of node scores from finished jobs, over all time steps.
    [[nodiscard]] std::size_t finished_scores() const noexcept { return store_.finished(); }

  private:
    [[nodiscard]] bool is_window_alone() const noexcept {
        return options_.baseline == score_baseline::window;
    }
    [[nodiscard]] std::int64_t first_of_window(std::int64_t last) const noexcept {
        return clock_.is_running() ? last - static_cast<std::int64_t>(store_.ring()) + 2 : last;
    }

    ranking_type const& rank_steps(std::int64_t first, std::int64_t last, std::int64_t known_by) {
        return ranker_.rank(store_, options_.ranking, first, last, known_by, is_window_alone());
    }

    // Units of time per unit of duration.
    static constexpr double durations_in_time() noexcept {
        return detail::units_in<typename detail::duration_of<Fields, Record>::type, span_type>();
    }
    // For how many steps a job is remembered, per unit of its longest attempt.
    [[nodiscard]] double remembered_steps() const {
        STRAGGLE_EXPECTS(options_.remember >= 0);
        if (!clock_.is_running() || is_window_alone()) return 0;
        return options_.remember * durations_in_time() / static_cast<double>(clock_.step());
    }
    [[nodiscard]] detail::store_bounds bounds() const noexcept {
        return {options_.max_pairs, options_.max_jobs, options_.max_nodes, options_.max_finished};
    }

    // Moves the window; returns the step that is going on.
    std::int64_t advance_to(time_type now) {
        std::optional<std::int64_t> const present = clock_.bucket_of(now);
        STRAGGLE_EXPECTS(present.has_value());
        store_.advance(*present);
        return *present;
    }
    // The step in which an attempt ended; empty if unknown.
    [[nodiscard]] std::optional<std::int64_t> step_of(Record const& attempt) const {
        if (!clock_.is_running()) return 0;
        auto const& end = detail::project(fields_.end, attempt);
        if (!detail::is_present(end)) return std::nullopt;
        return clock_.bucket_of(detail::unwrap(end));
    }

    // Adds an attempt, read as `fields` say, whose end moves the window.
    template <class Read>
    bool observe_by(Read const& fields, Record const& attempt) {
        std::optional<std::int64_t> number = 0;
        if constexpr (detail::given<decltype(Fields::end)>)
            number = step_of(attempt);
        else
            STRAGGLE_EXPECTS(!clock_.is_running()); // a window requires observe(attempt, now)
        if (number) store_.advance(*number);
        return take(fields, attempt, number);
    }
    // The same with the caller's clock moving the window.
    template <class Read>
    bool observe_at(time_type now, Read const& fields, Record const& attempt) {
        std::int64_t const present = advance_to(now);
        if constexpr (detail::given<decltype(Fields::end)>)
            return take(fields, attempt, step_of(attempt));
        else
            return take(fields, attempt, present);
    }

    // `number`: the step of the attempt, empty if unknown.
    template <class Read>
    bool take(Read const& fields, Record const& attempt, std::optional<std::int64_t> number) {
        monitor_counts& counts = store_.counts();
        attempt_counts* in_step = nullptr;
        detail::judge_attempt(fields, attempt, tally_, [&](auto const& job, auto const& node, reading value) {
            if (!number)
                ++tally_.rejected[rejection::missing_time];
            else if (!store_.holds(*number))
                ++(store_.empty() || *number > store_.head() ? counts.early : counts.too_old);
            else if (store_.add(job, node, *number, value, bounds()))
                in_step = &store_.at(*number).counts;
            else
                ++counts.over_capacity;
        });
        if (in_step == nullptr) {
            drop(number);
            return false;
        }
        for (attempt_counts* const to : {&counts.attempts, in_step}) {
            ++to->seen;
            ++to->used;
        }
        return true;
    }
    // Counts an attempt that did not enter the statistics.
    STRAGGLE_NEVER_INLINE void drop(std::optional<std::int64_t> number) {
        tally_.seen = 1;
        attempt_counts const tally = std::exchange(tally_, {});
        store_.counts().attempts += tally;
        // What came too late, too early or found no room belongs to no window; attempts without a time belong
        // to the current step.
        bool const is_judged = tally.failed + tally.killed + tally.total_rejected() != 0;
        bool const is_placed = number ? store_.holds(*number) : !store_.empty();
        if (is_judged && is_placed) store_.at(number.value_or(store_.head())).counts += tally;
    }

    using store_type = detail::window_store<job_id, node_id, reading>;
    using bytes_type =
        detail::monitor_bytes<store_type, decltype(detail::ticks_of(std::declval<span_type>()))>;

    Fields fields_;
    options options_;
    detail::bucket_clock<Time> clock_;
    store_type store_;
    detail::window_ranker<store_type, Ranking> ranker_;
    attempt_counts tally_; // of the current attempt: 0 between attempts, so that it needs no clearing
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
