// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The first cases are those of Flink's ExecutionTimeBasedSlowTaskDetectorTest, with times put in.

#include <straggle/detect/flink.hpp>

#include "jobs.hpp"

#include <support/seed.hpp>

using namespace straggle;
using namespace straggle_test;

namespace {

// Task 2 of three has finished; no lower bound unless given.
job_data one_of_three() {
    job_data job = running({{0.1, 10}, {0.1, 10}});
    job.finished = {9};
    return job;
}
detect::flink rule(double ratio, double multiplier, double lower_bound = 0) {
    return {.multiplier = multiplier, .ratio = ratio, .lower_bound = lower_bound};
}

} // namespace

TEST_CASE("Flink's tests") {
    SUBCASE("testNoFinishedTaskButRatioIsZero") {
        CHECK(ask(rule(0, 1), running({{0, 0}, {0, 0}, {0, 0}})).tasks() == places{0, 1, 2});
    }
    SUBCASE("testFinishedTaskNotExceedRatio") {
        CHECK(ask(rule(0.5, 1), one_of_three()).note == detect::detection_note::too_few_finished);
        CHECK(ask(rule(0.5, 1), one_of_three()).suspects.empty());
    }
    SUBCASE("testFinishedTaskExceedRatio") {
        CHECK(ask(rule(0.3, 1), one_of_three()).tasks() == places{0, 1});
    }
    SUBCASE("testLargeLowerBound") {
        CHECK(ask(rule(0.3, 1, 2e6), one_of_three()).suspects.empty());
    }
    SUBCASE("testLargeMultiplier") {
        CHECK(ask(rule(0.3, 1e6), one_of_three()).suspects.empty());
    }
    SUBCASE("testBalancedInput") {
        job_data job = one_of_three();
        job.inputs = {1024};
        for (auto& t : job.running) t.input = 1024;
        CHECK(ask(rule(0.3, 1), job).tasks() == places{0, 1});
        CHECK(ask(rule(0.3, 1, 2e6), job).suspects.empty());
    }
    SUBCASE("testUnbalancedInput") {
        job_data job = one_of_three();
        job.inputs = {1024};
        job.running[0].input = 1'024'000;
        job.running[1].input = 4'096'000;
        CHECK(ask(rule(0.3, 1), job).suspects.empty());
    }
}

TEST_CASE("flink: by hand") {
    // Three of four: round(0.75 * 4) = 3 taken, the middle one 20; threshold 30, and not strict.
    job_data job = running({{0.1, 100}});
    job.finished = {10, 60, 20};
    auto const a = ask(detect::flink{}, job);
    CHECK(a.note == detect::detection_note::none);
    CHECK(a.tasks() == places{0});
    CHECK(a.suspects[0] == detect::finding{0, 100, 30, 20});
    job.running[0].elapsed = 60;
    CHECK(ask(detect::flink{}, job).tasks() == places{0});
    CHECK(ask(detect::flink{.lower_bound = 60.5}, job).suspects.empty());
    job.running[0].elapsed = 30;
    CHECK(ask(detect::flink{.lower_bound = 0}, job).tasks() == places{0});
    job.running[0].elapsed = 29.9;
    CHECK(ask(detect::flink{.lower_bound = 0}, job).suspects.empty());
    SUBCASE("its median is that of the shortest, here of the first two of four") {
        job.finished = {10, 20, 30, 40};
        job.running[0].elapsed = 30;
        auto const b = ask(rule(0.4, 1.5), job); // round(0.4 * 5) = 2
        CHECK(b.suspects[0].usual == 20);
    }
    SUBCASE("per unit of input") {
        job.inputs = {1, 30, 4}; // 10, 2, 5 per unit
        job.running[0].elapsed = 64;
        job.running[0].input = 8;
        auto const b = ask(detect::flink{}, job);
        CHECK(b.suspects[0] == detect::finding{0, 8, 7.5, 5});
        job.running[0].input = 9;
        CHECK(ask(detect::flink{}, job).suspects.empty());
    }
}

TEST_CASE("flink: nobody runs, ties, no numbers") {
    CHECK(ask(detect::flink{}, running({})).note == detect::detection_note::too_few_running);
    CHECK(ask(rule(0, 1), running({})).note == detect::detection_note::too_few_running);
    CHECK(ask(detect::flink{}, running({{0.5, 1e9}})).note == detect::detection_note::too_few_finished);
    job_data job = running({{0, 3}, {0, std::nan("")}, {0, 4}, {0, 3}, {0, 0}});
    job.finished = {1, 1, 1, 1, 1};
    CHECK(ask(rule(0.5, 2), job).tasks() == places{2, 0, 3});
    CHECK(ask(rule(std::nan(""), 2), job).note == detect::detection_note::too_few_finished);
    detect::job_view view = job.view();
    view.finished_per_input = {}; // made by hand, without
    CHECK(ask(rule(0.5, 2), view).tasks() == places{2, 0, 3});
    view.finished = {};
    CHECK(ask(rule(0.1, 2), view).note == detect::detection_note::too_few_finished);
}

TEST_CASE("flink: as defined, on random jobs") {
    std::uint64_t const seed = seed_or(7);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::size_t found = 0;
    for (int i = 0; i < 600; ++i) {
        job_data job = random_job(engine);
        detect::job_view const view = job.view();
        detect::flink const r{.multiplier = 1.2, .ratio = 0.3, .lower_bound = 8};
        auto const a = ask(r, view);
        std::size_t const n = job.finished.size();
        if (view.running.empty() || static_cast<double>(n) / static_cast<double>(view.tasks) < 0.3) {
            CHECK(a.note != detect::detection_note::none);
            CHECK(a.suspects.empty());
            continue;
        }
        std::vector<double> weighted;
        for (std::size_t k = 0; k < n; ++k) weighted.push_back(job.finished[k] / job.inputs[k]);
        std::ranges::sort(weighted);
        auto const taken = static_cast<std::size_t>(std::lround(0.3 * static_cast<double>(view.tasks)));
        long double const threshold = taken == 0 ? 0 : 1.2L * wide(weighted[taken / 2]);
        check_definition(
            a, view.running.size(),
            [&](std::uint32_t t) {
                detect::running_task const& task = view.running[t];
                return task.elapsed >= 8 ? wide(task.elapsed) / wide(task.input) : not_known;
            },
            threshold, 1);
        found += a.suspects.size();
    }
    CHECK(found > 1000);
}

TEST_CASE("flink allocates nothing the second time") {
    CHECK(allocations_of_second_look(detect::flink{.lower_bound = 1}, 17) == 0);
}
