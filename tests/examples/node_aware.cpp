// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../../examples/programs/common/node_aware.hpp"

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/mantri.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/evaluate/detection_metrics.hpp>

#include "../detect/jobs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using namespace straggle_test;

static_assert(detect::straggler_detector<program::node_aware<>>);

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// The same tasks on each of some nodes: {progress, elapsed}, per node.
job_data on_nodes(std::vector<std::vector<std::pair<double, double>>> const& nodes) {
    job_data job;
    for (std::uint32_t k = 0; k < nodes.size(); ++k)
        for (auto const& [progress, elapsed] : nodes[k])
            job.running.push_back({.progress = progress, .elapsed = elapsed, .node = k});
    job.nodes.resize(nodes.size());
    return job;
}

} // namespace

TEST_CASE("node_aware: a node known to be slow is enough, before anything is reported") {
    // By hand: expected log = log slowdown, its variance 0.15^2 (tasks) + 0.15^2 (model).
    double const edge = 1.2 * std::exp(0.3 * std::sqrt(2 * 0.15 * 0.15));
    for (double const slowdown : {edge * 0.999, edge * 1.001}) {
        job_data job = on_nodes({{{0, 0}}, {{0, 0}}});
        job.nodes[1] = {.slowdown = slowdown, .modelled = true};
        answer const a = ask(program::node_aware<>{.usual_time = 60}, job);
        CHECK(a.note == detect::detection_note::none);
        REQUIRE(a.suspects.size() == (slowdown > edge ? 1u : 0u));
        if (a.suspects.empty()) continue;
        CHECK(a.suspects[0].task == 1);
        CHECK(a.suspects[0].value == doctest::Approx(60 * slowdown));
        CHECK(a.suspects[0].threshold == doctest::Approx(72));
        CHECK(a.suspects[0].usual == doctest::Approx(60));
    }
}

namespace {

// A quarter of a task is done where 60 are usual, on a node nobody knows: good (0 +- 0.08) at 0.8, slow
// (0.6 +- 0.5) at 0.2, and tasks differ by 0.15.
struct by_hand {
    double log, sd;

    // @param worked so long it took, from when it began to work to its report, 1.5 old on average and up to 3
    explicit by_hand(double worked) {
        double const mean = 0.2 * 0.6;
        double const variance = 0.0225 + 0.8 * 0.0064 + 0.2 * 0.25 + 0.2 * 0.8 * 0.36;
        double const own = std::log(worked / (0.25 * 60));
        double const blur = std::pow(0.02 / 0.25, 2) + std::pow(0.1 * 0.75, 2) + 9.0 / 12 / (worked * worked);
        log = (own * variance + mean * blur) / (variance + blur);
        sd = std::sqrt(variance * blur / (variance + blur));
    }
};

} // namespace

TEST_CASE("node_aware: a task alone, reckoned by hand") {
    auto const [log, sd] = by_hand(38.5);
    auto const with = [](double sureness) {
        return program::node_aware<>{.sureness = sureness, .usual_time = 60};
    };
    answer const a = ask(with(0.3), running({{0.25, 40}}));
    REQUIRE(a.suspects.size() == 1);
    CHECK(a.suspects[0].value == doctest::Approx(60 * std::exp(log)).epsilon(1e-12));
    // More than 60 has to remain: the estimate must be above 100.
    double const sure = (log - std::log(100.0 / 60)) / sd;
    CHECK(ask(with(sure - 0.001), running({{0.25, 40}})).suspects.size() == 1);
    CHECK(ask(with(sure + 0.001), running({{0.25, 40}})).suspects.empty());
}

TEST_CASE("node_aware: stragglers that no copy could overtake are named on request") {
    // Takes 100 / 0.7 where 100 are usual, and is at 70 per cent: 43 are left, a copy needs 100.
    job_data const late = running({{0.7, 100}});
    program::node_aware<> rule{.usual_time = 100, .report_interval = 1};
    CHECK(ask(rule, late).suspects.empty());
    rule.in_time = false;
    answer const a = ask(rule, late);
    REQUIRE(a.suspects.size() == 1);
    CHECK(a.suspects[0].value == doctest::Approx(100 / 0.7).epsilon(0.02));
    // Nobody else is: the usual time is exceeded by less than the slowdown.
    CHECK(ask(rule, running({{0.9, 100}})).suspects.empty());
    // Whoever can be overtaken is named either way.
    job_data const early = running({{0.1, 40}});
    CHECK(ask(rule, early).suspects ==
          ask(program::node_aware<>{.usual_time = 100, .report_interval = 1}, early).suspects);
    CHECK(ask(rule, early).suspects.size() == 1);
}

TEST_CASE("node_aware: a start-up that is told, reckoned by hand") {
    // As before, but 4 of the 40 went by before it began to work. Of these the quarter that is done has paid
    // its share: 40 - 4 x 0.75 for a quarter, less 1.5 for the age of the report.
    double const log = by_hand(35.5).log;
    answer const a = ask(program::node_aware<>{.usual_time = 60, .start_up = 4}, running({{0.25, 40}}));
    REQUIRE(a.suspects.size() == 1);
    CHECK(a.suspects[0].value == doctest::Approx(60 * std::exp(log)).epsilon(1e-12));
    // Still starting up: nothing is known but that its node may be any.
    CHECK(ask(program::node_aware<>{.usual_time = 60, .start_up = 4}, running({{0, 3}})).suspects.empty());
    // To have begun at once is what is believed where nothing is told or known.
    auto const without = ask(program::node_aware<>{.usual_time = 60}, running({{0.25, 40}})).suspects;
    CHECK(ask(program::node_aware<>{.usual_time = 60, .start_up = 0}, running({{0.25, 40}})).suspects ==
          without);
    CHECK(ask(program::node_aware<>{.start_up = 4}, running({{0.5, 30}, {0.5, 30}})).suspects.empty());
}

TEST_CASE("node_aware: what tasks of all nodes are late is no slowdown") {
    // Five nodes of four tasks that began 25 ago and worked for the last 15; they usually take 100, and what
    // they reported is 1.5 old. Node 3 is three times as slow as it was, node 4 as slow as it was.
    auto const tasks = [](double slowdown) {
        return std::vector<std::pair<double, double>>(4, {(25 - 1.5 - 10) / (100 * slowdown), 25.0});
    };
    job_data job = on_nodes({tasks(1), tasks(1), tasks(1), tasks(3), tasks(2)});
    for (detect::job_node& n : job.nodes) n.modelled = true;
    job.nodes[4].slowdown = 2;
    auto const rule = [](std::optional<double> start_up) {
        return program::node_aware<>{.usual_time = 100, .report_interval = 3, .start_up = start_up};
    };
    // By hand: a task of a good node has done 0.135 in 23.5 instead of 13.5, with 0.865 to go; so it is on
    // three nodes, and on the others once less, once more. Variance of a node: the model's 0.15, the tasks'
    // 0.15 and readings of 0.02; of the mean of five, and pi / 2 of that for the median. To begin with 3 is
    // likely.
    double variance = 0;
    for (double const expected : {13.5, 13.5, 13.5, 13.5 / 3, 13.5})
        variance += (expected * expected * (0.0225 + 0.0225 / 4) + 4.0 / 4) / 25;
    double const late = 10 / 0.865 * 9 / (9 + std::acos(-1.0) / 2 * variance);
    CHECK(late == doctest::Approx(9.78).epsilon(0.001));
    answer const told = ask(rule(late), job), learnt = ask(rule(std::nullopt), job);
    REQUIRE(learnt.tasks() == told.tasks());
    for (std::size_t i = 0; i < told.suspects.size(); ++i)
        CHECK(learnt.suspects[i].value == doctest::Approx(told.suspects[i].value).epsilon(1e-12));
    for (detect::finding const& s : learnt.suspects) CHECK(job.running[s.task].node >= 3);
    CHECK(learnt.suspects.size() == 8);
    CHECK(ask(rule(0), job).suspects.size() == 20); // all look slow

    // Finished tasks tell as much of their nodes as a model does.
    for (detect::job_node& n : job.nodes)
        n = {.compared = 50, .log_mean = std::log(100.0) + (&n == &job.nodes[4] ? std::log(2.0) : 0.0)};
    CHECK(ask(rule(std::nullopt), job).tasks() == places{16, 17, 18, 19}); // fifty outweigh node 3's four
    CHECK(ask(rule(0), job).suspects.size() == 20);
    // Of nodes nobody knows nothing is learned, nor from tasks that are no longer young or have no progress.
    for (detect::job_node& n : job.nodes) n = {};
    CHECK(ask(rule(std::nullopt), job).suspects == ask(rule(0), job).suspects);
    job.nodes.assign(5, {.modelled = true});
    job_data old = job;
    for (detect::running_task& t : old.running) t.elapsed = 30.01;
    CHECK(ask(rule(std::nullopt), old).suspects == ask(rule(0), old).suspects);
    for (detect::running_task& t : job.running) t.progress = 0;
    CHECK(ask(rule(std::nullopt), job).suspects == ask(rule(0), job).suspects);
    // Earlier than expected is no start-up.
    for (detect::running_task& t : job.running) t.progress = 0.2;
    CHECK(ask(rule(std::nullopt), job).suspects == ask(rule(0), job).suspects);
}

TEST_CASE("node_aware: a young task is judged by its siblings") {
    std::vector<std::pair<double, double>> const fast{{0.5, 30}, {0.4, 25}, {0.6, 36}, {0.01, 1}};
    std::vector<std::pair<double, double>> const slow{{0.2, 30}, {0.17, 25}, {0.24, 36}, {0.01, 1}};
    job_data const job = on_nodes({fast, fast, fast, slow});
    CHECK(ask(program::node_aware<>{}, job).tasks().size() == 4);
    answer const a = ask(program::node_aware<>{.usual_time = 60}, job);
    REQUIRE(a.tasks().size() == 4);
    CHECK(a.suspects[0].task == 15); // has the longest way to go
    for (auto const& s : a.suspects) CHECK(s.task >= 12);
    CHECK(ask(program::node_aware<>{}, on_nodes({fast, fast, fast, fast})).suspects.empty());
}

TEST_CASE("node_aware: finished tasks tell of their node") {
    struct snapshot {
        int node;
        double done, start;
    };
    running_fields const fields{
        .node = &snapshot::node, .start = &snapshot::start, .progress = &snapshot::done};
    std::vector<snapshot> const young{{0, 0.0, 100.0}, {1, 0.0, 100.0}, {2, 0.0, 100.0}};
    auto const ask_about = [&](double input, double usual, auto detector) {
        detect::job_progress<int, double> job;
        for (int i = 0; i < 5; ++i)
            for (int node : {0, 1, 2})
                job.observe(node, (node == 2 ? 120.0 : 60.0) * input, node == 2 ? 1.0 : input, usual * input);
        job.observe(0, 0.0); // takes no time: has no logarithm
        job.running(young, fields, 101.0);
        return ask(detector, job.view()).tasks();
    };
    CHECK(ask_about(1, 0, program::node_aware<>{}) == places{2});
    CHECK(ask_about(1, 0, program::node_aware<>{.usual_time = 60}) == places{2});
    // The tasks of nodes 0 and 1 were three times as large.
    CHECK(ask_about(3, 0, program::node_aware<>{.usual_time = 60}) == places{2});
    auto const usual_60 = [](detect::running_task const&, detect::job_view const&) -> outcome<double> {
        return 60.0;
    };
    program::node_aware<decltype(usual_60)> const predicted{.usual_time_of = usual_60};
    CHECK(ask_about(1, 60, predicted) == places{2});
    CHECK(ask_about(1, 120, predicted).empty()); // tasks that usually take as long
    CHECK(ask_about(1, 0, predicted).empty());   // nothing to compare with was told
}

TEST_CASE("node_aware: what all tasks of a node have in common may change") {
    // A thousand tasks took exp(0.3) times the usual on a node known as a good one. By hand: variance
    // 0.15^2 / 1000 + 0.1^2 (drift) of what they say against 0.15^2 of the model.
    job_data job = on_nodes({{{0, 0}}});
    job.nodes[0] = {.modelled = true, .compared = 1000, .log_mean = std::log(60) + 0.3};
    double const fresh = 1 / (0.0225 / 1000 + 0.01), old = 1 / 0.0225;
    double const log = 0.3 * fresh / (fresh + old), sd = std::sqrt(0.0225 + 1 / (fresh + old));
    double const sure = (log - std::log(1.2)) / sd;
    REQUIRE(sure > 0);
    CHECK(ask(program::node_aware<>{.sureness = sure - 0.001, .usual_time = 60}, job).suspects.size() == 1);
    CHECK(ask(program::node_aware<>{.sureness = sure + 0.001, .usual_time = 60}, job).suspects.empty());
}

TEST_CASE("node_aware: a slow node that empties gets faster") {
    // Two of eight tasks are left on a node, one of them just begun; by hand: of the 8 x 60 that it had to
    // share with when the node was full 60 + 12 remain.
    job_data job = on_nodes({{{0, 0}, {0.8, 80}}, {{0.5, 30}}});
    job.nodes[0] = {.slowdown = 2, .modelled = true, .running = 2, .most_running = 8};
    double const emptier = std::log(8 * 60 / 72.0);
    double const own_siblings = std::log((80 - 1.5) / (0.8 * 60)); // what the other one says
    auto const with = [](double sharing, double sureness = 0) {
        return program::node_aware<>{
            .sureness = sureness, .usual_time = 60, .report_interval = 3, .sharing = sharing};
    };
    answer const stays = ask(with(0), job);
    REQUIRE(stays.tasks().front() == 0);
    double const expected = std::log(stays.suspects[0].value / 60);
    CHECK(expected > std::min(own_siblings, std::log(2)));
    CHECK(expected < std::max(own_siblings, std::log(2)));
    for (double const sharing : {0.1, 0.2}) {
        answer const a = ask(with(sharing), job);
        REQUIRE(a.tasks().front() == 0);
        CHECK(std::log(a.suspects[0].value / 60) ==
              doctest::Approx(expected - sharing * emptier).epsilon(1e-12));
    }
    CHECK(ask(with(0.75), job).suspects.empty());
    // Others wait for the places: as many as run, and then one less, so that the last one of those that run
    // leaves its place to nobody.
    job.tasks = 6;
    CHECK(ask(with(0.75), job).suspects == stays.suspects);
    job.tasks = 4;
    CHECK(ask(with(0.75), job).suspects != stays.suspects);
    // Unless it is known how full the node was, nothing is.
    job.tasks = 0;
    job.nodes[0].most_running = 0;
    CHECK(ask(with(0.75), job).suspects == stays.suspects);
}

TEST_CASE("node_aware: job_progress knows how full a node was") {
    struct snapshot {
        int node;
        double done, start;
    };
    running_fields const fields{
        .node = &snapshot::node, .start = &snapshot::start, .progress = &snapshot::done};
    detect::job_progress<int, double> job;
    job.running(std::vector<snapshot>{{7, 0, 0}, {7, 0, 0}, {8, 0, 0}, {7, 2, 0}}, fields, 1.0);
    job.running(std::vector<snapshot>{{8, 0, 0}, {8, 0, 0}}, fields, 2.0);
    detect::job_view const view = job.view();
    REQUIRE(view.nodes.size() == 2);
    CHECK(view.nodes[0].running == 0);
    CHECK(view.nodes[0].most_running == 2); // the third was no progress
    CHECK(view.nodes[1].running == 2);
    CHECK(view.nodes[1].most_running == 2);
}

TEST_CASE("node_aware: the usual time is found in the middle of the good nodes, not at their fast end") {
    std::vector<std::vector<std::pair<double, double>>> nodes;
    for (int k = 0; k <= 20; ++k) {
        double const time = 60 * std::exp(0.4 * (k / 20.0 - 0.5)), report = 1.5;
        nodes.emplace_back(8, std::pair(0.5, time / 2 + report));
    }
    nodes.emplace_back(8, std::pair(0.1, 30.0));
    answer const a = ask(program::node_aware<>{.report_interval = 3}, on_nodes(nodes));
    REQUIRE(a.suspects.size() == 8);
    CHECK(a.suspects[0].usual == doctest::Approx(60).epsilon(0.03)); // the fast fifth is 12 % below
}

TEST_CASE("node_aware: large tasks are no slow ones, if that is known") {
    job_data job = on_nodes({{{0.5, 30}, {0.5, 30}}, {{0.5, 30}, {0.5, 30}}, {{0.5, 30}, {0.16, 30}}});
    CHECK(ask(program::node_aware<>{}, job).tasks() == places{5});
    job.running[5].input = 3;
    CHECK(ask(program::node_aware<>{}, job).tasks().empty());
    CHECK(ask(program::node_aware<>{.usual_time = 60}, job).tasks().empty());
    job.running[5].input = 1;
    auto const sizes = [](detect::running_task const& t, detect::job_view const&) -> outcome<double> {
        if (t.progress > 0.4) return status::insufficient_evidence; // like the others
        return 180.0;
    };
    using sized = program::node_aware<decltype(sizes)>;
    CHECK(ask(sized{.usual_time = 60, .usual_time_of = sizes}, job).tasks().empty());
    CHECK(ask(sized{.usual_time_of = sizes}, job).tasks().empty());
    auto const nonsense = [](detect::running_task const& t, detect::job_view const&) -> outcome<double> {
        return t.progress > 0.4 ? no_number : -1.0;
    };
    CHECK(ask(program::node_aware<decltype(nonsense)>{.usual_time_of = nonsense}, job).tasks() == places{5});
}

TEST_CASE("node_aware: tasks that hang, and jobs that do not report") {
    job_data job = on_nodes({{{0.5, 30}, {0.5, 30}, {0, 30}}, {{0.5, 30}, {0.5, 30}, {0.5, 30}}});
    CHECK(ask(program::node_aware<>{.usual_time = 60}, job).tasks() == places{2});
    CHECK(ask(program::node_aware<>{}, job).tasks() == places{2});
    // Nobody reports: young, old, and so old that it will last as long again.
    job = on_nodes({{{0, 30}, {0, 70}, {0, 200}}});
    answer const a = ask(program::node_aware<>{.usual_time = 60}, job);
    REQUIRE(a.tasks() == places{2});
    CHECK(a.suspects[0].value == doctest::Approx(400));
    CHECK(ask(program::node_aware<>{}, job).note == detect::detection_note::too_early);
}

TEST_CASE("node_aware: jobs that say little") {
    CHECK(ask(program::node_aware<>{}, job_data{}).note == detect::detection_note::too_few_running);
    CHECK(ask(program::node_aware<>{}, running({{0, 0}, {0, 0}})).note == detect::detection_note::too_early);
    CHECK(ask(program::node_aware<>{}, running({{1, 60}})).suspects.empty());
    CHECK(
        ask(program::node_aware<>{.usual_time = 60}, running({{1, 1e300}, {0, 0}, {1, 0}})).suspects.empty());
    CHECK(ask(program::node_aware<>{}, running({{1e-300, 1e300}, {1e-300, 1e300}})).suspects.empty());
    // All nodes slow: seen only by who knows what is usual.
    job_data const slow = on_nodes({{{0.25, 30}, {0.25, 30}}, {{0.25, 30}, {0.25, 30}}});
    CHECK(ask(program::node_aware<>{}, slow).suspects.empty());
    CHECK(ask(program::node_aware<>{.usual_time = 60}, slow).tasks() ==
          places{0, 1, 2, 3}); // ties in their order
    // One task too slow among its equals on the only node there is.
    CHECK(ask(program::node_aware<>{}, running({{0.5, 30}, {0.5, 30}, {0.5, 30}, {0.1, 30}})).tasks() ==
          places{3});
    // A view made by hand may not list its nodes.
    job_data unlisted = slow;
    unlisted.nodes.clear();
    CHECK(ask(program::node_aware<>{.usual_time = 60}, unlisted).tasks() == places{0, 1, 2, 3});
}

TEST_CASE("node_aware: numbers that are none suspect nobody and spoil nothing") {
    job_data const good = on_nodes({{{0.5, 30}, {0.2, 30}}, {{0.5, 30}, {0.5, 30}}, {{0.5, 30}, {0.5, 30}}});
    REQUIRE(ask(program::node_aware<>{}, good).tasks() == places{1});
    double const inf = std::numeric_limits<double>::infinity();
    for (double const bad : {no_number, inf, -inf, -1.0}) {
        job_data job = good;
        job.running.push_back({.progress = bad, .elapsed = 30, .node = 0});
        job.running.push_back({.progress = 0.5, .elapsed = bad, .node = 0});
        CHECK(ask(program::node_aware<>{}, job).tasks() == places{1});
        job = good;
        job.running[3].input = bad; // counts as 1
        job.nodes[1] = {.slowdown = bad, .modelled = true, .compared = 3, .log_mean = bad};
        if (bad == -1.0) job.nodes[1].compared = 0; // a fine logarithm
        CHECK(ask(program::node_aware<>{}, job).tasks() == places{1});
    }
}

TEST_CASE("node_aware: random jobs") {
    std::mt19937_64 engine(20);
    for (int round = 0; round < 300; ++round) {
        job_data job = random_job(engine);
        detect::job_view const view = job.view();
        answer const a = ask(program::node_aware<>{}, view);
        for (std::size_t i = 0; i < a.suspects.size(); ++i) {
            detect::finding const& s = a.suspects[i];
            double const left = s.value - view.running[s.task].elapsed;
            CHECK(s.value > s.threshold);
            CHECK(left > s.usual);
            CHECK(s.threshold == 1.2 * s.usual);
            if (i == 0) continue;
            detect::finding const& b = a.suspects[i - 1];
            double const before = b.value - view.running[b.task].elapsed;
            bool const in_order = before > left || (before == left && b.task < s.task);
            CHECK(in_order);
        }
        CHECK(ask(program::node_aware<>{}, view).suspects == a.suspects);
        // Who asks for more certainty is told of fewer.
        auto few = ask(program::node_aware<>{.sureness = 1}, view).tasks(), many = a.tasks();
        std::ranges::sort(few);
        std::ranges::sort(many);
        CHECK(std::ranges::includes(many, few));
        // In another unit of time it is the same.
        auto const warm = ask(program::node_aware<>{.usual_time = 20}, view).tasks();
        for (auto& t : job.running) t.elapsed *= 1024;
        CHECK(ask(program::node_aware<>{.usual_time = 20 * 1024}, job.view()).tasks() == warm);
    }
}

TEST_CASE("node_aware: allocates nothing once it has worked") {
    CHECK(allocations_of_second_look(program::node_aware<>{}, 4) == 0);
    job_data job;
    job.nodes.resize(1000);
    for (std::uint32_t i = 0; i < 100000; ++i) {
        double const elapsed = 10 + i % 17, speed = i % 1000 < 100 ? 2 : 1;
        job.running.push_back({.progress = elapsed / 60 / speed, .elapsed = elapsed, .node = i % 1000});
    }
    detect::job_view const view = job.view();
    detect::detector_scratch scratch;
    std::vector<detect::finding> out;
    program::node_aware<>{}.detect(view, scratch, out);
    CHECK(out.size() == 10000);
    out.clear();
    CHECK(allocations_during([&] { program::node_aware<>{}.detect(view, scratch, out); }) == 0);
}

namespace {

// A job of the evaluation framework, section 5: 20 nodes of 4 cores, 8 slots each, 320 equal tasks in two
// waves of a minute; nodes with 1, 2 or 3 active cores are slow. In steps of a second; who is done is found
// out at its end. Tasks report every `heartbeat` seconds, one node after the other; the detectors look
// every 5.
struct world {
    char const* name = "";
    double spread = 0.05;     // of the logarithm of task times: unpredictable work
    double contention = 0;    // of the logarithm of a node's speed, with a memory of 30 s
    double episodes = 0;      // per second and node; for a minute or so its speed is halved
    double misreport = 0;     // of a reported progress
    double heartbeat = 3;     // seconds
    double sizes = 0;         // of the logarithm of usual times, known from inputs
    double misprediction = 0; // of the logarithm of predicted usual times
    bool sharing = true;      // a node that empties gets faster; else its tasks go on as slowly
    double launch = 0;        // seconds before an attempt begins to work
};
using cluster = std::array<int, 4>; // nodes with 1, 2, 3, 4 active cores

struct task_of_world {
    std::uint32_t node, id;
    double start, usual, predicted, work, end = 0, done = 0, shown = 0;
};
struct reported_task {
    std::uint32_t node, id;
    double progress, start, input;
};

class simulation {
  public:
    using look = std::function<void(simulation const&, double now)>;
    static constexpr double usual = 60;
    static constexpr std::size_t slots = 8, tasks = 320;

    simulation(world const& w, cluster const& c, std::uint64_t seed) : world_(w), engine_(seed) {
        for (std::size_t k = 0; k < c.size(); ++k) cores.insert(cores.end(), std::size_t(c[k]), int(k) + 1);
        mood_.assign(cores.size(), 0.0);
        episode_.assign(cores.size(), 0.0);
        on_.resize(cores.size());
        for (double& m : mood_) m = w.contention * normal();
    }
    void run(std::function<void(task_of_world const&)> const& finished, look const& scan) {
        for (double now = 0; finished_ < tasks;) {
            start_tasks(now);
            now += 1;
            for (std::uint32_t k = 0; k < cores.size(); ++k) work_on(k, now, finished);
            if (std::fmod(now, 5.0) > 0) continue;
            reports.clear();
            for (auto const& on : on_)
                for (std::uint32_t const i : on)
                    reports.push_back({all[i].node, i, all[i].shown, all[i].start, all[i].usual / usual});
            scan(*this, now);
        }
    }

    std::vector<int> cores;
    std::vector<task_of_world> all;
    std::vector<reported_task> reports;

  private:
    double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }
    void start_tasks(double now) {
        for (std::size_t s = 0; s < slots; ++s)
            for (std::uint32_t k = 0; k < cores.size() && all.size() < tasks; ++k) {
                if (on_[k].size() > s) continue;
                double const u = usual * std::exp(world_.sizes * normal());
                double const predicted = u * std::exp(world_.misprediction * normal());
                double const work = (u - world_.launch) * std::exp(world_.spread * normal());
                on_[k].push_back(static_cast<std::uint32_t>(all.size()));
                all.push_back({k, on_[k].back(), now, u, predicted, work});
            }
    }
    void work_on(std::uint32_t k, double now, std::function<void(task_of_world const&)> const& finished) {
        double const memory = std::exp(-1 / 30.0);
        mood_[k] = memory * mood_[k] + std::sqrt(1 - memory * memory) * world_.contention * normal();
        double const crowd = static_cast<double>(world_.sharing ? on_[k].size() : slots);
        double const share = std::min(1.0, cores[k] / crowd);
        if (world_.episodes > 0) {
            episode_[k] -= 1;
            if (!(episode_[k] > 0) && uniform() < world_.episodes) episode_[k] = -60 * std::log(uniform());
        }
        double const usual_share = 0.5; // 4 cores for 8 tasks
        double const speed = share / usual_share * std::exp(mood_[k]) * (episode_[k] > 0 ? 0.5 : 1.0);
        std::erase_if(on_[k], [&](std::uint32_t i) {
            task_of_world& t = all[i];
            if (now - t.start > world_.launch) t.done += speed;
            if (std::fmod(now + i, world_.heartbeat) < 1)
                t.shown = std::clamp(t.done / t.work + world_.misreport * normal(), 0.0, 1.0);
            if (t.done < t.work) return false;
            t.end = now;
            ++finished_;
            finished(t);
            return true;
        });
    }

    world world_;
    std::mt19937_64 engine_;
    std::vector<double> mood_, episode_; // speeds' logarithms; seconds left
    std::vector<std::vector<std::uint32_t>> on_;
    std::size_t finished_ = 0;
};

// How a rule did: with fake positives as false ones.
struct score {
    double precision, recall, f1, latency, named;
};
using scores = std::map<std::string, score>;

class contestant {
  public:
    template <class Detector>
    contestant(std::string n, Detector detector)
        : name(std::move(n)),
          detect_([detector, scratch = detect::detector_scratch{}](
                      detect::job_view const& job, std::vector<detect::finding>& out) mutable {
              (void)detector.detect(job, scratch, out);
          }) {}
    void begin() { found_.assign(simulation::tasks, std::nullopt); }
    void scan(detect::job_view const& job, simulation const& s, double now) {
        out_.clear();
        detect_(job, out_);
        for (detect::finding const& x : out_) {
            task_of_world const& t = s.all[s.reports[job.running[x.task].row].id];
            if (!found_[t.id]) found_[t.id] = now - t.start;
        }
    }
    void end(simulation const& s) {
        for (task_of_world const& t : s.all)
            REQUIRE(
                metrics.observe({.usual = t.usual, .execution = t.end - t.start, .detected = found_[t.id]}));
    }

    std::string name;
    evaluate::detection_metrics metrics;

  private:
    std::function<void(detect::job_view const&, std::vector<detect::finding>&)> detect_;
    std::vector<std::optional<double>> found_;
    std::vector<detect::finding> out_;
};

constexpr running_fields reported_fields{.node = &reported_task::node,
                                         .start = &reported_task::start,
                                         .progress = &reported_task::progress,
                                         .input = &reported_task::input};

// Every rule of the room as published, with the lag of 20 s that the paper sets, of the job and of the task;
// "D", "L" and "H" are the paper's mechanisms. "cold" and "warm" are ours; where attempts
// begin late also "told" and "at once": warm, told how late or that they do not.
scores compete(world const& w, cluster const& c, std::uint64_t seeds) {
    std::vector<contestant> cold, warm;
    cold.emplace_back("D", detect::speculative_lag{detect::progress_gap{}, 20.0});
    cold.emplace_back("L", detect::speculative_lag{detect::late{}, 20.0});
    cold.emplace_back("H", detect::speculative_lag{detect::hierarchical<detect::progress_gap>{}, 20.0});
    cold.emplace_back("progress_gap", detect::progress_gap{});
    cold.emplace_back("task_lag(progress_gap)", detect::task_lag{detect::progress_gap{}, 20.0});
    cold.emplace_back("late", detect::late{});
    cold.emplace_back("task_lag(late)", detect::task_lag{detect::late{}, 20.0});
    cold.emplace_back("hierarchical(late)", detect::hierarchical<detect::late>{});
    cold.emplace_back("task_lag(hierarchical(late))",
                      detect::task_lag{detect::hierarchical<detect::late>{}, 20.0});
    cold.emplace_back("late_with_caps", detect::late_with_caps{.lag = 20});
    cold.emplace_back("average_time", detect::average_time{});
    cold.emplace_back("over_median", detect::over_median{});
    cold.emplace_back("flink", detect::flink{});
    cold.emplace_back("largest_gain", detect::largest_gain<>{.most = 1000});
    cold.emplace_back("mantri", detect::mantri<>{});
    // A scheduler knows its heartbeat, and how far to trust its reports.
    double const interval = w.heartbeat, resolution = std::max(0.02, w.misreport);
    cold.emplace_back("cold", program::node_aware<>{.resolution = resolution, .report_interval = interval});
    simulation const* now_running = nullptr;
    auto const predicted = [&](detect::running_task const& t, detect::job_view const&) -> outcome<double> {
        return now_running->all[now_running->reports[t.row].id].predicted;
    };
    if (w.misprediction > 0)
        warm.emplace_back("warm", program::node_aware<decltype(predicted)>{.resolution = resolution,
                                                                           .report_interval = interval,
                                                                           .usual_time_of = predicted});
    else
        warm.emplace_back("warm", program::node_aware<>{.usual_time = simulation::usual,
                                                        .resolution = resolution,
                                                        .report_interval = interval});
    if (w.launch > 0) // as if it were known, and as if it were not there
        for (auto const& [name, start_up] : {std::pair("told", w.launch), {"at once", 0.0}})
            warm.emplace_back(name, program::node_aware<>{.usual_time = simulation::usual,
                                                          .resolution = resolution,
                                                          .report_interval = interval,
                                                          .start_up = start_up});

    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        // What four earlier jobs on the same cluster tell of its nodes.
        constexpr int earlier = 4;
        std::vector<double> logs(20), n(20);
        for (std::uint64_t j = 0; j < earlier; ++j)
            simulation(w, c, 1000 * seed + j)
                .run(
                    [&](task_of_world const& t) {
                        logs[t.node] += std::log((t.end - t.start) / t.predicted);
                        n[t.node] += 1;
                    },
                    [](simulation const&, double) {});
        detect::job_progress<std::uint32_t, double> job(simulation::tasks), known(simulation::tasks);
        for (std::uint32_t k = 0; k < 20; ++k) known.set_slowdown(k, std::exp(logs[k] / n[k]));
        simulation s(w, c, seed);
        now_running = &s;
        for (auto* group : {&cold, &warm})
            for (contestant& x : *group) x.begin();
        s.run(
            [&](task_of_world const& t) {
                double const took = t.end - t.start, input = t.usual / simulation::usual;
                job.observe(t.node, took, input);
                known.observe(t.node, took, input, w.misprediction > 0 ? t.predicted : 0);
            },
            [&](simulation const& sim, double now) {
                job.running(sim.reports, reported_fields, now);
                known.running(sim.reports, reported_fields, now);
                for (contestant& x : cold) x.scan(job.view(), sim, now);
                for (contestant& x : warm) x.scan(known.view(), sim, now);
            });
        for (auto* group : {&cold, &warm})
            for (contestant& x : *group) x.end(s);
    }
    scores all;
    for (auto const* group : {&cold, &warm})
        for (contestant const& x : *group) {
            auto const& m = x.metrics;
            auto const value = [](outcome<double> const& o, double otherwise) { return o ? *o : otherwise; };
            all[x.name] = {value(m.precision_in_time(), 1), value(m.recall_in_time(), 1),
                           value(m.f1_in_time(), 1), value(m.detection_latency(), 0),
                           static_cast<double>(m.counts().detected()) /
                               static_cast<double>(m.counts().judged())};
        }
    return all;
}

// Tables of section 5.4, in nodes of 20.
constexpr std::array<cluster, 4> clusters{{{7, 7, 1, 5}, {5, 5, 5, 5}, {2, 2, 1, 15}, {1, 1, 0, 18}}};
constexpr std::uint64_t seeds = 8; // 1 to 8: 2560 tasks for each scenario

double best_f1_of_others(scores const& all) {
    double best = 0;
    for (auto const& [name, s] : all)
        if (name != "cold" && name != "warm" && name != "told" && name != "at once")
            best = std::max(best, s.f1);
    return best;
}
void show(std::string const& title, scores const& all) {
    for (auto const& [name, s] : all)
        MESSAGE(title, " ", name, ": precision ", s.precision, " recall ", s.recall, " F1 ", s.f1,
                " latency ", s.latency, " named ", s.named);
}

} // namespace

TEST_CASE("node_aware: the spread of the paper's platform") {
    // Table 5: 0.66 % of the tasks take more than 1.2 times the median on a homogeneous platform. For a
    // log-normal spread that is a deviation of log(1.2) / 2.478; it is below what the rule assumes.
    double const deviation = std::log(1.2) / 2.478;
    CHECK(std::erfc(2.478 / std::sqrt(2.0)) / 2 == doctest::Approx(0.0066).epsilon(0.01));
    CHECK(deviation == doctest::Approx(0.0736).epsilon(0.01));
    CHECK(program::node_aware<>{}.spread > deviation);
}

TEST_CASE("node_aware: beats the other rules on the experiments' clusters") {
    for (double const spread : {0.05, 0.0736}) {
        for (std::size_t i = 0; i < clusters.size(); ++i) {
            scores const all = compete({.name = "paper", .spread = spread}, clusters[i], seeds);
            std::string const title = "C" + std::to_string(i + 1) + " spread " + std::to_string(spread);
            INFO(title);
            if (std::getenv("STRAGGLE_SHOW_SCORES")) show(title, all);
            score const &cold = all.at("cold"), &warm = all.at("warm");
            double const best = best_f1_of_others(all);
            // At C4 other rules, told to wait 20 s, find all stragglers without an error. Ours names them
            // after 5 s, and one task in eight jobs that is none; there is nothing left to beat but the
            // latency. Over five blocks of eight seeds the smallest difference there was -0.023 cold, -0.004
            // warm.
            CHECK(cold.f1 >= best - (i == 3 ? 0.03 : 0.0));
            CHECK(warm.f1 > (i == 3 ? best - 0.01 : best + 0.1));
            CHECK(warm.f1 >= cold.f1 - 0.01);
            CHECK(warm.precision > (spread > 0.05 ? 0.9 : 0.97));
            CHECK(warm.recall > (spread > 0.05 ? 0.9 : 0.97)); // chance cannot be foreseen
            CHECK(warm.latency < 0.1);
            for (std::string const rival : {"D", "L", "H"}) {
                INFO(rival);
                score const& r = all.at(rival);
                CHECK(warm.precision > r.precision - (spread > 0.05 ? 0.07 : 0.0));
                CHECK(warm.recall >= r.recall);
                CHECK(warm.f1 > r.f1 + 0.3);
                // Earlier is only who names whatever has just begun, at less than half the F1.
                if (r.f1 > warm.f1 / 2) CHECK(warm.latency < r.latency);
            }
        }
    }
}

TEST_CASE("node_aware: attempts that begin to work late") {
    for (double const launch : {2.0, 5.0}) {
        for (std::size_t i = 0; i < clusters.size(); ++i) {
            scores const all = compete({.name = "launch", .launch = launch}, clusters[i], seeds);
            std::string const title = "launch " + std::to_string(launch) + " C" + std::to_string(i + 1);
            INFO(title);
            if (std::getenv("STRAGGLE_SHOW_SCORES")) show(title, all);
            score const &warm = all.at("warm"), &told = all.at("told"), &at_once = all.at("at once");
            // Learned as well as told, and neither suspects whole nodes for a late start: 0.11 of what it
            // names is right in C4 if attempts are taken to work at once and need 5 s.
            CHECK(warm.precision > 0.95);
            CHECK(warm.recall > 0.97);
            CHECK(warm.latency < 0.1);
            CHECK(warm.f1 > told.f1 - 0.01);
            CHECK(warm.f1 > at_once.f1 - 0.01);
            if (launch > 3) CHECK(at_once.precision < (i < 2 ? 0.9 : 0.4));
            CHECK(warm.f1 > best_f1_of_others(all) - (i == 3 ? 0.02 : 0.0));
            for (std::string const rival : {"D", "L", "H"}) {
                INFO(rival);
                CHECK(warm.precision > all.at(rival).precision);
                CHECK(warm.recall >= all.at(rival).recall);
            }
        }
    }
}

TEST_CASE("node_aware: noise of every kind") {
    std::array<world, 7> const variants{{{.name = "nodes", .contention = 0.2},
                                         {.name = "episodes", .episodes = 1.0 / 600},
                                         {.name = "reports", .misreport = 0.03, .heartbeat = 10},
                                         {.name = "sizes", .sizes = 0.4, .misprediction = 0.1},
                                         {.name = "chance 0.15", .spread = 0.15},
                                         {.name = "chance 0.3", .spread = 0.3},
                                         {.name = "frozen", .sharing = false}}};
    for (world const& w : variants) {
        for (std::size_t i = 0; i < clusters.size(); ++i) {
            scores const all = compete(w, clusters[i], seeds);
            std::string const title = std::string(w.name) + " C" + std::to_string(i + 1);
            INFO(title);
            if (std::getenv("STRAGGLE_SHOW_SCORES")) show(title, all);
            score const &cold = all.at("cold"), &warm = all.at("warm");
            double const best = best_f1_of_others(all);
            // Over five blocks of eight seeds the smallest difference was -0.04 cold and warm (episodes at
            // C4: speed that changes later is nothing to know of), elsewhere -0.03 and -0.01; reports and
            // sizes 0.02 cold and 0.17 warm.
            CHECK(cold.f1 > best - 0.05);
            CHECK(warm.f1 > (w.misreport > 0 || w.sizes > 0 ? best + 0.1 : best - 0.05));
            CHECK(warm.latency < 0.2);
            if (w.spread == 0.05) CHECK(warm.latency < 0.14);
            for (std::string const rival : {"D", "L", "H"}) {
                INFO(rival);
                score const& r = all.at(rival);
                CHECK(cold.f1 > r.f1 + 0.1);
                CHECK(warm.f1 > r.f1 + 0.1);
                CHECK(warm.precision > r.precision - 0.12);
            }
        }
    }
}

TEST_CASE("node_aware: a cluster of equal nodes has few false alarms") {
    constexpr cluster equal{0, 0, 0, 20};
    CHECK(compete({.name = "equal"}, equal, seeds).at("cold").named < 0.001);
    CHECK(compete({.name = "equal"}, equal, seeds).at("warm").named < 0.001);
    scores const noisy = compete({.name = "reports", .misreport = 0.03, .heartbeat = 10}, equal, seeds);
    CHECK(noisy.at("cold").named < 0.05);
    CHECK(noisy.at("warm").named < 0.001);
    CHECK(noisy.at("L").named > 0.4);
    CHECK(noisy.at("H").named > 0.3);
}
