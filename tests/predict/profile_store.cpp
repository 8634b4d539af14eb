// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Against a list of records that is scanned with `weighted_distance` and sorted: the same records, the same
// bits, in the same order. And as bytes: there and back in every state, and bytes that are anything but a
// store.

#include <straggle/predict/profile_store.hpp>

#include "../fuzz/profiles.cpp"
#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/corpus.hpp"
#include "../support/damage.hpp"
#include "../support/seed.hpp"
#include "scanned_records.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using straggle_test::categorical;
using straggle_test::numeric;
using straggle_test::random_rows;
using straggle_test::scanned_records;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The same question to both.
void check_nearest(predict::profile_store const& store, scanned_records const& list,
                   std::vector<double> const& row, std::vector<double> const& weights, std::size_t k,
                   double within) {
    static predict::nearest_scratch scratch;
    static std::vector<predict::neighbor> found;
    status const s = store.nearest(row, weights, k, within, scratch, found);
    auto const expected = list.nearest(row, weights, k, within);
    REQUIRE(found == expected);
    REQUIRE(s == (expected.empty() ? status::insufficient_evidence : status::ok));
    REQUIRE(store.nearest_by(predict::weighted_euclidean{}, row, weights, k, within, scratch, found) == s);
    REQUIRE(found == expected);
}

// Everything that can be asked, and a few random questions.
void check_same(predict::profile_store const& store, scanned_records const& list, random_rows& data,
                int questions) {
    REQUIRE(store.size() == list.records.size());
    REQUIRE(store.empty() == list.records.empty());
    REQUIRE(std::vector<double>(store.ranges().begin(), store.ranges().end()) == list.ranges());
    for (int i = 0; i < questions; ++i) {
        std::size_t const k = data.draw() % 4 == 0 ? list.records.size() + data.draw() % 2 : data.draw() % 40;
        double within = infinity;
        auto const row = data.row(), weights = data.weights();
        // As far as some record, to the bit.
        if (data.draw() % 3 == 0 && !list.records.empty())
            within = predict::weighted_distance(
                list.kinds, list.records[data.draw() % list.records.size()].row, row, list.ranges(), weights);
        check_nearest(store, list, row, weights, k, within);
    }
}

void check_samples(predict::profile_store const& store, scanned_records const& list) {
    std::vector<double> row(list.kinds.size());
    std::size_t i = 0;
    for (auto const& r : list.records) {
        REQUIRE(store.sample(i++, row) == predict::profile_record{r.time, r.number});
        REQUIRE(straggle_test::same_row(row, r.row));
    }
    i = 0;
    store.for_each([&](std::span<double const> held, double time, std::uint64_t number) {
        REQUIRE(straggle_test::same_row(held, list.records[i].row));
        REQUIRE(predict::profile_record{time, number} ==
                predict::profile_record{list.records[i].time, list.records[i].number});
        ++i;
    });
    REQUIRE(i == list.records.size());
}

struct filled {
    predict::profile_store store;
    scanned_records list;
    filled(random_rows& data, std::size_t n, std::size_t capacity)
        : store(data.kinds, {.capacity = capacity}), list(data.kinds, capacity) {
        for (std::size_t i = 0; i < n; ++i) {
            auto const row = data.row();
            REQUIRE(store.add(row, static_cast<double>(i % 7)) == status::ok);
            list.add(row, static_cast<double>(i % 7));
        }
    }
};

} // namespace

TEST_CASE("profile store: a few records by hand") {
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric,
                                                  predict::factor_kind::categorical};
    predict::profile_store store(kinds, {.capacity = 3});
    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> out;
    std::vector<double> const even{1, 1};
    auto const add = [&](double size, double program, double time) {
        std::vector<double> const row{size, program};
        return store.add(row, time);
    };
    auto const nearest = [&](double size, double program, std::size_t k, double within = infinity) {
        std::vector<double> const row{size, program};
        return store.nearest(row, even, k, within, scratch, out);
    };
    CHECK(store.ranges()[0] == 0);
    CHECK(store.ranges()[1] == 1);
    CHECK(nearest(0, 0, 1) == status::insufficient_evidence);
    CHECK(add(0, 1, 100) == status::ok);
    CHECK(add(10, 1, 200) == status::ok);
    CHECK(add(10, 2, 300) == status::ok);
    CHECK(store.ranges()[0] == 10);
    CHECK(nearest(10, 2, 2) == status::ok);
    CHECK(out == std::vector<predict::neighbor>{{0, 300, 2}, {1, 200, 1}});
    CHECK(nearest(0, 2, 9) == status::ok); // the first two are equally far: the younger first
    CHECK(out == std::vector<predict::neighbor>{{1, 300, 2}, {1, 100, 0}, {std::sqrt(2.0), 200, 1}});
    CHECK(nearest(5, 1, 9, 0.5) == status::ok);
    CHECK(out == std::vector<predict::neighbor>{{0.5, 200, 1}, {0.5, 100, 0}});
    CHECK(nearest(5, 1, 9, 0.49) == status::insufficient_evidence);
    CHECK(out.empty());
    CHECK(add(20, 2, 400) == status::ok); // the first one goes
    CHECK(store.counts() == predict::profile_counts{.added = 4, .evicted = 1, .bad_rows = 0, .bad_times = 0});
    CHECK(store.size() == 3);
    CHECK(store.ranges()[0] == 10);
    std::vector<double> row(2);
    CHECK(store.sample(0, row) == predict::profile_record{200, 1});
    CHECK(row == std::vector<double>{10, 1});
    store.clear();
    CHECK(store.empty());
    CHECK(store.counts() == predict::profile_counts{});
    CHECK(store.ranges()[0] == 0);
}

TEST_CASE("profile store: the same as a list after every step") {
    std::uint64_t const seed = straggle_test::seed_or(5201);
    INFO("seed ", seed);
    for (std::uint64_t round = 0; round < 30; ++round) {
        CAPTURE(round);
        random_rows data(seed + round);
        std::size_t const capacities[] = {1, 2, 7, 8, 9, 63, 64, 65, 200, 600};
        std::size_t const capacity = capacities[data.draw() % 10];
        predict::profile_store store(data.kinds, {.capacity = capacity});
        scanned_records list(data.kinds, capacity);
        std::mt19937_64 chance(round), same_chance(round);
        for (int step = 0; step < 900; ++step) {
            auto const row = data.row();
            double const time = static_cast<double>(data.draw() % 5);
            if (data.draw() % 2 == 0 && round % 3 != 0) {
                REQUIRE(store.add(row, time, chance) == status::ok);
                list.add(row, time, same_chance);
            } else {
                REQUIRE(store.add(row, time) == status::ok);
                list.add(row, time);
            }
            check_same(store, list, data, step % 8 == 0 ? 2 : 1);
            if (step % 50 == 0) check_samples(store, list);
            if (data.draw() % 64 == 0) store.arrange();
            if (data.draw() % 500 == 0) {
                store.clear();
                list.clear();
            }
        }
        REQUIRE(store.counts().added - store.counts().evicted == store.size());
    }
}

TEST_CASE("profile store: the same as a list at every edge of leaves and boxes") {
    random_rows data(straggle_test::seed_or(5202));
    for (std::size_t const n :
         {1u, 7u, 8u, 9u, 63u, 64u, 65u, 127u, 128u, 511u, 512u, 513u, 4095u, 4096u, 4097u}) {
        CAPTURE(n);
        filled both(data, n, 5000);
        for (bool const arranged : {false, true}) {
            if (arranged) both.store.arrange();
            check_same(both.store, both.list, data, n > 1000 ? 6 : 20);
            for (std::size_t const k :
                 {std::size_t{0}, std::size_t{1}, std::size_t{8}, n - 1, n, n + 1, ~std::size_t{0}})
                check_nearest(both.store, both.list, data.row(), data.weights(), k, infinity);
        }
    }
}

TEST_CASE("profile store: the same as a list when it is large, and while records come and go") {
    std::uint64_t const seed = straggle_test::seed_or(5203);
    INFO("seed ", seed);
    for (std::uint64_t round = 0; round < 6; ++round) {
        CAPTURE(round);
        random_rows data(seed + round);
        filled both(data, 12'000, 10'000);
        check_same(both.store, both.list, data, 10);
        std::mt19937_64 chance(round), same_chance(round);
        for (int i = 0; i < 3000; ++i) {
            auto const row = data.row();
            (void)both.store.add(row, 1, chance);
            both.list.add(row, 1, same_chance);
            if (i % 500 == 0) check_same(both.store, both.list, data, 4);
        }
        check_samples(both.store, both.list);
        both.store.arrange();
        check_same(both.store, both.list, data, 10);
    }
}

TEST_CASE("profile store: the same as a list with one factor, and with many") {
    for (std::size_t const factors : {1u, 2u, 17u, 64u, 100u}) {
        CAPTURE(factors);
        random_rows data(straggle_test::seed_or(5208));
        data.sorts.resize(factors);
        data.missing.resize(factors);
        data.kinds.assign(factors, predict::factor_kind::numeric);
        for (std::size_t k = 0; k < factors; k += 3) {
            data.sorts[k] = 4;
            data.kinds[k] = predict::factor_kind::categorical;
            data.missing[k] = 20;
        }
        filled both(data, 1200, 1000);
        check_same(both.store, both.list, data, 30);
        both.store.arrange();
        check_same(both.store, both.list, data, 30);
    }
}

TEST_CASE("profile store: thousands of equal records are ordered by their age") {
    std::vector<predict::factor_kind> const kinds{
        predict::factor_kind::numeric, predict::factor_kind::categorical, predict::factor_kind::numeric};
    random_rows data(straggle_test::seed_or(5204));
    data.kinds = kinds;
    predict::profile_store store(kinds, {.capacity = 6000});
    scanned_records list(kinds, 6000);
    for (int i = 0; i < 9000; ++i) { // four different rows
        std::vector<double> const row{i % 2 == 0 ? 1.0 : predict::missing_factor, i % 3 == 0 ? 5.0 : 7.0, 3};
        (void)store.add(row, i);
        list.add(row, i);
    }
    for (bool const arranged : {false, true}) {
        if (arranged) store.arrange();
        for (std::size_t const k : {1u, 5u, 64u, 1000u, 1500u, 1501u, 6000u})
            for (std::vector<double> const& weights :
                 std::vector<std::vector<double>>{{1, 1, 1}, {0, 1, 0}, {0.3, 0, 0}, {0, 0, 0}, {0, 0, 1}})
                for (std::vector<double> const& row :
                     std::vector<std::vector<double>>{{1, 5, 3},
                                                      {predict::missing_factor, 5, 3},
                                                      {1, 6, 9},
                                                      {2, predict::missing_factor, predict::missing_factor}})
                    check_nearest(store, list, row, weights, k, infinity);
    }
    // All the same.
    predict::profile_store same(kinds, {.capacity = 5000});
    scanned_records same_list(kinds, 5000);
    for (int i = 0; i < 5000; ++i) {
        std::vector<double> const row{1, 2, predict::missing_factor};
        (void)same.add(row, i);
        same_list.add(row, i);
    }
    for (std::size_t const k : {1u, 100u, 5000u})
        for (std::vector<double> const& row :
             std::vector<std::vector<double>>{{1, 2, 3}, {1, 2, predict::missing_factor}, {9, 9, 9}})
            check_nearest(same, same_list, row, {0.5, 0.25, 0.125}, k, infinity);
}

TEST_CASE("profile store: weights of 0 leave factors out, and all of 0 leave only age") {
    random_rows data(straggle_test::seed_or(5205));
    filled both(data, 2000, 1500);
    std::vector<double> weights(data.kinds.size(), 0.0);
    check_nearest(both.store, both.list, data.row(), weights, 40, 0.0);
    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> out;
    REQUIRE(both.store.nearest(data.row(), weights, 40, infinity, scratch, out) == status::ok);
    for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(out[i].number == 1999 - i);
    for (std::size_t k = 0; k < weights.size(); ++k) {
        weights.assign(weights.size(), 0.0);
        weights[k] = 0.7;
        check_nearest(both.store, both.list, data.row(), weights, 100, infinity);
    }
}

TEST_CASE("profile store: `within` includes its end") {
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric};
    predict::profile_store store(kinds);
    for (double const x : {0.0, 1.0, 3.0, 10.0}) {
        std::vector<double> const row{x};
        REQUIRE(store.add(row, x) == status::ok);
    }
    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> out;
    std::vector<double> const row{0}, weights{0.37};
    for (std::size_t i = 0; i < 4; ++i) {
        REQUIRE(store.nearest(row, weights, 4, infinity, scratch, out) == status::ok);
        double const d = out[i].distance;
        REQUIRE(store.nearest(row, weights, 4, d, scratch, out) == status::ok);
        CHECK(out.size() == i + 1);
        if (i == 0) continue;
        REQUIRE(store.nearest(row, weights, 4, std::nextafter(d, 0.0), scratch, out) == status::ok);
        CHECK(out.size() == i);
    }
}

TEST_CASE("profile store: another distance, which may leave records out") {
    std::vector<predict::factor_kind> const kinds{numeric, numeric};
    predict::profile_store store(kinds);
    for (int i = 0; i < 20; ++i)
        REQUIRE(store.add(std::vector<double>{1.0 * i, 1.0 * (i % 3)}, 10.0 * i) == status::ok);
    // By the first factor alone, among rows with the same second one.
    auto const among_equals = [](auto, std::span<double const> x, std::span<double const> y, auto, auto) {
        return x[1] == y[1] ? std::fabs(x[0] - y[0]) : not_a_number;
    };
    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> found;
    std::vector<double> const row{7, 1}, even{1, 1};
    REQUIRE(store.nearest_by(among_equals, row, even, 3, infinity, scratch, found) == status::ok);
    CHECK(found == std::vector<predict::neighbor>{{0, 70, 7}, {3, 100, 10}, {3, 40, 4}});
    REQUIRE(store.nearest_by(among_equals, row, even, 3, 2.5, scratch, found) == status::ok);
    CHECK(found == std::vector<predict::neighbor>{{0, 70, 7}});
    CHECK(store.nearest_by(among_equals, std::vector<double>{7, 9}, even, 3, infinity, scratch, found) ==
          status::insufficient_evidence);
    CHECK(store.nearest_by(among_equals, row, std::vector<double>{1, -1}, 3, infinity, scratch, found) ==
          status::out_of_domain);
    CHECK(store.nearest_by(among_equals, row, even, 0, infinity, scratch, found) ==
          status::insufficient_evidence);
}

TEST_CASE("profile store: ranges follow what is held") {
    std::vector<predict::factor_kind> const kinds{
        predict::factor_kind::numeric, predict::factor_kind::numeric, predict::factor_kind::numeric};
    predict::profile_store store(kinds, {.capacity = 700});
    scanned_records list(kinds, 700);
    for (int i = 0; i < 5000; ++i) {
        // One goes up, so that each eviction takes the least; one goes down; one has a rare peak.
        std::vector<double> const row{1.0 * i, -0.25 * i, i % 900 == 0 ? 1e6 : i % 3};
        (void)store.add(row, 1);
        list.add(row, 1);
        REQUIRE(std::vector<double>(store.ranges().begin(), store.ranges().end()) == list.ranges());
    }
    CHECK(store.ranges()[0] == 699);
}

TEST_CASE("profile store: bad data is refused, counted, and changes nothing") {
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric,
                                                  predict::factor_kind::categorical};
    predict::profile_store store(kinds, {.capacity = 2});
    std::vector<double> const good{1, 2};
    REQUIRE(store.add(good, 0) == status::ok);
    REQUIRE(store.add(good, 1e308) == status::ok);
    auto const before = store.serialize();
    for (std::vector<double> const& bad :
         std::vector<std::vector<double>>{{infinity, 2},
                                          {1, -infinity},
                                          {1.7e308, 2},
                                          {1, -std::nextafter(predict::largest_factor, infinity)}})
        CHECK(store.add(bad, 1) == status::out_of_domain);
    for (double const bad : {not_a_number, infinity, -infinity, -1.0, -5e-324})
        CHECK(store.add(good, bad) == status::out_of_domain);
    CHECK(store.counts() == predict::profile_counts{.added = 2, .evicted = 0, .bad_rows = 4, .bad_times = 5});
    CHECK(store.size() == 2);
    std::mt19937_64 chance(1), untouched(1);
    CHECK(store.add(good, not_a_number, chance) == status::out_of_domain);
    CHECK(chance() == untouched());

    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> out{{1, 2, 3}};
    std::vector<double> const ones{1, 1};
    auto const ask = [&](std::vector<double> const& row, std::vector<double> const& weights, double within) {
        out.assign(1, {1, 2, 3});
        status const s = store.nearest(row, weights, 1, within, scratch, out);
        CHECK(out.empty() == (s != status::ok));
        return s;
    };
    CHECK(ask({infinity, 2}, ones, infinity) == status::out_of_domain);
    CHECK(ask({1, 1e308}, ones, infinity) == status::out_of_domain);
    for (double const bad : {not_a_number, -1.0, infinity, -infinity})
        CHECK(ask(good, {1, bad}, infinity) == status::out_of_domain);
    for (double const bad : {not_a_number, -1.0, -infinity})
        CHECK(ask(good, ones, bad) == status::out_of_domain);
    CHECK(ask({predict::missing_factor, predict::missing_factor}, ones, infinity) == status::ok);
    CHECK(ask(good, {1, (std::numeric_limits<double>::max)()}, 0) == status::ok);
}

TEST_CASE("profile store: broken contracts") {
    straggle_test::contract_trap const trap;
    using broken = straggle_test::broken_contract;
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric,
                                                  predict::factor_kind::categorical};
    CHECK_THROWS_AS(predict::profile_store({}), broken);
    CHECK_THROWS_AS(predict::profile_store(kinds, {.capacity = 0}), broken);
    CHECK_THROWS_AS(predict::profile_store(kinds, {.capacity = (std::size_t{1} << 31) + 1}), broken);
    predict::profile_store store(kinds);
    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> out;
    std::vector<double> const two{1, 2}, one{1};
    std::vector<double> row(2), short_row(1);
    std::mt19937_64 chance;
    CHECK_THROWS_AS((void)store.add(one, 1), broken);
    CHECK_THROWS_AS((void)store.add(one, 1, chance), broken);
    CHECK_THROWS_AS((void)store.nearest(one, two, 1, 1, scratch, out), broken);
    CHECK_THROWS_AS((void)store.nearest(two, one, 1, 1, scratch, out), broken);
    CHECK_THROWS_AS((void)store.sample(0, row), broken);
    REQUIRE(store.add(two, 1) == status::ok);
    CHECK_THROWS_AS((void)store.sample(1, row), broken);
    CHECK_THROWS_AS((void)store.sample(0, short_row), broken);
}

TEST_CASE("profile store: values at the ends of the numbers") {
    std::vector<predict::factor_kind> const kinds{
        predict::factor_kind::numeric, predict::factor_kind::numeric, predict::factor_kind::categorical};
    predict::profile_store store(kinds);
    scanned_records list(kinds, 100'000);
    std::vector<double> const values{0.0,
                                     -0.0,
                                     5e-324,
                                     -1e-310,
                                     1.0,
                                     1e300,
                                     predict::largest_factor,
                                     -predict::largest_factor,
                                     predict::missing_factor};
    for (double const a : values)
        for (double const b : {0.0, 1e-320, 3e-320, predict::missing_factor})
            for (double const c : values) {
                std::vector<double> const row{a, b, c};
                REQUIRE(store.add(row, 1) == status::ok);
                list.add(row, 1);
            }
    for (bool const arranged : {false, true}) {
        if (arranged) store.arrange();
        for (double const a : values)
            for (double const c : values)
                for (std::vector<double> const& weights : std::vector<std::vector<double>>{
                         {1, 1, 1}, {1e308, 0, 1}, {1e-320, 5e-324, 0}, {1.7e308, 1.7e308, 1.7e308}})
                    for (double const within : {infinity, 0.0, 1.0, 1e-200})
                        check_nearest(store, list, {a, 2e-320, c}, weights, 30, within);
    }
}

TEST_CASE("profile store: copies and moves go on alike") {
    random_rows data(straggle_test::seed_or(5206));
    filled both(data, 900, 700);
    predict::profile_store copy(both.store), assigned(data.kinds, {.capacity = 3});
    assigned = copy;
    predict::profile_store moved(std::move(copy));
    scanned_records const before = both.list;
    for (int i = 0; i < 1000; ++i) {
        auto const row = data.row();
        (void)both.store.add(row, 1);
        (void)moved.add(row, 1);
        both.list.add(row, 1);
    }
    check_same(both.store, both.list, data, 20);
    check_same(moved, both.list, data, 20);
    check_same(assigned, before, data, 20);
    CHECK(assigned.capacity() == 700);
}

TEST_CASE("profile store: allocates nothing once it is full") {
    for (std::size_t const capacity : {1u, 10u, 500u, 5000u}) {
        random_rows data(straggle_test::seed_or(5207));
        filled both(data, 3 * capacity + 200, capacity);
        predict::nearest_scratch scratch;
        std::vector<predict::neighbor> out;
        std::vector<std::vector<double>> rows, weights;
        for (int i = 0; i < 50; ++i) {
            rows.push_back(data.row());
            weights.push_back(data.weights());
        }
        weights[0].assign(weights[0].size(), 1.0); // all terms
        (void)both.store.nearest(rows[0], weights[0], 32, infinity, scratch, out);
        std::mt19937_64 chance(1);
        std::vector<double> held(data.kinds.size());
        CHECK(straggle_test::allocations_during([&] {
                  for (std::size_t i = 0; i < 2 * capacity + 100; ++i) {
                      auto const& row = rows[i % 50];
                      (void)(i % 3 == 0 ? both.store.add(row, 1, chance) : both.store.add(row, 1));
                      (void)both.store.nearest(row, weights[i % 50], 32, infinity, scratch, out);
                      (void)both.store.sample(i % both.store.size(), held);
                  }
                  both.store.arrange();
                  both.store.clear();
                  (void)both.store.add(rows[0], 1);
              }) == 0);
    }
}

TEST_CASE("profile store: takes the memory it says") {
    for (std::size_t const factors : {1u, 4u, 7u, 8u, 16u}) {
        CAPTURE(factors);
        std::vector<predict::factor_kind> const kinds(factors, predict::factor_kind::numeric);
        std::size_t const before = straggle_test::live_bytes();
        std::size_t const capacity = 20'000;
        predict::profile_store store(kinds, {.capacity = capacity});
        std::vector<double> row(factors);
        std::size_t most = 0;
        for (std::size_t i = 0; i < 3 * capacity; ++i) {
            for (double& x : row) x = static_cast<double>(i * 7919 % 1000);
            (void)store.add(row, 1);
            most = (std::max)(most, straggle_test::live_bytes() - before);
        }
        double const each = static_cast<double>(straggle_test::live_bytes() - before) / capacity;
        CHECK(each <= 12.9 * static_cast<double>(factors) + 60);
        CHECK(each >= 8.0 * static_cast<double>(factors) + 16); // else it is not measured at all
        CHECK(most <= 2 * (straggle_test::live_bytes() - before));
    }
}

namespace {

using bytes = std::vector<std::byte>;
void check_same(predict::profile_store const& a, predict::profile_store const& b, random_rows& data) {
    REQUIRE(a.size() == b.size());
    REQUIRE(a.counts() == b.counts());
    REQUIRE(std::equal(a.ranges().begin(), a.ranges().end(), b.ranges().begin(), b.ranges().end()));
    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> found_a, found_b;
    for (int i = 0; i < 5; ++i) {
        auto const row = data.row(), weights = data.weights();
        REQUIRE(a.nearest(row, weights, 20, infinity, scratch, found_a) ==
                b.nearest(row, weights, 20, infinity, scratch, found_b));
        REQUIRE(found_a == found_b);
    }
    std::vector<double> row_a(a.factors()), row_b(b.factors());
    for (std::size_t i = 0; i < a.size(); ++i) {
        REQUIRE(a.sample(i, row_a) == b.sample(i, row_b));
        REQUIRE(straggle_test::same_row(row_a, row_b));
    }
    REQUIRE(a.serialize() == b.serialize());
}

// The beginning of a frame of a store with one number and one code, up to its records.
byte_writer begun(std::uint64_t records, std::uint64_t added, std::uint64_t evicted) {
    byte_writer out;
    out.count(2);
    out.u8(0);
    out.u8(1);
    for (std::uint64_t const n : {added, evicted, std::uint64_t{5}, std::uint64_t{6}}) out.varint(n);
    out.count(records);
    return out;
}
void record(byte_writer& out, std::uint64_t skipped, double number, double code, double time) {
    out.varint(skipped);
    for (double const x : {number, code, time}) out.real(x);
}
status read(byte_writer out, std::size_t capacity = 100) {
    bytes const sealed = std::move(out).seal(frame_kind("prof"), 1);
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric,
                                                  predict::factor_kind::categorical};
    predict::profile_store store(kinds, {.capacity = capacity});
    std::vector<double> const row{1, 2};
    REQUIRE(store.add(row, 3) == status::ok);
    bytes const before = store.serialize();
    status const s = store.restore(sealed);
    if (s == status::ok)
        CHECK(store.serialize() == sealed);
    else
        CHECK(store.serialize() == before);
    return s;
}

} // namespace

TEST_CASE("profile bytes: there and back in every state, and on alike") {
    std::uint64_t const seed = straggle_test::seed_or(5301);
    INFO("seed ", seed);
    for (std::uint64_t round = 0; round < 12; ++round) {
        CAPTURE(round);
        random_rows data(seed + round);
        predict::profile_store store(data.kinds, {.capacity = 150});
        std::mt19937_64 chance(round);
        bytes memory;
        for (int i = 0; i < 600; ++i) {
            (void)(data.draw() % 2 == 0 ? store.add(data.row(), i, chance) : store.add(data.row(), i));
            if (i % 70 == 0) (void)store.add(data.row(), -1);
            if (data.draw() % 16 != 0) continue;
            predict::profile_store back(data.kinds, {.capacity = 150});
            (void)back.add(data.row(), 1); // to be forgotten
            memory = store.serialize(std::move(memory));
            REQUIRE(back.restore(memory) == status::ok);
            check_same(back, store, data);
            std::mt19937_64 same_chance = chance;
            predict::profile_store on = store;
            for (int more = 0; more < 100; ++more) {
                auto const row = data.row();
                (void)on.add(row, more, chance);
                (void)back.add(row, more, same_chance);
            }
            check_same(back, on, data);
            if (data.draw() % 4 == 0) store = back;
        }
    }
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric};
    predict::profile_store empty(kinds), back(kinds);
    std::vector<double> const row{1};
    (void)back.add(row, 1);
    CHECK(back.restore(empty.serialize()) == status::ok);
    CHECK(back.empty());
}

TEST_CASE("profile bytes: another capacity") {
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric};
    predict::profile_store store(kinds, {.capacity = 10}), larger(kinds, {.capacity = 11}),
        less(kinds, {.capacity = 9});
    std::vector<double> row{0};
    for (int i = 0; i < 15; ++i) {
        row[0] = i;
        (void)store.add(row, i);
    }
    REQUIRE(larger.restore(store.serialize()) == status::ok);
    CHECK(larger.capacity() == 11);
    (void)larger.add(row, 1);
    CHECK(larger.size() == 11);
    CHECK(larger.counts().evicted == 5);
    CHECK(less.restore(store.serialize()) == status::out_of_range);
    CHECK(less.empty());
}

TEST_CASE("profile bytes: every truncation and every flipped bit is noticed, and changes nothing") {
    bytes const good = sample_store(2, 9);
    predict::profile_store victim = fuzz_store(2);
    REQUIRE(victim.restore(sample_store(2, 4)) == status::ok);
    straggle_test::check_damage(victim, good);
}

TEST_CASE("profile bytes: of other factors, or from another time") {
    bytes const good = sample_store(1, 5);
    auto const read_as = [&](std::vector<predict::factor_kind> const& kinds, bytes const& from) {
        predict::profile_store store(kinds);
        return store.restore(from);
    };
    CHECK(read_as({predict::factor_kind::categorical, predict::factor_kind::numeric}, good) == status::ok);
    CHECK(read_as({predict::factor_kind::numeric, predict::factor_kind::categorical}, good) ==
          status::wrong_kind);
    CHECK(read_as({predict::factor_kind::categorical}, good) == status::wrong_kind);
    CHECK(read_as({predict::factor_kind::categorical, predict::factor_kind::numeric,
                   predict::factor_kind::numeric},
                  good) == status::wrong_kind);
    auto const sealed_as = [&](std::uint32_t kind, std::uint32_t version) {
        byte_writer out;
        out.u8(1);
        return read_as({predict::factor_kind::numeric}, std::move(out).seal(kind, version));
    };
    CHECK(sealed_as(frame_kind("prof"), 1) == status::truncated);
    CHECK(sealed_as(frame_kind("prof"), 2) == status::unknown_version);
    CHECK(sealed_as(frame_kind("moni"), 1) == status::wrong_kind);
}

TEST_CASE("profile bytes: a right checksum around nonsense") {
    auto const one = [](double number, double code, double time, std::uint64_t skipped = 0,
                        std::uint64_t added = 1) {
        byte_writer out = begun(1, added, added - 1);
        record(out, skipped, number, code, time);
        return out;
    };
    CHECK(read(one(1, 2, 3)) == status::ok);
    CHECK(read(one(predict::missing_factor, predict::missing_factor, 0)) == status::ok);
    CHECK(read(one(predict::largest_factor, -predict::largest_factor, 1e308)) == status::ok);
    CHECK(read(one(infinity, 2, 3)) == status::corrupt);
    CHECK(read(one(1, 1.7e308, 3)) == status::corrupt);
    for (double const bad : {-1.0, infinity, -infinity, predict::missing_factor})
        CHECK(read(one(1, 2, bad)) == status::corrupt);
    // The number of the record.
    CHECK(read(one(1, 2, 3, 9, 10)) == status::ok);
    CHECK(read(one(1, 2, 3, 10, 10)) == status::corrupt);
    CHECK(read(one(1, 2, 3, UINT64_MAX, UINT64_MAX)) == status::corrupt);
    CHECK(read(one(1, 2, 3, UINT64_MAX - 1, UINT64_MAX)) == status::ok);
    byte_writer second = begun(2, 5, 3);
    record(second, 3, 1, 2, 3);
    record(second, 0, 1, 2, 3);
    CHECK(read(std::move(second)) == status::ok);
    second = begun(2, 5, 3);
    record(second, 4, 1, 2, 3);
    record(second, 0, 1, 2, 3);
    CHECK(read(std::move(second)) == status::corrupt);
    // Counts that do not add up.
    CHECK(read(begun(0, 7, 7)) == status::ok);
    CHECK(read(begun(0, 7, 8)) == status::corrupt);
    CHECK(read(begun(0, 7, 6)) == status::corrupt);
    byte_writer three = begun(3, 3, 0);
    for (int i = 0; i < 3; ++i) record(three, 0, i, i, i);
    CHECK(read(three) == status::ok);
    CHECK(read(three, 2) == status::out_of_range);
    three.u8(0);
    CHECK(read(three) == status::corrupt); // bytes are left
}

TEST_CASE("profile bytes: hostile counts take no memory") {
    for (std::uint64_t const many : {std::uint64_t{100'000}, std::uint64_t{1} << 32, UINT64_MAX}) {
        byte_writer records = begun(many, many, 0);
        record(records, 0, 1, 2, 3);
        byte_writer factors;
        factors.count(many);
        for (byte_writer* out : {&records, &factors}) {
            bytes const sealed = std::move(*out).seal(frame_kind("prof"), 1);
            std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric,
                                                          predict::factor_kind::categorical};
            predict::profile_store store(kinds, {.capacity = std::size_t{1} << 31});
            std::size_t const before = straggle_test::allocated_bytes();
            CHECK(store.restore(sealed) == status::truncated);
            CHECK(straggle_test::allocated_bytes() - before < 5'000);
        }
    }
    // Real ones take a small multiple of their bytes.
    for (std::uint64_t const kind : {0u, 1u, 2u}) {
        predict::profile_store store(fuzz_kinds(kind), {.capacity = 3000});
        std::vector<double> const row(store.factors(), 1.0);
        for (int i = 0; i < 3000; ++i) (void)store.add(row, i);
        bytes const stored = store.serialize();
        predict::profile_store back(fuzz_kinds(kind), {.capacity = 3000});
        std::size_t const before = straggle_test::allocated_bytes();
        REQUIRE(back.restore(stored) == status::ok);
        CHECK(straggle_test::allocated_bytes() - before < 4 * stored.size());
    }
}

TEST_CASE("profile bytes: the corpus of the fuzzer") {
    straggle_test::replay_corpus(__FILE__, "profiles", LLVMFuzzerTestOneInput);
}

TEST_CASE("profile bytes: what the fuzzer does, on damaged stores with the checksum put right") {
    std::mt19937_64 draw(straggle_test::seed_or(5302));
    for (int round = 0; round < 3000; ++round) {
        bytes input = sample_store(draw() % 3, 1 + draw() % 50);
        for (std::uint64_t flips = 1 + draw() % 4; flips > 0; --flips)
            input[24 + draw() % (input.size() - 24)] =
                static_cast<std::byte>(draw() % 3 == 0 ? draw() : draw() % 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(input.data()), input.size());
    }
}
