// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/attempt.hpp>

#include <doctest/doctest.h>

#include <straggle/rank/rank_nodes.hpp>

#include "../support/seed.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <ratio>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using straggle::attempt_counts;
using straggle::attempt_fields;
using straggle::attempt_status;
using straggle::rejection;

template <class T>
using limits = std::numeric_limits<T>;

// What became of one record.
template <class Value>
struct reading {
    attempt_counts counts;
    std::optional<Value> value;

    // The one reason it was rejected for, if it was.
    [[nodiscard]] std::optional<rejection> reason() const {
        for (std::size_t i = 0; i < straggle::record::rejection_count; ++i)
            if (counts.rejected[i] == 1) return static_cast<rejection>(i);
        return std::nullopt;
    }
};

template <class Fields, class Record>
auto read(Fields const& fields, Record const& record) {
    static_assert(straggle::record::attempt_fields_for<Fields, Record>);
    using value = straggle::detail::reading_t<Fields, Record>;
    reading<value> r;
    straggle::detail::read_attempt(fields, record, r.counts,
                                   [&](auto const&, auto const&, value v) { r.value = v; });
    attempt_counts const& c = r.counts;
    REQUIRE(c.seen == 1);
    REQUIRE(c.seen == c.used + c.failed + c.killed + c.superseded + c.total_rejected());
    REQUIRE(r.value.has_value() == (c.used == 1));
    return r;
}

// A record that is nothing but its duration, or its start and end.
template <class Duration>
auto read_duration(Duration d) {
    return read(attempt_fields{.job = [](Duration const&) { return 0; },
                               .node = [](Duration const&) { return 0; },
                               .duration = [](Duration const& x) { return x; }},
                d);
}
template <class Start, class End = Start>
auto read_times(Start start, End end) {
    struct times {
        Start start;
        End end;
    };
    return read(attempt_fields{.job = [](times const&) { return 0; },
                               .node = [](times const&) { return 0; },
                               .start = &times::start,
                               .end = &times::end},
                times{start, end});
}

TEST_CASE_TEMPLATE("attempt: signed integer durations", T, signed char, short, int, long, long long,
                   std::int8_t, std::int64_t) {
    static_assert(std::is_same_v<decltype(read_duration(T{}).value), std::optional<std::int64_t>>);
    CHECK(read_duration(T{0}).value == 0);
    CHECK(read_duration(T{1}).value == 1);
    CHECK(read_duration(limits<T>::max()).value == std::int64_t{limits<T>::max()});
    CHECK(read_duration(T{-1}).reason() == rejection::negative_duration);
    CHECK(read_duration(limits<T>::min()).reason() == rejection::negative_duration);
}

TEST_CASE_TEMPLATE("attempt: unsigned integer durations", T, unsigned char, unsigned short, unsigned,
                   std::uint8_t, std::uint32_t, char32_t) {
    static_assert(std::is_same_v<decltype(read_duration(T{}).value), std::optional<std::int64_t>>);
    CHECK(read_duration(T{0}).value == 0);
    CHECK(read_duration(limits<T>::max()).value == std::int64_t{limits<T>::max()});
}

TEST_CASE("attempt: unsigned durations above 2^63 - 1 are out of range") {
    std::uint64_t const most = static_cast<std::uint64_t>(limits<std::int64_t>::max());
    CHECK(read_duration(most).value == limits<std::int64_t>::max());
    CHECK(read_duration(most + 1).reason() == rejection::out_of_range);
    CHECK(read_duration(limits<std::uint64_t>::max()).reason() == rejection::out_of_range);
}

TEST_CASE_TEMPLATE("attempt: floating-point durations", T, float, double, long double) {
    static_assert(std::is_same_v<decltype(read_duration(T{}).value), std::optional<double>>);
    CHECK(read_duration(T{0}).value == 0.0);
    CHECK(read_duration(-T{0}).value == 0.0);
    CHECK(read_duration(T(0.375)).value == 0.375);
    float const large = limits<float>::max();
    CHECK(read_duration(static_cast<T>(large)).value == static_cast<double>(large));
    CHECK(read_duration(T(-0.5)).reason() == rejection::negative_duration);
    CHECK(read_duration(-limits<T>::denorm_min()).reason() == rejection::negative_duration);
    CHECK(read_duration(limits<T>::quiet_NaN()).reason() == rejection::not_finite);
    CHECK(read_duration(-limits<T>::quiet_NaN()).reason() == rejection::not_finite);
    CHECK(read_duration(limits<T>::infinity()).reason() == rejection::not_finite);
    CHECK(read_duration(-limits<T>::infinity()).reason() == rejection::not_finite);
}

TEST_CASE("attempt: a long double that is no finite double is not finite") {
    if constexpr (limits<long double>::max_exponent > limits<double>::max_exponent) {
        CHECK(read_duration(limits<long double>::max()).reason() == rejection::not_finite);
        CHECK(read_duration(-limits<long double>::max()).reason() == rejection::not_finite);
    }
}

TEST_CASE("attempt: chrono durations of every kind") {
    CHECK(read_duration(5ms).value == 5);
    CHECK(read_duration(0ns).value == 0);
    CHECK(read_duration(-1ns).reason() == rejection::negative_duration);
    CHECK(read_duration(std::chrono::nanoseconds::max()).value == limits<std::int64_t>::max());
    CHECK(read_duration(std::chrono::nanoseconds::min()).reason() == rejection::negative_duration);
    static_assert(std::is_same_v<decltype(read_duration(5ms).value), std::optional<std::int64_t>>);

    using small_ticks = std::chrono::duration<std::int8_t, std::milli>;
    CHECK(read_duration(small_ticks(127)).value == 127);
    CHECK(read_duration(small_ticks(-128)).reason() == rejection::negative_duration);
    using large_ticks = std::chrono::duration<std::uint64_t, std::nano>;
    CHECK(read_duration(large_ticks::max()).reason() == rejection::out_of_range);

    using real_seconds = std::chrono::duration<double>;
    static_assert(std::is_same_v<decltype(read_duration(real_seconds{}).value), std::optional<double>>);
    CHECK(read_duration(real_seconds(1.5)).value == 1.5);
    CHECK(read_duration(real_seconds(limits<double>::quiet_NaN())).reason() == rejection::not_finite);
    CHECK(read_duration(real_seconds(limits<double>::infinity())).reason() == rejection::not_finite);
    CHECK(read_duration(real_seconds(-1.5)).reason() == rejection::negative_duration);
    CHECK(read_duration(std::chrono::duration<float, std::ratio<3600>>(0.5f)).value == 0.5);
}

// A duration in all but name, whose count only converts to its rep.
struct own_count {
    std::int64_t n = 0;
    constexpr operator std::int64_t() const { return n; }
};
struct own_ticks {
    using rep = std::int64_t;
    using period = std::milli;
    std::int64_t n = 0;
    [[nodiscard]] constexpr own_count count() const { return {n}; }
};

TEST_CASE("attempt: a look-alike of chrono durations") {
    CHECK(read_duration(own_ticks{12}).value == 12);
    CHECK(read_duration(own_ticks{-12}).reason() == rejection::negative_duration);
}

TEST_CASE_TEMPLATE("attempt: integer times may be as far apart as they like", T, signed char, short, int,
                   std::int64_t, unsigned char, unsigned, std::uint64_t) {
    T const least = limits<T>::min(), most = limits<T>::max();
    CHECK(read_times(T{3}, T{10}).value == 7);
    CHECK(read_times(most, most).value == 0);
    CHECK(read_times(least, least).value == 0);
    CHECK(read_times(T{10}, T{3}).reason() == rejection::end_before_start);
    CHECK(read_times(most, least).reason() == rejection::end_before_start);
    std::uint64_t const width = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    if (width <= static_cast<std::uint64_t>(limits<std::int64_t>::max()))
        CHECK(read_times(least, most).value == static_cast<std::int64_t>(width));
    else
        CHECK(read_times(least, most).reason() == rejection::out_of_range);
}

TEST_CASE("attempt: the edge of the range of integer times") {
    std::int64_t const least = limits<std::int64_t>::min(), most = limits<std::int64_t>::max();
    CHECK(read_times(least, std::int64_t{-1}).value == most);
    CHECK(read_times(least, std::int64_t{0}).reason() == rejection::out_of_range);
    CHECK(read_times(std::int64_t{0}, most).value == most);
    CHECK(read_times(std::int64_t{-1}, most).reason() == rejection::out_of_range);
    CHECK(read_times(std::uint64_t{5}, (std::uint64_t{1} << 63) + 4).value == most);
    CHECK(read_times(std::uint64_t{5}, (std::uint64_t{1} << 63) + 5).reason() == rejection::out_of_range);
}

TEST_CASE_TEMPLATE("attempt: floating-point times", T, float, double, long double) {
    T const nan = limits<T>::quiet_NaN(), inf = limits<T>::infinity();
    CHECK(read_times(T(1.5), T{4}).value == 2.5);
    CHECK(read_times(T{4}, T(1.5)).reason() == rejection::end_before_start);
    for (T const good : {T{0}, T{-3}, limits<T>::max()})
        for (T const bad : {nan, -nan, inf, -inf}) {
            CHECK(read_times(bad, good).reason() == rejection::not_finite);
            CHECK(read_times(good, bad).reason() == rejection::not_finite);
        }
    CHECK(read_times(inf, inf).reason() == rejection::not_finite);
    CHECK(read_times(nan, nan).reason() == rejection::not_finite);
    CHECK(read_times(-limits<T>::max(), limits<T>::max()).reason() == rejection::not_finite); // too far apart
}

TEST_CASE("attempt: chrono time points") {
    using std::chrono::sys_seconds;
    std::chrono::sys_time<std::chrono::milliseconds> const t0(1'600'000'000'000ms);
    CHECK(read_times(t0, t0 + 250ms).value == 250);
    CHECK(read_times(t0 + 1ms, t0).reason() == rejection::end_before_start);
    std::chrono::steady_clock::time_point const s0{};
    CHECK(read_times(s0, s0 + 3ns).value == 3);
    // Of two precisions, in the finer.
    CHECK(read_times(sys_seconds(5s), std::chrono::sys_time<std::chrono::milliseconds>(7001ms)).value ==
          2001);
    // Real time points: what is wrong shows in the difference.
    using real_time = std::chrono::sys_time<std::chrono::duration<double>>;
    using real = std::chrono::duration<double>;
    CHECK(read_times(real_time(real(1)), real_time(real(2.5))).value == 1.5);
    CHECK(read_times(real_time(real(limits<double>::quiet_NaN())), real_time(real(1))).reason() ==
          rejection::not_finite);
    CHECK(read_times(real_time(real(1)), real_time(real(limits<double>::infinity()))).reason() ==
          rejection::not_finite);
}

TEST_CASE("attempt: chrono time points as far apart as they can be") {
    using nano_time = std::chrono::sys_time<std::chrono::nanoseconds>;
    nano_time const zero{};
    CHECK(read_times(nano_time::min(), nano_time::max()).reason() == rejection::out_of_range);
    CHECK(read_times(nano_time::max(), nano_time::min()).reason() == rejection::end_before_start);
    CHECK(read_times(nano_time::min(), zero).reason() == rejection::out_of_range);
    CHECK(read_times(nano_time::min(), zero - 1ns).value == limits<std::int64_t>::max());
    CHECK(read_times(zero, nano_time::max()).value == limits<std::int64_t>::max());
}

// Everything may be missing.
struct loose {
    std::optional<std::string> job = "j";
    std::optional<int> node = 1;
    std::optional<double> duration = 1.0;
    std::optional<std::int64_t> start = 10;
    std::optional<std::int64_t> end = 12;
    std::optional<attempt_status> status = attempt_status::success;
};
constexpr auto by_duration = attempt_fields{
    .job = &loose::job, .node = &loose::node, .duration = &loose::duration, .status = &loose::status};
constexpr auto by_times = attempt_fields{.job = &loose::job,
                                         .node = &loose::node,
                                         .start = &loose::start,
                                         .end = &loose::end,
                                         .status = &loose::status};

TEST_CASE("attempt: what is missing is named") {
    CHECK(read(by_duration, loose{}).value == 1.0);
    CHECK(read(by_times, loose{}).value == 2);
    CHECK(read(by_duration, loose{.job = std::nullopt}).reason() == rejection::missing_job);
    CHECK(read(by_duration, loose{.node = std::nullopt}).reason() == rejection::missing_node);
    CHECK(read(by_duration, loose{.duration = std::nullopt}).reason() == rejection::missing_time);
    CHECK(read(by_times, loose{.start = std::nullopt}).reason() == rejection::missing_time);
    CHECK(read(by_times, loose{.end = std::nullopt}).reason() == rejection::missing_time);
    CHECK(read(by_times, loose{.start = std::nullopt, .end = std::nullopt}).reason() ==
          rejection::missing_time);
    CHECK(read(by_times, loose{.end = 3}).reason() == rejection::end_before_start);
    CHECK(read(by_duration, loose{.start = std::nullopt, .end = std::nullopt}).value == 1.0); // not read
}

TEST_CASE("attempt: the first reason counts, and only that") {
    loose const nothing{.job = {}, .node = {}, .duration = {}, .start = {}, .end = {}};
    CHECK(read(by_duration, nothing).reason() == rejection::missing_job);
    CHECK(read(by_times, nothing).reason() == rejection::missing_job);
    CHECK(read(by_times, loose{.node = {}, .end = {}}).reason() == rejection::missing_node);
    CHECK(read(by_times, loose{.start = {}, .end = -1}).reason() == rejection::missing_time);
}

TEST_CASE("attempt: duration wins where times are given, too") {
    auto const all = attempt_fields{.job = &loose::job,
                                    .node = &loose::node,
                                    .start = &loose::start,
                                    .end = &loose::end,
                                    .duration = &loose::duration};
    static_assert(std::is_same_v<straggle::detail::reading_t<decltype(all), loose>, double>);
    CHECK(read(all, loose{.duration = 42.5, .start = 9, .end = 1}).value == 42.5);
    CHECK(read(all, loose{.duration = {}}).reason() == rejection::missing_time);
}

TEST_CASE("attempt: what it waited for others is no work of its own") {
    struct rank {
        std::chrono::milliseconds took{};
        std::optional<std::chrono::microseconds> waited{};
        std::int64_t start = 0, end = 0, idle = 0;
        double seconds = 0, idle_seconds = 0;
    };
    auto const none = [](rank const&) { return 0; };
    attempt_fields const by_clock{
        .job = none, .node = none, .duration = &rank::took, .waited = &rank::waited};
    CHECK(read(by_clock, rank{.took = 100ms, .waited = 60ms}).value == 40);
    CHECK(read(by_clock, rank{.took = 100ms, .waited = {}}).value == 100);
    CHECK(read(by_clock, rank{.took = 100ms, .waited = 100ms}).value == 0);
    CHECK(read(by_clock, rank{.took = 100ms, .waited = 101ms}).reason() == rejection::negative_duration);
    CHECK(read(by_clock, rank{.took = 100ms, .waited = -1ms}).reason() == rejection::negative_duration);
    attempt_fields const between{
        .job = none, .node = none, .start = &rank::start, .end = &rank::end, .waited = &rank::idle};
    CHECK(read(between, rank{.start = 10, .end = 30, .idle = 5}).value == 15);
    attempt_fields const in_seconds{
        .job = none, .node = none, .duration = &rank::seconds, .waited = &rank::idle_seconds};
    CHECK(read(in_seconds, rank{.seconds = 2, .idle_seconds = 0.5}).value == 1.5);
    CHECK(read(in_seconds, rank{.seconds = 2, .idle_seconds = limits<double>::quiet_NaN()}).reason() ==
          rejection::not_finite);
    using mixed =
        decltype(attempt_fields{.job = none, .node = none, .duration = &rank::took, .waited = &rank::idle});
    static_assert(!straggle::record::attempt_fields_for<mixed, rank>);
}

TEST_CASE("attempt: only successes are evidence, whatever else is wrong with the others") {
    loose const broken{.job = {}, .node = {}, .duration = -1.0};
    for (attempt_status const s : {attempt_status::failed, attempt_status::killed})
        for (loose r : {loose{}, broken}) {
            r.status = s;
            auto const got = read(by_duration, r);
            CHECK(got.counts.failed == (s == attempt_status::failed));
            CHECK(got.counts.killed == (s == attempt_status::killed));
            CHECK(got.counts.total_rejected() == 0);
        }
    CHECK(read(by_duration, loose{.status = {}}).counts.failed == 1); // unknown is not a success
}

TEST_CASE("attempt: a status may be a bool, an enumeration or optional") {
    struct outcomes {
        bool plain;
        std::optional<bool> maybe;
        attempt_status named;
    };
    auto const fields_with = [](auto status) {
        return attempt_fields{.job = [](outcomes const&) { return 1; },
                              .node = [](outcomes const&) { return 1; },
                              .duration = [](outcomes const&) { return 1; },
                              .status = status};
    };
    outcomes const good{true, true, attempt_status::success}, bad{false, false, attempt_status::killed};
    outcomes const unknown{true, std::nullopt, attempt_status::failed};
    CHECK(read(fields_with(&outcomes::plain), good).counts.used == 1);
    CHECK(read(fields_with(&outcomes::plain), bad).counts.failed == 1);
    CHECK(read(fields_with(&outcomes::maybe), good).counts.used == 1);
    CHECK(read(fields_with(&outcomes::maybe), bad).counts.failed == 1);
    CHECK(read(fields_with(&outcomes::maybe), unknown).counts.failed == 1);
    CHECK(read(fields_with(&outcomes::named), good).counts.used == 1);
    CHECK(read(fields_with(&outcomes::named), bad).counts.killed == 1);
    CHECK(read(fields_with([](outcomes const& o) { return o.plain && *o.maybe; }), good).counts.used == 1);
    CHECK(read(fields_with([](outcomes const& o) { return !o.plain; }), good).counts.failed == 1);
}

// Nothing of it is a public data member.
class closed {
  public:
    closed(std::string job, std::string host, std::chrono::milliseconds took)
        : job_(std::move(job)), host_(std::move(host)), took_(took) {}
    [[nodiscard]] std::string const& job() const noexcept { return job_; }
    [[nodiscard]] std::string_view host() const { return host_; }
    [[nodiscard]] std::optional<std::chrono::milliseconds> took() const {
        if (took_ < 0ms) return std::nullopt;
        return took_;
    }

  private:
    std::string job_, host_;
    std::chrono::milliseconds took_;
};

TEST_CASE("attempt: member functions and lambdas hand over what they return") {
    auto const fields = attempt_fields{
        .job = &closed::job, .node = &closed::host, .duration = [](closed const& c) { return c.took(); }};
    attempt_counts counts;
    std::string job, node;
    std::int64_t took = 0;
    auto const use = [&](auto const& j, auto const& n, std::int64_t t) {
        static_assert(std::is_same_v<decltype(n), std::string_view const&>);
        job = j;
        node = n;
        took = t;
    };
    straggle::detail::read_attempt(fields, closed("wordcount", "host-3", 17ms), counts, use);
    straggle::detail::read_attempt(fields, closed("sort", "host-4", -1ms), counts, use);
    CHECK(job == "wordcount");
    CHECK(node == "host-3");
    CHECK(took == 17);
    CHECK(counts.used == 1);
    CHECK(counts[rejection::missing_time] == 1);
}

struct plain {
    int job = 1;
    int node = 2;
    std::int64_t took = 3;
};

// All of it where the compiler computes.
constexpr attempt_counts counted_by_the_compiler() {
    attempt_counts counts;
    auto const fields = attempt_fields{.job = &plain::job, .node = &plain::node, .duration = &plain::took};
    for (std::int64_t const took : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{5}})
        straggle::detail::read_attempt(fields, plain{.took = took}, counts, [](int, int, std::int64_t) {});
    return counts;
}
static_assert(counted_by_the_compiler().seen == 3 && counted_by_the_compiler().used == 2);
static_assert(counted_by_the_compiler()[rejection::negative_duration] == 1);

TEST_CASE("attempt: fields of an aggregate without state take no room") {
    auto const fields = attempt_fields{.job = [](plain const& p) { return p.job; },
                                       .node = [](plain const& p) { return p.node; },
                                       .duration = [](plain const& p) { return p.took; }};
    CHECK(sizeof fields <= 16); // its empty members have addresses of their own
    CHECK(sizeof(attempt_fields{.job = &plain::job, .node = &plain::node, .duration = &plain::took}) <= 32);
}

TEST_CASE("attempt: every rejection has a name of its own") {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < straggle::record::rejection_count; ++i)
        names.insert(straggle::to_string(static_cast<rejection>(i)));
    CHECK(names.size() == straggle::record::rejection_count);
    CHECK(straggle::to_string(rejection::missing_job) == "missing_job");
    CHECK(straggle::to_string(rejection::not_finite) == "not_finite");
    CHECK(straggle::to_string(rejection::out_of_range) == "out_of_range");
}

TEST_CASE("attempt: counts add up") {
    attempt_counts a, b;
    std::uint64_t next = 1;
    for (attempt_counts* c : {&a, &b}) {
        for (std::uint64_t* n : {&c->seen, &c->used, &c->failed, &c->killed, &c->superseded}) *n = next++;
        for (std::uint64_t& n : c->rejected.by_reason) n = next++;
    }
    CHECK(a.total_rejected() == 6 + 7 + 8 + 9 + 10 + 11 + 12);
    CHECK(a[rejection::missing_job] == 6);
    CHECK(a[rejection::out_of_range] == 12);
    attempt_counts const before = a;
    CHECK((a == before));
    a += b;
    CHECK((a != before));
    CHECK(a.seen == 1 + 13);
    CHECK(a.used == 2 + 14);
    CHECK(a.failed == 3 + 15);
    CHECK(a.killed == 4 + 16);
    CHECK(a.superseded == 5 + 17);
    for (std::size_t i = 0; i < straggle::record::rejection_count; ++i)
        CHECK(a.rejected[i] == (6 + i) + (18 + i));
}

// A second reading of the rules, in other words: what should become of a record.
std::string expected_fate(loose const& r, bool timed_by_duration) {
    if (!r.status) return "failed";
    if (*r.status == attempt_status::killed) return "killed";
    if (*r.status == attempt_status::failed) return "failed";
    if (!r.job) return "missing_job";
    if (!r.node) return "missing_node";
    if (timed_by_duration) {
        if (!r.duration) return "missing_time";
        if (!(std::fabs(*r.duration) <= limits<double>::max())) return "not_finite";
        return *r.duration < 0 ? "negative_duration" : "used";
    }
    if (!r.start || !r.end) return "missing_time";
    if (*r.end < *r.start) return "end_before_start";
    long double const apart = static_cast<long double>(*r.end) - static_cast<long double>(*r.start);
    return apart >= 9223372036854775808.0L ? "out_of_range" : "used";
}
std::string fate(attempt_counts const& c) {
    if (c.used == 1) return "used";
    if (c.failed == 1) return "failed";
    if (c.killed == 1) return "killed";
    for (std::size_t i = 0; i < straggle::record::rejection_count; ++i)
        if (c.rejected[i] == 1) return std::string(straggle::to_string(static_cast<rejection>(i)));
    return "lost";
}

template <class T>
std::optional<T> one_of(std::mt19937_64& draw, std::vector<std::optional<T>> const& choices) {
    return choices[draw() % choices.size()];
}

std::vector<loose> random_records(std::mt19937_64& draw, std::size_t size) {
    std::int64_t const least = limits<std::int64_t>::min(), most = limits<std::int64_t>::max();
    std::vector<std::optional<std::int64_t>> const times{std::nullopt, least, least + 1, -1, 0, 1,
                                                         1000,         most};
    std::vector<loose> records(size);
    for (loose& r : records) {
        r.job = one_of<std::string>(draw, {std::nullopt, "a", "b", "c", "d"});
        r.node = one_of<int>(draw, {std::nullopt, 1, 2, 3, 4, 5});
        r.duration = one_of<double>(draw, {std::nullopt, 0.0, 1.0, 2.5, 1e308, -1.0, -1e-300,
                                           limits<double>::infinity(), -limits<double>::infinity(),
                                           limits<double>::quiet_NaN()});
        r.start = one_of(draw, times);
        r.end = one_of(draw, times);
        r.status = one_of<attempt_status>(draw, {std::nullopt, attempt_status::success,
                                                 attempt_status::success, attempt_status::success,
                                                 attempt_status::failed, attempt_status::killed});
    }
    return records;
}

TEST_CASE("attempt: every random record has exactly the fate it should") {
    if (limits<long double>::digits < 64) return; // the expectation needs them
    std::uint64_t const seed = straggle_test::seed_or(7);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::set<std::string> fates;
    for (loose const& r : random_records(draw, 20000)) {
        REQUIRE(fate(read(by_duration, r).counts) == expected_fate(r, true));
        REQUIRE(fate(read(by_times, r).counts) == expected_fate(r, false));
        fates.insert({expected_fate(r, true), expected_fate(r, false)});
    }
    CHECK(fates.size() == 3 + straggle::record::rejection_count); // and none was left out
}

TEST_CASE("attempt: nothing disappears on the way to a ranking") {
    std::uint64_t const seed = straggle_test::seed_or(8);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    struct tried : loose {
        std::optional<int> task;
    };
    auto const fields = attempt_fields{.job = &tried::job,
                                       .task = &tried::task,
                                       .node = &tried::node,
                                       .start = &tried::start,
                                       .end = &tried::end,
                                       .status = &tried::status};
    for (int round = 0; round < 50; ++round) {
        std::vector<tried> records;
        for (loose const& r : random_records(draw, draw() % 400))
            records.push_back({r, one_of<int>(draw, {std::nullopt, 1, 2, 3, 4, 5, 6, 7, 8, 9})});
        attempt_counts expected;
        std::set<std::pair<std::string, int>> tasks;
        for (tried const& r : records) {
            attempt_counts one;
            straggle::detail::read_attempt(fields, r, one, [](auto const&, auto const&, std::int64_t) {});
            if (one.used == 1 && r.task && !tasks.insert({*r.job, *r.task}).second) {
                one.used = 0;
                one.superseded = 1;
            }
            expected += one;
        }
        attempt_counts const got = straggle::rank_nodes(records, fields).attempts();
        REQUIRE((got == expected));
        REQUIRE(got.seen == records.size());
        REQUIRE(got.seen == got.used + got.failed + got.killed + got.superseded + got.total_rejected());
    }
}

} // namespace

template <>
struct straggle::task_traits<plain> {
    static constexpr auto fields =
        attempt_fields{.job = &plain::job, .node = &plain::node, .duration = &plain::took};
};

static_assert(straggle::record::has_task_traits<plain> && !straggle::record::has_task_traits<loose>);
