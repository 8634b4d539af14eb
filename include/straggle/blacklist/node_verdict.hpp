// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a scheduler says of its nodes when it asks for a decision, and what it is told of each: state,
/// reason, slowdown, exclusion.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/comparison.hpp>
#include <straggle/record/node.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/slowdown.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// A node as it stands when a decision is asked for.
struct node_row {
    std::uint32_t node = 0;          ///< dense index
    std::uint32_t slots = 1;         ///< how many tasks it runs at a time
    std::uint32_t busy = 0;          ///< how many it runs now
    std::uint32_t machine_class = 0; ///< nodes of one class are equal by design; 0: not told
    std::uint32_t domain = 0;        ///< what fails together, such as a rack; 0: not told
    record::condition word = record::condition::present; ///< what the operator says
};

/// What is held against a node. A node has a set of causes, as bits, and is released when the set is empty.
enum class cause : std::uint8_t {
    slow = 1,    ///< its tasks take longer than elsewhere
    hung = 2,    ///< its tasks do not end
    failing = 4, ///< its tasks fail
    denied = 8,  ///< the operator says so
};
/// Whether a set of causes contains one.
[[nodiscard]] constexpr bool has(std::uint8_t causes, cause c) noexcept {
    return (causes & static_cast<std::uint8_t>(c)) != 0;
}

/// Why a node is in service although something is held against it.
enum class spared : std::uint8_t {
    no,            ///< it is not in service, or nothing is held against it
    by_limit,      ///< too many slots would be out
    by_load,       ///< the others could not carry its tasks without making them wait
    by_domain,     ///< it is the last of its failure domain
    by_operator,   ///< it is pinned
    by_action_cap, ///< too many nodes were excluded lately
    by_fail_open,  ///< so many look bad that the measurement is doubted
    by_caller,     ///< no new exclusions were asked for
};
/// The name of it as it stands in the source, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(spared s) noexcept {
    constexpr std::array<std::string_view, 8> names{"no",           "by_limit",    "by_load",
                                                    "by_domain",    "by_operator", "by_action_cap",
                                                    "by_fail_open", "by_caller"};
    return names[static_cast<std::size_t>(s)];
}

/// How often attempts fail on a node.
struct failure_rate {
    std::uint64_t attempts = 0;    ///< that ended by themselves, well or not; killed ones are left out
    std::uint64_t failed = 0;      ///< of those: broke
    std::uint64_t tasks = 0;       ///< distinct tasks that failed, as far as they can be told apart
    std::uint32_t consecutive = 0; ///< failed since the last success
    double value = 0;              ///< share of attempts that failed
    double low = 0;                ///< lower end of its 95 % interval (Wilson 1927)
    double high = 1;               ///< upper end
    std::uint64_t others = 0;      ///< attempts on all other nodes
    double elsewhere = 0;          ///< the share of these that failed; 0 where there are none

    friend constexpr bool operator==(failure_rate const&, failure_rate const&) = default;
};

/// A job of which more tasks have failed than ended well: unless a node is named for it, it is the job.
struct failing_job {
    std::uint64_t job = 0;        ///< key, as in the attempts
    std::uint64_t failed = 0;     ///< distinct tasks that failed, and did not end well since
    std::uint64_t ended_well = 0; ///< its attempts that ended well, as far as they are remembered
    std::size_t nodes = 0;        ///< that it failed on

    friend constexpr bool operator==(failing_job const&, failing_job const&) = default;
};

/// Where a node stands that is not simply healthy, and why.
struct node_verdict {
    std::uint32_t node = 0;                 ///< dense index
    node_state state = node_state::healthy; ///< where it stands
    slowdown slow{};                        ///< as it was found; of an excluded node what it was excluded for
    comparison why{};                       ///< what was compared
    std::uint8_t causes = 0;                ///< set of `cause`
    spared spared_by = spared::no;          ///< why it is in service nevertheless
    std::uint32_t strikes = 0;              ///< exclusions not yet made good
    double since = 0;                       ///< when it came into this state
    double until = 0;                       ///< when its exclusion ends, or ended
    std::uint32_t probe_slots = 0;          ///< on probation: how many attempts it may run at a time
};

} // namespace straggle::blacklist
