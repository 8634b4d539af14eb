// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about records: what is a projection, an identifier, a length of time, a field.
#include "../support/archetypes.hpp"

#include <straggle/record/attempt.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace straggle_test {

using namespace straggle;

enum class color { red };

// --- identifier --------------------------------------------------------------------------------------------
static_assert(base::identifier<int> && base::identifier<std::int8_t> && base::identifier<std::uint64_t> &&
              base::identifier<char>);
static_assert(base::identifier<double> && base::identifier<color> && base::identifier<int*>);
static_assert(base::identifier<std::string> && base::identifier<std::string_view> &&
              base::identifier<char const*> && base::identifier<char[8]>);
static_assert(base::identifier<minimal_id> && base::identifier<minimal_text>);
static_assert(base::identifier<std::optional<int>>,
              "as an element of something; a field takes the optional off");
static_assert(!base::identifier<bool>, "std::vector<bool> holds no bools");
static_assert(!base::identifier<void> && !base::identifier<base::no_field> &&
              !base::identifier<std::vector<int>>);
static_assert(!base::identifier<id_without_hash> && !base::identifier<id_without_equality> &&
              !base::identifier<id_with_odd_hash>);
static_assert(!base::identifier<id_without_copy> && !base::identifier<id_without_assignment> &&
              !base::identifier<id_without_default> && !base::identifier<std::unique_ptr<int>>);
static_assert(!base::identifier<text_only_if_asked>);

// --- duration_like -----------------------------------------------------------------------------------------
static_assert(base::duration_like<int> && base::duration_like<std::int8_t> &&
              base::duration_like<std::uint64_t> && base::duration_like<float> &&
              base::duration_like<double> && base::duration_like<long double> && base::duration_like<char>);
static_assert(base::duration_like<std::chrono::nanoseconds> &&
              base::duration_like<std::chrono::duration<float>>);
static_assert(base::duration_like<minimal_duration>);
static_assert(!base::duration_like<bool> && !base::duration_like<std::string> &&
              !base::duration_like<color> && !base::duration_like<void>);
static_assert(!base::duration_like<std::chrono::system_clock::time_point>);
static_assert(!base::duration_like<std::optional<int>>, "as such; a field takes the optional off");
static_assert(!base::duration_like<duration_without_period> && !base::duration_like<duration_without_rep> &&
              !base::duration_like<duration_without_count> &&
              !base::duration_like<duration_without_const_count> && !base::duration_like<duration_of_text> &&
              !base::duration_like<duration_counting_text>);

// --- time_like ---------------------------------------------------------------------------------------------
static_assert(base::time_like<std::int64_t> && base::time_like<unsigned char> && base::time_like<double>);
static_assert(base::time_like<std::chrono::system_clock::time_point> &&
              base::time_like<std::chrono::steady_clock::time_point>);
static_assert(base::time_like<std::chrono::seconds>, "time since something");
static_assert(base::time_like<minimal_time>);
static_assert(!base::time_like<bool> && !base::time_like<std::string> && !base::time_like<color> &&
              !base::time_like<void>);
static_assert(!base::time_like<char const*> && !base::time_like<int*>,
              "pointers have differences, but not of time");
static_assert(!base::time_like<time_without_difference> && !base::time_like<time_without_order> &&
              !base::time_like<time_with_odd_difference> && !base::time_like<time_without_copy>);

// --- projection_of -----------------------------------------------------------------------------------------
struct row {
    int number;
    bool flag;
    std::string text;
    double real;
    std::chrono::milliseconds took;
    std::chrono::system_clock::time_point at;
    std::chrono::steady_clock::time_point at_steady;
    std::optional<int> maybe;
    std::optional<bool> maybe_flag;
    minimal_optional<attempt_status> status;
    minimal_id id;
    id_without_hash no_hash;
    minimal_duration lasted;
    minimal_time when;

    int reads() const;
    int writes();
    int takes(int) const;
    int on_lvalues() const&;
    int on_rvalues() &&;
    void nothing() const;
    static int of(row const&);
};
struct derived : row {};
struct other {
    int number;
};

using reader = decltype([](row const& r) { return r.number; });
using writer = decltype([](row& r) { return r.number; });
using nobody = decltype([](other const&) { return 0; });
struct changing_projection {
    int operator()(row const&) { return 0; }
};

static_assert(base::projection_of<int row::*, row> && base::projection_of<int row::*, derived>);
static_assert(base::projection_of<decltype(&row::reads), row> &&
              base::projection_of<decltype(&row::on_lvalues), row>);
static_assert(base::projection_of<reader, row> && base::projection_of<reader, derived> &&
              base::projection_of<int (*)(row const&), row>);
static_assert(base::projection_of<decltype(&row::of), row>);
static_assert(base::projection_of<decltype(&row::nothing), row>, "a projection, but no field");
static_assert(!base::projection_of<int other::*, row> && !base::projection_of<int derived::*, row>);
static_assert(!base::projection_of<decltype(&row::writes), row> &&
              !base::projection_of<decltype(&row::takes), row> &&
              !base::projection_of<decltype(&row::on_rvalues), row>);
static_assert(!base::projection_of<writer, row> && !base::projection_of<nobody, row> &&
                  !base::projection_of<changing_projection, row>,
              "records are only read");
static_assert(!base::projection_of<int, row> && !base::projection_of<base::no_field, row>);

// --- one concept per field ---------------------------------------------------------------------------------
template <auto Member>
using member = decltype(Member);
template <class T>
using gives = T (*)(row const&); // a projection to a T

// Job, node and task are identifiers.
template <class Field>
concept identifies =
    record::job_field<Field, row> && record::node_field<Field, row> && record::task_field<Field, row>;
template <class Field>
concept does_not_identify =
    !record::job_field<Field, row> && !record::node_field<Field, row> && !record::task_field<Field, row>;
static_assert(identifies<member<&row::number>> && identifies<member<&row::text>> &&
              identifies<member<&row::id>> && identifies<member<&row::maybe>> &&
              identifies<member<&row::reads>>);
static_assert(identifies<gives<std::string_view>> && identifies<gives<minimal_optional<minimal_id>>>);
static_assert(identifies<gives<std::string const&>> && identifies<reader>);
static_assert(does_not_identify<base::no_field> && does_not_identify<member<&row::no_hash>> &&
              does_not_identify<member<&other::number>> && does_not_identify<member<&row::nothing>> &&
              does_not_identify<member<&row::flag>> &&
              does_not_identify<gives<std::optional<std::optional<std::vector<int>>>>>);

static_assert(record::duration_field<member<&row::number>, row> &&
              record::duration_field<member<&row::real>, row> &&
              record::duration_field<member<&row::took>, row> &&
              record::duration_field<member<&row::maybe>, row> &&
              record::duration_field<member<&row::lasted>, row> &&
              record::duration_field<gives<std::optional<minimal_duration>>, row>);
static_assert(!record::duration_field<base::no_field, row> &&
              !record::duration_field<member<&row::text>, row> &&
              !record::duration_field<member<&row::flag>, row> &&
              !record::duration_field<member<&row::maybe_flag>, row> &&
              !record::duration_field<member<&row::at>, row> &&
              !record::duration_field<member<&row::nothing>, row> &&
              !record::duration_field<member<&other::number>, row>);

static_assert(record::time_field<member<&row::number>, row> && record::time_field<member<&row::real>, row> &&
              record::time_field<member<&row::at>, row> && record::time_field<member<&row::when>, row> &&
              record::time_field<gives<std::optional<minimal_time>>, row>);
static_assert(!record::time_field<base::no_field, row> && !record::time_field<member<&row::text>, row> &&
              !record::time_field<member<&row::id>, row> && !record::time_field<member<&row::flag>, row> &&
              !record::time_field<member<&row::nothing>, row> &&
              !record::time_field<member<&other::number>, row>);

static_assert(record::input_field<member<&row::number>, row> &&
              record::input_field<member<&row::real>, row> && record::input_field<member<&row::maybe>, row>);
static_assert(!record::input_field<base::no_field, row> && !record::input_field<member<&row::text>, row> &&
              !record::input_field<member<&row::took>, row> &&
              !record::input_field<member<&row::nothing>, row> &&
              !record::input_field<member<&other::number>, row>);

static_assert(record::status_field<member<&row::flag>, row> &&
              record::status_field<member<&row::maybe_flag>, row> &&
              record::status_field<member<&row::status>, row> &&
              record::status_field<gives<attempt_status>, row> &&
              record::status_field<gives<bool const&>, row>);
static_assert(!record::status_field<base::no_field, row> &&
                  !record::status_field<member<&row::number>, row> &&
                  !record::status_field<gives<color>, row> &&
                  !record::status_field<member<&row::text>, row> &&
                  !record::status_field<gives<minimal_text>, row>,
              "what success is must be said, not guessed");

// --- timed_fields ------------------------------------------------------------------------------------------
template <class Duration = base::no_field, class Start = base::no_field, class End = base::no_field>
using timed = attempt_fields<int row::*, base::no_field, int row::*, Start, End, Duration>;
static_assert(record::timed_fields<timed<int row::*>, row>);
static_assert(record::timed_fields<timed<base::no_field, int row::*, int row::*>, row>);
static_assert(record::timed_fields<timed<int row::*, int row::*>, row>, "a duration needs no end");
static_assert(record::timed_fields<timed<int row::*, int row::*, std::string row::*>, row>, "nor a good one");
static_assert(!record::timed_fields<timed<>, row> &&
              !record::timed_fields<timed<base::no_field, int row::*>, row> &&
              !record::timed_fields<timed<base::no_field, base::no_field, int row::*>, row>);
static_assert(!record::timed_fields<timed<std::string row::*>, row>);
static_assert(!record::timed_fields<timed<std::string row::*, int row::*, int row::*>, row>,
              "times do not stand in for a duration that is wrong");
static_assert(!record::timed_fields<timed<base::no_field, int row::*, std::string row::*>, row>);
// Start and end must be of one kind.
template <class Start, class End>
concept make_a_duration = record::timed_fields<timed<base::no_field, gives<Start>, gives<End>>, row>;
static_assert(make_a_duration<std::int32_t, std::int64_t> && make_a_duration<unsigned, std::uint64_t> &&
              make_a_duration<float, double> && make_a_duration<minimal_time, std::optional<minimal_time>>);
static_assert(make_a_duration<std::chrono::sys_time<std::chrono::seconds>,
                              std::chrono::sys_time<std::chrono::nanoseconds>>);
static_assert(!make_a_duration<std::int64_t, std::uint64_t> && !make_a_duration<std::uint32_t, std::int64_t>);
static_assert(!make_a_duration<std::int64_t, double> && !make_a_duration<double, std::int64_t>);
static_assert(!make_a_duration<std::int64_t, std::chrono::system_clock::time_point>);
static_assert(!make_a_duration<std::chrono::system_clock::time_point, std::chrono::steady_clock::time_point>);
static_assert(!make_a_duration<minimal_time, std::chrono::nanoseconds>);

// --- attempt_fields_for ------------------------------------------------------------------------------------
constexpr attempt_fields good{.job = &row::text, .node = &row::id, .duration = &row::took};
static_assert(record::attempt_fields_for<decltype(good), row>);
static_assert(record::attempt_fields_for<decltype(good), derived>);
static_assert(!record::attempt_fields_for<decltype(good), other> &&
              !record::attempt_fields_for<decltype(good), int>);
static_assert(!record::attempt_fields_for<int, row> && !record::attempt_fields_for<base::no_field, row>);

template <class Job, class Node, class Duration, class Status = base::no_field, class Task = base::no_field,
          class Input = base::no_field>
concept fit = record::attempt_fields_for<
    attempt_fields<Job, Task, Node, base::no_field, base::no_field, Duration, Status, Input>, row>;
using number = int row::*;
using text = std::string row::*;
using unhashed = id_without_hash row::*;
static_assert(fit<number, number, number> && fit<text, text, number> &&
              fit<number, number, number, bool row::*, text, number>);
static_assert(!fit<base::no_field, number, number> && !fit<unhashed, number, number>);
static_assert(!fit<number, base::no_field, number> && !fit<number, unhashed, number>);
static_assert(!fit<number, number, base::no_field> && !fit<number, number, text>);
static_assert(!fit<number, number, number, number>, "status");
static_assert(!fit<number, number, number, base::no_field, unhashed>, "task");
static_assert(!fit<number, number, number, base::no_field, base::no_field, text>, "input");
static_assert(!fit<int other::*, number, number>);

// --- has_task_traits ---------------------------------------------------------------------------------------
static_assert(!record::has_task_traits<row> && !record::has_task_traits<int>);

} // namespace straggle_test

template <>
struct straggle::task_traits<straggle_test::other> {
    static constexpr auto fields = straggle::attempt_fields{.job = &straggle_test::other::number,
                                                            .node = &straggle_test::other::number,
                                                            .duration = &straggle_test::other::number};
};
static_assert(straggle::record::has_task_traits<straggle_test::other> &&
              !straggle::record::has_task_traits<straggle_test::other const*>);
static_assert(straggle::record::attempt_fields_for<
              decltype(straggle::task_traits<straggle_test::other>::fields), straggle_test::other>);
