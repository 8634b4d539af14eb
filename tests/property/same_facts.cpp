// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The same facts give the same plan: whatever the order of rows of nodes and of running attempts, and asked
/// again.

#include <support/plain_cluster.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

namespace {

using namespace straggle_test;

using copy = std::tuple<std::uint32_t, std::uint32_t, double, double, bool>; // task, node, win, gain, probe
using state = std::tuple<std::uint32_t, straggle::node_state, std::uint32_t>;
struct whole_plan {
    std::vector<copy> copies; // in their order
    std::vector<state> nodes; // by name
    bool operator==(whole_plan const&) const = default;
};

template <class Mitigator>
whole_plan decide(Mitigator& m, double now, std::vector<running> const& rows,
                  std::vector<plain_host> const& hosts) {
    auto const& plan = m.decide(now, rows, hosts);
    whole_plan out;
    for (auto const& c : plan.copies())
        out.copies.emplace_back(rows[c.row].task, hosts[c.node_row].name, c.win_probability, c.gain,
                                c.is_probe);
    for (auto const& n : plan.nodes()) out.nodes.emplace_back(hosts[n.row].name, n.state, n.probe_slots);
    std::sort(out.nodes.begin(), out.nodes.end());
    return out;
}

} // namespace

TEST_CASE("mitigator: the same facts give the same plan, in any order of rows, and asked again") {
    constexpr std::uint32_t nodes = 24, slots = 4;
    auto a = make_mitigator(), b = make_mitigator();
    std::mt19937_64 random(11), order(12);
    std::vector<plain_host> hosts;
    for (std::uint32_t n = 0; n < nodes; ++n) hosts.push_back({n, slots});
    auto other_hosts = hosts;
    struct task {
        running row;
        double length;
    };
    std::vector<task> tasks;
    std::vector<std::uint32_t> busy(nodes, 0);
    std::uint32_t next = 0;
    std::size_t copies = 0, places = 0;
    for (int step = 0; step < 300; ++step) {
        double const now = 1000 + 3 * step;
        for (std::size_t i = 0; i < tasks.size();) {
            task const t = tasks[i];
            if (t.row.start + t.length > now) {
                ++i;
                continue;
            }
            ended const e{t.row.job, t.row.task, t.row.node, t.row.start, t.row.start + t.length};
            (void)a.observe(e, now);
            (void)b.observe(e, now);
            --busy[t.row.node];
            tasks[i] = tasks.back();
            tasks.pop_back();
        }
        for (std::uint32_t n = 0; n < nodes; ++n)
            for (; busy[n] < slots - 1; ++busy[n], ++next) {
                bool const is_slow = n == 5 || random() % 40 == 0;
                double const spread = static_cast<double>(random() % 2001) / 500 - 2;
                tasks.push_back({{next / 30, next, n, now}, 60 * std::exp(0.1 * spread) * (is_slow ? 4 : 1)});
            }
        std::vector<running> rows;
        for (task const& t : tasks) rows.push_back(t.row);
        auto other_rows = rows;
        std::shuffle(other_rows.begin(), other_rows.end(), order);
        std::shuffle(other_hosts.begin(), other_hosts.end(), order);
        auto const plan = decide(a, now, rows, hosts);
        REQUIRE(plan == decide(b, now, other_rows, other_hosts));
        copies += plan.copies.size();
        std::uint32_t const job = next / 30;
        std::vector<std::uint32_t> first, second, third;
        for (auto const& p : a.rank_places(job, hosts)) first.push_back(hosts[p.row].name);
        for (auto const& p : a.rank_places(job, hosts)) second.push_back(hosts[p.row].name);
        for (auto const& p : b.rank_places(job, other_hosts)) third.push_back(other_hosts[p.row].name);
        REQUIRE(first == second);
        (void)b.rank_places(job, other_hosts);
        REQUIRE(first == third);
        places += first.size();
    }
    CHECK(copies > 50);
    CHECK(places > 1000);
}
