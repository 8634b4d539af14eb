// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What must be true of any plan for any stragglers and nodes, against the filters and the best assignment
// written down literally.
#include "../assign/cluster.hpp"

#include <straggle/papers/riski_2014.hpp>

#include <support/seed.hpp>

#include <algorithm>
#include <numeric>

using namespace straggle;
using namespace straggle_test;

namespace {

struct scene {
    std::vector<task> tasks;
    std::vector<host> nodes;
    cluster_load load;
};

scene random_scene(std::mt19937_64& engine, std::size_t most_tasks, std::size_t most_nodes) {
    scene s;
    s.nodes = hosts(engine() % (most_nodes + 1));
    for (host& h : s.nodes) {
        h.free = static_cast<int>(engine() % 4) - 1;
        h.state = static_cast<node_state>(engine() % 6 < 4 ? 0 : engine() % 3);
    }
    s.tasks.resize(engine() % (most_tasks + 1));
    for (task& t : s.tasks) {
        for (std::size_t k = engine() % 3; k-- > 0;)
            t.hosts.push_back(std::string(1, char('a' + engine() % 8)));
        if (engine() % 10 == 0) t.left = std::nan("");
        if (engine() % 3 == 0 && !s.nodes.empty()) t.barred.push_back(engine() % s.nodes.size());
        for (std::size_t i = 0; i < s.nodes.size(); ++i) {
            double const win = static_cast<double>(1 + engine() % 9) / 10;
            t.worth.push_back(engine() % 6 == 0 ? -1 : static_cast<double>(engine() % 12) + win);
        }
    }
    s.load = {.running = 100, .slots = 10 * (engine() % 6)};
    return s;
}

bool can_run(task const& t, host const& h) {
    return std::find(t.barred.begin(), t.barred.end(), h.place) == t.barred.end();
}
constexpr assign::straggler_fields barred_fields{.runs_on = &task::hosts,
                                                 .remaining = &task::left,
                                                 .attempts = straggle_test::task_fields.attempts,
                                                 .can_run = can_run};

// A pair through the filters, as the documentation lists them; nothing if it would do.
std::optional<assign::backup_refusal> judged(task const& t, host const& h) {
    if (std::find(t.hosts.begin(), t.hosts.end(), h.name) != t.hosts.end())
        return assign::backup_refusal::same_node;
    if (h.state == node_state::excluded) return assign::backup_refusal::excluded;
    if (h.free <= 0) return assign::backup_refusal::no_slot;
    if (h.state == node_state::on_probation && t.hosts.empty()) return assign::backup_refusal::on_probation;
    if (!can_run(t, h)) return assign::backup_refusal::cannot_run;
    double const worth = t.worth[h.place];
    if (worth < 0) return assign::backup_refusal::no_prediction;
    if (std::floor(worth) <= 0) return assign::backup_refusal::not_profitable;
    if (worth - std::floor(worth) < 0.25) return assign::backup_refusal::unlikely_to_win;
    return std::nullopt;
}

// Attempts as limits count them: of those on nodes that are not healthy one.
std::size_t counted(scene const& s, task const& t) {
    std::size_t no_help = 0;
    for (host const& h : s.nodes)
        if (h.state != node_state::healthy)
            no_help += static_cast<std::size_t>(std::count(t.hosts.begin(), t.hosts.end(), h.name));
    return no_help < 2 ? t.hosts.size() : t.hosts.size() - no_help + 1;
}

// The largest profit of at most `most` copies, by trying everything.
double best_profit(scene const& s, std::size_t row, std::vector<int>& free, std::size_t most) {
    if (row == s.tasks.size() || most == 0) return 0;
    double best = best_profit(s, row + 1, free, most);
    task const& t = s.tasks[row];
    if (!(t.left >= 0) || counted(s, t) > 1) return best; // no straggler, or a copy runs already
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
        if (free[i] <= 0 || judged(t, s.nodes[i])) continue;
        --free[i];
        best = (std::max)(best, std::floor(t.worth[i]) + best_profit(s, row + 1, free, most - 1));
        ++free[i];
    }
    return best;
}

void check_choice(scene const& s, assign::backup_choice const& c) {
    task const& t = s.tasks[c.straggler];
    CHECK(c.copy.has_value() != c.reason.has_value());
    CHECK(c.refused_by.empty() == (c.reason != assign::backup_refusal::over_limit));
    if (!(t.left >= 0)) {
        CHECK(c.reason == assign::backup_refusal::no_straggler);
        return;
    }
    assign::node_counts counts;
    std::optional<assign::backup_refusal> furthest;
    std::optional<std::uint32_t> runner_up;
    auto const better = [&](std::uint32_t a, std::uint32_t b) { // a comes later
        bool const x = !judged(t, s.nodes[a]), y = !judged(t, s.nodes[b]);
        if (x != y) return x;
        double const p = std::floor(t.worth[a]), q = std::floor(t.worth[b]);
        return p != q ? p > q : t.worth[a] - p > t.worth[b] - q;
    };
    for (std::uint32_t i = 0; i < s.nodes.size(); ++i) {
        auto const refusal = judged(t, s.nodes[i]);
        if (refusal) {
            ++counts.refused[static_cast<std::size_t>(*refusal)];
            furthest = (std::max)(furthest, refusal);
        } else {
            ++counts.acceptable;
        }
        bool const chosen = c.copy && c.copy->node == i;
        if (chosen) CHECK_FALSE(refusal);
        if (chosen || (refusal && *refusal <= assign::backup_refusal::no_prediction)) continue;
        if (!runner_up || better(i, *runner_up)) runner_up = i;
    }
    CHECK(c.nodes == counts);
    CHECK(c.runner_up.has_value() == runner_up.has_value());
    if (runner_up) {
        CHECK(c.runner_up->node == *runner_up);
        CHECK(c.runner_up->refusal == judged(t, s.nodes[*runner_up]));
        CHECK(c.runner_up->value.profit == std::floor(t.worth[*runner_up]));
    }
    if (c.copy) {
        CHECK(c.copy->value.profit == std::floor(t.worth[c.copy->node]));
    } else if (counts.acceptable > 0) {
        CHECK((c.reason == assign::backup_refusal::slots_taken ||
               c.reason == assign::backup_refusal::over_limit));
        if (counted(s, t) > 1) CHECK(c.refused_by == "copies_per_task");
    } else {
        CHECK(c.reason == (furthest ? *furthest : assign::backup_refusal::no_nodes));
    }
}

template <class Assigner>
double checked_profit(Assigner& a, scene const& s) {
    assign::backup_plan const& plan = a.choose(s.tasks, barred_fields, s.nodes, straggle_test::host_fields,
                                               straggle_test::predicted_time, s.load);
    REQUIRE(plan.choices.size() == s.tasks.size());
    std::vector<int> on(s.nodes.size(), 0);
    std::vector<std::uint64_t> refused(plan.limits.size(), 0);
    assign::node_counts counts;
    std::uint64_t copies = 0;
    double profit = 0;
    for (std::uint32_t i = 0; i < plan.choices.size(); ++i) {
        assign::backup_choice const& c = plan.choices[i];
        CHECK(c.straggler == i);
        check_choice(s, c);
        counts += c.nodes;
        for (std::size_t b = 0; b < refused.size(); ++b) refused[b] += c.refused_by == plan.limits[b].limit;
        if (!c.copy) continue;
        ++copies;
        profit += c.copy->value.profit;
        CHECK(counted(s, s.tasks[i]) <= 1);
        CHECK(++on[c.copy->node] <= s.nodes[c.copy->node].free);
    }
    CHECK(plan.nodes == counts);
    CHECK(plan.copies == copies);
    CHECK(plan.profit == profit);
    CHECK(10 * copies <= s.load.slots);
    for (std::size_t b = 0; b < refused.size(); ++b) CHECK(plan.limits[b].refused == refused[b]);
    return profit;
}

template <class Matching>
auto assigner_by(Matching matching) {
    return assign::assigner(told{}, matching, assign::copies_per_task{}, assign::speculative_cap{0.1});
}

} // namespace

TEST_CASE("assigning: filters, slots, limits, reasons and runners-up on random scenes; the optimum is the "
          "largest") {
    std::uint64_t const seed = seed_or(71);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    auto in_turn = assigner_by(assign::assignment_in_turn{});
    auto greedy = assigner_by(assign::greedy_assignment{});
    auto optimal = assigner_by(assign::optimal_assignment{});
    for (int i = 0; i < 1500; ++i) {
        scene const s = random_scene(engine, 5, 6);
        std::vector<int> free;
        for (host const& h : s.nodes) free.push_back(h.free);
        double const best = best_profit(s, 0, free, s.load.slots / 10);
        CHECK(checked_profit(optimal, s) == best);
        CHECK(checked_profit(greedy, s) <= best);
        CHECK(checked_profit(in_turn, s) <= best);
    }
}

TEST_CASE("assigning: on large scenes nothing is worse than greedy") {
    std::uint64_t const seed = seed_or(72);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    auto greedy = assigner_by(assign::greedy_assignment{});
    auto optimal = assigner_by(assign::optimal_assignment{});
    double won = 0;
    for (int i = 0; i < 100; ++i) {
        scene s = random_scene(engine, 100, 26);
        s.load.slots = engine() % 2 == 0 ? 100 : 2000;
        double const more = checked_profit(optimal, s) - checked_profit(greedy, s);
        CHECK(more >= 0);
        won += more;
    }
    CHECK(won > 0);
}

TEST_CASE("assigning: one straggler by riski_2014 is algorithm 2") {
    std::uint64_t const seed = seed_or(74);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    struct machine {
        std::uint32_t name;
        stats::empirical times;
    };
    struct running {
        std::uint32_t host;
        double left;
    };
    constexpr assign::straggler_fields fields{.runs_on = &running::host, .remaining = &running::left};
    constexpr assign::backup_node_fields nodes{.node = &machine::name,
                                               .free = [](machine const&) { return 1; }};
    assign::assigner a(papers::riski_2014::profit{},
                       assign::assigner_options{.kill = assign::kill_rule::when_certain});
    std::size_t launched = 0, killed = 0;
    for (int i = 0; i < 500; ++i) {
        running const straggler{static_cast<std::uint32_t>(engine() % 8),
                                static_cast<double>(20 + engine() % 100)};
        std::vector<machine> machines(1 + engine() % 8);
        std::optional<std::uint32_t> best;
        double most = 0, worst = 0;
        bool tie = false; // the paper does not say
        for (std::uint32_t n = 0; n < machines.size(); ++n) {
            machines[n].name = n;
            std::vector<double> times(1 + engine() % 9);
            double sum = 0, longest = 0;
            for (double& t : times) {
                t = static_cast<double>(10 + n + engine() % 120);
                sum += t;
                longest = (std::max)(longest, t);
            }
            machines[n].times.assign(times);
            double const profit = straggler.left - sum / static_cast<double>(times.size());
            if (n == straggler.host) continue;
            tie = tie || std::fabs(profit - most) < 1e-9;
            if (!(profit > most)) continue;
            best = n;
            most = profit;
            worst = longest;
        }
        auto const predict_there = [](running const&, machine const& m) { return m.times.view(); };
        assign::backup_choice const& choice = a.choose_for(straggler, fields, machines, nodes, predict_there);
        if (tie) continue;
        REQUIRE(choice.copy.has_value() == best.has_value());
        if (!best) continue;
        CHECK(choice.copy->node == *best);
        CHECK(choice.copy->value.profit == doctest::Approx(most));
        CHECK(choice.copy->kill == (straggler.left > worst));
        ++launched;
        killed += choice.copy->kill;
    }
    CHECK(launched > 100);
    CHECK(killed > 20);
    CHECK(killed < launched);
}

TEST_CASE("assigning: the order of stragglers and of nodes matters for ties only") {
    std::uint64_t const seed = seed_or(73);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    for (int i = 0; i < 300; ++i) {
        scene const s = [&] {
            scene any = random_scene(engine, 12, 12);
            for (task& t : any.tasks) // no two profits are equal
                for (double& w : t.worth)
                    if (w > 0) w = static_cast<double>(1 + engine() % (1u << 30)) + 0.5;
            return any;
        }();
        scene other = s;
        std::vector<std::uint32_t> tasks(s.tasks.size()), nodes(s.nodes.size());
        std::iota(tasks.begin(), tasks.end(), 0u);
        std::iota(nodes.begin(), nodes.end(), 0u);
        for (std::size_t k = tasks.size(); k > 1; --k) std::swap(tasks[k - 1], tasks[engine() % k]);
        for (std::size_t k = nodes.size(); k > 1; --k) std::swap(nodes[k - 1], nodes[engine() % k]);
        for (std::size_t k = 0; k < tasks.size(); ++k) other.tasks[k] = s.tasks[tasks[k]];
        for (std::size_t k = 0; k < nodes.size(); ++k) other.nodes[k] = s.nodes[nodes[k]];
        auto const check = [&](auto const& rule) {
            auto a = assigner_by(rule), b = assigner_by(rule);
            assign::backup_plan const& before =
                a.choose(s.tasks, barred_fields, s.nodes, straggle_test::host_fields,
                         straggle_test::predicted_time, s.load);
            assign::backup_plan const& after =
                b.choose(other.tasks, barred_fields, other.nodes, straggle_test::host_fields,
                         straggle_test::predicted_time, s.load);
            CHECK(after.copies == before.copies);
            CHECK(after.profit == before.profit); // whole numbers: in any order the same sum
            CHECK(after.nodes == before.nodes);
            for (std::size_t k = 0; k < tasks.size(); ++k) {
                auto const &x = before.choices[tasks[k]], &y = after.choices[k];
                CHECK(y.reason == x.reason);
                CHECK(y.copy.has_value() == x.copy.has_value());
                if (y.copy && x.copy) CHECK(nodes[y.copy->node] == x.copy->node);
                CHECK(y.runner_up.has_value() == x.runner_up.has_value());
                if (y.runner_up && x.runner_up) CHECK(nodes[y.runner_up->node] == x.runner_up->node);
            }
        };
        check(assign::greedy_assignment{});
        check(assign::optimal_assignment{});
    }
}
