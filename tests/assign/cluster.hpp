// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Stragglers and nodes of a small scheduler, and a profit policy that is told what to say: what is under
/// test is who gets what, not what it is worth.
#pragma once

#include <straggle/assign/assigner.hpp>
#include <straggle/assign/optimal_assignment.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace straggle_test {

struct task {
    std::vector<std::string> hosts;
    double left = 1000;
    std::optional<int> attempts{}; // as many as hosts
    std::vector<double> worth{};   // by node: profit and, behind the point, the win probability; < 0: unknown
    std::vector<std::size_t> barred{}; // nodes that it cannot run on, by place
};

struct host {
    std::string name;
    int free = 1;
    straggle::node_state state = straggle::node_state::healthy;
    int slots = 1;
    int copies = 0;
    std::size_t place = 0;
};

constexpr straggle::assign::straggler_fields task_fields{
    .runs_on = &task::hosts, .remaining = &task::left, .attempts = [](task const& t) {
        return t.attempts ? *t.attempts : static_cast<int>(t.hosts.size());
    }};
constexpr straggle::assign::backup_node_fields host_fields{.node = &host::name,
                                                           .slots = &host::slots,
                                                           .free = &host::free,
                                                           .copies = &host::copies,
                                                           .state = &host::state};

/// The "time" of a copy is what it is worth.
inline std::optional<double> predicted_time(task const& t, host const& h) {
    if (t.worth[h.place] < 0) return std::nullopt;
    return t.worth[h.place];
}
struct told {
    static constexpr std::string_view name = "told";
    [[nodiscard]] straggle::outcome<straggle::assign::backup_value>
    value(straggle::assign::backup_case const& c) const {
        double const worth = c.copy[0], profit = std::floor(worth);
        if (profit == 666) return straggle::status::out_of_range;
        if (profit == 667) return straggle::assign::backup_value{.profit = std::nan("")};
        if (profit == 668)
            return straggle::assign::backup_value{.profit = 5, .win_probability = std::nan("")};
        return straggle::assign::backup_value{profit, profit + 1, 1, worth - profit};
    }
    [[nodiscard]] bool accepts(straggle::assign::backup_value const& v) const {
        return v.win_probability >= 0.25;
    }
};
static_assert(straggle::assign::profit_policy<told>);

inline std::vector<host> hosts(std::size_t n) {
    std::vector<host> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back({.name = std::string(1, char('a' + i)), .place = i});
    return all;
}

/// Where each straggler's copy goes.
inline std::vector<std::optional<std::uint32_t>> nodes_of(straggle::assign::backup_plan const& plan) {
    std::vector<std::optional<std::uint32_t>> nodes;
    for (auto const& c : plan.choices) nodes.push_back(c.copy ? std::optional(c.copy->node) : std::nullopt);
    return nodes;
}
using targets = std::vector<std::optional<std::uint32_t>>;
inline constexpr std::nullopt_t nowhere = std::nullopt;

/// Calls `check` with each of the matchings.
template <class Check>
void for_each_matching(Check&& check) {
    check(straggle::assign::assignment_in_turn{});
    check(straggle::assign::greedy_assignment{});
    check(straggle::assign::optimal_assignment{});
}

} // namespace straggle_test

template <>
struct straggle::task_traits<straggle_test::task> {
    static constexpr auto fields = straggle_test::task_fields;
};
template <>
struct straggle::task_traits<straggle_test::host> {
    static constexpr auto fields = straggle_test::host_fields;
};
