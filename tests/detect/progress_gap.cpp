// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/progress_gap.hpp>

#include "jobs.hpp"

#include <support/seed.hpp>

using namespace straggle;
using namespace straggle_test;

TEST_CASE("progress_gap: by hand, over all tasks as in equation 6") {
    // 2 finished, 3 running, 1 waiting: (2 + 0.1 + 0.9 + 0.3) / 6 = 0.55, less 0.2
    job_data job = running({{0.1, 10}, {0.9, 10}, {0.3, 10}});
    job.finished = {5, 6};
    job.tasks = 6;
    auto const a = ask(detect::progress_gap{}, job);
    CHECK(a.note == detect::detection_note::none);
    CHECK(a.tasks() == places{0, 2});
    CHECK(a.suspects[0].value == 0.1);
    CHECK(a.suspects[0].usual == doctest::Approx(0.55).epsilon(1e-15));
    CHECK(a.suspects[0].threshold == doctest::Approx(0.35).epsilon(1e-15));
    SUBCASE("over the running ones: average 1.3 / 3") {
        auto const b = ask(detect::progress_gap{.over = detect::task_scope::running}, job);
        CHECK(b.tasks() == places{0});
        CHECK(b.suspects[0].usual == doctest::Approx(1.3 / 3).epsilon(1e-15));
    }
    SUBCASE("over the started ones: average 3.3 / 5") {
        auto const b = ask(detect::progress_gap{.over = detect::task_scope::started}, job);
        CHECK(b.tasks() == places{0, 2});
        CHECK(b.suspects[0].usual == doctest::Approx(0.66).epsilon(1e-15));
    }
    SUBCASE("a wider gap") {
        CHECK(ask(detect::progress_gap{.gap = 0.3}, job).tasks() == places{0});
    }
}

TEST_CASE("progress_gap: the second wave of a job is suspected as it begins, but not over the running ones") {
    job_data job = running({{0.0, 1}, {0.01, 1}, {0.02, 1}});
    job.finished.assign(3, 60.0);
    CHECK(ask(detect::progress_gap{}, job).tasks() == places{0, 1, 2});
    CHECK(ask(detect::progress_gap{.over = detect::task_scope::running}, job).tasks().empty());
}

TEST_CASE("progress_gap: strictly below") {
    // Average 0.5, threshold 0.25: all exact in binary.
    auto const job = running({{0.25, 1}, {0.75, 1}});
    CHECK(ask(detect::progress_gap{.gap = 0.25}, job).tasks().empty());
    CHECK(ask(detect::progress_gap{.gap = 0.125}, job).tasks() == places{0});
}

TEST_CASE("progress_gap: few tasks, equal tasks, nothing done") {
    CHECK(ask(detect::progress_gap{}, running({})).note == detect::detection_note::too_few_running);
    CHECK(ask(detect::progress_gap{}, running({{0.0, 100}})).note == detect::detection_note::too_few_running);
    job_data one = running({{0.1, 100}});
    one.finished = {10}; // average 0.55 over both
    CHECK(ask(detect::progress_gap{}, one).tasks() == places{0});
    CHECK(ask(detect::progress_gap{.over = detect::task_scope::running}, one).note ==
          detect::detection_note::too_few_running);
    CHECK(ask(detect::progress_gap{.gap = 0.1}, running({{0.1, 1}, {0.9, 1}})).tasks() == places{0});
    CHECK(ask(detect::progress_gap{}, running({{0.3, 1}, {0.3, 2}, {0.3, 3}})).tasks().empty());
    CHECK(ask(detect::progress_gap{}, running({{0.0, 1}, {0.0, 2}})).tasks().empty());
}

TEST_CASE("progress_gap: ties in the order of the tasks") {
    CHECK(ask(detect::progress_gap{}, running({{0.1, 1}, {1.0, 1}, {0.0, 1}, {1.0, 1}, {0.1, 1}, {0.0, 1}}))
              .tasks() == places{2, 5, 0, 4});
}

TEST_CASE("progress_gap: a progress that is no number is nobody's fault") {
    double const nan = std::nan("");
    CHECK(ask(detect::progress_gap{}, running({{nan, 1}, {0.1, 1}, {0.9, 1}})).tasks() == places{1});
    CHECK(ask(detect::progress_gap{}, running({{nan, 1}, {nan, 1}})).tasks().empty());
}

TEST_CASE("progress_gap: as defined, on random jobs") {
    std::uint64_t const seed = seed_or(1);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::size_t found = 0;
    for (int i = 0; i < 400; ++i) {
        job_data job = random_job(engine);
        detect::job_view const view = job.view();
        for (detect::task_scope const over :
             {detect::task_scope::running, detect::task_scope::started, detect::task_scope::all}) {
            std::vector<long double> progress;
            for (auto const& t : view.running) progress.push_back(wide(t.progress));
            if (over != detect::task_scope::running)
                progress.resize(progress.size() + view.finished.size(), 1.0L);
            if (over == detect::task_scope::all) progress.resize(view.tasks, 0.0L);
            auto const a = ask(detect::progress_gap{.over = over}, view);
            if (view.running.empty() || progress.size() < 2) {
                CHECK(a.note == detect::detection_note::too_few_running);
                CHECK(a.suspects.empty());
                continue;
            }
            CHECK(a.note == detect::detection_note::none);
            check_definition(
                a, view.running.size(), [&](std::uint32_t t) { return wide(view.running[t].progress); },
                book_moments(progress).mean - 0.2L, -1);
            found += a.suspects.size();
        }
    }
    CHECK(found > 1000);
}

TEST_CASE("progress_gap allocates nothing the second time") {
    CHECK(allocations_of_second_look(detect::progress_gap{}, 11) == 0);
}
