// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/detail/onset_watch.hpp>

#include <straggle/rank/slowdown_evidence.hpp>

#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using namespace straggle;

namespace {

// Nodes that become slow and recover; each ends a task in a window, whose score is normal.
struct nodes_that_change {
    double onset, end, shift; // once in so many windows; how far scores of slow nodes are shifted
    std::vector<bool> slow;

    template <class Engine>
    void step(Engine& engine) {
        std::uniform_real_distribution<> any(0, 1);
        for (std::size_t i = 0; i < slow.size(); ++i)
            slow[i] = slow[i] ? any(engine) > end : any(engine) < onset;
    }
    template <class Engine>
    [[nodiscard]] double score(std::size_t node, Engine& engine) const {
        return std::normal_distribution<>(slow[node] ? shift : 0, 1)(engine);
    }
};

// What scores cost where nothing is wrong, were they normal.
detail::score_rates normal_prices() {
    detail::score_rates prices{};
    for (std::size_t k = 0; k < prices.size(); ++k)
        prices[k] = detail::rates_of_scores[k] * detail::rates_of_scores[k] / 2;
    return prices;
}

} // namespace

TEST_CASE("onset_filter: nearly what Bayes says who knows everything, and true where it says something") {
    std::uint64_t const seed = straggle_test::seed_or(71);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    detail::score_rates const prices = normal_prices();
    nodes_that_change nodes{1.0 / 200, 1.0 / 20, 2, std::vector<bool>(50)};
    std::vector<detail::onset_filter> filters(nodes.slow.size());
    std::vector<double> exact(nodes.slow.size()); // posterior of the two states, by the forward algorithm
    detail::onset_rate const rate;                // begins with one in 200
    CHECK(rate.log() == doctest::Approx(std::log(1.0 / 200)));
    double brier = 0, brier_exact = 0, brier_never = 0;
    std::array<double, 4> said{}, came{}, cases{};
    int n = 0;
    for (int window = 0; window < 4000; ++window) {
        nodes.step(engine);
        for (std::size_t i = 0; i < filters.size(); ++i) {
            filters[i].begin_window(rate);
            double const score = nodes.score(i, engine);
            filters[i].add(score, 1, prices);
            double const before = exact[i] * (1 - nodes.end) + (1 - exact[i]) * nodes.onset;
            double const likelier = std::exp(nodes.shift * score - nodes.shift * nodes.shift / 2);
            exact[i] = before * likelier / (before * likelier + 1 - before);
            double const told = filters[i].chance(0, 0, prices, rate), truth = nodes.slow[i] ? 1 : 0;
            brier += (told - truth) * (told - truth);
            brier_exact += (exact[i] - truth) * (exact[i] - truth);
            brier_never += truth;
            std::size_t const tenth = told < 0.1 ? 0 : told < 0.5 ? 1 : told < 0.9 ? 2 : 3;
            said[tenth] += told;
            came[tenth] += truth;
            cases[tenth] += 1;
            ++n;
        }
    }
    CHECK(brier_never / n > 0.06); // a tenth of the time is slow
    CHECK(brier_exact < 0.35 * brier_never);
    CHECK(brier < 1.4 * brier_exact); // it knows neither the shift nor how soon nodes recover
    for (std::size_t t = 0; t < said.size(); ++t) {
        CAPTURE(t);
        REQUIRE(cases[t] > 500);
        CHECK(std::abs(said[t] - came[t]) / cases[t] < 0.2);
    }
}

TEST_CASE("onset_filter: a node that has recovered is soon no longer thought slow, however long it was") {
    detail::score_rates const prices = normal_prices();
    detail::onset_rate const rate;
    for (int const long_slow : {5, 50, 5000}) {
        CAPTURE(long_slow);
        detail::onset_filter filter;
        for (int i = 0; i < long_slow; ++i) {
            filter.begin_window(rate);
            filter.add(2, 1, prices);
        }
        CHECK(filter.chance(0, 0, prices, rate) > 0.8);
        int tasks = 0;
        for (; filter.chance(0, 0, prices, rate) > 0.1; ++tasks) {
            filter.begin_window(rate);
            filter.add(0, 1, prices);
        }
        CHECK(tasks <= 10);
    }
}

TEST_CASE("onset_rate: learns how often nodes become slow, and fades") {
    detail::onset_rate rate;
    for (int i = 0; i < 1000; ++i) rate.next_window(100, i % 2);
    CHECK(std::exp(rate.log()) == doctest::Approx(1.0 / 200).epsilon(0.05));
    for (int i = 0; i < 2000; ++i) rate.next_window(100, 0);
    CHECK(std::exp(rate.log()) < 1.0 / 20000);
    for (int i = 0; i < 20; ++i) rate.next_window(100, 10);
    CHECK(std::exp(rate.log()) > 1.0 / 200); // a bad hour shows soon
}

TEST_CASE("onset_filter: what is known of a node by now explains what it did before") {
    detail::score_prices const prices;
    detail::onset_rate const rate;
    detail::score_rates const up = prices.upward();
    // Three tasks at three standard deviations, before and after it is known that two of them are usual
    // there.
    detail::onset_filter before, after;
    before.add(9, 3, up);
    after.add(3, 3, up);
    CHECK(before.chance(0, 0, up, rate) > 0.8);
    CHECK(after.chance(0, 0, up, rate) == 0);
    before.count_beyond(1, 0.5);
    CHECK(before.chance(0.5, 1, up, rate) == after.chance(0.5, 1, up, rate));
    CHECK(before.chance(9, 3, up, rate) == doctest::Approx(after.chance(9, 3, up, rate)));
    before.count_beyond(0, 0.5); // and when that proves to be wrong
    CHECK(before.chance(0, 0, up, rate) > 0.8);
    // What another one has counted is beyond what it says there.
    detail::onset_filter theirs, mine;
    theirs.count_beyond(1, 0.5);
    theirs.add(9, 3, up);
    double const chance = theirs.chance(0, 0, up, rate);
    mine.merge(theirs);
    mine.count_beyond(1, 0.5);
    CHECK(mine.chance(0, 0, up, rate) == chance);
    detail::onset_filter nothing;
    nothing.count_beyond(5, 1);
    CHECK(nothing.chance(6, 2, up, rate) == detail::onset_filter().chance(6, 2, up, rate));
}

TEST_CASE("onset_extent: learns how slow slow nodes are, and is told by the first tasks") {
    detail::onset_extent extent;
    CHECK(extent.value() == doctest::Approx(std::sqrt(8.0)));
    for (int i = 0; i < 30; ++i) extent.learn(std::log(1.5));
    CHECK(extent.value() == doctest::Approx(1.5).epsilon(0.2));
    detail::onset_extent other;
    for (int i = 0; i < 300; ++i) other.learn(std::log(5.0));
    CHECK(other.value() == doctest::Approx(5).epsilon(0.05));
    extent.merge(other);
    CHECK(extent.value() > 3.5);
    for (int i = 0; i < 300; ++i) extent.learn(-1);
    CHECK(extent.value() == 1); // no node is thought to be faster
}

TEST_CASE("slow_now: before it is proved, from what runs and what ended") {
    std::uint64_t const seed = straggle_test::seed_or(72);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    constexpr std::uint32_t count = 40, sick = 7;
    slowdown_evidence evidence;
    std::vector<std::uint32_t> const slots(count, 1);
    double now = 0, healthy = 0, earliest = -1, told_proof = -1;
    int looks = 0, thought = 0;
    std::normal_distribution<> normal;
    for (std::uint64_t job = 0; job < 260; ++job) {
        // Every node runs a task of each job; from the 200th on one node needs three times as long.
        bool const is_slow = job >= 200 && job < 230;
        std::vector<double> took(count);
        for (std::uint32_t i = 0; i < count; ++i)
            took[i] = std::exp(0.4 * normal(engine)) * (is_slow && i == sick ? 3 : 1);
        for (double part = 0.25; part <= 3.5; part += 0.25) {
            std::vector<running_attempt> running;
            for (std::uint32_t i = 0; i < count; ++i) {
                if (took[i] > part)
                    running.push_back({.node = i, .job = job, .task = i, .start = now});
                else if (took[i] > part - 0.25)
                    evidence.observe({i, job, i, now, now + took[i]});
            }
            evidence.update(now + part, running, slots);
            for (std::uint32_t i = 0; i < count; ++i) {
                double const chance = evidence.slow_now(i).chance;
                CHECK((chance >= 0 && chance <= 1));
                if (i != sick) {
                    healthy += chance;
                    thought += chance > 0.5 ? 1 : 0;
                    ++looks;
                } else if (is_slow && chance > 0.5 && earliest < 0) {
                    earliest = static_cast<double>(job) + part;
                }
            }
            if (is_slow && told_proof < 0 && evidence.is_slow(sick, std::log(1.25e3 * count)))
                told_proof = static_cast<double>(job) + part;
        }
        for (std::uint32_t i = 0; i < count; ++i)
            if (took[i] > 3.5) evidence.observe({i, job, i, now, now + took[i]});
        evidence.finish_job(job);
        now += 4;
    }
    CHECK(earliest >= 200);
    CHECK(earliest < 206);
    CHECK(told_proof > earliest); // a guess comes before the proof
    CHECK(healthy / looks < 0.01);
    CHECK(thought < looks / 500);
    CHECK(evidence.slow_now(sick).chance < 0.1); // well again
    CHECK(evidence.slow_now(count + 5) == record::slow_guess{});

    byte_writer out;
    evidence.write(out);
    slowdown_evidence back;
    byte_reader in(out.payload());
    REQUIRE(back.read(in) == status::ok);
    now += 1;
    for (slowdown_evidence* const e : {&back, &evidence}) e->update(now, {}, slots);
    for (std::uint32_t i = 0; i < count; ++i) CHECK(back.slow_now(i) == evidence.slow_now(i));
}
