// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A decision with all its inputs, as plain data: to log, to explain much later, and to reproduce. The user
/// chooses the storage format; a decision is reproduced only if every number is, so write doubles with enough
/// digits (17, or the shortest that read back).
#pragma once

#include <straggle/base/interner.hpp>
#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/exclusion.hpp>
#include <straggle/rank/ranking.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace straggle_rank {

/// A `verdict` that owns its names.
template <class NodeId>
using logged_verdict = straggle::verdict<NodeId, std::string>;

/// What is remembered about a node after a decision.
template <class NodeId>
struct logged_exclusion {
    NodeId id{};                          ///< as in the rankings
    straggle::blacklist::exclusion state; ///< the node's exclusion state

    friend bool operator==(logged_exclusion const&, logged_exclusion const&) = default;
};

/// One decision on one window: its inputs and its result.
template <class NodeId>
struct decision_record {
    std::int64_t window = 0; ///< its number
    straggle::rank::edge_rule edges =
        straggle::rank::edge_rule::closed;            ///< decides which nodes count as provably slower
    std::vector<straggle::ranked_node<NodeId>> nodes; ///< as in the ranking: weakest level first
    std::vector<straggle::rank::unranked_node<NodeId>> unranked; ///< as in the ranking

    std::string rule;      ///< name of the selection policy
    std::string excluding; ///< name of the exclusion policy; may be empty
    straggle::blacklist::selection_note note =
        straggle::blacklist::selection_note::none;    ///< the policy's remark on the fleet
    std::vector<logged_verdict<NodeId>> blacklisted;  ///< as in the decision: worst first
    std::vector<logged_verdict<NodeId>> on_probation; ///< as in the decision
    std::vector<logged_verdict<NodeId>> spared;       ///< as in the decision
    /// What a `rolling_blacklister` remembers after the decision, in its order; empty: not recorded.
    std::optional<std::vector<logged_exclusion<NodeId>>> exclusions;
};

/// Where two decisions on the same window first differ.
struct decision_difference {
    std::string_view list;  ///< member of `decision_record`; empty: the decision as a whole
    std::size_t place = 0;  ///< in that list
    std::string_view field; ///< member that differs; "count": one list is longer, everything before is equal

    friend bool operator==(decision_difference const&, decision_difference const&) = default;
};

} // namespace straggle_rank

namespace straggle_rank::detail {

template <class NodeId>
void log_verdicts(std::span<straggle::verdict<NodeId> const> from, std::vector<logged_verdict<NodeId>>& to) {
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        straggle::verdict<NodeId> const& v = from[i];
        logged_verdict<NodeId>& l = to[i];
        l.id = v.id;
        l.state = v.state;
        l.slow = v.slow;
        l.causes = v.causes;
        l.n = v.n;
        l.mean = v.mean;
        l.sd = v.sd;
        l.ci = v.ci;
        l.level = v.level;
        l.provably_faster = v.provably_faster;
        l.provably_slower = v.provably_slower;
        l.value = v.value;
        l.threshold = v.threshold;
        l.rule = v.rule;
        l.spared_by = v.spared_by;
        l.strikes = v.strikes;
        l.since = v.since;
        l.until = v.until;
        l.probe_slots = v.probe_slots;
    }
}

template <class Keeper, class NodeId>
void log_exclusions(Keeper const& keeper, std::vector<logged_exclusion<NodeId>>& to) {
    std::size_t count = 0;
    keeper.for_each_exclusion([&](NodeId const& id, straggle::blacklist::exclusion const& state) {
        if (count == to.size()) to.emplace_back();
        to[count].id = id;
        to[count++].state = state;
    });
    to.resize(count);
}

// Compares two lists; stops at the first difference.
class difference_finder {
  public:
    std::optional<decision_difference> found;

    void in_decision(bool same, std::string_view field) {
        if (!found && !same) found = decision_difference{{}, 0, field};
    }
    // `fields(a, b, expect_same)` calls expect_same(same, name) for every member.
    template <class A, class B, class Fields>
    void in_list(std::string_view list, A const& a, B const& b, Fields&& fields) {
        std::size_t const both = a.size() < b.size() ? a.size() : b.size();
        for (std::size_t i = 0; i < both && !found; ++i) in_place(list, i, a[i], b[i], fields);
        in_lengths(list, a.size(), b.size());
    }
    template <class A, class B, class Fields>
    void in_place(std::string_view list, std::size_t place, A const& a, B const& b, Fields&& fields) {
        fields(a, b, [&](bool same, std::string_view field) {
            if (!found && !same) found = decision_difference{list, place, field};
        });
    }
    void in_lengths(std::string_view list, std::size_t a, std::size_t b) {
        if (!found && a != b) found = decision_difference{list, a < b ? a : b, "count"};
    }
};

struct compare_nodes {
    template <class Node, class Expect>
    void operator()(Node const& a, Node const& b, Expect&& expect_same) const {
        expect_same(a.id == b.id, "id");
        expect_same(a.seen == b.seen, "seen");
        if constexpr (requires { a.level; }) expect_same(a.level == b.level, "level");
    }
};

struct compare_verdicts {
    template <class Logged, class Verdict, class Expect>
    void operator()(Logged const& a, Verdict const& b, Expect&& expect_same) const {
        expect_same(a.id == b.id, "id");
        expect_same(a.state == b.state, "state");
        expect_same(a.slow == b.slow, "slow");
        expect_same(a.causes == b.causes, "causes");
        expect_same(a.n == b.n, "n");
        expect_same(a.mean == b.mean, "mean");
        expect_same(a.sd == b.sd, "sd");
        expect_same(a.ci == b.ci, "ci");
        expect_same(a.level == b.level, "level");
        expect_same(a.provably_faster == b.provably_faster, "provably_faster");
        expect_same(a.provably_slower == b.provably_slower, "provably_slower");
        expect_same(a.value == b.value, "value");
        expect_same(a.threshold == b.threshold, "threshold");
        expect_same(a.rule == b.rule, "rule");
        expect_same(a.spared_by == b.spared_by, "spared_by");
        expect_same(a.strikes == b.strikes, "strikes");
        expect_same(a.since == b.since, "since");
        expect_same(a.until == b.until, "until");
        expect_same(a.probe_slots == b.probe_slots, "probe_slots");
    }
};

struct compare_exclusions {
    template <class Logged, class Exclusion, class Expect>
    void operator()(Logged const& a, Exclusion const& b, Expect&& expect_same) const {
        expect_same(a.id == b.id, "id");
        expect_same(a.state.state == b.state.state, "state");
        expect_same(a.state.strikes == b.state.strikes, "strikes");
        expect_same(a.state.since == b.state.since, "since");
        expect_same(a.state.until == b.state.until, "until");
        expect_same(a.state.weak_streak == b.state.weak_streak, "weak_streak");
        expect_same(a.state.good_streak == b.state.good_streak, "good_streak");
        expect_same(a.state.probes == b.state.probes, "probes");
        expect_same(a.state.probe_sum == b.state.probe_sum, "probe_sum");
    }
};

// A view of what `compare_exclusions` reads.
template <class NodeId>
struct exclusion_now {
    NodeId const& id;
    straggle::blacklist::exclusion const& state;
};

template <class NodeId>
bool has_twins(decision_record<NodeId> const& record) {
    straggle::interner<NodeId> ids;
    for (auto const& node : record.nodes) ids.insert(node.id);
    for (auto const& node : record.unranked) ids.insert(node.id);
    return ids.size() != record.nodes.size() + record.unranked.size();
}

} // namespace straggle_rank::detail

namespace straggle_rank {

/// Writes a decision and its ranking into an existing record, reusing its memory.
/// @param ranked the decision is based on it
/// @param decided of a `blacklister` or a `rolling_blacklister` on that ranking
/// @param window its number
/// @param record completely replaced; `exclusions` becomes empty
/// @par Cost
/// O(nodes); allocates nothing if the record has held as much before
/// @par Guarantees
/// if an allocation fails, the record stays usable but its contents are unspecified
template <class NodeId, class JobId>
void record_of(straggle::node_ranking<NodeId, JobId> const& ranked,
               straggle::blacklist_decision<NodeId> const& decided, std::int64_t window,
               decision_record<NodeId>& record) {
    record.window = window;
    record.edges = ranked.edges();
    record.nodes.assign(ranked.nodes().begin(), ranked.nodes().end());
    record.unranked.assign(ranked.unranked().begin(), ranked.unranked().end());
    record.rule = decided.rule();
    record.excluding = decided.excluding();
    record.note = decided.note();
    detail::log_verdicts(decided.blacklisted(), record.blacklisted);
    detail::log_verdicts(decided.on_probation(), record.on_probation);
    detail::log_verdicts(decided.spared(), record.spared);
    record.exclusions.reset();
}

/// The same as a new record.
template <class NodeId, class JobId>
[[nodiscard]] decision_record<NodeId> record_of(straggle::node_ranking<NodeId, JobId> const& ranked,
                                                straggle::blacklist_decision<NodeId> const& decided,
                                                std::int64_t window) {
    decision_record<NodeId> record;
    record_of(ranked, decided, window, record);
    return record;
}

/// Writes the last decision of a `rolling_blacklister`, with what it remembers after it.
/// @param ranked the decision is based on it
/// @param keeper a `rolling_blacklister`
/// @par Cost
/// O(nodes); allocates
/// @par Example
/// `keeper.decide(ranked, window); log(record_of(ranked, keeper));`
template <class NodeId, class JobId, class Keeper>
    requires requires(Keeper const& keeper) { keeper.decision().window(); }
[[nodiscard]] decision_record<NodeId> record_of(straggle::node_ranking<NodeId, JobId> const& ranked,
                                                Keeper const& keeper) {
    decision_record<NodeId> record = record_of(ranked, keeper.decision(), keeper.decision().window());
    detail::log_exclusions(keeper, record.exclusions.emplace());
    return record;
}

/// Decides again on the window of a record, and compares.
///
/// A new `rolling_blacklister` with the policies and limits of the original makes bit-identical decisions if
/// it is passed all records from the first on; a policy with a random fill needs its engine in the original
/// state, a limit on demand the original demands.
/// @param record made by `record_of`
/// @param keeper a `rolling_blacklister` that has seen the records before this one
/// @param fleet the nodes of the cluster if the original got them; empty: it did not
/// @return the first difference, or nothing if the decision is the same; the comparison starts with the nodes
/// themselves (which are ranked anew). `straggle::status::out_of_domain`, with nothing decided, if no
/// decision can have produced the record (see `straggle::rank::ranking_from`; or a node occurs twice), or if
/// its window is not after the last one
/// @par Cost
/// that of `decide`, plus O(nodes log nodes); allocates
template <straggle::base::identifier NodeId, class Keeper>
[[nodiscard]] straggle::outcome<std::optional<decision_difference>>
replay_decision(decision_record<NodeId> const& record, Keeper& keeper,
                std::type_identity_t<std::span<NodeId const>> fleet = {}) {
    if (detail::has_twins(record)) return straggle::status::out_of_domain;
    auto const ranked = straggle::rank::ranking_from<NodeId>(record.nodes, record.unranked, record.edges);
    if (!ranked) return ranked.reason();
    bool const first = keeper.decision().rule().empty();
    if (!first && record.window <= keeper.decision().window()) return straggle::status::out_of_domain;
    auto const& decided =
        fleet.empty() ? keeper.decide(*ranked, record.window) : keeper.decide(*ranked, record.window, fleet);

    detail::difference_finder compare;
    compare.in_list("nodes", record.nodes, ranked->nodes(), detail::compare_nodes{});
    compare.in_list("unranked", record.unranked, ranked->unranked(), detail::compare_nodes{});
    compare.in_decision(record.rule == decided.rule(), "rule");
    compare.in_decision(record.excluding == decided.excluding(), "excluding");
    compare.in_decision(record.note == decided.note(), "note");
    compare.in_list("blacklisted", record.blacklisted, decided.blacklisted(), detail::compare_verdicts{});
    compare.in_list("on_probation", record.on_probation, decided.on_probation(), detail::compare_verdicts{});
    compare.in_list("spared", record.spared, decided.spared(), detail::compare_verdicts{});
    if (record.exclusions) {
        // One by one: the decision is made, so no allocation may fail now.
        std::size_t place = 0;
        keeper.for_each_exclusion([&](NodeId const& id, straggle::blacklist::exclusion const& state) {
            std::size_t const at = place++;
            if (at >= record.exclusions->size()) return;
            compare.in_place("exclusions", at, (*record.exclusions)[at],
                             detail::exclusion_now<NodeId>{id, state}, detail::compare_exclusions{});
        });
        compare.in_lengths("exclusions", record.exclusions->size(), place);
    }
    return compare.found;
}

} // namespace straggle_rank
