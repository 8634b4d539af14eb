// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/assigner.hpp`: the value of each pair of a straggler and a node, and the two best
/// nodes for a straggler.
#pragma once

#include <straggle/assign/backup_plan.hpp>
#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The acceptable pairs, straggler by straggler.
class priced_pairs {
  public:
    void clear() {
        first_.assign(1, 0);
        for (auto* numbers : {&profit_, &win_, &gain_, &cost_}) numbers->clear();
        node_.clear();
        kill_.clear();
    }
    void add(assign::backup_option const& option) {
        node_.push_back(option.node);
        profit_.push_back(option.value.profit);
        win_.push_back(option.value.win_probability);
        gain_.push_back(option.value.gain);
        cost_.push_back(option.value.cost);
        kill_.push_back(option.kill);
    }
    void end_straggler() { first_.push_back(static_cast<std::uint32_t>(node_.size())); }

    [[nodiscard]] assign::assignable_pairs view() const noexcept {
        return {span_of(first_), span_of(node_), span_of(profit_), span_of(win_)};
    }
    [[nodiscard]] assign::backup_option option(std::uint32_t pair) const {
        return {.node = node_[pair],
                .value = {profit_[pair], gain_[pair], cost_[pair], win_[pair]},
                .kill = kill_[pair]};
    }

  private:
    std::vector<std::uint32_t> first_, node_;
    std::vector<double> profit_, win_, gain_, cost_;
    std::vector<bool> kill_;
};
// Whether an option is better than an earlier one.
[[nodiscard]] inline bool is_better_option(assign::backup_option const& a,
                                           assign::backup_option const& before) noexcept {
    if (a.refusal.has_value() != before.refusal.has_value()) return !a.refusal.has_value();
    if (a.value.profit != before.value.profit) return a.value.profit > before.value.profit;
    return a.value.win_probability > before.value.win_probability;
}

// The two best options so far.
struct best_two {
    std::optional<assign::backup_option> best, next;

    void consider(assign::backup_option const& option) {
        if (!best || is_better_option(option, *best)) {
            next = best;
            best = option;
        } else if (!next || is_better_option(option, *next)) {
            next = option;
        }
    }
    // The best option on a different node.
    [[nodiscard]] std::optional<assign::backup_option> const& other_than(std::uint32_t node) const noexcept {
        return best && best->node == node ? next : best;
    }
};

} // namespace straggle::detail
