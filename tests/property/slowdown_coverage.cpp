// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Intervals of slowdowns hold the truth as often as they say, whatever the fleet is like. The table in
// docs/reference/numbers.md is what this prints with STRAGGLE_COVERAGE_RUNS=1000, see
// bench/slowdown_coverage.sh.

#include "support/seed.hpp"

#include <doctest/doctest.h>
#include <straggle/rank/rank_nodes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    std::uint32_t job, node;
    std::int64_t took;
};
constexpr attempt_fields fields{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};

enum class noise { lognormal, gamma, pareto };

struct fleet {
    char const* name;
    std::vector<double> factors; // by node
    int jobs = 30;
    int least_tasks = 40, most_tasks = 40; // of a job
    noise kind = noise::lognormal;
    double cv = 0.3;
    int components = 1;    // as many fleets that share no job
    double alone = 0;      // of the jobs run on one node
    double together = 0;   // deviation of what the tasks of one job on one node have in common
    bool one_each = false; // of a job at most one task on a node
    bool by_slots = false; // half of the nodes get five times as many tasks
};

std::vector<double> with(std::size_t nodes, std::initializer_list<double> slow) {
    std::vector<double> all(nodes, 1.0);
    std::copy(slow.begin(), slow.end(), all.begin());
    return all;
}

class drawer {
  public:
    drawer(fleet const& f, std::mt19937_64& engine) : f_(f), engine_(engine) {}

    std::vector<attempt> history() {
        std::vector<attempt> all;
        auto const nodes = static_cast<std::uint32_t>(f_.factors.size());
        for (std::uint32_t job = 0; job < static_cast<std::uint32_t>(f_.jobs * f_.components); ++job) {
            std::uint32_t const first = job % static_cast<std::uint32_t>(f_.components) * nodes;
            double const usual = 1e6 * std::exp(normal_(engine_));
            double const log_tasks = std::log(f_.least_tasks) +
                                     uniform_(engine_) * std::log(double(f_.most_tasks) / f_.least_tasks);
            auto const tasks = static_cast<std::uint32_t>(std::lround(std::exp(log_tasks)));
            bool const alone = uniform_(engine_) < f_.alone;
            common_.assign(nodes, 0.0);
            for (double& c : common_) c = f_.together * normal_(engine_);
            order_.resize(nodes);
            for (std::uint32_t i = 0; i < nodes; ++i) order_[i] = i;
            std::shuffle(order_.begin(), order_.end(), engine_);
            for (std::uint32_t t = 0; t < tasks; ++t) {
                if (f_.one_each && t >= nodes) break;
                std::uint32_t const node = alone ? order_[0] : f_.one_each ? order_[t] : any(nodes);
                double const took = usual * f_.factors[node] * task() * std::exp(common_[node]);
                all.push_back({job, first + node, static_cast<std::int64_t>(took) + 1});
            }
        }
        return all;
    }

  private:
    std::uint32_t any(std::uint32_t nodes) {
        for (;;) {
            auto const node = static_cast<std::uint32_t>(engine_() % nodes);
            if (!f_.by_slots || node % 2 == 0 || engine_() % 5 == 0) return node;
        }
    }
    double task() {
        if (f_.kind == noise::gamma) {
            double const shape = 1 / (f_.cv * f_.cv);
            return std::gamma_distribution<>(shape, 1 / shape)(engine_);
        }
        if (f_.kind == noise::pareto) return std::pow(1 - uniform_(engine_), -1 / 1.8);
        double const sigma = std::sqrt(std::log1p(f_.cv * f_.cv));
        return std::exp(sigma * normal_(engine_) - sigma * sigma / 2);
    }

    fleet const& f_;
    std::mt19937_64& engine_;
    std::normal_distribution<> normal_;
    std::uniform_real_distribution<> uniform_;
    std::vector<double> common_;
    std::vector<std::uint32_t> order_;
};

struct coverage {
    std::uint64_t runs = 0, whole = 0;          // rankings, and those all of whose intervals hold the truth
    std::uint64_t nodes = 0, high = 0, low = 0; // intervals, and those that are wholly above or below it
    double off = 0, width = 0;                  // log of slow nodes over the truth; log of high over low
    std::uint64_t slow = 0, unknown = 0;
};

coverage cover(fleet const& f, std::uint64_t runs, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    coverage c;
    std::vector<double> sorted = f.factors;
    std::sort(sorted.begin(), sorted.end());
    std::size_t const half = sorted.size() / 2;
    double const middle = sorted.size() % 2 != 0 ? sorted[half] : std::sqrt(sorted[half - 1] * sorted[half]);
    rank_options options;
    options.normalizer.min_tasks = 2;
    for (std::uint64_t run = 0; run < runs; ++run) {
        auto const ranking = rank_nodes(drawer(f, engine).history(), fields, options);
        bool whole = true, any = false;
        for (auto const& node : ranking.nodes()) {
            if (!node.slow.is_known()) {
                ++c.unknown;
                continue;
            }
            any = true;
            double const truth = f.factors[node.id % f.factors.size()] / middle;
            ++c.nodes;
            c.low += node.slow.high < truth;
            c.high += node.slow.low > truth;
            whole = whole && node.slow.low <= truth && truth <= node.slow.high;
            c.width += std::log(node.slow.high / node.slow.low);
            if (truth > 1.2) {
                ++c.slow;
                c.off += std::log(node.slow.value / truth);
            }
        }
        c.runs += any;
        c.whole += any && whole;
    }
    return c;
}

std::vector<fleet> fleets() {
    std::vector<fleet> all;
    auto const usual = [&](char const* name) -> fleet& {
        all.push_back({.name = name, .factors = with(20, {2.0, 1.5})});
        return all.back();
    };
    usual("20 nodes, two slow; 30 jobs of 40 tasks; cv 0.3");
    usual("cv 0.1").cv = 0.1;
    usual("cv 0.6").cv = 0.6;
    usual("cv 1").cv = 1;
    {
        auto& f = usual("gamma, cv 1");
        f.kind = noise::gamma;
        f.cv = 1;
    }
    usual("Pareto, shape 1.8").kind = noise::pareto;
    {
        auto& f = usual("300 jobs of 2 tasks");
        f.jobs = 300, f.least_tasks = f.most_tasks = 2;
    }
    {
        auto& f = usual("60 jobs of 2 to 1000 tasks");
        f.jobs = 60, f.least_tasks = 2, f.most_tasks = 1000;
    }
    usual("one task per node and job").one_each = true;
    {
        auto& f = usual("jobs of 8 tasks, one per node and job");
        f.jobs = 100, f.least_tasks = f.most_tasks = 8, f.one_each = true;
    }
    usual("three fleets that share no job").components = 3;
    usual("half of the jobs on one node").alone = 0.5;
    usual("tasks of a job on a node have 20 % in common").together = 0.2;
    usual("half of the nodes with five times the tasks").by_slots = true;
    usual("3 jobs of 400 tasks").jobs = 3, all.back().least_tasks = all.back().most_tasks = 400;
    usual("2 nodes, one slow").factors = with(2, {2.0});
    usual("3 nodes, two slow").factors = with(3, {2.0, 2.0});
    usual("5 nodes, one slow").factors = with(5, {2.0});
    usual("20 nodes, eight slow").factors = with(20, {2, 2, 2, 2, 3, 3, 1.5, 1.5});
    {
        auto& f = usual("500 nodes, ten slow; 100 jobs of 250 tasks");
        f.factors = with(500, {2, 2, 2, 2, 2, 1.5, 1.5, 1.5, 1.5, 1.5});
        f.jobs = 100, f.least_tasks = f.most_tasks = 250;
    }
    return all;
}

} // namespace

TEST_CASE("slowdown coverage: intervals of a ranking hold the truth for all nodes at once") {
    char const* const asked = std::getenv("STRAGGLE_COVERAGE_RUNS");
    std::uint64_t const most = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 40;
    std::uint64_t const seed = straggle_test::seed_or(163);
    INFO("seed ", seed);
    if (asked != nullptr)
        std::printf(
            "| fleet | all nodes at once | one node | above the truth | below | slow nodes, told over true | "
            "high over low |\n|---|---|---|---|---|---|---|\n");
    for (fleet const& f : fleets()) {
        INFO(f.name);
        std::uint64_t const runs = f.factors.size() > 100 ? (std::max)(most / 20, std::uint64_t{4}) : most;
        coverage const c = cover(f, runs, seed);
        REQUIRE(c.nodes > 0);
        double const n = static_cast<double>(c.nodes), r = static_cast<double>(c.runs);
        double const whole = static_cast<double>(c.whole) / r;
        double const told = std::exp(c.off / static_cast<double>((std::max)(c.slow, std::uint64_t{1})));
        if (asked != nullptr) {
            std::printf("| %s | %.1f %% of %llu | %.2f %% | %.3f %% | %.3f %% | %.3f | %.2f |\n", f.name,
                        100 * whole, static_cast<unsigned long long>(c.runs),
                        100 * (1 - static_cast<double>(c.high + c.low) / n),
                        100 * static_cast<double>(c.high) / n, 100 * static_cast<double>(c.low) / n, told,
                        std::exp(c.width / n));
            std::fflush(stdout);
        }
        // What chance allows at 95 %: four deviations of that many runs.
        CHECK(whole >= 0.95 - 4 * std::sqrt(0.95 * 0.05 / r));
        CHECK(std::fabs(std::log(told)) < 0.05);
    }
}
