// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Input of the rules about failures, and what they have in common. Each rule reproduces that of another
/// system, with its settings and their defaults: for users of those systems, and for comparison. The
/// library's own rule for failing nodes is in `node_stage` and needs none of these.
///
/// All are used alike: `observe` each attempt that ended, `advance` to the present, call `is_out`. To combine
/// a rule's decisions with `node_stage` or a `mitigator`, deny the nodes it names:
///
///     for (auto& row : rows)
///         if (rule.is_out(row.node)) row.word = record::condition::denied;
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/attempt_event.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::failures {

/// What failed.
enum class failure_kind : std::uint8_t {
    task,         ///< the task itself, or unknown; an HTTP status of 500 for requests
    gateway,      ///< a component between the node and the task; 502, 503 or 504
    local_origin, ///< the path to the node: it was unreachable, or did not answer in time
    mea_culpa,    ///< the cluster itself, such as a lost node
};

/// The executor of an attempt without one: the node stands in for it.
inline constexpr std::uint32_t no_executor = ~std::uint32_t{0};

/// An attempt that ended, as rules about failures see it. Jobs, stages, tasks and attempts are keys; times
/// are in one unit, in seconds if a rule's defaults are to have their original meaning.
struct attempt {
    std::uint32_t node = 0;                      ///< dense index
    std::uint32_t executor = no_executor;        ///< dense index; a node may have several
    std::uint64_t job = 0;                       ///< key
    std::uint64_t stage = 0;                     ///< key within the job: tasks that start together
    std::uint64_t task = no_task;                ///< key within the stage
    std::uint64_t id = no_task;                  ///< key of the attempt; reported twice, it counts once
    double end = 0;                              ///< when it ended
    attempt_status as = attempt_status::success; ///< its status
    failure_kind kind = failure_kind::task;      ///< what failed, if it failed
};

/// Converts an attempt in the form that `node_stage` observes.
[[nodiscard]] constexpr attempt attempt_of(ended_attempt const& a) noexcept {
    return {.node = a.node, .job = a.job, .task = a.task, .end = a.end, .as = a.as};
}

/// The interface of all rules: `observe` an attempt, `advance` to a time (not before the last), and say
/// whether a node must get no work.
template <class Rule>
concept failure_rule =
    requires(Rule& rule, Rule const& asked, attempt const& a, double now, std::uint32_t node) {
        { Rule::name } -> std::convertible_to<std::string_view>;
        rule.observe(a);
        rule.advance(now);
        { asked.is_out(node) } -> std::same_as<bool>;
    };

} // namespace straggle::failures
