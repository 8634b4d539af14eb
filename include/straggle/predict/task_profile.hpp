// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Names the members of a record that say how long a task took, where, and which factors may have affected
/// it.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/predict/factors.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/field.hpp>

#include <tuple>

namespace straggle::inline STRAGGLE_ABI::predict {

/// Maps the members of a task record to their meaning, for predicting its time. An aggregate for designated
/// initializers; the template arguments are deduced.
///
/// @par Example
/// `task_profile{.node = &task::host, .time = &task::took, .factors = factors(categorical(&task::job))}`
///
/// The node is a factor of its own, the first one, and must not be listed among the others.
template <class Node = base::no_field, class Time = base::no_field, class Status = base::no_field,
          class Factors = factor_list<>>
struct task_profile {
    [[no_unique_address]] Node node{};       ///< `node_field`: where it ran
    [[no_unique_address]] Time time{};       ///< `duration_field`: its time; read from finished tasks only
    [[no_unique_address]] Status status{};   ///< `status_field`; if absent, every task is a success
    [[no_unique_address]] Factors factors{}; ///< further factors, from `factors(...)`
};

} // namespace straggle::predict

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Profile>
concept profile_aggregate = requires(Profile const& p) {
    p.node;
    p.time;
    p.status;
    p.factors;
} && is_factor_list<decltype(Profile::factors)>;

template <class Node, class List>
struct with_node;
template <class Node, class... Factors>
struct with_node<Node, predict::factor_list<Factors...>> {
    using type = predict::factor_list<predict::categorical_factor<Node>, Factors...>;

    static type of(Node const& node, predict::factor_list<Factors...> const& list) {
        return std::apply(
            [&](auto const&... f) {
                return straggle::predict::factors(predict::categorical(node, "node"), f...);
            },
            list.list);
    }
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::predict {

/// A `task_profile` with which a `Record` can be read. Its factors are checked individually where they are
/// read, so that a diagnostic names the offending one: see `factors_for`.
template <class Profile, class Record>
concept task_profile_for =
    detail::profile_aggregate<Profile> && record::node_field<decltype(Profile::node), Record> &&
    record::duration_field<decltype(Profile::time), Record> &&
    (!detail::given<decltype(Profile::status)> || record::status_field<decltype(Profile::status), Record>);

} // namespace straggle::predict

namespace straggle::inline STRAGGLE_ABI::detail {

// Counts a rejected task; always returns false.
inline bool reject(attempt_counts& counts, rejection why) noexcept {
    ++counts.seen;
    ++counts.rejected[why];
    return false;
}

// Whether a task on that node can be learned from, and its time; if not, it is counted.
template <class Profile, class Record, class Node>
[[nodiscard]] bool read_time(Profile const& profile, Record const& task, Node const& node,
                             attempt_counts& counts, double& time) {
    if (attempt_status const s = read_status(profile, task); s != attempt_status::success) {
        ++counts.seen;
        ++(record::was_stopped(s) ? counts.killed : counts.failed);
        return false;
    }
    if (!is_present(node)) return reject(counts, rejection::missing_node);
    auto const& took = project(profile.time, task);
    if (!is_present(took)) return reject(counts, rejection::missing_time);
    time = to_time(unwrap(took));
    if (!is_finite(time)) return reject(counts, rejection::not_finite);
    return time >= 0 || reject(counts, rejection::negative_duration);
}

} // namespace straggle::detail
