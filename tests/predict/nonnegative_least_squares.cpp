// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/detail/nonnegative_least_squares.hpp>
#include <straggle/predict/weights.hpp>

#include <doctest/doctest.h>

#include "../support/golden.hpp"
#include "../support/seed.hpp"
#include "pairs_of_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

// Through the weights that it is there for.
namespace {

using straggle::status;
using straggle::predict::weight_objective;
using straggle::predict::weight_options;
using straggle_test::affine;
using straggle_test::fit_of;
using straggle_test::fitted;
using straggle_test::furthest;
using straggle_test::literal;
using straggle_test::pair_of_tasks;
using straggle_test::pairs;
using straggle_test::tiny;
using straggle_test::weights_of;

double product(std::vector<double> const& a, std::vector<double> const& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// What the objective leaves of each R, from the pairs themselves.
std::vector<double> errors(pairs const& data, std::vector<double> const& w, weight_objective objective) {
    std::vector<double> z, left;
    for (pair_of_tasks const& p : data) z.push_back(product(p.s, w));
    double a = 0, b = 1;
    if (objective == weight_objective::affine) {
        double const n = static_cast<double>(data.size());
        double const mean_z = std::accumulate(z.begin(), z.end(), 0.0) / n;
        double mean_r = 0, zz = 0, zr = 0;
        for (pair_of_tasks const& p : data) mean_r += p.r / n;
        for (std::size_t i = 0; i < data.size(); ++i) {
            zz += (z[i] - mean_z) * (z[i] - mean_z);
            zr += (z[i] - mean_z) * (data[i].r - mean_r);
        }
        b = zz > 1e-24 * n && zr > 0 ? zr / zz : 0;
        a = mean_r - b * mean_z;
    }
    for (std::size_t i = 0; i < data.size(); ++i) left.push_back(data[i].r - a - b * z[i]);
    return left;
}

double mean_squared(std::vector<double> const& x) {
    return product(x, x) / static_cast<double>(x.size());
}

// The rules of tests/golden/weights.py.
pairs golden_pairs(std::string const& rule, std::size_t q, std::size_t n, std::uint64_t seed) {
    straggle_test::golden_sequence next(seed);
    pairs data;
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> s;
        for (std::size_t k = 0; k < q; ++k) s.push_back(next.unit());
        double const noise = next.unit();
        double r = noise;
        if (rule == "some") {
            r = 0.25 * noise;
            std::size_t const half = (q + 1) / 2;
            for (std::size_t k = 0; k < half; ++k) r += 0.75 / static_cast<double>(half) * s[k];
        } else if (rule == "same") {
            for (double& x : s) x = x < 0.5 ? 1.0 : 0.0;
            r = 0.5 * noise + 0.125 * s[0] + 0.25 * s[q - 1];
        } else if (rule == "skewed") {
            for (double& x : s) x = 1.0 - x * x * x * x;
            r = 0.5 * noise + 0.5 * s[0] * s[0];
        } else if (rule == "flat") {
            s[0] = 0.75;
            r = 0.5 * noise + 0.5 * s[q - 1];
        } else if (rule == "against") {
            r = 1.0 - s[0];
        }
        data.push_back({s, r});
    }
    return data;
}

TEST_CASE("weights: exact weights of both objectives") {
    for (auto const& row : straggle_test::golden_table("weights.csv")) {
        INFO(row.text(0), " ", row.text(1), " q ", row.text(2), " n ", row.text(3), " seed ", row.text(4));
        auto const q = row.integer<std::size_t>(2);
        pairs const data =
            golden_pairs(row.text(1), q, row.integer<std::size_t>(3), row.integer<std::uint64_t>(4));
        weight_options const options = row.text(0) == "affine" ? affine : literal;
        auto const [reason, w] = weights_of(data, options);
        if (row.size() == 6) { // no weight is positive
            CHECK(reason == status::no_spread);
            CHECK(w == std::vector(q, 1 / static_cast<double>(q)));
            continue;
        }
        std::vector<double> exact;
        for (std::size_t k = 0; k < q; ++k) exact.push_back(row.real(6 + k));
        CHECK(reason == status::ok);
        // The matrix is known to some roundings, its condition number is below 1e4.
        CHECK(furthest(w, exact) <= 1e-11);
        CHECK(mean_squared(errors(data, w, options.objective)) ==
              doctest::Approx(row.real(5)).epsilon(1e-11));
    }
}

struct problem {
    pairs data;
    bool dependent; // whether columns are combinations of others, or very nearly so
};
// Problems of all shapes: few pairs, equal columns, constant ones, columns that are the mean of others.
problem random_pairs(straggle_test::golden_sequence& next) {
    auto const below = [&](std::size_t n) { return static_cast<std::size_t>(next() >> 33) % n; };
    std::size_t const q = 1 + below(16), n = 2 + below(below(2) == 0 ? q + 2 : 100), shape = below(8);
    double const share = next.unit();
    std::vector<double> tells(q);
    for (double& x : tells) x = next.unit() < share ? next.unit() : 0;
    double const sum = std::accumulate(tells.begin(), tells.end(), 1e-9);
    pairs data;
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> s(q);
        for (double& x : s) x = next.unit();
        if (shape == 1)
            for (double& x : s) x = x < share ? 1.0 : 0.0;
        if (shape == 2)
            for (std::size_t k = 1; k < q; k += 2) s[k] = s[k - 1];
        if (shape == 3)
            for (std::size_t k = 0; k < q; k += 2) s[k] = share;
        if (shape == 4)
            for (std::size_t k = 2; k < q; k += 3) s[k] = (s[k - 1] + s[k - 2]) / 2;
        if (shape == 5)
            for (std::size_t k = 1; k < q; ++k)
                s[k] = (s[0] + s[k] * std::ldexp(1, -16 - static_cast<int>(k))) / 2; // nearly equal
        if (shape == 6)
            for (double& x : s) x = std::floor(x * 3) / 2;
        double r = 0;
        for (std::size_t k = 0; k < q; ++k) r += tells[k] / sum * s[k];
        double const noise = below(3) == 0 ? 0 : share;
        data.push_back({s, (std::min)(1.0, (1 - noise) * r + noise * next.unit())});
    }
    if (shape == 7)
        for (pair_of_tasks& p : data) p.r = share; // all times are equally similar
    return {data, shape == 1 || shape == 2 || shape == 4 || shape == 5 || shape == 6 || n < 2 * q};
}

TEST_CASE("weights: the conditions of the optimum hold, whatever the pairs") {
    std::uint64_t const seed = straggle_test::seed_or(5);
    straggle_test::golden_sequence next(seed);
    int uniform = 0;
    for (int i = 0; i < 6000; ++i) {
        auto const [data, dependent] = random_pairs(next);
        std::size_t const q = data.front().s.size();
        double const n = static_cast<double>(data.size());
        for (weight_options const& options : {affine, literal}) {
            INFO("seed ", seed, " problem ", i, " q ", q, " n ", data.size(), " objective ",
                 static_cast<int>(options.objective));
            auto [reason, w] = weights_of(data, options);
            REQUIRE((reason == status::ok || reason == status::no_spread));
            CHECK(*std::min_element(w.begin(), w.end()) >= 0);
            CHECK(std::fabs(std::accumulate(w.begin(), w.end(), 0.0) - 1) <= 1e-14);
            bool const centred = options.objective == weight_objective::affine;
            if (reason == status::no_spread) {
                CHECK(centred);
                CHECK(w == std::vector(q, 1 / static_cast<double>(q)));
                std::fill(w.begin(), w.end(), 0.0); // what was found before all became equal
                ++uniform;
            }
            // The slope along each factor: how much less the error becomes with more of its weight.
            std::vector<double> const left = errors(data, w, options.objective);
            std::vector<double> slope(q), deviation(q);
            for (std::size_t k = 0; k < q; ++k) {
                double mean = 0;
                for (pair_of_tasks const& p : data) mean += p.s[k] / n;
                for (std::size_t j = 0; j < data.size(); ++j) {
                    slope[k] += left[j] * (centred ? data[j].s[k] - mean : data[j].s[k]) / n;
                    deviation[k] += (data[j].s[k] - mean) * (data[j].s[k] - mean) / n;
                }
                deviation[k] = std::sqrt(deviation[k]);
            }
            // simplex: the multiplier of sum w = 1.
            double const level = centred ? 0 : product(slope, w);
            for (std::size_t k = 0; k < q; ++k) {
                INFO("factor ", k, " weight ", w[k], " slope ", slope[k] - level);
                // Rounding: of the sums here, and where coefficients of up to 1e5 cancel.
                double tolerance = dependent ? 1e-10 : 1e-12;
                // A column that is a combination of others to 11 digits gets no weight beside them. It might
                // explain 2^-18 of what is left.
                if (dependent)
                    tolerance += 0x1p-18 * (centred ? deviation[k] : 2.0) * std::sqrt(mean_squared(left));
                CHECK(slope[k] - level <= tolerance);
                if (w[k] > 0) CHECK(slope[k] - level >= -tolerance);
            }
        }
    }
    CHECK(uniform > 100);
}

TEST_CASE("weights: of equal factors the first has the weight of all") {
    std::uint64_t const seed = straggle_test::seed_or(6);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    for (weight_options const& options : {affine, literal}) {
        pairs all, one;
        for (int i = 0; i < 200; ++i) {
            double const a = next.unit(), b = next.unit(), r = 0.5 * a + 0.3 * b + 0.2 * next.unit();
            all.push_back({{a, b, a, b, a}, r});
            one.push_back({{a, b}, r});
        }
        auto const w = weights_of(all, options).w, u = weights_of(one, options).w;
        CHECK(furthest(w, {u[0], u[1], 0, 0, 0}) <= tiny);
        CHECK(w == weights_of(all, options).w);
    }
}

TEST_CASE("weights: the weights do not depend on how many columns there are beside them") {
    // Constant columns tell nothing; nor do columns that vary by rounding only.
    std::uint64_t const seed = straggle_test::seed_or(7);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    pairs with, without;
    for (int i = 0; i < 300; ++i) {
        double const a = next.unit(), b = next.unit(), r = 0.4 * a + 0.2 * b + 0.2 * next.unit();
        double const rounding = 0.7 + 1e-16 * std::floor(4 * next.unit());
        with.push_back({{1.0, a, rounding, b, 0.0}, r});
        without.push_back({{a, b}, r});
    }
    auto const w = weights_of(with, affine).w, u = weights_of(without, affine).w;
    CHECK(furthest(w, {0, u[0], 0, u[1], 0}) <= tiny);
}

TEST_CASE("weights: nothing explains the times") {
    pairs constant, equal_times, nearly_equal_times, against, unrelated;
    for (int i = 0; i < 64; ++i) {
        double const x = (i % 4) / 3.0, y = (i / 4 % 4) / 3.0;
        constant.push_back({{0.3, 0.7}, x});
        equal_times.push_back({{x, y}, 0.6});
        nearly_equal_times.push_back({{x, y}, i % 4 == 3 ? 0.6 : std::nextafter(0.6, 0.0)});
        against.push_back({{x, y}, 1 - (x + y) / 2});
        unrelated.push_back({{x, (i / 16) / 3.0}, y});
    }
    for (pairs const& data : {constant, equal_times, nearly_equal_times, against, unrelated}) {
        auto const [reason, w] = weights_of(data, affine);
        CHECK(reason == status::no_spread);
        CHECK(w == std::vector{0.5, 0.5});
    }
    // The paper's form has always some weights that are best.
    CHECK(weights_of(equal_times, literal).reason == status::ok);
    CHECK(weights_of(constant, literal).reason == status::ok);
}

TEST_CASE("weights: columns that make up for each other get no weight together") {
    // One and its opposite: both could grow for ever and change nothing, but for rounding.
    std::uint64_t const seed = straggle_test::seed_or(8);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    for (std::size_t const n : {6u, 12u, 40u, 5000u}) {
        for (int repeat = 0; repeat < 40; ++repeat) {
            pairs with, without;
            for (std::size_t i = 0; i < n; ++i) {
                std::vector<double> s(8);
                for (double& x : s) x = next.unit();
                double const r = 0.1 * next.unit() + 0.4 * s[1] + 0.3 * s[4] * s[5] + 0.2 * (1 - s[6]);
                std::vector<double> all = s;
                for (double const x : s) all.push_back(1 - x);
                with.push_back({all, r});
                without.push_back({s, r});
            }
            auto const w = weights_of(with, affine).w;
            // An optimum with one of each at most, and no worse than that without the opposites.
            for (std::size_t k = 0; k < 8; ++k) CHECK((std::min)(w[k], w[k + 8]) == 0);
            auto const u = weights_of(without, affine).w;
            CHECK(mean_squared(errors(with, w, weight_objective::affine)) <=
                  mean_squared(errors(without, u, weight_objective::affine)) + tiny);
        }
        if (n == 5000) break;
    }
}

} // namespace
