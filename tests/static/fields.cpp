// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about records: what is a projection, an identifier, a length of time, a field.
#include "../support/archetypes.hpp"

#include <straggle/core/attempt.hpp>

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
static_assert(identifier<int> && identifier<std::int8_t> && identifier<std::uint64_t> && identifier<char>);
static_assert(identifier<double> && identifier<color> && identifier<int*>);
static_assert(identifier<std::string> && identifier<std::string_view> && identifier<char const*> &&
              identifier<char[8]>);
static_assert(identifier<minimal_id> && identifier<minimal_text>);
static_assert(identifier<std::optional<int>>, "as an element of something; a field takes the optional off");
static_assert(!identifier<bool>, "std::vector<bool> holds no bools");
static_assert(!identifier<void> && !identifier<no_field> && !identifier<std::vector<int>>);
static_assert(!identifier<id_without_hash> && !identifier<id_without_equality> &&
              !identifier<id_with_odd_hash>);
static_assert(!identifier<id_without_copy> && !identifier<id_without_assignment> &&
              !identifier<id_without_default> && !identifier<std::unique_ptr<int>>);
static_assert(!identifier<text_only_if_asked>);

// --- duration_like -----------------------------------------------------------------------------------------
static_assert(duration_like<int> && duration_like<std::int8_t> && duration_like<std::uint64_t> &&
              duration_like<float> && duration_like<double> && duration_like<long double> &&
              duration_like<char>);
static_assert(duration_like<std::chrono::nanoseconds> && duration_like<std::chrono::duration<float>>);
static_assert(duration_like<minimal_duration>);
static_assert(!duration_like<bool> && !duration_like<std::string> && !duration_like<color> &&
              !duration_like<void>);
static_assert(!duration_like<std::chrono::system_clock::time_point>);
static_assert(!duration_like<std::optional<int>>, "as such; a field takes the optional off");
static_assert(!duration_like<duration_without_period> && !duration_like<duration_without_rep> &&
              !duration_like<duration_without_count> && !duration_like<duration_without_const_count> &&
              !duration_like<duration_of_text> && !duration_like<duration_counting_text>);

// --- time_like ---------------------------------------------------------------------------------------------
static_assert(time_like<std::int64_t> && time_like<unsigned char> && time_like<double>);
static_assert(time_like<std::chrono::system_clock::time_point> &&
              time_like<std::chrono::steady_clock::time_point>);
static_assert(time_like<std::chrono::seconds>, "time since something");
static_assert(time_like<minimal_time>);
static_assert(!time_like<bool> && !time_like<std::string> && !time_like<color> && !time_like<void>);
static_assert(!time_like<char const*> && !time_like<int*>, "pointers have differences, but not of time");
static_assert(!time_like<time_without_difference> && !time_like<time_without_order> &&
              !time_like<time_with_odd_difference> && !time_like<time_without_copy>);

// --- projection_of -----------------------------------------------------------------------------------------
struct record {
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
    static int of(record const&);
};
struct derived : record {};
struct other {
    int number;
};

using reader = decltype([](record const& r) { return r.number; });
using writer = decltype([](record& r) { return r.number; });
using nobody = decltype([](other const&) { return 0; });
struct changing_projection {
    int operator()(record const&) { return 0; }
};

static_assert(projection_of<int record::*, record> && projection_of<int record::*, derived>);
static_assert(projection_of<decltype(&record::reads), record> &&
              projection_of<decltype(&record::on_lvalues), record>);
static_assert(projection_of<reader, record> && projection_of<reader, derived> &&
              projection_of<int (*)(record const&), record>);
static_assert(projection_of<decltype(&record::of), record>);
static_assert(projection_of<decltype(&record::nothing), record>, "a projection, but no field");
static_assert(!projection_of<int other::*, record> && !projection_of<int derived::*, record>);
static_assert(!projection_of<decltype(&record::writes), record> &&
              !projection_of<decltype(&record::takes), record> &&
              !projection_of<decltype(&record::on_rvalues), record>);
static_assert(!projection_of<writer, record> && !projection_of<nobody, record> &&
                  !projection_of<changing_projection, record>,
              "records are only read");
static_assert(!projection_of<int, record> && !projection_of<no_field, record>);

// --- one concept per field ---------------------------------------------------------------------------------
template <auto Member>
using member = decltype(Member);
template <class T>
using gives = T (*)(record const&); // a projection to a T

// Job, node and task are identifiers.
template <class Field>
concept identifies = job_field<Field, record> && node_field<Field, record> && task_field<Field, record>;
template <class Field>
concept does_not_identify =
    !job_field<Field, record> && !node_field<Field, record> && !task_field<Field, record>;
static_assert(identifies<member<&record::number>> && identifies<member<&record::text>> &&
              identifies<member<&record::id>> && identifies<member<&record::maybe>> &&
              identifies<member<&record::reads>>);
static_assert(identifies<gives<std::string_view>> && identifies<gives<minimal_optional<minimal_id>>>);
static_assert(identifies<gives<std::string const&>> && identifies<reader>);
static_assert(does_not_identify<no_field> && does_not_identify<member<&record::no_hash>> &&
              does_not_identify<member<&other::number>> && does_not_identify<member<&record::nothing>> &&
              does_not_identify<member<&record::flag>> &&
              does_not_identify<gives<std::optional<std::optional<std::vector<int>>>>>);

static_assert(duration_field<member<&record::number>, record> &&
              duration_field<member<&record::real>, record> &&
              duration_field<member<&record::took>, record> &&
              duration_field<member<&record::maybe>, record> &&
              duration_field<member<&record::lasted>, record> &&
              duration_field<gives<std::optional<minimal_duration>>, record>);
static_assert(!duration_field<no_field, record> && !duration_field<member<&record::text>, record> &&
              !duration_field<member<&record::flag>, record> &&
              !duration_field<member<&record::maybe_flag>, record> &&
              !duration_field<member<&record::at>, record> &&
              !duration_field<member<&record::nothing>, record> &&
              !duration_field<member<&other::number>, record>);

static_assert(time_field<member<&record::number>, record> && time_field<member<&record::real>, record> &&
              time_field<member<&record::at>, record> && time_field<member<&record::when>, record> &&
              time_field<gives<std::optional<minimal_time>>, record>);
static_assert(!time_field<no_field, record> && !time_field<member<&record::text>, record> &&
              !time_field<member<&record::id>, record> && !time_field<member<&record::flag>, record> &&
              !time_field<member<&record::nothing>, record> && !time_field<member<&other::number>, record>);

static_assert(input_field<member<&record::number>, record> && input_field<member<&record::real>, record> &&
              input_field<member<&record::maybe>, record>);
static_assert(!input_field<no_field, record> && !input_field<member<&record::text>, record> &&
              !input_field<member<&record::took>, record> && !input_field<member<&record::nothing>, record> &&
              !input_field<member<&other::number>, record>);

static_assert(status_field<member<&record::flag>, record> &&
              status_field<member<&record::maybe_flag>, record> &&
              status_field<member<&record::status>, record> && status_field<gives<attempt_status>, record> &&
              status_field<gives<bool const&>, record>);
static_assert(!status_field<no_field, record> && !status_field<member<&record::number>, record> &&
                  !status_field<gives<color>, record> && !status_field<member<&record::text>, record> &&
                  !status_field<gives<minimal_text>, record>,
              "what success is must be said, not guessed");

// --- timed_fields ------------------------------------------------------------------------------------------
template <class Duration = no_field, class Start = no_field, class End = no_field>
using timed = attempt_fields<int record::*, int record::*, Duration, Start, End>;
static_assert(timed_fields<timed<int record::*>, record>);
static_assert(timed_fields<timed<no_field, int record::*, int record::*>, record>);
static_assert(timed_fields<timed<int record::*, int record::*>, record>, "a duration needs no end");
static_assert(timed_fields<timed<int record::*, int record::*, std::string record::*>, record>,
              "nor a good one");
static_assert(!timed_fields<timed<>, record> && !timed_fields<timed<no_field, int record::*>, record> &&
              !timed_fields<timed<no_field, no_field, int record::*>, record>);
static_assert(!timed_fields<timed<std::string record::*>, record>);
static_assert(!timed_fields<timed<std::string record::*, int record::*, int record::*>, record>,
              "times do not stand in for a duration that is wrong");
static_assert(!timed_fields<timed<no_field, int record::*, std::string record::*>, record>);
// Start and end must be of one kind.
template <class Start, class End>
concept make_a_duration = timed_fields<timed<no_field, gives<Start>, gives<End>>, record>;
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
constexpr attempt_fields good{.job = &record::text, .node = &record::id, .duration = &record::took};
static_assert(attempt_fields_for<decltype(good), record>);
static_assert(attempt_fields_for<decltype(good), derived>);
static_assert(!attempt_fields_for<decltype(good), other> && !attempt_fields_for<decltype(good), int>);
static_assert(!attempt_fields_for<int, record> && !attempt_fields_for<no_field, record>);

template <class Job, class Node, class Duration, class Status = no_field, class Task = no_field,
          class Input = no_field>
concept fit =
    attempt_fields_for<attempt_fields<Job, Node, Duration, no_field, no_field, Status, Task, Input>, record>;
using number = int record::*;
using text = std::string record::*;
using unhashed = id_without_hash record::*;
static_assert(fit<number, number, number> && fit<text, text, number> &&
              fit<number, number, number, bool record::*, text, number>);
static_assert(!fit<no_field, number, number> && !fit<unhashed, number, number>);
static_assert(!fit<number, no_field, number> && !fit<number, unhashed, number>);
static_assert(!fit<number, number, no_field> && !fit<number, number, text>);
static_assert(!fit<number, number, number, number>, "status");
static_assert(!fit<number, number, number, no_field, unhashed>, "task");
static_assert(!fit<number, number, number, no_field, no_field, text>, "input");
static_assert(!fit<int other::*, number, number>);

// --- has_task_traits ---------------------------------------------------------------------------------------
static_assert(!has_task_traits<record> && !has_task_traits<int>);

} // namespace straggle_test

template <>
struct straggle::task_traits<straggle_test::other> {
    static constexpr auto fields = straggle::attempt_fields{.job = &straggle_test::other::number,
                                                            .node = &straggle_test::other::number,
                                                            .duration = &straggle_test::other::number};
};
static_assert(straggle::has_task_traits<straggle_test::other> &&
              !straggle::has_task_traits<straggle_test::other const*>);
static_assert(straggle::attempt_fields_for<decltype(straggle::task_traits<straggle_test::other>::fields),
                                           straggle_test::other>);
