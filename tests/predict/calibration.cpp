// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/calibration.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <vector>

using namespace straggle;

namespace {

using limits = std::numeric_limits<double>;
constexpr double no_number = limits::quiet_NaN();
constexpr double inf = limits::infinity();

// Lives to the end of the expression, and so does its view.
class of {
  public:
    explicit of(std::vector<double> const& samples) { all_.assign(samples); }
    [[nodiscard]] stats::empirical_view view() const { return all_.view(); }

  private:
    stats::empirical all_;
};

// Uniform in (0, 1), the same with every standard library.
double uniform(std::mt19937_64& engine) {
    return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53;
}
double exponential(std::mt19937_64& engine) {
    return -std::log(uniform(engine));
}
double lognormal(std::mt19937_64& engine) {
    double const radius = std::sqrt(-2 * std::log(uniform(engine)));
    return std::exp(0.5 * radius * std::cos(6.283185307179586 * uniform(engine)));
}

double share(std::uint64_t part, std::uint64_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
}

} // namespace

TEST_CASE("calibration: at first the range is that of the samples") {
    std::mt19937_64 engine(1);
    for (std::size_t n : {10u, 11u, 19u, 100u, 1001u}) {
        std::vector<double> samples(n);
        for (double& x : samples) x = lognormal(engine);
        of const e(samples);
        for (double const coverage : {0.5, 0.8}) {
            predict::calibration const fair(coverage);
            auto const r = fair.range(e.view());
            auto const plain = e.view().range(coverage);
            REQUIRE(r.has_value());
            REQUIRE(plain.has_value());
            // exp and log of the level cost a few units in the last place of a position among the samples
            CHECK(r->low == doctest::Approx(plain->low).epsilon(1e-12));
            CHECK(r->high == doctest::Approx(plain->high).epsilon(1e-12));
            CHECK(fair.level() == doctest::Approx(coverage).epsilon(1e-14));
        }
    }
}

TEST_CASE("calibration: where the samples end the range is stretched, by hand") {
    // 80 %: log-odds log 9 on each side. One sample is at 1/2, log-odds 0; three reach to 3/4, log 3.
    predict::calibration const fair(0.8);
    auto const one = fair.range(of({50}).view());
    REQUIRE(one.has_value());
    CHECK(one->low == doctest::Approx(50 * std::pow(9.0, -0.1)).epsilon(1e-14));
    CHECK(one->high == doctest::Approx(50 * std::pow(9.0, 0.1)).epsilon(1e-14));
    auto const three = predict::calibration(0.8, {.stretch = 0.5}).range(of({20, 10, 40}).view());
    REQUIRE(three.has_value());
    CHECK(three->low == doctest::Approx(10 / std::sqrt(3.0)).epsilon(1e-14));
    CHECK(three->high == doctest::Approx(40 * std::sqrt(3.0)).epsilon(1e-14));
    // Nine samples are the range.
    auto const nine = fair.range(of({9, 8, 7, 6, 5, 4, 3, 2, 1}).view());
    CHECK(nine->low == doctest::Approx(1).epsilon(1e-12));
    CHECK(nine->high == doctest::Approx(9).epsilon(1e-12));
    CHECK(fair.range({}).reason() == status::insufficient_evidence);
    CHECK(fair.range(of({-1, 2}).view()).reason() == status::out_of_domain);
    CHECK(fair.range(of({1, 2}).view().moved(-1.5)).reason() == status::out_of_domain);
    auto const zeros = fair.range(of({0, 0, 0}).view());
    CHECK(zeros->low == 0);
    CHECK(zeros->high == 0);
    auto const huge = fair.range(of({limits::max()}).view());
    CHECK(huge->high == limits::max());
}

TEST_CASE("calibration: a miss moves its end by step (1 - miss), the other ends move by step miss") {
    predict::calibration fair(0.8); // 10 % on each side
    of const e({10, 20});
    double const begin = std::log(9.0);
    auto r = *fair.range(e.view());
    CHECK(r.above == doctest::Approx(begin).epsilon(1e-15));
    CHECK(r.below == r.above);
    fair.record(r, 1000);
    r = *fair.range(e.view());
    CHECK(r.above == doctest::Approx(begin + 0.09).epsilon(1e-15));
    CHECK(r.below == doctest::Approx(begin - 0.01).epsilon(1e-15));
    fair.record(r, 0);
    fair.record(*fair.range(e.view()), 15);
    r = *fair.range(e.view());
    CHECK(r.above == doctest::Approx(begin + 0.09 - 0.02).epsilon(1e-15));
    CHECK(r.below == doctest::Approx(begin - 0.01 + 0.09 - 0.01).epsilon(1e-15));
    CHECK(fair.recorded() == 3);
    CHECK(fair.too_long() == 1);
    CHECK(fair.too_short() == 1);
    CHECK(*fair.coverage() == doctest::Approx(1.0 / 3));
    double const odds = std::exp(r.above), odds2 = std::exp(r.below);
    CHECK(fair.level() == doctest::Approx(odds / (1 + odds) + odds2 / (1 + odds2) - 1));
}

TEST_CASE("calibration: exchangeable times are held as often as asked, and nothing is added") {
    std::uint64_t const seed = straggle_test::seed_or(20'250'302);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    using draw = double (*)(std::mt19937_64&);
    for (draw const next : {draw(&exponential), draw(&lognormal), draw(&uniform)})
        for (double const asked : {0.5, 0.8, 0.9})
            for (std::size_t const samples : {19u, 100u}) {
                CAPTURE(asked);
                CAPTURE(samples);
                predict::calibration fair(asked), fixed(asked, {.step = 0});
                std::deque<double> window;
                double width = 0, plain = 0;
                for (int i = 0; i < 20'000; ++i) {
                    double const truth = next(engine);
                    if (window.size() == samples) {
                        of const e({window.begin(), window.end()});
                        auto const r = *fair.range(e.view());
                        auto const f = *fixed.range(e.view());
                        width += r.high - r.low;
                        plain += f.high - f.low;
                        fair.record(r, truth);
                        fixed.record(f, truth);
                        window.pop_front();
                    }
                    window.push_back(truth);
                }
                // Five deviations of a share in 20 000, sqrt(0.25 / 20 000) = 0.0035, for the plain one; what
                // adapts may be off by the movement of its levels, say 3 of 0.1 x 20 000 on each side.
                CHECK(std::fabs(*fixed.coverage() - asked) < 0.018);
                CHECK(std::fabs(*fair.coverage() - asked) < 0.003);
                // Its levels are never at rest: that costs a little.
                CHECK(width < 1.04 * plain);
                CHECK(width > 0.96 * plain);
            }
}

TEST_CASE("calibration: the promise holds whatever the tasks do") {
    std::uint64_t const seed = straggle_test::seed_or(20'250'303);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    int exact = 0;
    double sum_off = 0, sum_fixed_off = 0;
    for (int story = 0; story < 60; ++story) {
        CAPTURE(story);
        double const asked = 0.5 + 0.45 * uniform(engine);
        double const miss = (1 - asked) / 2, begin = std::log((1 + asked) / (1 - asked));
        predict::calibration fair(asked), fixed(asked, {.step = 0});
        std::deque<double> known;
        double scale = 1, least_above = inf, least_below = inf;
        std::size_t const neighbors = 1 + engine() % 20;
        int const kind = story % 4;
        for (int i = 0; i < 3000; ++i) {
            if (kind == 0 && i % 500 == 0) scale = std::exp(2 * uniform(engine)); // a new job
            if (kind == 1) scale = 1 + i % 40;                                    // a wave, shortest first
            if (kind == 2) scale = std::exp(std::sin(i / 30.0));
            double truth = scale * lognormal(engine);
            if (kind == 3 && !known.empty()) { // an enemy who knows the range
                auto const r = *fair.range(of({known.begin(), known.end()}).view());
                truth = engine() % 2 == 0 ? 1.001 * r.high : 0.999 * r.low;
                if (!(truth > 1e-3 && truth < 1e3)) truth = 1;
            }
            if (!known.empty()) {
                auto const r = *fair.range(of({known.begin(), known.end()}).view());
                least_above = (std::min)(least_above, r.above);
                least_below = (std::min)(least_below, r.below);
                fair.record(r, truth);
                fixed.record(*fixed.range(of({known.begin(), known.end()}).view()), truth);
            }
            if (known.size() == neighbors) known.pop_front();
            known.push_back(truth);
        }
        auto const last = *fair.range(of({1}).view());
        double const n = static_cast<double>(fair.recorded());
        double const most_long = miss + (last.above - begin) / (0.1 * n);
        double const most_short = miss + (last.below - begin) / (0.1 * n);
        CHECK(share(fair.too_long(), fair.recorded()) <= most_long + 1e-9);
        CHECK(share(fair.too_short(), fair.recorded()) <= most_short + 1e-9);
        // Exactly so many as long as no end came to the median.
        if (least_above > 0) CHECK(share(fair.too_long(), fair.recorded()) == doctest::Approx(most_long));
        if (least_below > 0) CHECK(share(fair.too_short(), fair.recorded()) == doctest::Approx(most_short));
        if (kind == 3) continue;
        // 20 samples at most, no truth more than 1000 times the largest: as documented.
        double const furthest = std::log(20.0) + std::log(1000.0) / 0.1 + 0.1;
        CHECK(last.above < furthest);
        CHECK(last.below < furthest);
        sum_off += std::fabs(*fair.coverage() - asked);
        sum_fixed_off += std::fabs(*fixed.coverage() - asked);
        exact += (least_above > 0 ? 1 : 0) + (least_below > 0 ? 1 : 0);
    }
    CHECK(exact > 30);
    CHECK(sum_off < 0.4 * sum_fixed_off); // what adapting is for
}

TEST_CASE("calibration: equal times are always in the range, and that is soon forgotten") {
    predict::calibration fair(0.8);
    of const e({4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
    for (int i = 0; i < 100'000; ++i) {
        auto const r = *fair.range(e.view());
        CHECK_FALSE((r.low != 4 || r.high != 4));
        fair.record(r, 4);
    }
    CHECK(*fair.coverage() == 1);
    CHECK(fair.level() == 0);
    // Now they differ again: from the median, log-odds 0, to log 9 in 25 misses.
    of const spread({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    int misses = 0;
    for (; fair.range(spread.view())->high < 9.9; ++misses) fair.record(*fair.range(spread.view()), 10.95);
    CHECK(misses <= 25);
}

TEST_CASE("calibration: what cannot be reached does not count for ever") {
    predict::calibration fair(0.8);
    of const zeros({0, 0, 0, 0});
    for (int i = 0; i < 10'000; ++i) fair.record(*fair.range(zeros.view()), 5);
    CHECK(*fair.coverage() == 0);
    auto const r = *fair.range(of({10}).view());
    CHECK(r.above == 100);
    CHECK(r.high == doctest::Approx(10 * std::exp(10.0)));
    int hits = 0;
    for (; fair.range(of({10}).view())->high > 20; ++hits) fair.record(*fair.range(of({10}).view()), 10);
    CHECK(hits < 10'000); // 93 log-odds at 0.01 each
}

TEST_CASE("calibration: late answers do not add up") {
    // Nothing but tasks three times as long as all before, told of only after 500 were asked about.
    of const e({8, 9, 10, 11, 12, 10, 9, 11, 10, 10});
    predict::calibration fair(0.8);
    predict::predicted_range widest{};
    for (int burst = 0; burst < 20; ++burst) {
        std::vector<predict::predicted_range> asked;
        for (int i = 0; i < 500; ++i) asked.push_back(*fair.range(e.view()));
        widest.high = (std::max)(widest.high, asked.front().high);
        for (auto const& r : asked) fair.record(r, 30);
    }
    // Enough to hold 30, and no more: a step beyond it at most.
    CHECK(fair.range(e.view())->high == doctest::Approx(30).epsilon(0.02));
    CHECK(widest.high < 30 * 1.02);
    // The count is of the ranges as they were given.
    CHECK(fair.too_long() >= 500);
    CHECK(fair.too_long() <= 20 * 500);
}

TEST_CASE("calibration: bad input is refused and not counted") {
    predict::calibration fair(0.8);
    auto const good = *fair.range(of({1, 2, 3}).view());
    for (double const time : {no_number, inf, -inf, -1.0})
        CHECK(fair.record(good, time) == status::out_of_domain);
    for (double const bad : {no_number, inf, -1.0}) {
        auto r = good;
        r.low = bad;
        CHECK(fair.record(r, 1) == status::out_of_domain);
        r = good;
        r.high = bad;
        CHECK(fair.record(r, 1) == status::out_of_domain);
        r = good;
        r.above = bad;
        CHECK(fair.record(r, 1) == status::out_of_domain);
        r = good;
        r.below = bad;
        CHECK(fair.record(r, 1) == status::out_of_domain);
    }
    CHECK(fair.recorded() == 0);
    CHECK(*fair.range(of({1, 2, 3}).view()) == good);
    CHECK(fair.coverage().reason() == status::insufficient_evidence);
    CHECK(fair.coverage_interval().reason() == status::insufficient_evidence);
    CHECK(fair.record(good, 0) == status::ok);
    CHECK(good.holds(good.low));
    CHECK(good.holds(good.high));
    CHECK(!good.holds(no_number));
    CHECK(!good.holds(good.high * 1.01));
}

TEST_CASE("calibration: how well the coverage is known") {
    // The formula by hand, with z from Python's statistics.NormalDist.
    auto const interval_of = [](int hits, int n, stats::confidence_level level) {
        predict::calibration fair(0.8, {.step = 0});
        for (int i = 0; i < n; ++i) fair.record({1, 2, 0, 0}, i < hits ? 1.5 : 3);
        CHECK(*fair.coverage() == doctest::Approx(static_cast<double>(hits) / n));
        return *fair.coverage_interval(level);
    };
    auto const check = [](stats::interval const& i, double low, double high) {
        CHECK(i.low == doctest::Approx(low).epsilon(1e-12));
        CHECK(i.high == doctest::Approx(high).epsilon(1e-12));
    };
    check(interval_of(8, 10, 0.95), 0.490162471536642, 0.943317848545625);
    check(interval_of(0, 5, 0.95), 0, 0.434482464783175);
    check(interval_of(5, 5, 0.95), 0.565517535216825, 1);
    check(interval_of(812, 1000, 0.99), 0.778156612230858, 0.841730500869416);
}

TEST_CASE("calibration: two halves of a fleet are put together") {
    std::mt19937_64 engine(7);
    predict::calibration all(0.8), a(0.8), b(0.8);
    of const e({5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    for (int i = 0; i < 300; ++i) a.record(*a.range(e.view()), 20 * uniform(engine));
    for (int i = 0; i < 100; ++i) b.record(*b.range(e.view()), 30 * uniform(engine));
    auto const ra = *a.range(e.view()), rb = *b.range(e.view());
    all.merge(a);
    CHECK(*all.range(e.view()) == ra);
    all.merge(b);
    CHECK(all.recorded() == 400);
    CHECK(all.too_long() == a.too_long() + b.too_long());
    CHECK(all.too_short() == a.too_short() + b.too_short());
    auto const r = *all.range(e.view());
    CHECK(r.above == doctest::Approx(0.75 * ra.above + 0.25 * rb.above));
    CHECK(r.below == doctest::Approx(0.75 * ra.below + 0.25 * rb.below));
    predict::calibration const nothing(0.8);
    all.merge(nothing);
    CHECK(*all.range(e.view()) == r);
    predict::calibration other(0.8);
    other.merge(nothing);
    CHECK(other.recorded() == 0);
    all.clear();
    CHECK(all.recorded() == 0);
    CHECK(*all.range(e.view()) == *nothing.range(e.view()));
}

TEST_CASE("calibration: stored and read again, and nothing else") {
    predict::calibration fair(0.8);
    for (int i = 0; i < 50; ++i) fair.record(*fair.range(of({1, 2}).view()), i % 5);
    byte_writer out;
    fair.write(out);
    std::vector<std::byte> const good(out.payload().begin(), out.payload().end());
    auto const load = [&](std::span<std::byte const> bytes) {
        predict::calibration read(0.8);
        byte_reader in(bytes);
        status const s = read.restore(in);
        if (s != status::ok) {
            CHECK(read.recorded() == 0);
            CHECK(read.level() == predict::calibration(0.8).level());
        } else {
            CHECK(read.recorded() >= read.too_long() + read.too_short());
            CHECK(read.range(of({1, 2}).view()).has_value());
        }
        return s;
    };
    CHECK(load(good) == status::ok);
    predict::calibration read(0.8);
    byte_reader in(good);
    REQUIRE(read.restore(in) == status::ok);
    CHECK(read.recorded() == 50);
    CHECK(*read.range(of({1, 2}).view()) == *fair.range(of({1, 2}).view()));
    for (std::size_t n = 0; n < good.size(); ++n) CHECK(load(std::span(good).first(n)) == status::truncated);
    std::mt19937_64 engine(3);
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::byte> bad = good;
        bad[engine() % bad.size()] = static_cast<std::byte>(engine());
        load(bad);
    }
}

TEST_CASE("calibration: small, and allocates nothing") {
    static_assert(sizeof(predict::calibration) == 64, "as documented");
    predict::calibration fair(0.8);
    of const e({5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    CHECK(straggle_test::allocations_during([&] {
              for (int i = 0; i < 100; ++i) fair.record(*fair.range(e.view()), i);
              (void)fair.coverage_interval();
          }) == 0);
}
