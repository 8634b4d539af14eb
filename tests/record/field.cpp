// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/field.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace {

namespace detail = straggle::detail;

struct base {
    int inherited = 3;
};
struct record : base {
    int number = 17;
    std::string name = "node-17";
    std::optional<double> maybe;
    char letters[8] = "letters";

    [[nodiscard]] int doubled() const { return 2 * number; }
    [[nodiscard]] int doubled_quietly() const noexcept { return 2 * number; }
    [[nodiscard]] std::string const& name_ref() const& { return name; }
    [[nodiscard]] std::optional<std::string> tag() const { return name + "!"; }
};

struct functor {
    int add = 0;
    int operator()(record const& r) const { return r.number + add; }
};
int free_function(record const& r) {
    return -r.number;
}

// Has the members of std::optional that matter.
struct perhaps {
    int value = 0;
    [[nodiscard]] bool has_value() const { return value != 0; }
    int const& operator*() const { return value; }
};

TEST_CASE("field: projections of every kind") {
    record const r;
    CHECK(detail::project(&record::number, r) == 17);
    CHECK(detail::project(&record::inherited, r) == 3);
    CHECK(detail::project(&record::doubled, r) == 34);
    CHECK(detail::project(&record::doubled_quietly, r) == 34);
    CHECK(detail::project(&record::name_ref, r) == "node-17");
    CHECK(detail::project([](record const& x) { return x.number + 1; }, r) == 18);
    CHECK(detail::project([](auto const& x) { return x.name.size(); }, r) == 7);
    CHECK(detail::project(functor{5}, r) == 22);
    CHECK(detail::project(&free_function, r) == -17);
    CHECK(std::string_view(detail::project(&record::letters, r)) == "letters");
    CHECK(detail::project([](int x) { return x * x; }, 7) == 49); // records need not be classes
}

TEST_CASE("field: members are read in place") {
    record const r;
    CHECK(&detail::project(&record::name, r) == &r.name);
    CHECK(&detail::project(&record::name_ref, r) == &r.name);
    CHECK(&detail::unwrap(detail::project(&record::name, r)) == &r.name);
    static_assert(std::is_same_v<detail::projected_t<std::string record::*, record>, std::string const&>);
    static_assert(std::is_same_v<detail::projected_t<int (record::*)() const, record>, int>);
    std::size_t length = 0;
    CHECK(straggle_test::allocations_during([&] { length = detail::project(&record::name, r).size(); }) == 0);
    CHECK(length == 7);
}

TEST_CASE("field: members of what a record points to") {
    record r;
    record* const raw = &r;
    record const* const raw_const = &r;
    auto const shared = std::make_shared<record>();
    auto const unique = std::make_unique<record>();
    CHECK(detail::project(&record::number, raw) == 17);
    CHECK(detail::project(&record::inherited, raw_const) == 3);
    CHECK(detail::project(&record::doubled, shared) == 34);
    CHECK(detail::project(&record::name_ref, unique) == "node-17");
    CHECK(&detail::project(&record::name, raw) == &r.name);
    static_assert(std::is_same_v<detail::projected_t<std::string record::*, record*>, std::string const&>);
    // As with std::invoke, a callable gets the record itself; nothing is followed twice, or may change it.
    CHECK(detail::project([](record const* x) { return x->number + 1; }, raw) == 18);
    static_assert(straggle::base::projection_of<int (record::*)() const, std::shared_ptr<record const>>);
    static_assert(!straggle::base::projection_of<int record::*, record**>);
    static_assert(!straggle::base::projection_of<int (record::*)(), record*>);
    static_assert(!straggle::base::projection_of<int record::*, int*>);
}

TEST_CASE("field: an optional is taken off, once") {
    record r;
    CHECK_FALSE(detail::is_present(r.maybe));
    r.maybe = 2.5;
    CHECK(detail::is_present(r.maybe));
    CHECK(&detail::unwrap(r.maybe) == &*r.maybe);
    CHECK(detail::is_present(perhaps{1}));
    CHECK_FALSE(detail::is_present(perhaps{0}));
    CHECK(detail::is_present(0)); // a zero is a value
    CHECK(detail::is_present(static_cast<int const*>(nullptr)));

    static_assert(std::is_same_v<detail::field_value_t<std::optional<double> record::*, record>, double>);
    static_assert(std::is_same_v<detail::field_value_t<decltype(&record::tag), record>, std::string>);
    static_assert(std::is_same_v<detail::unwrapped_t<perhaps const&>, int>);
    static_assert(std::is_same_v<detail::unwrapped_t<int const* const&>, int const*>,
                  "a pointer is no optional");
    static_assert(std::is_same_v<detail::unwrapped_t<std::optional<std::optional<int>>>, std::optional<int>>);
}

// All of it where the compiler computes.
struct point {
    int x = 4;
    std::optional<int> y = 5;
    [[nodiscard]] constexpr int sum() const { return x + *y; }
};
static_assert(detail::project(&point::x, point{}) == 4);
static_assert(detail::project(&point::sum, point{}) == 9);
static_assert(detail::unwrap(std::optional<int>(6)) == 6);
static_assert(!detail::is_present(std::optional<int>()));

} // namespace
