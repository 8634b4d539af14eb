// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/crowding.hpp>

#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

using namespace straggle;
using predict::crowding;
using predict::job_company;

namespace {

std::uint64_t const seed = straggle_test::seed_or(20261123);

// Jobs of a busy hour and of a quiet one, which alone makes a task's time `hour` times as long.
void run(crowding& c, int jobs, double slope, double hour, std::mt19937_64& engine, double unit = 1) {
    std::normal_distribution<double> noise(0, 0.3);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int j = 0; j < jobs; ++j) {
        job_company job;
        bool const busy = j % 2 == 0;
        for (int k = 0; k < 20; ++k) {
            double const company = (busy ? 0.5 : 0.0) + uniform(engine) / 2;
            c.observe(job, company, std::log(unit * (busy ? hour : 1.0)) + slope * company + noise(engine));
        }
    }
}

} // namespace

TEST_CASE("crowding: the slope that tasks were made with, whatever the hour does") {
    std::mt19937_64 engine(seed);
    for (double const slope : {0.3, 1.0})
        for (double const hour : {1.0, 3.0}) {
            crowding c;
            run(c, 100, slope, hour, engine);
            // 1900 tasks of deviation 0.3 over an x of deviation 0.144: a standard error of 0.048.
            CHECK(c.slope() == doctest::Approx(slope).epsilon(0.15).scale(1));
            CHECK(c.cost(0, 4) == 1);
            CHECK(c.cost(1, 4) < c.cost(2, 4));
            CHECK(c.cost(3, 4) >= std::exp(c.slope()));
            CHECK(c.cost(9, 4) == c.cost(3, 4));
            CHECK(c.cost(3, 1) == 1);
        }
}

TEST_CASE("crowding: where company costs nothing, next to nothing is believed") {
    int believed = 0;
    for (std::uint64_t i = 0; i < 50; ++i) {
        std::mt19937_64 engine(seed + i);
        crowding c;
        run(c, 100, 0, 2, engine);
        believed += c.cost(3, 4) > 1.05 ? 1 : 0;
        run(c, 100, -0.5, 2, engine);
        CHECK(c.slope() == 0);
    }
    CHECK(believed <= 5);
    CHECK(crowding().cost(3, 4) == 1);
}

TEST_CASE("crowding: what has changed is learned anew, and what makes no sense changes nothing") {
    std::mt19937_64 engine(seed);
    crowding c;
    run(c, 100, 1, 1, engine);
    double const before = c.slope();
    job_company job;
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (double const company : {-0.1, 1.1, inf, std::numeric_limits<double>::quiet_NaN()})
        c.observe(job, company, 1);
    for (double const time : {inf, -inf, std::numeric_limits<double>::quiet_NaN()}) c.observe(job, 0.5, time);
    CHECK(c.slope() == before);
    CHECK(job.tasks == 0);
    run(c, 500, 0, 1, engine);
    CHECK(c.slope() < 0.2);
}

TEST_CASE("crowding: other units, halves that are merged and what was stored say the same") {
    crowding a, b, left, right;
    std::mt19937_64 first(seed), second(seed);
    run(a, 20, 0.5, 1, first);
    run(b, 20, 0.5, 1, second, 1000);
    CHECK(a.slope() == doctest::Approx(b.slope()).epsilon(1e-9)); // a few hundred roundings of a logarithm
    std::mt19937_64 third(seed);
    run(left, 10, 0.5, 1, third);
    run(right, 10, 0.5, 1, third);
    left.merge(right);
    CHECK(left.slope() == doctest::Approx(a.slope()).epsilon(0.1)); // older ones have not faded
    CHECK(left.tasks() > a.tasks());

    byte_writer out;
    a.write(out);
    byte_reader in(out.payload());
    crowding restored;
    restored.read(in);
    REQUIRE(in.ok());
    CHECK(restored.slope() == a.slope());
}
