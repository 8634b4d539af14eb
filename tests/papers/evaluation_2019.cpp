// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/papers/evaluation_2019.hpp>

#include "../detect/jobs.hpp"

#include <support/seed.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace straggle;
using namespace straggle_test;
namespace ef = straggle::papers::evaluation_2019;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// Tasks that have run 100 seconds with these rates per second, in units of so many seconds.
job_data with_rates(std::vector<double> const& rates, double unit = 1.0) {
    job_data job;
    for (double const rate : rates)
        job.running.push_back({.progress = 100.0 * rate, .elapsed = 100.0 / unit});
    return job;
}

} // namespace

TEST_CASE("evaluation_2019: Default, equation 6 over all tasks of the category") {
    // Two done, 0.9 0.5 0.1 running, one waiting: mean 3.5 / 6 = 0.583, threshold 0.383.
    job_data job;
    for (double const progress : {0.9, 0.5, 0.1})
        job.running.push_back({.progress = progress, .elapsed = 50});
    job.finished = {40, 60};
    job.tasks = 6;
    auto const a = ask(ef::hadoop_default{}, job.view());
    CHECK(a.tasks() == places{2});
    CHECK(a.suspects[0].threshold == doctest::Approx(3.5 / 6 - 0.2).epsilon(1e-15));
}

TEST_CASE("evaluation_2019: LATE with equation 10 both ways, and only one of them knows no unit of time") {
    // Mean 0.01 and deviation 0.002 per second: deviations of 1, 1, sqrt(7) and sqrt(7) thousandths.
    double const far = 0.001 * std::sqrt(7.0);
    std::vector<double> const rates{0.009, 0.01 + far, 0.011, 0.01 - far};
    auto in_seconds = with_rates(rates), in_minutes = with_rates(rates, 60.0),
         in_ms = with_rates(rates, 1e-3);
    SUBCASE("as printed") {
        auto const s = ask(ef::late_as_printed{}, in_seconds.view());
        auto const m = ask(ef::late_as_printed{}, in_minutes.view());
        auto const ms = ask(ef::late_as_printed{}, in_ms.view());
        REQUIRE_FALSE(s.suspects.empty());
        REQUIRE_FALSE(m.suspects.empty());
        CHECK(s.suspects[0].threshold == doctest::Approx(0.00998).epsilon(1e-12));
        CHECK(m.suspects[0].threshold == doctest::Approx(0.528).epsilon(1e-12));
        CHECK(s.tasks() == places{3, 0});
        CHECK(m.tasks() == places{3});     // 0.528 per minute is 0.0088 per second
        CHECK(ms.tasks() == places{3, 0}); // all that are below the average
        CHECK(ms.suspects[0].threshold == doctest::Approx(1e-5).epsilon(1e-5));
    }
    SUBCASE("put right") {
        for (job_data* job : {&in_seconds, &in_minutes, &in_ms})
            CHECK(ask(ef::late{}, job->view()).tasks() == places{3});
        CHECK(ask(ef::late{}, in_seconds.view()).suspects[0].threshold ==
              doctest::Approx(0.008).epsilon(1e-12));
    }
}

TEST_CASE("evaluation_2019: equations 7 to 10 as printed, in long double over the definition") {
    std::uint64_t const seed = seed_or(2019);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::size_t found = 0;
    for (int round = 0; round < 500; ++round) {
        job_data job;
        for (std::uint64_t n = draw() % 40; n > 0; --n)
            job.running.push_back({.progress = static_cast<double>(draw() % 1000) / 1000,
                                   .elapsed = static_cast<double>(draw() % 50)});
        long double sum = 0, squares = 0, n = 0;
        for (auto const& t : job.running)
            if (t.elapsed > 0) {
                sum += static_cast<long double>(t.progress) / static_cast<long double>(t.elapsed);
                n += 1;
            }
        auto const a = ask(ef::late_as_printed{}, job.view());
        if (n < 2) {
            CHECK(a.suspects.empty());
            CHECK(a.note != detect::detection_note::none);
            continue;
        }
        for (auto const& t : job.running)
            if (t.elapsed > 0) {
                long double const off =
                    static_cast<long double>(t.progress) / static_cast<long double>(t.elapsed) - sum / n;
                squares += off * off;
            }
        long double const threshold = sum / n * (1 - std::sqrt(squares / n));
        for (std::uint32_t i = 0; i < job.running.size(); ++i) {
            auto const& t = job.running[i];
            if (!(t.elapsed > 0)) continue;
            long double const rate =
                static_cast<long double>(t.progress) / static_cast<long double>(t.elapsed);
            if (std::fabs(rate - threshold) < 1e-15L) continue;
            auto const named = a.tasks();
            CHECK((std::find(named.begin(), named.end(), i) != named.end()) == (rate < threshold));
        }
        for (std::size_t k = 1; k < a.suspects.size(); ++k)
            CHECK(a.suspects[k - 1].value <= a.suspects[k].value);
        found += a.suspects.size();
    }
    CHECK(found > 1000);
    CHECK(allocations_of_second_look(ef::late_as_printed{}, 12) == 0);
}

TEST_CASE("evaluation_2019: Hierarchical keeps Default's suspects on slow nodes only") {
    // Progress 0.9 0.9 0.1 on node 0, 0.1 on node 1, all after 100: node means 0.00633 and 0.001, 90 % of
    // their average 0.0033. Default's mean is 0.5: it suspects 2 and 3; 2 is on the fast node.
    job_data job;
    for (auto const& [progress, node] : {std::pair{0.9, 0U}, {0.9, 0U}, {0.1, 0U}, {0.1, 1U}})
        job.running.push_back({.progress = progress, .elapsed = 100, .node = node});
    job.nodes.resize(2);
    CHECK(ask(ef::hadoop_default{}, job.view()).tasks() == places{2, 3});
    CHECK(ask(ef::hierarchical{}, job.view()).tasks() == places{3});
}

TEST_CASE("evaluation_2019: nobody is suspected in the first 20 seconds of a job") {
    auto job = with_rates({0.001, 0.01, 0.01, 0.01, 0.01});
    job.age = 19.9;
    CHECK(ask(ef::after_speculative_lag(ef::late{}), job.view()).note == detect::detection_note::too_early);
    job.age = 20;
    CHECK(ask(ef::after_speculative_lag(ef::late{}), job.view()).tasks() == places{0});
    CHECK(ask(ef::after_speculative_lag(ef::late{}, 1000), job.view()).tasks().empty());
}

TEST_CASE("evaluation_2019: judging, machines, shares") {
    CHECK_FALSE(ef::straggler(72, 60));
    CHECK(ef::straggler(73, 60));
    CHECK(ef::judging.valid());
    CHECK(ef::machines.watts(1) == 82);
    CHECK(ef::machines.watts(8) == 65 + 4 * 17);
    CHECK(ef::machines.capacity() == 8);
    CHECK(ef::shares_for_normal_tasks.size() == 5);
    std::vector<double> runs{50, 60, 70, 80, 90, 100, 65, 75, 85, 95};
    CHECK(evaluate::find_usual_time(runs, ef::usual_quantile)->time == 77.5);
}

TEST_CASE("evaluation_2019: the tolerance as printed is the fixed point of the printed bound") {
    CHECK(*ef::tolerance_as_printed(2.0) == doctest::Approx(1.0 / 11).epsilon(1e-14)); // 0.2 / 2.2
    CHECK(*ef::tolerance_as_printed(1.3) == doctest::Approx(0.04).epsilon(1e-13));     // 0.1 / 2.5
    for (double const s_min : {1.25, 1.3, 1.5, 2.0, 5.0}) {
        double const eps = *ef::tolerance_as_printed(s_min);
        CHECK(eps ==
              doctest::Approx((std::min)(s_min * (1 - eps) / 1.2 - 1, (0.2 - eps) / 1.2)).epsilon(1e-12));
        CHECK(eps == doctest::Approx(*evaluate::tolerance_of_guess(s_min, eps)).epsilon(1e-12));
    }
    for (double const bad : {0.0, -1.0, no_number, inf}) {
        CHECK(ef::tolerance_as_printed(bad).reason() == status::out_of_domain);
        CHECK(ef::tolerance_as_printed(2.0, bad).reason() == status::out_of_domain);
    }
    CHECK(ef::tolerance_as_printed(1e308, 1e-10).reason() == status::out_of_domain);
    CHECK(ef::tolerance_as_printed(1.1).reason() == status::insufficient_evidence);
}

TEST_CASE("evaluation_2019: equations 11 and 12, and the condition that is not enough") {
    CHECK(ef::equation_11(2.0, 0.1, 0.5));        // 1.8 <= 1.8
    CHECK_FALSE(ef::equation_11(2.0, 0.1, 0.51)); // 1.812 <= 1.8
    CHECK(ef::equation_12(0.1, 0.08));            // 1.1 <= 1.104
    CHECK_FALSE(ef::equation_12(0.1, 0.09));      // 1.1 <= 1.092
    // At s_min = 3 and eps_setting = 0.4 the paper sees a tolerance; equation 12 holds for no error at all.
    CHECK(ef::tolerates_as_printed(3.0, 0.4));
    CHECK_FALSE(ef::equation_12(0.4, 0.0));
    CHECK_FALSE(evaluate::tolerance_of_guess(3.0, 0.4).has_value());
    // What follows from the equations is the largest error with which both hold.
    for (double const s_min : {1.4, 1.5, 2.0, 3.0})
        for (double const setting : {0.0, 0.05, 0.1, 0.15}) {
            auto const eps = evaluate::tolerance_of_guess(s_min, setting);
            if (!eps) continue;
            CHECK((ef::equation_11(s_min, setting, *eps - 1e-9) && ef::equation_12(setting, *eps - 1e-9)));
            CHECK_FALSE(
                (ef::equation_11(s_min, setting, *eps + 1e-9) && ef::equation_12(setting, *eps + 1e-9)));
        }
}
