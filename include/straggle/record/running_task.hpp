// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a running task is to the mitigator: which of the user's members hold its job, its node and its start,
/// and what may be known beside.
#pragma once

#include <straggle/core/field.hpp>
#include <straggle/core/running.hpp>

#include <concepts>

namespace straggle {

/// Yes or no; may be optional: an empty one is what stands for a missing field.
template <class Field, class Record>
concept flag_field = projection_of<Field, Record> && std::same_as<detail::field_value_t<Field, Record>, bool>;

/// Which members of a running attempt are what: one record for each attempt, copies too. An aggregate meant
/// for designated initialisers.
///
/// @par Example
/// `task_fields{.job = &task::job, .task = &task::id, .node = &task::host, .start = &task::started}`
///
/// Any projection may yield a `std::optional`: an empty one means unknown.
template <class Job = no_field, class Task = no_field, class Node = no_field, class Start = no_field,
          class Progress = no_field, class Reported = no_field, class Kind = no_field, class Input = no_field,
          class Attempts = no_field, class MayCopy = no_field, class IsCopy = no_field>
struct task_fields {
    [[no_unique_address]] Job job{};           ///< `job_field`
    [[no_unique_address]] Task task{};         ///< `task_field`; without it no copies are planned
    [[no_unique_address]] Node node{};         ///< `node_field`
    [[no_unique_address]] Start start{};       ///< `time_field`: when the attempt began
    [[no_unique_address]] Progress progress{}; ///< `progress_field`
    [[no_unique_address]] Reported reported{}; ///< `time_field`: when the progress was so
    [[no_unique_address]] Kind kind{};         ///< `label_field`: jobs of the same work
    [[no_unique_address]] Input input{};       ///< `input_field`: what it has to read
    [[no_unique_address]] Attempts attempts{}; ///< `copies_field`; without it the records of the task
    [[no_unique_address]] MayCopy may_copy{};  ///< `flag_field`; without it every task may
    [[no_unique_address]] IsCopy is_copy{};    ///< `flag_field`; without it who began last
};

/// Fields with which a `Record` can be read as a running attempt.
template <class Fields, class Record>
concept task_fields_for =
    job_field<decltype(Fields::job), Record> && node_field<decltype(Fields::node), Record> &&
    time_field<decltype(Fields::start), Record> &&
    (!detail::given<decltype(Fields::task)> || task_field<decltype(Fields::task), Record>) &&
    (!detail::given<decltype(Fields::progress)> || progress_field<decltype(Fields::progress), Record>) &&
    (!detail::given<decltype(Fields::reported)> || time_field<decltype(Fields::reported), Record>) &&
    (!detail::given<decltype(Fields::kind)> || job_field<decltype(Fields::kind), Record>) &&
    (!detail::given<decltype(Fields::input)> || input_field<decltype(Fields::input), Record>) &&
    (!detail::given<decltype(Fields::attempts)> || copies_field<decltype(Fields::attempts), Record>) &&
    (!detail::given<decltype(Fields::may_copy)> || flag_field<decltype(Fields::may_copy), Record>) &&
    (!detail::given<decltype(Fields::is_copy)> || flag_field<decltype(Fields::is_copy), Record>);

} // namespace straggle
