// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/cap.hpp>
#include <straggle/detect/without_copies.hpp>

#include "jobs.hpp"

#include <support/seed.hpp>

using namespace straggle;
using namespace straggle_test;

namespace {

// Every running task is a suspect, the first one worst.
job_data job_of(std::size_t running, std::size_t waiting) {
    job_data job;
    for (std::size_t i = 0; i < running; ++i)
        job.running.push_back({.progress = 0.5, .elapsed = 100.0 + static_cast<double>(running - i)});
    job.finished = {1};
    job.tasks = running + waiting + 1;
    return job;
}

std::size_t named(std::size_t running, std::size_t waiting) {
    auto const a = ask(detect::cap{detect::average_time{}}, job_of(running, waiting));
    CHECK((a.note == detect::detection_note::cap_reached) == (a.suspects.size() < running));
    for (std::uint32_t i = 0; i < a.suspects.size(); ++i) CHECK(a.suspects[i].task == i);
    return a.suspects.size();
}

} // namespace

TEST_CASE("cap: the largest of ten, a hundredth of all and a tenth of the running tasks") {
    CHECK(named(0, 0) == 0);
    CHECK(named(9, 0) == 9);
    CHECK(named(50, 0) == 10);
    CHECK(named(109, 0) == 10);
    CHECK(named(400, 799) == 40);
    CHECK(named(419, 0) == 41); // cut to a whole number
    CHECK(named(50, 1949) == 20);
    CHECK(ask(detect::cap{detect::average_time{}, 0, 0.0, 0.0}, job_of(5, 0)).suspects.empty());
    CHECK(ask(detect::cap{detect::average_time{}, 2, 0.0, 0.0}, job_of(5, 0)).tasks() == places{0, 1});
    CHECK(ask(detect::cap{detect::average_time{}, 0, 0.5, 0.0}, job_of(5, 0)).tasks() == places{0, 1, 2});
    CHECK(ask(detect::cap{detect::average_time{}, 0, 0.0, 0.5}, job_of(5, 0)).tasks() == places{0, 1});
}

TEST_CASE("cap: copies that run count against it, and need no place themselves") {
    job_data job = job_of(50, 0);
    for (std::size_t i = 0; i < 14; i += 2) job.running[i].copies = 2; // seven
    auto const a = ask(detect::cap{detect::average_time{}}, job);
    CHECK(a.tasks() == places{0, 1, 2, 3, 4, 5, 6, 8, 10, 12});
    CHECK(a.note == detect::detection_note::cap_reached);
    CHECK(ask(detect::cap{detect::without_copies{detect::average_time{}}}, job).tasks() == places{1, 3, 5});
    CHECK(ask(detect::without_copies{detect::cap{detect::average_time{}}}, job).tasks() == places{1, 3, 5});
    job.running[0].copies = 5; // four more than one
    CHECK(ask(detect::cap{detect::without_copies{detect::average_time{}}}, job).suspects.empty());
    CHECK(ask(detect::cap{detect::without_copies{detect::average_time{}}}, job).note ==
          detect::detection_note::cap_reached);
}

TEST_CASE("cap: one at a time ends with as many copies, on random jobs") {
    std::uint64_t const seed = seed_or(8);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    for (int i = 0; i < 200; ++i) {
        job_data job = random_job(engine);
        detect::cap rule{detect::without_copies{detect::average_time{}}, engine() % 6, 0.05, 0.1};
        auto const at_once = ask(rule, job).tasks();
        places one_by_one;
        while (one_by_one.size() < 100) {
            auto const a = ask(rule, job);
            if (a.suspects.empty()) break;
            one_by_one.push_back(a.suspects[0].task);
            job.running[a.suspects[0].task].copies = 2;
        }
        CHECK(at_once == one_by_one);
    }
}

TEST_CASE("cap: name, allocations") {
    CHECK(detect::cap<detect::average_time>::name == "cap(average_time)");
    CHECK(allocations_of_second_look(detect::cap{detect::average_time{}, 1}, 20) == 0);
}
