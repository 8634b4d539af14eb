// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: compares the ages of running attempts with their siblings'
/// times, to find nodes that hang.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/rank/detail/evidence_store.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

inline void evidence_store::begin_watch() {
    for (node_watch& n : nodes_) {
        n.running = n.company = n.batches = 0;
        n.survived = no_evidence;
    }
    for (running_place const& p : running_) ++nodes_[p.node].company;
    reserve_for(ages_, running_.size());
    ages_.resize(running_.size());
    std::uint32_t next = 0; // each node has room for its attempts
    for (node_watch& n : nodes_) {
        n.ages = next;
        next += n.company;
        n.aged = 0;
    }
}

inline void evidence_store::watch_job(double now, std::uint32_t j, std::span<running_time const> running) {
    live_job& job = jobs_[j];
    bool const ended = std::exchange(job.fresh, false);
    if (running.empty() && !ended) return;
    if (ended) see_races(job, running);
    builder_.input_slope = inputs_.slope(job.kind);
    if (!builder_.build_times(span_of(job.attempts), running, span_of(beliefs_)) || !builder_.has_tail())
        return;
    // If the tail is known only now, count the job from its start: earlier exposure is equally valid
    // evidence.
    double const before = std::exchange(job.weighed, now);
    running_time const* lead = nullptr; // first attempt of the current batch
    double const together = builder_.together();
    for (running_time const& r : running) {
        node_belief const& b = beliefs_[r.node];
        if (r.copy) continue;
        double const log_ratio = builder_.log_ratio(builder_.usual_age(r.age, r.input));
        node_watch& n = nodes_[r.node];
        aged_attempt& aged = ages_[n.ages + n.aged++];
        aged = {log_ratio, r.start, 0};
        if (r.start < b.since) continue;
        double const slow = builder_.slowest(b);
        ++n.running;
        bool const leads = lead == nullptr || lead->node != r.node || r.start - lead->start > together;
        if (leads) {
            lead = &r;
            ++n.batches;
        } else if (!batches_.holds()) {
            continue;
        }
        // If neighbors are similar, a batch is like one task, which may be larger than any before.
        bool const alone = n.company < 2 || !batches_.holds();
        double const exposed = builder_.exposure(r.age, log_ratio, r.node, slow, alone);
        n.exposed += exposed - builder_.exposure(builder_.usual_age(r.age - (now - before), r.input), r.node,
                                                 slow, alone);
        aged.hazard = exposed;
    }
    for (timed_attempt const& a : job.attempts) {
        if (!(a.end > before) || a.copy) continue;
        double const length = std::exp(a.ticks * nats_per_tick);
        node_belief const& b = beliefs_[a.node];
        if (a.end - length < b.since) continue;
        node_watch& n = nodes_[a.node];
        double const slow = builder_.slowest(b);
        n.exposed +=
            builder_.exposure(builder_.usual_age(length, a.input), a.node, slow, true) -
            builder_.exposure(builder_.usual_age(length - (a.end - before), a.input), a.node, slow, true);
        double const at = builder_.usual_time(a.ticks * nats_per_tick, a.input) - builder_.origin();
        if (a.killed) n.give_up(at);
        if (a.censored) continue;
        n.ended += 1;
        n.last_ended = (std::max)(n.last_ended, a.end - length);
        learn_pace(a.node, at);
    }
}

inline void evidence_store::watch_hung(double now) {
    for_each_live(
        [&](std::uint32_t j, std::span<running_time const> running) { watch_job(now, j, running); });
    for (node_watch& n : nodes_) {
        n.hung.add(n.exposed, n.ended);
        n.outruns = std::clamp(n.outruns - n.ended, 0.0, most_outruns);
        n.given_up = std::clamp(n.given_up - n.ended, 0.0, most_outruns);
        n.exposed = n.ended = n.stuck = 0;
    }
    for (node_watch& n : nodes_) {
        if (n.aged == 0) continue;
        std::span<aged_attempt> const ages = std::span(ages_).subspan(n.ages, n.aged);
        std::sort(ages.begin(), ages.end(),
                  [](aged_attempt const& a, aged_attempt const& b) { return a.log_ratio < b.log_ratio; });
        n.stuck = std::exp(ages[(ages.size() - 1) / 2].log_ratio);
        weigh_ages(n, ages);
    }
}

} // namespace straggle::detail
