// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How slow is each node, and how certain is that? Compares ended and running attempts with their siblings of
/// the same job elsewhere, and accumulates the evidence over time.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/rank/detail/evidence_hung.hpp>
#include <straggle/rank/detail/evidence_store.hpp>
#include <straggle/rank/slowdown_evidence_options.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI::rank {

/// What became of the attempts that a `slowdown_evidence` observed.
struct evidence_counts {
    std::uint64_t used = 0;   ///< attempts whose length counts
    std::uint64_t failed = 0; ///< attempts that broke: their length is unknown
    std::uint64_t rejected =
        0; ///< invalid: a time that is not a number, an end before the start, zero length
    std::uint64_t over_nodes = 0;      ///< attempts on a node beyond `max_nodes`
    std::uint64_t not_compared = 0;    ///< used ones whose job was over before a sibling ended elsewhere
    std::uint64_t closed_early = 0;    ///< jobs closed early to make room for others
    std::uint64_t forgotten_early = 0; ///< comparisons dropped for room while they still counted

    friend constexpr bool operator==(evidence_counts const&, evidence_counts const&) = default;
};

} // namespace straggle::rank

namespace straggle::inline STRAGGLE_ABI {

/// Evidence of how slow nodes are.
///
/// A job's attempts are remembered individually until `finish_job`, or until the job has not been seen for
/// three times its longest attempt; an attempt that was running then and ends later is compared with the
/// job's result. An endless job is cut into stretches of at least 64 attempts, eight times their usual time,
/// and four windows. Running attempts count as far as their age is informative; a canceled attempt is known
/// to take at least its age. The result of a job for a node is then kept as one number and fades gradually.
///
/// The slowdown of a node is exp of its effect in the model log time = job + node, relative to the
/// slot-weighted median node of its component of the job-node graph. Its interval is clustered by job; there
/// is none below 8 tasks in 3 jobs that have siblings elsewhere.
///
/// @par Evidence
/// evidence that a node is slower than `least_slowdown` accumulates over windows like an e-detector: if
/// nothing is wrong, `evidence(node)` passes ln(m) at most once in m windows. A window is as long as a usual
/// task, or as the time between two calls of `update`; a period without any activity is not a window.
///
/// Nodes are small numbers, jobs and tasks any keys, times in any one unit: all time scales are learned from
/// the tasks, so multiplying all times by 1000 gives the same answers.
/// @par Cost
/// `observe` O(1); `update` O(a log a) for a attempts of unfinished jobs, plus O(cells); allocates nothing in
/// the steady state
/// @par Guarantees
/// deterministic; memory bounded by the options
class slowdown_evidence {
  public:
    /// @param options thresholds and bounds
    explicit slowdown_evidence(slowdown_evidence_options options = {})
        : options_(options), store_(options.least_slowdown) {
        STRAGGLE_EXPECTS(options.least_slowdown >= 1 && options.max_stretch >= 16 && options.max_nodes >= 1 &&
                         options.max_jobs >= 1 && options.max_attempts >= options.max_stretch);
        store_.reserve_cells((std::min)(options.expected_cells, options.max_cells));
    }

    /// Adds an attempt that ended. Its own work counts: what it waited for other tasks does not.
    /// @return whether it is used; if not, `counts` has the reason
    bool observe(ended_attempt const& attempt) {
        if (!detail::is_finite(attempt.start) || !detail::is_finite(attempt.end) ||
            !(attempt.end >= attempt.start)) {
            ++counts_.rejected;
            return false;
        }
        if (attempt.node >= options_.max_nodes) {
            ++counts_.over_nodes;
            return false;
        }
        if (attempt.as == attempt_status::failed) {
            ++counts_.failed;
            return false;
        }
        double const length = attempt.end - attempt.start - attempt.waited;
        if (!(length > 1e-300) || !detail::is_finite(length)) {
            ++counts_.rejected;
            return false;
        }
        while (store_.jobs().attempts() >= options_.max_attempts ||
               (store_.jobs().size() >= options_.max_jobs &&
                store_.jobs().find(attempt.job) == detail::job_memory::none)) {
            ++counts_.closed_early;
            store_.close_idlest();
        }
        store_.add(attempt, length);
        if (store_.attempts_of(attempt.job) >= options_.max_stretch)
            store_.close(store_.jobs().find(attempt.job), false);
        ++counts_.used;
        return true;
    }

    /// Whether an eighth of a usual task has passed since the last update. Evidence moves over whole tasks,
    /// so that one much sooner brings next to nothing.
    [[nodiscard]] bool is_due(double now) const noexcept {
        return !(now - store_.updated() < usual_duration() / 8);
    }
    /// Evaluates all evidence up to `now`.
    /// @param now not before any earlier one
    /// @param running every running attempt, copies included
    /// @param slots of each node by index; 0 or beyond the end: 1
    void update(double now, std::span<running_attempt const> running, std::span<std::uint32_t const> slots) {
        store_.update(now, running, slots, options_.max_nodes);
        counts_.forgotten_early += store_.forget_old(most_cells(node_bound()));
    }

    /// How many times as long its tasks take as on the reference node; unknown below 8 tasks in 3 jobs.
    [[nodiscard]] slowdown slowdown_of(std::uint32_t node) const noexcept { return store_.slowdown_of(node); }
    /// The same from all remembered jobs. `slowdown_of` is the current value: for a node whose speed has
    /// changed, it uses only the latest jobs. See docs/reference/evidence.md.
    [[nodiscard]] slowdown whole_slowdown_of(std::uint32_t node) const noexcept {
        return store_.whole_slowdown_of(node);
    }
    /// The current value from minimal evidence, which a verdict may rest on; unknown without any sibling
    /// elsewhere.
    [[nodiscard]] slowdown estimate_of(std::uint32_t node) const noexcept { return store_.estimate_of(node); }
    /// Number of jobs on a node that have siblings elsewhere.
    [[nodiscard]] std::uint32_t jobs_of(std::uint32_t node) const noexcept { return store_.groups_of(node); }
    /// Recent attempts of a job that ended without failing.
    [[nodiscard]] std::size_t attempts_of(std::uint64_t job) const { return store_.attempts_of(job); }
    /// Log evidence that a node is slower than tolerated; see the class.
    [[nodiscard]] double evidence(std::uint32_t node) const noexcept { return store_.evidence(node); }
    /// Whether that is above a threshold: cheaper, since bounds suffice for most nodes.
    [[nodiscard]] bool is_slow(std::uint32_t node, double threshold) const noexcept {
        return store_.is_slow(node, threshold);
    }
    /// How likely a node is slow right now, and by how much: from attempts that end and run there, from how
    /// often nodes become slow, and from how slow they then were. Unlike `evidence` this is no proof, but the
    /// best guess of how the node will perform next. A probability below 1/64 is returned as 0.
    [[nodiscard]] record::slow_guess slow_now(std::uint32_t node) const noexcept {
        return store_.slow_now(node);
    }
    /// Log evidence that a node on trial loses the races of its copies, counting copies that started soon
    /// after their original.
    [[nodiscard]] double race_evidence(std::uint32_t node) const noexcept {
        return store_.race_evidence(node);
    }
    /// Log evidence that attempts on a node do not end: from the time they have survived relative to how many
    /// ended, or because all its slots hold attempts older than nearly all others.
    [[nodiscard]] double hung_evidence(std::uint32_t node) const noexcept {
        return store_.hung_evidence(node);
    }
    /// Whether that is above a threshold: cheaper.
    [[nodiscard]] bool is_hung(std::uint32_t node, double threshold) const noexcept {
        return store_.is_hung(node, threshold);
    }
    /// Log evidence that attempts on a node are killed while their siblings end elsewhere.
    [[nodiscard]] double killed_evidence(std::uint32_t node) const noexcept {
        return store_.killed_evidence(node);
    }
    /// Number of attempts killed on a node since the last one that ended there.
    [[nodiscard]] double killed_in_a_row(std::uint32_t node) const noexcept {
        return store_.killed_in_a_row(node);
    }
    /// Age of the running attempts on a node relative to the usual length of their siblings (median), or of
    /// those killed there (mean), whichever is more; 0 without any.
    [[nodiscard]] double stuck_for(std::uint32_t node) const noexcept { return store_.stuck_for(node); }
    /// Number of running attempts on a node that can be compared with siblings.
    [[nodiscard]] std::uint32_t running_on(std::uint32_t node) const noexcept {
        return store_.running_on(node);
    }
    /// Length of the recently ended attempts on a node relative to the usual length of their siblings; at
    /// least 1.
    [[nodiscard]] double pace_of(std::uint32_t node) const noexcept { return store_.pace_of(node); }
    /// Log evidence that a node is faster than its charge.
    [[nodiscard]] double restored_evidence(std::uint32_t node) const noexcept {
        return store_.restored_evidence(node);
    }
    /// Tasks since its trial began, or since it was first seen.
    [[nodiscard]] double tasks_of(std::uint32_t node) const noexcept { return store_.tasks_of(node); }

    /// Sets the slowdown for which a node was excluded: recovery is tested against it.
    /// @pre `node < max_nodes`
    void charge(std::uint32_t node, double guilty_of) { store_.charge(node, guilty_of); }
    /// Sets it higher once more is proven; a lower value changes nothing. The higher it is, the sooner a
    /// recovery shows.
    /// @pre `guilty_of > 0`
    void raise_charge(std::uint32_t node, double guilty_of) { store_.raise_charge(node, guilty_of); }
    /// Records that a node was found hung: only attempts that end there are evidence of recovery, not the
    /// absence of attempts.
    void charge_hung(std::uint32_t node) noexcept { store_.charge_hung(node); }
    /// Whether all running attempts on a node, at least two, started together: then hard tasks of one job are
    /// as good an explanation as the node.
    [[nodiscard]] bool is_one_batch(std::uint32_t node) const noexcept { return store_.is_one_batch(node); }
    /// The evidence that a node is slow from finished jobs only, which does not rest on such a batch.
    [[nodiscard]] double closed_evidence(std::uint32_t node) const noexcept {
        return store_.closed_evidence(node);
    }
    /// Whether, since the last call, a copy elsewhere took at most half as long as an unfinished attempt had
    /// run there: then the node is to blame, not the task.
    [[nodiscard]] bool take_outrun(std::uint32_t node) noexcept { return store_.take_outrun(node); }
    /// How many times as long its attempts ran as the copies that beat them, if lately at least two more
    /// attempts lost in this way (by half the time or more) than ended there; otherwise 0.
    [[nodiscard]] double outrun_by(std::uint32_t node) const noexcept { return store_.outrun_by(node); }
    /// Reports whether a verdict on such a batch was right: after wrong ones, attempts that started together
    /// count as one.
    void learn_batch(bool was_right) noexcept { store_.learn_batch(was_right); }
    /// Starts a trial: forgets the node's past, so that only attempts that start from now on count. Its
    /// copies count, too.
    void begin_trial(std::uint32_t node, double now) { store_.begin_trial(node, now, true); }
    /// The same for a node back in service: it starts afresh.
    void end_trial(std::uint32_t node, double now) { store_.begin_trial(node, now, false); }
    /// Sets which slowdown of a node is by design: that of its machine class. The default is 1.
    void tolerate(std::uint32_t node, double usual) { store_.tolerate(node, usual); }

    /// A job is over: the next `update` keeps its result and drops its attempts.
    void finish_job(std::uint64_t job) { store_.finish(job); }
    /// A node is gone; its number may be reused.
    void forget_node(std::uint32_t node) { store_.forget_node(node); }

    /// Usual length of a task: the unit of everything that is learned; 0 before the first.
    [[nodiscard]] double usual_duration() const noexcept { return store_.usual_duration(); }
    /// Tasks of a job, on average; 0 before the first.
    [[nodiscard]] double usual_tasks() const noexcept { return store_.usual_tasks(); }
    /// Number of windows so far.
    [[nodiscard]] std::uint64_t windows() const noexcept { return store_.windows(); }
    /// Length of the last window.
    [[nodiscard]] double window_length() const noexcept { return store_.window_length(); }
    /// Length of the period without any activity before the last `update`; 0 if there was any.
    [[nodiscard]] double idle_time() const noexcept { return store_.idle(); }
    /// The tolerated slowdown: `least_slowdown`, and more in a fleet whose nodes differ anyway.
    [[nodiscard]] double tolerated() const noexcept { return store_.tolerated(); }
    /// What became of all attempts.
    [[nodiscard]] rank::evidence_counts counts() const noexcept {
        rank::evidence_counts all = counts_;
        all.not_compared = store_.uncompared();
        return all;
    }
    /// All nodes with any data have numbers below this.
    [[nodiscard]] std::uint32_t node_bound() const noexcept { return store_.node_bound(); }

    /// Merges what another object has learned, as shards of one cluster do. A job seen by both is compared
    /// within each, unless it is unfinished.
    /// @param other uses the same keys for jobs and tasks
    /// @param node_of indexed by the other's node number: the number here, or 2^32 - 1 to leave a node out
    /// @param later this object's time minus the other's at the same moment
    void merge(slowdown_evidence const& other, std::span<std::uint32_t const> node_of, double later = 0) {
        store_.merge(other.store_, node_of, later, options_.max_nodes, options_.max_attempts,
                     options_.max_jobs);
        counts_.forgotten_early += store_.forget_old(most_cells(node_bound()));
    }

    /// Appends the complete state.
    void write(byte_writer& out) const { base::write_fields(out, store_); }
    /// Reads it into a new object.
    status read(byte_reader& in) {
        base::read_fields(in, store_);
        in.expect(store_.node_bound() <= options_.max_nodes &&
                  store_.cells() <= most_cells(options_.max_nodes));
        return in.reason();
    }

  private:
    // A node needs 8 tasks in 3 jobs for an interval, and in a large cluster most jobs run one task there.
    [[nodiscard]] std::size_t most_cells(std::uint32_t nodes) const noexcept {
        return (std::max)(options_.max_cells, options_.cells_per_node * nodes);
    }

    slowdown_evidence_options options_;
    rank::evidence_counts counts_;
    detail::evidence_store store_;
};

} // namespace straggle
