// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which nodes get no work, which get it only when nothing better is free, and how a node returns: all
/// decisions about nodes, on numbers instead of names.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/row_sort.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/blacklist/detail/exclusion_record.hpp>
#include <straggle/blacklist/detail/failure_watch.hpp>
#include <straggle/blacklist/detail/load_watch.hpp>
#include <straggle/blacklist/detail/machine_classes.hpp>
#include <straggle/blacklist/detail/slot_share.hpp>
#include <straggle/blacklist/node_stage_options.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/rank/slowdown_evidence.hpp>
#include <straggle/record/cluster_load.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI {

/// Decides about nodes: observe ended attempts, then decide.
///
/// A node is weak if it is provably slower than tolerated (`slowdown_evidence`), if its attempts do not end,
/// or if it fails its tasks. A slow node is excluded only while the others can carry its work: the waiting
/// time its exclusion adds is compared with the delay its tasks cause. Weak nodes spared by load or a limit
/// are a last resort. Hung and failing nodes are excluded regardless of load.
///
/// After an exclusion the node is on probation with 1, 2, 4, ... slots; its performance then decides. Without
/// any probe it returns after as long as its exclusion lasted, or as `probes_with_tasks` says.
/// @par Guarantees
/// deterministic; memory bounded; allocates nothing in the steady state. One thread at a
/// time.
class node_stage {
    using record = detail::exclusion_record;
    using condition = straggle::record::condition;
    using cause = blacklist::cause;
    using spared = blacklist::spared;

  public:
    /// @param options evidence, limits and lengths of exclusions
    explicit node_stage(node_stage_options options = {}) : options_(options), evidence_(options.evidence) {
        STRAGGLE_EXPECTS(options.share_of_slots >= 0 && options.share_of_slots <= 1 &&
                         options.windows_per_error >= 1 && options.first_exclusion > 0 &&
                         options.longest_exclusion >= options.first_exclusion);
    }

    /// Adds an attempt that ended, whatever its status.
    /// @return whether its duration is used
    bool observe(ended_attempt const& attempt, double /*now*/) {
        if (attempt.node < options_.evidence.max_nodes) failures_.observe(attempt);
        return evidence_.observe(attempt);
    }

    /// Decides. If more than 256 attempts run, durations are evaluated eight times per usual task time;
    /// failures, load and the operators' settings count at once.
    /// @param now not before the last call's; an earlier time changes nothing
    /// @param running every running attempt, copies included
    /// @param rows every node of the cluster; a node missing for 64 windows is forgotten
    /// @param load how busy the cluster is
    /// @param may_exclude false: no new exclusions; current ones continue and end
    void decide(double now, std::span<running_attempt const> running,
                std::span<blacklist::node_row const> rows, cluster_load const& load,
                bool may_exclude = true) {
        if (!detail::is_finite(now) || (decided_ && now < now_)) return;
        bool const is_first = !decided_;
        decided_ = true;
        now_ = now;
        take_rows(rows);
        idle_ = 0;
        if (is_first || merged_ || running.size() <= few_attempts || evidence_.is_due(now)) {
            evidence_.update(now, running, detail::span_of(slots_));
            idle_ = evidence_.idle_time();
            merged_ = false;
        }
        observe_load(rows, load);
        refill(rows.size());
        failures_.know((std::min)(rows.size(), std::size_t{options_.evidence.max_nodes}));
        classes_.update(rows, evidence_, options_.evidence.max_nodes, options_.share_of_slots);
        weigh(rows, running, is_first);
        advance(rows);
        admit(rows, may_exclude);
        write_verdicts();
    }

    /// The state of a node; healthy if nothing is known about it.
    [[nodiscard]] node_state state(std::uint32_t node) const noexcept {
        return node < records_.size() ? records_[node].state : node_state::healthy;
    }
    /// How many times as long its tasks take; unknown without enough evidence.
    [[nodiscard]] slowdown slowdown_of(std::uint32_t node) const noexcept {
        return evidence_.slowdown_of(node);
    }
    /// The same from minimal evidence: for display only, no decision uses it.
    [[nodiscard]] slowdown estimate_of(std::uint32_t node) const noexcept {
        return evidence_.estimate_of(node);
    }
    /// Whether it is slow right now: a guess that no node decision uses.
    [[nodiscard]] straggle::record::slow_guess slow_now(std::uint32_t node) const noexcept {
        return evidence_.slow_now(node);
    }
    /// Whether the last attempts that ended there all failed, three or more. This is no proof: no node
    /// decision uses it, but tasks go elsewhere first.
    [[nodiscard]] bool only_fails(std::uint32_t node) const noexcept {
        return failures_.consecutive(node) >= 3;
    }
    /// How its attempts fail.
    [[nodiscard]] blacklist::failure_rate failures_of(std::uint32_t node) const noexcept {
        return failures_.totals(node);
    }
    /// Whether a task has failed on a node and not succeeded since. Remembers the last 4096 failed tasks,
    /// with four nodes each. O(1)
    [[nodiscard]] bool has_failed(std::uint64_t job, std::uint64_t task, std::uint32_t node) const noexcept {
        return failures_.has_failed(job, task, node);
    }
    /// Jobs with more failed tasks than successes, most failures first.
    void failing_jobs(std::vector<blacklist::failing_job>& out) const { failures_.failing_jobs(out); }
    /// How many attempts it may run at a time.
    [[nodiscard]] std::uint32_t probe_slots(std::uint32_t node) const noexcept {
        if (node >= records_.size()) return 1;
        switch (records_[node].state) {
        case node_state::excluded:
        case node_state::away:
            return 0;
        case node_state::on_probation:
            return (std::min)(slots_[node], std::uint32_t{1} << (std::min)(records_[node].stage, 30u));
        default:
            return slots_[node];
        }
    }
    /// The nodes that are not plainly healthy: excluded nodes first, then by slowdown. Valid until the next
    /// decision.
    [[nodiscard]] std::span<blacklist::node_verdict const> verdicts() const noexcept {
        return detail::span_of(verdicts_);
    }
    /// A job is over.
    void finish_job(std::uint64_t job) { evidence_.finish_job(job); }
    /// A node is gone for good; its number may be reused.
    void forget_node(std::uint32_t node) { forget(node); }
    /// Whether slow nodes could be excluded at the last decision without making tasks wait.
    [[nodiscard]] bool load_allows_exclusion() const noexcept { return load_allows_; }
    /// How long a task usually takes; 0 if not known yet.
    [[nodiscard]] double usual_duration() const noexcept { return evidence_.usual_duration(); }
    /// The evidence on speed.
    [[nodiscard]] slowdown_evidence const& evidence() const noexcept { return evidence_; }
    /// Counts of what was observed, by outcome.
    [[nodiscard]] rank::evidence_counts counts() const noexcept { return evidence_.counts(); }

    /// Merges the evidence of another stage, as shards of one cluster do; this one keeps its own decisions.
    /// @param other uses the same keys for jobs and tasks
    /// @param node_of indexed by the other's node number: the number here, or 2^32 - 1 to leave a node out
    /// @param later this stage's time minus the other's at the same moment
    void merge(node_stage const& other, std::span<std::uint32_t const> node_of, double later = 0) {
        evidence_.merge(other.evidence_, node_of, later);
        merged_ = true;
    }

    /// Appends all evidence and decisions.
    void write(byte_writer& out) const {
        evidence_.write(out);
        base::write_fields(out, *this);
    }
    /// Reads them into a new object, which then decides as the original would have.
    status read(byte_reader& in) {
        if (status const s = evidence_.read(in); s != status::ok) return s;
        base::read_fields(in, *this);
        return in.reason();
    }
    /// The rest of the state, for archives.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.failures_, self.load_, self.classes_, self.now_, self.decided_, self.merged_);
        a(self.allowance_, self.refilled_, self.refilled_at_);
        a.items(self.records_, detail::exclusion_record::stored_bytes);
        a.items(self.slots_, 4);
        a.expect(detail::is_finite(self.now_) && std::fabs(self.allowance_) < 1e15 &&
                 self.refilled_at_ <= self.evidence_.windows());
        std::size_t const most = self.options_.evidence.max_nodes;
        a.expect(self.records_.size() == self.slots_.size() && self.records_.size() <= most &&
                 self.failures_.node_bound() <= most && self.classes_.node_bound() <= most);
    }

  private:
    void forget(std::uint32_t node) {
        evidence_.forget_node(node);
        failures_.forget(node);
        classes_.forget(node);
        if (node < records_.size()) records_[node] = {};
    }

    void take_rows(std::span<blacklist::node_row const> rows) {
        for (blacklist::node_row const& row : rows) {
            if (row.node >= options_.evidence.max_nodes) continue;
            if (row.node >= records_.size()) {
                slots_.resize(std::size_t{row.node} + 1,
                              0); // slots_ first: the size of records_ is what is checked
                records_.resize(std::size_t{row.node} + 1);
            }
            slots_[row.node] = row.slots;
            records_[row.node].seen = now_;
            records_[row.node].present = true;
        }
        double const gone = 64 * evidence_.window_length();
        for (std::uint32_t i = 0; i < records_.size(); ++i) {
            record const& r = records_[i];
            if (r.present && now_ - r.seen > gone && gone > 0) forget(i);
        }
    }

    // A node's speed relative to a usual node.
    [[nodiscard]] double pace(std::uint32_t node) const noexcept {
        slowdown const s = evidence_.slowdown_of(node);
        double const known = s.is_known() ? s.value : records_[node].guilty_of.value;
        return known > 1 ? 1 / known : 1.0;
    }
    void observe_load(std::span<blacklist::node_row const> rows, cluster_load const& load) {
        double busy = 0, busy_slots = 0;
        capacity_ = out_ = 0;
        total_slots_ = 0;
        for (blacklist::node_row const& row : rows) {
            if (row.node >= records_.size() || row.word == condition::away || row.word == condition::denied)
                continue;
            double const p = pace(row.node);
            busy += row.busy * p;
            busy_slots += row.busy;
            capacity_ += row.slots * p;
            total_slots_ += row.slots;
            if (records_[row.node].is_out()) out_ += row.slots * p;
        }
        if (load.slots != 0 && load.busy != 0 && !(busy_slots > 0))
            busy = busy_slots = static_cast<double>(load.busy);
        load_.observe(now_, evidence_.usual_duration(), busy, busy_slots, static_cast<double>(load.waiting));
    }

    // Ration new exclusions: a quarter of the nodes at once, and the same again over 32 windows.
    void refill(std::size_t nodes) {
        double const most = (std::max)(4.0, static_cast<double>(nodes) / 4);
        std::uint64_t const windows = evidence_.windows();
        if (!refilled_) {
            refilled_ = true;
            allowance_ = most;
        } else {
            allowance_ =
                (std::min)(most, allowance_ + most * static_cast<double>(windows - refilled_at_) / 32);
        }
        refilled_at_ = windows;
    }

    // Collects the evidence against each node. Three kinds of evidence share the error budget; slow nodes are
    // the hardest to detect, so they get most of it.
    void weigh(std::span<blacklist::node_row const> rows, std::span<running_attempt const> running,
               bool is_first) {
        auto const nodes = static_cast<double>(std::max<std::size_t>(rows.size(), 1));
        double const plain = std::log(1.25 * options_.windows_per_error * nodes);
        double const same_tasks = std::log(1.25 * options_.windows_per_error);
        double const threshold = std::log(10 * options_.windows_per_error * nodes);
        audit_.look(now_, running, failures_, [&](std::uint32_t node) {
            // For a node already named, its own evidence decides when it is cleared.
            bool const is_named =
                node < records_.size() && (records_[node].state == node_state::on_probation ||
                                           blacklist::has(records_[node].causes, cause::failing));
            return failures_.evidence(node) > (is_named ? 0.0 : threshold) ||
                   failures_.does_nothing_else(node) ||
                   (failures_.consecutive(node) >= 3 && failures_.distinct(node) >= 2);
        });
        for (blacklist::node_row const& row : rows) {
            if (row.node >= records_.size()) continue;
            record& r = records_[row.node];
            if (evidence_.take_outrun(row.node)) weigh_verdict(r, true);
            double const stuck = evidence_.stuck_for(row.node);
            double const outrun =
                evidence_.outrun_by(row.node); // copies end its tasks before they count as stuck
            if (r.state == node_state::excluded || r.state == node_state::on_probation) {
                // The reason for its exclusion persists: it was not slow, it hangs.
                if (r.why.rule == "running_time" && stuck > hung_from(row.node))
                    r.causes |= static_cast<std::uint8_t>(cause::hung);
                continue;
            }
            slowdown const s = evidence_.estimate_of(row.node);
            bool const hangs = evidence_.is_hung(row.node, threshold);
            if (evidence_.is_slow(row.node, plain) && is_plain(row.node, s))
                accuse(row.node, cause::slow, s,
                       {s.value, evidence_.tolerated() * classes_.usual(row.node), classes_.usual(row.node),
                        "slowdown"},
                       evidence_.is_one_batch(row.node) && evidence_.closed_evidence(row.node) < plain / 2);
            else if (double const times = (std::max)(stuck, outrun); hangs && times > 2)
                accuse(row.node, cause::slow, at_least(times, row.node),
                       {times, evidence_.tolerated(), 1, "running_time"},
                       !(outrun > 0) && evidence_.is_one_batch(row.node));
            if (double const long_enough = hung_from(row.node); hangs && stuck > long_enough)
                accuse(row.node, cause::hung, at_least(stuck, row.node), {stuck, long_enough, 1, "hung"},
                       evidence_.is_one_batch(row.node));
            if (double const killed = evidence_.killed_in_a_row(row.node);
                killed >= least_killed && evidence_.killed_evidence(row.node) > threshold)
                accuse(row.node, cause::hung, s, {killed, least_killed, 0, "killed"});
            // The same two or three tasks failing again add little evidence: allow the node the error budget
            // that the fleet has otherwise.
            bool const is_same = failures_.consecutive(row.node) >= 7 && failures_.distinct(row.node) <= 3;
            double const asked = is_same ? same_tasks : plain;
            if (audit_.evidence(row.node) > threshold ||
                (!is_first && audit_.evidence_of_all(row.node) > asked &&
                 failures_.does_nothing_else(row.node)))
                accuse(row.node, cause::failing, s,
                       {failures_.rate(row.node), failures_.usual_rate(), failures_.usual_rate() / 2,
                        "failures"});
            if (row.word == condition::denied)
                accuse(row.node, cause::denied, s, {0, 0, 0, "denied"});
            else
                r.acquit(cause::denied);
            if (r.state == node_state::last_resort) reconsider(row.node);
        }
    }
    // A single job may have given the node its hard tasks.
    [[nodiscard]] bool is_plain(std::uint32_t node, slowdown const& s) const noexcept {
        return evidence_.jobs_of(node) >= 2 && evidence_.tasks_of(node) >= 4 &&
               s.low > options_.evidence.least_slowdown * classes_.usual(node);
    }
    // The whole slowdown interval since its trial began lies below the tolerated slowdown.
    [[nodiscard]] bool is_clear(std::uint32_t node) const noexcept {
        slowdown const s = evidence_.slowdown_of(node);
        return s.is_known() && evidence_.evidence(node) < 0 &&
               s.high < options_.evidence.least_slowdown * classes_.usual(node);
    }
    // Multiple of the usual time that counts as hung: a node that is slow, but ends its tasks, does not hang.
    [[nodiscard]] double hung_from(std::uint32_t node) const noexcept { return 8 * evidence_.pace_of(node); }
    // Based on attempts that still run: a lower bound without an interval.
    [[nodiscard]] slowdown at_least(double stuck, std::uint32_t node) const noexcept {
        return {.value = stuck, .tasks = evidence_.running_on(node)};
    }
    void accuse(std::uint32_t node, cause c, slowdown const& s, comparison const& why, bool batch = false) {
        record& r = records_[node];
        bool const is_new = !blacklist::has(r.causes, c);
        r.batch = batch && (r.batch || r.causes == 0);
        r.causes = static_cast<std::uint8_t>(r.causes | static_cast<std::uint8_t>(c));
        if (!is_new) {
            if (c != cause::slow || !s.is_known()) return;
            // In service it shows more and more. Twice as far below the value as `low`: of many intervals,
            // some lie above the truth.
            evidence_.raise_charge(node, least_charge(node, s.low * s.low / s.value));
            if (r.why.rule == why.rule) r.why = why;
            r.guilty_of = s;
            return;
        }
        r.why = why;
        r.guilty_of = s;
        r.struck = false;
        if (c == cause::hung) {
            evidence_.charge_hung(node);
            if (!r.is_out()) set_term(node, r, r.strikes + 1);
        }
        if (c == cause::slow) evidence_.charge(node, least_charge(node, s.low));
    }
    [[nodiscard]] double least_charge(std::uint32_t node, double guilty_of) const noexcept {
        return (std::max)(guilty_of / classes_.usual(node), options_.evidence.least_slowdown);
    }
    // Whether tasks in service speak against what a last resort was accused of, so that room alone is no
    // reason to exclude it. Running tasks that are late have no interval, and stay a reason.
    [[nodiscard]] bool is_in_doubt(std::uint32_t node, slowdown const& s) const noexcept {
        record const& r = records_[node];
        return r.state == node_state::last_resort && r.why.rule == "slowdown" && s.is_known() &&
               !(s.low > options_.evidence.least_slowdown * classes_.usual(node));
    }
    // A last resort keeps working, so it can show that it has recovered.
    void reconsider(std::uint32_t node) {
        record& r = records_[node];
        if (blacklist::has(r.causes, cause::slow) &&
            (evidence_.restored_evidence(node) > plain_relief || is_clear(node))) {
            r.acquit(cause::slow);
            evidence_.end_trial(node, now_);
        }
        if (blacklist::has(r.causes, cause::hung) && evidence_.hung_evidence(node) < 0 &&
            !(evidence_.killed_evidence(node) > 0))
            r.acquit(cause::hung);
        // What hangs gets nothing, and so can show nothing: once nothing runs there, it is tried again after
        // as long as an exclusion takes, which doubles each time.
        if (blacklist::has(r.causes, cause::hung) && evidence_.running_on(node) == 0 && now_ > r.until) {
            if (r.strikes < 32) ++r.strikes;
            r.acquit(cause::hung);
            evidence_.end_trial(node, now_);
        }
        if (blacklist::has(r.causes, cause::failing) && !(audit_.evidence(node) > 0) &&
            !failures_.does_nothing_else(node))
            r.acquit(cause::failing);
        if (r.causes == 0) weigh_verdict(r, false);
    }

    // Advances time: ends exclusions, judges trials.
    void advance(std::span<blacklist::node_row const> rows) {
        for (blacklist::node_row const& row : rows) {
            if (row.node >= records_.size()) continue;
            record& r = records_[row.node];
            if (row.word == condition::away) {
                if (r.state != node_state::away) r.enter(node_state::away, now_);
                continue;
            }
            if (r.state == node_state::away) {
                // Evidence from before its absence says little about the node now.
                r.enter(node_state::healthy, now_);
                r.causes = 0;
                evidence_.end_trial(row.node, now_);
                failures_.restart(row.node);
            }
            // It was excluded before any task showed how long tasks take.
            if (r.state == node_state::excluded && !(r.until > r.excluded_at) &&
                evidence_.window_length() > 0)
                r.until = now_ + exclusion_length(row.node, (std::max)(r.strikes, 1u));
            if (r.state == node_state::excluded && r.until > r.excluded_at && now_ >= r.until &&
                !blacklist::has(r.causes, cause::denied)) {
                r.enter(node_state::on_probation, now_);
                r.stage = 0;
                r.stage_since = now_;
                r.stage_tasks = 0;
                evidence_.begin_trial(row.node, now_);
                failures_.restart(row.node);
            } else if (r.state == node_state::on_probation) {
                judge(row);
            } else if (r.state == node_state::healthy && r.strikes != 0 &&
                       now_ - r.since > 8 * exclusion_length(row.node, r.strikes)) {
                --r.strikes; // much later than even a slightly slow node is detected again
                r.since = now_;
            }
        }
    }
    void judge(blacklist::node_row const& row) {
        record& r = records_[row.node];
        // Time without work counts an eighth: a quiet hour acquits no node, and a dead feed keeps none out
        // indefinitely.
        r.stage_since = (std::min)(r.stage_since + 0.875 * idle_, now_);
        double const races = evidence_.race_evidence(row.node);
        double const against = (std::max)(evidence_.evidence(row.node), races),
                     in_favour = evidence_.restored_evidence(row.node);
        double const tasks = evidence_.tasks_of(row.node), window = evidence_.window_length();
        bool const fails = audit_.evidence(row.node) > relief || failures_.evidence_of_run(row.node) > relief;
        // Attempts that hung before and still run are a bad sign, even if nothing new was tried.
        double const stuck = evidence_.stuck_for(row.node);
        bool const hung_before = blacklist::has(r.causes, cause::hung);
        bool const is_stuck = stuck > hung_from(row.node);
        bool const hangs =
            (evidence_.hung_evidence(row.node) > relief && stuck > 2) || (hung_before && is_stuck);
        // Slow probes are few: after long enough, decide on the evidence available.
        bool const is_over = now_ - r.stage_since > 8 * window;
        if (fails || hangs || (against > relief && (tasks >= 2 || races > relief || is_over))) {
            r.struck = false;
            r.causes = static_cast<std::uint8_t>(fails                                ? cause::failing
                                                 : hangs && (hung_before || is_stuck) ? cause::hung
                                                                                      : cause::slow);
            r.relapse = true;
            if (against > relief) weigh_verdict(r, true); // hung attempts from before are no proof
            say_again(row.node, r);
            return;
        }
        if (is_clear(row.node)) { // more probes would show nothing new
            weigh_verdict(r, false);
            release(row.node);
            return;
        }
        bool const full = r.stage >= 32 || (std::uint64_t{1} << r.stage) >= row.slots;
        double const here = now_ - r.stage_since;
        bool const shown = tasks - r.stage_tasks >=
                           (std::min)(static_cast<double>(row.slots), std::exp2((std::min)(r.stage, 32u)));
        // Time alone clears no node that still looks slow: it stays on trial until then.
        bool const is_due = here > (against > 0 ? patience : 8) * window;
        bool const idle = !(tasks > 0) && races == 0;
        if (idle) {
            // It was given nothing: do not wait indefinitely.
            double const least = options_.probes_with_tasks ? patience : 4;
            if (here > (std::max)(least * window, r.until - r.excluded_at)) release(row.node);
        } else if (!full) {
            if ((shown && here >= window) || in_favour > relief || is_due) {
                ++r.stage;
                r.stage_since = now_;
                r.stage_tasks = tasks;
            }
        } else if ((here >= window && shown && (in_favour > relief || (against < 0 && in_favour > 0))) ||
                   is_due) {
            if (tasks > 0) weigh_verdict(r, false);
            release(row.node);
        }
    }
    // Replaces the reason of the exclusion by what the trial showed.
    void say_again(std::uint32_t node, record& r) const noexcept {
        double const usual = classes_.usual(node), tolerated = evidence_.tolerated() * usual;
        if (slowdown const s = evidence_.estimate_of(node);
            r.causes == static_cast<std::uint8_t>(cause::slow) && s.is_known() && s.value > tolerated) {
            r.guilty_of = s;
            r.why = {s.value, tolerated, usual, "slowdown"};
        } else if (double const races = evidence_.race_evidence(node);
                   r.causes == static_cast<std::uint8_t>(cause::slow) && races > relief) {
            r.why = {races, relief, 0, "races"};
        } else if (double const stuck = evidence_.stuck_for(node);
                   r.causes == static_cast<std::uint8_t>(cause::hung) && stuck > hung_from(node)) {
            r.guilty_of = at_least(stuck, node);
            r.why = {stuck, hung_from(node), 1, "hung"};
        } else if (r.causes == static_cast<std::uint8_t>(cause::failing)) {
            r.why = {failures_.rate(node), failures_.usual_rate(), failures_.usual_rate() / 2, "failures"};
        }
    }
    // Records whether a verdict based on attempts that started together was right.
    void weigh_verdict(record& r, bool was_right) noexcept {
        if (std::exchange(r.batch, false)) evidence_.learn_batch(was_right);
    }
    void release(std::uint32_t node) {
        record& r = records_[node];
        r.enter(node_state::healthy, now_);
        r.causes = 0;
        r.spared_by = spared::no;
        r.guilty_of = {};
        evidence_.end_trial(node, now_);
    }

    // In units of time; doubles with each strike.
    [[nodiscard]] double exclusion_length(std::uint32_t node, std::uint32_t strikes) const noexcept {
        double const windows = (std::min)(
            options_.longest_exclusion, options_.first_exclusion * std::exp2((std::min)(strikes, 40u) - 1.0));
        // Jitter: nodes excluded together must not return together.
        std::uint64_t const mixed = detail::spread(detail::spread(node + 1) + strikes);
        double const jitter = static_cast<double>(mixed >> 11) * 0x1p-53;
        return windows * (1 + jitter / 4) * evidence_.window_length();
    }

    static constexpr double patience = 64;                    // windows of a trial without good news
    static constexpr std::size_t few_attempts = 256;          // that are weighed at each call
    static constexpr double least_killed = 4;                 // consecutive attempts
    static constexpr double relief = 2.995732273553991;       // ln 20: for a trial
    static constexpr double plain_relief = 5.298317366548036; // ln 200: for a detector that runs all the time

    // Decides which of the nodes with evidence against them are out: those already out first, then the worst.
    void admit(std::span<blacklist::node_row const> rows, bool may_exclude) {
        order_.clear();
        double doubted = 0;
        std::size_t present = 0;
        for (blacklist::node_row const& row : rows) {
            if (row.node >= records_.size() || row.word == condition::away) continue;
            ++present;
            record& r = records_[row.node];
            if (r.state != node_state::last_resort || r.causes == 0) r.spared_by = spared::no;
            if (r.causes == 0) {
                if (r.state == node_state::last_resort) r.enter(node_state::healthy, now_);
                continue;
            }
            order_.push_back({row.node, row.slots, row.domain, row.word});
            if (!blacklist::has(r.causes, cause::denied)) doubted += row.slots;
        }
        detail::sort_rows(order_,
                          [this](candidate const& a, candidate const& b) { return goes_before(a, b); });
        bool const open = doubted > options_.fail_open * total_slots_;
        double const beyond = doubted - options_.share_of_slots * total_slots_;
        staying_ = beyond > 0 ? beyond / total_slots_ : 0.0;
        double out_slots = 0, out_capacity = 0, excess = 0;
        std::size_t out = 0;
        bool back = false; // because of the load
        load_allows_ = true;
        for (candidate const& c : order_) {
            record& r = records_[c.node];
            if (c.word == condition::denied) {
                r.spared_by = spared::no;
                exclude(c.node, r);
                continue;
            }
            bool const urgent =
                blacklist::has(r.causes, cause::hung) || blacklist::has(r.causes, cause::failing);
            bool const was_out = r.is_out();
            double const p = pace(c.node);
            double const more = c.slots * (1 / p - 1);
            spared by = spared::no;
            bool const few =
                detail::is_in_share(options_.share_of_slots, present, total_slots_, out, out_slots, c.slots);
            if (c.word == condition::pinned)
                by = spared::by_operator;
            else if (open)
                by = spared::by_fail_open;
            else if (!few || out >= options_.most_out ||
                     total_slots_ - out_slots - c.slots < options_.least_slots)
                by = spared::by_limit;
            else if (is_last_of_domain(rows, c))
                by = spared::by_domain;
            else if (!urgent &&
                     !pays(out_slots + c.slots, out_capacity + c.slots * p, excess + more, was_out))
                by = spared::by_load;
            else if (!was_out && !may_exclude)
                by = spared::by_caller;
            else if (!was_out && allowance_ < 1)
                by = spared::by_action_cap;
            if (by == spared::by_load) {
                load_allows_ = false;
                back = back || was_out;
            }
            if (slowdown const s = evidence_.estimate_of(c.node);
                by == spared::no && !urgent && is_in_doubt(c.node, s)) {
                if (!(s.value > evidence_.tolerated() * classes_.usual(c.node))) release(c.node);
                continue;
            }
            r.spared_by = by;
            if (by != spared::no) {
                node_state const kept =
                    by == spared::by_fail_open ? node_state::healthy : node_state::last_resort;
                if (r.state != kept) r.enter(kept, now_);
                continue;
            }
            out_slots += c.slots;
            out_capacity += c.slots * p;
            excess += more;
            ++out;
            if (!was_out || r.relapse) exclude(c.node, r);
            if (!was_out && !urgent && pays_plainly_) load_.let_go_plainly();
        }
        if (back) load_.bring_back();
    }
    // Whether a set of slow nodes costs more in service than out of it. In service, a job that meets one of
    // them ends later by about half the extra time of a task there; out of service, every task waits longer.
    // Excluding requires a gain of at least twice the cost; staying excluded requires a net gain.
    [[nodiscard]] bool pays(double slots, double capacity, double excess, bool was_out) noexcept {
        double const share = slots / total_slots_, slower = excess / slots;
        double const tasks = (std::max)(1.0, evidence_.usual_tasks());
        double const met = 1 - std::pow(1 - (std::min)(share, 0.999), tasks);
        // A job that meets a node which has to stay anyway gains nothing.
        double const gain = met * std::pow(1 - (std::min)(staying_, 0.999), tasks) * slower / 2;
        double const cost = load_.wait_added(capacity_, capacity, out_);
        pays_plainly_ = load_.is_plain(gain, cost);
        return gain > load_.asked(was_out) * cost;
    }
    struct candidate {
        std::uint32_t node, slots, domain;
        condition word;
    };
    // Denied nodes first, then nodes already out, then by severity.
    [[nodiscard]] bool goes_before(candidate const& a, candidate const& b) const noexcept {
        record const &x = records_[a.node], &y = records_[b.node];
        auto const rank = [](candidate const& c, record const& r) {
            return c.word == condition::denied ? 0 : r.is_out() ? 1 : r.causes > 1 ? 2 : 3;
        };
        int const i = rank(a, x), j = rank(b, y);
        if (i != j) return i < j;
        if (x.guilty_of.value != y.guilty_of.value) return x.guilty_of.value > y.guilty_of.value;
        return a.node < b.node;
    }
    // Whether all others of its failure domain are out.
    [[nodiscard]] bool is_last_of_domain(std::span<blacklist::node_row const> rows,
                                         candidate const& c) const noexcept {
        if (c.domain == 0 || records_[c.node].is_out()) return false;
        std::size_t members = 0, in_service = 0;
        for (blacklist::node_row const& row : rows) {
            if (row.domain != c.domain || row.node >= records_.size() || row.word == condition::away)
                continue;
            ++members;
            if (!records_[row.node].is_out()) ++in_service;
        }
        return members > 1 && in_service <= 1;
    }

    void exclude(std::uint32_t node, record& r) {
        if (r.state == node_state::excluded && !r.relapse) return;
        if (!r.struck && r.strikes < 32) ++r.strikes;
        if (!r.relapse) allowance_ -= 1;
        r.struck = true;
        r.relapse = false;
        r.enter(node_state::excluded, now_);
        set_term(node, r, (std::max)(r.strikes, 1u));
    }
    // From now on it gets no work for as long as an exclusion takes after so many strikes.
    void set_term(std::uint32_t node, record& r, std::uint32_t strikes) const {
        r.excluded_at = now_;
        r.until = now_ + exclusion_length(node, strikes);
    }

    void write_verdicts() {
        verdicts_.clear();
        for (std::uint32_t i = 0; i < records_.size(); ++i) {
            record const& r = records_[i];
            if (r.state == node_state::healthy && r.spared_by == spared::no) continue;
            slowdown const s = evidence_.slowdown_of(i);
            // Races came after the interval that it was first accused of.
            bool const by_accusation = r.why.rule != "races" && (r.is_out() || !s.is_known());
            verdicts_.push_back({i, r.state, by_accusation ? r.guilty_of : s, r.why, r.causes, r.spared_by,
                                 r.strikes, r.since, r.until,
                                 r.state == node_state::on_probation ? probe_slots(i) : 0u});
        }
        detail::sort_rows(verdicts_, [](auto const& a, auto const& b) {
            if (a.state != b.state) return a.state > b.state;
            if (a.slow.value != b.slow.value) return a.slow.value > b.slow.value;
            return a.node < b.node;
        });
    }

    node_stage_options options_;
    slowdown_evidence evidence_;
    detail::failure_watch failures_;
    detail::failure_audit audit_;
    detail::load_watch load_;
    detail::machine_classes classes_;
    std::vector<record> records_;
    std::vector<std::uint32_t> slots_;
    double now_ = 0, allowance_ = 0, capacity_ = 0, out_ = 0, total_slots_ = 0;
    std::uint64_t refilled_at_ = 0;
    bool refilled_ = false;
    std::vector<candidate> order_;
    std::vector<blacklist::node_verdict> verdicts_;
    double idle_ = 0;     // without activity, of the time since the last call
    double staying_ = 0;  // share of slots on weak nodes that no limit has room for
    bool merged_ = false; // evidence, since it was last weighed
    bool decided_ = false, load_allows_ = true, pays_plainly_ = false;
};

} // namespace straggle
