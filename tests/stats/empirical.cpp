// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/stats/empirical.hpp>
#include <straggle/stats/order.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <list>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle::status;
using straggle::stats::empirical;
using straggle::stats::empirical_view;
using straggle_test::broken_contract;
using straggle_test::contract_trap;

using limits = std::numeric_limits<double>;
constexpr double nan = limits::quiet_NaN();
constexpr double inf = limits::infinity();
constexpr double most = (limits::max)();

empirical of(std::vector<double> const& samples) {
    empirical e;
    REQUIRE(e.assign(samples) == 0);
    return e;
}

double unit(std::mt19937_64& draw) {
    return static_cast<double>(draw() >> 11) * 0x1p-53;
}

// Few values, many ties: eighths, so that sums and shifts by eighths are exact.
std::vector<double> eighths(std::mt19937_64& draw, std::size_t n, int values) {
    std::vector<double> samples(n);
    for (double& x : samples)
        x = static_cast<double>(draw() % static_cast<unsigned>(values)) / 8 - values / 32.0;
    return samples;
}

// What a view says of the samples it shall have, by going through all of them.
void check_against(empirical_view const& view, std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    std::size_t const n = samples.size();
    REQUIRE(view.size() == n);
    REQUIRE(view.empty() == (n == 0));
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
        REQUIRE(view[k] == samples[k]);
        REQUIRE(view.sum_of_first(k) == sum);
        sum += samples[k];
    }
    REQUIRE(view.sum_of_first(n) == sum);
    if (n == 0) return;
    REQUIRE(*view.lowest() == samples.front());
    REQUIRE(*view.highest() == samples.back());
    // Divided before it is moved, which the clamp to its samples makes exact for one.
    REQUIRE(std::fabs(*view.mean() - sum / static_cast<double>(n)) <= 1e-14);
    std::vector<double> at = samples; // and between, and outside
    for (double const x : samples) at.push_back(x + 1.0 / 16);
    at.insert(at.end(), {samples.front() - 1, -inf, inf});
    for (double const t : at) {
        auto const below = static_cast<std::size_t>(
            std::count_if(samples.begin(), samples.end(), [t](double x) { return x < t; }));
        auto const up_to = static_cast<std::size_t>(
            std::count_if(samples.begin(), samples.end(), [t](double x) { return x <= t; }));
        REQUIRE(view.count_below(t) == below);
        REQUIRE(view.count_up_to(t) == up_to);
        for (std::size_t const known : {std::size_t{0}, below / 2, below})
            REQUIRE(view.count_below(t, known) == below);
        for (std::size_t const known : {std::size_t{0}, up_to / 3, up_to})
            REQUIRE(view.count_up_to(t, known) == up_to);
        REQUIRE(*view.below(t) == static_cast<double>(below) / static_cast<double>(n));
        REQUIRE(*view.up_to(t) == static_cast<double>(up_to) / static_cast<double>(n));
        double const b = t + 0.5;
        auto const inside =
            std::count_if(samples.begin(), samples.end(), [t, b](double x) { return t <= x && x < b; });
        REQUIRE(*view.between(t, b) == static_cast<double>(inside) / static_cast<double>(n));
    }
}

// A constant expression, if its parts are.
constexpr double four[] = {1, 2, 2, 4};
constexpr double four_sums[] = {0, 1, 3, 5, 9};
constexpr empirical_view fixed{four, four_sums};
static_assert(fixed.size() == 4 && !fixed.empty() && fixed[3] == 4 && *fixed.mean() == 2.25);
static_assert(*fixed.below(2) == 0.25 && *fixed.up_to(2) == 0.75 && *fixed.between(2, 4) == 0.5);
static_assert(fixed.count_below(4, 1) == 3 && fixed.moved(1).count_up_to(3, 1) == 3);
static_assert(*fixed.beyond(2).moved(-1).mean() == 3 && *fixed.quantile(0.5) == 2);
static_assert(*fixed.range(0.5) == straggle::stats::interval{1.25, 3.5});
static_assert(empirical_view{}.empty() && !empirical_view{}.mean());
static_assert(sizeof(void*) != 8 || sizeof(empirical_view) == 40);

// A view of what is gone with the semicolon.
template <class T>
concept has_view = requires { std::declval<T>().view(); };
static_assert(has_view<empirical&> && has_view<empirical const&>);
static_assert(!has_view<empirical> && !has_view<empirical const>);

TEST_CASE("empirical: by hand") {
    //! [empirical]
    straggle::stats::empirical times;
    times.assign(std::vector{40.0, 20.0, 30.0, 20.0, 90.0});
    straggle::stats::empirical_view const took = times.view();
    double const in_time = *took.up_to(40);                             // 4 of 5
    double const usually = *took.quantile(0.5);                         // 30
    double const still = *took.beyond(25).moved(-25).mean();            // of 40, 30 and 90: 15, 5 and 65
    double const inside = took.range(0.5)->high - took.range(0.5)->low; // 65 - 20
    //! [empirical]
    CHECK(in_time == 0.8);
    CHECK(usually == 30);
    CHECK(still == doctest::Approx(85.0 / 3).epsilon(1e-15));
    CHECK(inside == 45);
    CHECK(*took.mean() == 40);
    CHECK(*took.mean_of(0, 2) == 20);
    CHECK(*took.mean_of(2, 5) == doctest::Approx(160.0 / 3).epsilon(1e-15));
    CHECK(*took.between(20, 40) == 0.6);
    CHECK(*took.between(40, 20) == 0);
    CHECK(*took.between(20, 20) == 0);
    CHECK(times.size() == 5);
}

TEST_CASE("empirical: as counted, with many ties, also moved and in parts") {
    std::uint64_t const seed = straggle_test::seed_or(51);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 120; ++round) {
        std::vector<double> samples = eighths(draw, draw() % 90, 1 + static_cast<int>(draw() % 60));
        empirical const held = of(samples);
        check_against(held.view(), samples);
        double const by = static_cast<double>(draw() % 100) / 8 - 6;
        double const t = samples.empty() ? 0 : samples[draw() % samples.size()]; // a tie
        std::vector<double> moved = samples, rest = samples;
        for (double& x : moved) x += by;
        check_against(held.view().moved(by), moved);
        check_against(held.view().moved(by - 1).moved(1), moved);
        std::erase_if(rest, [t](double x) { return x <= t; });
        check_against(held.view().beyond(t), rest);
        check_against(held.view().beyond(t - 1).beyond(t), rest);
        check_against(held.view().beyond(t).beyond(t - 1), rest);
        for (double& x : rest) x -= t;
        check_against(held.view().beyond(t).moved(-t), rest);
        check_against(held.view().moved(-t).beyond(0), rest);
        std::shuffle(samples.begin(), samples.end(), draw);
        empirical const again = of(samples);
        for (std::size_t k = 0; k < samples.size(); ++k) {
            REQUIRE(again.view()[k] == held.view()[k]);
            REQUIRE(again.view().sum_of_first(k + 1) == held.view().sum_of_first(k + 1));
        }
    }
}

TEST_CASE("empirical: a moved view agrees with itself to the bit where nothing is exact") {
    std::uint64_t const seed = straggle_test::seed_or(52);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 200; ++round) {
        std::vector<double> samples(1 + draw() % 40);
        for (double& x : samples) x = unit(draw) * 100;
        samples.insert(samples.end(), samples.begin(), samples.begin() + 1); // one tie at least
        empirical const held = of(samples);
        double const t = samples[draw() % samples.size()];
        // Time left: x > t leaves x - t > 0, also in floating point.
        empirical_view const left = held.view().beyond(t).moved(-t);
        if (!left.empty()) REQUIRE(*left.lowest() > 0);
        empirical_view const moved = held.view().moved(unit(draw) * 1e3);
        for (std::size_t k = 0; k < moved.size(); ++k) {
            double const x = moved[k];
            std::size_t below = 0, up_to = 0;
            for (std::size_t i = 0; i < moved.size(); ++i) {
                below += moved[i] < x ? 1U : 0U;
                up_to += moved[i] <= x ? 1U : 0U;
            }
            REQUIRE(moved.count_below(x) == below);
            REQUIRE(moved.count_up_to(x) == up_to);
            REQUIRE(moved.beyond(x).size() == moved.size() - up_to);
            if (up_to < moved.size()) REQUIRE(*moved.beyond(x).lowest() == moved[up_to]);
        }
        // A mean is never outside of what it is the mean of.
        for (std::size_t a = 0; a < moved.size(); ++a) {
            double const mean = *moved.mean_of(a, moved.size());
            REQUIRE((mean >= moved[a] && mean <= *moved.highest()));
            REQUIRE(*moved.mean_of(a, a + 1) == moved[a]);
        }
    }
}

TEST_CASE("empirical: quantiles are those of quantile_in_place, to the bit") {
    std::uint64_t const seed = straggle_test::seed_or(53);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (std::size_t n = 1; n < 200; ++n) {
        std::vector<double> samples(n);
        for (double& x : samples) x = 1e3 / (unit(draw) + 1e-3) - 1e4;
        empirical const held = of(samples);
        for (int i = 0; i < 40; ++i) {
            double const q = i == 0 ? 0.0 : i == 1 ? 1.0 : i < 10 ? i / 10.0 : unit(draw);
            auto const got = held.view().quantile(q);
            REQUIRE(got == straggle::stats::quantile_in_place(samples, q));
            REQUIRE(*held.view().moved(7.5).quantile(q) == *got + 7.5);
        }
    }
}

TEST_CASE("empirical: running sums are rounded once, for tiny and large numbers of samples") {
    std::uint64_t const seed = straggle_test::seed_or(54);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (std::size_t const n : {1u, 2u, 3u, 10u, 1000u, 1000000u}) {
        // Whole numbers below 2^40: their sums are whole and below 2^60, and so known exactly.
        std::vector<double> samples(n);
        for (double& x : samples) x = static_cast<double>(draw() >> (24 + draw() % 40)) * 0x1p-10;
        empirical const held = of(samples);
        std::sort(samples.begin(), samples.end());
        std::uint64_t exact = 0;
        std::size_t wrong = 0;
        for (std::size_t k = 0; k < n; ++k) {
            exact += static_cast<std::uint64_t>(samples[k] * 0x1p10);
            wrong += held.view().sum_of_first(k + 1) != static_cast<double>(exact) * 0x1p-10;
        }
        CHECK(wrong == 0);
        // Numbers of all sizes, against long double; where that is wider, it is off by less than this.
        for (double& x : samples) x = std::exp(20 * unit(draw) - 10) - 1;
        empirical const wide = of(samples);
        std::sort(samples.begin(), samples.end());
        long double sum = 0, size = 0;
        for (std::size_t k = 0; k < n; ++k) {
            sum += static_cast<long double>(samples[k]);
            size += std::fabs(static_cast<long double>(samples[k]));
            long double const off =
                std::fabs(static_cast<long double>(wide.view().sum_of_first(k + 1)) - sum);
            wrong +=
                !(off <= 0x1p-53L * std::fabs(sum) + static_cast<long double>(k + 1) *
                                                         std::numeric_limits<long double>::epsilon() * size);
        }
        CHECK(wrong == 0);
        // A mean of a part: off by 2 units in the last place of the sums, over its count.
        std::size_t const from = n / 3;
        long double part = 0;
        for (std::size_t k = from; k < n; ++k) part += static_cast<long double>(samples[k]);
        long double const count = static_cast<long double>(n - from);
        CHECK(std::fabs(static_cast<long double>(*wide.view().mean_of(from, n)) - part / count) <=
              0x1p-51L * size / count);
    }
}

// How often the range of n draws holds the next one.
template <class Draw>
double coverage_of(std::size_t n, double coverage, int trials, Draw next) {
    std::vector<double> samples(n);
    empirical held;
    int inside = 0;
    for (int i = 0; i < trials; ++i) {
        for (double& x : samples) x = next();
        held.assign(samples);
        auto const range = held.view().range(coverage);
        REQUIRE(range.has_value());
        double const x = next();
        inside += range->low <= x && x <= range->high;
    }
    return static_cast<double>(inside) / trials;
}

TEST_CASE("empirical: a range covers the next value as often as promised") {
    std::uint64_t const seed = straggle_test::seed_or(55);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    constexpr int trials = 40000;
    double const noise = 4 * std::sqrt(0.8 * 0.2 / trials); // four standard errors
    auto const uniform = [&] { return unit(draw); };
    auto const exponential = [&] { return -std::log1p(-unit(draw)); };
    auto const normal = [&] {
        return std::sqrt(2 * exponential()) * std::cos(6.283185307179586 * unit(draw));
    };
    auto const long_tail = [&] { return std::exp(1.5 * normal()); };
    for (std::size_t const n : {9u, 10u, 14u, 19u, 20u, 50u}) {
        INFO("samples ", n);
        // (n + 1) / 10 is whole: exact for all; else more for those that thin out towards the ends.
        double const more = (n + 1) % 10 == 0 ? 0 : 0.02;
        CHECK(std::fabs(coverage_of(n, 0.8, trials, uniform) - 0.8) <= noise);
        for (double const got :
             {coverage_of(n, 0.8, trials, exponential), coverage_of(n, 0.8, trials, normal),
              coverage_of(n, 0.8, trials, long_tail)}) {
            CHECK(got >= 0.8 - noise);
            CHECK(got <= 0.8 + more + noise);
        }
    }
    // What the comment says of quantiles.
    std::vector<double> ten(10);
    empirical held;
    int inside = 0;
    for (int i = 0; i < trials; ++i) {
        for (double& x : ten) x = uniform();
        held.assign(ten);
        double const x = uniform();
        inside += *held.view().quantile(0.1) <= x && x <= *held.view().quantile(0.9);
    }
    CHECK(std::fabs(static_cast<double>(inside) / trials - 7.2 / 11) <= noise * 1.25);
}

TEST_CASE("empirical: a range needs samples on both sides of it") {
    std::vector<double> samples;
    std::vector<std::pair<double, std::size_t>> const least{
        {0.5, 3}, {0.8, 9}, {0.9, 19}, {0.95, 39}, {0.99, 199}};
    for (auto const& row : least) {
        double const coverage = row.first;
        std::size_t const needed = row.second;
        INFO("coverage ", coverage);
        samples.resize(needed - 1);
        std::iota(samples.begin(), samples.end(), 1.0);
        empirical const too_few = of(samples);
        CHECK(too_few.view().range(coverage).reason() == status::insufficient_evidence);
        samples.push_back(static_cast<double>(needed));
        empirical const enough = of(samples);
        CHECK(*enough.view().range(coverage) == straggle::stats::interval{1, static_cast<double>(needed)});
        CHECK(*enough.view().moved(5).range(coverage) ==
              straggle::stats::interval{6, static_cast<double>(needed + 5)});
    }
    // It shrinks to the middle.
    empirical const five = of({1, 2, 3, 4, 100});
    CHECK(*five.view().range(1.0 / 3) == straggle::stats::interval{2, 4});
    CHECK(five.view().range(1e-300)->is_point());
    for (double const bad : {0.0, 1.0, -0.5, 1.5, nan, inf})
        CHECK(five.view().range(bad).reason() == status::out_of_domain);
}

TEST_CASE("empirical: nothing of nothing") {
    empirical none;
    CHECK(none.assign(std::vector<double>{}) == 0);
    empirical never;
    for (empirical_view const& view :
         {empirical_view{}, never.view(), none.view(), none.view().moved(3), none.view().beyond(1),
          fixed.beyond(4), fixed.beyond(inf), fixed.beyond(nan)}) {
        CHECK(view.empty());
        CHECK(view.size() == 0);
        CHECK(view.sum_of_first(0) == 0);
        CHECK(view.count_below(1) == 0);
        CHECK(view.count_up_to(1, 0) == 0);
        CHECK(view.beyond(0).empty());
        for (auto const& got : {view.lowest(), view.highest(), view.mean(), view.mean_of(0, 0),
                                view.quantile(0.5), view.below(1), view.up_to(1), view.between(0, 1)})
            CHECK(got.reason() == status::insufficient_evidence);
        CHECK(view.range(0.1).reason() == status::insufficient_evidence);
    }
    CHECK(fixed.mean_of(2, 2).reason() == status::insufficient_evidence);
    CHECK(fixed.mean_of(3, 2).reason() == status::insufficient_evidence);
    CHECK(fixed.mean_of(0, 5).reason() == status::insufficient_evidence);
}

TEST_CASE("empirical: asked for NaN, says so") {
    for (double const bad : {nan, -nan}) {
        CHECK(fixed.below(bad).reason() == status::out_of_domain);
        CHECK(fixed.up_to(bad).reason() == status::out_of_domain);
        CHECK(fixed.between(bad, 1).reason() == status::out_of_domain);
        CHECK(fixed.between(1, bad).reason() == status::out_of_domain);
        CHECK(fixed.quantile(bad).reason() == status::out_of_domain);
        CHECK(fixed.count_below(bad) == 0);
        CHECK(fixed.count_up_to(bad) == 0);
    }
    CHECK(fixed.quantile(-0.01).reason() == status::out_of_domain);
    CHECK(fixed.quantile(1.01).reason() == status::out_of_domain);
    CHECK(*fixed.below(inf) == 1);
    CHECK(*fixed.up_to(-inf) == 0);
    CHECK(*fixed.between(-inf, inf) == 1);
}

TEST_CASE("empirical: what is no finite number is left out and counted") {
    empirical held;
    CHECK(held.assign(std::vector<double>{3, nan, 1, inf, -inf, 2, -nan}) == 4);
    check_against(held.view(), {1, 2, 3});
    CHECK(held.assign(std::vector<double>{nan, inf}) == 2);
    CHECK(held.size() == 0);
}

// Numbers that can be read once, and of which nobody knows how many; breaks off at one of them.
struct countdown {
    int from;
    int breaks_at = 0;

    struct iterator {
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        int left = 0, breaks_at = 0;
        int operator*() const {
            if (left == breaks_at) throw std::string("no more");
            return left;
        }
        iterator& operator++() {
            --left;
            return *this;
        }
        void operator++(int) { --left; }
        bool operator==(std::default_sentinel_t) const { return left == 0; }
    };
    [[nodiscard]] iterator begin() const { return {from, breaks_at}; }
    [[nodiscard]] std::default_sentinel_t end() const { return {}; }
};

TEST_CASE("empirical: any range of numbers") {
    empirical held;
    held.assign(std::list<int>{3, 1, 2});
    check_against(held.view(), {1, 2, 3});
    held.assign(std::vector<float>{0.5f, 0.25f});
    check_against(held.view(), {0.25, 0.5});
    held.assign(std::span<double const>(four));
    check_against(held.view(), {1, 2, 2, 4});
    held.assign(countdown{5});
    check_against(held.view(), {1, 2, 3, 4, 5});
    empirical const copy = held;
    held.clear();
    CHECK(held.size() == 0);
    check_against(copy.view(), {1, 2, 3, 4, 5});
}

TEST_CASE("empirical: a range that breaks off leaves no samples") {
    empirical held = of({1, 2, 3});
    CHECK_THROWS_AS(held.assign(countdown{5, 2}), std::string);
    CHECK(held.size() == 0);
    CHECK(held.view().mean().reason() == status::insufficient_evidence);
    held.assign(std::vector{7.0});
    check_against(held.view(), {7});
}

TEST_CASE("empirical: equal samples, one and a million") {
    for (std::size_t const n : {1u, 2u, 9u, 1000000u})
        for (double const x : {0.0, -2.5, 0.1, 1e300}) {
            empirical const held = of(std::vector<double>(n, x));
            empirical_view const view = held.view();
            REQUIRE(*view.mean() == x);
            REQUIRE(*view.mean_of(n / 2, n) == x);
            REQUIRE(*view.quantile(0.3) == x);
            REQUIRE(view.count_below(x) == 0);
            REQUIRE(view.count_up_to(x) == n);
            REQUIRE(view.count_up_to(x, n / 2) == n);
            REQUIRE(view.beyond(x).empty());
            REQUIRE(view.beyond(std::nextafter(x, -inf)).size() == n);
            if (n >= 9) REQUIRE(*view.range(0.8) == straggle::stats::interval{x, x});
        }
}

TEST_CASE("empirical: finite, or said to be too large") {
    empirical const ends = of({-most, most, most});
    CHECK(*ends.view().quantile(0.25) == 0);
    CHECK(*ends.view().mean_of(0, 1) == -most);
    CHECK(ends.view().mean().value_or(0) <= most);
    empirical const large = of({1, most, most});
    CHECK(large.view().mean().reason() == status::out_of_range);
    CHECK(*large.view().mean_of(0, 2) == doctest::Approx(most / 2));
    CHECK(*large.view().below(most) == doctest::Approx(1.0 / 3));
    CHECK(*large.view().highest() == most);
    empirical_view const further = large.view().moved(most / 2);
    CHECK(*further.lowest() == most / 2);
    CHECK(further.highest().reason() == status::out_of_range);
    CHECK(further.quantile(0.9).reason() == status::out_of_range);
    CHECK(further.range(0.5).reason() == status::out_of_range);
    CHECK(further.mean_of(1, 2).reason() == status::out_of_range);
    CHECK(further.moved(most).lowest().reason() == status::out_of_range);
    CHECK(*further.below(most) == doctest::Approx(1.0 / 3));
    empirical const least = of({limits::denorm_min(), 3 * limits::denorm_min()});
    CHECK(*least.view().mean() == 2 * limits::denorm_min());
}

TEST_CASE("empirical: contracts") {
    contract_trap const trap;
    CHECK_THROWS_AS((void)fixed[4], broken_contract);
    CHECK_THROWS_AS((void)fixed.sum_of_first(5), broken_contract);
    CHECK_THROWS_AS((void)fixed.count_below(1, 5), broken_contract);
    CHECK_THROWS_AS((void)fixed.count_up_to(1, 5), broken_contract);
    for (double const bad : {nan, inf, -inf}) CHECK_THROWS_AS((void)fixed.moved(bad), broken_contract);
    CHECK_THROWS_AS(empirical_view(std::span<double const>(four), std::span<double const>(four)),
                    broken_contract);
}

TEST_CASE("empirical: assigning as many samples again, and looking them up, allocates nothing") {
    std::mt19937_64 draw(1);
    std::vector<double> samples(1000);
    for (double& x : samples) x = unit(draw);
    empirical held = of(samples);
    double seen = 0;
    CHECK(straggle_test::allocations_during([&] {
              held.clear();
              held.assign(samples);
              empirical_view const view = held.view();
              seen = *view.mean() + *view.quantile(0.2) + view.range(0.8)->low + *view.below(0.5) +
                     *view.between(0.2, 0.4) + *view.beyond(0.3).moved(-0.3).mean() +
                     static_cast<double>(view.count_up_to(0.5, 3));
          }) == 0);
    CHECK(seen > 0);
    CHECK(straggle_test::allocations_during([&] { empirical().assign(samples); }) == 2);
}

} // namespace
