// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The cases named after Hadoop's tests are those of TestSpeculativeExecution in Hadoop 1, times in
// milliseconds as there.

#include <straggle/detect/late_with_caps.hpp>

#include "jobs.hpp"

#include <support/seed.hpp>

using namespace straggle;
using namespace straggle_test;

namespace {

constexpr double milliseconds = 1000; // a second in the unit of the times

detect::late_with_caps hadoop(double slow_task) {
    detect::late_with_caps rule = detect::late_with_caps::mr1(milliseconds);
    rule.slow_task = slow_task;
    return rule;
}

places slow_nodes(detect::late_with_caps const& rule, job_data job) {
    detect::detector_scratch scratch;
    places out{77};
    rule.slow_nodes(job.view(), scratch, out);
    REQUIRE_FALSE(out.empty());
    CHECK(out.front() == 77);
    out.erase(out.begin());
    return out;
}

job_data with_nodes(std::vector<detect::job_node> nodes) {
    job_data job;
    job.nodes = std::move(nodes);
    return job;
}

} // namespace

TEST_CASE("Hadoop 1, testIsSlowTracker") {
    // Three tasks each of 1000, 2000 and later 102000 ms.
    auto const mr1 = detect::late_with_caps::mr1(milliseconds);
    CHECK(slow_nodes(mr1, with_nodes({{3, 3000.0}, {3, 6000.0}, {}})).empty());
    // mean 35000, deviation 47378.6
    CHECK(slow_nodes(mr1, with_nodes({{3, 3000.0}, {3, 6000.0}, {3, 306000.0}})) == places{2});
    // One of three nodes lies at most sqrt(2) deviations from the mean.
    auto strict = mr1;
    strict.slow_node = 1.4142;
    CHECK(slow_nodes(strict, with_nodes({{3, 3000.0}, {3, 3000.0}, {3, 3e9}})) == places{2});
    strict.slow_node = 1.4143;
    CHECK(slow_nodes(strict, with_nodes({{3, 3000.0}, {3, 3000.0}, {3, 3e9}})).empty());
    CHECK(slow_nodes(mr1, with_nodes({{1, 1.0}, {1, 1e9}})).empty());
    CHECK(slow_nodes(mr1, with_nodes({{1, 1.0}})).empty());
    CHECK(slow_nodes(mr1, with_nodes({})).empty());
}

TEST_CASE("Hadoop 1, testTaskToSpeculate") {
    job_data job;
    job.finished = {5000, 6000};
    job.tasks = 5;
    for (int i = 0; i < 3; ++i) job.running.push_back({.progress = 0, .elapsed = 86000});
    // Tasks 2, 3 and 4 are equally bad: the first is taken, then the next.
    CHECK(ask(hadoop(0.5), job).tasks().front() == 0);
    job.running.erase(job.running.begin());
    job.finished.push_back(5000); // its copy was done in that time
    for (auto& t : job.running) t.elapsed += 5000;
    auto const a = ask(hadoop(0.5), job);
    REQUIRE_FALSE(a.suspects.empty());
    CHECK(a.suspects[0].task == 0);
}

TEST_CASE("Hadoop 1, testTaskLATEScheduling: the longest time to end, not the lowest rate") {
    job_data job;
    job.finished = {2000, 2000, 2000};
    job.running = {{.progress = 0.85, .elapsed = 317000}, {.progress = 0.20, .elapsed = 65000}};
    auto const a = ask(hadoop(0.5), job);
    CHECK(a.tasks() == places{1, 0});
    CHECK(a.suspects[1].value < a.suspects[0].value);
    auto const time_to_end = [&](std::size_t i) {
        return (1 - job.running[a.suspects[i].task].progress) / a.suspects[i].value;
    };
    CHECK(time_to_end(0) == doctest::Approx(2.60e5).epsilon(1e-3));
    CHECK(time_to_end(1) == doctest::Approx(5.59e4).epsilon(1e-3));
    // Over the running tasks alone only the other would have had a low rate.
    auto rule = hadoop(0.5);
    rule.over = detect::task_scope::running;
    CHECK(ask(rule, job).tasks() == places{0});
}

TEST_CASE("Hadoop 1, testAtSpeculativeCap") {
    auto const job = [](std::size_t total, std::size_t finished, std::uint64_t map_slots) {
        job_data j;
        j.finished.assign(finished, 5000.0);
        j.running.assign(total - finished, {.progress = 0.85, .elapsed = 115000});
        j.slots = map_slots;
        return j;
    };
    struct row {
        std::size_t total, finished;
        std::uint64_t map_slots; // half of the tracker's
        std::size_t expected;
    };
    for (row const& r : {row{1200, 800, 10, 40}, row{1200, 1150, 10, 10}, row{1200, 1150, 2000, 20}}) {
        auto j = job(r.total, r.finished, r.map_slots);
        auto const all = ask(hadoop(1.0), j);
        CHECK(all.suspects.size() == r.expected);
        CHECK(all.note == detect::detection_note::cap_reached);
        // The same one copy at a time.
        std::size_t launched = 0;
        for (; launched < 100; ++launched) {
            auto const a = ask(hadoop(1.0), j);
            if (a.suspects.empty()) break;
            CHECK(a.suspects[0].task == launched);
            j.running[a.suspects[0].task].copies = 2;
        }
        CHECK(launched == r.expected);
        CHECK(ask(hadoop(1.0), j).note == detect::detection_note::cap_reached);
    }
    CHECK(ask(hadoop(1.0), job(800, 800, 10)).note == detect::detection_note::too_few_running);
}

TEST_CASE("Hadoop 1, testRunningTaskCountWithSpeculation: the last task gets its copy") {
    job_data job;
    job.finished = {5000, 6000};
    job.running = {{.progress = 0, .elapsed = 66000}};
    CHECK(ask(hadoop(0.5), job).tasks() == places{0});
    job.running[0].elapsed = 60000;
    CHECK(ask(hadoop(0.5), job).tasks() == places{0});
    job.running[0].elapsed = 59999; // Hadoop's lag is the task's
    CHECK(ask(hadoop(0.5), job).note == detect::detection_note::too_early);
}

TEST_CASE("Hadoop 1: a task that has just begun counts as a millisecond old") {
    job_data job;
    job.finished = {5000, 6000};
    job.running = {{.progress = 0, .elapsed = 66000}, {.progress = 0, .elapsed = 0}};
    auto const a = ask(hadoop(0.5), job);
    CHECK(a.tasks() == places{0});
    CHECK(a.suspects[0].usual == doctest::Approx((1.0 / 5000 + 1.0 / 6000) / 4).epsilon(1e-15));
}

TEST_CASE("late_with_caps: the paper's quantiles by hand") {
    // Rates 1 2 3 4 5 per 100 seconds; the 25 % quantile is 2 and only the first is below.
    auto job = running({{0.05, 100}, {0.04, 100}, {0.03, 100}, {0.02, 100}, {0.01, 100}});
    auto const a = ask(detect::late_with_caps{}, job);
    CHECK(a.note == detect::detection_note::none);
    CHECK(a.tasks() == places{4});
    CHECK(a.suspects[0].value == 0.01 / 100);
    CHECK(a.suspects[0].threshold == doctest::Approx(0.0002).epsilon(1e-15));
    CHECK(a.suspects[0].usual == doctest::Approx(0.0003).epsilon(1e-15));
    // The median: two below, of which a cap of a tenth of five running tasks leaves one.
    auto const half = ask(detect::late_with_caps{.slow_task = 0.5}, job);
    CHECK(half.tasks() == places{4});
    CHECK(half.note == detect::detection_note::cap_reached);
    CHECK(ask(detect::late_with_caps{.slow_task = 0.5, .cap_of_running = 0.21}, job).tasks() == places{4, 3});
    job.slots = 11; // more than one copy in eleven slots is too many, but one is fewer than 1.1
    CHECK(ask(detect::late_with_caps{.slow_task = 0.5}, job).tasks() == places{4, 3});
    job.slots = 10;
    CHECK(ask(detect::late_with_caps{.slow_task = 0.5}, job).tasks() == places{4});
    job.running[2].copies = 2; // anybody's copy counts
    CHECK(ask(detect::late_with_caps{.slow_task = 0.5}, job).tasks().empty());
    CHECK(ask(detect::late_with_caps{.slow_task = 0.5}, job).note == detect::detection_note::cap_reached);
}

TEST_CASE("late_with_caps: nodes that have done little in all") {
    auto job = with_nodes({{4, 40.0}, {3, 30.0}, {0, 0.0}, {2, 30.0}, {2, 20.0}});
    job.running = {{.progress = 0.5, .elapsed = 5, .node = 2}, {.progress = 0.5, .elapsed = 5, .node = 3}};
    // Totals 4, 3, 0.5, 2.5, 2: the quantile is 2.
    CHECK(slow_nodes(detect::late_with_caps{}, job) == places{2});
    CHECK(slow_nodes(detect::late_with_caps{.slow_node = 0.6}, job) == places{2, 3, 4});
    job.running[0].progress = std::nan("");
    CHECK(slow_nodes(detect::late_with_caps{}, job) == places{2});
    CHECK(slow_nodes(detect::late_with_caps{.slow_node = std::nan("")}, job).empty());
}

TEST_CASE("late_with_caps: few tasks, equal tasks, nothing done, no numbers") {
    double const nan = std::nan("");
    for (detect::late_with_caps const& rule : {detect::late_with_caps{}, detect::late_with_caps::mr1()}) {
        CHECK(ask(rule, running({})).note == detect::detection_note::too_few_running);
        CHECK(ask(rule, running({{0.5, 100}})).note == detect::detection_note::too_few_running);
        CHECK(ask(rule, running({{0.5, 100}, {0.5, 100}, {0.5, 100}})).suspects.empty());
        CHECK(ask(rule, running({{0, 100}, {0, 100}, {0, 100}})).suspects.empty());
        CHECK(ask(rule, running({{nan, 100}, {0.5, nan}, {0.5, 100}, {0.4, 100}})).suspects.size() <= 1);
    }
    CHECK(ask(detect::late_with_caps{}, running({{0, 0}, {0, 0}})).note == detect::detection_note::too_early);
    CHECK(ask(detect::late_with_caps{}, running({{0.1, 59}, {0.9, 59}})).note ==
          detect::detection_note::too_early);
    CHECK(ask(detect::late_with_caps{.slow_task = nan}, running({{0.1, 100}, {0.9, 100}})).suspects.empty());
    // Of those that have done all the rate decides.
    CHECK(ask(detect::late_with_caps{.slow_task = 0.9, .cap_of_running = 1},
              running({{1, 90}, {1, 100}, {1, 80}}))
              .tasks() == places{1, 0});
}

TEST_CASE("late_with_caps: as defined, on random jobs") {
    std::uint64_t const seed = seed_or(3);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::size_t found = 0, cut = 0;
    for (int i = 0; i < 600; ++i) {
        job_data job = random_job(engine);
        if (i % 3 == 0) job.slots = 1 + engine() % 300;
        detect::job_view const view = job.view();
        bool const quantile = i % 2 == 0;
        detect::late_with_caps rule;
        rule.lag = 5;
        if (!quantile) {
            rule = detect::late_with_caps::mr1();
            rule.lag = 5;
            rule.cap_at_least = engine() % 4;
        }
        auto const rate = [&](std::uint32_t t) {
            detect::running_task const& task = view.running[t];
            double const elapsed = std::max(task.elapsed, rule.tick);
            return elapsed > 0 ? task.progress / elapsed : std::nan("");
        };
        std::vector<double> rates;
        for (std::uint32_t t = 0; t < view.running.size(); ++t)
            if (rate(t) >= 0) rates.push_back(rate(t));
        if (!quantile)
            for (double const time : view.finished) rates.push_back(1 / time);
        auto const a = ask(rule, view);
        if (rates.size() < 2) {
            CHECK(a.suspects.empty());
            continue;
        }
        double threshold = 0;
        if (quantile) {
            std::ranges::sort(rates);
            double const at = 0.25 * static_cast<double>(rates.size() - 1);
            std::size_t const k = static_cast<std::size_t>(at);
            threshold = rates[k];
            if (k + 1 < rates.size()) threshold += (at - static_cast<double>(k)) * (rates[k + 1] - rates[k]);
        } else {
            book_moments const m(std::vector<long double>(rates.begin(), rates.end()));
            threshold = static_cast<double>(m.mean - std::max(m.deviation, 1e-12L * m.mean));
        }
        std::vector<std::pair<double, std::uint32_t>> expected;
        double copies = 0;
        bool close = false; // on the threshold but for rounding: either way is right
        for (std::uint32_t t = 0; t < view.running.size(); ++t) {
            copies += view.running[t].copies - 1;
            close = close || std::fabs(rate(t) - threshold) < 1e-11 * threshold;
            if (rate(t) < threshold && view.running[t].copies == 1 && view.running[t].elapsed >= 5)
                expected.emplace_back(rate(t) / std::max(1e-4, 1 - view.running[t].progress), t);
        }
        if (close) continue;
        std::ranges::sort(expected);
        double const n = static_cast<double>(view.running.size());
        double const cap = std::max({static_cast<double>(rule.cap_at_least), rule.cap_of_running * n,
                                     rule.cap_of_slots * static_cast<double>(view.slots)});
        std::size_t allowed = 0;
        while (allowed < expected.size() && copies + static_cast<double>(allowed) < cap * (1 - 1e-12))
            ++allowed;
        places wanted;
        for (std::size_t k = 0; k < allowed; ++k) wanted.push_back(expected[k].second);
        CHECK(a.tasks() == wanted);
        CHECK((a.note == detect::detection_note::cap_reached) == (allowed < expected.size()));
        found += wanted.size();
        cut += allowed < expected.size();
    }
    CHECK(found > 150);
    CHECK(cut > 50);
}

TEST_CASE("late_with_caps allocates nothing the second time") {
    CHECK(allocations_of_second_look(detect::late_with_caps{}, 13) == 0);
    CHECK(allocations_of_second_look(detect::late_with_caps::mr1(), 13) == 0);
    std::mt19937_64 engine(1);
    auto job = random_job(engine);
    auto const view = job.view();
    detect::detector_scratch scratch;
    places out;
    auto const look = [&] {
        out.clear();
        detect::late_with_caps{}.slow_nodes(view, scratch, out);
    };
    look();
    CHECK(allocations_during(look) == 0);
}
