// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/library_version.hpp>

#include <doctest/doctest.h>

#include <string_view>

TEST_CASE("the version as a value is that of the macros, and versions have an order") {
    using straggle::library_version, straggle::version;
    CHECK(library_version == version{STRAGGLE_VERSION_MAJOR, STRAGGLE_VERSION_MINOR, STRAGGLE_VERSION_PATCH});
    CHECK(version{0, 9, 9} < version{1, 0, 0});
    CHECK(version{1, 2, 3} > version{1, 2, 2});
}

#define STRAGGLE_TEST_TEXT(...) STRAGGLE_TEST_TEXT_OF(__VA_ARGS__)
#define STRAGGLE_TEST_TEXT_OF(...) #__VA_ARGS__

TEST_CASE("the tag of the inline namespace begins with the version") {
    std::string_view const tag = STRAGGLE_TEST_TEXT(STRAGGLE_ABI);
    std::string_view const version = "v" STRAGGLE_TEST_TEXT(STRAGGLE_VERSION_MAJOR) "_" STRAGGLE_TEST_TEXT(
        STRAGGLE_VERSION_MINOR) "_" STRAGGLE_TEST_TEXT(STRAGGLE_VERSION_PATCH) "_";
    CHECK(tag.substr(0, version.size()) == version);
    CHECK(tag.find_first_not_of("vx_0123456789abcdef") == std::string_view::npos);
}
