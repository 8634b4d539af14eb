// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/sibling_times.hpp>

#include <doctest/doctest.h>

#include <support/allocations.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using predict::sibling_times;
using predict::sized_task;
using predict::time_outlook;
using predict::time_points;

namespace {

constexpr std::uint32_t no_kind = (std::numeric_limits<std::uint32_t>::max)();
using draw = std::function<double(std::mt19937_64&)>;

// Durations of one job, and what a random time of it is.
struct family {
    std::string name;
    draw next;
};
std::vector<family> families() {
    return {
        {"lognormal", [](auto& g) { return 10 * std::exp(0.4 * std::normal_distribution<>()(g)); }},
        {"tight", [](auto& g) { return 300 * std::exp(0.05 * std::normal_distribution<>()(g)); }},
        {"Pareto", [](auto& g) { return 5 * std::pow(1 - std::uniform_real_distribution<>()(g), -1 / 2.0); }},
        {"bimodal", [](auto& g) {
             double const usual = std::exp(0.2 * std::normal_distribution<>()(g));
             return std::uniform_real_distribution<>()(g) < 0.1 ? 4 * usual : usual;
         }}};
}

// Claims by tenths, against what came.
struct reliability {
    std::array<double, 10> claimed{}, came{}, count{};
    void add(double claim, bool yes) {
        auto const tenth = (std::min)(static_cast<std::size_t>(claim * 10), std::size_t{9});
        claimed[tenth] += claim;
        came[tenth] += yes ? 1 : 0;
        count[tenth] += 1;
    }
    // Largest difference in a tenth that has enough to tell.
    [[nodiscard]] double worst() const {
        double most = 0;
        for (std::size_t i = 0; i < 10; ++i)
            if (count[i] >= 300) most = (std::max)(most, std::abs(claimed[i] - came[i]) / count[i]);
        return most;
    }
};

} // namespace

TEST_CASE("sibling_times: quantiles are those of the siblings") {
    std::uint64_t const seed = straggle_test::seed_or(18);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    for (family const& f : families()) {
        CAPTURE(f.name);
        sibling_times times;
        std::vector<double> all;
        for (int i = 0; i < 2000; ++i) {
            all.push_back(f.next(g));
            REQUIRE(times.observe(1, no_kind, all.back()));
        }
        std::sort(all.begin(), all.end());
        time_outlook out;
        REQUIRE(times.outlook(1, no_kind, {}, out));
        CHECK(out.usual() == doctest::Approx(all[1000]).epsilon(0.03));
        CHECK(out.siblings() == 2000);
        for (double const q : {0.1, 0.25, 0.5, 0.75, 0.9})
            CHECK(out.survival(all[static_cast<std::size_t>(q * 2000)]) ==
                  doctest::Approx(1 - q).epsilon(0.02));
        // Given an age: the siblings that lived to it.
        double const age = all[1400];
        time_points const after = out.times_after(age);
        CHECK(after.quantile(0.5) == doctest::Approx(all[1700]).epsilon(0.06));
        CHECK(out.median_after(age) == doctest::Approx(all[1700]).epsilon(0.06));
    }
}

TEST_CASE("sibling_times: what a running task has left is what was claimed") {
    std::uint64_t const seed = straggle_test::seed_or(22);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    for (family const& f : families()) {
        CAPTURE(f.name);
        sibling_times times;
        reliability longer, left;
        for (std::uint64_t job = 0; job < 400; ++job) {
            // A job of 40 tasks that began together, looked at when a part of it has ended.
            std::array<double, 40> took;
            for (double& t : took) t = f.next(g);
            std::array<double, 40> sorted = took;
            std::sort(sorted.begin(), sorted.end());
            double const now = sorted[20 + job % 19] * 1.01;
            std::vector<sized_task> running;
            for (double const t : took)
                if (t <= now)
                    times.observe(job, 7, t);
                else
                    running.push_back({.age = now});
            time_outlook out;
            if (job >= 20 && times.outlook(job, 7, running, out)) {
                time_points const at = out.times_after(now);
                for (double const t : took) {
                    if (t <= now) continue;
                    for (double const factor : {1.1, 1.3, 1.6, 2.0, 3.0})
                        longer.add(out.survival_after(now, factor * now), t > factor * now);
                    for (double const q : {0.2, 0.5, 0.8}) left.add(q, t < at.quantile(q));
                }
            }
            for (double const t : took)
                if (t > now) times.observe(job, 7, t);
            times.finish(job);
        }
        CHECK(longer.worst() < 0.1);
        CHECK(left.worst() < 0.1);
    }
}

TEST_CASE("sibling_times: a burst ends in the order of lengths, and its first tasks are not the usual ones") {
    sibling_times times;
    std::vector<sized_task> running(95, sized_task{.age = 5.2});
    for (int i = 0; i < 5; ++i) times.observe(1, 3, 5 + 0.01 * i);
    time_outlook out;
    CHECK_FALSE(times.outlook(1, 3, running, out)); // half has to be seen, as the kind is new
    CHECK_FALSE(times.outlook(2, 3, {}, out));
    for (std::uint64_t job = 10; job < 30; ++job) { // it has been seen now: 10 and a little
        for (int i = 0; i < 20; ++i) times.observe(job, 3, 10 * std::exp(0.4 * (i - 9.5) / 10));
        times.finish(job);
    }
    REQUIRE(times.outlook(1, 3, running, out));
    CHECK(out.usual() > 7.5);
    REQUIRE(times.outlook(2, 3, {}, out)); // before any task of the job has ended
    CHECK(out.usual() == doctest::Approx(10).epsilon(0.1));
    CHECK(out.siblings() == 0);
}

TEST_CASE("sibling_times: nodes and inputs are taken out of the times, and put in again") {
    std::uint64_t const seed = straggle_test::seed_or(5);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    sibling_times times;
    time_outlook out;
    for (int i = 0; i < 60; ++i) times.observe(1, no_kind, i % 3 == 0 ? 30 : 10, i % 3 == 0 ? 3 : 1);
    REQUIRE(times.outlook(1, no_kind, {}, out));
    CHECK(out.usual() == doctest::Approx(10).epsilon(0.03));
    CHECK(times.factor(1, no_kind, {.slowdown = 3}) == doctest::Approx(3));
    // Time is in proportion to input.
    for (int i = 0; i < 300; ++i) {
        double const input = 1e6 * std::exp(std::normal_distribution<>()(g));
        times.observe(2, 5, 1e-5 * input * std::exp(0.1 * std::normal_distribution<>()(g)), 1, input);
    }
    REQUIRE(times.outlook(2, 5, {}, out));
    double const big = times.factor(2, 5, {.slowdown = 1, .input = 1e7}) * out.usual();
    CHECK(big == doctest::Approx(100).epsilon(0.1));
    // Time does not depend on it.
    for (int i = 0; i < 300; ++i)
        times.observe(3, 6, 10 * std::exp(0.1 * std::normal_distribution<>()(g)), 1,
                      1e6 * std::exp(std::normal_distribution<>()(g)));
    REQUIRE(times.outlook(3, 6, {}, out));
    CHECK(times.factor(3, 6, {.slowdown = 1, .input = 1e7}) /
              times.factor(3, 6, {.slowdown = 1, .input = 1e6}) <
          1.25);
    // As long as it is not known, more input may need more time.
    sibling_times fresh;
    for (int i = 0; i < 9; ++i) fresh.observe(1, no_kind, 10, 1, 1e6);
    CHECK(fresh.factor(1, no_kind, {.slowdown = 1, .input = 1e7}) > 5);
    CHECK(fresh.factor(1, no_kind, {.slowdown = 1, .input = 1e5}) == doctest::Approx(1));
}

TEST_CASE("sibling_times: the parts of a time: input, crowd, and the job against its kind") {
    std::uint64_t const seed = straggle_test::seed_or(6);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    std::normal_distribution<> normal;
    std::uniform_real_distribution<> u;
    sibling_times times;
    time_outlook out;
    // Time is in proportion to input, and twice as long on a full node; the last job takes three times as
    // long.
    constexpr std::uint64_t last = 30;
    for (std::uint64_t job = 1; job <= last; ++job) {
        for (int i = 0; i < 40; ++i) {
            double const input = 1e6 * std::exp(0.5 * normal(g)), crowd = u(g);
            double const time = 1e-5 * input * std::exp2(crowd) * std::exp(0.1 * normal(g));
            times.observe(job, 1, (job == last ? 3 : 1) * time, 1, input, crowd);
        }
        if (job < last) times.finish(job);
    }
    REQUIRE(times.outlook(last, 1, {}, out));
    auto const parts = times.parts(last, 1, {.input = 2e6, .crowd = 1}, out);
    CHECK(std::exp(parts.input.mean) == doctest::Approx(2).epsilon(0.15)); // against the mean, 1e6
    CHECK(parts.input.deviation < 0.1);
    CHECK(std::exp(parts.crowd.mean) == doctest::Approx(std::sqrt(2)).epsilon(0.1)); // against half full
    CHECK(std::exp(parts.kind.mean) == doctest::Approx(3).epsilon(0.15));
    CHECK(parts.usual == doctest::Approx(30 * std::sqrt(2)).epsilon(0.15));
    // What is not known has no part.
    auto const blank = times.parts(last, 1, {}, out);
    CHECK(blank.input == predict::log_factor{});
    CHECK(blank.crowd == predict::log_factor{});
    auto const other = times.parts(99, 7, {.input = 2e6, .crowd = 1}, out);
    CHECK(other.input == predict::log_factor{});
    CHECK(other.crowd == predict::log_factor{});
}

TEST_CASE("sibling_times: a job of which nothing has ended has the usual input of its kind") {
    sibling_times times;
    time_outlook out;
    for (std::uint64_t job = 1; job <= 10; ++job) {
        for (int i = 0; i < 20; ++i) {
            double const input = i % 5 == 0 ? 3e6 : 1e6;
            times.observe(job, 1, 1e-5 * input * (1 + 0.01 * i), 1, input);
        }
        times.finish(job);
    }
    // Three times the input may take three times as long: it is not late.
    CHECK(times.factor(99, 1, {.input = 3e6}) / times.factor(99, 1, {.input = 1e6}) ==
          doctest::Approx(3).epsilon(0.1));
    std::vector<sized_task> const running{{12, 1, 1e6}, {12, 1, 1e6}, {12, 1, 1e6}, {12, 1, 3e6}};
    REQUIRE(times.outlook(99, 1, running, out));
    auto const parts = times.parts(99, 1, {.input = 3e6}, out);
    CHECK(std::exp(parts.input.mean) == doctest::Approx(std::pow(3, 0.75)).epsilon(0.1)); // against 3^1/4
}

TEST_CASE("sibling_times: another unit of time gives the same answers in it") {
    std::uint64_t const seed = straggle_test::seed_or(9);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    sibling_times seconds, milliseconds;
    time_outlook a, b;
    for (int i = 0; i < 500; ++i) {
        double const t = std::exp(std::normal_distribution<>()(g));
        auto const job = static_cast<std::uint64_t>(i / 50);
        seconds.observe(job, 1, t);
        milliseconds.observe(job, 1, 1000 * t);
        if (i % 50 == 49 && i < 450) {
            seconds.finish(job);
            milliseconds.finish(job);
        }
    }
    REQUIRE(seconds.outlook(9, 1, {}, a));
    REQUIRE(milliseconds.outlook(9, 1, {}, b));
    CHECK(b.usual() == doctest::Approx(1000 * a.usual()).epsilon(1e-9));
    CHECK(b.survival_after(700, 2000) == doctest::Approx(a.survival_after(0.7, 2)).epsilon(1e-9));
}

TEST_CASE(
    "sibling_times: bad facts are refused, memory is bounded, and nothing is allocated in the steady state") {
    sibling_times times({.most_jobs = 10, .most_kinds = 4});
    for (double const bad : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
        CHECK_FALSE(times.observe(1, 1, bad));
    CHECK_FALSE(times.observe(1, 1, 1, 0));
    CHECK(times.rejected() == 5);
    CHECK(times.jobs() == 0);
    auto const work = [&](std::uint64_t from) {
        time_outlook out;
        for (std::uint64_t job = from; job < from + 50; ++job)
            for (int i = 0; i < 20; ++i) {
                times.observe(job, static_cast<std::uint32_t>(job % 6), 1 + i);
                if (i % 5 == 0)
                    static_cast<void>(times.outlook(job, static_cast<std::uint32_t>(job % 6), {}, out));
            }
    };
    work(0);
    CHECK(times.jobs() == 10);
    CHECK(times.kinds() == 4);
    CHECK(times.over_capacity() > 0);
    CHECK(straggle_test::allocations_during([&] { work(1000); }) == 0);
    time_outlook out;
    CHECK(times.outlook(1049, 1049 % 6, {}, out));
}

TEST_CASE("sibling_times: what was learned goes through bytes, and two halves make a whole") {
    sibling_times a, b, all;
    for (std::uint64_t job = 0; job < 20; ++job) {
        for (int i = 0; i < 30; ++i) {
            double const t = 5 + (i * 7 + static_cast<int>(job)) % 11;
            (job % 2 ? a : b).observe(job, 1, t);
            all.observe(job, 1, t);
        }
        (job % 2 ? a : b).finish(job);
        all.finish(job);
    }
    byte_writer out;
    a.write(out);
    sibling_times back;
    byte_reader in(out.payload());
    back.read(in);
    CHECK(in.finish() == status::ok);
    time_outlook x, y;
    REQUIRE(a.outlook(99, 1, {}, x));
    REQUIRE(back.outlook(99, 1, {}, y));
    CHECK(x.usual() == y.usual());
    CHECK(x.times_after(3) == y.times_after(3));
    a.merge(b);
    REQUIRE(a.outlook(99, 1, {}, x));
    REQUIRE(all.outlook(99, 1, {}, y));
    CHECK(x.usual() == doctest::Approx(y.usual()).epsilon(0.02));
    CHECK(x.survival(10) == doctest::Approx(y.survival(10)).epsilon(0.05));
    for (std::size_t cut = 0; cut < out.payload().size(); cut += 7) { // never more than was asked for
        byte_reader part(out.payload().first(cut));
        sibling_times().read(part);
        CHECK_FALSE(part.ok());
    }
}
