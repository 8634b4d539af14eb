// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../../examples/programs/common/number.hpp"

#include <doctest/doctest.h>

#include <string>

using program::number;
using program::number_kind;
using program::read_number;

TEST_CASE("number: decimals are exact") {
    auto const is = [](std::string_view text, std::int64_t digits, int places) {
        number const n = read_number(text);
        CAPTURE(std::string(text));
        CHECK(n.kind == number_kind::exact);
        CHECK(n.digits == digits);
        CHECK(n.places == places);
    };
    is("0", 0, 0);
    is("1475705602759", 1475705602759, 0);
    is("1475705602.759", 1475705602759, 3);
    is("-12.50", -1250, 2);
    is("+7", 7, 0);
    is("  7\t", 7, 0);
    is(".5", 5, 1);
    is("5.", 5, 0);
    is("999999999999999999", 999999999999999999, 0);
    is("0.123456789", 123456789, 9);
}

TEST_CASE("number: what is no plain decimal goes to floating point") {
    auto const is = [](std::string_view text, double value) {
        number const n = read_number(text);
        CAPTURE(std::string(text));
        CHECK(n.kind == number_kind::real);
        CHECK(n.value == value);
    };
    is("1e3", 1000.0);
    is("+1.5E-2", 0.015);
    is("0.1234567891", 0.1234567891);
    is("9999999999999999999", 1e19);
    is("-9999999999999999999", -1e19);
}

TEST_CASE("number: missing, not finite, unreadable") {
    CHECK(read_number("").kind == number_kind::missing);
    CHECK(read_number("   ").kind == number_kind::missing);
    for (char const* text : {"nan", "NaN", "-nan", "inf", "-inf", "Infinity"}) {
        CAPTURE(std::string(text));
        CHECK(read_number(text).kind == number_kind::not_finite);
    }
    for (char const* text : {"x", "-", "+", ".", "1.2.3", "12:30", "0x10", "1,5", "1 2", "--1", "+-1", "1e",
                             "1_0", "\xFF", "12ms", "1e999", "1e-999"}) {
        CAPTURE(std::string(text));
        CHECK(read_number(text).kind == number_kind::unreadable);
    }
}
