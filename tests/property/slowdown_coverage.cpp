// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Intervals of slowdowns hold the truth as often as they say, whatever the fleet is like. The table in
// docs/reference/evidence.md is what this prints with STRAGGLE_COVERAGE_RUNS=1000, see bench/evidence.sh.

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
    double share = 0;      // of the jobs in which the last node is three times slower
    enum class where { beginning, middle, end, at_random, by_kind } when = where::end;

    [[nodiscard]] bool is_slow_in(std::uint32_t job, double chance) const {
        double const at = (job + 0.5) / (jobs * components);
        switch (when) {
        case where::beginning:
            return at < share;
        case where::middle:
            return std::fabs(at - 0.5) < share / 2;
        case where::end:
            return at > 1 - share;
        case where::at_random:
            return chance < share;
        case where::by_kind:
            return job % 2 == 0;
        }
        return false;
    }
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
            bool const is_slow = f_.share > 0 && f_.is_slow_in(job, uniform_(engine_));
            common_.assign(nodes, 0.0);
            for (double& c : common_) c = f_.together * normal_(engine_);
            order_.resize(nodes);
            for (std::uint32_t i = 0; i < nodes; ++i) order_[i] = i;
            std::shuffle(order_.begin(), order_.end(), engine_);
            for (std::uint32_t t = 0; t < tasks; ++t) {
                if (f_.one_each && t >= nodes) break;
                std::uint32_t const node = alone ? order_[0] : f_.one_each ? order_[t] : any(nodes);
                double const slower = is_slow && node + 1 == nodes ? 3.0 : 1.0;
                double const took = usual * f_.factors[node] * slower * task() * std::exp(common_[node]);
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
    std::uint64_t nodes = 0, high = 0, low = 0; // intervals, and those that are wholly above or below it
    double off = 0, width = 0;                  // log of slow nodes over the truth; log of high over low
    std::uint64_t slow = 0, unknown = 0;
};

coverage cover(fleet const& f, std::uint64_t runs, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    coverage c;
    std::vector<double> truths = f.factors;
    if (f.share > 0) truths.back() *= std::pow(3.0, f.share);
    std::vector<double> sorted = truths;
    std::sort(sorted.begin(), sorted.end());
    std::size_t const half = sorted.size() / 2;
    double const middle = sorted.size() % 2 != 0 ? sorted[half] : std::sqrt(sorted[half - 1] * sorted[half]);
    rank_options options;
    options.normalizer.min_tasks = 2;
    for (std::uint64_t run = 0; run < runs; ++run) {
        auto const ranking = rank_nodes(drawer(f, engine).history(), fields, options);
        for (auto const& node : ranking.nodes()) {
            if (!node.slow.is_known()) {
                ++c.unknown;
                continue;
            }
            double const truth = truths[node.id % truths.size()] / middle;
            ++c.nodes;
            c.low += node.slow.high < truth;
            c.high += node.slow.low > truth;
            c.width += std::log(node.slow.high / node.slow.low);
            if (truth > 1.2) {
                ++c.slow;
                c.off += std::log(node.slow.value / truth);
            }
        }
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
    {
        auto& f = usual("jobs of two nodes, 10 tasks each");
        f.jobs = 200, f.least_tasks = f.most_tasks = 2, f.one_each = true;
    }
    using where = fleet::where;
    auto const changing = [&](char const* name, double share, where when) {
        auto& f = usual(name);
        f.share = share, f.when = when, f.jobs = 60;
    };
    changing("one more, 3 times slower in the last tenth of 60 jobs", 0.1, where::end);
    changing("in the first tenth", 0.1, where::beginning);
    changing("in the middle third", 1.0 / 3, where::middle);
    changing("in the last three quarters", 0.75, where::end);
    changing("in half of the jobs, at random", 0.5, where::at_random);
    changing("in one kind of job of two", 0.5, where::by_kind);
    return all;
}

} // namespace

TEST_CASE("slowdown coverage: intervals of a ranking hold the truth of each node") {
    char const* const asked = std::getenv("STRAGGLE_COVERAGE_RUNS");
    std::uint64_t const most = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 40;
    std::uint64_t const seed = straggle_test::seed_or(163);
    INFO("seed ", seed);
    if (asked != nullptr)
        std::printf(
            "| fleet | intervals that contain the truth | above it | below it | slow nodes, found over "
            "true | high over low |\n|---|---|---|---|---|---|\n");
    for (fleet const& f : fleets()) {
        INFO(f.name);
        std::uint64_t const runs = f.factors.size() > 100 ? (std::max)(most / 20, std::uint64_t{4}) : most;
        coverage const c = cover(f, runs, seed);
        REQUIRE(c.nodes > 0);
        double const n = static_cast<double>(c.nodes), missed = static_cast<double>(c.high + c.low) / n;
        double const found = std::exp(c.off / static_cast<double>((std::max)(c.slow, std::uint64_t{1})));
        if (asked != nullptr) {
            std::printf("| %s | %.1f %% of %llu | %.2f %% | %.2f %% | %.3f | %.2f |\n", f.name,
                        100 * (1 - missed), static_cast<unsigned long long>(c.nodes),
                        100 * static_cast<double>(c.high) / n, 100 * static_cast<double>(c.low) / n, found,
                        std::exp(c.width / n));
            std::fflush(stdout);
        }
        // What chance allows: four deviations of that many runs, as nodes of one run share its errors.
        CHECK(missed <= 0.07 + 4 * std::sqrt(0.05 * 0.95 / static_cast<double>(runs)) / 2);
        CHECK(std::fabs(std::log(found)) < 0.05);
    }
}
