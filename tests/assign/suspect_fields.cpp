// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/assigner.hpp>
#include <straggle/assign/suspect_fields.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace straggle;

namespace {

struct job_task {
    std::string host;
    double began = 0;
    int attempts = 1;
    bool pure = true;
};
struct machine {
    std::string name;
    int idle = 1;
};
constexpr running_fields task_fields{.node = &job_task::host,
                                     .start = &job_task::began,
                                     .may_copy = &job_task::pure,
                                     .copies = &job_task::attempts};
constexpr assign::backup_node_fields machine_fields{.node = &machine::name, .free = &machine::idle};
constexpr running_fields only_where{.node = &job_task::host, .start = &job_task::began};

using suspects = std::vector<suspect<job_task const*>>;
constexpr auto ten = [](auto const&, machine const&) { return 10.0; };

} // namespace

template <>
struct straggle::task_traits<job_task> {
    static constexpr auto fields = task_fields;
};
template <>
struct straggle::task_traits<machine> {
    static constexpr auto fields = machine_fields;
};

TEST_CASE("suspect_fields: what the record says of a suspect's task is what the assigner reads") {
    std::vector<job_task> const tasks{{"a"}, {"b", 0, 1, false}, {"c", 0, 3}, {"d"}};
    std::vector<machine> const machines{{"a", 4}, {"e", 4}};
    suspects const late{{&tasks[0], 100.0, {}},
                        {&tasks[1], 100.0, {}},
                        {&tasks[2], 100.0, {}},
                        {&tasks[3], status::insufficient_evidence, {}}};
    assign::assigner assigner;
    auto const reasons = [&](assign::backup_plan const& plan) {
        std::vector<std::string> told;
        for (assign::backup_choice const& c : plan.choices)
            told.push_back(c.copy ? machines[c.copy->node].name : std::string(to_string(*c.reason)));
        return told;
    };
    std::vector<std::string> const expected{"e", "may_not_copy", "over_limit", "no_straggler"};
    CHECK(reasons(assigner.choose(late, task_fields, machines, machine_fields, ten)) == expected);
    CHECK(reasons(assigner.choose(late, assign::suspect_fields(task_fields), machines, machine_fields,
                                  ten)) == expected);
    // Named once, with the records.
    CHECK(reasons(assigner.choose(late, machines, ten)) == expected);
    // Without copies and may_copy one attempt runs, and any task may be copied.
    CHECK(reasons(assigner.choose(late, only_where, machines, machine_fields, ten)) ==
          std::vector<std::string>{"e", "a", "a", "no_straggler"});
}

TEST_CASE("suspect_fields: the predictor is given the suspect, with the user's own record") {
    std::vector<job_task> const tasks{{"a"}, {"b"}};
    std::vector<machine> const machines{{"e", 4}};
    suspects const late{{&tasks[1], 100.0, {}}, {&tasks[0], 100.0, {}}};
    std::string asked;
    assign::assigner assigner;
    assigner.choose(late, machines, [&](auto const& s, machine const& m) {
        asked += s.row->host + m.name + ' ';
        return 10.0;
    });
    CHECK(asked == "be ae ");
}
