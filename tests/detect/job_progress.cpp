// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/job_progress.hpp>

#include <support/allocations.hpp>
#include <support/contract_trap.hpp>
#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using namespace std::chrono_literals;

namespace {

struct task {
    std::optional<std::string> host;
    std::optional<double> done;
    std::optional<std::chrono::seconds> started;
    std::optional<long> bytes;
    std::optional<int> attempts;
};
constexpr running_fields fields{.node = &task::host,
                                .start = &task::started,
                                .progress = &task::done,
                                .input = &task::bytes,
                                .copies = &task::attempts};
using job = detect::job_progress<std::string, std::chrono::seconds>;

std::vector<double> values(std::span<double const> x) {
    return {x.begin(), x.end()};
}

} // namespace

TEST_CASE("job_progress: tasks as detectors see them") {
    job j(10);
    std::vector<task> const tasks{{"a", 0.5, 10s, 300, 2}, {"b", {}, 20s, {}, {}}, {"a", 1.0, 100s, 0, 0}};
    auto const& counts = j.running(tasks, fields, 100s);
    CHECK(counts.seen == 3);
    CHECK(counts.used == 3);
    CHECK(counts.unreported == 1);
    CHECK(counts.total_rejected() == 0);
    detect::job_view const v = j.view();
    REQUIRE(v.running.size() == 3);
    CHECK(v.running[0].progress == 0.5);
    CHECK(v.running[0].elapsed == 90);
    CHECK(v.running[0].input == 300);
    CHECK(v.running[0].copies == 2);
    CHECK(v.running[1].progress == 0);
    CHECK(v.running[1].input == 1);
    CHECK(v.running[1].copies == 1);
    CHECK(v.running[2].elapsed == 0);
    CHECK(v.running[2].input == 1);
    CHECK(v.running[2].copies == 1);
    CHECK(v.running[2].row == 2);
    CHECK(v.running[2].node == v.running[0].node);
    CHECK(j.node(v.running[0].node) == "a");
    CHECK(j.node(v.running[1].node) == "b");
    CHECK(v.nodes.size() == 2);
    CHECK(v.tasks == 10);
    CHECK(v.slots == 0);
    CHECK(v.age == 90);
}

TEST_CASE("job_progress: what is wrong with a snapshot is counted, and the rest stays") {
    double const nan = std::nan("");
    std::vector<task> const tasks{{{}, 0.5, 1s, 1, 1},  {"a", 0.5, {}, 1, 1},  {"a", 0.5, 101s, 1, 1},
                                  {"a", nan, 1s, 1, 1}, {"a", -0.1, 1s, 1, 1}, {"a", 1.1, 1s, 1, 1},
                                  {"b", 0.1, 50s, 1, 1}};
    job j;
    auto const& counts = j.running(tasks, fields, 100s);
    CHECK(counts.seen == 7);
    CHECK(counts.used == 1);
    CHECK(counts[record::running_rejection::missing_node] == 1);
    CHECK(counts[record::running_rejection::missing_start] == 1);
    CHECK(counts[record::running_rejection::not_started] == 1);
    CHECK(counts[record::running_rejection::bad_progress] == 3);
    CHECK(counts.seen == counts.used + counts.total_rejected());
    CHECK(j.view().running[0].row == 6);
    CHECK(j.view().age == 50); // what was rejected did not begin the job either
    CHECK(j.view().nodes.size() == 1);
    CHECK(j.counts() == counts);
}

TEST_CASE("job_progress: without a progress nothing is known to be done; times may be numbers") {
    struct plain {
        int host;
        double started;
    };
    detect::job_progress<int, double> j;
    std::vector<plain> const tasks{{7, 1.5}, {7, std::nan("")}};
    auto const& counts =
        j.running(tasks, running_fields{.node = &plain::host, .start = &plain::started}, 4.0);
    CHECK(counts.used == 1);
    CHECK(counts.unreported == 1);
    CHECK(counts[record::running_rejection::missing_start] == 1);
    CHECK(j.view().running[0].elapsed == 2.5);
    CHECK(j.view().running[0].progress == 0);
}

TEST_CASE("job_progress: finished tasks") {
    job j;
    CHECK(j.observe("a", 1500ms)); // in seconds, whatever the unit
    CHECK(j.observe("b", 1min));
    CHECK(j.observe("a", 4.5));
    CHECK_FALSE(j.observe("c", -1s));
    CHECK_FALSE(j.observe("c", std::nan("")));
    CHECK_FALSE(j.observe("c", std::numeric_limits<double>::infinity()));
    detect::job_view const v = j.view();
    CHECK(values(v.finished) == std::vector{1.5, 4.5, 60.0});
    CHECK(values(v.finished_per_input) == values(v.finished));
    CHECK(v.finished_input == 3);
    CHECK(v.mean_finished == 22);
    CHECK(v.sd_finished ==
          doctest::Approx(std::sqrt((20.5 * 20.5 + 17.5 * 17.5 + 38 * 38) / 3)).epsilon(1e-15));
    CHECK(v.tasks == 3);
    REQUIRE(v.nodes.size() == 2);
    CHECK(v.nodes[0].finished == 2);
    CHECK(v.nodes[0].total_time == 6);
}

TEST_CASE("job_progress: equal times have that mean, to the last bit, and no deviation") {
    job j;
    for (int i = 0; i < 10; ++i) REQUIRE(j.observe("a", 0.1));
    CHECK(j.view().mean_finished == 0.1);
    CHECK(j.view().sd_finished == 0);
}

TEST_CASE("job_progress: inputs of finished tasks, told late and not always") {
    job j;
    REQUIRE(j.observe("a", 6s));
    REQUIRE(j.observe("a", 2s));
    CHECK(values(j.view().finished_per_input) == std::vector{2.0, 6.0});
    REQUIRE(j.observe("a", 12s, 4));
    REQUIRE(j.observe("a", 5s, -4)); // not an input
    REQUIRE(j.observe("a", 1s, std::nan("")));
    detect::job_view const v = j.view();
    CHECK(values(v.finished) == std::vector{1.0, 2.0, 5.0, 6.0, 12.0});
    CHECK(values(v.finished_per_input) == std::vector{1.0, 2.0, 3.0, 5.0, 6.0});
    CHECK(v.finished_input == 8);
}

TEST_CASE("job_progress: what the user says of the job and its nodes") {
    job j;
    j.set_tasks(100);
    j.set_slots(40);
    j.set_begin(20s);
    j.set_slowdown("slow", 2.5);
    std::vector<task> const tasks{{"slow", 0.5, 30s, 1, 1}};
    j.running(tasks, fields, 50s);
    detect::job_view const v = j.view();
    CHECK(v.tasks == 100);
    CHECK(v.slots == 40);
    CHECK(v.age == 30);
    CHECK(v.nodes[0].slowdown == 2.5);
    CHECK(v.nodes[0].modelled);
    straggle_test::contract_trap trap;
    CHECK_THROWS_AS(j.set_slowdown("slow", 0), straggle_test::broken_contract);
    CHECK_THROWS_AS(j.set_slowdown("slow", std::nan("")), straggle_test::broken_contract);
}

TEST_CASE("job_progress: times stay in order however they come, and a cleared job is as new") {
    std::uint64_t const seed = straggle_test::seed_or(9);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    job reused;
    for (int round = 0; round < 60; ++round) {
        reused.clear();
        job fresh;
        std::vector<double> times, per_input;
        bool const inputs = round % 2 == 1;
        for (int batch = 0; batch < 6; ++batch) {
            for (std::uint64_t n = engine() % 20; n > 0; --n) {
                double const time = static_cast<double>(engine() % 50) / 4;
                double const input = inputs && batch > 2 ? static_cast<double>(1 + engine() % 3) : 1.0;
                for (job* j : {&reused, &fresh}) REQUIRE(j->observe("a", time, input));
                times.push_back(time);
                per_input.push_back(time / input);
            }
            std::ranges::sort(times);
            std::ranges::sort(per_input);
            for (job* j : {&reused, &fresh}) {
                detect::job_view const v = j->view();
                CHECK(values(v.finished) == times);
                CHECK(values(v.finished_per_input) == per_input);
                CHECK(v.tasks == times.size());
                CHECK(v.slots == 0);
                CHECK(v.age == 0);
                CHECK(v.nodes.size() == (times.empty() ? 0 : 1));
            }
        }
        reused.set_slots(3);
        reused.set_tasks(1000);
    }
}

TEST_CASE("job_progress: a snapshot is the same whatever the one before it was") {
    std::mt19937_64 engine(11);
    auto const below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine);
    };
    auto const new_task = [&] {
        task t{"n" + std::to_string(below(9)), 0.5, 1s * static_cast<int>(below(50)), 1, 1};
        if (below(12) == 0) t.host.reset();
        if (below(12) == 0) t.done = below(2) == 0 ? 1.5 : -0.0;
        if (below(12) == 0) t.done.reset();
        if (below(12) == 0) t.started = 1000s; // not yet
        return t;
    };
    job kept;
    std::vector<task> tasks;
    std::size_t used = 0, looks = 0;
    for (int look = 0; look < 3000; ++look) {
        switch (below(6)) {
        case 0: // some end
            std::erase_if(tasks, [&](task const&) { return below(5) == 0; });
            break;
        case 1: // some begin, anywhere
            for (std::size_t n = below(20); n > 0; --n)
                tasks.insert(tasks.begin() + static_cast<std::ptrdiff_t>(below(tasks.size() + 1)),
                             new_task());
            break;
        case 2: // some move
            if (!tasks.empty()) tasks[below(tasks.size())] = new_task();
            break;
        case 3:
            if (below(10) == 0) std::shuffle(tasks.begin(), tasks.end(), engine);
            break;
        case 4: // a finished task makes a node known
            REQUIRE(kept.observe("n" + std::to_string(below(12)), 1.0));
            break;
        default: // nothing but time
            break;
        }
        if (tasks.size() > 200) tasks.resize(below(200));
        job fresh;
        auto const now = std::chrono::seconds(100 + look % 7);
        auto const told = kept.running(tasks, fields, now);
        REQUIRE(told == fresh.running(tasks, fields, now));
        detect::job_view const a = kept.view(), b = fresh.view();
        REQUIRE(a.running.size() == b.running.size());
        std::map<std::string, std::uint32_t> on;
        for (std::size_t i = 0; i < a.running.size(); ++i) {
            detect::running_task const &x = a.running[i], &y = b.running[i];
            REQUIRE(kept.node(x.node) == fresh.node(y.node));
            REQUIRE((x.progress == y.progress && !std::signbit(x.progress) && x.elapsed == y.elapsed &&
                     x.row == y.row && x.input == y.input && x.copies == y.copies));
            ++on[kept.node(x.node)];
        }
        for (std::uint32_t k = 0; k < a.nodes.size(); ++k) {
            REQUIRE(a.nodes[k].running == on[kept.node(k)]);
            REQUIRE(a.nodes[k].most_running >= a.nodes[k].running);
        }
        used += told.used;
        ++looks;
    }
    CHECK(used > 10 * looks); // there was something to compare
}

TEST_CASE("job_progress allocates nothing the second time") {
    std::mt19937_64 engine(5);
    std::vector<task> tasks;
    for (int i = 0; i < 100; ++i)
        tasks.push_back({"a node with a long name " + std::to_string(i % 7), 0.5, 1s * i, 100, 1});
    job j;
    auto const run = [&] {
        j.clear();
        for (int i = 0; i < 100; ++i)
            (void)j.observe(*tasks[static_cast<std::size_t>(i)].host, static_cast<double>(100 - i),
                            i < 50 ? 1 : 2);
        j.running(tasks, fields, 200s);
        (void)j.view();
        for (int i = 0; i < 20; ++i) (void)j.observe(*tasks[0].host, 50.5);
        (void)j.view();
    };
    run();
    CHECK(straggle_test::allocations_during(run) == 0);
}
