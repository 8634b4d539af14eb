// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A node is compared by what its tasks had to read: on fleets where one node always gets the large inputs.

#include <straggle/rank/rank_nodes.hpp>
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
        outcome out;
        auto const attempts = history(seed, jobs);
        std::size_t next = 0;
        for (std::uint64_t j = 0; j < jobs; ++j) {
            for (; next < attempts.size() && attempts[next].job == j; ++next)
                evidence.observe(attempts[next]);
            evidence.finish_job(j);
            evidence.update(40 * static_cast<double>(j + 1), {}, {});
            double const threshold = std::log(1000.0 * nodes);
            out.named += evidence.is_slow(skewed, threshold);
            out.named_other += evidence.is_slow(5, threshold);
        }
        return out;
    }
    // Job by job.
    std::vector<ended_attempt> history(std::uint64_t seed, unsigned jobs) const {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        std::vector<ended_attempt> out;
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
                    out.push_back(a);
                }
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

namespace {

template <class Ranking>
slowdown slowdown_in(Ranking const& ranking) {
    for (auto const& n : ranking.nodes())
        if (n.id == skewed) return n.slow;
    return {};
}

} // namespace

TEST_CASE("inputs: a whole history is compared like a stream") {
    attempt_fields const fields{.job = &ended_attempt::job,
                                .node = &ended_attempt::node,
                                .start = &ended_attempt::start,
                                .end = &ended_attempt::end,
                                .input = &ended_attempt::input,
                                .kind = &ended_attempt::kind};
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        for (std::uint64_t const kinds : {1u, 2u})
            for (double const slow : {1.0, 1.8}) {
                INFO("seed ", seed, ", kinds ", kinds, ", slow ", slow);
                skewed_fleet const fleet{.slow = slow, .kinds = kinds};
                auto const attempts = fleet.history(seed, 40);
                slowdown_evidence evidence;
                fleet.run(evidence, seed, 40);
                slowdown const stream = evidence.slowdown_of(skewed);
                node_ranker<ended_attempt, decltype(fields)> whole(fields);
                slowdown const batch = slowdown_in(whole.rank(attempts));
                // The stream settles for an exponent within half its standard error.
                CHECK(batch.value == doctest::Approx(stream.value).epsilon(0.02));
                CHECK(batch.value == doctest::Approx(slow).epsilon(0.05));

                std::vector<node_ranker<ended_attempt, decltype(fields)>> shards(2, whole);
                std::vector<ended_attempt> parts[2];
                for (ended_attempt const& a : attempts) parts[a.job % 3 == 0].push_back(a);
                for (std::size_t i = 0; i < 2; ++i) shards[i].rank(parts[i]);
                slowdown const joined = slowdown_in(whole.rank_shards(shards));
                CHECK(joined.value == doctest::Approx(batch.value).epsilon(0.01));
            }
}
