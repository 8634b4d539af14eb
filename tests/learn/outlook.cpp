// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/outlook.hpp>

#include "../support/contract_trap.hpp"
#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;

namespace {

constexpr int nodes = 40;
constexpr std::size_t week = 7;

// One day: every node runs ten tasks, the weak ones are slow by two.
template <class Weak>
void run_day(learn::outlook<std::string>& next, std::mt19937_64& draw, Weak is_weak) {
    for (int node = 0; node < nodes; ++node)
        for (int i = 0; i < 10; ++i)
            CHECK(next.observe("n" + std::to_string(node), static_cast<double>(draw() % 1000) / 1000 - 0.5 +
                                                               (is_weak(node) ? 2.0 : 0.0)));
}

} // namespace

TEST_CASE("outlook: a fault that begins late in a week and lasts for the next is forecast, and said") {
    std::uint64_t const seed = straggle_test::seed_or(5);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed), engine(seed + 1);
    learn::outlook<std::string> next({.period = week});
    std::vector<learn::node_forecast<std::string>> out;
    CHECK(next.forecast(out) == status::insufficient_evidence);
    // In week w the nodes 5 w, 5 w + 1 ... + 4 become weak on day 5, and are so all of week w + 1.
    auto const weak_in = [](int w, std::size_t day, int node) {
        int const began = node / 5;
        return began == (w + 7) % 8 || (began == w % 8 && day >= 5);
    };
    int closed = 0;
    for (int w = 0; w < 12; ++w)
        for (std::size_t day = 0; day < week; ++day) {
            CHECK(next.day() == day);
            run_day(next, draw, [&](int node) { return weak_in(w, day, node); });
            status const s = next.close_day(engine);
            closed += day + 1 == week && s == status::ok ? 1 : 0; // else the weak ones could not be told
        }
    CHECK(closed >= 8);
    CHECK(next.so_far().is_better());
    CHECK(next.so_far().better > next.so_far().worse);
    CHECK(*next.so_far().forecast.accuracy() > *next.so_far().repeat.accuracy());
    REQUIRE(next.forecast(out) == status::ok);
    CHECK(out.size() == nodes);
    for (auto const& n : out) {
        int const node = std::stoi(n.id.substr(1));
        if (node / 5 == 11 % 8) CHECK(n.probability > 0.5); // weak all of week 12
    }
    CHECK(next.periods().size() == 12);
}

TEST_CASE("outlook: a forecast that is no better than as it was before is not given") {
    std::uint64_t const seed = straggle_test::seed_or(9);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed), engine(seed + 1);
    learn::outlook<std::string> next({.period = week, .most_periods = 4});
    std::vector<learn::node_forecast<std::string>> out{{"left over", 1}};
    for (int w = 0; w < 8; ++w)
        for (std::size_t day = 0; day < week; ++day) {
            run_day(next, draw, [](int node) { return node < 5; }); // always the same ones
            next.close_day(engine);
        }
    CHECK(next.periods().size() == 4);
    CHECK(next.so_far().forecast.total() == 6 * nodes); // of weeks 2 to 7
    CHECK_FALSE(next.so_far().is_better());
    CHECK(next.forecast(out) == status::insufficient_evidence);
    CHECK(out.empty());
    CHECK(next.unproven().size() == nodes);
}

TEST_CASE("outlook: nodes that do not differ, no scores, bad scores") {
    std::mt19937_64 engine(1);
    learn::outlook<std::string> next({.period = 2});
    CHECK_FALSE(next.observe("a", std::numeric_limits<double>::quiet_NaN()));
    for (int i = 0; i < 7; ++i) next.close_day(engine); // nothing happened at all
    CHECK(next.unproven().empty());
    CHECK(next.so_far() == learn::forecast_record{});
    for (int day = 0; day < 9; ++day) {
        for (int n = 0; n < 12; ++n) next.observe("n" + std::to_string(n), 0.0);
        next.close_day(engine);
    }
    CHECK(next.so_far() == learn::forecast_record{});
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS(learn::outlook<std::string>({.period = 0}), straggle_test::broken_contract);
    CHECK_THROWS_AS(learn::outlook<std::string>({.most_periods = 2}), straggle_test::broken_contract);
}
