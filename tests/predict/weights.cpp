// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/weights.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"
#include "pairs_of_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle::status;
using straggle::predict::real_similarity;
using straggle::predict::weight_fit;
using straggle::predict::weight_objective;
using straggle::predict::weight_options;
using straggle::predict::weight_scratch;

using straggle_test::affine;
using straggle_test::fit_of;
using straggle_test::fitted;
using straggle_test::furthest;
using straggle_test::literal;
using straggle_test::pair_of_tasks;
using straggle_test::pairs;
using straggle_test::tiny;
using straggle_test::weights_of;

using limits = std::numeric_limits<double>;
constexpr double nan = limits::quiet_NaN();
constexpr double inf = limits::infinity();

TEST_CASE("real similarity: numbers by hand") {
    CHECK(*real_similarity(15, 10, 20, 14) == 1);
    CHECK(*real_similarity(10, 10, 20, 14) == 1);
    CHECK(*real_similarity(20, 10, 20, 14) == 1);
    CHECK(*real_similarity(25, 10, 20, 14) == doctest::Approx(1 - 5.0 / 25));
    CHECK(*real_similarity(7, 10, 20, 14) == doctest::Approx(1 - 3.0 / 14));
    CHECK(*real_similarity(0, 10, 20, 14) == doctest::Approx(1 - 10.0 / 14));
    // One record as the range.
    CHECK(*real_similarity(30, 60) == 0.5);
    CHECK(*real_similarity(60, 30) == 0.5);
    CHECK(*real_similarity(60, 60) == 1);
    CHECK(*real_similarity(0, 0) == 1);
    CHECK(*real_similarity(0, 1) == 0);
    CHECK(*real_similarity(limits::max(), limits::denorm_min()) == 0);
    static_assert(*real_similarity(1, 4) == 0.25);
}

TEST_CASE("real similarity: the printed formula outside the range, 1 inside, never outside [0, 1]") {
    std::uint64_t const seed = straggle_test::seed_or(1);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    for (int i = 0; i < 20000; ++i) {
        double const scale = std::ldexp(1, static_cast<int>(next() >> 58) - 32);
        double low = scale * next.unit(), high = scale * next.unit();
        if (low > high) std::swap(low, high);
        double const t = 1.5 * scale * next.unit(), mean = low + next.unit() * (high - low);
        double const printed = 1 - (std::min)(std::fabs(t - high), std::fabs(low - t)) / (std::max)(t, mean);
        bool const inside = t >= low && t <= high;
        CHECK(std::fabs(*real_similarity(t, low, high, mean) - (inside ? 1 : printed)) <= 4e-16);
        // Whatever is called the mean.
        for (double const m : {0.0, -scale, 10 * scale}) {
            double const r = *real_similarity(t, low, high, m);
            CHECK((r >= 0 && r <= 1));
        }
    }
}

TEST_CASE("real similarity: what is no time and no range") {
    for (double const bad : {nan, inf, -inf}) {
        CHECK(real_similarity(bad, 1, 2, 1.5).reason() == status::out_of_domain);
        CHECK(real_similarity(1, bad, 2, 1.5).reason() == status::out_of_domain);
        CHECK(real_similarity(1, 1, bad, 1.5).reason() == status::out_of_domain);
        CHECK(real_similarity(1, 1, 2, bad).reason() == status::out_of_domain);
        CHECK(real_similarity(1, bad).reason() == status::out_of_domain);
    }
    CHECK(real_similarity(-1, 1, 2, 1.5).reason() == status::out_of_domain);
    CHECK(real_similarity(1, -1, 2, 1.5).reason() == status::out_of_domain);
    CHECK(real_similarity(1, 3, 2, 2.5).reason() == status::out_of_domain);
}

TEST_CASE("weights: known answers") {
    SUBCASE("simplex: one pair for each factor") {
        // (w1 - 0.7)^2 + (w2 - 0.2)^2 with w1 + w2 = 1: the 0.1 that is missing goes to both.
        auto const [reason, w] = weights_of({{{1, 0}, 0.7}, {{0, 1}, 0.2}}, literal);
        CHECK(reason == status::ok);
        CHECK(furthest(w, {0.75, 0.25}) <= tiny);
    }
    SUBCASE("simplex: a weight that would be negative is 0") {
        // Without w >= 0: w = (1.4, -0.4).
        auto const [reason, w] = weights_of({{{0.5, 0}, 0.9}, {{0, 0.5}, 0}}, literal);
        CHECK(reason == status::ok);
        CHECK(furthest(w, {1, 0}) <= tiny);
    }
    SUBCASE("simplex: the sum of the weights is kept even if no weights fit") {
        auto const [reason, w] = weights_of({{{1, 1, 1}, 0}, {{1, 0.5, 0}, 0}}, literal);
        CHECK(reason == status::ok);
        CHECK(furthest(w, {0, 0, 1}) <= tiny);
    }
    SUBCASE("simplex: a factor that leaves no error") {
        auto const [reason, w] = weights_of({{{0.2, 0.5}, 0.5}, {{0.9, 0.25}, 0.25}, {{0.1, 1}, 1}}, literal);
        CHECK(reason == status::ok);
        CHECK(furthest(w, {0, 1}) <= tiny);
    }
    pairs cube, sloped;
    for (double const x : {0.0, 1.0})
        for (double const y : {0.0, 1.0})
            for (double const z : {0.0, 1.0}) {
                cube.push_back({{x, y, z}, 0.4 + 0.3 * x + 0.1 * y - 0.2 * z});
                sloped.push_back({{x, y, 1 - z * 1e-4}, 0.1 + 0.02 * x + 0.01 * y + 0.01 * (1 - z)});
            }
    SUBCASE("affine: the coefficients divided by their sum, without the negative ones") {
        auto const [reason, w] = weights_of(cube, affine);
        CHECK(reason == status::ok);
        CHECK(furthest(w, {0.75, 0.25, 0}) <= tiny);
        CHECK(w[2] == 0);
    }
    SUBCASE("affine: the scale of a factor does not matter") {
        // The third varies by 1e-4 only, and tells as much as the second.
        double const sum = 0.02 + 0.01 + 100;
        auto const [reason, w] = weights_of(sloped, affine);
        CHECK(reason == status::ok);
        CHECK(furthest(w, {0.02 / sum, 0.01 / sum, 100 / sum}) <= 1e-11); // 1e-4 is known to 1e-12
    }
    SUBCASE("one factor has all the weight") {
        for (weight_options const& options : {affine, literal}) {
            auto const [reason, w] = weights_of({{{0.25}, 0.5}, {{0.5}, 0.75}}, options);
            CHECK(reason == status::ok);
            CHECK(w == std::vector{1.0});
        }
    }
}

// Wordcount as in table 2: tasks of some jobs on some nodes take the longer the larger their input, and the
// more tasks that write, count words or compute run beside them; job, node, output, hour and a random number
// tell nothing.
constexpr std::size_t told = 4;
pairs table_2(std::size_t tasks, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    auto const unit = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    auto const normal = [&] {
        return std::sqrt(-2 * std::log(1 - unit())) * std::cos(2 * 3.14159265358979 * unit());
    };
    auto const upto = [&](int n) { return std::floor(unit() * n); };
    struct task {
        std::vector<double> factors;
        double time;
    };
    std::vector<task> all;
    for (std::size_t i = 0; i < tasks; ++i) {
        double const input = std::exp(0.5 * normal()), write = upto(4), count = upto(4), compute = upto(4);
        double const time = 20 * (1 + 0.8 * input / 2.718281828) *
                            (1 + 0.35 * write + 0.12 * count + 0.1 * compute) * std::exp(0.1 * normal());
        all.push_back({{input, write, count, compute, upto(5), upto(8), unit(), 24 * unit(), unit()}, time});
    }
    std::size_t const q = all.front().factors.size();
    std::vector<double> range(q, 1.0);
    for (std::size_t k = 0; k < q; ++k) {
        auto const [low, high] =
            std::minmax_element(all.begin(), all.end(),
                                [k](auto const& a, auto const& b) { return a.factors[k] < b.factors[k]; });
        range[k] = high->factors[k] - low->factors[k];
    }
    pairs data;
    for (std::size_t i = 1; i < tasks; ++i)
        for (int draw = 0; draw < 4; ++draw) {
            task const &a = all[i], &b = all[static_cast<std::size_t>(unit() * static_cast<double>(i))];
            std::vector<double> s;
            for (std::size_t k = 0; k < q; ++k) {
                double const off = std::fabs(a.factors[k] - b.factors[k]) / range[k];
                bool const category = k == told || k == told + 1;
                s.push_back(1 - (category ? (off > 0 ? 1.0 : 0.0) : off * off));
            }
            data.push_back({s, *real_similarity(a.time, b.time)});
        }
    return data;
}

TEST_CASE("weights: the situation of table 2") {
    double rest_affine = 0, rest_literal = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        pairs const data = table_2(2000, seed);
        auto const w = weights_of(data, affine).w, u = weights_of(data, literal).w;
        INFO("seed ", seed);
        for (std::size_t k = told; k < w.size(); ++k) {
            CHECK(w[k] < 0.02);
            rest_affine += w[k] / 8;
            rest_literal += u[k] / 8;
        }
        CHECK(w[0] > w[1]); // input first, then tasks that write, as in the paper
        CHECK(w[1] > w[2]);
        CHECK(w[1] > w[3]);
        for (std::size_t k = 0; k < told; ++k) CHECK(w[k] > 0);
    }
    MESSAGE("factors that do not matter get ", rest_affine, " of the weight; ", rest_literal, " by simplex");
    CHECK(rest_affine < 0.025);
    CHECK(rest_literal > 0.1); // what the default is better by
}

TEST_CASE("weights: equal as long as there is no evidence") {
    weight_fit fit(3);
    auto const [reason, w] = weights_of(fit);
    CHECK(reason == status::insufficient_evidence);
    CHECK(w == std::vector(3, 1.0 / 3));
    straggle_test::golden_sequence next(3);
    for (int i = 0; i < 32; ++i) {
        CHECK(weights_of(fit).reason == status::insufficient_evidence);
        double const a = next.unit();
        CHECK(fit.observe(std::vector{a, next.unit(), next.unit()}, a) == status::ok);
    }
    CHECK(fit.pairs() == 32);
    CHECK(fit.evidence() == 32);
    CHECK(weights_of(fit).reason == status::ok);
    CHECK(furthest(weights_of(fit).w, {1, 0, 0}) <= tiny);
    fit.clear();
    CHECK(fit.pairs() == 0);
    CHECK(weights_of(fit).reason == status::insufficient_evidence);
    // With no evidence asked for there is still none in no pairs.
    CHECK(weights_of(weight_fit(2, {.least_pairs = 0})).reason == status::insufficient_evidence);
    CHECK(weights_of(weight_fit(2, {.least_pairs = -1})).reason == status::insufficient_evidence);
}

TEST_CASE("weights: pairs that fade count exp(-age / memory)") {
    // Forgetting by definition: pairs that are weighted, by literal sums.
    std::uint64_t const seed = straggle_test::seed_or(8);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    double const memory = 50;
    for (weight_options options : {affine, literal}) {
        options.memory = memory;
        weight_fit fit(2, options);
        pairs data;
        for (int i = 0; i < 400; ++i) {
            double const a = next.unit(), b = next.unit();
            data.push_back({{a, b}, 0.2 * next.unit() + (i < 200 ? 0.8 * a : 0.3 * a + 0.5 * b)});
            fit.observe(data.back().s, data.back().r);
        }
        double const keep = 1 - 1 / memory;
        double n = 0, sa = 0, sb = 0, sr = 0, aa = 0, ab = 0, bb = 0, ar = 0, br = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            double const v = std::pow(keep, static_cast<double>(data.size() - 1 - i));
            double const a = data[i].s[0], b = data[i].s[1], r = data[i].r;
            n += v, sa += v * a, sb += v * b, sr += v * r;
            aa += v * a * a, ab += v * a * b, bb += v * b * b, ar += v * a * r, br += v * b * r;
        }
        CHECK(fit.evidence() == doctest::Approx(n).epsilon(1e-12));
        CHECK(fit.evidence() == doctest::Approx(memory).epsilon(1e-3)); // 400 are 8 memories
        CHECK(fit.pairs() == 400);
        double x = 0, y = 0;
        if (options.objective == weight_objective::affine) {
            double const caa = aa - sa * sa / n, cab = ab - sa * sb / n, cbb = bb - sb * sb / n;
            double const car = ar - sa * sr / n, cbr = br - sb * sr / n;
            x = car * cbb - cbr * cab;
            y = cbr * caa - car * cab;
        } else { // w2 = 1 - w1
            x = ar - br - ab + bb;
            y = aa - 2 * ab + bb - x;
        }
        REQUIRE((x > 0 && y > 0));
        CHECK(furthest(weights_of(fit).w, {x / (x + y), y / (x + y)}) <= 1e-12);
    }
}

TEST_CASE("weights: follow a change, if pairs fade") {
    weight_fit forgets(2, {.memory = 200}), keeps(2);
    straggle_test::golden_sequence next(4);
    for (int i = 0; i < 20000; ++i) {
        double const a = next.unit(), b = next.unit();
        std::vector const s{a, b};
        double const r = i < 19000 ? a : b;
        forgets.observe(s, r);
        keeps.observe(s, r);
    }
    CHECK(weights_of(forgets).w[1] > 0.97); // five memories ago: e^-5 is 0.7 %
    CHECK(weights_of(keeps).w[1] < 0.1);
}

TEST_CASE("weights: merging is as good as having seen everything") {
    std::uint64_t const seed = straggle_test::seed_or(9);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    for (weight_options const& options : {affine, literal}) {
        for (std::size_t const parts : {2u, 7u}) {
            weight_fit whole(4, options);
            std::vector<weight_fit> part(parts, whole);
            for (int i = 0; i < 1000; ++i) {
                std::vector<double> s(4);
                for (double& x : s) x = next.unit();
                std::size_t const to = static_cast<std::size_t>(next() >> 40) % parts;
                if (to != 0) s[3] = 0.25; // parts that differ in their means, and in what varies
                double const r = 0.3 * s[0] + 0.2 * s[1] + 0.1 * s[3] + 0.4 * next.unit();
                whole.observe(s, r);
                part[to].observe(s, r);
            }
            whole.observe(std::vector(4, nan), 0);
            part[0].observe(std::vector(4, nan), 0);
            weight_fit forward(4, options), backward(4, options);
            for (std::size_t i = 0; i < parts; ++i) {
                forward.merge(part[i]);
                backward.merge(part[parts - 1 - i]);
            }
            auto const w = weights_of(whole).w;
            // Sums of 1000 products are off by some roundings, weights by that times a small condition
            // number.
            CHECK(furthest(weights_of(forward).w, w) <= 1e-12);
            CHECK(furthest(weights_of(backward).w, w) <= 1e-12);
            CHECK(forward.pairs() == whole.pairs());
            CHECK(forward.rejected() == 1);
            CHECK(forward.evidence() == whole.evidence());
            forward.merge(weight_fit(4, options));
            CHECK(furthest(weights_of(forward).w, w) <= 1e-12);
            forward.merge(forward); // all twice
            CHECK(furthest(weights_of(forward).w, w) <= 1e-12);
            CHECK(forward.pairs() == 2 * whole.pairs());
        }
    }
}

TEST_CASE("weights: as if there had been some more pairs") {
    straggle_test::golden_sequence next(11);
    auto const draw = [&](double x, double y, std::size_t n) {
        pairs data;
        for (std::size_t i = 0; i < n; ++i) {
            double const a = next.unit(), b = next.unit();
            data.push_back({{a, b}, x * a + y * b + 0.1 * next.unit()});
        }
        return data;
    };
    pairs const own = draw(0.2, 0.7, 60), usual = draw(0.6, 0.3, 500);
    weight_scratch scratch;
    std::vector<double> w(2);
    for (weight_options const& options : {affine, literal}) {
        weight_fit const fit = fit_of(own, options), prior = fit_of(usual, options);
        CHECK(fit.fit(w, scratch, prior, 0) == status::ok);
        CHECK(furthest(w, weights_of(fit).w) <= tiny);
        CHECK(fit.fit(w, scratch, prior, 1e12) == status::ok);
        CHECK(furthest(w, weights_of(prior).w) <= 1e-9);
        CHECK(weight_fit(2, options).fit(w, scratch, prior, 1) == status::ok);
        CHECK(furthest(w, weights_of(prior).w) <= tiny);
        CHECK(fit.fit(w, scratch, weight_fit(2, options), 100) == status::ok);
        CHECK(furthest(w, weights_of(fit).w) <= tiny);
        CHECK(weight_fit(2, options).fit(w, scratch, weight_fit(2, options), 100) ==
              status::insufficient_evidence);
        // Those very pairs again: with means that differ, the same for simplex only.
        weight_fit both = fit;
        both.merge(prior);
        CHECK(fit.fit(w, scratch, prior, prior.evidence()) == status::ok);
        CHECK(furthest(w, weights_of(both).w) <=
              (options.objective == weight_objective::affine ? 0.02 : tiny));
        // Its evidence counts, but not more than there is.
        weight_fit strict(2, {.objective = options.objective, .least_pairs = 100});
        for (auto const& p : own) strict.observe(p.s, p.r);
        CHECK(strict.fit(w, scratch, prior, 39) == status::insufficient_evidence);
        CHECK(strict.fit(w, scratch, prior, 40) == status::ok);
        CHECK(strict.fit(w, scratch, fit_of(draw(0.5, 0.4, 39), options), 1000) ==
              status::insufficient_evidence);
    }
}

TEST_CASE("weights: numbers outside [0, 1] are counted and change nothing") {
    weight_fit fit(2, affine);
    weight_fit const same = fit;
    for (double const bad : {nan, inf, -inf, -1e-9, -0.5, 1.0000001, 1e300}) {
        std::uint64_t const before = fit.rejected();
        CHECK(fit.observe(std::vector{bad, 0.5}, 0.5) == status::out_of_domain);
        CHECK(fit.observe(std::vector{0.5, bad}, 0.5) == status::out_of_domain);
        CHECK(fit.observe(std::vector{0.5, 0.5}, bad) == status::out_of_domain);
        CHECK(fit.rejected() == before + 3);
        CHECK(!weight_fit::accepts(std::vector{0.5}, bad));
    }
    CHECK(fit.pairs() == 0);
    CHECK(fit.evidence() == same.evidence());
    CHECK(fit.observe(std::vector{0.0, -0.0}, 1.0) == status::ok);
    CHECK(fit.rejected() == 21);
}

TEST_CASE("weights: contracts") {
    straggle_test::contract_trap const trap;
    using straggle_test::broken_contract;
    weight_scratch scratch;
    weight_fit fit(2);
    std::vector<double> three(3);
    CHECK_THROWS_AS(weight_fit(0), broken_contract);
    CHECK_THROWS_AS(weight_fit(1, {.memory = 0.5}), broken_contract);
    CHECK_THROWS_AS(weight_fit(1, {.memory = -1}), broken_contract);
    CHECK_THROWS_AS(weight_fit(1, {.memory = nan}), broken_contract);
    CHECK_THROWS_AS(weight_fit(1, {.memory = inf}), broken_contract);
    CHECK_THROWS_AS(weight_fit(1, {.least_pairs = nan}), broken_contract);
    CHECK_THROWS_AS(fit.observe(three, 0.5), broken_contract);
    CHECK_THROWS_AS(static_cast<void>(fit.fit(three, scratch)), broken_contract);
    CHECK_THROWS_AS(fit.merge(weight_fit(3)), broken_contract);
    CHECK_THROWS_AS(static_cast<void>(fit.fit(three, scratch, weight_fit(3), 1)), broken_contract);
    CHECK_THROWS_AS(static_cast<void>(fit.fit(std::span(three).first(2), scratch, weight_fit(2), -1)),
                    broken_contract);
}

std::vector<std::byte> stored(weight_fit const& fit) {
    straggle::byte_writer out;
    fit.write(out);
    return {out.payload().begin(), out.payload().end()};
}

TEST_CASE("weights: stored and loaded they go on as before") {
    straggle_test::golden_sequence next(12);
    for (double const memory : {0.0, 30.0}) {
        weight_options options = affine;
        options.memory = memory;
        weight_fit fit(5, options);
        for (int i = 0; i < 200; ++i) {
            std::vector<double> s(5);
            for (double& x : s) x = next() >> 63 == 0 ? 1.0 : next.unit();
            double const r = (std::min)(1.0, 0.5 * s[0] + 0.5 * s[2]);
            fit.observe(s, i % 17 == 0 ? 2 : r);
            auto const bytes = stored(fit);
            weight_fit back(5, options);
            straggle::byte_reader in(bytes);
            REQUIRE(back.restore(in) == status::ok);
            CHECK(in.at_end());
            CHECK(stored(back) == bytes);
            CHECK(weights_of(back).w == weights_of(fit).w);
            CHECK(back.rejected() == fit.rejected());
            fit = back;
        }
    }
    // 3 counts and 8 bytes for each number.
    CHECK(stored(weight_fit(8)).size() == 3 + 8 * (1 + 9 + 45));
}

TEST_CASE("weights: bytes that may be anything") {
    weight_fit fit(3, affine);
    straggle_test::golden_sequence next(13);
    for (int i = 0; i < 40; ++i) fit.observe(std::vector{next.unit(), next.unit(), 0.5}, next.unit());
    auto const bytes = stored(fit);
    weight_fit const other = fit_of({{{0, 1, 0}, 1}, {{1, 1, 0}, 0.5}}, affine);
    auto const before = stored(other);

    std::vector<status> reasons;
    auto const load = [&](std::vector<std::byte> const& from) {
        weight_fit target = other;
        straggle::byte_reader in(from);
        status const s = target.restore(in);
        CHECK(in.reason() == s);
        if (s != status::ok) CHECK(stored(target) == before);
        auto const [reason, w] = weights_of(target); // whatever was let in
        CHECK(std::fabs(std::accumulate(w.begin(), w.end(), 0.0) - 1) <= 1e-12);
        CHECK(*std::min_element(w.begin(), w.end()) >= 0);
        return s;
    };
    for (std::size_t n = 0; n < bytes.size(); ++n)
        CHECK(load({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}) == status::truncated);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            auto changed = bytes;
            changed[i] ^= static_cast<std::byte>(1 << bit);
            static_cast<void>(load(changed));
        }
    std::uint64_t const seed = straggle_test::seed_or(14);
    INFO("seed ", seed);
    straggle_test::golden_sequence any(seed);
    int accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        auto changed = bytes;
        for (std::size_t k = 0; k < 1 + (any() >> 62); ++k) {
            double const special[] = {nan, inf, -1, 0, 1e300, 1e-300, 40, 0.5, -0.1, 1};
            std::size_t const at = 3 + 8 * ((any() >> 40) % (bytes.size() / 8));
            straggle::byte_writer number;
            number.real(special[(any() >> 40) % std::size(special)]);
            std::copy(number.payload().begin(), number.payload().end(),
                      changed.begin() + static_cast<std::ptrdiff_t>(at));
        }
        accepted += load(changed) == status::ok ? 1 : 0;
    }
    CHECK(accepted > 0);
    CHECK(accepted < 5000);

    weight_fit four(4);
    straggle::byte_reader in(bytes);
    CHECK(four.restore(in) == status::wrong_kind);
    weight_fit three(3);
    straggle::byte_reader failed(bytes);
    failed.fail(status::unknown_version);
    CHECK(three.restore(failed) == status::unknown_version);
}

TEST_CASE("weights: nothing is allocated in the steady state") {
    weight_fit fit(8), other(8);
    weight_scratch scratch;
    std::vector<double> s(8), w(8);
    straggle_test::golden_sequence next(15);
    auto const learn = [&] {
        for (int i = 0; i < 100; ++i) {
            for (double& x : s) x = next.unit();
            fit.observe(s, 0.5 * s[0] + 0.5 * s[1]);
            other.observe(s, next.unit());
        }
        CHECK(fit.fit(w, scratch) == status::ok);
        CHECK(fit.fit(w, scratch, other, 10) == status::ok);
    };
    learn();
    CHECK(straggle_test::allocations_during([&] {
              learn();
              fit.merge(other);
              fit.clear();
          }) == 0);
    std::size_t const before = straggle_test::allocated_bytes();
    fit = weight_fit(8);
    std::size_t const asked = straggle_test::allocated_bytes() - before;
    learn();                                              // one that is not used need not be made
    CHECK(sizeof(weight_fit) + asked == 80 + 4 * 9 * 14); // as documented
}

} // namespace
