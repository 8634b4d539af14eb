// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/random.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using straggle::base::sample_to_front;
using straggle::base::uniform_below;

// Gives the words it is told to, the last one for ever.
template <class Word, Word Max>
class scripted {
  public:
    using result_type = Word;
    explicit scripted(std::vector<Word> words) : words_(std::move(words)) {}
    static constexpr Word min() { return 0; }
    static constexpr Word max() { return Max; }
    Word operator()() {
        std::size_t const next = static_cast<std::size_t>(calls++);
        return words_[(std::min)(next, words_.size() - 1)];
    }
    int calls = 0;

  private:
    std::vector<Word> words_;
};
using words64 = scripted<std::uint64_t, ~std::uint64_t{0}>;

template <class Engine>
void check_golden(straggle_test::golden_row const& row) {
    Engine engine(static_cast<typename Engine::result_type>(row.integer<std::uint64_t>(2)));
    if (row.text(0) == "below") {
        std::uint64_t const bound = row.integer<std::uint64_t>(3);
        for (std::size_t i = 4; i < row.size(); ++i)
            REQUIRE(uniform_below(engine, bound) == row.integer<std::uint64_t>(i));
    } else {
        std::vector<int> items(row.integer<std::uint64_t>(3));
        std::iota(items.begin(), items.end(), 0);
        std::size_t const count = row.integer<std::size_t>(4);
        sample_to_front(std::span(items), count, engine);
        REQUIRE(row.size() == 5 + count);
        for (std::size_t i = 0; i < count; ++i) REQUIRE(items[i] == row.integer<int>(5 + i));
    }
}

TEST_CASE("random: the same draws on every platform") {
    for (auto const& row : straggle_test::golden_table("uniform_below.csv", false)) {
        INFO(row.text(0), " ", row.text(1), " seed ", row.text(2), " bound or size ", row.text(3));
        if (row.text(1) == "mt19937")
            check_golden<std::mt19937>(row);
        else
            check_golden<std::mt19937_64>(row);
    }
}

TEST_CASE("random: a bound of one needs no luck") {
    words64 engine({0, 1, 77});
    CHECK(uniform_below(engine, 1) == 0);
    CHECK(engine.calls == 1);
}

TEST_CASE("random: words that would favour small remainders are drawn again") {
    // 2^64 mod 3 = 1: of the words only 0 is refused. 2^64 mod (2^63 + 1) = 2^63 - 1: nearly half are.
    words64 three({0, 0, 1});
    CHECK(uniform_below(three, 3) == 1);
    CHECK(three.calls == 3);
    std::uint64_t const half = std::uint64_t{1} << 63;
    words64 large({0, half - 2, half - 1});
    CHECK(uniform_below(large, half + 1) == half - 1);
    CHECK(large.calls == 3);
    words64 top({~std::uint64_t{0}});
    CHECK(uniform_below(top, half + 1) == half - 2);
    words64 least({0});
    CHECK(uniform_below(least, half) == 0);
    CHECK(least.calls == 1);
    words64 all_but_one({0, 1});
    CHECK(uniform_below(all_but_one, ~std::uint64_t{0}) ==
          1); // only 0 is refused, which 2^64 - 1 also leaves as 0
    CHECK(all_but_one.calls == 2);
}

TEST_CASE("random: engines of fewer bits fill a word from the top") {
    scripted<std::uint32_t, 0xffffffffu> half({0x01234567u, 0x89abcdefu});
    CHECK(uniform_below(half, std::uint64_t{1} << 63) == 0x0123456789abcdefu);
    CHECK(half.calls == 2);
    scripted<std::uint8_t, 255> bytes({1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(uniform_below(bytes, std::uint64_t{1} << 63) == 0x0102030405060708u);
    CHECK(bytes.calls == 8);
    scripted<std::uint64_t, 1> coin({1, 0, 1, 1, 0});
    CHECK(uniform_below(coin, std::uint64_t{1} << 63) ==
          0x3000000000000000u); // 1011 0000..., the top bit reduced
    CHECK(coin.calls == 64);
    scripted<std::uint32_t, 0xffffffu> three_bytes(
        {0xaabbccu, 0x112233u, 0x445566u}); // the oldest byte drops out
    CHECK(uniform_below(three_bytes, std::uint64_t{1} << 63) ==
          (0xbbcc112233445566u & ~(std::uint64_t{1} << 63)));
    CHECK(three_bytes.calls == 3);
}

TEST_CASE("random: engines of the standard and of the system") {
    static_assert(straggle::base::random_engine<std::mt19937> &&
                  straggle::base::random_engine<std::mt19937_64>);
    static_assert(straggle::base::random_engine<std::random_device> &&
                  straggle::base::random_engine<std::ranlux24_base>);
    static_assert(!straggle::base::random_engine<std::minstd_rand>,
                  "its range is not a whole number of bits");
    std::ranlux48_base engine(1);
    for (int i = 0; i < 1000; ++i) REQUIRE(uniform_below(engine, 10) < 10);
}

// The 0.999999 quantile of chi square, by Wilson and Hilferty: a fixed seed passes or fails for ever.
double chi_square_limit(double dof) {
    double const c = 2 / (9 * dof), x = 1 - c + 4.753424 * std::sqrt(c);
    return dof * x * x * x;
}
double chi_square(std::vector<double> const& counts) {
    double const expected =
        std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
    double sum = 0;
    for (double const c : counts) sum += (c - expected) * (c - expected) / expected;
    return sum;
}

TEST_CASE("random: draws are uniform") {
    std::uint64_t const seed = straggle_test::seed_or(4);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::mt19937 small_engine(static_cast<std::mt19937::result_type>(seed));
    for (std::uint64_t const bound : {2u, 3u, 7u, 100u, 1000u}) {
        std::vector<double> counts(bound, 0.0), small_counts(bound, 0.0);
        for (int i = 0; i < 200000; ++i) {
            counts[uniform_below(engine, bound)] += 1;
            small_counts[uniform_below(small_engine, bound)] += 1;
        }
        CHECK(chi_square(counts) < chi_square_limit(static_cast<double>(bound - 1)));
        CHECK(chi_square(small_counts) < chi_square_limit(static_cast<double>(bound - 1)));
    }
    // A large bound: plain remainders would fall below its middle two times in three.
    std::uint64_t const bound = (std::uint64_t{3} << 62), parts = 6;
    std::vector<double> counts(parts, 0.0);
    for (int i = 0; i < 200000; ++i) counts[uniform_below(engine, bound) / (bound / parts)] += 1;
    CHECK(chi_square(counts) < chi_square_limit(static_cast<double>(parts - 1)));
}

TEST_CASE("random: a bound of zero is a broken contract") {
    straggle_test::contract_trap const trap;
    std::mt19937 engine;
    CHECK_THROWS_AS((void)uniform_below(engine, 0), straggle_test::broken_contract);
    std::array<int, 3> items{1, 2, 3};
    CHECK_THROWS_AS(sample_to_front(std::span<int>(items), 4, engine), straggle_test::broken_contract);
}

TEST_CASE("random: a sample only moves items about") {
    std::uint64_t const seed = straggle_test::seed_or(5);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    for (std::size_t size = 0; size <= 40; ++size)
        for (std::size_t count = 0; count <= size; ++count) {
            std::vector<std::string> items;
            for (std::size_t i = 0; i < size; ++i)
                items.push_back(std::to_string(i % 7) + "-" + std::to_string(i));
            std::vector<std::string> before = items;
            sample_to_front(std::span(items), count, engine);
            std::sort(items.begin(), items.end());
            std::sort(before.begin(), before.end());
            REQUIRE(items == before);
        }
}

TEST_CASE("random: every ordered sample is equally likely") {
    std::uint64_t const seed = straggle_test::seed_or(6);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    for (std::size_t const count : {1u, 2u, 3u, 5u}) {
        std::map<std::vector<int>, double> seen;
        for (int i = 0; i < 100000; ++i) {
            std::vector<int> items{0, 1, 2, 3, 4};
            sample_to_front(std::span(items), count, engine);
            seen[{items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count)}] += 1;
        }
        std::size_t possible = 1;
        for (std::size_t i = 0; i < count; ++i) possible *= 5 - i;
        REQUIRE(seen.size() == possible);
        std::vector<double> counts;
        for (auto const& [sample, n] : seen) counts.push_back(n);
        CHECK(chi_square(counts) < chi_square_limit(static_cast<double>(possible - 1)));
    }
}

TEST_CASE("random: the unit interval, from its first number to its last") {
    words64 lowest({0x7FF}), highest({~std::uint64_t{0}}), half({std::uint64_t{1} << 63});
    CHECK(straggle::base::uniform_unit(lowest) == 0);
    CHECK(straggle::base::uniform_unit(highest) == 1 - 0x1p-53);
    CHECK(straggle::base::uniform_unit(half) == 0.5);
    std::uint64_t const seed = straggle_test::seed_or(7);
    INFO("seed ", seed);
    std::mt19937 engine(static_cast<std::uint32_t>(seed)); // 32 bits at a time
    std::vector<double> counts(64);
    for (int i = 0; i < 100000; ++i)
        counts[static_cast<std::size_t>(64 * straggle::base::uniform_unit(engine))] += 1;
    CHECK(chi_square(counts) < chi_square_limit(63));
}

TEST_CASE("random: sampling allocates nothing and draws once per item") {
    words64 engine({~std::uint64_t{0} - 10});
    std::array<int, 100> items{};
    CHECK(straggle_test::allocations_during([&] { sample_to_front(std::span<int>(items), 30, engine); }) ==
          0);
    CHECK(engine.calls == 30);
}

} // namespace
