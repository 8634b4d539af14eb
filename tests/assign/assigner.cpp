// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "cluster.hpp"

#include <support/allocations.hpp>
#include <support/contract_trap.hpp>

#include <list>

using namespace straggle;
using namespace straggle_test;

namespace {

// Keeps what it is asked about.
struct spy {
    static constexpr std::string_view name = "spy";
    assign::backup_case* seen;
    outcome<assign::backup_value> value(assign::backup_case const& c) const {
        *seen = c;
        return assign::backup_value{1, 1, 0, 1};
    }
    bool accepts(assign::backup_value const&) const { return true; }
};

} // namespace

TEST_CASE("assigner: one straggler goes to the node of the largest profit") {
    assign::assigner a(told{});
    task const t{.hosts = {"a"}, .worth = {90.9, 20.5, 30.5, 30.9, 25.9}};
    auto const all = hosts(5);
    assign::backup_choice const& choice = a.choose_for(t, all, predicted_time);
    REQUIRE(choice.copy);
    CHECK(choice.copy->node == 3); // the same profit as node 2, but it wins more often
    CHECK(choice.copy->value.profit == 30);
    CHECK(choice.copy->value.win_probability == doctest::Approx(0.9));
    CHECK_FALSE(choice.copy->kill);
    CHECK_FALSE(choice.reason);
    REQUIRE(choice.runner_up);
    CHECK(choice.runner_up->node == 2);
    CHECK_FALSE(choice.runner_up->refusal);
    CHECK(choice.nodes.acceptable == 4);
    CHECK(choice.nodes[assign::backup_refusal::same_node] == 1);
    CHECK(a.plan().profit == 30);
    CHECK(a.plan().copies == 1);
    CHECK(a.plan().policy == "told");
    CHECK(a.plan().matching == "greedy");
}

TEST_CASE("assigner: what must never run twice gets no copy, and none goes where it cannot run") {
    struct labelled {
        std::string host, label;
        std::optional<bool> pure;
        double left = 100;
    };
    int asked = 0, predicted = 0;
    assign::straggler_fields const fields{.runs_on = &labelled::host,
                                          .remaining = &labelled::left,
                                          .may_copy = &labelled::pure,
                                          .can_run = [&](labelled const& t, host const& h) {
                                              ++asked;
                                              return t.label.empty() || t.label == h.name;
                                          }};
    auto const takes_ten = [&](labelled const&, host const&) {
        ++predicted;
        return 10;
    };
    std::vector<labelled> const tasks{
        {"a", "", false}, {"a", "", std::nullopt}, {"a", "c", true}, {"a", "z", true}};
    auto nodes = hosts(4);
    nodes[3].state = node_state::excluded;
    assign::assigner a;
    auto const& plan = a.choose(tasks, fields, nodes, host_fields, takes_ten);
    CHECK(plan.choices[0].reason == assign::backup_refusal::may_not_copy);
    CHECK(plan.choices[0].nodes == assign::node_counts{}); // nobody was looked at
    CHECK(nodes_of(plan) == targets{nowhere, 1, 2, nowhere});
    CHECK(plan.choices[2].nodes[assign::backup_refusal::cannot_run] == 1);
    CHECK(plan.choices[3].reason == assign::backup_refusal::cannot_run);
    CHECK(plan.choices[3].nodes[assign::backup_refusal::cannot_run] == 2);
    // Asked of nodes that would do otherwise only, and nothing is predicted for those that cannot.
    CHECK(asked == 6);
    CHECK(predicted == 3);
}

TEST_CASE("assigner: what the guide says of tasks that may not, or cannot") {
    struct job_task {
        std::string host;
        double left, gigabytes;
        bool pure;
    };
    struct machine {
        std::string name;
        int free;
        double memory;
    };
    //! [veto]
    assign::straggler_fields const of_task{
        .runs_on = &job_task::host,
        .remaining = &job_task::left,
        .may_copy = &job_task::pure,
        .can_run = [](job_task const& t, machine const& m) { return t.gigabytes <= m.memory; }};
    //! [veto]
    assign::backup_node_fields const of_machine{.node = &machine::name, .free = &machine::free};
    std::vector<job_task> const tasks{{"a", 90, 8, true}, {"a", 90, 64, true}, {"a", 90, 8, false}};
    std::vector<machine> const machines{{"b", 4, 16}};
    assign::assigner a;
    auto const& plan =
        a.choose(tasks, of_task, machines, of_machine, [](job_task const&, machine const&) { return 20; });
    CHECK(nodes_of(plan) == targets{0, nowhere, nowhere});
    CHECK(plan.choices[1].reason == assign::backup_refusal::cannot_run);
    CHECK(plan.choices[2].reason == assign::backup_refusal::may_not_copy);
}

TEST_CASE("assigner: a task of which nothing runs is launched, whether it may have copies or not") {
    struct lost {
        std::vector<std::string> hosts{};
        double left = 100;
        bool pure = false;
    };
    constexpr assign::straggler_fields fields{
        .runs_on = &lost::hosts, .remaining = &lost::left, .may_copy = &lost::pure};
    auto const takes_ten = [](lost const&, host const&) { return 10; };
    assign::assigner a;
    CHECK(a.choose_for(lost{}, fields, hosts(1), host_fields, takes_ten).copy);
    CHECK(a.choose_for(lost{{"z"}}, fields, hosts(1), host_fields, takes_ten).reason ==
          assign::backup_refusal::may_not_copy);
}

TEST_CASE("assigner: each hard filter, in their order, each counted") {
    assign::assigner a(told{}, record::unlimited{});
    auto const refusal = [&](task const& t, host const& h) {
        assign::backup_choice const& c = a.choose_for(t, std::vector<host>{h}, predicted_time);
        CHECK(c.reason.has_value() != c.copy.has_value());
        CHECK(c.nodes.acceptable + c.nodes.total_refused() == 1);
        if (c.reason) CHECK(c.nodes[*c.reason] == 1);
        return c.reason;
    };
    // Everything is wrong; one thing after the other is put right.
    task t{.hosts = {"x", "h"}, .attempts = 0, .worth = {-1}};
    host h{.name = "h", .free = 0, .state = node_state::excluded};
    CHECK(refusal(t, h) == assign::backup_refusal::same_node);
    t.hosts = {"x"};
    CHECK(refusal(t, h) == assign::backup_refusal::excluded);
    h.state = node_state::on_probation;
    CHECK(refusal(t, h) == assign::backup_refusal::no_slot);
    h.free = -3;
    CHECK(refusal(t, h) == assign::backup_refusal::no_slot);
    h.free = 2;
    CHECK(refusal(t, h) == assign::backup_refusal::on_probation);
    t.attempts = 1;
    CHECK(refusal(t, h) == assign::backup_refusal::no_prediction);
    for (double const x : {666.9, 667.9, 668.9, std::nan(""), HUGE_VAL}) {
        t.worth = {x};
        CHECK(refusal(t, h) == assign::backup_refusal::no_prediction);
    }
    t.worth = {0.9};
    CHECK(refusal(t, h) == assign::backup_refusal::not_profitable);
    t.worth = {7.1};
    CHECK(refusal(t, h) == assign::backup_refusal::unlikely_to_win);
    t.worth = {7.9};
    CHECK(refusal(t, h) == std::nullopt);
}

TEST_CASE("assigner: nothing is predicted for nodes that are out of the question") {
    auto all = hosts(4);
    all[1].state = node_state::excluded;
    all[2].free = 0;
    std::vector<task> const tasks{{.hosts = {"a"}, .worth = {9.9, 9.9, 9.9, 9.9}}};
    int asked = 0;
    assign::assigner a(told{});
    a.choose(tasks, all, [&](task const& t, host const& h) {
        ++asked;
        CHECK(&h == &all[3]); // the user's own records
        CHECK(&t == &tasks[0]);
        return predicted_time(t, h);
    });
    CHECK(asked == 1);
}

TEST_CASE(
    "assigner: nowhere, with the reason of the node that came furthest, and what it would have brought") {
    assign::assigner a(told{});
    auto all = hosts(4);
    all[1].free = 0;
    task t{.hosts = {"a"}, .worth = {50.9, 50.9, 40.1, 0.9}};
    assign::backup_choice c = a.choose_for(t, all, predicted_time);
    CHECK_FALSE(c.copy);
    CHECK(c.reason == assign::backup_refusal::unlikely_to_win);
    REQUIRE(c.runner_up);
    CHECK(c.runner_up->node == 2);
    CHECK(c.runner_up->value.profit == 40);
    CHECK(c.runner_up->refusal == assign::backup_refusal::unlikely_to_win);
    t.worth = {50.9, 50.9, -1, 0.9};
    c = a.choose_for(t, all, predicted_time);
    CHECK(c.reason == assign::backup_refusal::not_profitable);
    CHECK(c.runner_up->node == 3);
    t.worth = {50.9, 50.9, -1, -1};
    c = a.choose_for(t, all, predicted_time);
    CHECK(c.reason == assign::backup_refusal::no_prediction);
    CHECK_FALSE(c.runner_up);
    // Its own node is the only one.
    c = a.choose_for(t, hosts(1), predicted_time);
    CHECK(c.reason == assign::backup_refusal::same_node);
    c = a.choose_for(t, hosts(0), predicted_time);
    CHECK(c.reason == assign::backup_refusal::no_nodes);
    CHECK(c.nodes == assign::node_counts{});
    // A node that would do comes before one that would not, whatever the profit.
    t.worth = {50.9, 50.9, 40.1, 3.9};
    c = a.choose_for(t, all, predicted_time);
    REQUIRE(c.copy);
    CHECK(c.copy->node == 3);
    CHECK(c.runner_up->node == 2);
    CHECK(c.runner_up->refusal == assign::backup_refusal::unlikely_to_win);
}

TEST_CASE("assigner: a straggler that cannot be judged is no straggler") {
    assign::assigner a(told{});
    task t{.hosts = {"a"}, .worth = {9.9, 9.9}};
    for (double const left : {-1.0, std::nan(""), HUGE_VAL}) {
        t.left = left;
        assign::backup_choice const& c = a.choose_for(t, hosts(2), predicted_time);
        CHECK(c.reason == assign::backup_refusal::no_straggler);
        CHECK_FALSE(c.runner_up);
        CHECK(c.nodes == assign::node_counts{});
    }
    struct lost {
        std::optional<std::string> where;
        double left;
    };
    constexpr assign::straggler_fields fields{.runs_on = &lost::where, .remaining = &lost::left};
    auto const ten = [](lost const&, host const&) { return 10.9; };
    CHECK(a.choose_for(lost{{}, 5}, fields, hosts(2), host_fields, ten).reason ==
          assign::backup_refusal::no_straggler);
    CHECK(a.choose_for(lost{"a", 5}, fields, hosts(2), host_fields, ten).copy->node == 1);
}

TEST_CASE("assigner: a node without a name could be any") {
    struct machine {
        std::optional<std::string> name;
        unsigned free;
    };
    constexpr assign::backup_node_fields fields{.node = &machine::name, .free = &machine::free};
    assign::assigner a(told{});
    task const t{.hosts = {"a"}};
    std::vector<machine> const machines{{{}, 3}, {"b", 1}};
    assign::backup_choice const& c =
        a.choose_for(t, task_fields, machines, fields, [](task const&, machine const&) { return 10.9; });
    CHECK(c.nodes[assign::backup_refusal::unknown_node] == 1);
    REQUIRE(c.copy);
    CHECK(c.copy->node == 1);
}

TEST_CASE("assigner: many stragglers, by each of the rules") {
    std::vector<task> const tasks{{.hosts = {"c"}, .worth = {8.5, 9.5, 99.9}},
                                  {.hosts = {"c"}, .worth = {1.5, 8.5, 99.9}}};
    auto const all = hosts(3);
    assign::assigner best(told{}, assign::optimal_assignment{});
    CHECK(nodes_of(best.choose(tasks, all, predicted_time)) == targets{0, 1});
    CHECK(best.plan().profit == 16);
    CHECK(best.plan().choices[0].runner_up->node == 1); // had it been alone
    CHECK(best.plan().choices[1].runner_up->node == 0);
    CHECK(best.plan().matching == "optimal");
    assign::assigner greedy(told{});
    CHECK(nodes_of(greedy.choose(tasks, all, predicted_time)) == targets{1, 0});
    CHECK(greedy.plan().profit == 10);
    CHECK(greedy.plan().matching == "greedy");
    assign::assigner in_turn(told{}, assign::assignment_in_turn{}, assign::assigner_options{});
    CHECK(nodes_of(in_turn.choose(tasks, all, predicted_time)) == targets{1, 0});
    std::vector<task> const reversed(tasks.rbegin(), tasks.rend());
    CHECK(nodes_of(in_turn.choose(reversed, all, predicted_time)) == targets{1, 0});
    CHECK(in_turn.plan().profit == 16);
    CHECK(in_turn.plan().matching == "in_turn");
}

TEST_CASE("assigner: a node takes as many copies as it has slots, who is left over is told so") {
    auto all = hosts(2);
    all[1].free = 2;
    std::vector<task> tasks(4, {.hosts = {"a"}, .worth = {0, 9.9}});
    tasks[2].worth[1] = 12.9;
    for_each_matching([&](auto const& rule) {
        assign::assigner a(told{}, rule);
        assign::backup_plan const& plan = a.choose(tasks, all, predicted_time);
        bool const by_turn = rule.name == "in_turn";
        CHECK(nodes_of(plan) ==
              (by_turn ? targets{1, 1, nowhere, nowhere} : targets{1, nowhere, 1, nowhere}));
        assign::backup_choice const& last = plan.choices[3];
        CHECK(last.reason == assign::backup_refusal::slots_taken);
        CHECK(last.runner_up->node == 1);
        CHECK(last.runner_up->value.profit == 9);
        CHECK_FALSE(last.runner_up->refusal);
        CHECK(plan.nodes.acceptable == 4);
        CHECK(plan.nodes[assign::backup_refusal::same_node] == 4);
    });
}

TEST_CASE("assigner: a task that runs several times is copied to none of those nodes") {
    assign::assigner a(told{}, assign::copies_per_task{5});
    task const t{.hosts = {"b", "d"}, .worth = {1.9, 9.9, 5.9, 9.9}};
    CHECK(a.choose_for(t, hosts(4), predicted_time).copy->node == 2);
    CHECK(a.plan().choices[0].nodes[assign::backup_refusal::same_node] == 2);
}

TEST_CASE("assigner: on probation a copy, never the only attempt, and nobody is killed for it") {
    assign::assigner a(told{}, assign::assigner_options{.kill = assign::kill_rule::when_certain});
    auto all = hosts(2);
    all[1].state = node_state::on_probation;
    task t{.hosts = {"a"}, .left = 1000, .worth = {0, 9.9}};
    CHECK(a.choose_for(t, all, predicted_time).copy->node == 1);
    CHECK_FALSE(a.plan().choices[0].copy->kill);
    t.attempts = 0;
    CHECK(a.choose_for(t, all, predicted_time).reason == assign::backup_refusal::on_probation);
    t.attempts = 1;
    all[1].state = node_state::healthy;
    CHECK(a.choose_for(t, all, predicted_time).copy->kill); // 9.9 at most, against 1000 at least
    t.left = 9.9;
    CHECK_FALSE(a.choose_for(t, all, predicted_time).copy->kill);
    t.left = 1000;
    assign::assigner late(told{},
                          assign::assigner_options{.kill = assign::kill_rule::when_certain, .launch = 991});
    CHECK_FALSE(late.choose_for(t, all, predicted_time).copy->kill);
    assign::assigner never(told{}, assign::assigner_options{});
    CHECK_FALSE(never.choose_for(t, all, predicted_time).copy->kill);
    t.attempts = 0; // nothing to kill
    t.hosts = {};
    CHECK_FALSE(a.choose_for(t, all, predicted_time).copy->kill);
}

TEST_CASE("assigner: launch and next-slowest time reach the profit policy, times from samples, too") {
    struct running {
        int host;
        stats::empirical left;
        std::optional<float> next;
    };
    constexpr assign::straggler_fields fields{
        .runs_on = &running::host, .remaining = &running::left, .next_slowest = &running::next};
    constexpr assign::backup_node_fields nodes{.node = [](int n) { return n; },
                                               .free = [](int) { return 1; }};
    assign::backup_case seen;
    assign::assigner a(spy{&seen}, assign::assigner_options{.launch = 2.5});
    running r{1, {}, 8.5f};
    r.left.assign(std::vector<double>{30, 10, 20});
    stats::empirical copy;
    copy.assign(std::vector<double>{3, 4});
    std::list<int> const two{1, 2};
    auto const samples = [&](running const&, int) { return copy.view(); };
    CHECK(a.choose_for(r, fields, two, nodes, samples).copy->node == 1);
    CHECK(*seen.remaining.mean() == 20);
    CHECK(*seen.copy.highest() == 4);
    CHECK(seen.launch == 2.5);
    CHECK(seen.next_slowest == 8.5);
    for (float const bad : {-1.0f, HUGE_VALF, std::nanf("")}) {
        r.next = bad;
        (void)a.choose_for(r, fields, two, nodes, samples);
        CHECK(seen.next_slowest == 0);
    }
    r.next.reset();
    (void)a.choose_for(r, fields, two, nodes, [&](running const&, int) { return copy; });
    CHECK(seen.next_slowest == 0);
    auto const none = [](running const&, int) { return outcome<double>(status::insufficient_evidence); };
    CHECK(a.choose_for(r, fields, two, nodes, none).reason == assign::backup_refusal::no_prediction);
}

TEST_CASE("assigner: the default limit is one copy per task") {
    assign::assigner a;
    static_assert(std::same_as<decltype(a), assign::assigner<>>); // as a member of a class has to be written
    task t{.hosts = {"a", "b"}, .left = 100, .worth = {0, 0, 20}};
    assign::backup_choice const& c = a.choose_for(t, hosts(3), predicted_time);
    CHECK(c.reason == assign::backup_refusal::over_limit);
    CHECK(c.refused_by == "copies_per_task");
    REQUIRE(c.runner_up);
    CHECK(c.runner_up->node == 2);
    CHECK(c.runner_up->value.gain == 80);
    CHECK(a.plan().limits == std::vector<assign::limit_refusals>{{"copies_per_task", 1}});
    t.hosts = {"a"};
    CHECK(a.choose_for(t, hosts(3), predicted_time).copy->node == 1);
}

TEST_CASE("assigner: of the attempts on nodes that are not healthy only one counts") {
    assign::assigner a(told{});
    auto const gets_copy = [&a](std::vector<std::string> where, std::vector<node_state> states,
                                std::optional<int> attempts = {}) {
        auto all = hosts(4);
        for (std::size_t i = 0; i < states.size(); ++i) all[i].state = states[i];
        task const t{.hosts = std::move(where), .attempts = attempts, .worth = {9.9, 9.9, 9.9, 9.9}};
        assign::backup_choice const& c = a.choose_for(t, all, predicted_time);
        if (!c.copy) CHECK(c.reason == assign::backup_refusal::over_limit);
        return c.copy.has_value();
    };
    constexpr auto fine = node_state::healthy, tried = node_state::on_probation,
                   avoided = node_state::excluded;
    CHECK(gets_copy({"a"}, {fine}));
    CHECK(gets_copy({"a"}, {avoided}));
    CHECK_FALSE(gets_copy({"a", "b"}, {fine, fine}));
    CHECK_FALSE(gets_copy({"a", "b"}, {avoided, fine})); // its copy is where it should be
    CHECK_FALSE(gets_copy({"a", "b"}, {fine, tried}));   // nothing is known against its first attempt
    CHECK(gets_copy({"a", "b"}, {avoided, tried}));
    CHECK(gets_copy({"a", "b"}, {tried, tried}));
    CHECK(gets_copy({"b", "a"}, {avoided, avoided}));
    CHECK(gets_copy({"a", "b", "c"}, {avoided, tried, tried}));
    CHECK_FALSE(gets_copy({"a", "b", "c"}, {avoided, tried, fine}));
    CHECK(gets_copy({"a", "x"}, {avoided, fine}, 1));        // what the fields say is believed
    CHECK_FALSE(gets_copy({"a", "b"}, {avoided, tried}, 3)); // one more than the nodes it is known to run on
    CHECK(gets_copy({"a", "b", "c"}, {avoided, tried, tried}, 2));
}

TEST_CASE("assigner: limits admit the best, refuse the rest, and say which") {
    std::vector<task> tasks;
    for (double const worth : {5.9, 9.9, 7.9, 8.9})
        tasks.push_back({.hosts = {"a"}, .worth = {0, worth, worth}});
    auto all = hosts(3);
    all[1].free = 5;
    for_each_matching([&](auto const& rule) {
        assign::assigner a(told{}, rule, assign::suspect_share_limit{}, assign::speculative_cap{0.1});
        cluster_load load{.running = 40, .slots = 30, .copies = 1};
        assign::backup_plan const& plan = a.choose(tasks, all, predicted_time, load);
        bool const by_turn = rule.name == "in_turn";
        CHECK(nodes_of(plan) ==
              (by_turn ? targets{1, 1, nowhere, nowhere} : targets{nowhere, 1, nowhere, 1}));
        assign::backup_choice const& refused = plan.choices[2];
        CHECK(refused.reason == assign::backup_refusal::over_limit);
        CHECK(refused.refused_by == "speculative_cap");
        CHECK(refused.runner_up->value.profit == 7);
        CHECK(plan.limits ==
              std::vector<assign::limit_refusals>{{"suspect_share_limit", 0}, {"speculative_cap", 2}});
        // A storm: nobody, whatever the other limits say.
        load.suspects = 13;
        (void)a.choose(tasks, all, predicted_time, load);
        CHECK(plan.copies == 0);
        CHECK(plan.limits ==
              std::vector<assign::limit_refusals>{{"suspect_share_limit", 4}, {"speculative_cap", 0}});
        CHECK(plan.choices[0].refused_by == "suspect_share_limit");
        CHECK(a.template limit<0>().storm());
        // Nobody has said how many tasks run.
        CHECK(a.choose(tasks, all, predicted_time).copies == 0);
    });
}

TEST_CASE("assigner: a token is taken for each copy that is launched, and for no other") {
    std::vector<task> const tasks(3, {.hosts = {"a"}, .worth = {0, 9.9}});
    auto all = hosts(2);
    all[1].free = 2;
    for_each_matching([&](auto const& rule) {
        assign::assigner a(told{}, rule, assign::retry_budget{{.per_time = 1, .burst = 3}});
        CHECK(a.choose(tasks, all, predicted_time, {.now = 10}).copies == 2);
        CHECK(a.plan().choices[2].reason == assign::backup_refusal::slots_taken);
        CHECK(a.choose(tasks, all, predicted_time, {.now = 10}).copies == 1); // one was left
        CHECK(a.plan().choices[2].reason == assign::backup_refusal::over_limit);
        CHECK(a.choose(tasks, all, predicted_time, {.now = 10}).copies == 0);
        CHECK(a.choose(tasks, all, predicted_time, {.now = 11}).copies == 1);
    });
}

TEST_CASE("assigner: without prices for what is over the limit nothing is predicted in vain") {
    std::vector<task> const tasks{{.hosts = {"a", "b"}, .worth = {0, 0, 9.9}},
                                  {.hosts = {"a"}, .worth = {0, 8.9, 7.9}}};
    assign::assigner a(told{}, assign::assigner_options{.price_over_budget = false},
                       assign::copies_per_task{});
    int asked = 0;
    assign::backup_plan const& plan = a.choose(tasks, hosts(3), [&](task const& t, host const& h) {
        ++asked;
        return predicted_time(t, h);
    });
    CHECK(asked == 2);
    CHECK(nodes_of(plan) == targets{nowhere, 1});
    CHECK(plan.choices[0].reason == assign::backup_refusal::over_limit);
    CHECK(plan.choices[0].refused_by == "copies_per_task");
    CHECK_FALSE(plan.choices[0].runner_up);
}

TEST_CASE("assigner: a limit is no reason where there would have been no copy anyway") {
    assign::assigner a(told{}, assign::suspect_share_limit{});
    task const t{.hosts = {"a"}, .worth = {0, 0.9}};
    CHECK(a.choose_for(t, hosts(2), predicted_time).reason == assign::backup_refusal::not_profitable);
    CHECK(a.plan().limits[0].refused == 0);
}

TEST_CASE("assigner: reserved slots are for copies, the others are not until no task waits") {
    auto all = hosts(3); // five slots each; two of the fifteen reserved with 0.85
    for (host& h : all) {
        h.slots = 5;
        h.free = 3;
    }
    std::vector<task> const tasks(7, {.hosts = {"x"}, .worth = {3.9, 2.9, 1.9}});
    assign::assigner a(told{}, assign::assigner_options{.slots = assign::reservation(0.85)});
    CHECK(nodes_of(a.choose(tasks, all, predicted_time, {.waiting = 1})) ==
          targets{1, 2, nowhere, nowhere, nowhere, nowhere, nowhere});
    CHECK(a.plan().nodes[assign::backup_refusal::no_slot] == 7);
    all[1].copies = 1;
    CHECK(a.choose(tasks, all, predicted_time, {.waiting = 1}).copies == 1);
    CHECK(a.choose(tasks, all, predicted_time, {}).copies == 7);
    struct bare {
        std::string name;
        int free;
    };
    constexpr assign::backup_node_fields fields{.node = &bare::name, .free = &bare::free};
    auto const ten = [](task const&, bare const&) { return 10.9; };
    std::vector<bare> const bares{{"a", 1}};
    contract_trap const trap;
    CHECK_THROWS_AS(a.choose(tasks, task_fields, bares, fields, ten), broken_contract);
}

TEST_CASE("assigner: slots cost what the load makes of them") {
    struct late {
        std::string node;
        double remaining;
    };
    std::vector<late> const tasks{{"a", 100}};
    constexpr assign::straggler_fields fields{.runs_on = &late::node, .remaining = &late::remaining};
    constexpr assign::backup_node_fields targets{.node = &host::name, .free = &host::free};
    auto const copy_takes = [](late const&, host const&) { return 20.0; };
    auto const all = hosts(3);
    cluster_load load{.now = 1000, .slots = 12, .busy = 4};
    auto const copies = [&](assign::assigner<>& a) {
        return a.choose(tasks, fields, all, targets, copy_takes, load).copies;
    };
    assign::assigner<> a;
    CHECK(copies(a) == 1);
    CHECK(a.plan().slot_price == 0);
    // Tasks wait, and there are slots for all of them.
    load.waiting = 7;
    CHECK(copies(a) == 1);
    CHECK(a.plan().slot_price == 0);
    // With one more, a copy takes 20 from them and gives 80 back: worth it. One that gives nothing is not.
    load.waiting = 8;
    CHECK(copies(a) == 1);
    CHECK(a.plan().slot_price == 1);
    auto const copy_takes_most = [](late const&, host const&) { return 60.0; };
    CHECK(a.choose(tasks, fields, all, targets, copy_takes_most, load).copies == 0);
    CHECK(a.plan().choices[0].reason == assign::backup_refusal::not_profitable);
    load.waiting = 0;
    CHECK(a.choose(tasks, fields, all, targets, copy_takes_most, load).copies == 1);
    // Unknown slots say nothing.
    load = {.waiting = 3};
    CHECK(a.choose(tasks, fields, all, targets, copy_takes_most, load).copies == 1);
    CHECK(a.plan().slot_price == 0);
}

TEST_CASE("assigner: nothing to decide") {
    assign::assigner a(told{});
    CHECK(a.choose(std::vector<task>(), hosts(3), predicted_time).choices.empty());
    assign::backup_plan const& plan = a.choose(std::vector<task>(3), std::vector<host>(), predicted_time);
    CHECK(plan.choices.size() == 3);
    CHECK(plan.copies == 0);
    auto none = hosts(4);
    for (host& h : none) h.free = 0;
    CHECK(a.choose(std::vector<task>(3), none, predicted_time).nodes[assign::backup_refusal::no_slot] == 12);
    CHECK(plan.choices[0].reason == assign::backup_refusal::no_slot);
}

TEST_CASE("assigner: what is thrown by the caller leaves limits as they were, and no plan") {
    std::vector<task> const tasks(2, {.hosts = {"a"}, .worth = {0, 9.9, 8.9}});
    assign::assigner a(told{}, assign::retry_budget{{.burst = 2}});
    int calls = 0;
    auto const gives_up = [&](task const& t, host const& h) {
        if (++calls == 4) throw calls;
        return predicted_time(t, h);
    };
    CHECK_THROWS_AS(a.choose(tasks, hosts(3), gives_up), int);
    CHECK(a.plan().choices.empty());
    CHECK(a.choose(tasks, hosts(3), predicted_time).copies == 2);
}

TEST_CASE("assigner: the second plan of a size allocates nothing") {
    std::mt19937_64 engine(3);
    auto all = hosts(20);
    std::vector<task> tasks(30, {.hosts = {"a"}});
    for (task& t : tasks)
        for (std::size_t i = 0; i < all.size(); ++i)
            t.worth.push_back(static_cast<double>(engine() % 90) + 0.5);
    for_each_matching([&](auto const& rule) {
        assign::assigner a(told{}, rule, assign::speculative_cap{0.1}, assign::suspect_share_limit{1});
        cluster_load const load{.running = 100, .slots = 80};
        (void)a.choose(tasks, all, predicted_time, load);
        (void)a.choose(tasks, all, predicted_time, load); // two vectors of choices take turns
        CHECK(allocations_during([&] { (void)a.choose(tasks, all, predicted_time, load); }) == 0);
        CHECK(a.plan().copies == 8);
    });
}

TEST_CASE("assigner: options that make no sense break the contract") {
    contract_trap const trap;
    for (double const launch : {-1.0, std::nan(""), HUGE_VAL}) {
        CHECK_THROWS_AS(assign::assigner(told{}, assign::assigner_options{.launch = launch}),
                        broken_contract);
    }
}
