// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which nodes get no work, which get it only where nothing better is free, and how a node comes back: all
/// that is decided about nodes, over numbers instead of names.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/when_used.hpp>
#include <straggle/blacklist/detail/node_trials.hpp>
#include <straggle/blacklist/detail/slot_share.hpp>
#include <straggle/blacklist/node_decisions_options.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/rank/slowdown_evidence.hpp>
#include <straggle/record/cluster_load.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// Decides on nodes: observe what ended, then decide.
///
/// A node is out that is provably slower than is tolerated (`slowdown_evidence`), whose attempts do not end,
/// or that fails its tasks. A slow node is excluded only while the others can carry its work: what its
/// exclusion adds to the wait of tasks is compared with what its tasks cost. What load or a limit spares is a
/// last resort. Hung and failing nodes are excluded whatever the load.
///
/// An exclusion is followed by probation with 1, 2, 4, ... slots; what the node does then decides, and
/// without any probe it is back after as long as its exclusion lasted.
/// @par Guarantees
/// deterministic; memory bounded; allocates nothing in the steady state. One thread at a
/// time.
template <class Void = void>
class basic_node_decisions : private detail::basic_node_trials<Void> {
    // The base hangs on a parameter: its members have to be named.
    using trials = detail::basic_node_trials<Void>;
    using trials::advance, trials::allowance_, trials::capacity_, trials::classes_, trials::evidence_,
        trials::exclusion_length, trials::failures_, trials::forget, trials::load_, trials::now_,
        trials::observe_load, trials::options_, trials::out_, trials::pace, trials::records_, trials::refill,
        trials::refilled_, trials::refilled_at_, trials::slots_, trials::take_rows, trials::total_slots_,
        trials::weigh;
    using typename trials::cause, typename trials::condition, typename trials::record,
        typename trials::spared;

  public:
    /// @param options how
    explicit basic_node_decisions(node_decisions_options options = {})
        : detail::basic_node_trials<Void>(options) {
        STRAGGLE_EXPECTS(options.share_of_slots >= 0 && options.share_of_slots <= 1 &&
                         options.windows_per_error >= 1 && options.first_exclusion > 0 &&
                         options.longest_exclusion >= options.first_exclusion);
    }

    /// Takes in an attempt that ended, however it did.
    /// @return whether its length is used
    bool observe(ended_attempt const& attempt, double /*now*/) {
        if (attempt.node < options_.evidence.max_nodes) failures_.observe(attempt);
        return evidence_.observe(attempt);
    }

    /// Decides.
    /// @param now not before the last; an earlier one changes nothing
    /// @param running every attempt that runs, copies too
    /// @param rows every node of the cluster; a node that is missing for 64 windows is forgotten
    /// @param load how busy the cluster is
    /// @param may_exclude false: no new exclusions; those that stand go on and end
    void decide(double now, std::span<running_attempt const> running,
                std::span<blacklist::node_row const> rows, cluster_load const& load,
                bool may_exclude = true) {
        if (!detail::is_finite(now) || (decided_ && now < now_)) return;
        bool const is_first = !decided_;
        decided_ = true;
        now_ = now;
        take_rows(rows);
        evidence_.update(now, running, detail::span_of(slots_));
        observe_load(rows, load);
        refill(rows.size());
        failures_.know((std::min)(rows.size(), std::size_t{options_.evidence.max_nodes}));
        classes_.update(rows, evidence_, options_.evidence.max_nodes, options_.share_of_slots);
        weigh(rows, running, is_first);
        advance(rows);
        admit(rows, may_exclude);
        write_verdicts();
    }

    /// Where a node stands; healthy if nothing is known of it.
    [[nodiscard]] node_state state(std::uint32_t node) const noexcept {
        return node < records_.size() ? records_[node].state : node_state::healthy;
    }
    /// How many times as long its tasks take; unknown without enough evidence.
    [[nodiscard]] slowdown slowdown_of(std::uint32_t node) const noexcept {
        return evidence_.slowdown_of(node);
    }
    /// The same from as little as there is: for people, nothing is decided by it.
    [[nodiscard]] slowdown estimate_of(std::uint32_t node) const noexcept {
        return evidence_.estimate_of(node);
    }
    /// Whether it is slow just now: a guess, nothing is decided about nodes by it.
    [[nodiscard]] straggle::record::slow_guess slow_now(std::uint32_t node) const noexcept {
        return evidence_.slow_now(node);
    }
    /// Whether what ended there last has failed, three times or more. No proof: nothing is decided about
    /// nodes by it, but tasks go elsewhere first.
    [[nodiscard]] bool only_fails(std::uint32_t node) const noexcept {
        return failures_.consecutive(node) >= 3;
    }
    /// How its attempts fail.
    [[nodiscard]] blacklist::failure_rate failures_of(std::uint32_t node) const noexcept {
        return failures_.totals(node);
    }
    /// Whether a task has failed on a node and not ended well since. The last 4096 tasks that failed are
    /// remembered, with four nodes each. O(1)
    [[nodiscard]] bool has_failed(std::uint64_t job, std::uint64_t task, std::uint32_t node) const noexcept {
        return failures_.has_failed(job, task, node);
    }
    /// Jobs of which more tasks have failed than ended well, most failures first.
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
    /// The nodes that are not simply healthy: excluded ones first, then by slowdown. Valid until the next
    /// decision.
    [[nodiscard]] std::span<blacklist::node_verdict const> verdicts() const noexcept {
        return detail::span_of(verdicts_);
    }
    /// A job is over.
    void finish_job(std::uint64_t job) { evidence_.finish_job(job); }
    /// A node is gone for good; its number may be given to another.
    void forget_node(std::uint32_t node) { forget(node); }
    /// Whether slow nodes could be excluded at the last decision without making tasks wait.
    [[nodiscard]] bool load_allows_exclusion() const noexcept { return load_allows_; }
    /// How long a task usually takes; 0 if not known yet.
    [[nodiscard]] double usual_duration() const noexcept { return evidence_.usual_duration(); }
    /// The evidence on speed.
    [[nodiscard]] slowdown_evidence const& evidence() const noexcept { return evidence_; }
    /// What became of what was observed.
    [[nodiscard]] rank::evidence_counts counts() const noexcept { return evidence_.counts(); }

    /// Takes over the evidence of another one, as shards of one cluster do; its decisions stay its own.
    /// @param other the other one; jobs and tasks have the same keys there
    /// @param node_of by number of a node there: its number here, or 2^32 - 1 for nodes to leave out
    /// @param later how much larger the same point of time is here
    void merge(basic_node_decisions const& other, std::span<std::uint32_t const> node_of, double later = 0) {
        evidence_.merge(other.evidence_, node_of, later);
    }

    /// Appends all that is known and decided.
    void write(byte_writer& out) const {
        evidence_.write(out);
        failures_.write(out);
        load_.write(out);
        classes_.write(out);
        out.real(now_);
        out.flag(decided_);
        out.real(allowance_);
        out.flag(refilled_);
        out.u64(refilled_at_);
        out.count(records_.size());
        for (std::size_t i = 0; i < records_.size(); ++i) {
            records_[i].write(out);
            out.u32(slots_[i]);
        }
    }
    /// Reads it into a fresh object, which then decides as the other would have.
    status read(byte_reader& in) {
        if (status const s = evidence_.read(in); s != status::ok) return s;
        if (status const s = failures_.read(in, options_.evidence.max_nodes); s != status::ok) return s;
        if (status const s = load_.read(in); s != status::ok) return s;
        if (status const s = classes_.read(in, options_.evidence.max_nodes); s != status::ok) return s;
        now_ = in.real();
        decided_ = in.flag();
        allowance_ = in.real();
        refilled_ = in.flag();
        refilled_at_ = in.u64();
        in.expect(detail::is_finite(allowance_) && refilled_at_ <= evidence_.windows());
        std::size_t const nodes = in.count(detail::basic_exclusion_record<Void>::stored_bytes + 4);
        if (!in.expect(nodes <= options_.evidence.max_nodes && detail::is_finite(now_))) return in.reason();
        records_.resize(nodes);
        slots_.resize(nodes);
        for (std::size_t i = 0; i < nodes && in.ok(); ++i) {
            records_[i].read(in);
            slots_[i] = in.u32();
        }
        return in.reason();
    }

  private:
    // Which of those that something is held against are out: first those that are out already, then the
    // worst.
    void admit(std::span<blacklist::node_row const> rows, bool may_exclude) {
        order_.clear();
        double doubted = 0;
        std::size_t present = 0;
        for (blacklist::node_row const& row : rows) {
            if (row.node >= records_.size() || row.word == condition::away) continue;
            ++present;
            record& r = records_[row.node];
            r.spared_by = spared::no;
            if (r.causes == 0) {
                if (r.state == node_state::last_resort) r.enter(node_state::healthy, now_);
                continue;
            }
            order_.push_back({row.node, row.slots, row.domain, row.word});
            if (!blacklist::has(r.causes, cause::denied)) doubted += row.slots;
        }
        std::sort(order_.begin(), order_.end(),
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
    // them ends later by about half of what a task takes longer there; out of service, every task waits
    // longer. To exclude takes a gain of twice the cost or more, to keep out of service a gain.
    [[nodiscard]] bool pays(double slots, double capacity, double excess, bool was_out) noexcept {
        double const share = slots / total_slots_, slower = excess / slots;
        double const tasks = (std::max)(1.0, evidence_.usual_tasks());
        double const met = 1 - std::pow(1 - (std::min)(share, 0.999), tasks);
        // What meets one that has to stay anyway gains nothing.
        double const gain = met * std::pow(1 - (std::min)(staying_, 0.999), tasks) * slower / 2;
        double const cost = load_.wait_added(capacity_, capacity, out_);
        pays_plainly_ = load_.is_plain(gain, cost);
        return gain > load_.asked(was_out) * cost;
    }
    struct candidate {
        std::uint32_t node, slots, domain;
        condition word;
    };
    // Which are denied; which are out already; which make things worst.
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
        r.excluded_at = now_;
        r.until = now_ + exclusion_length(node, (std::max)(r.strikes, 1u));
    }

    void write_verdicts() {
        verdicts_.clear();
        for (std::uint32_t i = 0; i < records_.size(); ++i) {
            record const& r = records_[i];
            if (r.state == node_state::healthy && r.spared_by == spared::no) continue;
            slowdown const s = evidence_.slowdown_of(i);
            verdicts_.push_back({i, r.state, r.is_out() || !s.is_known() ? r.guilty_of : s, r.why, r.causes,
                                 r.spared_by, r.strikes, r.since, r.until,
                                 r.state == node_state::on_probation ? probe_slots(i) : 0u});
        }
        std::sort(verdicts_.begin(), verdicts_.end(), [](auto const& a, auto const& b) {
            if (a.state != b.state) return a.state > b.state;
            if (a.slow.value != b.slow.value) return a.slow.value > b.slow.value;
            return a.node < b.node;
        });
    }

    std::vector<candidate> order_;
    detail::when_used<Void, std::vector<blacklist::node_verdict>> verdicts_;
    double staying_ = 0; // share of the slots that something is held against and no limit has room for
    bool decided_ = false, load_allows_ = true, pays_plainly_ = false;
};

} // namespace straggle::blacklist

namespace straggle::inline STRAGGLE_ABI {

/// A `basic_node_decisions` that is instantiated where it is used.
using node_decisions = blacklist::basic_node_decisions<>;

} // namespace straggle
