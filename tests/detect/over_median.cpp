// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The cases named SPARK-... are those of Spark's TaskSetManagerSuite, times in seconds.

#include <straggle/detect/over_median.hpp>
#include <straggle/detect/without_copies.hpp>

#include "jobs.hpp"

#include <support/seed.hpp>

using namespace straggle;
using namespace straggle_test;

namespace {

job_data spark(std::vector<double> finished, std::vector<double> elapsed, std::uint64_t all = 0) {
    job_data job;
    job.finished = std::move(finished);
    for (double const e : elapsed) job.running.push_back({.progress = 0.1, .elapsed = e});
    job.tasks = all;
    return job;
}

constexpr double minutes = 60;

} // namespace

TEST_CASE("over_median: by hand") {
    // Three of four have finished; median 10, threshold 15.
    auto const a = ask(detect::over_median{}, spark({9, 12, 10}, {16}));
    CHECK(a.note == detect::detection_note::none);
    CHECK(a.tasks() == places{0});
    CHECK(a.suspects[0] == detect::finding{0, 16, 15, 10});
    CHECK(ask(detect::over_median{}, spark({9, 12, 10}, {15})).suspects.empty()); // longer, not as long
    CHECK(ask(detect::over_median{}, spark({9, 12, 10}, {16}, 6)).note ==
          detect::detection_note::too_few_finished);
    // Of an even number the upper of the two in the middle: threshold 18, not 16.5.
    CHECK(ask(detect::over_median{}, spark({9, 10, 12, 13}, {17, 19})).note == detect::detection_note::none);
    CHECK(ask(detect::over_median{.quantile = 0.5}, spark({9, 10, 12, 13}, {17, 19})).tasks() == places{1});
    CHECK(ask(detect::over_median{.multiplier = 0.001, .min_time = 20}, spark({9, 12, 10}, {20}))
              .suspects.empty());
    CHECK(ask(detect::over_median{.multiplier = 0.001, .min_time = 19}, spark({9, 12, 10}, {20})).tasks() ==
          places{0});
}

TEST_CASE("over_median: the share that must have finished is rounded down, but one must") {
    CHECK(ask(detect::over_median{}, spark({1, 1}, {9})).tasks() == places{0}); // floor(2.25) of 3
    CHECK(ask(detect::over_median{.quantile = 0}, spark({}, {9, 9})).note ==
          detect::detection_note::too_few_finished);
    CHECK(ask(detect::over_median{.quantile = 0}, spark({1}, {9, 9})).tasks() == places{0, 1});
    CHECK(ask(detect::over_median{.quantile = 1}, spark({1, 1, 1}, {9})).note ==
          detect::detection_note::too_few_finished);
}

TEST_CASE("over_median: Spark 4") {
    constexpr detect::over_median spark_4 = detect::over_median::spark_4();
    CHECK(spark_4.multiplier == 3);
    CHECK(spark_4.quantile == 0.9);
    CHECK(spark_4.efficiency);
    CHECK(detect::over_median::spark_4(1000).min_time == 100);
    CHECK(ask(spark_4, spark(std::vector<double>(8, 10.0), {99, 99})).note ==
          detect::detection_note::too_few_finished);
    CHECK(ask(spark_4, spark(std::vector<double>(9, 10.0), {31})).tasks() == places{0});
    CHECK(ask(spark_4, spark(std::vector<double>(9, 10.0), {30})).suspects.empty());
}

TEST_CASE("SPARK-26755: both others, and no more once they have a copy") {
    detect::without_copies rule{detect::over_median{.multiplier = 0, .quantile = 0.5, .min_time = 0}};
    job_data job = spark({0.001, 0.001}, {0.002, 0.002});
    CHECK(ask(rule, job).tasks() == places{0, 1});
    for (auto& t : job.running) t.copies = 2;
    CHECK(ask(rule, job).tasks().empty());
}

TEST_CASE("SPARK-29976: a threshold for jobs of few tasks") {
    for (std::uint64_t const n : {1u, 2u}) {
        detect::over_median const rule{.quantile = 1, .task_threshold = 60 * minutes, .few_tasks = n};
        std::vector<double> const on_time(n, 60 * minutes), late(n, 60 * minutes + 1);
        places all;
        for (std::uint32_t i = 0; i < n; ++i) all.push_back(i);
        CHECK(ask(rule, spark({}, on_time)).tasks().empty());
        CHECK(ask(rule, spark({}, late)).tasks() == all);
        CHECK(ask(rule, spark({}, late)).suspects[0] == detect::finding{0, 3601, 3600, 3600});
        auto other = rule;
        other.few_tasks = n - 1; // fewer slots than tasks
        CHECK(ask(other, spark({}, late)).note == detect::detection_note::too_few_finished);
        other = rule;
        other.task_threshold = 0; // not set
        CHECK(ask(other, spark({}, late)).note == detect::detection_note::too_few_finished);
    }
    SUBCASE("where enough have finished, the median decides") {
        detect::over_median const rule{.quantile = 0.5, .task_threshold = 60 * minutes, .few_tasks = 2};
        CHECK(ask(rule, spark({1}, {2})).tasks() == places{0});
    }
    SUBCASE("a single task") {
        CHECK(ask(detect::over_median{}, spark({}, {20})).suspects.empty());
        CHECK(ask(detect::over_median{.task_threshold = 15}, spark({}, {20})).tasks() == places{0});
    }
}

TEST_CASE("SPARK-33741: the least time") {
    detect::over_median const rule{.quantile = 0.5, .min_time = 3};
    CHECK(ask(rule, spark({1}, {2})).tasks().empty());
    CHECK(ask(rule, spark({1}, {4})).tasks() == places{0});
}

TEST_CASE("SPARK-32170: tasks that only have more to do") {
    // Finished tasks worked through 10 records a second.
    auto const job = [](std::vector<double> rates) {
        job_data j;
        j.finished = {20, 20, 20};
        j.inputs = {200, 200, 200};
        for (double const rate : rates)
            j.running.push_back({.progress = 0.5, .elapsed = 20, .input = 2 * 10 * rate * 20});
        return j;
    };
    SUBCASE("the least time") {
        detect::over_median rule{.multiplier = 0, .quantile = 0.75, .min_time = 0, .efficiency = true};
        CHECK(ask(rule, job({0.4, 5})).tasks() == places{0, 1}); // 20 s is more than twice nothing
        rule.min_time = 10;
        CHECK(ask(rule, job({0.4, 5})).tasks() == places{0});
        rule.min_time = 50;
        CHECK(ask(rule, job({0.4, 5})).tasks().empty());
    }
    SUBCASE("the rate") {
        detect::over_median rule{.multiplier = 0, .min_time = 15, .efficiency = true, .process_rate = 0.5};
        CHECK(ask(rule, job({0.6})).tasks().empty());
        rule.process_rate = 0.8;
        CHECK(ask(rule, job({0.6})).tasks() == places{0});
    }
    SUBCASE("the time after which the rate no longer saves it") {
        detect::over_median rule{.multiplier = 0, .min_time = 15, .efficiency = true, .process_rate = 0.5};
        rule.long_run = 1;
        CHECK(ask(rule, job({0.6})).tasks() == places{0});
        rule.long_run = 2;
        CHECK(ask(rule, job({0.6})).tasks().empty());
    }
    SUBCASE("the example of the pull request") {
        // Eight tasks of 10000 records took 20 s; task 8 has done 11000 of 18000 in 30 s, task 9 15000.
        job_data j;
        j.finished.assign(8, 20.0);
        j.inputs.assign(8, 10000.0);
        j.running = {{.progress = 11.0 / 18, .elapsed = 30.1, .input = 18000},
                     {.progress = 15.0 / 18, .elapsed = 30.1, .input = 18000}};
        CHECK(ask(detect::over_median{}, j).tasks() == places{0, 1});
        CHECK(ask(detect::over_median{.efficiency = true}, j).tasks() == places{0});
    }
    SUBCASE("where inputs are not known it is progress that counts") {
        job_data j = spark({10, 10, 10}, {});
        j.running = {{.progress = 0.9, .elapsed = 16}, {.progress = 0.9, .elapsed = 11}};
        detect::over_median const rule{.multiplier = 1, .quantile = 0.5, .efficiency = true};
        CHECK(ask(rule, j).tasks() == places{0}); // 0.056 and 0.082 per second, to be above 0.075
    }
    SUBCASE("as fast as it has to be is fast enough") {
        job_data j = spark({16, 16, 16}, {});
        detect::over_median const rule{.multiplier = 1, .efficiency = true};
        j.running = {{.progress = 0.9375, .elapsed = 20}}; // 3/64 per second, just 3/4 of 1/16
        CHECK(ask(rule, j).tasks().empty());
        j.running = {{.progress = 0.9374, .elapsed = 20}};
        CHECK(ask(rule, j).tasks() == places{0});
        detect::job_view view = j.view();
        j.running[0].progress = 1;
        CHECK(ask(rule, view).tasks().empty());
        view.finished_input = 0; // made by hand, without
        CHECK(ask(rule, view).tasks() == places{0});
    }
    SUBCASE("without any time to compare with") {
        CHECK(ask(detect::over_median{.min_time = 1, .efficiency = true}, spark({0, 0, 0}, {2})).tasks() ==
              places{0});
    }
}

TEST_CASE("over_median: nobody runs, ties, no numbers") {
    CHECK(ask(detect::over_median{}, spark({}, {})).note == detect::detection_note::too_few_running);
    CHECK(ask(detect::over_median{}, spark({1}, {})).note == detect::detection_note::too_few_running);
    CHECK(ask(detect::over_median{.quantile = 0}, spark({1}, {3, 2, 4, std::nan(""), 3, 0})).tasks() ==
          places{2, 0, 4, 1});
    CHECK(ask(detect::over_median{.multiplier = 0, .quantile = 0, .min_time = 0}, spark({0}, {0, 0}))
              .suspects.empty());
}

TEST_CASE("over_median: as defined, on random jobs") {
    std::uint64_t const seed = seed_or(6);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::size_t found = 0;
    for (int i = 0; i < 800; ++i) {
        job_data job = random_job(engine);
        detect::job_view const view = job.view();
        bool const efficiency = i % 2 == 1;
        detect::over_median const rule{
            .multiplier = 1.1, .quantile = 0.25, .efficiency = efficiency, .long_run = 1.5};
        auto const a = ask(rule, view);
        std::size_t const n = view.finished.size();
        if (view.running.empty() || n < std::max<std::size_t>(view.tasks / 4, 1)) {
            CHECK(a.note != detect::detection_note::none);
            CHECK(a.suspects.empty());
            continue;
        }
        long double const threshold = 1.1L * wide(view.finished[n / 2]);
        long double time = 0, input = 0;
        for (double const t : job.finished) time += wide(t);
        for (double const x : job.inputs) input += wide(x);
        bool close = false;
        auto const value = [&](std::uint32_t t) -> long double {
            detect::running_task const& task = view.running[t];
            long double const elapsed = wide(task.elapsed), rate = wide(task.progress * task.input) / elapsed;
            long double const slow = 0.75L * input / time;
            close = close || std::fabs(rate - slow) < 1e-11L * slow ||
                    std::fabs(elapsed - 1.5L * threshold) < 1e-11L * elapsed;
            return efficiency && elapsed <= 1.5L * threshold && !(rate < slow) ? 0 : elapsed;
        };
        for (std::uint32_t t = 0; t < view.running.size(); ++t) (void)value(t);
        if (close) continue;
        check_definition(a, view.running.size(), value, threshold, 1);
        found += a.suspects.size();
    }
    CHECK(found > 1000);
}

TEST_CASE("over_median allocates nothing the second time") {
    CHECK(allocations_of_second_look(detect::over_median{}, 16) == 0);
    CHECK(allocations_of_second_look(detect::over_median::spark_4(), 16) == 0);
}
