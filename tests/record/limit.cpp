// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/limit.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string_view>

using namespace straggle;

namespace {

// At most so many of what is asked, where the context allows that.
struct quota {
    static constexpr std::string_view name = "quota";
    int most = 1;
    int taken = 0;
    void begin(int const& context, std::size_t) { most = context, taken = 0; }
    [[nodiscard]] bool admits(char const&) const { return taken < most; }
    void take(char const&) { ++taken; }
};
struct vowels_only {
    static constexpr std::string_view name = "vowels_only";
    static constexpr bool newcomers_only = true;
    void begin(int const&, std::size_t) {}
    [[nodiscard]] bool admits(char const& c) const {
        return std::string_view("aeiou").find(c) != std::string_view::npos;
    }
    void take(char const&) {}
};
struct without_name {
    void begin(int const&, std::size_t);
    bool admits(char const&);
    void take(char const&);
};
struct with_empty_name : without_name {
    static constexpr std::string_view name = "";
};
struct admits_a_number : without_name {
    static constexpr std::string_view name = "number";
    int admits(char const&);
};

static_assert(with_empty_name::name.empty() && admits_a_number::name == "number");
static_assert(record::limit<quota, int, char> && record::limit<vowels_only, int, char>);
static_assert(record::limit<straggle::record::unlimited, int, char>);
static_assert(record::limit<std::optional<quota>, int, char>);
static_assert(!record::limit<without_name, int, char> && !record::limit<with_empty_name, int, char>);
static_assert(!record::limit<admits_a_number, int, char> && !record::limit<int, int, char>);
static_assert(!record::limit<std::optional<without_name>, int, char>);

} // namespace

TEST_CASE("limits: the first that objects is named, and nothing is taken then") {
    detail::limit_row row(quota{}, vowels_only{});
    row.begin(2, 3);
    CHECK(row.grant('x', true) == "vowels_only");
    CHECK(row.get<0>().taken == 0);
    CHECK(row.grant('a', true).empty());
    CHECK(row.grant('x', false).empty()); // no newcomer: vowels_only is not asked
    CHECK(row.get<0>().taken == 2);
    CHECK(row.grant('e', true) == "quota");
    CHECK(row.objection('x') == 0);
}

TEST_CASE("limits: an optional one that is empty admits everything") {
    detail::limit_row absent(std::optional<quota>{}), present(std::optional<quota>{quota{}});
    absent.begin(0, 1);
    present.begin(0, 1);
    CHECK(absent.grant('a', true).empty());
    CHECK(present.grant('a', true) == "quota");
    CHECK(decltype(absent)::names[0] == "quota");
}

TEST_CASE("limits: none, and unlimited, admit everything") {
    detail::limit_row<> none;
    none.begin(0, 9);
    CHECK(none.objection('a') == none.none);
    detail::limit_row<straggle::record::unlimited> all;
    all.begin(0, 9);
    for (int i = 0; i < 100; ++i) CHECK(all.grant('a', true).empty());
}
