// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Input and output of a decision about nodes: what a scheduler reports about each, and the state, reason,
/// slowdown and exclusion it gets back.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/cluster_load.hpp>
#include <straggle/record/comparison.hpp>
#include <straggle/record/node.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/slowdown.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// A node at the time of a decision.
struct node_row {
    std::uint32_t node = 0;          ///< dense index
    std::uint32_t slots = 1;         ///< how many tasks it runs at a time
    std::uint32_t busy = 0;          ///< how many it runs now
    std::uint32_t machine_class = 0; ///< nodes of one class are equal by design; 0: unknown
    std::uint32_t domain = 0;        ///< nodes that fail together, such as a rack; 0: unknown
    record::condition word = record::condition::present; ///< the operator's setting
};

/// Reasons against a node. A node has a set of causes, as bits, and is released when the set is empty.
enum class cause : std::uint8_t {
    slow = 1,    ///< its tasks take longer than elsewhere
    hung = 2,    ///< its tasks do not end
    failing = 4, ///< its tasks fail
    denied = 8,  ///< the operator denies it
};
/// Whether a set of causes contains one.
[[nodiscard]] constexpr bool has(std::uint8_t causes, cause c) noexcept {
    return (causes & static_cast<std::uint8_t>(c)) != 0;
}

/// Why a node is in service despite evidence against it.
enum class spared : std::uint8_t {
    no,            ///< it is not in service, or there is no evidence against it
    by_limit,      ///< too many slots would be out
    by_load,       ///< the others could not carry its tasks without making them wait
    by_domain,     ///< it is the last of its failure domain
    by_operator,   ///< it is pinned
    by_action_cap, ///< too many nodes were excluded lately
    by_fail_open,  ///< so many look bad that the measurement is not trusted
    by_caller,     ///< the caller allowed no new exclusions
};
/// Number of its values.
inline constexpr std::size_t spared_count = 8;
/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(spared s) noexcept {
    constexpr std::array<std::string_view, spared_count> names{"no",           "by_limit",    "by_load",
                                                               "by_domain",    "by_operator", "by_action_cap",
                                                               "by_fail_open", "by_caller"};
    return names[static_cast<std::size_t>(s)];
}

/// How often attempts fail on a node.
struct failure_rate {
    std::uint64_t attempts = 0;    ///< that succeeded or failed; killed ones are excluded
    std::uint64_t failed = 0;      ///< failed attempts among them
    std::uint64_t tasks = 0;       ///< distinct tasks that failed, as far as distinguishable
    std::uint32_t consecutive = 0; ///< failures since the last success
    double value = 0;              ///< share of attempts that failed
    double low = 0;                ///< lower end of its 95 % interval (Wilson 1927)
    double high = 1;               ///< upper end
    std::uint64_t others = 0;      ///< attempts on all other nodes
    double elsewhere = 0;          ///< share of these that failed; 0 if there are none

    friend constexpr bool operator==(failure_rate const&, failure_rate const&) = default;
};

/// A job with more failed tasks than successes: unless a node is named for it, the job is at fault.
struct failing_job {
    std::uint64_t job = 0;        ///< key, as in the attempts
    std::uint64_t failed = 0;     ///< distinct tasks that failed and have not succeeded since
    std::uint64_t ended_well = 0; ///< its successful attempts, as far as remembered
    std::size_t nodes = 0;        ///< nodes on which it failed

    friend constexpr bool operator==(failing_job const&, failing_job const&) = default;
};

/// The state of a node that is not plainly healthy, and why.
struct node_verdict {
    std::uint32_t node = 0;                 ///< dense index
    node_state state = node_state::healthy; ///< the node's state
    slowdown slow{};                        ///< current; for an excluded node, the one that excluded it
    comparison why{};                       ///< the comparison behind the state
    std::uint8_t causes = 0;                ///< set of `cause`
    spared spared_by = spared::no;          ///< why it stays in service despite evidence
    std::uint32_t strikes = 0;              ///< exclusions not yet worked off
    double since = 0;                       ///< when it entered this state
    double until = 0;                       ///< when its exclusion ends or ended
    std::uint32_t probe_slots = 0;          ///< on probation: how many attempts it may run at a time
};

/// Weighs nodes in a mitigator: `observe` gets each attempt that ended, `decide` each round, and `verdicts`
/// says which nodes are not plainly healthy. `node_stage` weighs by evidence, `ranking_stage` by a ranking.
///
/// Other functions of `node_stage` are called where they exist: `slowdown_of`, `slow_now`, `only_fails`,
/// `has_failed`, `state` with `probe_slots`, `finish_job`, `forget_node`, `merge`, `write` with `read`.
template <class Weighing>
concept node_weighing =
    requires(Weighing& w, ended_attempt const& attempt, double now, std::span<running_attempt const> running,
             std::span<node_row const> rows, cluster_load const& load, bool may_exclude) {
        { w.observe(attempt, now) } -> std::convertible_to<bool>;
        w.decide(now, running, rows, load, may_exclude);
        { std::as_const(w).verdicts() } -> std::convertible_to<std::span<node_verdict const>>;
    };

} // namespace straggle::blacklist
