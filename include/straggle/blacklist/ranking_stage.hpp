// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Stage 1 of a mitigator by the papers' parts, or yours: nodes are weighed by a ranking of each window, and
/// a selection, an exclusion and limits decide.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/blacklist/limits.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/rank/monitor.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/cluster_load.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

inline constexpr attempt_fields ended_attempt_fields{.job = &ended_attempt::job,
                                                     .node = &ended_attempt::node,
                                                     .start = &ended_attempt::start,
                                                     .end = &ended_attempt::end,
                                                     .status = &ended_attempt::as,
                                                     .waited = &ended_attempt::waited};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// Decides about nodes as `windowed_blacklist` does, on the numbers of a mitigator: the nodes of
/// `mitigate::stages`.
///
/// Source: DSB algorithm 1. It knows durations alone: no running attempts, no failures, no load; the default
/// `node_stage` knows them. The operators' settings hold: `denied` nodes stay out, `pinned` ones in.
/// @tparam Ranking a `rank_options`: normalizer, interval estimator, ranker
/// @tparam List a `rolling_blacklister<std::uint32_t, ...>`: selection, exclusion, limits
/// @par Example
/// `mitigate::stages{.nodes = blacklist::ranking_stage{monitor_options<double>{.window = 600}}}`
/// @par Cost
/// that of `monitor` and of the list, once for each window; O(nodes) for each decision
/// @par Guarantees
/// deterministic; memory as bounded by the options. It is not stored with a mitigator, and not merged: a
/// restored mitigator learns nodes anew. One thread at a time
template <class Ranking = rank_options<>, class List = rolling_blacklister<std::uint32_t>>
class ranking_stage {
    using monitor_type = monitor<ended_attempt, decltype(detail::ended_attempt_fields), Ranking, double>;
    using condition = straggle::record::condition;

  public:
    /// @param how window, slide and ranking; times are those of the attempts
    /// @param list what remembers the exclusions
    /// @pre `how.window` is more than zero
    explicit ranking_stage(monitor_options<double, Ranking> how, List list = List{})
        : length_(how.slide > 0 ? how.slide : how.window),
          monitor_(detail::ended_attempt_fields, std::move(how)),
          list_(std::move(list)) {
        STRAGGLE_EXPECTS(length_ > 0);
        list_.windows_overlap(monitor_.windows_overlap());
    }

    /// Adds an attempt that ended.
    /// @return whether its duration is used
    bool observe(ended_attempt const& attempt, double now) { return monitor_.observe(attempt, now); }
    /// Decides on the last window that is over.
    /// @param now the time; an earlier one than before changes nothing
    /// @param rows every node of the cluster
    /// @param may_exclude false: no new exclusions; current ones continue and end
    void decide(double now, std::span<running_attempt const>, std::span<node_row const> rows,
                cluster_load const&, bool may_exclude = true) {
        if (!detail::is_finite(now)) return;
        fleet_.clear();
        for (node_row const& row : rows)
            if (row.word != condition::away) fleet_.push_back(row.node);
        std::int64_t const window = monitor_.window_number(now);
        if (!decided_ || window > list_.decision().window()) {
            decided_ = true;
            auto const& ranking = monitor_.rank(now);
            list_.decide(ranking, window, std::span<std::uint32_t const>(fleet_));
            for (auto const& node : ranking.nodes()) note(node.id).slow = node.slow;
        }
        write_verdicts(now, rows, may_exclude);
    }

    /// The nodes that are not plainly healthy, the excluded ones first. Valid until the next decision.
    [[nodiscard]] std::span<node_verdict const> verdicts() const noexcept {
        return detail::span_of(verdicts_);
    }
    /// How many times as long its tasks took, in the last window that ranked it.
    [[nodiscard]] slowdown slowdown_of(std::uint32_t node) const noexcept {
        return node < notes_.size() ? notes_[node].slow : slowdown{};
    }
    /// A job is over.
    void finish_job(std::uint64_t job) { monitor_.finish(job); }
    /// A node is gone for good; its number may be reused.
    void forget_node(std::uint32_t node) {
        list_.forget(node);
        if (node < notes_.size()) notes_[node] = {};
    }

    /// What remembers the attempts.
    [[nodiscard]] monitor_type const& watched() const noexcept { return monitor_; }
    /// What remembers the exclusions.
    [[nodiscard]] List const& list() const noexcept { return list_; }

  private:
    struct node_note {
        slowdown slow{};
        node_state state = node_state::healthy;
        double since = 0; // when it entered that state
    };
    node_note& note(std::uint32_t node) {
        if (node >= notes_.size()) notes_.resize(node + std::size_t{1});
        return notes_[node];
    }

    void write_verdicts(double now, std::span<node_row const> rows, bool may_exclude) {
        verdicts_.clear();
        for (node_row const& row : rows) {
            node_note& n = note(row.node);
            node_verdict out{.node = row.node, .slow = n.slow};
            if (auto const* const said = list_.decision().find(row.node)) {
                out.state = said->state;
                out.why = {said->value, said->threshold, 0, said->rule};
                out.causes = static_cast<std::uint8_t>(cause::slow);
                out.strikes = said->strikes;
                out.probe_slots = said->state == node_state::on_probation ? 1 : 0;
                if (!said->spared_by.empty())
                    out.spared_by =
                        said->spared_by == fail_open::name ? spared::by_fail_open : spared::by_limit;
                if (said->state == node_state::excluded)
                    out.until =
                        now + (said->until - static_cast<double>(list_.decision().window())) * length_;
            }
            bool const is_new = out.state == node_state::excluded && n.state == node_state::healthy;
            if (out.state != node_state::healthy &&
                (row.word == condition::pinned || (is_new && !may_exclude))) {
                out.state = node_state::healthy;
                out.spared_by = row.word == condition::pinned ? spared::by_operator : spared::by_caller;
            }
            if (row.word == condition::denied) {
                out.state = node_state::excluded;
                out.causes |= static_cast<std::uint8_t>(cause::denied);
                out.why = {0, 0, 0, "denied"};
            }
            if (row.word == condition::away) out.state = node_state::away;
            if (out.state != n.state) {
                n.state = out.state;
                n.since = now;
            }
            out.since = n.since;
            if (out.state != node_state::healthy || out.spared_by != spared::no) verdicts_.push_back(out);
        }
        std::sort(verdicts_.begin(), verdicts_.end(), [](node_verdict const& a, node_verdict const& b) {
            return a.state != b.state ? a.state > b.state : a.node < b.node;
        });
    }

    double length_; // of a slide
    monitor_type monitor_;
    List list_;
    bool decided_ = false;
    std::vector<node_note> notes_;
    std::vector<std::uint32_t> fleet_; // scratch
    std::vector<node_verdict> verdicts_;
};

} // namespace straggle::blacklist
