// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How slow is each node, and how sure is that? Attempts that ended and attempts that run are compared with
/// their siblings of the same job elsewhere, and the evidence adds up over time.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/rank/detail/evidence_bytes.hpp>
#include <straggle/rank/detail/evidence_hung.hpp>
#include <straggle/rank/detail/evidence_merge.hpp>
#include <straggle/rank/detail/evidence_store.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI::rank {

/// What became of what a `slowdown_evidence` was shown.
struct evidence_counts {
    std::uint64_t used = 0;         ///< attempts with a length that counts
    std::uint64_t failed = 0;       ///< attempts that broke: nothing is known of their length
    std::uint64_t rejected = 0;     ///< a time that is no number, an end before the start, no length at all
    std::uint64_t over_nodes = 0;   ///< attempts on a node beyond `max_nodes`
    std::uint64_t not_compared = 0; ///< used ones whose job was over before a sibling ended elsewhere
    std::uint64_t closed_early = 0; ///< jobs that made room for others before they were over
    std::uint64_t forgotten_early = 0; ///< comparisons that were dropped for room while they still counted

    friend constexpr bool operator==(evidence_counts const&, evidence_counts const&) = default;
};

} // namespace straggle::rank

namespace straggle::inline STRAGGLE_ABI {

/// How evidence is gathered.
struct slowdown_evidence_options {
    /// A node that is provably slower than its siblings, but by less than this, is not worth avoiding.
    /// @pre at least 1
    double least_slowdown = 1.1;
    std::size_t max_attempts = std::size_t{1} << 18; ///< of jobs that go on; 32 bytes each
    std::size_t max_jobs = std::size_t{1} << 14;     ///< that go on
    std::size_t max_cells = std::size_t{1} << 16;    ///< jobs that are over, times nodes; 24 bytes each
    /// So many of these have memory from the beginning, and do not move; at most `max_cells`.
    std::size_t expected_cells = 0;
    std::uint32_t max_nodes = std::uint32_t{1} << 17; ///< about 400 bytes each
    std::size_t max_stretch = 16384; ///< attempts of one job that are compared with each other
};

/// Evidence of how slow nodes are.
///
/// A job's attempts are remembered one by one until `finish_job`, or until nothing of it was seen for three
/// times its longest attempt; what was running then and ends later is compared with what the job said. A job
/// without end is cut into stretches of at least eight times its usual time.
/// Attempts that run count as far as their age tells something; cancelled ones are known to take at least
/// their age. What a job says of a node is then kept as one number and forgotten gradually.
///
/// The slowdown of a node is exp of its effect in the model log time = job + node, against the
/// slot-weighted median node of its component of the job-node graph. Its interval is clustered by job; there
/// is none below 8 tasks in 3 jobs that have siblings elsewhere.
///
/// @par Evidence
/// that a node is slower than `least_slowdown` adds up over windows as an e-detector does:
/// where nothing is wrong, `evidence(node)` passes ln(m) at most once in m windows. A window is as long as a
/// task usually takes, or as the time between two calls of `update`; time in which nothing happens on any
/// node is none.
///
/// Nodes are small numbers, jobs and tasks any keys, times in any one unit: all lengths of time are learned
/// from the tasks, so all times multiplied by 1000 give the same answers.
/// @par Cost
/// `observe` O(1); `update` O(a log a) for a attempts of jobs that go on, and O(cells); allocates
/// nothing in the steady state
/// @par Guarantees
/// deterministic; memory bounded by the options
class slowdown_evidence {
  public:
    /// @param options how
    explicit slowdown_evidence(slowdown_evidence_options options = {})
        : options_(options), store_(options.least_slowdown) {
        STRAGGLE_EXPECTS(options.least_slowdown >= 1 && options.max_stretch >= 16 && options.max_nodes >= 1 &&
                         options.max_jobs >= 1 && options.max_attempts >= options.max_stretch);
        store_.reserve_cells((std::min)(options.expected_cells, options.max_cells));
    }

    /// Takes in an attempt that ended.
    /// @return whether it is used; if not, `counts` tells why
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
        double const length = attempt.end - attempt.start;
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

    /// Weighs all evidence up to `now`.
    /// @param now not before any earlier one
    /// @param running every attempt that runs, copies too
    /// @param slots of each node by index; 0 or beyond the end: 1
    void update(double now, std::span<running_attempt const> running, std::span<std::uint32_t const> slots) {
        store_.update(now, running, slots, options_.max_nodes);
        counts_.forgotten_early += store_.forget_old(options_.max_cells);
    }

    /// How many times as long its tasks take as on the reference node; unknown below 8 tasks in 3 jobs.
    [[nodiscard]] slowdown slowdown_of(std::uint32_t node) const noexcept { return store_.slowdown_of(node); }
    /// The same of all jobs that are remembered. `slowdown_of` says how slow a node is now: of one that has
    /// changed, what its latest jobs say. See docs/reference/evidence.md.
    [[nodiscard]] slowdown whole_slowdown_of(std::uint32_t node) const noexcept {
        return store_.whole_slowdown_of(node);
    }
    /// The same as now from as little as there is; unknown without any sibling elsewhere.
    [[nodiscard]] slowdown estimate_of(std::uint32_t node) const noexcept { return store_.estimate_of(node); }
    /// How many jobs with siblings elsewhere tell of a node.
    [[nodiscard]] std::uint32_t jobs_of(std::uint32_t node) const noexcept { return store_.groups_of(node); }
    /// Attempts of a job that have ended lately and did not fail.
    [[nodiscard]] std::size_t attempts_of(std::uint64_t job) const { return store_.attempts_of(job); }
    /// The logarithm of the evidence that a node is slower than is tolerated; see the class.
    [[nodiscard]] double evidence(std::uint32_t node) const noexcept { return store_.evidence(node); }
    /// Whether that is above a threshold: cheaper, as bounds tell of most nodes.
    [[nodiscard]] bool is_slow(std::uint32_t node, double threshold) const noexcept {
        return store_.is_slow(node, threshold);
    }
    /// How likely a node is to be slow just now, and how slow: by what ends and runs there, how often nodes
    /// become slow, and how slow they were then. No proof, as `evidence` is, but the best guess of what the
    /// node will do next. A chance of less than 1/64 is 0.
    [[nodiscard]] record::slow_guess slow_now(std::uint32_t node) const noexcept {
        return store_.slow_now(node);
    }
    /// The logarithm of the evidence that a node on trial loses the races of its copies: of those that began
    /// soon after their original.
    [[nodiscard]] double race_evidence(std::uint32_t node) const noexcept {
        return store_.race_evidence(node);
    }
    /// The logarithm of the evidence that the attempts on a node do not end: what they have survived against
    /// how many ended, or that all its slots hold attempts that are older than nearly all others.
    [[nodiscard]] double hung_evidence(std::uint32_t node) const noexcept {
        return store_.hung_evidence(node);
    }
    /// Whether that is above a threshold: cheaper.
    [[nodiscard]] bool is_hung(std::uint32_t node, double threshold) const noexcept {
        return store_.is_hung(node, threshold);
    }
    /// The logarithm of the evidence that attempts on a node are killed, while siblings of theirs end
    /// elsewhere.
    [[nodiscard]] double killed_evidence(std::uint32_t node) const noexcept {
        return store_.killed_evidence(node);
    }
    /// How many attempts were killed on a node since one ended there.
    [[nodiscard]] double killed_in_a_row(std::uint32_t node) const noexcept {
        return store_.killed_in_a_row(node);
    }
    /// How many times the usual length of their siblings the attempts that run on a node have reached, by
    /// their median, or, if that is more, those that were killed there, by their mean; 0 without any.
    [[nodiscard]] double stuck_for(std::uint32_t node) const noexcept { return store_.stuck_for(node); }
    /// How many attempts run on a node that can be compared with siblings.
    [[nodiscard]] std::uint32_t running_on(std::uint32_t node) const noexcept {
        return store_.running_on(node);
    }
    /// How many times the usual length of their siblings the attempts took that ended on a node lately; at
    /// least 1.
    [[nodiscard]] double pace_of(std::uint32_t node) const noexcept { return store_.pace_of(node); }
    /// The logarithm of the evidence that a node is faster than its charge.
    [[nodiscard]] double restored_evidence(std::uint32_t node) const noexcept {
        return store_.restored_evidence(node);
    }
    /// Tasks since its trial began, or since it was first seen.
    [[nodiscard]] double tasks_of(std::uint32_t node) const noexcept { return store_.tasks_of(node); }

    /// Remembers for which slowdown a node was excluded: recovery is proved against it.
    /// @pre `node < max_nodes`
    void charge(std::uint32_t node, double guilty_of) { store_.charge(node, guilty_of); }
    /// Remembers that a node was found to hang: only attempts that end there prove otherwise, not that there
    /// are none any more.
    void charge_hung(std::uint32_t node) noexcept { store_.charge_hung(node); }
    /// Whether all attempts that run on a node, of which there is more than one, began together: then hard
    /// tasks of one job explain as much as the node does.
    [[nodiscard]] bool is_one_batch(std::uint32_t node) const noexcept { return store_.is_one_batch(node); }
    /// The evidence that a node is slow, without jobs that go on: what does not rest on such a batch.
    [[nodiscard]] double closed_evidence(std::uint32_t node) const noexcept {
        return store_.closed_evidence(node);
    }
    /// Whether, since this was asked last, a copy took at most half as long elsewhere as an attempt had run
    /// there without an end: then the node is to blame, not the task.
    [[nodiscard]] bool take_outrun(std::uint32_t node) noexcept { return store_.take_outrun(node); }
    /// How many times as long its attempts ran as the copies that ended before them took, if two more lost
    /// so, by half the time or more, than ended there, lately; otherwise 0.
    [[nodiscard]] double outrun_by(std::uint32_t node) const noexcept { return store_.outrun_by(node); }
    /// Whether a verdict on such a node turned out to be right: after wrong ones attempts that began together
    /// count as one.
    void learn_batch(bool was_right) noexcept { store_.learn_batch(was_right); }
    /// Forgets what a node did before: what begins from now on shall decide. Its copies count, too.
    void begin_trial(std::uint32_t node, double now) { store_.begin_trial(node, now, true); }
    /// The same for a node that is back in service: it begins anew.
    void end_trial(std::uint32_t node, double now) { store_.begin_trial(node, now, false); }
    /// Says which slowdown of a node is by design: that of its class of machine. 1 unless said otherwise.
    void tolerate(std::uint32_t node, double usual) { store_.tolerate(node, usual); }

    /// A job is over: what it says is kept, its attempts are not.
    void finish_job(std::uint64_t job) {
        auto const j = store_.jobs().find(job);
        if (j != detail::job_memory::none) store_.close(j, true);
    }
    /// A node is gone; its number may be given to another.
    void forget_node(std::uint32_t node) { store_.forget_node(node); }

    /// How long a task usually takes: the unit of everything that is learned; 0 before the first.
    [[nodiscard]] double usual_duration() const noexcept { return store_.usual_duration(); }
    /// Tasks of a job, on average; 0 before the first.
    [[nodiscard]] double usual_tasks() const noexcept { return store_.usual_tasks(); }
    /// How many windows there were.
    [[nodiscard]] std::uint64_t windows() const noexcept { return store_.windows(); }
    /// How long the last window was.
    [[nodiscard]] double window_length() const noexcept { return store_.window_length(); }
    /// How long nothing happened on any node before the last `update`; 0 if something did.
    [[nodiscard]] double idle_time() const noexcept { return store_.idle(); }
    /// The slowdown that is tolerated: `least_slowdown`, and more in a fleet whose nodes differ anyway.
    [[nodiscard]] double tolerated() const noexcept { return store_.tolerated(); }
    /// What became of all attempts.
    [[nodiscard]] rank::evidence_counts counts() const noexcept {
        rank::evidence_counts all = counts_;
        all.not_compared = store_.uncompared();
        return all;
    }
    /// Nodes there is something about are numbered below this.
    [[nodiscard]] std::uint32_t node_bound() const noexcept { return store_.node_bound(); }

    /// Takes over what another one has learned, as shards of one cluster do. A job that both have seen is
    /// compared within each, unless it goes on.
    /// @param other the other one; jobs and tasks have the same keys there
    /// @param node_of by number of a node there: its number here, or 2^32 - 1 for nodes to leave out
    /// @param later how much larger the same point of time is here
    void merge(slowdown_evidence const& other, std::span<std::uint32_t const> node_of, double later = 0) {
        store_.merge(other.store_, node_of, later, options_.max_nodes, options_.max_attempts,
                     options_.max_jobs);
        counts_.forgotten_early += store_.forget_old(options_.max_cells);
    }

    /// Appends all that is known.
    void write(byte_writer& out) const { store_.write(out); }
    /// Reads it into a fresh object.
    status read(byte_reader& in) { return store_.read(in, options_.max_nodes, options_.max_cells); }

  private:
    slowdown_evidence_options options_;
    rank::evidence_counts counts_;
    detail::evidence_store store_;
};

} // namespace straggle
