// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What holds for every detector when a job is large: looking at it again allocates nothing, its suspects are
/// all there and in order, however their numbers are distributed, and its tasks are on their nodes.

#include "support/allocations.hpp"

#include <doctest/doctest.h>
#include <straggle/detect/average_time.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/mantri.hpp>
#include <straggle/detect/min_progress.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/without_copies.hpp>
#include <straggle/papers/evaluation_2019.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;

namespace {

// Every rule, alone and within others, with settings by which it finds somebody in the jobs below.
template <class Check>
void for_each_rule(Check check) {
    check(detect::progress_gap{.gap = 0.1, .over = detect::task_scope::running});
    check(detect::progress_gap{});
    check(detect::late{.alpha = 0.2});
    check(detect::late{.alpha = 0.2, .over = detect::task_scope::all});
    check(papers::evaluation_2019::late_as_printed{});
    check(detect::average_time{});
    check(detect::average_time{.of = detect::average_time::basis::running});
    check(detect::over_median{.quantile = 0.1});
    check(detect::over_median{.quantile = 0.1, .efficiency = true});
    check(detect::flink{.ratio = 0.1, .lower_bound = 1});
    check(detect::largest_gain<>{});
    check(detect::largest_gain<>{.most = 50});
    check(detect::mantri<>{});
    check(detect::late_with_caps{.lag = 0});
    check(detect::late_with_caps::mr1(0.001));
    check(detect::hierarchical{detect::late{.alpha = 0.2}});
    check(detect::hierarchical{detect::progress_gap{.gap = 0.1, .over = detect::task_scope::running}});
    check(detect::speculative_lag{detect::average_time{}, 1});
    check(detect::task_lag{detect::average_time{}, 1});
    check(detect::min_progress{detect::late{.alpha = 0.2}});
    check(detect::without_copies{detect::over_median{.quantile = 0.1}});
    check(
        detect::without_copies{detect::speculative_lag{detect::hierarchical{detect::late{.alpha = 0.2}}, 1}});
}

struct snapshot {
    std::string host;
    double done;
    double started;
    double input;
    int attempts;
};
constexpr running_fields snapshot_fields{.node = &snapshot::host,
                                         .start = &snapshot::started,
                                         .progress = &snapshot::done,
                                         .input = &snapshot::input,
                                         .copies = &snapshot::attempts};

// A cluster's log: jobs of several sizes, each looked at as its tasks run and finish.
struct moment {
    double now = 0;
    std::vector<snapshot> running;
    std::vector<snapshot> finished; // since the last look; `done` is how long it took
};
using history = std::vector<moment>;

history run_of_job(std::mt19937_64& engine, std::size_t tasks) {
    auto const uniform = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    struct planned {
        snapshot what;
        double ends;
    };
    std::vector<planned> plan;
    for (std::size_t i = 0; i < tasks; ++i) {
        auto const node = engine() % (tasks / 8 + 1);
        double const start = 10 * uniform(), took = (node % 3 == 0 ? 120 : 60) * (0.8 + 0.4 * uniform());
        plan.push_back({{"node-" + std::to_string(node) + ".rack.example", 0, start, 0.5 + uniform(),
                         engine() % 10 == 0 ? 2 : 1},
                        start + took});
    }
    history all;
    for (double now = 11; now < 120; now += 9) {
        moment m{now, {}, {}};
        for (planned const& p : plan) {
            snapshot s = p.what;
            double const took = p.ends - s.started;
            s.done = p.ends <= now ? took : (now - s.started) / took;
            if (p.ends > now)
                m.running.push_back(s);
            else if (all.empty() || p.ends > all.back().now)
                m.finished.push_back(s);
        }
        all.push_back(m);
    }
    return all;
}

template <class Rule>
std::size_t look_at(history const& run, detect::job_progress<std::string, double>& job,
                    detect::straggler_scan<Rule>& scan) {
    job.clear();
    std::size_t suspects = 0;
    for (moment const& m : run) {
        for (snapshot const& s : m.finished) job.observe(s.host, s.done, s.input);
        job.running(m.running, snapshot_fields, m.now);
        suspects += scan(job.view()).size();
    }
    return suspects;
}

} // namespace

TEST_CASE("every scan: nothing is allocated in the steady state, the snapshots included") {
    std::mt19937_64 engine(31);
    std::vector<history> runs;
    for (std::size_t const tasks : {40u, 4000u, 300u, 1u}) runs.push_back(run_of_job(engine, tasks));
    detect::job_progress<std::string, double> job;
    for_each_rule([&](auto rule) {
        CAPTURE(rule.name);
        detect::straggler_scan scan{rule};
        std::size_t first = 0, again = 0;
        for (history const& run : runs) first += look_at(run, job, scan);
        CHECK(first > 0);
        CHECK(straggle_test::allocations_during([&] {
                  for (history const& run : runs) again += look_at(run, job, scan);
              }) == 0);
        CHECK(again == first);
    });
}

namespace {

enum class shape { even, coarse, with_zeros, neighbours, magnitudes, equal, falling, end };

// Numbers in (0, 1), or 0 where a shape says so.
std::vector<double> numbers(std::mt19937_64& engine, shape s, std::size_t n) {
    auto const uniform = [&] { return static_cast<double>((engine() >> 11) + 1) * 0x1p-54; };
    std::vector<double> x(n);
    double base = 0.1 + 0.1 * uniform();
    for (std::size_t i = 0; i < n; ++i) {
        switch (s) {
        case shape::coarse:
            x[i] = static_cast<double>(engine() % 40) / 100;
            break;
        case shape::with_zeros:
            x[i] = engine() % 4 == 0 ? (engine() % 2 == 0 ? 0.0 : -0.0) : uniform() / 4;
            break;
        case shape::neighbours: { // too many in one cell to be told apart by it
            std::uint64_t const steps =
                engine() % 8 == 0 ? engine() % (std::uint64_t{1} << 50) : engine() % n;
            x[i] = base * (1 + static_cast<double>(steps) * 0x1p-52);
            break;
        }
        case shape::magnitudes:
            x[i] = std::pow(10.0, -1 - 318 * uniform());
            break;
        case shape::equal:
            x[i] = base;
            break;
        case shape::falling:
            x[i] = 0.4 * static_cast<double>(n - i) / static_cast<double>(n + 1);
            break;
        default:
            x[i] = 0.4 * uniform();
        }
    }
    return x;
}

struct made_job {
    std::vector<detect::running_task> running;
    std::vector<double> finished = std::vector<double>(40, 1.0);
    std::vector<detect::job_node> nodes = std::vector<detect::job_node>(10);

    [[nodiscard]] detect::job_view view() const {
        detect::job_view v;
        v.running = running;
        v.finished = v.finished_per_input = finished;
        v.nodes = nodes;
        v.mean_finished = finished.empty() ? 0 : 1;
        v.finished_input = static_cast<double>(finished.size());
        v.tasks = running.size() + finished.size();
        return v;
    }
};

// Every second task has the number of a suspect as its progress, or beyond 2 as its time.
made_job job_of(std::mt19937_64& engine, shape s, std::size_t suspects, bool by_time) {
    made_job job;
    auto const time = [&](double x) {
        if (s == shape::neighbours) return 30 * x;
        return s == shape::magnitudes ? std::min(3 / x, 1e300) : 3 + x;
    };
    for (double const x : numbers(engine, s, suspects)) {
        detect::running_task t{.progress = by_time ? 0.25 : x, .elapsed = by_time ? time(x) : 1};
        t.node = static_cast<std::uint32_t>(engine() % job.nodes.size());
        t.row = static_cast<std::uint32_t>(job.running.size());
        job.running.push_back(t);
        t.row = static_cast<std::uint32_t>(job.running.size());
        t.progress = 0.9;
        t.elapsed = 1;
        job.running.push_back(t);
    }
    return job;
}

// Those that `value` says, lowest `key` first, ties by index: the definition.
template <class Rule, class Value, class Key>
void check_order(Rule rule, made_job const& job, std::size_t suspects, Value value, Key key) {
    detect::detector_scratch scratch;
    std::vector<detect::finding> out;
    detect::job_view const view = job.view();
    CHECK(rule.detect(view, scratch, out) == detect::detection_note::none);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < view.running.size(); i += 2) expected.push_back(i);
    std::sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
        double const x = key(view.running[a]), y = key(view.running[b]);
        return x < y || (x == y && a < b);
    });
    REQUIRE(expected.size() == suspects);
    REQUIRE(out.size() == suspects);
    bool same = true, values = true;
    for (std::size_t i = 0; i < suspects; ++i) {
        same = same && out[i].task == expected[i];
        values = values && out[i].value == value(view.running[out[i].task]);
    }
    CHECK(same);
    CHECK(values);
    // The memory of the scan before changes nothing.
    std::vector<detect::finding> again{detect::finding{7, 1, 2, 3}};
    rule.detect(view, scratch, again);
    CHECK(again.front() == detect::finding{7, 1, 2, 3});
    CHECK(std::equal(again.begin() + 1, again.end(), out.begin(), out.end()));
}

} // namespace

TEST_CASE("every scan: many suspects stand in order, whatever their numbers") {
    std::mt19937_64 engine(32);
    auto const progress = [](detect::running_task const& t) { return t.progress; };
    auto const elapsed = [](detect::running_task const& t) { return t.elapsed; };
    auto const minus_elapsed = [](detect::running_task const& t) { return -t.elapsed; };
    auto const minus_left = [](detect::running_task const& t) {
        return -(t.elapsed * ((1 - t.progress) / t.progress));
    };
    for (int s = 0; s < static_cast<int>(shape::end); ++s)
        for (std::size_t const n : {std::size_t{2}, std::size_t{127}, std::size_t{128}, std::size_t{3000}}) {
            CAPTURE(s);
            CAPTURE(n);
            made_job const slow = job_of(engine, static_cast<shape>(s), n, false);
            made_job const old = job_of(engine, static_cast<shape>(s), n, true);
            check_order(detect::progress_gap{.gap = 0.05, .over = detect::task_scope::running}, slow, n,
                        progress, progress);
            check_order(detect::late{.alpha = 0.05}, slow, n, progress, progress); // all have run for 1
            check_order(detect::average_time{}, old, n, elapsed, minus_elapsed);
            check_order(detect::over_median{.quantile = 0}, old, n, elapsed, minus_elapsed);
            check_order(detect::flink{.ratio = 0, .lower_bound = 1.5}, old, n, elapsed, minus_elapsed);
            auto const certain = [](detect::running_task const&) { return 1.0; };
            check_order(detect::mantri<>{.delta = 0.5}, old, n, certain, minus_left);
        }
}

TEST_CASE("every scan: numbers that are none suspect nobody in a large job either") {
    std::mt19937_64 engine(33);
    made_job job = job_of(engine, shape::even, 1000, false);
    double const nan = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < job.running.size(); i += 5) {
        if (i % 2 == 0)
            job.running[i].progress = nan;
        else
            job.running[i].elapsed = nan;
    }
    detect::job_view const view = job.view();
    for_each_rule([&](auto rule) {
        CAPTURE(rule.name);
        detect::detector_scratch scratch;
        std::vector<detect::finding> out;
        (void)rule.detect(view, scratch, out);
        std::size_t none = 0;
        for (detect::finding const& s : out) none += std::isnan(s.value) ? 1u : 0u;
        CHECK(none == 0);
    });
    detect::detector_scratch scratch;
    std::vector<detect::finding> out;
    detect::late{.alpha = 0.05}.detect(view, scratch, out);
    CHECK(out.size() == 800); // every second one, less every tenth of all
    detect::hierarchical{detect::late{.alpha = 0.05}, 2.0}.detect(view, scratch, out);
    CHECK(out.size() == 1600);
}

TEST_CASE("every scan: tasks are on their nodes, in whatever order a snapshot shows them") {
    std::mt19937_64 engine(34);
    for (std::size_t const nodes : {2u, 40u, 1000u}) {
        CAPTURE(nodes);
        detect::job_progress<std::string, double> job;
        std::vector<snapshot> tasks;
        auto const begin_one = [&] {
            tasks.push_back({"node-" + std::to_string(engine() % nodes), 0.5, 1, 1, 1});
        };
        for (int i = 0; i < 600; ++i) begin_one();
        for (int look = 0; look < 60; ++look) {
            switch (engine() % 6) {
            case 0: // some end, others begin
                for (int i = 0; i < 20; ++i)
                    tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(engine() % tasks.size()));
                for (int i = 0; i < 20; ++i) begin_one();
                break;
            case 1: // a row of them ends
                tasks.erase(tasks.begin() + 100,
                            tasks.begin() + 100 + static_cast<std::ptrdiff_t>(engine() % 30));
                break;
            case 2: // new ones at the front
                for (int i = 0; i < 30; ++i) begin_one();
                std::rotate(tasks.begin(), tasks.end() - 30, tasks.end());
                break;
            case 3: // another order
                std::shuffle(tasks.begin(), tasks.end(), engine);
                break;
            case 4: // some cannot be used
                for (snapshot& t : tasks) t.done = engine() % 9 == 0 ? 2.0 : 0.5;
                break;
            default: // the same tasks elsewhere
                for (std::size_t i = 0; i < 50; ++i) tasks[engine() % tasks.size()].host = tasks[i * 3].host;
            }
            job.running(tasks, snapshot_fields, 2.0 + look);
            detect::job_view const view = job.view();
            std::vector<std::uint32_t> on(view.nodes.size());
            std::size_t wrong = 0, next = 0;
            for (detect::running_task const& t : view.running) {
                while (tasks[next].done > 1) ++next;
                wrong += t.row != next || job.node(t.node) != tasks[next].host ? 1u : 0u;
                ++on[t.node];
                ++next;
            }
            CHECK(wrong == 0);
            CHECK(view.running.size() == job.counts().used);
            CHECK(job.counts().seen == tasks.size());
            bool counted = true;
            for (std::size_t k = 0; k < on.size(); ++k) counted = counted && view.nodes[k].running == on[k];
            CHECK(counted);
        }
    }
}
