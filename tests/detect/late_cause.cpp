// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/late_cause.hpp>

#include <straggle/predict/sibling_times.hpp>

#include <doctest/doctest.h>

#include <support/seed.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>

using namespace straggle;
using detect::cause_of;
using detect::late_by;
using detect::late_cause;
using detect::late_facts;
using detect::node_case;

namespace {

// A job of lognormal times about 100, with this spread.
predict::time_outlook siblings(double spread = 0.2, std::uint64_t seed = 1) {
    predict::sibling_times times;
    std::mt19937_64 g(seed);
    std::normal_distribution<> normal;
    for (int i = 0; i < 400; ++i) times.observe(1, 1, 100 * std::exp(spread * normal(g)));
    predict::time_outlook out;
    REQUIRE(times.outlook(1, 1, {}, out));
    return out;
}
double sum_of(late_cause const& c) {
    return std::accumulate(c.probability.begin(), c.probability.end(), 0.0);
}

} // namespace

TEST_CASE("late_cause: with nothing to explain it, a task is late by itself") {
    predict::time_outlook const job = siblings();
    late_cause const c = cause_of(job, {.low = 250, .usual = job.usual()});
    REQUIRE(c.is_known());
    CHECK(c.likeliest() == late_by::itself);
    CHECK(c.probability_of(late_by::itself) == doctest::Approx(1));
    CHECK(c.times_by(late_by::itself) > 2.4);
    CHECK(c.times_by(late_by::node) == 1);
    CHECK_FALSE(late_cause{}.is_known());
    CHECK(late_cause{}.probability_of(late_by::itself) == 0);
}

TEST_CASE("late_cause: what explains the time is to blame, and no more than it explains") {
    predict::time_outlook const job = siblings();
    double const twice = std::log(2.0);
    std::array const slow{node_case{1, {twice, 0.05}}};
    late_facts by_node{.low = 190, .usual = job.usual(), .node = slow};
    late_cause c = cause_of(job, by_node);
    CHECK(c.likeliest() == late_by::node);
    CHECK(c.probability_of(late_by::node) > 0.9);
    CHECK(c.times_by(late_by::node) == doctest::Approx(2).epsilon(0.05));
    CHECK(sum_of(c) == doctest::Approx(1));
    by_node.low = 900; // nine times as long is not because of a node that is twice as slow
    c = cause_of(job, by_node);
    CHECK(c.likeliest() == late_by::itself);
    CHECK(c.probability_of(late_by::itself) > 0.9);

    late_facts const by_input{.low = 290, .usual = job.usual(), .node = slow, .input = {std::log(3.0), 0.1}};
    CHECK(cause_of(job, by_input).likeliest() == late_by::input);
    late_facts const by_crowd{.low = 170, .usual = job.usual(), .crowd = {std::log(1.7), 0.05}};
    CHECK(cause_of(job, by_crowd).likeliest() == late_by::crowd);
    // The job takes three times as long as usual, the task a little more than its siblings.
    late_facts const by_kind{.low = 160, .usual = job.usual(), .kind = {std::log(3.0), 0}};
    CHECK(cause_of(job, by_kind).likeliest() == late_by::kind);
}

TEST_CASE("late_cause: more doubt about a cause is less certainty about the answer") {
    predict::time_outlook const job = siblings();
    double last = 1;
    for (double const chance : {1.0, 0.5, 0.2, 0.05, 0.0}) {
        std::array const node{node_case{1 - chance, {}}, node_case{chance, {std::log(2.0), 0}}};
        double const by =
            cause_of(job, {.low = 180, .usual = job.usual(), .node = node}).probability_of(late_by::node);
        CAPTURE(chance);
        CHECK(by <= last);
        CHECK(by >= chance - 0.05); // a task that is late speaks against its node
        last = by;
        std::array const now{node_case{chance, {std::log(2.0), 0}}};
        CHECK(cause_of(job, {.low = 180, .usual = job.usual(), .node_now = now})
                  .probability_of(late_by::node) <= chance + 1e-12); // it has spoken already
    }
}

TEST_CASE("late_cause: an upper limit of the time is used, and even an impossible time has a cause") {
    predict::time_outlook const job = siblings();
    std::array const slow{node_case{1, {std::log(1.5), 0}}};
    late_facts facts{.low = 160, .high = 170, .usual = job.usual(), .node = slow};
    CHECK(cause_of(job, facts).probability_of(late_by::node) > 0.99);
    facts.high = std::numeric_limits<double>::infinity();
    CHECK(cause_of(job, facts).probability_of(late_by::node) < 0.99);
    for (double const time : {1e-6, 1e9}) {
        late_cause const c = cause_of(job, {.low = time, .high = time * 1.0001, .usual = job.usual()});
        CHECK(c.is_known());
        CHECK(sum_of(c) == doctest::Approx(1));
    }
}

TEST_CASE("late_cause: another unit of time gives the same answer") {
    predict::sibling_times seconds, milliseconds;
    for (int i = 0; i < 60; ++i) {
        seconds.observe(1, 1, 90 + i % 7);
        milliseconds.observe(1, 1, 1000.0 * (90 + i % 7));
    }
    predict::time_outlook a, b;
    REQUIRE(seconds.outlook(1, 1, {}, a));
    REQUIRE(milliseconds.outlook(1, 1, {}, b));
    std::array const slow{node_case{0.7, {0.6, 0.2}}, node_case{0.3, {}}};
    late_cause const x = cause_of(a, {.low = 170, .usual = a.usual(), .node = slow});
    late_cause const y = cause_of(b, {.low = 170'000, .usual = b.usual(), .node = slow});
    for (std::size_t i = 0; i < detect::late_by_count; ++i)
        CHECK(x.probability[i] == doctest::Approx(y.probability[i]).epsilon(1e-6));
}

TEST_CASE("late_cause: of causes said with some probability, as many are right") {
    std::uint64_t const seed = straggle_test::seed_or(7);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    std::normal_distribution<> normal;
    std::uniform_real_distribution<> u;
    double const spread = 0.25;
    predict::time_outlook const job = siblings(spread, seed);
    std::array<double, 10> said{}, right{}, count{};
    for (int i = 0; i < 60'000; ++i) {
        double const input = 0.4, crowd = 0.2;
        bool const is_slow = u(g) < 0.1;
        double const parts[] = {is_slow ? 0.7 + 0.1 * normal(g) : 0.0, input + 0.15 * normal(g),
                                crowd + 0.1 * normal(g), 0.0, spread * normal(g)};
        double const time = job.usual() * std::exp(parts[0] + parts[1] + parts[2] + parts[4]);
        double const age = job.usual() * (1.5 + u(g));
        if (time < age) continue;
        std::array const node{node_case{0.9, {}}, node_case{0.1, {0.7, 0.1}}};
        late_cause const c = cause_of(
            job,
            {.low = age, .usual = job.usual(), .node = node, .input = {input, 0.15}, .crowd = {crowd, 0.1}});
        std::size_t const truth = static_cast<std::size_t>(
            std::max_element(std::begin(parts), std::end(parts)) - std::begin(parts));
        for (std::size_t k = 0; k < detect::late_by_count; ++k) {
            auto const tenth = static_cast<std::size_t>(std::min(c.probability[k] * 10, 9.0));
            said[tenth] += c.probability[k];
            right[tenth] += truth == k ? 1 : 0;
            count[tenth] += 1;
        }
    }
    for (std::size_t t = 0; t < 10; ++t) {
        CAPTURE(t);
        if (count[t] > 300) CHECK(std::abs(said[t] - right[t]) / count[t] < 0.08);
    }
}

TEST_CASE("late_cause: names") {
    CHECK(to_string(late_by::node) == "node");
    CHECK(to_string(late_by::itself) == "itself");
}
