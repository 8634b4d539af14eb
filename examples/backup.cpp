// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Some tasks are late. Which of them get a copy, on which host, and why do the others not?
/// docs/reference/assigning.md shows the marked parts.

#include <straggle/assign/assigner.hpp>

#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <vector>

//! [records]
// Records as a scheduler has them; the library reads them in place.
struct task {
    std::string name, host;
    double gigabytes;
    double seconds_left; // estimated from its progress
};
struct host {
    std::string name;
    int free_slots;
    bool avoided;
};

// Which member is what, named once.
template <>
struct straggle::task_traits<task> {
    static constexpr auto fields =
        assign::straggler_fields{.runs_on = &task::host, .remaining = &task::seconds_left};
};
template <>
struct straggle::task_traits<host> {
    static constexpr auto fields = assign::backup_node_fields{
        .node = &host::name, .free = &host::free_slots, .state = [](host const& h) {
            return h.avoided ? straggle::node_state::excluded : straggle::node_state::healthy;
        }};
};
//! [records]

int main() {
    std::vector<task> const stragglers{{"map-17", "host-1", 4, 400},
                                       {"map-23", "host-2", 4, 300},
                                       {"map-31", "host-1", 8, 86},
                                       {"map-40", "host-4", 2, 120}};
    std::vector<host> const hosts{{"host-1", 2, false},
                                  {"host-2", 1, false},
                                  {"host-3", 1, false},
                                  {"host-4", 4, true},
                                  {"host-5", 0, false}};
    std::map<std::string, std::vector<double>> const seconds_per_gigabyte{{"host-1", {30, 80, 95, 60, 110}},
                                                                          {"host-2", {22, 25, 24, 38, 26}},
                                                                          {"host-3", {20, 21, 19, 22, 21}}};

    //! [choose]
    straggle::stats::empirical times; // of the pair that is asked about
    auto const predict = [&](task const& t, host const& h) {
        std::vector<double> seconds = seconds_per_gigabyte.at(h.name);
        for (double& s : seconds) s *= t.gigabytes;
        times.assign(seconds);
        return times.view();
    };

    straggle::assign::assigner assigner(straggle::assign::expected_gain{.slot_price = 0.05},
                                        straggle::assign::copies_per_task{1},
                                        straggle::assign::suspect_share_limit{});
    auto const& plan = assigner.choose(stragglers, hosts, predict, {.running = 60});

    for (straggle::assign::backup_choice const& choice : plan.choices) {
        std::cout << stragglers[choice.straggler].name << ": ";
        if (choice.copy)
            std::cout << "copy to " << hosts[choice.copy->node].name << ", gains "
                      << std::round(choice.copy->value.gain) << " s and costs "
                      << std::round(choice.copy->value.cost) << " s of the job, wins in "
                      << std::round(100 * choice.copy->value.win_probability) << " % of cases";
        else
            std::cout << "no copy: " << to_string(*choice.reason);
        if (choice.runner_up)
            std::cout << "; next best " << hosts[choice.runner_up->node].name << " with a profit of "
                      << std::round(choice.runner_up->value.profit) << " s";
        std::cout << '\n';
    }
    //! [choose]
    std::cout << plan.copies << " copies, expected profit " << std::round(plan.profit)
              << " s, nodes left out: " << plan.nodes[straggle::assign::backup_refusal::excluded]
              << " times avoided, " << plan.nodes[straggle::assign::backup_refusal::no_slot]
              << " times full\n";
}
