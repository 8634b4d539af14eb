// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Puts a selection policy and any number of capacity guards together: ranking in, decision out.
#pragma once

#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/guards.hpp>
#include <straggle/blacklist/selection.hpp>

#include <tuple>

namespace straggle {

namespace detail {

struct decision_access {
    template <class NodeId>
    static void begin(blacklist_decision<NodeId>& d, std::string_view rule, selection_note note,
                      std::size_t weak) {
        d.rule_ = rule;
        d.note_ = note;
        d.weak_ = d.blacklisted_ = 0; // empty until the end, should an allocation fail on the way
        if (weak > d.verdicts_.size()) d.verdicts_.resize(weak);
    }
    template <class NodeId>
    static std::vector<verdict<NodeId>>& verdicts(blacklist_decision<NodeId>& d) noexcept {
        return d.verdicts_;
    }
    template <class NodeId>
    static void end(blacklist_decision<NodeId>& d, std::size_t weak, std::size_t blacklisted) noexcept {
        d.weak_ = weak;
        d.blacklisted_ = blacklisted;
    }
};

// The sorted ends of all intervals: how many nodes are provably faster or slower than one, in O(log nodes).
class interval_census {
  public:
    template <class Node>
    void take(std::span<Node const> nodes, edge_rule rule) {
        rule_ = rule;
        lows_.clear();
        highs_.clear();
        points_.clear();
        for (Node const& node : nodes) {
            lows_.push_back(node.ci.low);
            highs_.push_back(node.ci.high);
            if (node.ci.is_point()) points_.push_back(node.ci.low);
        }
        std::sort(lows_.begin(), lows_.end());
        std::sort(highs_.begin(), highs_.end());
        std::sort(points_.begin(), points_.end());
    }
    [[nodiscard]] std::size_t faster(interval const& ci) const {
        if (rule_ == edge_rule::open) return count_below(highs_, ci.low);
        return count_up_to(highs_, ci.low) - same_points(ci);
    }
    [[nodiscard]] std::size_t slower(interval const& ci) const {
        if (rule_ == edge_rule::open) return lows_.size() - count_up_to(lows_, ci.high);
        return lows_.size() - count_below(lows_, ci.high) - same_points(ci);
    }

  private:
    static std::size_t count_below(std::vector<double> const& sorted, double x) {
        return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin());
    }
    static std::size_t count_up_to(std::vector<double> const& sorted, double x) {
        return static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), x) - sorted.begin());
    }
    // Under the closed rule the same single point is neither faster nor slower, itself included.
    [[nodiscard]] std::size_t same_points(interval const& ci) const {
        if (!ci.is_point()) return 0;
        return count_up_to(points_, ci.low) - count_below(points_, ci.low);
    }

    std::vector<double> lows_, highs_, points_;
    edge_rule rule_ = edge_rule::closed;
};

} // namespace detail

/// Decides whom to avoid.
///
/// @par Example
/// `blacklister{}.decide(ranking)` uses the defaults a production scheduler can trust: `dominated`, and never
/// more than a fifth of the slots. `blacklister{weakest_level{}, at_most{3}, one_per_domain{rack_of}}` names
/// a policy and guards; naming guards replaces the default one, `no_guard{}` removes it.
///
/// @par Cost of `decide`: the policy's, plus O(nodes log nodes) when somebody is weak; allocates nothing in
/// the steady state when given a decision to fill
/// @par Guarantees deterministic (but for a random fill). Only allocation can throw; a decision being filled
/// is empty then.
template <selection_policy Selection = dominated, class... Guards>
class blacklister {
  public:
    /// A policy, with every guard at its defaults.
    explicit constexpr blacklister(Selection selection = {})
        requires(std::default_initializable<Guards> && ...)
        : selection_(std::move(selection)) {}

    /// A policy and its guards.
    constexpr blacklister(Selection selection, Guards... guards)
        requires(sizeof...(Guards) > 0)
        : selection_(std::move(selection)), guards_(std::move(guards)...) {}

    /// Decides on a ranking.
    template <class NodeId, class JobId>
        requires(capacity_guard<Guards, NodeId> && ...)
    [[nodiscard]] blacklist_decision<NodeId> decide(node_ranking<NodeId, JobId> const& ranking) {
        blacklist_decision<NodeId> decision;
        decide(ranking, decision);
        return decision;
    }

    /// Decides on a ranking into a decision whose memory is used again.
    template <class NodeId, class JobId>
        requires(capacity_guard<Guards, NodeId> && ...)
    void decide(node_ranking<NodeId, JobId> const& ranking, blacklist_decision<NodeId>& decision) {
        candidates_.clear();
        selection_note const note = selection_.select(ranking.nodes(), scratch_, candidates_);
        detail::decision_access::begin(decision, Selection::name, note, candidates_.size());
        each_guard([&](auto& guard) { guard.begin(ranking, candidates_.size()); });
        if (candidates_.empty()) return;
        census_.take(ranking.nodes(), ranking.edges());

        // The blacklisted fill the verdicts from the front, the spared after them, both worst first.
        spared_by_.assign(candidates_.size(), {});
        std::size_t blacklisted = 0;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            auto const& id = ranking.nodes()[candidates_[i].node].id;
            spared_by_[i] = objection(id);
            if (!spared_by_[i].empty()) continue;
            each_guard([&](auto& guard) { guard.take(id); });
            ++blacklisted;
        }
        std::size_t next_blacklisted = 0, next_spared = blacklisted;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            std::size_t& at = spared_by_[i].empty() ? next_blacklisted : next_spared;
            write(detail::decision_access::verdicts(decision)[at++], ranking.nodes()[candidates_[i].node],
                  candidates_[i], spared_by_[i]);
        }
        detail::decision_access::end(decision, candidates_.size(), blacklisted);
    }

  private:
    template <class Visit>
    void each_guard(Visit&& visit) {
        std::apply([&](auto&... guard) { (visit(guard), ...); }, guards_);
    }

    // The name of the first guard that does not admit the node.
    template <class NodeId>
    std::string_view objection(NodeId const& id) {
        std::string_view by;
        each_guard([&](auto& guard) {
            if (by.empty() && !guard.admits(id)) by = std::remove_cvref_t<decltype(guard)>::name;
        });
        return by;
    }

    template <class NodeId>
    void write(verdict<NodeId>& v, ranked_node<NodeId> const& node, candidate const& c,
               std::string_view spared_by) const {
        v.id = node.id;
        v.n = node.n;
        v.mean = node.mean;
        v.sd = node.sd;
        v.ci = node.ci;
        v.level = node.level;
        v.provably_faster = census_.faster(node.ci);
        v.provably_slower = census_.slower(node.ci);
        v.value = c.value;
        v.threshold = c.threshold;
        v.rule = Selection::name;
        v.spared_by = spared_by;
    }

    [[no_unique_address]] Selection selection_;
    [[no_unique_address]] std::tuple<Guards...> guards_;
    std::vector<candidate> candidates_;
    std::vector<std::string_view> spared_by_;
    selection_scratch scratch_;
    detail::interval_census census_;
};

blacklister() -> blacklister<dominated, at_most_slot_fraction<>>;
template <selection_policy Selection>
blacklister(Selection) -> blacklister<Selection, at_most_slot_fraction<>>;

} // namespace straggle
