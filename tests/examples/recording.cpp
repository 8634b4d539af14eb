// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../../examples/programs/straggle-replay/recording.hpp"

#include "../support/allocations.hpp"
#include "../support/seed.hpp"
#include "histories.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <limits>
#include <list>
#include <set>
#include <sstream>

using namespace straggle;
using namespace straggle_test;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// Everything may be unknown.
struct loose_attempt {
    std::optional<std::string> job, task, node;
    std::optional<int> number;
    std::optional<double> start, end;
};
struct loose_report {
    std::optional<std::string> job, task;
    std::optional<int> number;
    std::optional<double> time, progress;
};
constexpr replaying::recorded_fields loose_members{.job = &loose_attempt::job,
                                                   .task = &loose_attempt::task,
                                                   .node = &loose_attempt::node,
                                                   .start = &loose_attempt::start,
                                                   .end = &loose_attempt::end,
                                                   .attempt = &loose_attempt::number};
constexpr replaying::reading_fields loose_reports{.job = &loose_report::job,
                                                  .task = &loose_report::task,
                                                  .time = &loose_report::time,
                                                  .progress = &loose_report::progress,
                                                  .attempt = &loose_report::number};

struct bare {
    int job, task, node;
    long start, end;
};
constexpr replaying::recorded_fields bare_members{
    .job = &bare::job, .task = &bare::task, .node = &bare::node, .start = &bare::start, .end = &bare::end};

struct near_miss {
    int job, task, node;
    long start;
    double end;
    bool progress;
};
constexpr replaying::recorded_fields two_clocks{.job = &near_miss::job,
                                                .task = &near_miss::task,
                                                .node = &near_miss::node,
                                                .start = &near_miss::start,
                                                .end = &near_miss::end};
constexpr replaying::recorded_fields no_task{
    .job = &bare::job, .node = &bare::node, .start = &bare::start, .end = &bare::end};
constexpr replaying::reading_fields flag_for_progress{.job = &near_miss::job,
                                                      .task = &near_miss::task,
                                                      .time = &near_miss::start,
                                                      .progress = &near_miss::progress};

} // namespace

static_assert(replaying::recorded_fields_for<decltype(recorded_members), recorded>);
static_assert(replaying::recorded_fields_for<decltype(loose_members), loose_attempt>);
static_assert(replaying::recorded_fields_for<decltype(bare_members), bare>);
static_assert(!replaying::recorded_fields_for<decltype(two_clocks), near_miss>);
static_assert(!replaying::recorded_fields_for<decltype(no_task), bare>);
static_assert(replaying::reading_fields_for<decltype(report_members), progress_report>);
static_assert(!replaying::reading_fields_for<decltype(flag_for_progress), near_miss>);

TEST_CASE("recording: attempts that cannot be are rejected and counted") {
    using fault = replaying::recording_fault;
    double const far = std::numeric_limits<double>::max() / 1.5;
    std::list<loose_attempt> const attempts{
        {"j", "t", "n", 0, 1.0, 2.0},         {{}, "t", "n", 0, 1.0, 2.0},
        {"j", {}, "n", 0, 1.0, 2.0},          {"j", "t", {}, 0, 1.0, 2.0},
        {"j", "t", "n", {}, 1.0, 2.0},        {"j", "u", "n", 0, {}, 2.0},
        {"j", "u", "n", 0, 1.0, {}},          {"j", "u", "n", 0, no_number, 2.0},
        {"j", "u", "n", 0, 1.0, inf},         {"j", "u", "n", 0, -inf, 1.0},
        {"j", "u", "n", 0, 1.0, far},         {"j", "u", "n", 0, 2.0, 1.0},
        {"j", "t", "other", 0, 5.0, 6.0},     {"j", "t", "n", 1, 3.0, 3.0},
        {"other", "t", "n", 0, -1e299, 1e299}};
    replaying::recording const history(attempts, loose_members);
    replaying::recording_counts const& c = history.attempts();
    CHECK(c.seen == attempts.size());
    CHECK(c.used == 3);
    CHECK(c.used + c.total_rejected() == c.seen);
    CHECK(c[fault::missing_name] == 4);
    CHECK(c[fault::missing_time] == 2);
    CHECK(c[fault::not_finite] == 3);
    CHECK(c[fault::out_of_range] == 1);
    CHECK(c[fault::end_before_start] == 1);
    CHECK(c[fault::duplicate] == 1);
    CHECK(history.jobs() == 2);
    CHECK(history.job(1) == "other");
    CHECK(history.tasks() == 2);
    CHECK(history.nodes() == 1); // not that of the duplicate
    CHECK(history.job_of(0) == 0);
    CHECK(history.job_of(1) == 1);
    CHECK(to_string(fault::missing_name) == "missing_name");
    CHECK(to_string(fault::duplicate) == "duplicate");
}

TEST_CASE("recording: readings that cannot be are rejected and counted") {
    using fault = replaying::reading_fault;
    std::vector<loose_attempt> const attempts{{"j", "t", "n", 0, 10.0, 20.0},
                                              {"j", "t", "n", 1, 15.0, 30.0},
                                              {"j", "u", "n", 0, 5.0, 1.0}, // rejected
                                              {"k", "v", "n", 0, 0.0, 1.0}};
    std::vector<loose_report> const readings{
        {"j", "t", 0, 10.0, 0.0},  // at the start
        {"j", "t", 0, 20.0, 1.0},  // at the end
        {"j", "t", 1, 16.0, -0.0}, // of the copy
        {{}, "t", 0, 12.0, 0.5},       {"j", {}, 0, 12.0, 0.5},   {"j", "t", {}, 12.0, 0.5},
        {"j", "t", 0, {}, 0.5},        {"j", "t", 0, 12.0, {}},   {"j", "t", 0, 12.0, no_number},
        {"j", "t", 0, 12.0, 1.01},     {"j", "t", 0, 12.0, -0.1}, {"j", "t", 0, 12.0, inf},
        {"j", "t", 0, no_number, 0.5}, {"j", "t", 0, -inf, 0.5},  {"x", "t", 0, 12.0, 0.5},
        {"j", "x", 0, 12.0, 0.5},      {"j", "t", 7, 12.0, 0.5},  {"j", "u", 0, 3.0, 0.5},
        {"j", "v", 0, 0.5, 0.5}, // a task of another job
        {"j", "t", 0, 9.9, 0.5},       {"j", "t", 0, 20.1, 0.5},  {"j", "t", 0, 19.9, 0.5},
        {"j", "t", 0, 20.0, 0.9}}; // the same time again: the later one holds
    replaying::recording const history(attempts, loose_members, readings, loose_reports);
    replaying::reading_fault_counts const& c = history.readings();
    CHECK(c.seen == readings.size());
    CHECK(c.used == 4);
    CHECK(c.used + c.total_rejected() == c.seen);
    CHECK(c[fault::missing_field] == 5);
    CHECK(c[fault::bad_progress] == 4);
    CHECK(c[fault::bad_time] == 2);
    CHECK(c[fault::unknown_task] == 5);
    CHECK(c[fault::before_start] == 1);
    CHECK(c[fault::after_end] == 1);
    CHECK(c[fault::out_of_order] == 1);
    CHECK(to_string(fault::missing_field) == "missing_field");
    CHECK(to_string(fault::out_of_order) == "out_of_order");
}

TEST_CASE("recording: whole numbers near the end of their range") {
    struct wide {
        int job, task, node;
        std::int64_t start, end;
    };
    constexpr replaying::recorded_fields members{.job = &wide::job,
                                                 .task = &wide::task,
                                                 .node = &wide::node,
                                                 .start = &wide::start,
                                                 .end = &wide::end};
    std::int64_t const most = std::numeric_limits<std::int64_t>::max();
    std::vector<wide> const attempts{{0, 0, 0, -most / 2, most / 2},
                                     {0, 1, 0, -most - 1, most},
                                     {0, 2, 0, 0, most / 2 + 1},
                                     {0, 3, 0, -most / 2 - 1, 0}};
    replaying::recording const history(attempts, members);
    CHECK(history.attempts().used == 1);
    CHECK(history.attempts()[replaying::recording_fault::out_of_range] == 3);
}

TEST_CASE("recording: times of std::chrono") {
    using clock = std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<double>>;
    struct timed {
        char const* job;
        int task;
        std::string_view node;
        clock start, end;
    };
    constexpr replaying::recorded_fields members{.job = &timed::job,
                                                 .task = &timed::task,
                                                 .node = &timed::node,
                                                 .start = &timed::start,
                                                 .end = &timed::end};
    auto const at = [](double s) { return clock(std::chrono::duration<double>(s)); };
    std::vector<timed> const attempts{
        {"a", 0, "n", at(0), at(1)}, {"a", 1, "n", at(no_number), at(1)}, {"a", 2, "n", at(0), at(inf)}};
    replaying::recording const history(attempts, members);
    static_assert(
        std::same_as<decltype(history), replaying::recording<std::string, std::string, clock> const>);
    CHECK(history.attempts().used == 1);
    CHECK(history.attempts()[replaying::recording_fault::not_finite] == 2);
}

TEST_CASE("recording: runs and what decided") {
    using enum attempt_status;
    auto const fate = [](std::vector<std::tuple<long, long, attempt_status>> const& attempts) {
        past p;
        for (auto const& [start, end, how] : attempts)
            p.attempts.push_back({.job = "j",
                                  .node = "n",
                                  .number = static_cast<int>(p.attempts.size()),
                                  .start = start,
                                  .end = end,
                                  .status = how});
        auto const history = p.taped();
        REQUIRE(history.tasks() == 1);
        return std::pair(history.fate_of(0), history.row_of(0));
    };
    using enum replaying::task_fate;
    using answer = std::pair<replaying::task_fate, std::size_t>;
    CHECK(fate({{0, 10, success}}) == answer(finished, 0));
    CHECK(fate({{0, 10, failed}}) == answer(never_finished, 0));
    CHECK(fate({{0, 10, killed}, {12, 20, failed}}) == answer(never_finished, 1));
    // Tried again: the second run counts.
    CHECK(fate({{0, 10, failed}, {10, 30, success}}) == answer(finished, 1));
    // A copy that lost, one that won, both recorded in the other order.
    CHECK(fate({{0, 30, success}, {10, 30, killed}}) == answer(finished, 0));
    CHECK(fate({{10, 25, success}, {0, 25, killed}}) == answer(finished, 1));
    // The original failed meanwhile, or afterwards.
    CHECK(fate({{0, 20, failed}, {10, 25, success}}) == answer(original_failed, 0));
    CHECK(fate({{0, 26, failed}, {10, 25, success}}) == answer(finished, 0));
    // A chain of copies is one run.
    CHECK(fate({{0, 20, killed}, {10, 40, killed}, {30, 50, success}}) == answer(finished, 0));
    // Run again after it had finished.
    CHECK(fate({{0, 20, success}, {30, 50, success}}) == answer(finished, 0));
    CHECK(fate({{0, 20, success}, {15, 19, success}}) == answer(finished, 0));
    // Without a length.
    CHECK(fate({{5, 5, failed}, {5, 5, success}}) == answer(finished, 1));
}

TEST_CASE("recording: runs of random histories, against a search") {
    std::uint64_t const seed = seed_or(1);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    for (int round = 0; round < 300; ++round) {
        past const p = random_past(engine, 3, round % 2 == 0 ? 1 : 10);
        auto const history = p.taped();
        REQUIRE(history.attempts().used == p.attempts.size());
        for (std::size_t task = 0; task < history.tasks(); ++task) {
            recorded const& judged = p.attempts[history.row_of(task)];
            REQUIRE(history.job(history.job_of(task)) == judged.job);
            std::vector<recorded const*> mine;
            for (recorded const& a : p.attempts)
                if (a.job == judged.job && a.task == judged.task) mine.push_back(&a);
            // Those connected by overlap with an attempt, one after the other.
            auto const run_of = [&](recorded const* first) {
                std::set<recorded const*> run{first};
                for (bool grown = true; grown;) {
                    grown = false;
                    for (auto const* a : mine)
                        for (auto const* b : run)
                            if (std::max(a->start, b->start) < std::min(a->end, b->end))
                                grown = run.insert(a).second || grown;
                }
                return run;
            };
            recorded const* winner = nullptr;
            for (auto const* a : mine)
                if (a->status == attempt_status::success &&
                    (!winner ||
                     std::tuple(a->end, a->start, a) < std::tuple(winner->end, winner->start, winner)))
                    winner = a;
            CHECK((winner == nullptr) == (history.fate_of(task) == replaying::task_fate::never_finished));
            if (!winner) continue;
            // Attempts of no length overlap nobody by that measure: leave them to the cases by hand.
            if (std::ranges::any_of(mine, [](auto const* a) { return a->start == a->end; })) continue;
            auto const run = run_of(winner);
            recorded const* original =
                *std::ranges::min_element(run, {}, [](auto const* a) { return std::tuple(a->start, a); });
            CHECK(&judged == original);
            bool const gone = original->status == attempt_status::failed && original->end < winner->end;
            CHECK((history.fate_of(task) == replaying::task_fate::original_failed) == gone);
        }
    }
}

TEST_CASE("recording: readings without attempt numbers belong to the attempt that ran then, the oldest") {
    struct reading {
        int job, task;
        long time;
        double progress;
    };
    constexpr replaying::reading_fields members{
        .job = &reading::job, .task = &reading::task, .time = &reading::time, .progress = &reading::progress};
    using fault = replaying::reading_fault;
    // An original, a copy of it that lives longer, a gap, another run.
    std::vector<bare> const attempts{
        {1, 1, 1, 10, 20}, {1, 1, 2, 15, 30}, {1, 1, 1, 40, 50}, {1, 2, 1, 0, 99}};
    auto const read = [&](long time) {
        std::vector<reading> const one{{1, 1, time, 0.5}};
        return replaying::recording(attempts, bare_members, one, members).readings();
    };
    CHECK(read(9)[fault::before_start] == 1);
    for (long const t : {10, 16, 20, 21, 30, 40, 50}) CHECK(read(t).used == 1);
    CHECK(read(35)[fault::after_end] == 1);
    CHECK(read(51)[fault::after_end] == 1);
    // By its order of time: of the copy at 25, so that 18 is news of the original.
    std::vector<reading> const two{{1, 1, 25, 0.5}, {1, 1, 18, 0.9}, {1, 1, 17, 0.9}};
    auto const c = replaying::recording(attempts, bare_members, two, members).readings();
    CHECK(c.used == 2);
    CHECK(c[fault::out_of_order] == 1);
}

TEST_CASE("recording: nothing at all") {
    past const empty;
    auto const history = empty.taped();
    CHECK(history.attempts() == replaying::recording_counts{});
    CHECK(history.readings() == replaying::reading_fault_counts{});
    CHECK(history.jobs() + history.tasks() + history.nodes() == 0);
}

TEST_CASE("recording: memory is as documented") {
    std::vector<bare> attempts;
    for (int i = 0; i < 100000; ++i) attempts.push_back({i % 7, i, i % 50, i, i + 100});
    std::size_t const before = live_bytes();
    replaying::recording const history(attempts, bare_members);
    double const per_attempt = static_cast<double>(live_bytes() - before) / 1e5;
    // 72 for the attempt, 20 to find it by end, task and order, 28 for its task; vectors grow by doubling.
    CHECK(per_attempt >= 120);
    CHECK(per_attempt < 200);
    CHECK(history.tasks() == 100000);
}

TEST_CASE("recording: hadoop-sls") {
    auto const p = past_of_sls();
    if (!p) return;
    auto const history = p->taped();
    CHECK(history.attempts().used == p->attempts.size());
    CHECK(history.readings().used == p->reports.size());
    CHECK(history.jobs() == 2);
    CHECK(history.nodes() == 4);
    CHECK(history.tasks() == 192);
}
