// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/rank_options.hpp>

#include <doctest/doctest.h>
#include <straggle/rank/sibling_normalizers.hpp>

#include <concepts>

using namespace straggle;

TEST_CASE("the defaults are those the documentation names") {
    rank_options<> const options;
    CHECK(options.normalizer.min_tasks == 5);
    CHECK(options.estimator.rule.deviation() == stats::deviation_kind::sample);
    CHECK(options.ranker.rule() == rank::edge_rule::closed);
    CHECK(options.counted == completions::first_of_task);
}

TEST_CASE("each part can be named alone, and its type is deduced") {
    rank_options const robust{.normalizer = rank::robust_z{.min_tasks = 3}};
    static_assert(std::same_as<decltype(robust), rank_options<rank::robust_z> const>);
    CHECK(robust.normalizer.min_tasks == 3);
    CHECK(robust.estimator.rule.deviation() == stats::deviation_kind::sample);

    rank_options const open{.ranker = rank::p_cores(rank::edge_rule::open)};
    static_assert(std::same_as<decltype(open), rank_options<> const>);
    CHECK(open.normalizer.min_tasks == 5);
}
