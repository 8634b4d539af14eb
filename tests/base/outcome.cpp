// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/outcome.hpp>

#include <doctest/doctest.h>

#include "../support/contract_trap.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

namespace {

using straggle::outcome;
using straggle::status;

constexpr std::array reasons{status::out_of_domain,   status::out_of_range, status::insufficient_evidence,
                             status::no_spread,       status::truncated,    status::corrupt,
                             status::unknown_version, status::wrong_kind};

static_assert(!std::is_convertible_v<outcome<double>, bool>,
              "an outcome must not become a number by accident");
static_assert(!std::is_convertible_v<outcome<double>, double>);
static_assert(std::is_constructible_v<bool, outcome<double>>);
static_assert(std::is_convertible_v<double, outcome<double>> &&
              std::is_convertible_v<status, outcome<double>>);
static_assert(std::is_trivially_copyable_v<outcome<double>>);
static_assert(sizeof(outcome<double>) == 16 && sizeof(outcome<char>) == 2);
static_assert(!std::is_default_constructible_v<outcome<double>>, "neither a value nor a reason");

// Usable where the compiler computes.
static_assert(*outcome<int>(7) == 7);
static_assert(outcome<int>(status::no_spread).value_or(-1) == -1);
static_assert(outcome<int>(status::no_spread).reason() == status::no_spread);
static_assert(!outcome<int>(status::no_spread));

TEST_CASE("outcome: a value") {
    outcome<double> const o = 2.5;
    CHECK(o.has_value());
    CHECK(static_cast<bool>(o));
    CHECK(o.reason() == status::ok);
    CHECK(o.value() == 2.5);
    CHECK(*o == 2.5);
    CHECK(o.value_or(-1) == 2.5);
}

TEST_CASE("outcome: a reason") {
    for (status const s : reasons) {
        outcome<double> const o = s;
        CHECK_FALSE(o.has_value());
        CHECK_FALSE(static_cast<bool>(o));
        CHECK(o.reason() == s);
        CHECK(o.value_or(-1) == -1);
    }
}

TEST_CASE("outcome: no access to a value that is not there") {
    straggle_test::contract_trap const trap;
    outcome<std::string> const none = status::out_of_domain;
    CHECK_THROWS_AS((void)none.value(), straggle_test::broken_contract);
    CHECK_THROWS_AS((void)*none, straggle_test::broken_contract);
    CHECK_THROWS_AS((void)none->size(), straggle_test::broken_contract);
}

TEST_CASE("outcome: ok is no reason for having no value") {
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS((void)outcome<int>{status::ok}, straggle_test::broken_contract);
}

TEST_CASE("outcome: members of the value") {
    outcome<std::string> const o = std::string("node-17");
    CHECK(o->size() == 7);
    CHECK(&*o == &o.value());
}

TEST_CASE("outcome: equality tells values from reasons") {
    CHECK(outcome<int>(1) == outcome<int>(1));
    CHECK(outcome<int>(1) != outcome<int>(2));
    CHECK(outcome<int>(0) != outcome<int>(status::no_spread));
    CHECK(outcome<int>(status::out_of_range) != outcome<int>(status::no_spread));
    CHECK(outcome<int>(status::no_spread) == outcome<int>(status::no_spread));
}

TEST_CASE("outcome: every status has a name of its own") {
    std::set<std::string_view> names{straggle::to_string(status::ok)};
    for (status const s : reasons) names.insert(straggle::to_string(s));
    CHECK(names.size() == 1 + reasons.size());
    CHECK(names.count("unknown") == 0);
    CHECK(straggle::to_string(status::insufficient_evidence) == "insufficient_evidence");
    CHECK(straggle::to_string(static_cast<status>(200)) == "unknown");
}

} // namespace
