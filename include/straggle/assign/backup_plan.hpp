// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What an assigner answers: for each straggler where a copy of it is to be launched, or why nowhere, and
/// what would have been the next best.
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

/// Why there is no copy. The first nine are about one node; a node is refused for the first that applies, in
/// this order.
enum class backup_refusal : std::uint8_t {
    unknown_node,    ///< the name of the node is missing: it could be any
    same_node,       ///< an attempt of the task runs there
    excluded,        ///< the node is to be avoided
    no_slot,         ///< no slot is free, or none that a copy may take
    on_probation,    ///< the task does not run, and the node is not to be trusted with the only attempt
    cannot_run,      ///< the task cannot run there, says `straggler_fields::can_run`
    no_prediction,   ///< it is not known how long it would take there, or what that is worth
    not_profitable,  ///< it would cost as much as it brings, or more
    unlikely_to_win, ///< the profit policy does not accept it, though it is profitable
    no_straggler,    ///< of the straggler itself: its node or its remaining time is missing or makes no sense
    may_not_copy,    ///< of the straggler itself: it must never run twice
    no_nodes,        ///< there are no nodes at all
    slots_taken,     ///< the slots went to copies that bring more
    over_limit,      ///< a limit refused it
};
/// How many of the reasons are about one node.
inline constexpr std::size_t node_refusal_count = 9;

/// The name of a reason as it stands in the source, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(backup_refusal r) noexcept {
    constexpr std::array<std::string_view, 14> names{
        "unknown_node", "same_node",     "excluded",       "no_slot",         "on_probation",
        "cannot_run",   "no_prediction", "not_profitable", "unlikely_to_win", "no_straggler",
        "may_not_copy", "no_nodes",      "slots_taken",    "over_limit"};
    return names[static_cast<std::size_t>(r)];
}

/// A node for a copy, and what the copy is expected to bring there.
struct backup_option {
    std::uint32_t node = 0; ///< its place in the range of nodes
    backup_value value{};   ///< as the profit policy has it
    bool kill = false;      ///< kill the straggler as the copy is launched; else the attempt that is later
    /// Why it would not do even if slots and limits were no matter; only of a runner-up.
    std::optional<backup_refusal> refusal{};
    friend bool operator==(backup_option const&, backup_option const&) = default;
};

/// What became of the nodes as candidates for one straggler, or for all.
/// @par Guarantees
/// `acceptable + total_refused()` is the number of nodes looked at
struct node_counts {
    std::uint64_t acceptable = 0;                            ///< would do
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
    /// Adds another tally.
    constexpr node_counts& operator+=(node_counts const& other) noexcept {
        acceptable += other.acceptable;
        for (std::size_t i = 0; i < node_refusal_count; ++i) refused[i] += other.refused[i];
        return *this;
    }
    friend constexpr bool operator==(node_counts const&, node_counts const&) = default;
};

/// The answer for one straggler.
struct backup_choice {
    std::uint32_t straggler = 0; ///< its place in the range of stragglers
    /// Where to launch a copy; nothing: nowhere.
    std::optional<backup_option> copy{};
    /// Why nowhere: that of the node that came furthest, if it was for the nodes.
    std::optional<backup_refusal> reason{};
    std::string_view refused_by{}; ///< the limit, if it was one
    /// The best other node, had the straggler been alone: one that would do before one that would not, then
    /// by profit. Nothing if no other node has a prediction.
    std::optional<backup_option> runner_up{};
    node_counts nodes{}; ///< as candidates for it
};

/// How many stragglers one limit refused.
struct limit_refusals {
    std::string_view limit;    ///< its name
    std::uint64_t refused = 0; ///< stragglers
    friend bool operator==(limit_refusals const&, limit_refusals const&) = default;
};

/// The answer for all stragglers.
struct backup_plan {
    std::vector<backup_choice> choices; ///< one for each straggler, in the order of their range
    std::vector<limit_refusals> limits; ///< one for each limit, in the order of the assigner's
    node_counts nodes{};                ///< of all choices together
    std::uint64_t copies = 0;           ///< to be launched
    double profit = 0;                  ///< expected of them together
    double slot_price = 0;              ///< by the load, where that was told; a policy's own may be higher
    std::string_view policy{};          ///< the profit policy
    std::string_view matching{};        ///< how stragglers and nodes were put together
};

} // namespace straggle::assign
