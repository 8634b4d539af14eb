// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Defines what a running task is: which of the user's members hold its node, progress and start, and why a
/// snapshot of it could not be used.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/record/detail/attempt_concepts.hpp>
#include <straggle/record/field.hpp>
#include <straggle/record/reason_counts.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::record {

/// How much of a task is done, from 0 to 1; may be optional: an empty one means that it has not reported yet.
template <class Field, class Record>
concept progress_field =
    base::projection_of<Field, Record> && std::floating_point<detail::field_value_t<Field, Record>>;

/// How many times as much a job counts as another; may be optional. Negative and infinite ones count as
/// missing.
template <class Field, class Record>
concept weight_field =
    base::projection_of<Field, Record> && std::is_arithmetic_v<detail::field_value_t<Field, Record>> &&
    !std::same_as<detail::field_value_t<Field, Record>, bool>;

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI {

/// Maps the members of a running task's snapshot to their meaning. An aggregate for designated initializers.
///
/// @par Example
/// `running_fields{.node = &task::host, .start = &task::started, .progress = &task::done}`
///
/// Any projection may yield a `std::optional`: an empty one means unknown.
template <class Job = base::no_field, class Task = base::no_field, class Node = base::no_field,
          class Start = base::no_field, class Progress = base::no_field, class Reported = base::no_field,
          class Input = base::no_field, class Waited = base::no_field, class Kind = base::no_field,
          class IsCopy = base::no_field, class MayCopy = base::no_field, class Copies = base::no_field,
          class JobTasks = base::no_field, class Deadline = base::no_field, class Weight = base::no_field>
struct running_fields { // .job .task .node .start .progress .reported .input .waited .kind .is_copy .may_copy
                        // .copies .job_tasks .deadline .weight
    [[no_unique_address]] Job job{};           ///< `job_field`; used by a mitigator
    [[no_unique_address]] Task task{};         ///< `task_field`; if absent, a mitigator plans no copies
    [[no_unique_address]] Node node{};         ///< `node_field`
    [[no_unique_address]] Start start{};       ///< `time_field`: when the attempt started
    [[no_unique_address]] Progress progress{}; ///< `progress_field`; if absent, the progress is unknown
    [[no_unique_address]] Reported
        reported{};                      ///< `time_field`: time of the progress report; used by a mitigator
    [[no_unique_address]] Input input{}; ///< `input_field`: how much it has to read; if absent, 1
    [[no_unique_address]] Waited
        waited{}; ///< `duration_field`: its wait for other tasks so far; it is part of a gang, has no copies
    [[no_unique_address]] Kind kind{}; ///< `label_field`: jobs of the same work; used by a mitigator
    [[no_unique_address]] IsCopy
        is_copy{}; ///< `flag_field`; if absent, the attempt that started first is the original
    [[no_unique_address]] MayCopy may_copy{}; ///< `flag_field`; if absent, every task may have copies
    [[no_unique_address]] Copies
        copies{}; ///< `count_field`: running attempts of the task, itself included; if absent, 1
    [[no_unique_address]] JobTasks
        job_tasks{}; ///< `count_field`: tasks of its job, those that wait included; for a detector of your
                     ///< own in a mitigator; if absent, those seen
    [[no_unique_address]] Deadline deadline{}; ///< `time_field`: when its job has to end; of several tasks,
                                               ///< the earliest counts; used by a mitigator
    [[no_unique_address]] Weight
        weight{}; ///< `weight_field`: of its job; of several tasks, the largest counts; if absent, 1
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Fields>
concept running_aggregate = requires(Fields const& f) {
    f.node;
    f.progress;
    f.start;
    f.input;
    f.copies;
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::record {

/// Fields with which a `Record` can be read as a running task.
template <class Fields, class Record>
concept running_fields_for =
    detail::running_aggregate<Fields> && node_field<decltype(Fields::node), Record> &&
    time_field<decltype(Fields::start), Record> &&
    (!detail::given<decltype(Fields::progress)> || progress_field<decltype(Fields::progress), Record>) &&
    (!detail::given<decltype(Fields::input)> || input_field<decltype(Fields::input), Record>) &&
    (!detail::given<decltype(Fields::copies)> || count_field<decltype(Fields::copies), Record>);

/// Fields with which a mitigator can read a `Record`: one record per attempt, copies included.
template <class Fields, class Record>
concept running_attempt_fields_for =
    running_fields_for<Fields, Record> && job_field<decltype(Fields::job), Record> &&
    (!detail::given<decltype(Fields::task)> || task_field<decltype(Fields::task), Record>) &&
    (!detail::given<decltype(Fields::reported)> || time_field<decltype(Fields::reported), Record>) &&
    (!detail::has_waited<Fields> || duration_field<decltype(Fields::waited), Record>) &&
    (!detail::given<decltype(Fields::kind)> || label_field<decltype(Fields::kind), Record>) &&
    (!detail::given<decltype(Fields::may_copy)> || flag_field<decltype(Fields::may_copy), Record>) &&
    (!detail::given<decltype(Fields::is_copy)> || flag_field<decltype(Fields::is_copy), Record>) &&
    (!detail::given<decltype(Fields::job_tasks)> || count_field<decltype(Fields::job_tasks), Record>) &&
    (!detail::given<decltype(Fields::deadline)> || time_field<decltype(Fields::deadline), Record>) &&
    (!detail::given<decltype(Fields::weight)> || weight_field<decltype(Fields::weight), Record>);

/// Why a snapshot of a running task could not be used.
enum class running_rejection : std::uint8_t {
    missing_node,  ///< the node is an empty optional
    missing_start, ///< the start is an empty optional, or not a number
    not_started,   ///< the start is after now
    bad_progress,  ///< not a number in [0, 1]
};
/// Number of reasons.
inline constexpr std::size_t running_rejection_count = 4;
/// Number of reasons, for `record::reason_counts`.
[[nodiscard]] constexpr std::size_t reason_count(running_rejection) noexcept {
    return running_rejection_count;
}

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(running_rejection r) noexcept {
    constexpr std::array<std::string_view, running_rejection_count> names{"missing_node", "missing_start",
                                                                          "not_started", "bad_progress"};
    return names[static_cast<std::size_t>(r)];
}

/// What became of the snapshots that were read.
/// @par Guarantees
/// `seen == used + total_rejected()`
struct running_counts {
    std::uint64_t seen = 0;       ///< snapshots read
    std::uint64_t used = 0;       ///< running tasks passed to detectors
    std::uint64_t unreported = 0; ///< used ones without a progress report yet, counted as 0 progress
    std::uint64_t misreported =
        0; ///< used ones whose progress is not a number in [0, 1], where only the progress is not used
    record::reason_counts<running_rejection> rejected{}; ///< why the others were rejected

    /// Snapshots rejected for one reason.
    [[nodiscard]] constexpr std::uint64_t operator[](running_rejection r) const noexcept {
        return rejected[r];
    }
    /// Snapshots rejected for any reason.
    [[nodiscard]] constexpr std::uint64_t total_rejected() const noexcept { return rejected.total(); }
    friend constexpr bool operator==(running_counts const&, running_counts const&) = default;
};

} // namespace straggle::record
