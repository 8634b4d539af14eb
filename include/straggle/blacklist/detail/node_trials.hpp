// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_decisions.hpp`: what is held against nodes, and how trials end.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/blacklist/detail/exclusion_record.hpp>
#include <straggle/blacklist/detail/failure_watch.hpp>
#include <straggle/blacklist/detail/load_watch.hpp>
#include <straggle/blacklist/detail/machine_classes.hpp>
#include <straggle/blacklist/node_decisions_options.hpp>
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

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Void = void>
class basic_node_trials {
  protected:
    using record = basic_exclusion_record<Void>;
    using condition = straggle::record::condition;
    using cause = blacklist::cause;
    using spared = blacklist::spared;

    explicit basic_node_trials(node_decisions_options const& options)
        : options_(options), evidence_(options.evidence) {}

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
                slots_.resize(std::size_t{row.node} + 1, 0); // first: it is by the other that is looked
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

    // In what a usual node does.
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

    // New exclusions are rationed: a quarter of the nodes at once, and as many again in 32 windows.
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

    // What is held against each node now. Three kinds of evidence share the errors that are allowed; slow
    // nodes are what is hard to tell, so they have most of them.
    void weigh(std::span<blacklist::node_row const> rows, std::span<running_attempt const> running,
               bool is_first) {
        auto const nodes = static_cast<double>(std::max<std::size_t>(rows.size(), 1));
        double const plain = std::log(1.25 * options_.windows_per_error * nodes);
        double const same_tasks = std::log(1.25 * options_.windows_per_error);
        double const threshold = std::log(10 * options_.windows_per_error * nodes);
        audit_.look(now_, running, failures_, [&](std::uint32_t node) {
            // Of a node that has been named already its own evidence decides when it is cleared.
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
            double const outrun = evidence_.outrun_by(row.node); // copies end it before it is stuck
            if (r.state == node_state::excluded || r.state == node_state::on_probation) {
                // What it was excluded for goes on: it was not slow, it hangs.
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
            // Two or three tasks that come back as often tell no more: then as few errors for a node as else
            // for the fleet.
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
    // One job may have given a node its hard tasks.
    [[nodiscard]] bool is_plain(std::uint32_t node, slowdown const& s) const noexcept {
        return evidence_.jobs_of(node) >= 2 && evidence_.tasks_of(node) >= 4 &&
               s.low > options_.evidence.least_slowdown * classes_.usual(node);
    }
    // From how many times the usual time on: a node that is slow, and whose tasks end, does not hang.
    [[nodiscard]] double hung_from(std::uint32_t node) const noexcept { return 8 * evidence_.pace_of(node); }
    // Attempts that still run have taken so long: a lower bound, and no interval.
    [[nodiscard]] slowdown at_least(double stuck, std::uint32_t node) const noexcept {
        return {.value = stuck, .tasks = evidence_.running_on(node)};
    }
    void accuse(std::uint32_t node, cause c, slowdown const& s, comparison const& why, bool batch = false) {
        record& r = records_[node];
        bool const is_new = !blacklist::has(r.causes, c);
        r.batch = batch && (r.batch || r.causes == 0);
        r.causes = static_cast<std::uint8_t>(r.causes | static_cast<std::uint8_t>(c));
        if (!is_new) {
            if (c == cause::slow && s.is_known()) r.guilty_of = s;
            return;
        }
        r.why = why;
        r.guilty_of = s;
        r.struck = false;
        if (c == cause::hung) evidence_.charge_hung(node);
        if (c == cause::slow)
            evidence_.charge(node,
                             (std::max)(s.low / classes_.usual(node), options_.evidence.least_slowdown));
    }
    // A last resort works, so it can show that it has recovered.
    void reconsider(std::uint32_t node) {
        record& r = records_[node];
        if (blacklist::has(r.causes, cause::slow) && evidence_.restored_evidence(node) > plain_relief) {
            r.acquit(cause::slow);
            evidence_.end_trial(node, now_);
        }
        if (blacklist::has(r.causes, cause::hung) && evidence_.hung_evidence(node) < 0 &&
            !(evidence_.killed_evidence(node) > 0))
            r.acquit(cause::hung);
        if (blacklist::has(r.causes, cause::failing) && !(audit_.evidence(node) > 0) &&
            !failures_.does_nothing_else(node))
            r.acquit(cause::failing);
        if (r.causes == 0) weigh_verdict(r, false);
    }

    // Time passes: exclusions end, trials are decided.
    void advance(std::span<blacklist::node_row const> rows) {
        for (blacklist::node_row const& row : rows) {
            if (row.node >= records_.size()) continue;
            record& r = records_[row.node];
            if (row.word == condition::away) {
                if (r.state != node_state::away) r.enter(node_state::away, now_);
                continue;
            }
            if (r.state == node_state::away) {
                // What it did before it went away says little of it now.
                r.enter(node_state::healthy, now_);
                r.causes = 0;
                evidence_.end_trial(row.node, now_);
                failures_.restart(row.node);
            }
            // Excluded before any task has shown how long tasks take.
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
                --r.strikes; // much later than a node that is a little slow is found again
                r.since = now_;
            }
        }
    }
    void judge(blacklist::node_row const& row) {
        record& r = records_[row.node];
        // Time in which there is no work to give counts an eighth: a quiet hour acquits no node, and a feed
        // that has died keeps none out for ever.
        r.stage_since = (std::min)(r.stage_since + 0.875 * evidence_.idle_time(), now_);
        double const races = evidence_.race_evidence(row.node);
        double const against = (std::max)(evidence_.evidence(row.node), races),
                     in_favour = evidence_.restored_evidence(row.node);
        double const tasks = evidence_.tasks_of(row.node), window = evidence_.window_length();
        bool const fails = audit_.evidence(row.node) > relief || failures_.evidence_of_run(row.node) > relief;
        // What hung before and still runs is no good sign, even if nothing new was tried.
        double const stuck = evidence_.stuck_for(row.node);
        bool const hung_before = blacklist::has(r.causes, cause::hung);
        bool const is_stuck = stuck > hung_from(row.node);
        bool const hangs =
            (evidence_.hung_evidence(row.node) > relief && stuck > 2) || (hung_before && is_stuck);
        // Slow probes are few: after long enough it is decided by what there is.
        bool const is_over = now_ - r.stage_since > 8 * window;
        if (fails || hangs || (against > relief && (tasks >= 2 || races > relief || is_over))) {
            r.struck = false;
            r.causes = static_cast<std::uint8_t>(fails                                ? cause::failing
                                                 : hangs && (hung_before || is_stuck) ? cause::hung
                                                                                      : cause::slow);
            r.relapse = true;
            if (against > relief) weigh_verdict(r, true); // not by what hung before
            return;
        }
        bool const full = r.stage >= 32 || (std::uint64_t{1} << r.stage) >= row.slots;
        double const here = now_ - r.stage_since;
        bool const shown = tasks - r.stage_tasks >=
                           (std::min)(static_cast<double>(row.slots), std::exp2((std::min)(r.stage, 32u)));
        // Time alone clears no node that still looks slow: it goes on trying, for so long.
        bool const is_due = here > (against > 0 ? 64 : 8) * window;
        bool const idle = !(tasks > 0) && races == 0;
        if (idle) {
            // It was given nothing: it is not waited for for ever.
            if (here > (std::max)(4 * window, r.until - r.excluded_at)) release(row.node);
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
    // How a verdict by attempts that began together ended.
    void weigh_verdict(record& r, bool was_right) noexcept {
        if (std::exchange(r.batch, false)) evidence_.learn_batch(was_right);
    }
    void release(std::uint32_t node) {
        record& r = records_[node];
        r.enter(node_state::healthy, now_);
        r.causes = 0;
        r.guilty_of = {};
        evidence_.end_trial(node, now_);
    }

    // In units of time; doubled with each strike.
    [[nodiscard]] double exclusion_length(std::uint32_t node, std::uint32_t strikes) const noexcept {
        double const windows = (std::min)(
            options_.longest_exclusion, options_.first_exclusion * std::exp2((std::min)(strikes, 40u) - 1.0));
        // Nodes that went together do not come back together.
        std::uint64_t const mixed = spread(spread(node + 1) + strikes);
        double const jitter = static_cast<double>(mixed >> 11) * 0x1p-53;
        return windows * (1 + jitter / 4) * evidence_.window_length();
    }

    static constexpr double least_killed = 4;                 // attempts in a row
    static constexpr double relief = 2.995732273553991;       // ln 20: of a trial
    static constexpr double plain_relief = 5.298317366548036; // ln 200: of a detector that runs all the time

    node_decisions_options options_;
    slowdown_evidence evidence_;
    failure_watch failures_;
    failure_audit audit_;
    basic_load_watch<Void> load_;
    basic_machine_classes<Void> classes_;
    std::vector<record> records_;
    std::vector<std::uint32_t> slots_;
    double now_ = 0, allowance_ = 0, capacity_ = 0, out_ = 0, total_slots_ = 0;
    std::uint64_t refilled_at_ = 0;
    bool refilled_ = false;
};
using node_trials = basic_node_trials<>;

} // namespace straggle::detail
