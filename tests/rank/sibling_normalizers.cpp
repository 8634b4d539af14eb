// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace straggle;

namespace {

template <class Normalizer>
std::pair<status, std::vector<double>> scores_of(Normalizer const& normalizer,
                                                 std::vector<double> durations) {
    std::vector<double> scratch(durations.size(), -12345.0); // any content
    status const s = normalizer.normalize(durations, scratch);
    return {s, durations};
}

long double plain_median(std::vector<long double> values) {
    std::sort(values.begin(), values.end());
    std::size_t const n = values.size();
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

long double plain_median(std::vector<double> const& values) {
    return plain_median(std::vector<long double>(values.begin(), values.end()));
}

// The score of each task by mean and population deviation of all the others, summed anew for each; relative
// to one of the others, so that a long double loses nothing where they are close together.
std::vector<long double> plain_leave_one_out(std::vector<double> const& durations) {
    std::vector<long double> scores;
    for (std::size_t i = 0; i < durations.size(); ++i) {
        long double const base = static_cast<long double>(durations[i == 0 ? 1 : 0]);
        long double mean = 0, squares = 0;
        long double const others = static_cast<long double>(durations.size() - 1);
        for (std::size_t k = 0; k < durations.size(); ++k)
            if (k != i) mean += static_cast<long double>(durations[k]) - base;
        mean /= others;
        for (std::size_t k = 0; k < durations.size(); ++k)
            if (k != i) squares += std::pow(static_cast<long double>(durations[k]) - base - mean, 2);
        scores.push_back((static_cast<long double>(durations[i]) - base - mean) /
                         std::sqrt(squares / others));
    }
    return scores;
}

std::vector<double> random_durations(std::mt19937_64& engine, std::size_t n) {
    std::lognormal_distribution<double> draw(3.0, 1.0);
    std::vector<double> durations(n);
    for (double& d : durations) d = draw(engine);
    return durations;
}

struct attempt {
    int job;
    int node;
    double took;
};
constexpr attempt_fields fields{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};

} // namespace

TEST_CASE("robust_z is distance from the median in scaled MADs") {
    std::mt19937_64 engine(1);
    for (std::size_t n : {5u, 6u, 17u, 100u, 1001u}) {
        std::vector<double> const durations = random_durations(engine, n);
        long double const median = plain_median(durations);
        std::vector<long double> distances;
        for (double d : durations) distances.push_back(std::fabs(static_cast<long double>(d) - median));
        long double const mad = 1.4826L * plain_median(distances);
        auto const [s, scores] = scores_of(rank::robust_z{}, durations);
        REQUIRE(s == status::ok);
        for (std::size_t i = 0; i < n; ++i)
            CHECK(scores[i] == doctest::Approx(static_cast<double>(
                                                   (static_cast<long double>(durations[i]) - median) / mad))
                                   .epsilon(1e-14)); // a difference, a product and a quotient of doubles
    }
}

TEST_CASE("robust_z is not pulled by stragglers") {
    auto const [calm_status, calm] = scores_of(rank::robust_z{}, {10, 11, 12, 13, 14, 15, 16});
    auto const [s, wild] = scores_of(rank::robust_z{}, {10, 11, 12, 13, 14, 15e6, 16e9});
    REQUIRE(calm_status == status::ok);
    REQUIRE(s == status::ok);
    for (std::size_t i = 0; i < 5; ++i) CHECK(wild[i] == calm[i]);
}

TEST_CASE("robust_z says why there are no scores") {
    CHECK(scores_of(rank::robust_z{}, {}).first == status::insufficient_evidence);
    CHECK(scores_of(rank::robust_z{.min_tasks = 0}, {}).first == status::insufficient_evidence);
    CHECK(scores_of(rank::robust_z{}, {1, 2, 3, 4}).first == status::insufficient_evidence);
    CHECK(scores_of(rank::robust_z{.min_tasks = 4}, {1, 2, 3, 4}).first == status::ok);
    CHECK(scores_of(rank::robust_z{}, {5, 5, 5, 5, 9}).first == status::no_spread);
    CHECK(scores_of(rank::robust_z{.min_tasks = 1}, {5}).first == status::no_spread);
}

TEST_CASE("ratio_to_median: 1 is usual, 2 twice as long") {
    CHECK(scores_of(rank::ratio_to_median{}, {10, 20, 30, 40, 5}).second ==
          std::vector<double>{0.5, 1.0, 1.5, 2.0, 0.25});
    auto const even = scores_of(rank::ratio_to_median{}, {1, 2, 4, 6, 8, 10});
    CHECK(even.second == std::vector<double>{0.2, 0.4, 0.8, 1.2, 1.6, 2.0});
    CHECK(scores_of(rank::ratio_to_median{}, {4, 4, 4, 4, 4}).second == std::vector<double>(5, 1.0));
    CHECK(scores_of(rank::ratio_to_median{}, {}).first == status::insufficient_evidence);
    CHECK(scores_of(rank::ratio_to_median{}, {1, 2, 3, 4}).first == status::insufficient_evidence);
    CHECK(scores_of(rank::ratio_to_median{}, {0, 0, 0, 4, 5}).first == status::no_spread);
    CHECK(scores_of(rank::ratio_to_median{.min_tasks = 1}, {4}).second == std::vector<double>{1.0});
}

TEST_CASE("leave_one_out_z judges each task by the others") {
    std::mt19937_64 engine(2);
    for (std::size_t n : {3u, 4u, 5u, 8u, 50u, 300u}) {
        for (int trial = 0; trial < (n < 10 ? 200 : 5); ++trial) {
            std::vector<double> const durations = random_durations(engine, n);
            auto const expected = plain_leave_one_out(durations);
            auto const [s, scores] = scores_of(rank::leave_one_out_z{.min_tasks = 3}, durations);
            REQUIRE(s == status::ok);
            for (std::size_t i = 0; i < n; ++i) {
                // The mean may cancel in a score near 0, hence Approx's absolute part; large scores of small
                // jobs stay exact because no deviation is left over from a subtraction.
                CHECK(scores[i] == doctest::Approx(static_cast<double>(expected[i])).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE("leave_one_out_z of a dominant straggler does not cancel") {
    SUBCASE("far away, the others spread by little") {
        for (double const huge : {1e3, 1e6, 1e9, 1e12}) {
            std::vector<double> durations{10.0, 10.25, 9.75, 10.5, huge, 9.5, 10.0};
            auto const expected = plain_leave_one_out(durations);
            auto const scores = scores_of(rank::leave_one_out_z{}, durations).second;
            for (std::size_t i = 0; i < durations.size(); ++i)
                CHECK(scores[i] == doctest::Approx(static_cast<double>(expected[i])).epsilon(1e-12));
            CHECK(scores[4] > 0.9 * huge / 0.4); // not capped at sqrt(n - 1)
        }
    }
    SUBCASE("the others equal up to rounding") {
        double const x = 0.3, y = 0.1 + 0.2; // neighboring doubles
        REQUIRE(x < y);
        std::vector<double> const durations{x, y, x, 1e6, y, y};
        auto const expected = plain_leave_one_out(durations);
        auto const scores = scores_of(rank::leave_one_out_z{}, durations).second;
        CHECK(scores[3] == doctest::Approx(static_cast<double>(expected[3])).epsilon(1e-12));
        CHECK(scores[3] > 1e21);
    }
    SUBCASE("the others equal: no yardstick, no score; theirs are fine") {
        std::vector<double> const durations{7.1, 7.1, 900.0, 7.1, 7.1};
        auto const expected = plain_leave_one_out(durations);
        auto const [s, scores] = scores_of(rank::leave_one_out_z{}, durations);
        CHECK(s == status::ok);
        CHECK(std::isnan(scores[2]));
        for (std::size_t i : {0u, 1u, 3u, 4u})
            CHECK(scores[i] == doctest::Approx(static_cast<double>(expected[i])).epsilon(1e-12));
    }
    SUBCASE("two of three own more than half each") {
        for (std::vector<double> const& durations :
             {std::vector{1.0, -1.3, 0.3}, std::vector{-1.3, 1.0, 0.3}, std::vector{1.0, 0.0, -1.0}}) {
            std::vector<double> shifted;
            for (double d : durations) shifted.push_back(1e6 + d);
            auto const expected = plain_leave_one_out(shifted);
            auto const scores = scores_of(rank::leave_one_out_z{.min_tasks = 3}, shifted).second;
            for (std::size_t i = 0; i < 3; ++i)
                CHECK(scores[i] == doctest::Approx(static_cast<double>(expected[i])).epsilon(1e-9));
        }
    }
}

TEST_CASE("leave_one_out_z says why there are no scores") {
    CHECK(scores_of(rank::leave_one_out_z{}, {}).first == status::insufficient_evidence);
    CHECK(scores_of(rank::leave_one_out_z{}, {1, 2, 3, 4}).first == status::insufficient_evidence);
    CHECK(scores_of(rank::leave_one_out_z{.min_tasks = 0}, {1, 2}).first == status::insufficient_evidence);
    CHECK(scores_of(rank::leave_one_out_z{.min_tasks = 0}, {1, 2, 3}).first == status::ok);
    CHECK(scores_of(rank::leave_one_out_z{}, {0.1, 0.1, 0.1, 0.1, 0.1}).first == status::no_spread);
}

TEST_CASE("a task without a score is counted as unscored, its siblings go on") {
    std::vector<attempt> const attempts{{1, 1, 7}, {1, 1, 7}, {1, 2, 90}, {1, 3, 7}, {1, 3, 7}};
    auto const ranking = rank_nodes(attempts, fields, rank_options{.normalizer = rank::leave_one_out_z{}});
    CHECK(ranking.attempts().used == 5);
    CHECK(ranking.scored_attempts() == 4);
    CHECK(ranking.usable_jobs() == 1);
    CHECK(ranking.nodes().size() == 2);
    REQUIRE(ranking.unranked().size() == 1);
    CHECK(ranking.unranked()[0].id == 2);
    CHECK(ranking.unranked()[0].n == 0);
}

TEST_CASE("a lone straggler of a small job is ranked by its full size") {
    // Node 9 straggles in every job; with z_score its scores are capped at 2, here they are not.
    std::vector<attempt> attempts;
    std::mt19937_64 engine(3);
    for (int job = 0; job < 6; ++job) {
        for (int node = 0; node < 4; ++node)
            attempts.push_back({job, node, 100 + static_cast<double>(engine() % 8)});
        attempts.push_back({job, 9, 400});
    }
    auto const capped = rank_nodes(attempts, fields);
    auto const full = rank_nodes(attempts, fields, rank_options{.normalizer = rank::leave_one_out_z{}});
    REQUIRE(capped.level(0).size() == 1);
    REQUIRE(full.level(0).size() == 1);
    CHECK(capped.level(0)[0].id == 9);
    CHECK(full.level(0)[0].id == 9);
    CHECK(capped.level(0)[0].mean < 2.0);
    CHECK(full.level(0)[0].mean > 50.0);
}
