// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../../examples/programs/straggle-rank/recommend_window.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    int job, node;
    double took, end;
};
constexpr attempt_fields fields{
    .job = &attempt::job, .node = &attempt::node, .end = &attempt::end, .duration = &attempt::took};

// Ten nodes that run one task of a minute after the other, for so many minutes; one task in `one_in` takes
// ten.
std::vector<attempt> history(int minutes, int one_in, double unit = 1) {
    std::vector<attempt> all;
    for (int n = 0; n < 10; ++n)
        for (int m = 0; m < minutes; ++m) {
            bool const is_long = one_in != 0 && (m + n) % one_in == 0;
            all.push_back({m, n, (is_long ? 600 : 60) * unit, (m + 1) * 60 * unit});
        }
    return all;
}

} // namespace

TEST_CASE("recommend_window: twenty tasks on a node") {
    auto const r = straggle_rank::recommend_window(history(200, 0), fields);
    CHECK(r.used == 2000);
    CHECK(r.usual_length == 60);
    CHECK(r.long_length == 60);
    CHECK(r.span == 12000);
    CHECK(r.window == doctest::Approx(1200));
    CHECK(r.slide == doctest::Approx(300));
    CHECK(straggle_rank::judge_window(r, r.window) == straggle_rank::window_fit::fits);
    CHECK(straggle_rank::judge_window(r, 479) == straggle_rank::window_fit::few_tasks);
    CHECK(straggle_rank::judge_window(r, 481) == straggle_rank::window_fit::fits);
    CHECK(straggle_rank::judge_window(r, 59) == straggle_rank::window_fit::shorter_than_tasks);
    CHECK(straggle_rank::judge_window(r, std::numeric_limits<double>::quiet_NaN()) ==
          straggle_rank::window_fit::shorter_than_tasks);
}

TEST_CASE("recommend_window: four times the long tasks") {
    auto const r = straggle_rank::recommend_window(history(200, 10), fields);
    CHECK(r.usual_length == 60);
    CHECK(r.long_length == 600);
    CHECK(r.window == doctest::Approx(2400));
    CHECK(straggle_rank::judge_window(r, 599) == straggle_rank::window_fit::shorter_than_tasks);
    CHECK(straggle_rank::message(straggle_rank::judge_window(r, 599)).find("too short for its tasks") !=
          std::string_view::npos);
    CHECK(straggle_rank::message(straggle_rank::window_fit::fits).empty());
}

TEST_CASE("recommend_window: in any unit and any order, the same") {
    auto all = history(200, 10);
    auto const seconds = straggle_rank::recommend_window(all, fields);
    auto const thousandths = straggle_rank::recommend_window(history(200, 10, 1000), fields);
    CHECK(thousandths.window == doctest::Approx(1000 * seconds.window));
    CHECK(thousandths.slide == doctest::Approx(1000 * seconds.slide));
    std::reverse(all.begin(), all.end());
    CHECK(straggle_rank::recommend_window(all, fields).window == seconds.window);
}

TEST_CASE("recommend_window: no longer than the history; nothing from nothing") {
    auto const r = straggle_rank::recommend_window(history(5, 0), fields);
    CHECK(r.window == r.span);
    CHECK(straggle_rank::judge_window(r, r.window) == straggle_rank::window_fit::few_tasks);
    CHECK(straggle_rank::recommend_window(std::vector<attempt>{}, fields).used == 0);
    std::vector<attempt> const bad{{1, 1, -1, 10}, {1, 2, std::numeric_limits<double>::quiet_NaN(), 10}};
    auto const none = straggle_rank::recommend_window(bad, fields);
    CHECK(none.window == 0);
    CHECK(straggle_rank::judge_window(none, 10) == straggle_rank::window_fit::unknown);
    CHECK_FALSE(straggle_rank::message(straggle_rank::window_fit::unknown).empty());
}
