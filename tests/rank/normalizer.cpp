// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/normalize.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <support/literal_dsb.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    std::string job;
    std::string node;
    double took = 0;
    std::optional<double> input{};
};
constexpr attempt_fields fields{
    .job = &attempt::job, .node = &attempt::node, .duration = &attempt::took, .input = &attempt::input};

// Equation 1 in long double.
template <class Value>
std::vector<double> plain_z(std::vector<Value> const& durations) {
    long double mean = 0, squares = 0;
    for (Value d : durations) mean += static_cast<long double>(d);
    mean /= static_cast<long double>(durations.size());
    for (Value d : durations)
        squares += (static_cast<long double>(d) - mean) * (static_cast<long double>(d) - mean);
    long double const sd = std::sqrt(squares / static_cast<long double>(durations.size()));
    std::vector<double> z;
    for (Value d : durations) z.push_back(static_cast<double>((static_cast<long double>(d) - mean) / sd));
    return z;
}

// A user's normaliser: durations already are scores.
struct as_is {
    status normalize(std::span<double> durations, std::span<double>) const {
        return durations.empty() ? status::insufficient_evidence : status::ok;
    }
};
// Near misses.
struct wrong_result {
    bool normalize(std::span<double>, std::span<double>) const;
};
struct ticks_only {
    outcome<rank::affine_scale<std::int64_t>> fit(stats::tick_moments const&) const;
};

static_assert(rank::moment_normalizer<rank::z_score> && !rank::sibling_normalizer<rank::z_score> &&
              !rank::input_normalizer<rank::z_score>);
static_assert(rank::sibling_normalizer<rank::robust_z> && rank::sibling_normalizer<rank::ratio_to_median> &&
              rank::sibling_normalizer<rank::leave_one_out_z> && rank::sibling_normalizer<as_is>);
static_assert(rank::input_normalizer<rank::work_rate<>> &&
              rank::input_normalizer<rank::work_rate<rank::robust_z>>);
static_assert(rank::normalizer<rank::z_score> && rank::normalizer<as_is> &&
              rank::normalizer<rank::work_rate<as_is>>);
static_assert(!rank::normalizer<wrong_result> && !rank::normalizer<ticks_only> && !rank::normalizer<int>);

} // namespace

TEST_CASE("affine_scale keeps neighbouring ticks apart at any offset") {
    std::int64_t const far_away = std::int64_t{1} << 62; // a double there is a multiple of 1024
    rank::affine_scale<std::int64_t> const scale{far_away, 0.25, 2.0};
    CHECK(scale(far_away + 1) == 1.5);
    CHECK(scale(far_away) == -0.5);
    CHECK(scale(far_away - 3) == -6.5);
    CHECK(rank::affine_scale<double>{1e9, 0.25, 2.0}(1e9 + 1) == 1.5);
    CHECK(rank::affine_scale<std::int64_t>{}(7) == 7.0);
}

TEST_CASE("affine_scale takes a whole duration and a part of the next tick") {
    std::int64_t const far_away = std::int64_t{1} << 62;
    rank::affine_scale<std::int64_t> const scale{far_away, 0.25, 2.0};
    CHECK(scale(far_away, 0.25) == 0.0);
    CHECK(scale(far_away + 3, 0.5) == 6.5);
    CHECK(scale(far_away - 3, 1.0) == -4.5);
    CHECK(scale(far_away + 7, 0.0) == scale(far_away + 7));
    // The mean of a job has the score 0, and its parts are those that moments give.
    stats::tick_moments job;
    for (std::int64_t v : {far_away, far_away + 1, far_away + 5, far_away + 9, far_away + 1}) job.add(v);
    auto const fitted = rank::z_score{}.fit(job);
    REQUIRE(fitted);
    CHECK((*fitted)(job.mean_parts().floor, job.mean_parts().fraction) == 0.0);
}

TEST_CASE("z_score of reals at the ends of their range") {
    auto const scores_of = [](std::vector<double> const& durations) {
        stats::moments job;
        for (double d : durations) job.add(d);
        auto const scale = rank::z_score{}.fit(job);
        std::vector<double> scores;
        for (double d : durations) scores.push_back(scale ? (*scale)(d) : std::nan(""));
        return std::pair(scale.reason(), scores);
    };
    std::vector<double> const plain{1, 2, 3, 4, 10};
    auto const expected = scores_of(plain);
    REQUIRE(expected.first == status::ok);
    // A power of two changes no bit, as long as the squares are normal numbers.
    for (int const exponent : {-500, -300, 0, 300, 500}) {
        std::vector<double> scaled;
        for (double d : plain) scaled.push_back(std::ldexp(d, exponent));
        CHECK(scores_of(scaled) == expected);
    }
    // Where n / squares overflows, but the squares are still there: 1 / sd by two roots.
    for (int const exponent : {-512, -518, -524, -530}) {
        std::vector<double> scaled;
        for (double d : plain) scaled.push_back(std::ldexp(d, exponent));
        auto const [reason, scores] = scores_of(scaled);
        REQUIRE(reason == status::ok);
        // Squares there have the digits that subnormal numbers leave them: 50 ends at 2^-1074.
        double const blur = 1e-15 + std::ldexp(1.0, -1074 - 2 * exponent - 4);
        for (std::size_t i = 0; i < plain.size(); ++i)
            CHECK(std::fabs(scores[i] - expected.second[i]) <= blur);
    }
    // Squares too small to be told from zero, or too large for a double.
    CHECK(scores_of({1e-200, 2e-200, 3e-200, 4e-200, 9e-200}).first == status::no_spread);
    CHECK(scores_of({1e155, 2e155, 3e155, 4e155, 9e155}).first == status::out_of_range);
    CHECK(scores_of({1e300, 2e300, 3e300, 4e300, 9e300}).first == status::out_of_range);
    CHECK(scores_of({1e300, 1e300, 1e300, 1e300, 1e300}).first == status::no_spread);
    stats::moments bad;
    for (int i = 0; i < 6; ++i) bad.add(i == 3 ? std::nan("") : 1.0 + i);
    CHECK(rank::z_score{}.fit(bad).reason() == status::out_of_range);
}

TEST_CASE("z_score of ticks equals equation 1 at every offset") {
    std::mt19937_64 engine(1);
    for (std::int64_t const offset : {std::int64_t{0}, std::int64_t{1'000'000}, std::int64_t{1} << 60}) {
        for (int trial = 0; trial < 50; ++trial) {
            // Small numbers for the oracle: a long double holds them and their distances exactly.
            std::vector<std::int64_t> small_ticks;
            stats::tick_moments job;
            std::size_t const n = 5 + engine() % 60;
            for (std::size_t i = 0; i < n; ++i) {
                small_ticks.push_back(static_cast<std::int64_t>(engine() % 100'000));
                job.add(offset + small_ticks.back());
            }
            auto const expected = plain_z(small_ticks);
            auto const scale = rank::z_score{}.fit(job);
            REQUIRE(scale);
            for (std::size_t i = 0; i < n; ++i) // a mean is kept to 2^-53 ticks, a score to a few ULP
                CHECK((*scale)(offset + small_ticks[i]) == doctest::Approx(expected[i]).epsilon(4e-15));
        }
    }
}

TEST_CASE("z_score of reals equals equation 1") {
    std::mt19937_64 engine(2);
    std::uniform_real_distribution<double> noise(0.0, 1.0);
    for (double const offset : {0.0, 10.0, 1e6}) {
        std::vector<double> durations;
        stats::moments job;
        for (int i = 0; i < 1000; ++i) {
            durations.push_back(offset + noise(engine));
            job.add(durations.back());
        }
        auto const expected = plain_z(durations);
        auto const scale = rank::z_score{}.fit(job);
        REQUIRE(scale);
        for (std::size_t i = 0; i < durations.size(); ++i) // moments promise 1e-12 of the variance
            CHECK((*scale)(durations[i]) == doctest::Approx(expected[i]).epsilon(1e-12));
    }
}

TEST_CASE("z_score judges a job before it gives scores") {
    auto const ticks = [](std::initializer_list<std::int64_t> values) {
        stats::tick_moments job;
        for (std::int64_t v : values) job.add(v);
        return job;
    };
    auto const reals = [](std::initializer_list<double> values) {
        stats::moments job;
        for (double v : values) job.add(v);
        return job;
    };
    SUBCASE("five tasks by default") {
        CHECK(rank::z_score{}.fit(ticks({1, 2, 3, 4})).reason() == status::insufficient_evidence);
        CHECK(rank::z_score{}.fit(ticks({1, 2, 3, 4, 5})).reason() == status::ok);
        CHECK(rank::z_score{}.fit(reals({1, 2, 3, 4})).reason() == status::insufficient_evidence);
        CHECK(rank::z_score{}.fit(reals({1, 2, 3, 4, 5})).reason() == status::ok);
    }
    SUBCASE("the paper's two: always +1 and -1") {
        auto const scale = rank::z_score{.min_tasks = 2}.fit(ticks({10, 25}));
        REQUIRE(scale);
        CHECK((*scale)(10) == -1.0);
        CHECK((*scale)(25) == 1.0);
    }
    SUBCASE("one task never has a score, whatever min_tasks says") {
        CHECK(rank::z_score{.min_tasks = 0}.fit(ticks({10})).reason() == status::insufficient_evidence);
        CHECK(rank::z_score{.min_tasks = 0}.fit(reals({10})).reason() == status::insufficient_evidence);
        CHECK(rank::z_score{.min_tasks = 0}.fit(stats::tick_moments{}).reason() ==
              status::insufficient_evidence);
        CHECK(rank::z_score{.min_tasks = 0}.fit(stats::moments{}).reason() == status::insufficient_evidence);
    }
    SUBCASE("no spread") {
        CHECK(rank::z_score{}.fit(ticks({7, 7, 7, 7, 7})).reason() == status::no_spread);
        CHECK(rank::z_score{}.fit(reals({0.1, 0.1, 0.1, 0.1, 0.1})).reason() == status::no_spread);
        std::int64_t const far_away = std::int64_t{1} << 62;
        CHECK(rank::z_score{}.fit(ticks({far_away, far_away, far_away, far_away, far_away + 1})));
    }
}

TEST_CASE("a score never exceeds sqrt(n - 1)") {
    stats::tick_moments job;
    for (int i = 0; i < 9; ++i) job.add(10);
    job.add(1'000'000'000);
    auto const scale = rank::z_score{}.fit(job);
    REQUIRE(scale);
    CHECK((*scale)(1'000'000'000) == doctest::Approx(3.0).epsilon(1e-15));
}

TEST_CASE("normalize gives equation 1 for every record, with its row") {
    std::mt19937_64 engine(3);
    std::vector<attempt> attempts;
    std::vector<straggle_test::literal_task> tasks;
    for (int i = 0; i < 300; ++i) {
        attempts.push_back({"job" + std::to_string(engine() % 12), "node" + std::to_string(engine() % 7),
                            static_cast<double>(engine() % 10'000) / 16});
        attempt const& a = attempts.back();
        tasks.push_back({std::to_string(i), a.job, a.node, a.took});
    }
    attempts[17].took = std::nan("");
    tasks.erase(tasks.begin() + 17);
    auto const scores =
        normalize(attempts, fields, rank_options{.normalizer = rank::z_score{.min_tasks = 2}});
    CHECK(scores.counts.seen == 300);
    CHECK(scores.counts[rejection::not_finite] == 1);
    REQUIRE(scores.attempts.size() == 299);
    for (std::size_t i = 0; i < 299; ++i) {
        rank::normalized_attempt const& s = scores.attempts[i];
        CHECK(s.row == (i < 17 ? i : i + 1));
        CHECK(scores.jobs[s.job] == tasks[i].jID);
        CHECK(scores.nodes[s.node] == tasks[i].mID);
        auto const expected = straggle_test::normalized_execution_value(tasks[i], tasks);
        REQUIRE(expected);
        CHECK(s.score == doctest::Approx(*expected).epsilon(1e-12));
    }
    // Order of first appearance.
    CHECK(scores.jobs.front() == attempts.front().job);
    CHECK(scores.nodes.front() == attempts.front().node);
}

TEST_CASE("normalize keeps the order of the records with a sibling normalizer too") {
    std::vector<attempt> const attempts{{"a", "x", 1}, {"b", "x", 5}, {"a", "y", 2},
                                        {"b", "y", 6}, {"a", "z", 9}, {"c", "z", 3}};
    auto const scores = rank::normalize(attempts, fields, rank_options{.normalizer = as_is{}});
    REQUIRE(scores.attempts.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(scores.attempts[i].row == i);
        CHECK(scores.attempts[i].score == attempts[i].took);
        CHECK(scores.jobs[scores.attempts[i].job] == attempts[i].job);
        CHECK(scores.nodes[scores.attempts[i].node] == attempts[i].node);
    }
}

TEST_CASE("normalize says the same on dense integers and on names") {
    struct by_number {
        int job;
        short node;
        std::int64_t took;
    };
    std::mt19937_64 engine(4);
    std::vector<by_number> numbers;
    std::vector<attempt> names;
    for (int i = 0; i < 500; ++i) {
        numbers.push_back({static_cast<int>(engine() % 9) - 4, static_cast<short>(engine() % 20 + 100),
                           static_cast<std::int64_t>(engine() % 512)});
        names.push_back({std::to_string(numbers.back().job), std::to_string(numbers.back().node),
                         static_cast<double>(numbers.back().took)});
    }
    auto const a = rank::normalize(
        numbers,
        attempt_fields{.job = &by_number::job, .node = &by_number::node, .duration = &by_number::took});
    auto const b = rank::normalize(names, fields);
    REQUIRE(a.attempts.size() == b.attempts.size());
    CHECK(a.jobs.size() == b.jobs.size());
    for (std::size_t i = 0; i < a.jobs.size(); ++i) CHECK(std::to_string(a.jobs[i]) == b.jobs[i]);
    for (std::size_t i = 0; i < a.nodes.size(); ++i) CHECK(std::to_string(a.nodes[i]) == b.nodes[i]);
    for (std::size_t i = 0; i < a.attempts.size(); ++i) {
        CHECK(a.attempts[i].row == b.attempts[i].row);
        CHECK(a.attempts[i].job == b.attempts[i].job);
        CHECK(a.attempts[i].node == b.attempts[i].node);
        CHECK(a.attempts[i].score == doctest::Approx(b.attempts[i].score).epsilon(1e-12));
    }
}

TEST_CASE("work_rate: durations per unit of input") {
    std::mt19937_64 engine(5);
    std::vector<attempt> attempts;
    std::vector<double> rates;
    for (int i = 0; i < 40; ++i) {
        double const input = static_cast<double>(1 + engine() % 1000);
        double const rate = 2 + static_cast<double>(engine() % 100) / 100;
        attempts.push_back({"job", "node" + std::to_string(i % 5), rate * input, input});
        rates.push_back(attempts.back().took / input);
    }
    auto const expected = plain_z(rates);
    auto const scores = normalize(attempts, fields, rank_options{.normalizer = rank::work_rate<>{}});
    REQUIRE(scores.attempts.size() == 40);
    for (std::size_t i = 0; i < 40; ++i)
        CHECK(scores.attempts[i].score == doctest::Approx(expected[i]).epsilon(1e-12));
}

TEST_CASE("work_rate: a job with one unusable input is taken by durations as a whole") {
    for (std::optional<double> const bad :
         {std::optional<double>{}, std::optional{0.0}, std::optional{-1.0}, std::optional{std::nan("")},
          std::optional{static_cast<double>(INFINITY)}}) {
        std::mt19937_64 engine(6);
        std::vector<attempt> attempts;
        std::vector<double> durations, rates;
        for (int i = 0; i < 20; ++i) {
            double const input = static_cast<double>(1 + engine() % 1000);
            double const took = static_cast<double>(1 + engine() % 1000);
            attempts.push_back({"lacking", "n", took, i == 13 ? bad : input});
            attempts.push_back({"complete", "n", took, input});
            durations.push_back(took);
            rates.push_back(took / input);
        }
        auto const by_duration = plain_z(durations), by_rate = plain_z(rates);
        auto const scores = normalize(attempts, fields, rank_options{.normalizer = rank::work_rate<>{}});
        REQUIRE(scores.attempts.size() == 40);
        for (std::size_t i = 0; i < 20; ++i) {
            CHECK(scores.attempts[2 * i].score == doctest::Approx(by_duration[i]).epsilon(1e-12));
            CHECK(scores.attempts[2 * i + 1].score == doctest::Approx(by_rate[i]).epsilon(1e-12));
        }
    }
}

TEST_CASE("work_rate without an input field is its base") {
    std::vector<attempt> attempts;
    for (int i = 0; i < 12; ++i)
        attempts.push_back({"j", i % 2 ? "a" : "b", static_cast<double>(i * i), 1.0 + i});
    constexpr attempt_fields no_input{
        .job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};
    auto const a = normalize(attempts, no_input, rank_options{.normalizer = rank::work_rate<>{}});
    auto const b = rank::normalize(attempts, no_input);
    REQUIRE(a.attempts.size() == b.attempts.size());
    for (std::size_t i = 0; i < a.attempts.size(); ++i) CHECK(a.attempts[i].score == b.attempts[i].score);
}

TEST_CASE("work_rate passes the options of its base on, and takes sibling normalizers") {
    std::vector<attempt> attempts;
    for (int i = 1; i <= 6; ++i) attempts.push_back({"j", "n", 10.0 * i * i, static_cast<double>(i)});
    auto const few =
        normalize(attempts, fields, rank_options{.normalizer = rank::work_rate<>{{.min_tasks = 7}}});
    CHECK(few.attempts.empty());
    auto const ratio =
        normalize(attempts, fields, rank_options{.normalizer = rank::work_rate<rank::ratio_to_median>{}});
    REQUIRE(ratio.attempts.size() == 6);
    for (int i = 1; i <= 6; ++i) // rates 10, 20 ... 60 have the median 35
        CHECK(ratio.attempts[static_cast<std::size_t>(i - 1)].score == doctest::Approx(10.0 * i / 35));
}
