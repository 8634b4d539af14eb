// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/task_profile.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <type_traits>

namespace {

using namespace straggle;

struct task {
    std::string host;
    std::chrono::milliseconds took;
    bool ok;
    double input;
    std::string program;
};

constexpr predict::task_profile everything{
    .node = &task::host,
    .time = &task::took,
    .status = &task::ok,
    .factors = predict::factors(predict::numeric(&task::input), predict::categorical(&task::program))};
constexpr predict::task_profile least{.node = &task::host,
                                      .time = [](task const& t) { return t.took.count(); }};

// More about the concept in tests/static/predictors.cpp.
static_assert(predict::task_profile_for<std::remove_const_t<decltype(everything)>, task>);
static_assert(predict::task_profile_for<std::remove_const_t<decltype(least)>, task>);
static_assert(!predict::task_profile_for<predict::task_profile<>, task>);

TEST_CASE("task_profile: names members once, and reads them") {
    task const t{"n1", std::chrono::milliseconds(1500), true, 3.5, "sort"};
    CHECK(detail::project(everything.node, t) == "n1");
    CHECK(detail::project(everything.time, t).count() == 1500);
    CHECK(detail::project(everything.status, t));
    CHECK(detail::project(least.node, t) == "n1");
    CHECK(detail::project(least.time, t) == 1500);
}

TEST_CASE("task_profile: the node is the first factor") {
    using list = std::remove_const_t<decltype(everything.factors)>;
    using with_node = detail::with_node<std::remove_const_t<decltype(everything.node)>, list>;
    auto const all = with_node::of(everything.node, everything.factors);
    static_assert(std::is_same_v<std::remove_const_t<decltype(all)>, with_node::type>);
    CHECK(std::tuple_size_v<decltype(all.list)> == 3);
    CHECK(std::get<0>(all.list).name == "node");
}

} // namespace
