// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/late.hpp>
#include <straggle/papers/evaluation_2019.hpp>

#include "jobs.hpp"

#include <support/seed.hpp>

using namespace straggle;
using namespace straggle_test;

namespace {

// Tasks that have run 100 seconds with these rates per second.
job_data with_rates(std::vector<double> const& rates, double unit = 1.0) {
    job_data job;
    for (double const rate : rates)
        job.running.push_back({.progress = 100.0 * rate, .elapsed = 100.0 * unit});
    return job;
}

} // namespace

TEST_CASE("late: by hand") {
    // Rates 0.25 0.5 0.5 0.75 per second: mean 0.5, deviation sqrt(0.03125) = 0.1768
    auto const job = running({{0.5, 2}, {0.5, 1}, {1.0, 2}, {0.75, 1}});
    auto const a = ask(detect::late{}, job);
    CHECK(a.note == detect::detection_note::none);
    CHECK(a.tasks() == places{0});
    CHECK(a.suspects[0].value == 0.25);
    CHECK(a.suspects[0].usual == 0.5);
    CHECK(a.suspects[0].threshold == doctest::Approx(0.5 - std::sqrt(0.03125)).epsilon(1e-15));
    CHECK(ask(detect::late{.alpha = 1.5}, job).tasks().empty()); // it lies sqrt(2) deviations below
    CHECK(ask(detect::late{.alpha = 1.4}, job).tasks() == places{0});
}

TEST_CASE("late looks at the rate, not at the progress") {
    // The third has done least, because it began last.
    CHECK(ask(detect::late{}, running({{0.8, 80}, {0.4, 80}, {0.1, 10}, {0.9, 90}})).tasks() == places{1});
}

TEST_CASE("equation 10 as printed depends on the unit of time") {
    // Mean 0.01 and deviation 0.002 per second: deviations of 1, 1, sqrt(7) and sqrt(7) thousandths.
    double const far = 0.001 * std::sqrt(7.0);
    std::vector<double> const rates{0.009, 0.01 + far, 0.011, 0.01 - far};
    auto const seconds = with_rates(rates), minutes = with_rates(rates, 1.0 / 60.0);
    SUBCASE("printed") {
        auto const s = ask(papers::evaluation_2019::late_as_printed{}, seconds),
                   m = ask(papers::evaluation_2019::late_as_printed{}, minutes);
        REQUIRE_FALSE(s.suspects.empty());
        REQUIRE_FALSE(m.suspects.empty());
        CHECK(s.suspects[0].threshold == doctest::Approx(0.00998).epsilon(1e-12));
        CHECK(m.suspects[0].threshold == doctest::Approx(0.528).epsilon(1e-12));
        CHECK(s.tasks() == places{3, 0});
        CHECK(m.tasks() == places{3}); // 0.528 per minute is 0.0088 per second
    }
    SUBCASE("put right") {
        CHECK(ask(detect::late{}, seconds).tasks() == places{3});
        CHECK(ask(detect::late{}, minutes).tasks() == places{3});
        CHECK(ask(detect::late{}, seconds).suspects[0].threshold == doctest::Approx(0.008).epsilon(1e-12));
        CHECK(ask(detect::late{}, minutes).suspects[0].threshold == doctest::Approx(0.48).epsilon(1e-12));
    }
}

TEST_CASE("late: rates that are equal but for rounding are equal") {
    // progress = elapsed / 300, written with the rounding it has
    job_data job;
    for (int i = 1; i <= 299; ++i)
        job.running.push_back(
            {.progress = static_cast<double>(i) / 300.0, .elapsed = static_cast<double>(i)});
    CHECK(ask(detect::late{}, job).suspects.empty());
    CHECK(ask(detect::late{.alpha = 0}, job).suspects.empty());
    job.running[7].progress *= 0.999;
    CHECK(ask(detect::late{}, job).tasks() == places{7});
}

TEST_CASE("late: few tasks, equal tasks, nothing done, just begun") {
    CHECK(ask(detect::late{}, running({})).note == detect::detection_note::too_few_running);
    CHECK(ask(detect::late{}, running({{0.5, 10}})).note == detect::detection_note::too_few_running);
    CHECK(ask(detect::late{}, running({{0.0, 0}, {0.0, 0}})).note == detect::detection_note::too_early);
    CHECK(ask(detect::late{}, running({{0.0, 0}, {0.5, 10}})).note == detect::detection_note::too_early);
    CHECK(ask(detect::late{}, running({{0.5, 10}, {0.25, 5}, {0.5, 10}})).suspects.empty());
    CHECK(ask(detect::late{}, running({{0.0, 10}, {0.0, 20}})).suspects.empty());
    // Of two tasks none lies further than one deviation from the mean.
    CHECK(ask(detect::late{}, running({{0.0, 10}, {1.0, 10}})).suspects.empty());
    CHECK(ask(detect::late{.alpha = 0.99}, running({{0.0, 10}, {1.0, 10}})).tasks() == places{0});
    // Who has just begun is neither averaged nor suspected, even if a report came before the clock ticked.
    CHECK(
        ask(detect::late{}, running({{0.5, 2}, {0.0, 0}, {0.5, 1}, {1.0, 2}, {0.75, 1}, {0.1, 0}})).tasks() ==
        places{0});
}

TEST_CASE("late: ties in the order of the tasks") {
    CHECK(
        ask(detect::late{.alpha = 0.5}, running({{1, 1}, {0.5, 2}, {1, 1}, {0.25, 1}, {0.125, 1}})).tasks() ==
        places{4, 1, 3});
}

TEST_CASE("late: no number, no suspect, no harm") {
    double const nan = std::nan("");
    auto const odd = running({{nan, 1}, {0.5, 2}, {0.5, 1}, {0.2, nan}, {1.0, 2}, {0.75, 1}});
    CHECK(ask(detect::late{}, odd).tasks() == places{1});
    CHECK(ask(papers::evaluation_2019::late_as_printed{}, odd).tasks() == places{1});
}

TEST_CASE("late over finished and waiting tasks") {
    auto job = running({{0.5, 10}, {0.6, 10}}); // 0.05 and 0.06
    job.finished = {10, 10, 0};                 // 0.1 twice; no rate for a task that took no time
    auto const a = ask(detect::late{.over = detect::task_scope::started}, job);
    // mean 0.0775, deviation sqrt((0.0275^2 + 0.0175^2 + 2 * 0.0225^2) / 4) = 0.02278
    CHECK(a.tasks() == places{0});
    CHECK(a.suspects[0].usual == doctest::Approx(0.0775).epsilon(1e-14));
    CHECK(a.suspects[0].threshold == doctest::Approx(0.0775 - std::sqrt(0.002075 / 4)).epsilon(1e-14));
    job.tasks = 9; // four wait, with rate 0
    job.running[0].progress = 0.1;
    auto const b = ask(detect::late{.alpha = 0, .over = detect::task_scope::all}, job);
    CHECK(b.tasks() == places{0});
    CHECK(b.suspects[0].usual == doctest::Approx((0.01 + 0.06 + 0.2) / 8).epsilon(1e-14));
}

TEST_CASE("late: as defined, on random jobs") {
    std::uint64_t const seed = seed_or(2);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::size_t found = 0;
    for (int i = 0; i < 600; ++i) {
        job_data job = random_job(engine);
        detect::job_view const view = job.view();
        auto const rate = [&](std::uint32_t t) {
            detect::running_task const& task = view.running[t];
            return task.elapsed > 0 ? wide(task.progress) / wide(task.elapsed) : not_known;
        };
        for (detect::task_scope const over :
             {detect::task_scope::running, detect::task_scope::started, detect::task_scope::all}) {
            std::vector<long double> rates;
            for (std::uint32_t t = 0; t < view.running.size(); ++t)
                if (rate(t) >= 0) rates.push_back(rate(t));
            if (over != detect::task_scope::running)
                for (double const time : view.finished) rates.push_back(1 / wide(time));
            if (over == detect::task_scope::all)
                rates.resize(rates.size() + view.tasks - view.running.size() - view.finished.size(), 0.0L);
            auto const a = ask(detect::late{.over = over}, view);
            if (rates.size() < 2) {
                CHECK(a.note != detect::detection_note::none);
                CHECK(a.suspects.empty());
                continue;
            }
            book_moments const usual(rates);
            long double const threshold = usual.mean - usual.deviation;
            check_definition(a, view.running.size(), rate, threshold, -1);
            found += a.suspects.size();
            if (over != detect::task_scope::running) continue;
            check_definition(ask(papers::evaluation_2019::late_as_printed{}, view), view.running.size(), rate,
                             usual.mean * (1 - usual.deviation), -1);
        }
    }
    CHECK(found > 1000);
}

TEST_CASE("late allocates nothing the second time") {
    CHECK(allocations_of_second_look(detect::late{}, 12) == 0);
    CHECK(allocations_of_second_look(detect::late{.over = detect::task_scope::all}, 12) == 0);
    CHECK(allocations_of_second_look(papers::evaluation_2019::late_as_printed{}, 12) == 0);
}
