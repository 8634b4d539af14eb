// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A scratch remembers the weights of the question before. Against the list of records, which remembers
// nothing.

#include <straggle/predict/profile_store.hpp>

#include "../support/seed.hpp"
#include "scanned_records.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

using namespace straggle;
using straggle_test::categorical;
using straggle_test::numeric;
using straggle_test::random_rows;
using straggle_test::scanned_records;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct store_and_list {
    predict::profile_store store;
    scanned_records list;
    explicit store_and_list(std::vector<predict::factor_kind> const& kinds)
        : store(kinds, {.capacity = 50}), list(kinds, 50) {}
    void add(std::vector<double> const& row) {
        REQUIRE(store.add(row, 1) == status::ok);
        list.add(row, 1);
    }
};

} // namespace

TEST_CASE("query terms: whatever was asked before, the answer is the same") {
    std::uint64_t const seed = straggle_test::seed_or(5260);
    INFO("seed ", seed);
    random_rows data(seed);
    auto const number = [&] { return data.uniform() * (data.draw() % 8 == 0 ? 1e6 : 1); };
    // Of as many factors: numbers, numbers of which some are missing, and codes among them.
    std::vector<store_and_list> all;
    for (int i = 0; i < 3; ++i) {
        std::vector<predict::factor_kind> kinds(4, numeric);
        if (i == 2) kinds[1] = categorical;
        all.emplace_back(kinds);
    }
    auto const row = [&](bool gaps) {
        std::vector<double> r{number(), number(), number(), number()};
        if (gaps && data.draw() % 4 == 0) r[data.draw() % 4] = predict::missing_factor;
        return r;
    };
    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> found;
    std::vector<double> weights{1, 2, 3, 4};
    int renewed = 0;
    for (int step = 0; step < 20'000; ++step) {
        CAPTURE(step);
        std::size_t const which = step / 16 % 4 == 3 ? data.draw() % 3 : 0; // mostly the one of numbers
        store_and_list& both = all[which];
        if (both.list.records.empty() || data.draw() % 8 == 0) both.add(row(which == 1));
        auto question = row(data.draw() % 16 == 0), asked = weights;
        bool bad = false;
        switch (data.draw() % 16) {
        case 0:
            weights[data.draw() % 4] = number();
            break; // from now on
        case 1:
            weights[data.draw() % 4] = 0;
            break;
        case 2:
            asked[data.draw() % 4] = number();
            break; // this time only
        case 3:
            bad = true, asked[data.draw() % 4] = data.draw() % 2 == 0 ? -1 : not_a_number;
            break;
        case 4:
            bad = true, question[data.draw() % 4] = data.draw() % 2 == 0 ? infinity : -1.7e308;
            break;
        default:
            ++renewed;
        }
        std::size_t const k = data.draw() % 4 == 0 ? 50 : 1; // all, far ones too
        status const s = both.store.nearest(question, asked, k, infinity, scratch, found);
        if (bad) {
            REQUIRE(s == status::out_of_domain);
            REQUIRE(found.empty());
        } else {
            REQUIRE(s == status::ok);
            REQUIRE(found == both.list.nearest(question, asked, k, infinity));
        }
    }
    REQUIRE(renewed > 10'000);
}

TEST_CASE("query terms: a store of numbers that once missed some is one of numbers again") {
    std::vector<predict::factor_kind> const kinds{numeric, numeric};
    store_and_list both(kinds);
    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> found;
    std::vector<double> const weights{0.3, 0.7};
    auto const ask = [&] {
        for (std::vector<double> const& row : std::vector<std::vector<double>>{
                 {1, 1}, {predict::missing_factor, 2}, {3, predict::missing_factor}, {0.4, 7}}) {
            REQUIRE(both.store.nearest(row, weights, 50, infinity, scratch, found) == status::ok);
            REQUIRE(found == both.list.nearest(row, weights, 50, infinity));
        }
    };
    for (int i = 0; i < 200; ++i) { // the store holds 50
        both.add({i % 60 == 30 ? predict::missing_factor : i % 7, i * 0.5});
        ask();
    }
    both.store.clear();
    both.list.clear();
    both.add({5, 5});
    ask();
}
