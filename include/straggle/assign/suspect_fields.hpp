// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Suspects as stragglers: a suspect that points to the user's record needs only the fields of that record.
#pragma once

#include <straggle/assign/backup_fields.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/field.hpp>
#include <straggle/record/running.hpp>
#include <straggle/record/suspect.hpp>

#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// Reads a field of the record that a suspect points to.
template <class Projection>
struct of_row {
    [[no_unique_address]] Projection projection{};
    template <class Row, class TimeLeft>
    constexpr decltype(auto) operator()(suspect<Row, TimeLeft> const& s) const
        requires requires { project(projection, *s.row); }
    {
        return project(projection, *s.row);
    }
};
struct time_left {
    template <class Row, class TimeLeft>
    constexpr TimeLeft const& operator()(suspect<Row, TimeLeft> const& s) const noexcept {
        return s.left;
    }
};

template <class Projection>
constexpr auto of_row_if_given(Projection const& projection) {
    if constexpr (given<Projection>)
        return of_row<Projection>{projection};
    else
        return projection;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::assign {

/// The fields of a suspect, derived from those of the running task that its `row` points to: where it runs,
/// how many attempts of it run, whether it may be copied. The suspect itself contains the time it has left.
///
/// A record names one node. If it stands for several attempts and a copy must avoid all their nodes, or for
/// `.next_slowest` and `.can_run`, use your own `straggler_fields`.
/// @par Example
/// `assigner.choose(scan(job.view(), tasks), suspect_fields(fields), hosts, of_host, predict)`; `choose` does
/// this itself when it gets `running_fields`
template <class Fields>
    requires detail::running_aggregate<Fields>
[[nodiscard]] constexpr auto suspect_fields(Fields const& of_task) {
    return straggler_fields{.runs_on = detail::of_row{of_task.node},
                            .remaining = detail::time_left{},
                            .attempts = detail::of_row_if_given(of_task.copies),
                            .may_copy = detail::of_row_if_given(of_task.may_copy)};
}

} // namespace straggle::assign

namespace straggle::inline STRAGGLE_ABI::detail {

// A suspect whose row points to a record with these fields.
template <class Suspect, class Fields>
inline constexpr bool points_to = false;
template <class Task, class TimeLeft, class Fields>
inline constexpr bool points_to<suspect<Task*, TimeLeft>, Fields> =
    record::node_field<decltype(Fields::node), std::remove_const_t<Task>>;

// Finds the traits of a straggler: its own, or those of the record it points to.
template <class Straggler>
struct traits_place {
    using type = Straggler;
};
template <class Task, class TimeLeft>
struct traits_place<suspect<Task*, TimeLeft>> {
    using type = std::remove_const_t<Task>;
};
template <class Straggler>
using straggler_traits = task_traits<typename traits_place<Straggler>::type>;
template <class Straggler>
concept has_straggler_traits = record::has_task_traits<typename traits_place<Straggler>::type>;

} // namespace straggle::detail
