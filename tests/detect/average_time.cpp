// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/average_time.hpp>

#include "jobs.hpp"

#include <support/seed.hpp>

using namespace straggle;
using namespace straggle_test;

TEST_CASE("average_time: by hand") {
    auto job = running({{0.5, 9}, {0.5, 11}, {0.1, 10}, {0.9, 16}});
    job.finished = {8, 12};
    auto const a = ask(detect::average_time{}, job);
    CHECK(a.note == detect::detection_note::none);
    CHECK(a.tasks() == places{3, 1}); // not the one at the average
    CHECK(a.suspects[0] == detect::finding{3, 16, 10, 10});
    auto const b = ask(detect::average_time{.factor = 1.5}, job);
    CHECK(b.tasks() == places{3});
    CHECK(b.suspects[0] == detect::finding{3, 16, 15, 10});
    SUBCASE("the exclusion to the letter: the running ones' average, 11.5") {
        auto const c = ask(detect::average_time{.of = detect::average_time::basis::running}, job);
        CHECK(c.tasks() == places{3});
        CHECK(c.suspects[0] == detect::finding{3, 16, 11.5, 11.5});
    }
}

TEST_CASE("average_time: few tasks, equal tasks, ties, no numbers") {
    detect::average_time const of_running{.of = detect::average_time::basis::running};
    CHECK(ask(detect::average_time{}, running({})).note == detect::detection_note::too_few_finished);
    CHECK(ask(detect::average_time{}, running({{0.5, 1e9}})).note ==
          detect::detection_note::too_few_finished);
    CHECK(ask(of_running, running({})).note == detect::detection_note::too_few_running);
    CHECK(ask(of_running, running({{0.5, 10}})).note == detect::detection_note::too_few_running);
    CHECK(ask(of_running, running({{0.5, 0.1}, {0.4, 0.1}, {0.3, 0.1}})).suspects.empty());
    auto job = running({{0.5, 2}, {0.5, 3}, {0.5, 2}, {0.5, 3}, {0.5, 0}, {0.5, std::nan("")}});
    job.finished = {1};
    CHECK(ask(detect::average_time{}, job).tasks() == places{1, 3, 0, 2});
    CHECK(ask(of_running, job).tasks() == places{1, 3});
    job.finished = {0};
    CHECK(ask(detect::average_time{}, job).tasks() == places{1, 3, 0, 2});
}

TEST_CASE("average_time: as defined, on random jobs") {
    std::uint64_t const seed = seed_or(5);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::size_t found = 0;
    for (int i = 0; i < 500; ++i) {
        job_data job = random_job(engine);
        detect::job_view const view = job.view();
        auto const elapsed = [&](std::uint32_t t) { return wide(view.running[t].elapsed); };
        std::vector<long double> times(view.finished.begin(), view.finished.end());
        auto const a = ask(detect::average_time{.factor = 1.2}, view);
        if (times.empty())
            CHECK(a.suspects.empty());
        else
            check_definition(a, view.running.size(), elapsed, 1.2L * book_moments(times).mean, 1);
        found += a.suspects.size();
        times.clear();
        for (std::uint32_t t = 0; t < view.running.size(); ++t) times.push_back(elapsed(t));
        auto const b = ask(detect::average_time{.of = detect::average_time::basis::running}, view);
        if (times.size() < 2)
            CHECK(b.suspects.empty());
        else
            check_definition(b, view.running.size(), elapsed, book_moments(times).mean, 1);
    }
    CHECK(found > 1000);
}

TEST_CASE("average_time allocates nothing the second time") {
    CHECK(allocations_of_second_look(detect::average_time{}, 15) == 0);
    CHECK(allocations_of_second_look(detect::average_time{.of = detect::average_time::basis::running}, 15) ==
          0);
}
