// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklister`, `rolling_blacklister` and `dynamic_blacklist`: asks the limits, gathers the
/// evidence against a node, writes decisions.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/limits.hpp>
#include <straggle/record/limit.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The limits named, or the default limit if none was.
template <class... Limits>
using limits_or_default =
    std::conditional_t<sizeof...(Limits) == 0, limit_row<blacklist::share_of_slots<>>, limit_row<Limits...>>;

// The sorted ends of all intervals: how many nodes are provably faster or slower than a given one, in O(log
// nodes).
class interval_census {
  public:
    template <class Node>
    void take(std::span<Node const> nodes, rank::edge_rule rule) {
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
    [[nodiscard]] std::size_t faster(stats::interval const& ci) const {
        if (rule_ == rank::edge_rule::open) return count_below(highs_, ci.low);
        return count_up_to(highs_, ci.low) - same_points(ci);
    }
    [[nodiscard]] std::size_t slower(stats::interval const& ci) const {
        if (rule_ == rank::edge_rule::open) return lows_.size() - count_up_to(lows_, ci.high);
        return lows_.size() - count_below(lows_, ci.high) - same_points(ci);
    }

  private:
    static std::size_t count_below(std::vector<double> const& sorted, double x) {
        return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin());
    }
    static std::size_t count_up_to(std::vector<double> const& sorted, double x) {
        return static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), x) - sorted.begin());
    }
    // Under the closed rule, intervals that are this same single point are neither faster nor slower, itself
    // included.
    [[nodiscard]] std::size_t same_points(stats::interval const& ci) const {
        if (!ci.is_point()) return 0;
        return count_up_to(points_, ci.low) - count_below(points_, ci.low);
    }

    std::vector<double> lows_, highs_, points_;
    rank::edge_rule rule_ = rank::edge_rule::closed;
};

// The evidence against a node, without its name.
struct charge {
    slowdown slow{};
    std::uint64_t n = 0;
    double mean = 0;
    double sd = 0;
    stats::interval ci{};
    std::uint32_t level = 0;
    std::size_t provably_faster = 0;
    std::size_t provably_slower = 0;
    double value = 0;
    double threshold = 0;
    std::string_view rule{};
};

// `policy` is the name of the policy that selected the candidate.
template <class NodeId>
charge charge_of(ranked_node<NodeId> const& node, blacklist::candidate const& c,
                 interval_census const& census, std::string_view policy) {
    return {.slow = node.slow,
            .n = node.n,
            .mean = node.mean,
            .sd = node.sd,
            .ci = node.ci,
            .level = node.level,
            .provably_faster = census.faster(node.ci),
            .provably_slower = census.slower(node.ci),
            .value = c.value,
            .threshold = c.threshold,
            .rule = c.rule.empty() ? policy : c.rule};
}

// The only writer of decisions.
struct decision_access {
    // Lists stay empty until the end, in case an allocation fails on the way.
    template <class NodeId>
    static void begin(blacklist_decision<NodeId>& d, std::string_view rule, blacklist::selection_note note,
                      std::size_t verdicts) {
        d.blacklisted_ = d.on_probation_ = d.spared_ = d.away_ = 0;
        d.rule_ = rule;
        d.note_ = note;
        d.exclusion_rule_ = {};
        d.window_ = 0;
        if (verdicts > d.verdicts_.size()) d.verdicts_.resize(verdicts);
        d.places_.clear();
    }
    // Writes the verdict at an index, all except its exclusion.
    template <class NodeId>
    static verdict<NodeId>& write(blacklist_decision<NodeId>& d, std::size_t place, NodeId const& id,
                                  charge const& what, std::string_view spared_by) {
        verdict<NodeId>& v = d.verdicts_[place];
        d.places_.insert(id); // verdicts are written in order of their index
        v.id = id;
        v.state = node_state::healthy;
        v.slow = what.slow;
        v.causes = static_cast<std::uint8_t>(blacklist::cause::slow);
        v.n = what.n;
        v.mean = what.mean;
        v.sd = what.sd;
        v.ci = what.ci;
        v.level = what.level;
        v.provably_faster = what.provably_faster;
        v.provably_slower = what.provably_slower;
        v.value = what.value;
        v.threshold = what.threshold;
        v.rule = what.rule;
        v.spared_by = spared_by;
        v.strikes = 0;
        v.since = v.until = 0;
        v.probe_slots = 0;
        return v;
    }
    template <class NodeId>
    static void place_in_time(blacklist_decision<NodeId>& d, std::string_view excluding,
                              std::int64_t window) noexcept {
        d.exclusion_rule_ = excluding;
        d.window_ = window;
    }
    // Sets states from the lists when nothing else does.
    template <class NodeId>
    static void end_of_lists(blacklist_decision<NodeId>& d, std::size_t blacklisted, std::size_t on_probation,
                             std::size_t spared) noexcept {
        for (std::size_t i = 0; i < blacklisted + on_probation + spared; ++i) {
            verdict<NodeId>& v = d.verdicts_[i];
            v.state = i < blacklisted                  ? node_state::excluded
                      : i < blacklisted + on_probation ? node_state::on_probation
                      : v.spared_by == "fail_open"     ? node_state::healthy
                                                       : node_state::last_resort;
        }
        end(d, blacklisted, on_probation, spared);
    }
    template <class NodeId>
    static void end(blacklist_decision<NodeId>& d, std::size_t blacklisted, std::size_t on_probation,
                    std::size_t spared, std::size_t away = 0) noexcept {
        d.blacklisted_ = blacklisted;
        d.on_probation_ = on_probation;
        d.spared_ = spared;
        d.away_ = away;
    }
};

} // namespace straggle::detail
