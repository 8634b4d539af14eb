// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A cluster that does what `node_stage` says, for tests of what becomes of nodes over time.
#pragma once

#include <straggle/blacklist/node_stage.hpp>

#include <support/seed.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace straggle_test {

/// Every step is four minutes, in which each slot that may works off one task of about a minute.
struct obedient_cluster {
    static constexpr std::uint32_t nobody = 0xFFFF'FFFF;

    std::vector<double> factors, failing; ///< by node: how many times as long, which share of attempts fails
    straggle::node_stage decisions;
    std::vector<straggle::blacklist::node_row> rows{};
    double sigma = 0.3;             ///< of the logarithms of lengths
    double unit = 1;                ///< of the clock, per minute
    std::uint32_t busy = 2;         ///< slots of a node, as far as it may
    std::uint64_t waiting = 0;      ///< tasks
    std::optional<double> demand{}; ///< instead of both: the work there is, in slots of a usual node
    bool may_exclude = true;
    bool copies_only = false;       ///< what is on trial gets copies of tasks that have just begun
    std::uint32_t resting = nobody; ///< a node that nobody gives anything
    std::mt19937_64 engine{seed_or(20261122)};
    double now = 0;
    std::uint64_t job = 1;

    explicit obedient_cluster(std::vector<double> by_node, straggle::node_stage_options const& options = {})
        : factors(std::move(by_node)), failing(factors.size(), 0.0), decisions(options) {
        for (std::uint32_t n = 0; n < factors.size(); ++n) rows.push_back({.node = n, .slots = 4, .busy = 2});
    }
    explicit obedient_cluster(std::size_t nodes, straggle::node_stage_options const& options = {})
        : obedient_cluster(std::vector<double>(nodes, 1.0), options) {}

    void step() {
        std::uniform_real_distribution<double> any;
        for (std::uint32_t n = 0; n < rows.size(); ++n) {
            bool const races = copies_only && decisions.state(n) == straggle::node_state::on_probation;
            for (std::uint32_t k = 0; k < most_tasks(n); ++k) {
                std::uint64_t const task = n * 100u + k;
                if (races) {
                    race(n, task);
                    continue;
                }
                bool const fails = failing[n] > 0 && any(engine) < failing[n];
                double const end = now + length(n);
                decisions.observe(
                    {n, job, task, now * unit, end * unit,
                     fails ? straggle::attempt_status::failed : straggle::attempt_status::success},
                    now * unit);
            }
            rows[n].busy = (std::min)(busy, most_tasks(n));
        }
        if (demand) show_demand(*demand);
        decisions.finish_job(job++);
        now += 4;
        decisions.decide(now * unit, {}, rows, {.waiting = waiting}, may_exclude);
    }
    /// Steps until a node is in a state; how many that took, or `most` and one.
    int until(std::uint32_t node, straggle::node_state state, int most) {
        for (int i = 1; i <= most; ++i) {
            step();
            if (decisions.state(node) == state) return i;
        }
        return most + 1;
    }
    /// Changes of state of all nodes in so many steps; `before(i)` is called before the i-th.
    template <class Before>
    int changes(int steps, Before&& before) {
        int all = 0;
        for (int i = 0; i < steps; ++i) {
            std::vector<straggle::node_state> was(rows.size());
            for (std::uint32_t n = 0; n < rows.size(); ++n) was[n] = decisions.state(n);
            before(i);
            step();
            for (std::uint32_t n = 0; n < rows.size(); ++n) all += decisions.state(n) != was[n];
        }
        return all;
    }
    int changes(int steps) {
        return changes(steps, [](int) {});
    }
    [[nodiscard]] straggle::blacklist::node_verdict verdict(std::uint32_t node) const {
        for (auto const& v : decisions.verdicts())
            if (v.node == node) return v;
        return {};
    }
    /// How many tasks a node may run at a time.
    [[nodiscard]] std::uint32_t most_tasks(std::uint32_t node) const {
        if (node == resting || rows[node].word == straggle::record::condition::away) return 0;
        switch (decisions.state(node)) {
        case straggle::node_state::excluded:
        case straggle::node_state::away:
            return 0;
        case straggle::node_state::on_probation:
            return decisions.probe_slots(node);
        default:
            return rows[node].slots;
        }
    }

  private:
    double length(std::uint32_t node) {
        return factors[node] * std::exp(sigma * std::normal_distribution<>()(engine));
    }
    // A copy on `node` against its original elsewhere, which began a moment before.
    void race(std::uint32_t node, std::uint64_t task) {
        using straggle::attempt_status;
        std::uint32_t const other = node == 0 ? 1 : 0;
        double const original = length(other), copy = 0.03 + length(node);
        bool const wins = copy < original;
        double const start = now * unit, end = (now + (std::min)(copy, original)) * unit;
        decisions.observe(
            {other, job, task, start, end, wins ? attempt_status::outrun : attempt_status::success}, end);
        decisions.observe({node, job, task, start + 0.03 * unit, end,
                           wins ? attempt_status::success : attempt_status::outrun, true},
                          end);
    }
    // As many busy slots as the work takes on the nodes that may, and the queue that comes of it where tasks
    // come by themselves (Sakasegawa 1977, doi:10.1007/BF02532241).
    void show_demand(double work) {
        double capacity = 0, servers = 0;
        for (std::uint32_t n = 0; n < rows.size(); ++n) {
            capacity += most_tasks(n) / factors[n];
            servers += most_tasks(n);
        }
        double const load = (std::min)(work / capacity, 0.999);
        for (std::uint32_t n = 0; n < rows.size(); ++n)
            rows[n].busy = static_cast<std::uint32_t>(
                std::binomial_distribution<int>(static_cast<int>(most_tasks(n)), load)(engine));
        double const queue = std::pow(load, std::sqrt(2 * (servers + 1))) / (1 - load);
        waiting =
            static_cast<std::uint64_t>(std::poisson_distribution<int>((std::min)(queue, 400.0))(engine));
    }
};

} // namespace straggle_test
