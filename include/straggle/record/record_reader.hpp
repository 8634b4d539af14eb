// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `blacklist/dynamic_blacklist.hpp` and `mitigate/mitigator.hpp`: converts the user's records
/// to plain numbers. A field that a record lacks is unknown, never a reason to reject it.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/field.hpp>
#include <straggle/record/id_table.hpp>
#include <straggle/record/node.hpp>
#include <straggle/record/running.hpp>
#include <straggle/record/time_line.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014; constants of Stafford's Mix13).
constexpr std::uint64_t mixed(std::uint64_t h, std::uint64_t key) noexcept {
    h ^= key * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
}

// Maps a name to a number; two names collide with probability 2^-64.
template <class Id>
std::uint64_t key_of(Id const& id, std::uint64_t key) {
    std::uint64_t h = 0;
    if constexpr (text<Id>)
        h = hash_text(std::string_view(id), key);
    else
        h = std::hash<Id>{}(id);
    h = mixed(h, key + 1);
    return h == no_task ? 0 : h;
}

// Fields that only some aggregates have.
template <class Fields>
concept has_job = requires { requires given<decltype(Fields::job)>; };
template <class Fields>
concept has_task = requires { requires given<decltype(Fields::task)>; };
template <class Fields>
concept has_kind = requires { requires given<decltype(Fields::kind)>; };
template <class Fields>
concept has_input = requires { requires given<decltype(Fields::input)>; };
template <class Fields>
concept has_start = requires { requires given<decltype(Fields::start)>; };
template <class Fields>
concept has_end = requires { requires given<decltype(Fields::end)>; };
template <class Fields>
concept has_progress = requires { requires given<decltype(Fields::progress)>; };
template <class Fields>
concept has_reported = requires { requires given<decltype(Fields::reported)>; };
template <class Fields>
concept has_copies = requires { requires given<decltype(Fields::copies)>; };
template <class Fields>
concept has_may_copy = requires { requires given<decltype(Fields::may_copy)>; };
template <class Fields>
concept has_is_copy = requires { requires given<decltype(Fields::is_copy)>; };
template <class Fields>
concept has_outrun = requires { requires given<decltype(Fields::outrun)>; };
template <class Fields>
concept has_job_tasks = requires { requires given<decltype(Fields::job_tasks)>; };
template <class Fields>
concept has_deadline = requires { requires given<decltype(Fields::deadline)>; };
template <class Fields>
concept has_weight = requires { requires given<decltype(Fields::weight)>; };
// Whether records say something about their job.
template <class Fields>
concept has_goal = has_job_tasks<Fields> || has_deadline<Fields> || has_weight<Fields>;
template <class Fields>
concept has_machine_class = requires { requires given<decltype(Fields::machine_class)>; };
template <class Fields>
concept has_domain = requires { requires given<decltype(Fields::domain)>; };
template <class Fields>
concept has_slots = requires { requires given<decltype(Fields::slots)>; };
template <class Fields>
concept has_busy = requires { requires given<decltype(Fields::busy)>; };

// A running attempt.
struct read_running_row {
    std::uint32_t row = 0, node = no_index, kind = no_index;
    std::uint64_t job = 0, task = no_task;
    double start = 0, progress = unknown, reported = unknown, input = unknown, waited = 0;
    std::uint32_t attempts = 1;
    bool is_copy = false, knows_copy = false, may_copy = true, left_alone = false;

    // What counts as evidence about its node.
    [[nodiscard]] running_attempt attempt() const noexcept {
        return {.node = node,
                .job = job,
                .task = task,
                .start = start,
                .copy = is_copy,
                .input = input,
                .waited = waited};
    }
};

template <class Projection, class Record>
double read_number(Projection const& projection, Record const& record) {
    auto const& field = project(projection, record);
    return is_present(field) ? static_cast<double>(unwrap(field)) : unknown;
}
// What an attempt of this age waited for others; 0 if unknown.
template <class Projection, class Record>
double read_wait(Projection const& projection, Record const& record, double age) {
    auto const& field = project(projection, record);
    if (!is_present(field)) return 0;
    double const waited = to_time(unwrap(field));
    return waited > 0 ? (std::min)(waited, age) : 0.0; // not for NaN
}
template <class Line, class Projection, class Record>
double read_point(Line const& line, Projection const& projection, Record const& record) {
    auto const& field = project(projection, record);
    return is_present(field) ? line.at(unwrap(field)) : unknown;
}
template <class Projection, class Record>
std::uint64_t read_key(Projection const& projection, Record const& record, std::uint64_t key,
                       std::uint64_t otherwise) {
    auto const& field = project(projection, record);
    return is_present(field) ? key_of(unwrap(field), key) : otherwise;
}

template <class Pointer>
struct record_behind;
template <class Member, class Record>
struct record_behind<Member Record::*> {
    using type = Record;
};
// The record type named by a member pointer among the fields.
template <class Fields>
using record_of = typename record_behind<decltype(Fields::node)>::type;

// Whether names from two record types can ever be equal.
template <class A, class B>
concept names_agree = std::same_as<A, B> || (text<A> && text<B>) || (std::integral<A> && std::integral<B>);
template <class ProjectionA, class A, class ProjectionB, class B>
consteval bool do_names_agree() {
    if constexpr (given<ProjectionA> && given<ProjectionB>)
        return names_agree<field_value_t<ProjectionA, A>, field_value_t<ProjectionB, B>>;
    return true;
}
template <class ProjectionA, class A, class ProjectionB, class B>
consteval bool do_clocks_agree() {
    if constexpr (given<ProjectionA> && given<ProjectionB>)
        return on_one_clock<field_value_t<ProjectionA, A>, field_value_t<ProjectionB, B>>;
    return true;
}
// Says in one line which fields of record types that are read together can never be equal.
template <class AttemptFields, class Attempt, class RunningFields, class Running>
consteval bool explain_attempts_that_run() {
    if constexpr (given<RunningFields>) {
        using ended = AttemptFields;
        using running = RunningFields;
        static_assert(
            do_names_agree<decltype(ended::job), Attempt, decltype(running::job), Running>(),
            ".job of attempts that ended and of those that run can never be equal: text in one, a number in "
            "the other");
        static_assert(
            do_names_agree<decltype(ended::task), Attempt, decltype(running::task), Running>(),
            ".task of attempts that ended and of those that run can never be equal: text in one, a number in "
            "the other");
        static_assert(
            do_names_agree<decltype(ended::node), Attempt, decltype(running::node), Running>(),
            ".node of attempts that ended and of those that run can never be equal: text in one, a number in "
            "the other");
        static_assert(
            do_clocks_agree<decltype(ended::start), Attempt, decltype(running::start), Running>() &&
                do_clocks_agree<decltype(ended::end), Attempt, decltype(running::start), Running>(),
            ".start and .end of attempts that ended and .start of those that run have to be points in time "
            "of one clock");
        static_assert(
            do_clocks_agree<decltype(running::start), Running, decltype(running::deadline), Running>(),
            ".start and .deadline of attempts that run have to be points in time of one clock");
    }
    return true;
}
template <class AttemptFields, class Attempt, class NodeFields, class Node>
consteval bool explain_nodes() {
    if constexpr (given<NodeFields>)
        static_assert(
            do_names_agree<decltype(AttemptFields::node), Attempt, decltype(NodeFields::node), Node>(),
            ".node of attempts and of nodes can never be equal: text in one, a number in the other");
    return true;
}

template <class Fields, class Record>
struct own_time;
template <class Fields, class Record>
    requires base::clock_time<field_value_t<decltype(Fields::start), Record>>
struct own_time<Fields, Record> {
    using type = field_value_t<decltype(Fields::start), Record>;
};

// The table for a field, or a stand-in.
template <class Projection, class Record>
struct label_table {
    using type = no_id_table;
};
template <given Projection, class Record>
struct label_table<Projection, Record> {
    using type = id_table<owned_identifier_t<field_value_t<Projection, Record>>>;
};
template <class Table, class Projection, class Record>
std::uint32_t read_label(Table& table, Projection const& projection, Record const& record, double now) {
    if constexpr (std::is_same_v<Table, no_id_table>) {
        return no_index;
    } else {
        auto const& field = project(projection, record);
        return is_present(field) ? table.insert(unwrap(field), now) : no_index;
    }
}
// A missing table is written like an empty one.
template <class Table>
void write_table(byte_writer& out, Table const& table) {
    if constexpr (std::is_same_v<Table, no_id_table>)
        out.flag(false);
    else {
        out.flag(true);
        table.write(out);
    }
}
template <class Table>
void read_table(byte_reader& in, Table& table) {
    in.expect(in.flag() != std::is_same_v<Table, no_id_table>, status::wrong_kind);
    if constexpr (!std::is_same_v<Table, no_id_table>) table.read(in);
}

template <class Table>
Table make_table(std::size_t most) {
    if constexpr (std::is_same_v<Table, no_id_table>)
        return {};
    else
        return Table(most);
}

} // namespace straggle::detail
