// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The answer to "which nodes are provably weak": every node with its evidence, in levels, and an account of
/// every record and job that could not contribute.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/rank/detail/slowdown_estimate.hpp>
#include <straggle/rank/p_cores.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/slowdown.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI {

/// A node with an interval, and its position among the others.
template <class NodeId>
struct ranked_node {
    NodeId id{};             ///< as the records name it
    std::uint64_t n = 0;     ///< scores used
    double mean = 0;         ///< of the scores: above 0 is slower than siblings elsewhere
    double sd = 0;           ///< of the scores
    stats::interval ci{};    ///< of the mean
    std::uint32_t level = 0; ///< 0 is the weakest: no node is provably slower
    std::uint32_t seen = 0;  ///< index in the order of first appearance of all nodes, for breaking ties
    /// How many times as long its tasks took as on the median node, over all attempts; unknown below 8 tasks
    /// in 3 jobs that have siblings elsewhere.
    ///
    /// Estimated like `slowdown_evidence`: log time = job + node, clustered by job, since tasks that run
    /// together share ups and downs. Killed attempts count as lower bounds. If attempts have an `input`,
    /// times are first corrected by the power of it that this history shows, for each `kind`. Nodes are
    /// compared through shared jobs, directly or via other nodes. The interval covers the truth for one node
    /// with 95 % probability. Source: ours; docs/reference/evidence.md.
    slowdown slow{};
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::rank {

/// A node with too little evidence for an interval (fewer than two scores): neither good nor bad.
template <class NodeId>
struct unranked_node {
    NodeId id{};            ///< as the records name it
    std::uint64_t n = 0;    ///< scores: 0 or 1
    double mean = 0;        ///< of the scores; 0 without scores
    std::uint32_t seen = 0; ///< index in the order of first appearance of all nodes
};

/// A job whose attempts gave no scores.
template <class JobId>
struct degenerate_job {
    JobId id{};                 ///< as the records name it
    std::uint64_t attempts = 0; ///< accepted attempts
    status reason{};            ///< `insufficient_evidence`: too few tasks; `no_spread`: all of equal length
};

} // namespace straggle::rank

namespace straggle::inline STRAGGLE_ABI::detail {
struct ranking_access;
} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// Nodes in levels, weakest first.
///
/// @par Example
/// `for (auto const& node : ranking.level(0)) log(node.id, node.mean, node.ci.low, node.ci.high);`
/// @par Cost
/// about 80 bytes per node, plus the identifiers
/// @par Guarantees
/// the spans live as long as the ranking; requesting one from a temporary does not compile
template <class NodeId, class JobId = std::uint64_t>
class node_ranking {
  public:
    /// A ranked node.
    using node_type = ranked_node<NodeId>;
    /// Type of node names.
    using node_id = NodeId;
    /// Type of job names.
    using job_id = JobId;

    /// Number of levels; 0 when no node could be ranked.
    [[nodiscard]] std::size_t levels() const noexcept {
        return level_begin_.empty() ? 0 : level_begin_.size() - 1;
    }

    /// The nodes of a level, in order of first appearance. Level 0 holds the weakest.
    /// @pre `i < levels()`; level 0 of a ranking without levels is empty
    [[nodiscard]] std::span<node_type const> level(std::size_t i) const& {
        STRAGGLE_EXPECTS(i < levels() || i == 0);
        if (levels() == 0) return {};
        return nodes().subspan(level_begin_[i], level_begin_[i + 1] - level_begin_[i]);
    }

    /// All ranked nodes: level 0, then level 1, and so on.
    [[nodiscard]] std::span<node_type const> nodes() const& noexcept { return nodes_; }
    /// The nodes without an interval, in order of first appearance.
    [[nodiscard]] std::span<rank::unranked_node<NodeId> const> unranked() const& noexcept {
        return unranked_;
    }
    /// All nodes with at least one used attempt, ranked or not.
    [[nodiscard]] std::size_t fleet_size() const noexcept { return nodes_.size() + unranked_.size(); }

    // A span into a temporary ranking would dangle: name the ranking first.
    void level(std::size_t) const&& = delete; // keep the ranking in a variable first
    void nodes() const&& = delete;            // keep the ranking in a variable first
    void unranked() const&& = delete;         // keep the ranking in a variable first
    void degenerate_jobs() const&& = delete;  // keep the ranking in a variable first

    /// What became of every record.
    [[nodiscard]] attempt_counts const& attempts() const noexcept { return attempts_; }
    /// Used attempts that gave a score; the others belong to degenerate jobs.
    [[nodiscard]] std::uint64_t scored_attempts() const noexcept { return scored_; }
    /// Jobs that gave scores.
    [[nodiscard]] std::size_t usable_jobs() const noexcept { return usable_jobs_; }
    /// Jobs that gave none, in order of first appearance.
    [[nodiscard]] std::span<rank::degenerate_job<JobId> const> degenerate_jobs() const& noexcept {
        return degenerate_;
    }
    /// The rule by which nodes count as provably slower.
    [[nodiscard]] rank::edge_rule edges() const noexcept { return edges_; }

  private:
    friend detail::ranking_access;

    std::vector<node_type> nodes_;
    std::vector<std::size_t> level_begin_; // one entry more than there are levels
    std::vector<rank::unranked_node<NodeId>> unranked_;
    std::vector<rank::degenerate_job<JobId>> degenerate_;
    attempt_counts attempts_;
    std::uint64_t scored_ = 0;
    std::size_t usable_jobs_ = 0;
    rank::edge_rule edges_ = rank::edge_rule::closed;
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::detail {

// A job without scores, by its number.
struct scoreless_job {
    std::size_t slot;
    std::uint64_t attempts;
    status reason;
};

// Nodes as they are ranked, without their names.
struct ranking_rows {
    std::vector<rank::node_sample> samples;                              // in order of first appearance
    std::vector<std::uint32_t> unknown;                                  // those without an interval
    std::vector<std::pair<rank::node_performance, std::uint32_t>> known; // and the index of each
    std::vector<double> low, high;
    std::vector<std::uint32_t> level;
    std::vector<std::size_t> place; // of the next node of each level
};

// Estimates the interval of each sample.
template <class Estimator>
void estimate_nodes(Estimator const& estimator, ranking_rows& rows) {
    rows.low.clear();
    rows.high.clear();
    rows.known.clear();
    rows.unknown.clear();
    for (std::uint32_t i = 0; i < rows.samples.size(); ++i) {
        outcome<rank::node_performance> const p = estimator.estimate(rows.samples[i]);
        if (!p) {
            rows.unknown.push_back(i);
            continue;
        }
        rows.low.push_back(p->ci.low);
        rows.high.push_back(p->ci.high);
        rows.known.emplace_back(*p, i);
    }
}
// Sorts nodes with intervals by level; `begin` receives where each begins.
template <class Ranker>
void find_levels(Ranker& ranker, ranking_rows& rows, std::vector<std::size_t>& begin) {
    rows.level.resize(rows.known.size());
    outcome<std::size_t> const levels = ranker.levels(span_of(std::as_const(rows.low)),
                                                      span_of(std::as_const(rows.high)), span_of(rows.level));
    STRAGGLE_EXPECTS(levels.has_value()); // fails if an estimator gave NaN or low > high

    // A counting sort by level keeps the order of first appearance within each.
    begin.assign(*levels + 1, 0);
    for (std::uint32_t const l : rows.level) {
        STRAGGLE_EXPECTS(l < *levels); // fails if a ranker miscounted its levels
        ++begin[l + 1];
    }
    for (std::size_t l = 1; l <= *levels; ++l) begin[l] += begin[l - 1];
    rows.place.assign(begin.begin(), begin.end());
}
#ifdef STRAGGLE_COMPILED
extern template void estimate_nodes(rank::mean_interval<> const&, ranking_rows&);
extern template void find_levels(rank::p_cores&, ranking_rows&, std::vector<std::size_t>&);
#endif

template <class Ranker = rank::p_cores>
struct ranking_scratch : ranking_rows {
    explicit ranking_scratch(Ranker how) : ranker(std::move(how)) {}
    Ranker ranker;
    slowdown_estimate slowdowns;
};

// Fills rankings; the only writer of their private members.
struct ranking_access {
    // The same with relative times: `times(i)` are those of the i-th node, `component(i)` identifies the
    // nodes it is compared with.
    template <class NodeId, class JobId, class Scratch, class Options, class Scores, class Identify,
              class Times, class Component>
    static void rank(node_ranking<NodeId, JobId>& ranking, Scratch& scratch, std::size_t size,
                     Options const& options, Scores&& scores, Identify&& id, Times&& times,
                     Component&& component) {
        solve_slowdowns(scratch, options.slowdowns ? size : 0, scores, times, component);
        auto const& slow = scratch.slowdowns.rows;
        rank(ranking, scratch, size, options, scores, id,
             [&](std::size_t i) { return i < slow.size() ? slow[i].slow : slowdown{}; });
    }
    // Ranks nodes with known scores: `scores(i)`, `id(i)` and `slowdown_of(i)` belong to the i-th node in
    // order of first appearance.
    template <class NodeId, class JobId, class Scratch, class Options, class Scores, class Identify,
              class Slowdowns>
    static void rank(node_ranking<NodeId, JobId>& ranking, Scratch& scratch, std::size_t size,
                     Options const& options, Scores&& scores, Identify&& id, Slowdowns&& slowdown_of) {
        scratch.samples.clear();
        for (std::size_t i = 0; i < size; ++i) {
            auto const& of = scores(i);
            std::uint64_t const n = of.count();
            scratch.samples.push_back(
                {n, n == 0 ? 0.0 : of.mean(), of.sum_of_squared_deviations(), slowdown_of(i)});
        }
        estimate_nodes(options.estimator, scratch);
        ranking.unranked_.resize(scratch.unknown.size());
        for (std::size_t k = 0; k < scratch.unknown.size(); ++k) {
            std::uint32_t const seen = scratch.unknown[k];
            auto& u = ranking.unranked_[k];
            u.id = id(seen);
            u.n = scratch.samples[seen].n;
            u.mean = scratch.samples[seen].mean;
            u.seen = seen;
        }
        write_levels(ranking, scratch, id);
        for (auto& node : ranking.nodes_) node.slow = scratch.samples[node.seen].slow;
    }

    // Ranks the nodes whose intervals are in the scratch: low, high, and known, in order of first appearance.
    template <class NodeId, class JobId, class Scratch, class Identify>
    static void write_levels(node_ranking<NodeId, JobId>& ranking, Scratch& scratch, Identify&& id) {
        std::size_t const ranked = scratch.known.size();
        find_levels(scratch.ranker, scratch, ranking.level_begin_);
        ranking.nodes_.resize(ranked);
        for (std::size_t k = 0; k < ranked; ++k) {
            auto const& [p, seen] = scratch.known[k];
            ranked_node<NodeId>& node = ranking.nodes_[scratch.place[scratch.level[k]]++];
            node.id = id(seen);
            node.n = p.n;
            node.mean = p.mean;
            node.sd = p.sd;
            node.ci = p.ci;
            node.level = scratch.level[k];
            node.seen = seen;
        }
    }

    // Converts relative times to slowdowns, for the first `size` nodes.
    template <class Scratch, class Scores, class Times, class Component>
    static void solve_slowdowns(Scratch& scratch, std::size_t size, Scores&& scores, Times&& times,
                                Component&& component) {
        auto& rows = scratch.slowdowns.rows;
        rows.assign(size, {});
        for (std::uint32_t i = 0; i < size; ++i) {
            rows[i].times = times(i).in_tasks();
            rows[i].component = component(i);
            rows[i].is_judged = scores(i).count() >= 2;
        }
        if (size > 0) scratch.slowdowns.solve();
    }

    // An unknown slowdown has the interval from 0 to infinity.
    [[nodiscard]] static bool can_be(slowdown const& s) noexcept {
        return s.value > 0 && is_finite(s.value) && s.low >= 0 && is_finite(s.low) && s.high >= s.low;
    }

    // Assembles a ranking from its nodes; false if they cannot belong to one ranking.
    template <class NodeId, class JobId, class Scratch>
    [[nodiscard]] static bool assemble(node_ranking<NodeId, JobId>& ranking, Scratch& scratch,
                                       std::span<ranked_node<NodeId> const> nodes,
                                       std::span<rank::unranked_node<NodeId> const> unranked,
                                       rank::edge_rule edges) {
        std::size_t const size = nodes.size() + unranked.size();
        constexpr std::size_t not_seen = static_cast<std::size_t>(-1);
        std::vector<std::size_t> place(size, not_seen); // by order of first appearance
        for (std::size_t k = 0; k < size; ++k) {
            std::uint32_t const seen = k < nodes.size() ? nodes[k].seen : unranked[k - nodes.size()].seen;
            if (seen >= size || place[seen] != not_seen) return false;
            place[seen] = k;
        }
        ranking.edges_ = edges;
        for (std::uint32_t seen = 0; seen < size; ++seen) {
            std::size_t const k = place[seen];
            if (k >= nodes.size()) {
                auto const& u = unranked[k - nodes.size()];
                if (!is_finite(u.mean)) return false;
                ranking.unranked_.push_back(u);
                continue;
            }
            auto const& node = nodes[k];
            bool const sound = node.n > 0 && is_finite(node.mean) && is_finite(node.sd) && !(node.sd < 0) &&
                               is_finite(node.ci.low) && is_finite(node.ci.high) &&
                               node.ci.low <= node.ci.high && can_be(node.slow);
            if (!sound) return false;
            scratch.low.push_back(node.ci.low);
            scratch.high.push_back(node.ci.high);
            scratch.known.emplace_back(rank::node_performance{node.n, node.mean, node.sd, node.ci}, seen);
        }
        write_levels(ranking, scratch,
                     [&](std::uint32_t seen) -> auto const& { return nodes[place[seen]].id; });
        for (auto& node : ranking.nodes_) node.slow = nodes[place[node.seen]].slow;
        return true;
    }

    template <class NodeId, class JobId>
    static void account(node_ranking<NodeId, JobId>& ranking, attempt_counts const& attempts,
                        std::uint64_t scored, std::size_t usable_jobs, rank::edge_rule edges) {
        ranking.attempts_ = attempts;
        ranking.scored_ = scored;
        ranking.usable_jobs_ = usable_jobs;
        ranking.edges_ = edges;
    }

    template <class NodeId, class JobId, class Jobs, class Identify>
    static void write_degenerate(node_ranking<NodeId, JobId>& ranking, Jobs const& scoreless, Identify&& id) {
        ranking.degenerate_.resize(scoreless.size());
        for (std::size_t k = 0; k < scoreless.size(); ++k) {
            ranking.degenerate_[k].id = id(scoreless[k].slot);
            ranking.degenerate_[k].attempts = scoreless[k].attempts;
            ranking.degenerate_[k].reason = scoreless[k].reason;
        }
    }
};

// The edge rule of a ranker; a ranker without one is compared as P-Cores by default.
template <class Ranker>
[[nodiscard]] rank::edge_rule edges_of(Ranker const& ranker) noexcept {
    if constexpr (requires {
                      { ranker.rule() } -> std::same_as<rank::edge_rule>;
                  })
        return ranker.rule();
    else
        return rank::edge_rule::closed;
}

} // namespace detail

namespace straggle::inline STRAGGLE_ABI::rank {

/// Reassembles a ranking from its nodes, as `nodes()` and `unranked()` of the original returned them: a
/// logged ranking can be decided on again. Records and jobs are not accounted for.
/// @param nodes ranked nodes in any order; their levels are ignored and recomputed
/// @param unranked nodes without an interval, in any order
/// @param edges edge rule of the original
/// @pre no identifier occurs twice; fewer than 2^32 nodes
/// @return `status::out_of_domain` if no ranking can have such nodes: a number is not finite, an interval is
/// reversed, a deviation is negative, a slowdown is not above 0, a ranked node has no scores, or the indices
/// of first appearance are not 0, 1, 2...
/// @par Cost
/// O(nodes log nodes); allocates
/// @par Guarantees
/// deterministic; the nodes of a ranking reproduce it bit for bit
template <class NodeId, class JobId = std::uint64_t>
[[nodiscard]] outcome<node_ranking<NodeId, JobId>>
ranking_from(std::type_identity_t<std::span<ranked_node<NodeId> const>> nodes,
             std::type_identity_t<std::span<rank::unranked_node<NodeId> const>> unranked,
             rank::edge_rule edges = rank::edge_rule::closed) {
    node_ranking<NodeId, JobId> ranking;
    detail::ranking_scratch scratch{p_cores(edges)};
    if (!detail::ranking_access::assemble(ranking, scratch, nodes, unranked, edges))
        return status::out_of_domain;
    return ranking;
}

} // namespace straggle::rank
