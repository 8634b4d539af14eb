// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/performance.hpp>

#include <support/golden.hpp>
#include <support/literal_dsb.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace straggle;

namespace {

rank::score_moments moments_of(std::vector<double> const& scores) {
    rank::score_moments m;
    for (double z : scores) m.add(z);
    return m;
}

std::vector<double> random_scores(std::mt19937_64& engine, std::size_t n, double center = 0) {
    std::normal_distribution<double> draw(center, 1.0);
    std::vector<double> scores(n);
    for (double& z : scores) z = draw(engine);
    return scores;
}

constexpr double grid = 0x1p-44;

} // namespace

TEST_CASE("score_moments equal a long double's") {
    std::mt19937_64 engine(1);
    for (double const center : {0.0, 3.0, -200.0, 100'000.0}) {
        for (std::size_t n : {1u, 2u, 10u, 5000u}) {
            auto const scores = random_scores(engine, n, center);
            long double mean = 0, squares = 0;
            for (double z : scores) mean += static_cast<long double>(z);
            mean /= static_cast<long double>(n);
            for (double z : scores) squares += std::pow(static_cast<long double>(z) - mean, 2);
            rank::score_moments const m = moments_of(scores);
            CHECK(m.count() == n);
            // A score is kept to half a grid step, and so is their mean.
            CHECK(std::fabs(m.mean() - static_cast<double>(mean)) <=
                  0.5 * grid + 4e-16 * std::fabs(static_cast<double>(mean)));
            double const sum = static_cast<double>(squares);
            CHECK(std::fabs(m.sum_of_squared_deviations() - sum) <=
                  2 * grid * std::sqrt(sum * static_cast<double>(n)) + 1e-15 * sum + grid * grid);
        }
    }
}

TEST_CASE("a group of durations is scored as exact fractions score it") {
    for (auto const& row : straggle_test::golden_table("score_groups.csv")) {
        INFO("n ", row.text(0), " on node ", row.text(1), " seed ", row.text(2), " offset ", row.text(3));
        straggle_test::golden_sequence next(row.integer<std::uint64_t>(2));
        stats::tick_moments job, own;
        for (std::int64_t i = 0; i < row.integer(0); ++i) {
            std::int64_t const x = row.integer(3) + static_cast<std::int64_t>(next() >> row.integer(4));
            job.add(x);
            if (i < row.integer(1)) own.add(x);
        }
        auto const scale = rank::z_score{}.fit(job);
        REQUIRE(scale);
        rank::score_moments m;
        m.add_group(own, *scale);
        REQUIRE(m.count() == row.integer<std::uint64_t>(1));
        // The mean is kept to half a grid step, after a score that is within a few ULP.
        CHECK(std::fabs((m.mean() - row.real(5)) - row.real(6)) <=
              0.5 * grid + 1e-15 * std::fabs(row.real(5)));
        // Deviations: two roundings and a factor squared that has three; one step of their own grid is lost.
        CHECK(std::fabs((m.sum_of_squared_deviations() - row.real(7)) - row.real(8)) <=
              2e-15 * row.real(7) + grid * grid);
        if (row.real(7) == 0) CHECK(m.sum_of_squared_deviations() == 0);

        // One by one it is the same but for the rounding of each score to the grid.
        rank::score_moments one_by_one;
        straggle_test::golden_sequence again(row.integer<std::uint64_t>(2));
        for (std::int64_t i = 0; i < row.integer(1); ++i)
            one_by_one.add((*scale)(row.integer(3) + static_cast<std::int64_t>(again() >> row.integer(4))));
        CHECK(std::fabs(m.mean() - one_by_one.mean()) <= grid);
        CHECK(m.sum_of_squared_deviations() ==
              doctest::Approx(one_by_one.sum_of_squared_deviations()).epsilon(1e-12));
        if (row.integer(1) == 1) CHECK(m == one_by_one); // bits
    }
}

TEST_CASE("groups may be of any size, and of equal durations") {
    rank::affine_scale<std::int64_t> const scale{1000, 0.5, 0.125};
    stats::tick_moments equal;
    equal.add_group(1007, 1'000'000, {});
    rank::score_moments m;
    m.add_group(equal, scale);
    CHECK(m.count() == 1'000'000);
    CHECK(m.mean() == 6.5 / 8);
    CHECK(m.sum_of_squared_deviations() == 0.0);
    rank::score_moments single;
    single.add(6.5 / 8);
    single.merge(m);
    CHECK(single.sum_of_squared_deviations() == 0.0);
    // Scores of sqrt(n) and more: one attempt among 2^40 equal ones; and beyond the bound.
    stats::tick_moments crowd, outlier;
    crowd.add_group(0, std::uint64_t{1} << 40, {});
    outlier.add(INT64_MAX);
    crowd.merge(outlier);
    auto const fitted = rank::z_score{}.fit(crowd);
    REQUIRE(fitted);
    rank::score_moments far_out, both;
    far_out.add_group(outlier, *fitted);
    CHECK(far_out.mean() == 262144.0);
    both.add_group(crowd, *fitted); // all of the job on one node: mean 0, deviation 1
    CHECK(std::fabs(both.mean()) <= grid);
    CHECK(both.sum_of_squared_deviations() == doctest::Approx(0x1p40).epsilon(1e-12));
    // Deviations of every size: each double lands where it should on the grid of squares.
    for (int exponent = 0; exponent <= 61; ++exponent) {
        stats::tick_moments two;
        two.add(0);
        two.add(std::int64_t{1} << exponent);
        for (double const factor : {1.0, 0x1p-20, 0x1p-44}) {
            rank::score_moments s;
            s.add_group(two, rank::affine_scale<std::int64_t>{0, 0.0, factor});
            double const exact = std::ldexp(factor * factor, 2 * exponent - 1);
            double const kept = exact < grid * grid ? 0.0 : exact > 0x1p100 ? 0x1p100 : exact;
            CHECK(s.sum_of_squared_deviations() == kept);
        }
    }
}

TEST_CASE("score_moments are the same bits in every order and every split") {
    std::mt19937_64 engine(2);
    auto scores = random_scores(engine, 1000);
    rank::score_moments const reference = moments_of(scores);
    for (int trial = 0; trial < 20; ++trial) {
        std::shuffle(scores.begin(), scores.end(), engine);
        CHECK(moments_of(scores) == reference);
        std::vector<rank::score_moments> parts(1 + engine() % 7);
        for (double z : scores) parts[engine() % parts.size()].add(z);
        rank::score_moments all;
        for (rank::score_moments const& p : parts) all.merge(p);
        CHECK(all == reference);
        CHECK(all.mean() == reference.mean());
        CHECK(all.sum_of_squared_deviations() == reference.sum_of_squared_deviations());
        // Taking a part out leaves exactly what the others make.
        rank::score_moments others;
        for (std::size_t p = 1; p < parts.size(); ++p) others.merge(parts[p]);
        all.unmerge(parts[0]);
        CHECK(all == others);
    }
}

TEST_CASE("scores that differ by rounding noise have spread 0") {
    rank::score_moments const m = moments_of({1.0, std::nextafter(1.0, 2.0), std::nextafter(1.0, 0.0), 1.0});
    CHECK(m.sum_of_squared_deviations() == 0.0);
    CHECK(m.mean() == 1.0);
    CHECK(moments_of({1.0, 1.0 + 2 * grid}).sum_of_squared_deviations() > 0.0);
}

TEST_CASE("scores beyond 2^18 count as that") {
    double const bound = 262144;
    CHECK(moments_of({1e300}).mean() == bound);
    CHECK(moments_of({-1e300}).mean() == -bound);
    CHECK(moments_of({std::nextafter(bound, 1e6)}) == moments_of({bound}));
    CHECK(moments_of({bound - 1}).mean() == bound - 1);
    rank::score_moments const both = moments_of({1e9, -1e9});
    CHECK(both.mean() == 0.0);
    CHECK(both.sum_of_squared_deviations() == 2 * bound * bound);
}

TEST_CASE("performance_of is algorithm 2 with the population's deviation") {
    std::mt19937_64 engine(3);
    for (std::size_t n : {2u, 3u, 5u, 30u, 64u, 65u, 66u, 500u}) {
        auto const scores = random_scores(engine, n, 0.4);
        std::vector<straggle_test::literal_value> psi;
        for (double z : scores) psi.push_back({"M1", z});
        psi.push_back({"M2", 1e9});
        auto const expected =
            straggle_test::machine_execution_performance("M1", psi, straggle_test::literal_t_quantile);
        REQUIRE(expected);
        auto const p =
            performance_of(moments_of(scores), stats::t_interval(0.95, stats::deviation_kind::population));
        REQUIRE(p);
        CHECK(p->n == n);
        CHECK(p->mean == doctest::Approx(expected->AvgNValue).epsilon(1e-13));
        CHECK(p->sd == doctest::Approx(expected->StDevNValue).epsilon(1e-13));
        CHECK(p->ci.low == doctest::Approx(expected->Low).epsilon(1e-12));
        CHECK(p->ci.high == doctest::Approx(expected->High).epsilon(1e-12));
    }
}

TEST_CASE("the default deviation is the sample's: wider by sqrt(n / (n - 1))") {
    std::mt19937_64 engine(4);
    for (std::size_t n : {2u, 3u, 10u, 1000u}) {
        rank::score_moments const m = moments_of(random_scores(engine, n));
        auto const sample = performance_of(m);
        auto const population = performance_of(m, stats::t_interval(0.95, stats::deviation_kind::population));
        REQUIRE(sample);
        REQUIRE(population);
        double const wider = std::sqrt(static_cast<double>(n) / static_cast<double>(n - 1));
        CHECK(sample->sd == doctest::Approx(population->sd * wider).epsilon(1e-15));
        CHECK(sample->ci.high - sample->ci.low ==
              doctest::Approx((population->ci.high - population->ci.low) * wider).epsilon(1e-14));
        CHECK(sample->mean == population->mean);
    }
    // At n = 2 the paper's is 29 % too short.
    CHECK(1 - std::sqrt(0.5) == doctest::Approx(0.29).epsilon(0.01));
}

TEST_CASE("one score or none is no interval, not an infinite one") {
    CHECK(performance_of(rank::score_moments{}).reason() == status::insufficient_evidence);
    CHECK(performance_of(moments_of({1.5})).reason() == status::insufficient_evidence);
    stats::t_interval const paper(0.95, stats::deviation_kind::population);
    CHECK(performance_of(rank::score_moments{}, paper).reason() == status::insufficient_evidence);
    CHECK(performance_of(moments_of({1.5}), paper).reason() == status::insufficient_evidence);
    CHECK(performance_of(moments_of({1.5, 1.5})));
}

TEST_CASE("equal scores give an interval that is a point") {
    for (auto kind : {stats::deviation_kind::sample, stats::deviation_kind::population}) {
        auto const p = performance_of(moments_of({-0.7, -0.7, -0.7}), stats::t_interval(0.95, kind));
        REQUIRE(p);
        CHECK(p->sd == 0.0);
        CHECK(p->ci.is_point());
        CHECK(p->ci.low == p->mean);
        CHECK(p->mean == doctest::Approx(-0.7).epsilon(1e-13));
    }
}

TEST_CASE("the level widens the interval") {
    rank::score_moments const m = moments_of({-1, 0, 1, 2});
    auto const narrow = performance_of(m, stats::t_interval(0.5)),
               wide = performance_of(m, stats::t_interval(0.999));
    REQUIRE(narrow);
    REQUIRE(wide);
    CHECK(wide->ci.low < narrow->ci.low);
    CHECK(narrow->ci.high < wide->ci.high);
    // t(0.75, 3) = 0.7648923284 (tables), deviation sqrt(5/3)
    CHECK(narrow->ci.high == doctest::Approx(0.5 + 0.7648923284 * std::sqrt(5.0 / 3) / 2).epsilon(1e-9));
}

TEST_CASE("the interval covers the true mean as often as it says") {
    // 20 000 nodes of 5 scores each; three deviations of the count of hits are 0.46 %.
    std::mt19937_64 engine(5);
    int sample_hits = 0, population_hits = 0;
    int const nodes = 20'000;
    for (int i = 0; i < nodes; ++i) {
        rank::score_moments const m = moments_of(random_scores(engine, 5, 0.25));
        auto const covers = [](rank::node_performance const& p) {
            return p.ci.low <= 0.25 && 0.25 <= p.ci.high;
        };
        sample_hits += covers(*performance_of(m));
        population_hits +=
            covers(*performance_of(m, stats::t_interval(0.95, stats::deviation_kind::population)));
    }
    CHECK(sample_hits > 0.9454 * nodes);
    CHECK(sample_hits < 0.9546 * nodes);
    CHECK(population_hits < 0.94 * nodes); // the printed formula promises more than it keeps
}

TEST_CASE("any rule with a call operator and a deviation will do") {
    struct plus_minus_one {
        outcome<stats::interval> operator()(std::uint64_t n, double mean, double) const noexcept {
            if (n == 0) return status::insufficient_evidence;
            return stats::interval{mean - 1, mean + 1};
        }
        stats::deviation_kind deviation() const noexcept { return stats::deviation_kind::population; }
    };
    static_assert(stats::interval_rule<plus_minus_one>);
    auto const p = performance_of(moments_of({3.0}), plus_minus_one{});
    REQUIRE(p);
    CHECK(p->ci == stats::interval{2.0, 4.0});
    CHECK(p->sd == 0.0);
}
