// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../../examples/programs/straggle-rank/history.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using attempts = std::vector<straggle_rank::attempt<std::int64_t>>;

struct drawn_history {
    attempts list;
    std::vector<std::uint64_t> keys; // as they were before tasks got numbers
};

// @param tasks of which each attempt is one, by chance @param look how often the list is looked at
drawn_history numbered(std::size_t size, std::size_t tasks, std::size_t look, bool knows_size) {
    using straggle::attempt_status;
    drawn_history h;
    straggle_rank::repeated_tasks repeated;
    if (knows_size) h.list.reserve(size);
    std::uint64_t state = size + tasks;
    for (std::size_t i = 0; i < size; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        std::uint64_t const n = state >> 33;
        std::string const task = n % 50 == 0 ? "" : "task_" + std::to_string(n % tasks);
        auto const how = n % 7 == 0 ? attempt_status::failed : attempt_status::success;
        auto const job = static_cast<std::uint32_t>(n % 3);
        h.keys.push_back(straggle_rank::task_key(job, task));
        h.list.emplace_back(straggle_rank::attempt_names{.job = job, .node = 0, .task_key = h.keys.back()},
                            how);
        if (i % look == 0) repeated.follow(h.list);
    }
    std::move(repeated).number(h.list);
    return h;
}

} // namespace

TEST_CASE("task numbers: those of tasks that succeeded more than once, and no others") {
    for (std::size_t const size : {0u, 1u, 2u, 1000u, 30'000u})
        for (std::size_t const tasks : {1u, 300u, 20'000u, 10'000'000u})
            for (std::size_t const look : {1u, 256u, 1'000'000u})
                for (bool const knows_size : {false, true}) {
                    CAPTURE(size);
                    CAPTURE(tasks);
                    auto const [list, keys] = numbered(size, tasks, look, knows_size);
                    std::map<std::uint64_t, std::size_t> successes;
                    auto const succeeded = [&](std::size_t i) {
                        return list[i].status() == straggle::attempt_status::success &&
                               keys[i] != straggle_rank::no_task;
                    };
                    for (std::size_t i = 0; i < size; ++i)
                        if (succeeded(i)) ++successes[keys[i]];
                    std::map<std::uint64_t, std::uint32_t> numbers;
                    std::set<std::uint32_t> different;
                    std::size_t wrong = 0;
                    for (std::size_t i = 0; i < size; ++i) {
                        bool const several = succeeded(i) && successes[keys[i]] > 1;
                        wrong += list[i].task().has_value() != several;
                        if (!several || !list[i].task()) continue;
                        auto const [known, is_new] = numbers.emplace(keys[i], *list[i].task());
                        wrong += known->second != *list[i].task();
                        if (is_new) wrong += !different.insert(*list[i].task()).second;
                    }
                    CHECK(wrong == 0);
                }
}

TEST_CASE("task numbers: keys tell names apart by each of their characters") {
    std::set<std::uint64_t> keys;
    std::size_t names = 0;
    for (std::size_t length = 1; length < 20; ++length)
        for (std::size_t at = 0; at < length; ++at)
            for (char const c : {'b', 'c', '\0', '\xff'}) {
                std::string name(length, 'a');
                name[at] = c;
                keys.insert(straggle_rank::task_key(7, name));
                ++names;
            }
    CHECK(keys.size() == names);
    CHECK(straggle_rank::task_key(1, "x") != straggle_rank::task_key(2, "x"));
    CHECK(straggle_rank::task_key(1, "") == straggle_rank::no_task);
}

TEST_CASE("task numbers: an attempt keeps what it is") {
    using straggle::attempt_status;
    for (attempt_status const how :
         {attempt_status::success, attempt_status::failed, attempt_status::killed}) {
        straggle_rank::attempt<std::int64_t> a({.job = 1, .node = 2, .task_key = 12345}, how);
        CHECK(a.status() == how);
        CHECK(a.task_key() == 12345);
        CHECK_FALSE(a.task());
        CHECK(a.converted<double>([](std::int64_t t) { return static_cast<double>(t); }).status() == how);
    }
    straggle_rank::attempt<std::int64_t> a({}, attempt_status::success);
    CHECK_FALSE(a.job());
    CHECK_FALSE(a.node());
    a.set_task(9);
    CHECK(a.task() == 9u);
    CHECK(a.status() == attempt_status::success);
    CHECK(a.converted<double>([](std::int64_t t) { return static_cast<double>(t); }).task() == 9u);
    a.set_task(std::nullopt);
    CHECK_FALSE(a.task());
    CHECK(a.status() == attempt_status::success);
}
