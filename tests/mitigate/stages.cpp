// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/assigner.hpp>
#include <straggle/detect/remaining_time.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/speculator.hpp>
#include <straggle/mitigate/stages.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

using namespace straggle;

namespace {

// Suspects what is older than a fixed time; keeps what it was shown.
struct older_than {
    static constexpr std::string_view name = "older_than";
    double time;
    std::size_t* finished;
    std::size_t* copies;

    detect::detection_note detect(detect::job_view const& job, detect::detector_scratch&,
                                  std::vector<detect::finding>& out) const {
        *finished = job.finished.size();
        for (std::uint32_t i = 0; i < job.running.size(); ++i) {
            *copies += job.running[i].copies - 1;
            if (job.running[i].elapsed > time) out.push_back({i, job.running[i].elapsed, time, time / 2});
        }
        return detect::detection_note::none;
    }
};
struct always_seven {
    static constexpr std::string_view name = "always_seven";
    outcome<assign::backup_value> value(assign::backup_case const&) const {
        return assign::backup_value{.profit = 7, .gain = 8, .cost = 1, .win_probability = 0.5};
    }
    bool accepts(assign::backup_value const&) const { return true; }
};

struct bench {
    std::size_t finished = 0, copies = 0;
    mitigate::speculator<detect::straggler_scan<older_than>,
                         assign::assigner<always_seven, assign::greedy_assignment, assign::copies_per_task,
                                          assign::speculative_cap>>
        planner;
    std::vector<mitigate::running_row> running;
    std::vector<mitigate::place_row> places;

    explicit bench(double share)
        : planner(
              {}, detect::straggler_scan(older_than{50, &finished, &copies}),
              assign::assigner(always_seven{}, assign::copies_per_task{1}, assign::speculative_cap{share})) {
        for (std::uint32_t n = 0; n < 10; ++n)
            places.push_back({.row = 100 + n, .node = n, .slots = 4, .free = 2});
        for (std::uint32_t i = 0; i < 20; ++i)
            planner.observe_ended({.job = 1, .task = 100 + i, .node = i % 10, .end = 90 + 1.0 * i});
        for (std::uint32_t i = 0; i < 3; ++i)
            running.push_back({.row = i, .job = 1, .task = i, .node = i, .start = 20.0 * i});
    }
    void plan(double now) { planner.plan(now, running, places, {.now = now, .slots = 40}); }
};

} // namespace

TEST_CASE("stages: the defaults need no word") {
    static_assert(std::same_as<decltype(mitigate::stages{}), mitigate::stages<>>);
    static_assert(std::same_as<mitigate::speculator<>,
                               mitigate::speculator<mitigate::by_options, mitigate::by_options>>);
    mitigate::speculator<> const planner({.straggler_threshold = 3});
    CHECK(planner.tasks().detector().threshold == 3);
    CHECK(planner.tasks().name() == "tail_of_siblings");
}

TEST_CASE("stages: a detector of one's own says which tasks are late, and why") {
    bench b(1);
    b.plan(80); // ages 80, 60, 40, of tasks that usually take 100
    CHECK(b.finished == 20);
    REQUIRE(b.planner.suspects().size() == 2);
    for (auto const& s : b.planner.suspects()) {
        CHECK(s.why.rule == "older_than");
        CHECK(s.why.threshold == 50);
        CHECK(s.why.usual == 25);
        CHECK(s.left.middle > 0);
    }
    b.plan(30);
    CHECK(b.planner.suspects().empty());
    CHECK(b.planner.copies().empty());
}

TEST_CASE("stages: profit and limits of one's own decide on copies, and refusals are counted") {
    bench b(1);
    b.plan(80);
    REQUIRE(b.planner.copies().size() == 2);
    for (auto const& c : b.planner.copies()) {
        CHECK(c.gain == 8);
        CHECK(c.cost == 1);
        CHECK(c.win_probability == 0.5);
        CHECK(c.node_row != 100 + c.task_row); // not where it runs
        CHECK(c.there.middle > 0);
    }
    bench few(0.025); // of forty slots one
    few.plan(80);
    CHECK(few.planner.copies().size() == 1);
    CHECK(few.planner.notes().over_limit == 1);
    // A task that has its copy gets no other.
    bench raced(1);
    raced.plan(80);
    raced.running.push_back(raced.running[0]);
    raced.running.back().is_copy = true;
    raced.running.back().node = 9;
    raced.running[0].attempts = raced.running.back().attempts = 2;
    raced.plan(81);
    CHECK(raced.copies == 1);
    CHECK(raced.planner.copies().size() == 1);
}

TEST_CASE("stages: parts of one's own stay when what was learned is read") {
    bench b(1);
    byte_writer out;
    b.planner.write(out);
    auto const bytes = std::move(out).seal(frame_kind("test"), 1);
    auto const frame = open_frame(bytes, frame_kind("test"), 1);
    REQUIRE(frame);
    byte_reader in = frame->payload;
    REQUIRE(b.planner.read(in) == status::ok);
    CHECK(b.planner.tasks().detector().time == 50);
    CHECK(b.planner.copies_stage().profit().name == "always_seven");
}

namespace {

// The times of each task by the row of its record.
struct by_table {
    double const* left;
    outcome<double> remaining(detect::running_task const& t, detect::job_view const&) const {
        if (left[t.row] < 0) return status::insufficient_evidence;
        return left[t.row];
    }
    outcome<double> replacement(detect::running_task const&, detect::job_view const&) const { return 30.0; }
};

} // namespace

TEST_CASE("stages: a predictor of one's own gives all times, and needs no sibling that ended") {
    std::size_t finished = 0, copies = 0;
    double const left[]{500, 400, -1};
    mitigate::speculator<detect::straggler_scan<older_than, by_table>,
                         assign::assigner<always_seven, assign::greedy_assignment, assign::copies_per_task>>
        planner({}, detect::straggler_scan(older_than{50, &finished, &copies}, by_table{left}),
                assign::assigner(always_seven{}, assign::copies_per_task{1}));
    std::vector<mitigate::running_row> running;
    std::vector<mitigate::place_row> places;
    for (std::uint32_t n = 0; n < 4; ++n) places.push_back({.row = n, .node = n, .slots = 4, .free = 2});
    for (std::uint32_t i = 0; i < 3; ++i)
        running.push_back({.row = 10 + i, .job = 1, .task = i, .node = i, .start = 0, .record = 2 - i});
    planner.plan(60, running, places, {.now = 60, .slots = 16});
    // The first task is record 2, whose time nobody knows.
    REQUIRE(planner.suspects().size() == 2);
    CHECK(planner.suspects()[0].row == 12);
    CHECK(planner.suspects()[0].left.middle == 500);
    CHECK(planner.suspects()[0].why.rule == "older_than");
    CHECK(planner.suspects()[1].left.high == 400);
    REQUIRE(planner.copies().size() == 2);
    for (auto const& c : planner.copies()) CHECK(c.there.middle == 30);
}

namespace {

struct attempt {
    int job, task, node;
    double start, end = 0;
};
struct host {
    int id;
};
// Keeps out one node, and what it was given.
struct one_node {
    std::uint32_t which;
    std::size_t seen = 0;
    blacklist::node_verdict out{};
    bool observe(ended_attempt const&, double) { return ++seen > 0; }
    void decide(double, std::span<running_attempt const>, std::span<blacklist::node_row const> rows,
                cluster_load const&, bool) {
        out = {.node = rows[which].node, .state = node_state::excluded, .why = {.rule = "one_node"}};
    }
    std::span<blacklist::node_verdict const> verdicts() const { return {&out, 1}; }
};

} // namespace

TEST_CASE("stages: a weighing of nodes needs three functions, in a mitigator that is stored as well") {
    constexpr attempt_fields ended{.job = &attempt::job,
                                   .task = &attempt::task,
                                   .node = &attempt::node,
                                   .start = &attempt::start,
                                   .end = &attempt::end};
    constexpr running_fields running{
        .job = &attempt::job, .task = &attempt::task, .node = &attempt::node, .start = &attempt::start};
    mitigator m{ended, running, node_fields{.node = &host::id}, mitigator_options{},
                mitigate::stages{.nodes = one_node{2}}};
    std::vector<host> const hosts{{0}, {1}, {2}, {3}};
    for (int i = 0; i < 40; ++i) m.observe({i / 8, i, i % 4, 10.0 * i, 10.0 * i + 20}, 10.0 * i + 20);
    std::vector<attempt> const runs{{9, 0, 0, 390}};
    auto const& plan = m.decide(430.0, runs, hosts);
    CHECK(plan.nodes()[2].state == node_state::excluded);
    CHECK(plan.nodes()[2].why.rule == "one_node");
    CHECK(m.node_part().seen == 40);
    for (auto const& place : m.rank_places(9, hosts)) CHECK(place.row != 2);
    mitigator twin{ended, running, node_fields{.node = &host::id}, mitigator_options{},
                   mitigate::stages{.nodes = one_node{2}}};
    REQUIRE(twin.restore(m.serialize()) == status::ok);
    CHECK(twin.decide(440.0, runs, hosts).nodes()[2].state == node_state::excluded);
}

namespace {

struct sized_attempt {
    int job, task, node;
    double start, end = 0;
    int job_tasks = 0;
    double progress = 0;
    bool is_copy = false;
};
struct here {
    int id;
    bool is_there = true;
};
// Names every task; keeps what it was shown last.
struct shown {
    static constexpr std::string_view name = "shown";
    struct view {
        std::uint64_t tasks = 0;
        std::vector<double> finished{};
        std::vector<std::uint32_t> rows{};
    };
    view* last;

    detect::detection_note detect(detect::job_view const& job, detect::detector_scratch&,
                                  std::vector<detect::finding>& out) const {
        *last = {job.tasks, {job.finished.begin(), job.finished.end()}, {}};
        for (std::uint32_t i = 0; i < job.running.size(); ++i) {
            last->rows.push_back(job.running[i].row);
            out.push_back({i, 2, 1, 1});
        }
        return detect::detection_note::none;
    }
};
struct same_time {
    outcome<double> remaining(detect::running_task const&, detect::job_view const&) const { return 100.0; }
    outcome<double> replacement(detect::running_task const&, detect::job_view const&) const { return 30.0; }
};
struct weighs_as_told {
    std::vector<blacklist::node_verdict> told{};

    bool observe(ended_attempt const&, double) { return true; }
    void decide(double, std::span<running_attempt const>, std::span<blacklist::node_row const>,
                cluster_load const&, bool) {}
    std::span<blacklist::node_verdict const> verdicts() const { return told; }
};

} // namespace

TEST_CASE("stages: a rule of an engine sees all that the engine's own sees") {
    shown::view last;
    auto m = mitigator_of<sized_attempt, sized_attempt, here>(
        attempt_fields{.job = &sized_attempt::job,
                       .task = &sized_attempt::task,
                       .node = &sized_attempt::node,
                       .start = &sized_attempt::start,
                       .end = &sized_attempt::end,
                       .is_copy = &sized_attempt::is_copy},
        running_fields{.job = &sized_attempt::job,
                       .task = &sized_attempt::task,
                       .node = &sized_attempt::node,
                       .start = &sized_attempt::start,
                       .progress = &sized_attempt::progress,
                       .is_copy = &sized_attempt::is_copy,
                       .job_tasks = &sized_attempt::job_tasks},
        node_fields{.node = &here::id, .condition = &here::is_there}, mitigator_options{},
        mitigate::stages{.nodes = weighs_as_told{},
                         .tasks = detect::straggler_scan{shown{&last}, same_time{}},
                         .copies = assign::assigner{always_seven{}, assign::copies_per_task{1}}});
    m.observe({.job = 1, .task = 0, .node = 0, .start = 0, .end = 50}, 60.0);
    m.observe({.job = 1, .task = 1, .node = 1, .start = 20, .end = 60, .is_copy = true}, 60.0);
    // A task with a copy that is ahead of it, tasks in no order, and one of which only a copy runs on.
    std::vector<sized_attempt> const runs{
        {.job = 1, .task = 7, .node = 0, .start = 0, .job_tasks = 20, .progress = 0.2},
        {.job = 1, .task = 7, .node = 1, .start = 30, .job_tasks = 20, .progress = 0.6, .is_copy = true},
        {.job = 1, .task = 5, .node = 1, .start = 10, .job_tasks = 20, .progress = 0.5},
        {.job = 1, .task = 9, .node = 0, .start = 10, .job_tasks = 20, .progress = 0.5, .is_copy = true},
        {.job = 1, .task = 2, .node = 1, .start = 10, .job_tasks = 20, .progress = 0.5}};
    std::vector<here> const nodes{{0}, {1}, {2, false}, {3}};
    auto const& plan = m.decide(70.0, runs, nodes);
    CHECK(last.tasks == 20);
    CHECK(last.finished == std::vector<double>{40, 50}); // the time of a copy counts
    CHECK(last.rows == std::vector<std::uint32_t>{1, 2, 3, 4});
    REQUIRE(plan.copies().size() == 1); // the nodes have one slot: only the last is free
    CHECK(plan.copies()[0].row == 2);
    CHECK(plan.copies()[0].node_row == 3); // not where nobody is, though the weighing says nothing of it
    CHECK(plan.nodes()[2].state == node_state::away);
    std::vector<sized_attempt> const last_copy(runs.begin() + 3, runs.begin() + 4);
    CHECK(m.decide(71.0, last_copy, nodes).copies().size() == 1);
}

TEST_CASE("stages: what the operator says of a node holds, whatever weighs the nodes") {
    struct host {
        int id;
        record::condition word;
    };
    weighs_as_told as;
    for (std::uint32_t node = 0; node < 3; ++node)
        as.told.push_back({.node = node, .state = node_state::last_resort});
    auto m = mitigator_of<sized_attempt, sized_attempt, host>(
        attempt_fields{.job = &sized_attempt::job,
                       .task = &sized_attempt::task,
                       .node = &sized_attempt::node,
                       .start = &sized_attempt::start,
                       .end = &sized_attempt::end},
        running_fields{.job = &sized_attempt::job,
                       .task = &sized_attempt::task,
                       .node = &sized_attempt::node,
                       .start = &sized_attempt::start},
        node_fields{.node = &host::id, .condition = &host::word}, mitigator_options{},
        mitigate::stages{.nodes = std::move(as)});
    using enum record::condition;
    std::vector<host> const nodes{{0, present}, {1, away}, {2, denied}};
    auto const& plan = m.decide(70.0, std::vector<sized_attempt>{}, nodes);
    CHECK(plan.nodes()[0].state == node_state::last_resort);
    CHECK(plan.nodes()[1].state == node_state::away);
    CHECK(plan.nodes()[2].state == node_state::excluded);
}
