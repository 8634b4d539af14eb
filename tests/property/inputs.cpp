// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A node is compared by what its tasks had to read: on fleets where one node always gets the large inputs.

#include <straggle/rank/slowdown_evidence.hpp>

#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using namespace straggle;

namespace {

constexpr std::uint32_t nodes = 8, skewed = 3;

struct skewed_fleet {
    double exponent = 1;   // time grows with this power of input
    double slow = 1;       // of the node with large inputs
    double larger = 2.5;   // its inputs
    double other_slow = 1; // of another node
    unsigned tasks = 6;    // of a job on each node
    bool passes_input = true;
    std::uint64_t kinds = 1; // the second one does not depend on input

    struct outcome {
        int named = 0, named_other = 0; // in how many jobs
    };
    outcome run(slowdown_evidence& evidence, std::uint64_t seed, unsigned jobs) const {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        outcome out;
        for (std::uint64_t j = 0; j < jobs; ++j) {
            std::uint64_t const kind = 1 + j % kinds;
            double const now = 40 * static_cast<double>(j);
            for (std::uint32_t n = 0; n < nodes; ++n)
                for (unsigned t = 0; t < tasks; ++t) {
                    double const input = 1e7 * std::exp(0.2 * normal(random)) * (n == skewed ? larger : 1);
                    double const power = kind == 1 ? exponent : 0;
                    double const length = 10 * std::pow(input / 1e7, power) *
                                          std::exp(0.05 * normal(random)) *
                                          (n == skewed ? slow
                                           : n == 5    ? other_slow
                                                       : 1.0);
                    ended_attempt a{
                        .node = n, .job = j, .task = 100 * n + t, .start = now, .end = now + length};
                    if (passes_input) {
                        a.input = input;
                        a.kind = kind;
                    }
                    evidence.observe(a);
                }
            evidence.finish_job(j);
            evidence.update(now + 40, {}, {});
            double const threshold = std::log(1000.0 * nodes);
            out.named += evidence.is_slow(skewed, threshold);
            out.named_other += evidence.is_slow(5, threshold);
        }
        return out;
    }
};

} // namespace

TEST_CASE("inputs: large ones make no node slow") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (double const exponent : {0.5, 1.0}) {
            INFO("seed ", seed, ", exponent ", exponent);
            slowdown_evidence evidence;
            auto const out = skewed_fleet{.exponent = exponent}.run(evidence, seed, 30);
            CHECK(out.named == 0);
            slowdown const s = evidence.slowdown_of(skewed);
            CHECK(s.low < 1.03);
            CHECK(s.value == doctest::Approx(1).epsilon(0.05));
        }
    // That is what inputs are passed for.
    slowdown_evidence blind;
    CHECK(skewed_fleet{.passes_input = false}.run(blind, 1, 30).named > 20);
}

TEST_CASE("inputs: a slow node is found behind its large ones") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (double const larger : {2.5, 1 / 2.5}) {
            INFO("seed ", seed, ", larger ", larger);
            slowdown_evidence evidence;
            auto const out = skewed_fleet{.slow = 1.8, .larger = larger}.run(evidence, seed, 30);
            CHECK(out.named > 20);
            CHECK(evidence.slowdown_of(skewed).value == doctest::Approx(1.8).epsilon(0.08));
        }
}

TEST_CASE("inputs: where time does not depend on them nothing changes") {
    // A slope is invented where three standard errors say so by chance: in 1 of 700 looks at one kind.
    unsigned same = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        slowdown_evidence with, without;
        skewed_fleet fleet{.exponent = 0, .other_slow = 1.5};
        auto const a = fleet.run(with, seed, 20);
        fleet.passes_input = false;
        auto const b = fleet.run(without, seed, 20);
        same += with.slowdown_of(5).value == without.slowdown_of(5).value && a.named_other == b.named_other;
        CHECK(with.slowdown_of(skewed).value == doctest::Approx(1).epsilon(0.1));
    }
    CHECK(same >= 18);
}

TEST_CASE("inputs: each kind of job has its own exponent") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        slowdown_evidence evidence;
        CHECK(skewed_fleet{.kinds = 2}.run(evidence, seed, 40).named == 0);
        CHECK(evidence.slowdown_of(skewed).value == doctest::Approx(1).epsilon(0.05));
    }
}

TEST_CASE("inputs: what was learned is stored, and joined") {
    slowdown_evidence one;
    skewed_fleet{}.run(one, 3, 30);
    byte_writer out;
    one.write(out);
    auto const bytes = std::move(out).seal(frame_kind("test"), 1);
    auto const frame = open_frame(bytes, frame_kind("test"), 1);
    REQUIRE(frame);
    byte_reader in = frame->payload;
    slowdown_evidence back;
    REQUIRE(back.read(in) == status::ok);
    back.update(1200, {}, {});
    CHECK(back.slowdown_of(skewed).value == doctest::Approx(one.slowdown_of(skewed).value).epsilon(1e-9));

    slowdown_evidence joined;
    std::vector<std::uint32_t> same;
    for (std::uint32_t n = 0; n < nodes; ++n) same.push_back(n);
    joined.merge(one, same);
    joined.update(1200, {}, {});
    CHECK(joined.slowdown_of(skewed).value == doctest::Approx(1).epsilon(0.05));
}
