// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/backup_fields.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace straggle;

namespace {

template <class T>
std::optional<std::vector<double>> read(T const& time) {
    detail::time_reading reading;
    if (!reading.read(time)) return std::nullopt;
    std::vector<double> samples;
    for (std::size_t i = 0; i < reading.view().size(); ++i) samples.push_back(reading.view()[i]);
    return samples;
}

double const no_number = std::nan(""), infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("backup fields: a time is a number or samples, maybe unknown") {
    using samples = std::vector<double>;
    CHECK(read(3) == samples{3});
    CHECK(read(2.5f) == samples{2.5});
    CHECK(read(0.0) == samples{0});
    CHECK(read(std::optional<double>(4)) == samples{4});
    CHECK(read(outcome<double>(5)) == samples{5});
    stats::empirical times;
    times.assign(samples{7, 3, 5});
    CHECK(read(times) == samples{3, 5, 7});
    CHECK(read(times.view()) == samples{3, 5, 7});
    CHECK(read(outcome<stats::empirical_view>(times.view().moved(1))) == samples{4, 6, 8});
    CHECK_FALSE(read(outcome<stats::empirical_view>(status::insufficient_evidence)));
    CHECK_FALSE(read(std::optional<double>()));
    CHECK_FALSE(read(stats::empirical_view()));
    CHECK_FALSE(read(stats::empirical()));
    CHECK_FALSE(read(times.view().moved(-4))); // the first is negative
    for (double const x : {-1.0, no_number, infinity, -infinity}) CHECK_FALSE(read(x));
    CHECK_FALSE(read(-1));
}

TEST_CASE("backup fields: a number that was read is a distribution like any other") {
    detail::time_reading reading;
    REQUIRE(reading.read(6.0));
    CHECK(*reading.view().mean() == 6);
    CHECK(*reading.view().below(6.5) == 1);
    CHECK(*reading.view().moved(2).highest() == 8);
    REQUIRE(reading.read(8.0));
    CHECK(*reading.view().mean() == 8);
    CHECK_FALSE(reading.read(no_number));
    CHECK(reading.view().empty());
}

TEST_CASE("backup fields: counts below 0 and unknown ones are 0, large ones are cut") {
    CHECK(detail::read_count(5) == 5);
    CHECK(detail::read_count(-5) == 0);
    CHECK(detail::read_count(std::int8_t{-1}) == 0);
    CHECK(detail::read_count(std::optional<int>()) == 0);
    CHECK(detail::read_count(std::optional<long>(7)) == 7);
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    CHECK(detail::read_count(std::numeric_limits<std::uint64_t>::max()) == most);
    CHECK(detail::read_count(std::numeric_limits<std::int64_t>::max()) == most);
    CHECK(detail::read_count(std::uint64_t{most}) == most);
    CHECK(detail::read_count(std::numeric_limits<std::int64_t>::min()) == 0);
}

TEST_CASE("backup fields: one node or several, text of any kind") {
    CHECK(detail::count_nodes(std::string("host")) == 1); // not a range of characters
    CHECK(detail::count_nodes(std::vector<std::string>{"a", "b"}) == 2);
    CHECK(detail::count_nodes(std::vector<int>{}) == 0);
    CHECK(detail::runs_there(std::string("host"), std::string_view("host")));
    CHECK_FALSE(detail::runs_there(std::string("host"), "hos"));
    CHECK(detail::runs_there(std::vector<std::string>{"a", "b"}, std::string_view("b")));
    CHECK_FALSE(detail::runs_there(std::vector<std::string>{"a", "b"}, std::string_view("c")));
    CHECK_FALSE(detail::runs_there(std::vector<int>{}, 0));
    CHECK(detail::runs_there(7u, 7u));
}
