// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The answer of an assigner: for each straggler where to launch a copy, or why not, and the next-best
/// option.
#pragma once

#include <straggle/assign/profit.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::assign {

/// Why there is no copy. The first nine concern a single node; a node is refused for the first that applies,
/// in this order.
enum class backup_refusal : std::uint8_t {
    unknown_node,    ///< the node has no name, so it could be any node
    same_node,       ///< an attempt of the task runs there
    excluded,        ///< the node must be avoided
    no_slot,         ///< no free slot, or none that a copy may take
    on_probation,    ///< the task does not run, and the node cannot be trusted with the only attempt
    cannot_run,      ///< the task cannot run there, according to `straggler_fields::can_run`
    no_prediction,   ///< its time there, or the value of a copy, is unknown
    not_profitable,  ///< its cost is at least its gain
    unlikely_to_win, ///< the profit policy does not accept it although it is profitable
    no_straggler,    ///< about the straggler itself: its node or remaining time is missing or invalid
    may_not_copy,    ///< about the straggler itself: it must never run twice
    no_nodes,        ///< there are no nodes
    slots_taken,     ///< the slots went to more profitable copies
    over_limit,      ///< a limit refused it
};
/// How many of the reasons concern a single node.
inline constexpr std::size_t node_refusal_count = 9;

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(backup_refusal r) noexcept {
    constexpr std::array<std::string_view, 14> names{
        "unknown_node", "same_node",     "excluded",       "no_slot",         "on_probation",
        "cannot_run",   "no_prediction", "not_profitable", "unlikely_to_win", "no_straggler",
        "may_not_copy", "no_nodes",      "slots_taken",    "over_limit"};
    return names[static_cast<std::size_t>(r)];
}

/// A node for a copy, and the expected value of the copy there.
struct backup_option {
    std::uint32_t node = 0; ///< its index in the range of nodes
    backup_value value{};   ///< from the profit policy
    bool kill =
        false; ///< kill the straggler when the copy is launched; otherwise kill the attempt that loses
    /// For a runner-up only: why it would be refused even without slots and limits.
    std::optional<backup_refusal> refusal{};
    friend bool operator==(backup_option const&, backup_option const&) = default;
};

/// The nodes as candidates, by outcome, for one straggler or for all.
/// @par Guarantees
/// `acceptable + total_refused()` is the number of nodes considered
struct node_counts {
    std::uint64_t acceptable = 0;                            ///< acceptable nodes
    std::array<std::uint64_t, node_refusal_count> refused{}; ///< by `backup_refusal`

    /// Nodes refused for one reason. @pre the reason is about a node
    [[nodiscard]] constexpr std::uint64_t operator[](backup_refusal r) const {
        STRAGGLE_EXPECTS(static_cast<std::size_t>(r) < node_refusal_count);
        return refused[static_cast<std::size_t>(r)];
    }
    /// Nodes refused for any reason.
    [[nodiscard]] constexpr std::uint64_t total_refused() const noexcept {
        std::uint64_t sum = 0;
        for (std::uint64_t const n : refused) sum += n;
        return sum;
    }
    /// Adds another count.
    constexpr node_counts& operator+=(node_counts const& other) noexcept {
        acceptable += other.acceptable;
        for (std::size_t i = 0; i < node_refusal_count; ++i) refused[i] += other.refused[i];
        return *this;
    }
    friend constexpr bool operator==(node_counts const&, node_counts const&) = default;
};

/// The answer for one straggler.
struct backup_choice {
    std::uint32_t straggler = 0; ///< its index in the range of stragglers
    /// Where to launch a copy; empty: nowhere.
    std::optional<backup_option> copy{};
    /// Why nowhere: the reason of the node that got furthest, if nodes were the cause.
    std::optional<backup_refusal> reason{};
    std::string_view refused_by{}; ///< name of the limit, if a limit was the cause
    /// The best other node if this were the only straggler: acceptable ones first, then by profit. Empty if
    /// no other node has a prediction.
    std::optional<backup_option> runner_up{};
    node_counts nodes{}; ///< counts of its candidate nodes
};

/// How many stragglers one limit refused.
struct limit_refusals {
    std::string_view limit;    ///< its name
    std::uint64_t refused = 0; ///< stragglers
    friend bool operator==(limit_refusals const&, limit_refusals const&) = default;
};

/// The answer for all stragglers.
struct backup_plan {
    std::vector<backup_choice> choices; ///< one per straggler, in the order of their range
    std::vector<limit_refusals> limits; ///< one per limit, in the order of the assigner's limits
    node_counts nodes{};                ///< over all choices
    std::uint64_t copies = 0;           ///< copies to launch
    double profit = 0;                  ///< their total expected profit
    double slot_price = 0;       ///< 1 while tasks wait for every free slot; a policy's own may be higher
    std::string_view policy{};   ///< the profit policy
    std::string_view matching{}; ///< name of the matching
};

} // namespace straggle::assign
