// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/stats/student_t.hpp>

#include <support/allocations.hpp>
#include <support/golden.hpp>
#include <support/shared_data.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using straggle::status;
using straggle::stats::confidence_level;
using straggle::stats::student_t_cdf;
using straggle::stats::student_t_cdf_upper;
using straggle::stats::student_t_critical;
using straggle::stats::student_t_quantile;
using straggle::stats::student_t_quantile_upper;
using straggle_test::golden_row;
using straggle_test::golden_sequence;
using straggle_test::golden_table;
using straggle_test::ulp_of;
using straggle_test::ulps_off;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A decimal of many digits as high + low.
std::pair<double, double> exact(std::string const& digits) {
    long double const whole = std::strtold(digits.c_str(), nullptr);
    auto const high = static_cast<double>(whole);
    return {high, static_cast<double>(whole - static_cast<long double>(high))};
}

struct worst_case {
    double ulps = 0, dof = 0, at = 0;
    std::size_t count = 0;
    void operator()(double off, double dof_, double at_) {
        ++count;
        if (!(off <= ulps)) *this = {off, dof_, at_, count};
    }
};

std::string describe(worst_case const& w) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), "worst of %zu: %.2f ulp at dof %.17g, %.17g", w.count, w.ulps,
                  w.dof, w.at);
    return text.data();
}

} // namespace

TEST_CASE("student_t: noexcept, trivially copyable, small") {
    static_assert(noexcept(student_t_quantile(0.5, 1.0)));
    static_assert(noexcept(student_t_quantile_upper(0.5, 1.0)));
    static_assert(noexcept(student_t_cdf(0.5, 1.0)));
    static_assert(noexcept(student_t_cdf_upper(0.5, 1.0)));
    static_assert(noexcept(student_t_critical(std::declval<confidence_level>())));
    static_assert(noexcept(std::declval<student_t_critical const&>()(1)));
    static_assert(std::is_trivially_copyable_v<student_t_critical>);
    static_assert(!std::is_convertible_v<confidence_level, student_t_critical>);
    static_assert(sizeof(student_t_critical) <= 616);
    constexpr student_t_critical by_the_compiler{0.99};
    CHECK(by_the_compiler.level() == 0.99);
}

TEST_CASE("student_t_quantile: the reference table") {
    auto const path = straggle_test::shared_file("reference/student_t_quantile.csv");
    if (!path) return;
    std::ifstream file(*path);
    std::string line;
    std::getline(file, line); // dof_hex,dof,p_hex,p,t_45digits,t_nearest_double_hex
    worst_case whole, real, below_one;
    std::size_t beyond = 0;
    while (std::getline(file, line)) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        golden_row const row(line);
        double const dof = row.real(0), p = row.real(2), nearest = row.real(5);
        CAPTURE(dof);
        CAPTURE(p);
        auto const got = student_t_quantile(p, dof);
        if (std::isinf(nearest)) {
            CHECK(got.reason() == status::out_of_range);
            ++beyond;
            continue;
        }
        REQUIRE(got);
        if (nearest == 0) {
            CHECK(*got == 0);
            continue;
        }
        auto const [high, low] = exact(row.text(4));
        double const off = ulps_off(*got, high, low);
        if (dof < 1)
            below_one(off * dof, dof, p);
        else if (dof == std::floor(dof))
            whole(off, dof, p);
        else
            real(off, dof, p);
    }
    MESSAGE("whole dof: ", describe(whole));
    MESSAGE("real dof: ", describe(real));
    MESSAGE("dof < 1, times dof: ", describe(below_one));
    CHECK(whole.count + real.count + below_one.count > 2000);
    CHECK(beyond == 6);
    // The largest seen elsewhere, on 10^5 random arguments, is 2.0, 2.4 and 4.5; a mathematical library with
    // errors of one unit instead of half a one in exp and pow may add one.
    CHECK(whole.ulps <= 3);
    CHECK(real.ulps <= 4);
    CHECK(below_one.ulps <= 8);
}

TEST_CASE("student_t_cdf_upper: the golden table") {
    worst_case worst;
    for (golden_row const& row : golden_table("student_t_cdf.csv")) {
        double const dof = row.real(0), t = row.real(1);
        auto const got = student_t_cdf_upper(t, dof);
        auto const mirrored = student_t_cdf(-t, dof);
        CAPTURE(dof);
        CAPTURE(t);
        REQUIRE(got);
        REQUIRE(mirrored);
        CHECK(*got == *mirrored);
        auto const [high, low] = exact(row.text(2));
        worst(ulps_off(*got, high, low), dof, t);
        CHECK(ulps_off(*student_t_cdf(t, dof),
                       static_cast<double>(1 - std::strtold(row.text(2).c_str(), nullptr))) <= 2);
    }
    MESSAGE(describe(worst));
    CHECK(worst.count > 250);
    CHECK(worst.ulps <= 5);
}

TEST_CASE("student_t: second opinion of R") {
    // R's qt is itself good to about 1e-12 at best, hence the tolerance; below 1 it is far worse.
    double worst = 0;
    for (golden_row const& row : golden_table("student_t_r.csv")) {
        double const dof = row.real(0), q = row.real(1), t = row.real(2), back = row.real(3);
        CAPTURE(dof);
        CAPTURE(q);
        double const here = *student_t_quantile_upper(q, dof);
        double const probability = *student_t_cdf_upper(t, dof);
        CHECK(here == doctest::Approx(t).epsilon(1e-10));
        CHECK(probability == doctest::Approx(back).epsilon(1e-10));
        worst = (std::max)(worst, std::fabs(here / t - 1));
    }
    MESSAGE("largest relative difference to R: ", worst);
}

TEST_CASE("student_t_quantile: odd about one half, and the two forms agree") {
    golden_sequence random(11);
    for (int i = 0; i < 20'000; ++i) {
        double const dof = std::exp(8 * random.unit() - 2);
        double const p = static_cast<double>(random() >> 12) * 0x1p-52; // 1 - p is exact
        if (p == 0) continue;
        auto const below = student_t_quantile(p, dof);
        if (!below) continue;
        CAPTURE(dof);
        CAPTURE(p);
        REQUIRE(*below == -*student_t_quantile(1 - p, dof));
        REQUIRE(*below == -*student_t_quantile_upper(p, dof));
    }
    CHECK(*student_t_quantile(0.5, 3.3) == 0);
    CHECK(*student_t_quantile_upper(0.5, 3.3) == 0);
}

TEST_CASE("student_t: quantile and probability undo each other") {
    golden_sequence random(12);
    double worst = 0;
    for (int i = 0; i < 20'000; ++i) {
        double const dof = i % 2 ? std::floor(1 + 300 * random.unit()) : std::exp(20 * random.unit() - 1);
        double const q = i % 3 ? 0.5 * random.unit() : std::exp(-600 * random.unit());
        auto const t = student_t_quantile_upper(q, dof);
        if (!t || !(q > 0)) continue;
        CAPTURE(dof);
        CAPTURE(q);
        double const back = *student_t_cdf_upper(*t, dof);
        // One unit of t is |dlogQ/dlogt| units of Q: up to t^2 or dof.
        double const steep = 1 + (std::min)(dof + 1, *t * *t + 1);
        double const off = std::fabs(back - q) / ulp_of(q) / steep;
        worst = (std::max)(worst, off);
        REQUIRE(off <= 6);
    }
    MESSAGE("worst round trip: ", worst, " ulp, less what rounding t costs");
}

TEST_CASE("student_t_quantile: monotone in p and in dof") {
    for (double const dof : {0.3, 0.99, 1.0,   1.5,  2.0,  2.499, 2.5,  3.0,  3.999,  4.0,
                             7.7, 10.0, 17.99, 18.0, 29.9, 30.0,  64.0, 65.0, 1000.0, 1e9}) {
        CAPTURE(dof);
        // across the joints of the regions in steps of 2^-12 of q, far more than the error
        double before = infinity;
        for (double q = 1e-30; q < 0.5; q *= 1 + 0x1p-12) {
            auto const t = student_t_quantile_upper(q, dof);
            if (!t) continue;
            if (!(*t < before)) {
                CAPTURE(q);
                REQUIRE(*t < before);
            }
            before = *t;
        }
    }
    for (double const q : {0.49, 0.25, 0.2, 0.1, 0.025, 1e-3, 1e-9, 1e-40}) {
        CAPTURE(q);
        double before = infinity;
        for (double dof = 0.6; dof < 1e4; dof *= 1 + 0x1p-10) {
            auto const t = student_t_quantile_upper(q, dof);
            REQUIRE(t);
            if (!(*t < before)) {
                CAPTURE(dof);
                REQUIRE(*t < before);
            }
            before = *t;
        }
        CHECK(*student_t_quantile_upper(q, infinity) < before);
    }
}

TEST_CASE("student_t: closed forms at 1, 2 and infinitely many degrees of freedom") {
    constexpr double pi = 3.14159265358979323846;
    for (double const q : {0.4, 0.1, 1e-3, 1e-12}) {
        CHECK(*student_t_quantile_upper(q, 1) == doctest::Approx(1 / std::tan(pi * q)).epsilon(1e-15));
        CHECK(*student_t_quantile_upper(q, 2) ==
              doctest::Approx((1 - 2 * q) / std::sqrt(2 * q * (1 - q))).epsilon(1e-14));
        double const z = *student_t_quantile_upper(q, infinity);
        CHECK(0.5 * std::erfc(z / std::sqrt(2.0)) == doctest::Approx(q).epsilon(1e-14));
        CHECK(*student_t_quantile_upper(q, 1e300) == z);
    }
    for (double const t : {0.1, 1.0, 5.0, 30.0}) {
        CHECK(*student_t_cdf_upper(t, 1) == doctest::Approx(std::atan(1 / t) / pi).epsilon(1e-15));
        CHECK(*student_t_cdf_upper(t, infinity) ==
              doctest::Approx(0.5 * std::erfc(t / std::sqrt(2.0))).epsilon(1e-13));
    }
}

TEST_CASE("student_t: outside the domain there is a status, never a number") {
    for (double const bad : {not_a_number, -not_a_number, 0.0, -0.0, 1.0, -0.1, 1.1, infinity, -infinity}) {
        CAPTURE(bad);
        CHECK(student_t_quantile(bad, 3).reason() == status::out_of_domain);
        CHECK(student_t_quantile_upper(bad, 3).reason() == status::out_of_domain);
    }
    for (double const bad : {not_a_number, -not_a_number, 0.0, -0.0, -1.0, -infinity}) {
        CAPTURE(bad);
        CHECK(student_t_quantile(0.3, bad).reason() == status::out_of_domain);
        CHECK(student_t_quantile_upper(0.3, bad).reason() == status::out_of_domain);
        CHECK(student_t_cdf(0.3, bad).reason() == status::out_of_domain);
        CHECK(student_t_cdf_upper(0.3, bad).reason() == status::out_of_domain);
    }
    CHECK(student_t_cdf(not_a_number, 3).reason() == status::out_of_domain);
    CHECK(*student_t_cdf(infinity, 3) == 1);
    CHECK(*student_t_cdf(-infinity, 3) == 0);
    CHECK(*student_t_cdf_upper(infinity, 3) == 0);
    CHECK(*student_t_cdf(0, 3) == 0.5);
    CHECK(*student_t_cdf(-0.0, 3) == 0.5);
    CHECK(student_t_quantile(5e-324, 1).reason() == status::out_of_range);
    CHECK(student_t_quantile_upper(1e-300, 0.5).reason() == status::out_of_range);
    CHECK(student_t_quantile(1e-300, 0.01).reason() == status::out_of_range);
}

TEST_CASE("student_t: extreme arguments give finite numbers, ordered where they must be") {
    std::initializer_list<double> const dofs = {5e-324, 1e-300, 1e-30,     1e-21, 1e-20,     1e-6,   0.01,
                                                0.7,    1,      1.0000001, 2,     2.0000001, 3.9999, 40,
                                                1e5,    1e15,   1e25,      1e300, infinity};
    for (double const dof : dofs) {
        CAPTURE(dof);
        for (double const q : {5e-324, 1e-310, 1e-300, 1e-100, 1e-17, 0.1, 0.2, 0.25, 0.3, 0.49999,
                               0.49999999999999994, 0.5000000000000001, 0.9999999999999999}) {
            CAPTURE(q);
            auto const t = student_t_quantile_upper(q, dof);
            if (!t) {
                CHECK(t.reason() == status::out_of_range);
                CHECK(dof < 2);
                continue;
            }
            CHECK(std::isfinite(*t));
            CHECK((q < 0.5) == (*t > 0));
            if (dof > 0.05) CHECK(*student_t_cdf_upper(*t, dof) == doctest::Approx(q).epsilon(1e-11));
        }
        for (double const t : {5e-324, 1e-300, 1e-20, 1e-5, 1.0, 30.0, 1e9, 1e150, 1.7e308}) {
            CAPTURE(t);
            double const above = *student_t_cdf_upper(t, dof), below = *student_t_cdf(t, dof);
            CHECK((above >= 0 && above <= 0.5));
            CHECK((below >= 0.5 && below <= 1));
            CHECK(above + below == doctest::Approx(1).epsilon(1e-15));
        }
    }
}

TEST_CASE("student_t: allocates nothing") {
    double sum = 0;
    CHECK(straggle_test::allocations_during([&] {
              for (double const dof : {0.5, 1.0, 2.0, 3.0, 5.5, 20.0, 200.0, 1e9}) {
                  sum += student_t_quantile(0.975, dof).value_or(0) +
                         student_t_quantile_upper(0.3, dof).value_or(0);
                  sum += student_t_cdf(1.3, dof).value_or(0) + student_t_cdf_upper(13, dof).value_or(0);
              }
              sum += student_t_critical(0.95)(7) + student_t_critical(0.77)(7);
          }) == 0);
    CHECK(sum > 0);
}

TEST_CASE("student_t_critical: agrees with the quantile") {
    auto const compare = [](student_t_critical const& critical, double level) {
        worst_case worst;
        auto const check = [&](std::uint64_t dof) {
            double const q = 0.5 * (1 - level);
            auto const n = static_cast<double>(dof);
            double const wanted = *student_t_quantile_upper(q, n);
            worst(ulps_off(critical(dof), wanted), n, level);
        };
        for (std::uint64_t dof = 1; dof <= 5000; ++dof) check(dof);
        for (std::uint64_t dof = 5003; dof <= 1'000'000; dof += 1 + dof / 200) check(dof);
        check(1'000'000);
        check(1'000'000'000'000'000);
        check((std::numeric_limits<std::uint64_t>::max)());
        return worst;
    };
    std::vector<std::pair<student_t_critical, double>> const all = {
        {student_t_critical{0.90}, 0.90},
        {student_t_critical{0.95}, 0.95},
        {student_t_critical{0.99}, 0.99},
        {student_t_critical{0.999}, 0.999},
        {student_t_critical{0.5}, 0.5},
        {student_t_critical{0.8}, 0.8},
        {student_t_critical{0.9973}, 0.9973},
        {student_t_critical{0.999999}, 0.999999},
        {student_t_critical{0.999999999999}, 0.999999999999},
        {student_t_critical{0x1.fffffffffffffp-1}, 0x1.fffffffffffffp-1}};
    for (auto const& [critical, level] : all) {
        CAPTURE(level);
        worst_case const worst = compare(critical, level);
        MESSAGE("level ", level, ": ", describe(worst));
        // both sides have an error: the quantile 2, this 1 at common levels and else 2 more
        CHECK(worst.ulps <= 4);
    }
}

TEST_CASE("student_t_critical: the golden values") {
    // dof, level, 30 digits of t: made by student_t_critical.py, for the levels as doubles
    worst_case common, other;
    for (golden_row const& row : golden_table("student_t_critical.csv")) {
        auto const dof = row.integer<std::uint64_t>(0);
        auto const level = confidence_level::from(row.real(1));
        REQUIRE(level);
        auto const [high, low] = exact(row.text(2));
        bool const is_common = level->value() == 0.90 || level->value() == 0.95 || level->value() == 0.99 ||
                               level->value() == 0.999;
        (is_common ? common : other)(ulps_off(student_t_critical(*level)(dof), high, low),
                                     static_cast<double>(dof), level->value());
    }
    MESSAGE("common levels: ", describe(common));
    MESSAGE("other levels: ", describe(other));
    CHECK(common.ulps <= 1);
    CHECK(other.ulps <= 3);
}

TEST_CASE("student_t_critical: falls with dof to its limit") {
    for (student_t_critical const& critical : {student_t_critical{0.95}, student_t_critical{0.999},
                                               student_t_critical{0.7}, student_t_critical{0.9999999}}) {
        double before = infinity;
        for (std::uint64_t dof = 1; dof < 3000; ++dof) {
            double const t = critical(dof);
            REQUIRE(t < before);
            REQUIRE(t > critical.normal_limit());
            before = t;
        }
    }
}

TEST_CASE("student_t_critical: levels near 0 keep their precision") {
    // t = level / (2 C), C the density at 0: 1/pi, 1/(2 sqrt 2)
    student_t_critical const critical{1e-200};
    CHECK(critical(1) == doctest::Approx(1e-200 * 3.14159265358979323846 / 2).epsilon(1e-15));
    CHECK(critical(2) == doctest::Approx(1e-200 * std::sqrt(2.0)).epsilon(1e-15));
    CHECK(critical(1'000'000) ==
          doctest::Approx(1e-200 * std::sqrt(3.14159265358979323846 / 2) * (1 + 0.25e-6)).epsilon(1e-12));
}

namespace {

std::jmp_buf out_of_the_contract;
char const* broken = nullptr;

void leave(straggle::base::contract_violation const& violation) {
    broken = violation.condition;
    std::longjmp(out_of_the_contract, 1);
}

} // namespace

TEST_CASE("student_t_critical: no degrees of freedom is a broken contract") {
    // The call is noexcept, so the handler leaves by a jump; there is nothing to destroy on the way.
    static student_t_critical const critical{0.95};
    auto const before = straggle::base::set_contract_handler(&leave);
    if (setjmp(out_of_the_contract) == 0) {

        static_cast<void>(critical(0));
    }
    straggle::base::set_contract_handler(before);
    REQUIRE(broken != nullptr);
    CHECK(std::string(broken) == "dof >= 1");
}
