// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/storable.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace {

using straggle::base::identifier_form;
using straggle::base::storable_identifier;

enum class rack : std::int16_t {};
enum fixed : unsigned char {};
enum loose { here, there };
enum class yes_or_no : bool {};

} // namespace

namespace straggle_test {
struct plain {
    int value = 0;
    friend bool operator==(plain const&, plain const&) = default;
};
} // namespace straggle_test

template <>
struct std::hash<straggle_test::plain> {
    std::size_t operator()(straggle_test::plain const&) const noexcept { return 0; }
};

namespace {

static_assert(storable_identifier<std::string> && storable_identifier<std::string_view> &&
              storable_identifier<char const*>);
static_assert(storable_identifier<int> && storable_identifier<std::uint64_t> && storable_identifier<char> &&
              storable_identifier<std::int8_t> && storable_identifier<long long>);
static_assert(storable_identifier<rack> && storable_identifier<fixed>);
static_assert(straggle::base::identifier<straggle_test::plain> && !storable_identifier<straggle_test::plain>);
static_assert(straggle::base::identifier<int*> && !storable_identifier<int*>, "an address of this run");
static_assert(straggle::base::identifier<double> && !storable_identifier<double>);
static_assert(straggle::base::identifier<loose> && !storable_identifier<loose>,
              "not every number is a value of it");
static_assert(!storable_identifier<bool> && !storable_identifier<yes_or_no>);
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 wide;
static_assert(!storable_identifier<wide>);
#endif

TEST_CASE("storable: text and numbers are told apart, numbers of different width are not") {
    CHECK(identifier_form<std::string> != identifier_form<int>);
    CHECK(identifier_form<std::string> == identifier_form<char const*>);
    CHECK(identifier_form<std::string> == identifier_form<std::string_view>);
    CHECK(identifier_form<std::int8_t> == identifier_form<std::uint64_t>);
    CHECK(identifier_form<rack> == identifier_form<int>);
}

} // namespace
