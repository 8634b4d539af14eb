// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What rules about failures are told, and what they have in common. Each rule is that of another system,
/// with its settings and their defaults: for people who come from there, and to compare with. The library's
/// own rule for failing nodes is in `node_stage`; it needs none of these.
///
/// All of them are used alike: `observe` each attempt that ended, `advance` to the present, ask `is_out`. To
/// have a rule decide on nodes together with `node_stage` or a `mitigator`, deny what it names:
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

/// What broke.
enum class failure_kind : std::uint8_t {
    task,         ///< the task itself, or nobody knows; an HTTP status of 500 where requests are served
    gateway,      ///< what stands between the node and the task; 502, 503 or 504
    local_origin, ///< the way to the node: it could not be reached, or did not answer in time
    mea_culpa,    ///< the cluster's own fault, such as a node that was lost
};

/// The executor of an attempt that has none of its own: the node stands for it.
inline constexpr std::uint32_t no_executor = ~std::uint32_t{0};

/// An attempt that ended, as rules about failures see it. Jobs, stages, tasks and attempts are keys; times
/// are in one unit, seconds where a rule's defaults are to mean what they mean upstream.
struct attempt {
    std::uint32_t node = 0;                      ///< dense index
    std::uint32_t executor = no_executor;        ///< dense index; a node may have several
    std::uint64_t job = 0;                       ///< key
    std::uint64_t stage = 0;                     ///< key within the job: tasks that start together
    std::uint64_t task = no_task;                ///< key within the stage
    std::uint64_t id = no_task;                  ///< key of the attempt; one that is told twice counts once
    double end = 0;                              ///< when it ended
    attempt_status as = attempt_status::success; ///< how
    failure_kind kind = failure_kind::task;      ///< what broke, where it failed
};

/// The same of an attempt as `node_stage` is told of it.
[[nodiscard]] constexpr attempt attempt_of(ended_attempt const& a) noexcept {
    return {.node = a.node, .job = a.job, .task = a.task, .end = a.end, .as = a.as};
}

/// What all rules can do: `observe` an attempt, `advance` to a time (not before the last), and say whether no
/// work should go to a node.
template <class Rule>
concept failure_rule =
    requires(Rule& rule, Rule const& asked, attempt const& a, double now, std::uint32_t node) {
        { Rule::name } -> std::convertible_to<std::string_view>;
        rule.observe(a);
        rule.advance(now);
        { asked.is_out(node) } -> std::same_as<bool>;
    };

} // namespace straggle::failures
