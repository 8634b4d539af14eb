// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Asked about the same attempts, `rank_nodes` and `dynamic_blacklist` give the same slowdown and interval,
// and both hold what an independent two-way fit says.

#include "blacklist/real_histories.hpp"
#include "support/seed.hpp"
#include "support/shared_data.hpp"

#include <doctest/doctest.h>
#include <straggle/blacklist/dynamic_blacklist.hpp>
#include <straggle/mitigate/mitigator.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    std::uint32_t job, node, task;
    std::int64_t start, end;
    attempt_status status = attempt_status::success;
};
constexpr attempt_fields fields{.job = &attempt::job,
                                .task = &attempt::task,
                                .node = &attempt::node,
                                .start = &attempt::start,
                                .end = &attempt::end,
                                .status = &attempt::status};

// Alternating means of log times until they stand still, against the median node.
std::vector<double> two_way_fit(std::vector<attempt> const& all, std::uint32_t jobs, std::uint32_t nodes) {
    std::vector<double> job(jobs), node(nodes), n(jobs > nodes ? jobs : nodes);
    for (int round = 0; round < 2000; ++round)
        for (bool const of_jobs : {true, false}) {
            std::vector<double>& to = of_jobs ? job : node;
            std::fill(to.begin(), to.end(), 0.0);
            std::fill(n.begin(), n.end(), 0.0);
            for (attempt const& a : all) {
                std::uint32_t const at = of_jobs ? a.job : a.node;
                to[at] +=
                    std::log(static_cast<double>(a.end - a.start)) - (of_jobs ? node[a.node] : job[a.job]);
                n[at] += 1;
            }
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = n[i] > 0 ? to[i] / n[i] : 0.0;
        }
    std::vector<double> sorted = node;
    std::sort(sorted.begin(), sorted.end());
    double const middle = (sorted[nodes / 2] + sorted[(nodes - 1) / 2]) / 2;
    for (double& x : node) x = std::exp(x - middle);
    return node;
}

template <class Visit>
void for_each_slowdown(std::vector<attempt> const& all, Visit&& visit) {
    auto const ranking = rank_nodes(all, fields);
    dynamic_blacklist list(fields);
    std::vector<attempt> by_end = all;
    std::stable_sort(by_end.begin(), by_end.end(),
                     [](attempt const& a, attempt const& b) { return a.end < b.end; });
    for (attempt const& a : by_end) list.observe(a);
    list.decide(by_end.back().end);
    for (auto const& node : ranking.nodes()) visit(node.id, node.slow, list.slowdown_of(node.id));
}

// The last node becomes slower after so many of the jobs.
std::vector<attempt> changing(std::uint32_t jobs, std::uint32_t before, double slower) {
    std::mt19937_64 engine(straggle_test::seed_or(5));
    std::normal_distribution<> normal;
    std::vector<attempt> all;
    for (std::uint32_t j = 0; j < jobs; ++j)
        for (std::uint32_t t = 0; t < 12; ++t) {
            double const took =
                60000 * std::exp(0.05 * normal(engine)) * (t % 6 == 5 && j >= before ? slower : 1.0);
            all.push_back({j, t % 6, t, j * std::int64_t{120000}, 0});
            all.back().end = all.back().start + static_cast<std::int64_t>(took);
        }
    return all;
}

} // namespace

TEST_CASE(
    "one answer: rank_nodes and dynamic_blacklist agree on random fleets, killed attempts and copies too") {
    std::uint64_t const seed = straggle_test::seed_or(20261128);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::normal_distribution<> normal;
    std::uint64_t known = 0, held = 0;
    for (int run = 0; run < 40; ++run) {
        std::uint32_t const nodes = 4 + static_cast<std::uint32_t>(engine() % 12);
        std::uint32_t const jobs = 4 + static_cast<std::uint32_t>(engine() % 30);
        bool const is_plain = run % 2 == 0; // all end
        double const spread = run % 3 == 0 ? 0.1 : 0.6;
        std::vector<attempt> all;
        for (std::uint32_t j = 0; j < jobs; ++j) {
            std::uint32_t const tasks = 2 + static_cast<std::uint32_t>(engine() % 20);
            for (std::uint32_t t = 0; t < tasks; ++t) {
                auto const node = static_cast<std::uint32_t>(engine() % nodes);
                double const took = 1e5 * std::exp(spread * normal(engine)) * (node == 1 ? 1.7 : 1.0);
                attempt a{j, node, t, j * std::int64_t{100000}, 0};
                a.end = a.start + 1 + static_cast<std::int64_t>(took);
                if (!is_plain && engine() % 10 == 0) a.status = attempt_status::killed;
                if (!is_plain && engine() % 20 == 0) a.status = attempt_status::failed;
                all.push_back(a);
                if (is_plain || engine() % 10 != 0) continue;
                a.node = static_cast<std::uint32_t>(engine() % nodes);
                a.status = attempt_status::success;
                a.end += 1000;
                all.push_back(a);
            }
        }
        std::vector<double> const fit = is_plain ? two_way_fit(all, jobs, nodes) : std::vector<double>{};
        for_each_slowdown(all, [&](std::uint32_t node, slowdown const& batch, slowdown const& over_time) {
            CAPTURE(run);
            CAPTURE(node);
            CHECK(batch.is_known() == over_time.is_known());
            if (!batch.is_known()) return;
            CHECK(over_time.value == doctest::Approx(batch.value).epsilon(1e-6));
            CHECK(over_time.low == doctest::Approx(batch.low).epsilon(1e-6));
            CHECK(over_time.high == doctest::Approx(batch.high).epsilon(1e-6));
            CHECK(over_time.tasks == batch.tasks);
            if (!is_plain) return;
            ++known;
            held += batch.low <= fit[node] && fit[node] <= batch.high;
        });
    }
    CHECK(known > 100);
    CHECK(held * 100 >= known * 97);
}

TEST_CASE("one answer: a node that changed, as the geometric mean over its history") {
    struct change {
        std::uint32_t jobs, before;
        double slower;
    };
    for (change const c : {change{12, 3, 4}, change{12, 3, 2}, change{300, 30, 12}}) {
        double const typical = std::pow(c.slower, 1.0 * (c.jobs - c.before) / c.jobs);
        for_each_slowdown(changing(c.jobs, c.before, c.slower),
                          [&](std::uint32_t node, slowdown const& batch, slowdown const& over_time) {
                              CAPTURE(c.slower);
                              CAPTURE(node);
                              CHECK(over_time.value == doctest::Approx(batch.value).epsilon(1e-6));
                              CHECK(over_time.low == doctest::Approx(batch.low).epsilon(1e-6));
                              CHECK(batch.low <= (node == 5 ? typical : 1.03));
                              CHECK(batch.high >= (node == 5 ? typical : 0.97));
                              if (node == 5) CHECK(batch.low > 1.1);
                          });
    }
}

namespace {

struct past_host {
    std::string name;
};
struct past_running {
    std::string job, node;
    double start;
};

using straggle_test::past_attempt;
constexpr attempt_fields past_inputs{.job = &past_attempt::job,
                                     .task = &past_attempt::task,
                                     .node = &past_attempt::node,
                                     .start = &past_attempt::start,
                                     .end = &past_attempt::end,
                                     .status = &past_attempt::status,
                                     .input = &past_attempt::input};
constexpr attempt_fields past_times{.job = &past_attempt::job,
                                    .task = &past_attempt::task,
                                    .node = &past_attempt::node,
                                    .start = &past_attempt::start,
                                    .end = &past_attempt::end,
                                    .status = &past_attempt::status};
constexpr running_fields past_running_fields{
    .job = &past_running::job, .node = &past_running::node, .start = &past_running::start};
// Within a template Clang forgets the member if this is deduced as an argument.
constexpr node_fields past_host_fields{.node = &past_host::name};

// @return how many nodes have an interval
template <class Fields>
std::size_t check_same(std::vector<past_attempt> const& past, Fields how) {
    constexpr double rounding = 1e-9;
    auto const ranking = rank_nodes(past, how);
    std::vector<past_host> hosts;
    for (auto const& node : ranking.nodes()) hosts.push_back({node.id});
    dynamic_blacklist list(how, past_running_fields, past_host_fields);
    mitigator m(how, past_running_fields, past_host_fields);
    std::set<std::string> jobs;
    for (past_attempt const& a : past) {
        list.observe(a);
        m.observe(a, a.end);
        jobs.insert(a.job);
    }
    for (std::string const& job : jobs) {
        list.finish_job(job);
        m.finish(job);
    }
    std::vector<past_running> const none;
    list.decide(past.back().end, none, hosts);
    m.decide(past.back().end, none, hosts);
    std::size_t known = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        INFO(hosts[i].name);
        slowdown const whole = ranking.nodes()[i].slow;
        known += whole.is_known();
        CHECK(list.slowdown_of(hosts[i].name).is_known() == whole.is_known());
        if (!whole.is_known()) continue; // a verdict may rest on less
        for (slowdown const& s : {list.slowdown_of(hosts[i].name), m.plan().nodes()[i].slow}) {
            CHECK(whole.value == doctest::Approx(s.value).epsilon(rounding));
            CHECK(whole.low == doctest::Approx(s.low).epsilon(rounding));
            CHECK(whole.high == doctest::Approx(s.high).epsilon(rounding));
            CHECK(whole.tasks == s.tasks);
        }
    }
    return known;
}

} // namespace

TEST_CASE("one answer: rank_nodes, dynamic_blacklist and mitigator agree on every shared history") {
    std::size_t known = 0;
    for (char const* const folder : {"data", "data/cases"}) {
        auto const at = straggle_test::shared_file(folder);
        if (!at) return;
        for (auto const& file : std::filesystem::directory_iterator(*at)) {
            if (file.path().extension() != ".csv") continue;
            auto const past = straggle_test::read_history(file.path());
            if (past.empty()) continue;
            INFO(file.path().filename().string());
            known += check_same(past, past_times);
            known += check_same(past, past_inputs);
        }
    }
    CHECK(known > 100);
}
