// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/mitigate/effect_meter.hpp>

#include "support/contract_trap.hpp"
#include "support/seed.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

using namespace straggle;
using mitigate::action_kind;
using mitigate::effect_meter;

namespace {

// Things of five kinds that differ by far more than what is measured; `ratio`: how many times as long with.
void show(effect_meter& meter, action_kind kind, double ratio, int things, std::uint64_t seed,
          double share = 0.2) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, 0.3);
    std::uniform_real_distribution<double> unit(0, 1);
    for (int i = 0; i < things; ++i) {
        std::uint64_t const stratum = random() % 5;
        bool const treated = unit(random) >= share;
        meter.observe(kind, stratum, treated,
                      std::exp(2.0 * static_cast<double>(stratum) + noise(random)) * (treated ? ratio : 1.0));
    }
}

} // namespace

TEST_CASE("effect: the interval holds the truth, at all times at once") {
    std::uint64_t const seed = straggle_test::seed_or(11);
    INFO("seed ", seed);
    int missed = 0;
    for (std::uint64_t run = 0; run < 200; ++run) {
        effect_meter meter;
        bool in = true;
        for (int part = 0; part < 20; ++part) {
            show(meter, action_kind::copy, 0.9, 100, seed + run * 20 + static_cast<std::uint64_t>(part));
            auto const e = meter.effect_of(action_kind::copy);
            in = in && e.low <= 0.9 && 0.9 <= e.high;
        }
        missed += in ? 0 : 1;
        CHECK(meter.effect_of(action_kind::copy).value == doctest::Approx(0.9).epsilon(0.1));
    }
    CHECK(missed <= 10); // of 200, at 95 %
}

TEST_CASE("effect: what makes things longer is stopped and may try again; what helps is not") {
    std::uint64_t const seed = straggle_test::seed_or(12);
    INFO("seed ", seed);
    effect_meter meter;
    CHECK_FALSE(meter.judge(action_kind::exclusion));
    show(meter, action_kind::exclusion, 1.3, 3000, seed);
    show(meter, action_kind::copy, 0.8, 3000, seed + 1);
    show(meter, action_kind::placement, 1.0, 3000, seed + 2);
    CHECK(meter.judge(action_kind::exclusion));
    CHECK_FALSE(meter.judge(action_kind::exclusion)); // told once
    CHECK_FALSE(meter.judge(action_kind::copy));
    CHECK_FALSE(meter.judge(action_kind::placement));
    CHECK(meter.is_stopped(action_kind::exclusion));
    CHECK(meter.effect_of(action_kind::exclusion).is_stopped);
    CHECK(meter.effect_of(action_kind::exclusion).low > 1);
    meter.resume(action_kind::exclusion);
    CHECK_FALSE(meter.is_stopped(action_kind::exclusion));
    CHECK_FALSE(meter.effect_of(action_kind::exclusion).is_known());
}

TEST_CASE("effect: little is known of little, and of what makes no sense nothing") {
    effect_meter meter;
    for (double const t : {0.0, -1.0, std::nan(""), HUGE_VAL}) meter.observe(action_kind::copy, 1, true, t);
    CHECK(meter.effect_of(action_kind::copy) == mitigate::effect{});
    for (int i = 0; i < 1000; ++i) meter.observe(action_kind::copy, 1, true, 5);
    for (int i = 0; i < 19; ++i) meter.observe(action_kind::copy, 1, false, 1);
    CHECK_FALSE(meter.effect_of(action_kind::copy).is_known());
    meter.observe(action_kind::copy, 1, false, 1);
    CHECK(meter.effect_of(action_kind::copy).is_known());
    CHECK(meter.effect_of(action_kind::copy).value == doctest::Approx(5).epsilon(0.01));
}

TEST_CASE("effect: order and merging change no bit; bytes come back") {
    std::uint64_t const seed = straggle_test::seed_or(13);
    std::vector<double> times;
    std::mt19937_64 random(seed);
    for (int i = 0; i < 500; ++i) times.push_back(1 + static_cast<double>(random() % 1000));
    effect_meter forward, backward, first, second;
    for (std::size_t i = 0; i < times.size(); ++i) {
        forward.observe(action_kind::copy, i % 3, i % 4 != 0, times[i]);
        std::size_t const k = times.size() - 1 - i;
        backward.observe(action_kind::copy, k % 3, k % 4 != 0, times[k]);
        (i % 2 ? first : second).observe(action_kind::copy, i % 3, i % 4 != 0, times[i]);
    }
    first.merge(second);
    CHECK(forward.effect_of(action_kind::copy) == backward.effect_of(action_kind::copy));
    CHECK(forward.effect_of(action_kind::copy) == first.effect_of(action_kind::copy));
    byte_writer out;
    base::write_fields(out, forward);
    effect_meter read;
    byte_reader in(out.payload());
    base::read_fields(in, read);
    CHECK(in.finish() == status::ok);
    CHECK(read.effect_of(action_kind::copy) == forward.effect_of(action_kind::copy));
}

TEST_CASE("effect: old things fade, so that what has begun to hurt is stopped") {
    effect_meter meter(mitigate::effect_options{.most = 2000});
    show(meter, action_kind::copy, 0.7, 20000, 5);
    CHECK(meter.effect_of(action_kind::copy).value < 0.8);
    show(meter, action_kind::copy, 1.5, 12000, 6);
    CHECK(meter.judge(action_kind::copy));
}

TEST_CASE("effect: the share of jobs that are left alone is what it says, by the key") {
    effect_meter a(mitigate::effect_options{.left_alone = 0.1, .key = 1}),
        b(mitigate::effect_options{.left_alone = 0.1, .key = 2}),
        none(mitigate::effect_options{.left_alone = 0});
    int in_a = 0, in_both = 0;
    for (std::uint64_t job = 0; job < 100000; ++job) {
        in_a += a.is_left_alone(job);
        in_both += a.is_left_alone(job) && b.is_left_alone(job);
        REQUIRE_FALSE(none.is_left_alone(job));
        REQUIRE(a.is_left_alone(job) == a.is_left_alone(job));
    }
    CHECK(std::abs(in_a - 10000) < 400);
    CHECK(std::abs(in_both - 1000) < 150);
    straggle_test::contract_trap trap;
    CHECK_THROWS_AS(effect_meter(mitigate::effect_options{.left_alone = 1}), straggle_test::broken_contract);
    CHECK_THROWS_AS(effect_meter(mitigate::effect_options{.left_alone = std::nan("")}),
                    straggle_test::broken_contract);
    CHECK_THROWS_AS(effect_meter(mitigate::effect_options{.level = 0}), straggle_test::broken_contract);
}

TEST_CASE("effect: kinds have names") {
    CHECK(mitigate::to_string(action_kind::exclusion) == "exclusion");
    CHECK(mitigate::to_string(action_kind::placement) == "placement");
}
