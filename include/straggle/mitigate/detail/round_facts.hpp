// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/mitigator.hpp`: the inputs of a round, and the optional functions of its parts.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/mitigate/detail/loop_guard.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/cluster_load.hpp>
#include <straggle/record/record_reader.hpp>
#include <straggle/record/slowdown.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

// A part that can merge another of its type, given this part's index for each node of the other, and that can
// be stored.
template <class Part>
concept merging_part =
    requires(Part& a, Part const& b, std::span<std::uint32_t const> map) { a.merge(b, map); };
template <class Part>
concept storing_part = requires(Part& a, Part const& b, byte_writer& out, byte_reader& in) {
    b.write(out);
    { a.read(in) } -> std::same_as<status>;
};

// A part that copies for deadlines.
template <class Part>
concept reads_goals = requires(Part const& part) { part.jobs(); };

// Whether a node is slow right now, if the node part knows.
template <class Part>
[[nodiscard]] record::slow_guess slow_now(Part const& part, std::uint32_t node) noexcept {
    if constexpr (requires { part.slow_now(node); })
        return part.slow_now(node);
    else
        return {};
}

// Whether a task has failed on a node, if the part remembers.
template <class Part>
[[nodiscard]] bool has_failed(Part const& part, std::uint64_t job, std::uint64_t task,
                              std::uint32_t node) noexcept {
    if constexpr (requires { part.has_failed(job, task, node); })
        return part.has_failed(job, task, node);
    else
        return false;
}
// Whether a node's latest attempts failed, if the part knows.
template <class Part>
[[nodiscard]] bool only_fails(Part const& part, std::uint32_t node) noexcept {
    if constexpr (requires { part.only_fails(node); })
        return part.only_fails(node);
    else
        return false;
}

// How many times as long a node's tasks take, if the part knows.
template <class Part>
[[nodiscard]] slowdown slowdown_of(Part const& part, std::uint32_t node) noexcept {
    if constexpr (requires { part.slowdown_of(node); })
        return part.slowdown_of(node);
    else
        return {};
}

// Inputs of a round besides its records.
struct round_facts {
    clock_step step = clock_step::usual;
    bool may_decide = true; // no other decider holds the lease
    std::span<read_running_row const> running;
    std::span<running_goal const> goals; // of jobs that have one, by job
    std::span<blacklist::node_row const> nodes;
    std::span<std::size_t const> user_rows; // by place in `nodes`
    std::size_t user_nodes = 0;
    cluster_load load;
};

} // namespace straggle::detail
