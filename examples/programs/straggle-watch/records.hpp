// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The records that the mitigator reads.
#pragma once

#include "sent_name.hpp"

#include <straggle/mitigate/mitigator.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace straggle_watch {

/// An attempt that has ended: views of a line. Names are as sent, here and below.
struct ended_attempt {
    std::string_view job, node;
    double start = 0, end = 0;
    std::optional<std::string_view> task, attempt, kind;
    std::optional<double> input, waited;
    std::optional<bool> copy, outrun;
    straggle::attempt_status status = straggle::attempt_status::success;

    [[nodiscard]] std::string_view plain_job() const { return plain(job); }
    [[nodiscard]] std::string_view plain_node() const { return plain(node); }
    [[nodiscard]] std::optional<std::string_view> plain_task() const {
        return task ? std::optional(plain(*task)) : task;
    }
};

/// The data under the name of a node.
struct place {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::uint32_t running = 0; ///< attempts
    std::uint32_t row = none;  ///< of the node, if it was reported
    std::uint32_t number = 0;  ///< of the name
};

/// An attempt that runs.
struct running_attempt {
    std::string job, node;
    std::optional<std::string> task, attempt, kind;
    double start = 0;
    std::optional<double> progress, reported, input, waited, deadline, weight;
    std::optional<std::int64_t> attempts;
    std::optional<bool> copy, may_copy;
    std::uint64_t round = 0; ///< the last list that contained it
    place* at = nullptr;
    std::uint32_t number = 0; ///< of its identity

    [[nodiscard]] std::string_view plain_job() const { return plain(job); }
    [[nodiscard]] std::string_view plain_node() const { return plain(node); }
    [[nodiscard]] std::optional<std::string_view> plain_task() const {
        return task ? std::optional(plain(*task)) : std::nullopt;
    }
};

/// A node.
struct told_node {
    std::string name;
    std::optional<std::int64_t> slots, busy;
    std::optional<std::string> machine_class, domain;
    straggle::record::condition condition = straggle::record::condition::present;
    std::uint64_t round = 0; ///< the last list that contained it
    place const* at = nullptr;

    [[nodiscard]] std::string_view plain_name() const { return plain(name); }
    [[nodiscard]] std::int64_t busy_slots() const { return busy ? *busy : std::int64_t{at->running}; }
    [[nodiscard]] std::int64_t all_slots() const { return slots.value_or(1); }
};

/// Assigns new data; an existing string keeps its memory.
inline void assign(std::optional<std::string>& to, std::optional<std::string_view> from) {
    if (!from)
        to.reset();
    else if (to)
        *to = *from;
    else
        to.emplace(*from);
}

inline auto make_mitigator(straggle::mitigator_options const& options) {
    return straggle::mitigator_of<ended_attempt, running_attempt, told_node>(
        straggle::attempt_fields{.job = &ended_attempt::plain_job,
                                 .task = &ended_attempt::plain_task,
                                 .node = &ended_attempt::plain_node,
                                 .start = &ended_attempt::start,
                                 .end = &ended_attempt::end,
                                 .status = &ended_attempt::status,
                                 .input = &ended_attempt::input,
                                 .waited = &ended_attempt::waited,
                                 .kind = &ended_attempt::kind,
                                 .is_copy = &ended_attempt::copy,
                                 .outrun = &ended_attempt::outrun},
        straggle::running_fields{.job = &running_attempt::plain_job,
                                 .task = &running_attempt::plain_task,
                                 .node = &running_attempt::plain_node,
                                 .start = &running_attempt::start,
                                 .progress = &running_attempt::progress,
                                 .reported = &running_attempt::reported,
                                 .input = &running_attempt::input,
                                 .waited = &running_attempt::waited,
                                 .kind = &running_attempt::kind,
                                 .is_copy = &running_attempt::copy,
                                 .may_copy = &running_attempt::may_copy,
                                 .copies = &running_attempt::attempts,
                                 .deadline = &running_attempt::deadline,
                                 .weight = &running_attempt::weight},
        straggle::node_fields{.node = &told_node::plain_name,
                              .slots = &told_node::all_slots,
                              .busy = &told_node::busy_slots,
                              .machine_class = &told_node::machine_class,
                              .domain = &told_node::domain,
                              .condition = &told_node::condition},
        options);
}
using mitigator_type = decltype(make_mitigator({}));

} // namespace straggle_watch
