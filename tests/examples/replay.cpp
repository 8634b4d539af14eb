// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../../examples/programs/straggle-replay/replay.hpp"
#include "../../examples/programs/common/node_aware.hpp"

#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/stats/order.hpp>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/seed.hpp"
#include "histories.hpp"
#include "scans.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

using namespace straggle;
using namespace straggle_test;
using namespace std::chrono_literals;

namespace {

template <class Action>
bool breaks_contract(Action action) {
    contract_trap const trap;
    try {
        action();
    } catch (broken_contract const&) {
        return true;
    }
    return false;
}

} // namespace

static_assert(replaying::job_scan<detect::straggler_scan<detect::late>>);
static_assert(replaying::job_scan<any_scan>);
static_assert(!replaying::job_scan<detect::late>); // wants a scratch
static_assert(replaying::job_scans<std::vector<any_scan>>);
static_assert(!replaying::job_scans<std::vector<detect::late>>);

// Compilers are tempted to crash here: the type is complete before the replay's is deduced.
[[maybe_unused]] static std::uint64_t
looks_of(std::optional<replaying::recording<int, int, double>> const& history) {
    replaying::replayer player(*history, {.how = {.straggler = evaluate::straggler_rule{1.3}}});
    return player.counts().looks;
}

TEST_CASE("replay: the looks do not grow with the time since 1970 where a start is wrong") {
    past const p{{{.job = "j", .node = "a", .task = 0, .start = 1'000'000'000, .end = 1'000'000'100},
                  {.job = "j", .node = "a", .task = 1, .start = 1'000'000'000, .end = 1'000'000'100},
                  {.job = "j", .node = "b", .task = 2, .start = 0, .end = 1'000'000'300}},
                 {}};
    auto const history = p.taped();
    replaying::replayer player(history, {.interval = 1});
    detect::straggler_scan early_alarm{over{900}}, late_alarm{over{500'000'000}};
    auto const m = player.run(early_alarm, late_alarm);
    // 1000, then a thousandth more each: ln(1e9 / 1e3) thousand, and 300 behind.
    CHECK(player.counts().looks > 1000 + 13'000);
    CHECK(player.counts().looks < 1000 + 15'000);
    CHECK(number(m[0].recall()) == 1);
    CHECK(number(m[0].detection_latency()) == 9.01); // as without
    CHECK(number(m[1].recall()) == 1);
    CHECK(number(m[1].detection_latency()) == doctest::Approx(5e6).epsilon(1e-3));
}

TEST_CASE("replay: the metrics of a small history, reckoned by hand") {
    using enum attempt_status;
    past const p{{{.job = "j", .node = "a", .task = 0, .start = 0, .end = 100},
                  {.job = "j", .node = "a", .task = 1, .start = 0, .end = 100},
                  {.job = "j", .node = "a", .task = 2, .start = 0, .end = 110},
                  {.job = "j", .node = "a", .task = 3, .start = 0, .end = 90},
                  {.job = "j", .node = "b", .task = 4, .start = 0, .end = 300},
                  {.job = "j", .node = "b", .task = 5, .start = 10, .end = 200},
                  // Half done when its copy, begun at 120, had finished: would have taken 360.
                  {.job = "j", .node = "b", .task = 6, .start = 0, .end = 180, .status = killed},
                  {.job = "j", .node = "a", .task = 6, .number = 1, .start = 120, .end = 180},
                  // Failed and tried again.
                  {.job = "j", .node = "a", .task = 7, .start = 0, .end = 50, .status = failed},
                  {.job = "j", .node = "a", .task = 7, .number = 1, .start = 60, .end = 160},
                  {.job = "j", .node = "a", .task = 8, .start = 0, .end = 400, .status = killed}},
                 {{.job = "j", .task = 6, .time = 170, .progress = 0.5}}};
    auto const history = p.taped();
    // Finished in 60, 90, 100, 100, 100, 110, 190, 300: usual is 100, stragglers are 4, 5 and 6.
    replaying::replayer player(history, {.interval = 50});
    detect::straggler_scan late_alarm{over{120}}, early_alarm{over{80}}, no_alarm{over{1e9}};
    auto const m = player.run(late_alarm, early_alarm, no_alarm);
    REQUIRE(m.size() == 3);
    CHECK(player.counts() == replaying::replay_counts{
                                 .looks = 8, .tasks = 9, .judged = 8, .never_finished = 1}); // 0, 50 ... 350
    for (evaluate::detection_metrics const& x : m) {
        CHECK(x.counts().seen == 8);
        CHECK(x.counts().judged() == 8);
        CHECK(x.counts().stragglers() == 3);
        CHECK(x.counts().copies == 1);
        CHECK(x.counts().effective_copies == 1);
        CHECK(x.slots().copies == 60);
    }
    // All at 150: after 150, 140 and 150; of task 5, 50 are left then.
    CHECK(number(m[0].precision()) == 1);
    CHECK(number(m[0].recall()) == 1);
    CHECK(number(m[0].precision_in_time()) == 2.0 / 3);
    CHECK(number(m[0].detection_latency()) == doctest::Approx((1.5 + 1.4 + 1.5) / 3).epsilon(1e-15));
    CHECK(m[0].undetected_time().reason() == status::insufficient_evidence);
    // At 100: 2 (by mistake), 4, 5 (after 90, 100 left) and 6; at 150 the second run of 7, by mistake.
    CHECK(number(m[1].precision()) == 0.6);
    CHECK(number(m[1].precision_in_time()) == 0.6);
    CHECK(number(m[1].recall()) == 1);
    CHECK(number(m[1].detection_latency()) == doctest::Approx((1.0 + 0.9 + 1.0) / 3).epsilon(1e-15));
    CHECK(m[2].precision().reason() == status::insufficient_evidence);
    CHECK(number(m[2].recall()) == 0);
    CHECK(number(m[2].undetected_time()) == doctest::Approx((3.0 + 1.9 + 3.6) / 3).epsilon(1e-15));
    // Task by task.
    auto const of_6 = player.result_of(6, 1);
    REQUIRE(of_6);
    CHECK(of_6->usual == 100);
    CHECK(of_6->execution == 180);
    CHECK(of_6->progress == 0.5);
    CHECK(of_6->detected == 100);
    CHECK(of_6->winner_time == 60);
    CHECK(player.result_of(8, 0).reason() == status::insufficient_evidence);
    CHECK(history.row_of(7) == 9);
    // Judged by what is known of the tasks instead: 7 and 8 usually take 20.
    past told = p;
    for (recorded& a : told.attempts)
        if (a.task >= 7) a.usual = 20;
    auto const told_history = told.taped();
    replaying::replayer told_player(told_history, {.interval = 50});
    CHECK(told_player.run(early_alarm)[0].counts().stragglers() == 4);
    CHECK(told_player.result_of(7, 0)->usual == 20);
    replaying::replayer twice(told_history, {.interval = 50, .usual = 60});
    CHECK(twice.run(early_alarm)[0].counts().stragglers() == 8); // above 72, or 24
    CHECK(twice.result_of(0, 0)->usual == 60);
    CHECK(twice.result_of(7, 0)->usual == 20);
    // With another quantile and another threshold.
    replaying::replayer shortest(
        history, {.interval = 50, .quantile = 0, .how = {.straggler = evaluate::straggler_rule{1.7}}});
    CHECK(shortest.run(no_alarm)[0].counts().stragglers() == 4); // above 102: 2, 4, 5, 6
    // A job of nine tasks, eight of them finished.
    replaying::replayer demanding(history, {.min_tasks = 9});
    CHECK(demanding.run(no_alarm)[0].counts().seen == 0);
    CHECK(demanding.counts().usual_unknown == 8);
}

TEST_CASE("replay: copies, kills and failures") {
    using enum attempt_status;
    auto const result = [](std::vector<recorded> attempts) {
        past p{std::move(attempts), {}};
        for (recorded& a : p.attempts) {
            a.job = "j";
            a.node = "n";
            a.usual = 10;
        }
        auto const history = p.taped();
        replaying::replayer player(history);
        detect::straggler_scan all{over{-1}};
        player.run(all);
        return player.result_of(0, 0);
    };
    // A copy that lost, and one that began when all was over.
    auto lost = result({{.start = 0, .end = 30},
                        {.number = 1, .start = 20, .end = 30, .status = killed},
                        {.number = 2, .start = 40, .end = 50}});
    REQUIRE(lost);
    CHECK(lost->execution == 30);
    CHECK(lost->copies == 1);
    CHECK(lost->copies_time == 10);
    CHECK(!lost->winner_time);
    CHECK(lost->detected == 0);
    // The original went on until it had finished too.
    auto late = result({{.start = 0, .end = 30}, {.number = 1, .start = 5, .end = 25}});
    REQUIRE(late);
    CHECK(late->execution == 30);
    CHECK(late->progress == 1.0);
    CHECK(late->winner_time == 20);
    // Killed, and has never reported.
    auto silent = result({{.start = 0, .end = 30, .status = killed}, {.number = 1, .start = 5, .end = 25}});
    REQUIRE(silent);
    CHECK(!silent->progress);
    CHECK(silent->winner_time == 20);
    // The copy took no time.
    auto flash = result({{.start = 0, .end = 30, .status = killed}, {.number = 1, .start = 9, .end = 9}});
    REQUIRE(flash);
    CHECK(flash->copies == 1);
    CHECK(flash->winner_time == 0);
    // Failed, and a copy went on: who knows.
    CHECK(!result({{.start = 0, .end = 20, .status = failed}, {.number = 1, .start = 5, .end = 25}}));
    // Tried again after a failure: named anew.
    auto again = result({{.start = 0, .end = 20, .status = failed}, {.number = 1, .start = 25, .end = 45}});
    REQUIRE(again);
    CHECK(again->execution == 20);
    CHECK(again->detected == 0);
    // It takes no time: nobody can look.
    auto instant = result({{.start = 7, .end = 7}});
    REQUIRE(instant);
    CHECK(!instant->detected);
}

TEST_CASE("replay: one detector does not disturb another, and a second run says the same") {
    std::mt19937_64 engine(4);
    past const p = random_past(engine, 6);
    auto const history = p.taped();
    replaying::replayer player(history, {.interval = 2});
    std::vector<any_scan> all = every_rule(1);
    auto const together = player.run(all);
    std::vector<evaluate::detection_metrics> const first(together.begin(), together.end());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(player.run(all[i])[0] == first[i]);
    // In a pack, beside a list.
    detect::straggler_scan one{detect::late{}};
    auto const mixed = player.run(one, all);
    REQUIRE(mixed.size() == all.size() + 1);
    CHECK(mixed[0] == first[1]);
    CHECK(std::equal(first.begin(), first.end(), mixed.begin() + 1));
    // The order of the records makes no difference, but for ties.
    std::vector<std::uint64_t> caught;
    for (auto const& m : first) caught.push_back(m.counts().caught());
    past sorted = p;
    std::ranges::sort(sorted.attempts, {},
                      [](recorded const& a) { return std::tuple(a.start, a.job, a.task); });
    std::ranges::sort(sorted.reports, {}, [](progress_report const& r) {
        return std::tuple(r.time, r.job, r.task, r.number, r.progress);
    });
    auto const sorted_history = sorted.taped();
    replaying::replayer sorted_player(sorted_history, {.interval = 2});
    auto const again = sorted_player.run(all);
    CHECK(again[5].counts() == first[5].counts()); // over_median looks at times alone
}

TEST_CASE("replay: knowledge comes from the past, and reaches the detectors") {
    std::mt19937_64 engine(5);
    past const p = random_past(engine, 6, 10);
    auto const history = p.taped();
    struct memory {
        past const& p;
        std::vector<std::string> jobs;
        std::vector<std::size_t> rows;
        std::int64_t now = 0;
        void begins(replaying::starting_job<std::string, std::string, std::int64_t>& job) {
            CHECK(job.now() >= now);
            now = job.now();
            jobs.push_back(job.job());
            CHECK(job.set_slowdown("n1", 3));
            CHECK(!job.set_slowdown("no such node", 3));
            job.set_slots(12);
        }
        void finished(std::size_t row) {
            CHECK(p.attempts[row].status == attempt_status::success);
            CHECK(p.attempts[row].end >= now);
            now = p.attempts[row].end;
            rows.push_back(row);
        }
    };
    std::size_t modelled = 0;
    for (std::int64_t const interval : {0, 3, 1000}) {
        memory known{p, {}, {}};
        replaying::replayer player(history, {.interval = interval});
        player.run(known, [&](detect::job_view const& job) {
            CHECK(job.slots == 12);
            for (detect::job_node const& n : job.nodes) {
                CHECK(n.slowdown == (n.modelled ? 3 : 1));
                modelled += n.modelled ? 1u : 0u;
            }
            return detect::suspect_list<>();
        });
        CHECK(std::ranges::is_permutation(
            known.jobs, std::vector<std::string>{"job 0", "job 1", "job 2", "job 3", "job 4", "job 5"}));
        std::size_t finished = 0;
        for (std::size_t task = 0; task < history.tasks(); ++task)
            finished += history.fate_of(task) == replaying::task_fate::never_finished ? 0u : 1u;
        CHECK(known.rows.size() == finished);
    }
    CHECK(modelled > 0);
}

namespace {

// Jobs one after the other on ten nodes with two slots, of which the last three are slow; equal tasks.
past slow_nodes(std::mt19937_64& engine, int jobs) {
    auto const uniform = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    past p;
    std::int64_t now = 0;
    for (int j = 0; j < jobs; ++j) {
        std::vector<std::int64_t> free(20, now);
        std::string const job = std::to_string(j);
        for (int task = 0; task < 60; ++task) {
            auto const slot = std::ranges::min_element(free) - free.begin();
            auto const node = slot / 2;
            double const factor = (node >= 7 ? 1.8 : 1.0) * (0.95 + 0.1 * uniform());
            recorded a{.job = job, .node = "n" + std::to_string(node), .task = task};
            a.start = free[static_cast<std::size_t>(slot)];
            a.end = a.start + static_cast<std::int64_t>(60000 * factor);
            for (std::int64_t t = a.start; t < a.end; t += 3000)
                p.reports.push_back({job, task, 0, t, static_cast<double>(t - a.start) / (60000 * factor)});
            free[static_cast<std::size_t>(slot)] = a.end;
            now = std::max(now, a.end);
            p.attempts.push_back(a);
        }
    }
    return p;
}

//! [knowledge]
// How much longer tasks took on a node than usual, in the jobs before this one.
struct node_memory {
    std::vector<recorded> const& attempts;
    std::map<std::string, std::pair<double, int>> logs; // by node: sum and number
    std::vector<std::size_t> finished_in_job;

    template <class Job>
    void begins(Job& job) {
        std::vector<double> times;
        for (std::size_t const row : finished_in_job) times.push_back(took(row));
        auto const usual = straggle::stats::median_in_place(times);
        for (std::size_t const row : finished_in_job) {
            auto& [sum, n] = logs[attempts[row].node];
            sum += std::log(took(row) / *usual);
            ++n;
        }
        finished_in_job.clear();
        for (auto const& [node, log] : logs) job.set_slowdown(node, std::exp(log.first / log.second));
    }
    void finished(std::size_t row) { finished_in_job.push_back(row); }
    double took(std::size_t row) const {
        return static_cast<double>(attempts[row].end - attempts[row].start);
    }
};
//! [knowledge]

} // namespace

TEST_CASE("replay: a detector that knows the nodes from earlier jobs does better") {
    std::mt19937_64 engine(6);
    past const p = slow_nodes(engine, 6);
    auto const history = p.taped();
    replaying::replayer player(history, {.interval = 3000});
    auto const f1 = [&](auto&& run) {
        detect::straggler_scan scan{program::node_aware<>{.usual_time = 60000, .report_interval = 3000}};
        evaluate::detection_metrics const m = run(scan)[0];
        CHECK(m.counts().judged() == 360);
        CHECK(m.counts().stragglers() > 60);
        return std::pair(number(m.f1_in_time()), number(m.detection_latency()));
    };
    auto const cold = f1([&](auto& scan) { return player.run(scan); });
    node_memory memory{p.attempts, {}, {}};
    auto const warm = f1([&](auto& scan) { return player.run(memory, scan); });
    CHECK(warm.first > 0.95);
    CHECK(warm.first >= cold.first);
    CHECK(warm.second < cold.second / 2);
}

TEST_CASE("replay: predicted times are told, by row too") {
    std::vector<recorded> attempts;
    for (int i = 0; i < 6; ++i)
        attempts.push_back({.job = "j", .node = "n", .task = i, .start = 5 - i, .end = 20 + 10 * i});
    for (recorded& a : attempts) a.predicted = static_cast<double>(a.end - a.start) / 2;
    past const p{attempts, {}};
    auto const history = p.taped();
    replaying::replayer player(history, {.interval = 1});
    bool told = false;
    player.run([&](detect::job_view const& job) {
        for (detect::running_task const& t : job.running) {
            recorded const& a = attempts[t.row];
            CHECK(static_cast<double>(a.start) + t.elapsed == job.age); // the first begins at 0
        }
        if (!job.finished.empty()) {
            told = true;
            CHECK(job.usual_told);
            CHECK(job.nodes[0].log_mean == doctest::Approx(std::log(2.0)));
        }
        return detect::suspect_list<>();
    });
    CHECK(told);
}

TEST_CASE("replay: without progress every task is an unreported one") {
    past p;
    for (int i = 0; i < 10; ++i)
        p.attempts.push_back({.job = "j", .node = "n", .task = i, .start = 0, .end = i == 0 ? 100 : 10});
    replaying::recording const history(p.attempts, recorded_members);
    replaying::replayer player(history, {.interval = 1});
    detect::straggler_scan by_time{detect::over_median{}};
    detect::straggler_scan by_progress{detect::late{}};
    auto const m = player.run(by_time, by_progress);
    CHECK(number(m[0].recall()) == 1);
    CHECK(number(m[0].detection_latency()) == doctest::Approx(1.6)); // the first look above 15
    CHECK(m[1].counts().detected() == 0);                            // all rates are 0
}

TEST_CASE("replay: breaking its contract is noticed") {
    past const p;
    auto const history = p.taped();
    using player = replaying::replayer<std::string, std::string, std::int64_t>;
    CHECK(breaks_contract([&] { player(history, {.interval = -1}); }));
    CHECK(breaks_contract([&] { player(history, {.quantile = 1.5}); }));
    CHECK(breaks_contract([&] { player(history, {.usual = -1}); }));
    CHECK(breaks_contract([&] { player(history, {.quantile = std::nan("")}); }));
    CHECK(breaks_contract([&] { player(history, {.how = {.straggler = evaluate::straggler_rule{0.5}}}); }));
    CHECK(breaks_contract([&] { (void)player(history).result_of(0, 0); }));
    static_assert(
        !std::is_constructible_v<player, replaying::recording<std::string, std::string, std::int64_t>>);
}

TEST_CASE("replay: a second run allocates nothing") {
    std::mt19937_64 engine(7);
    past const p = random_past(engine, 8);
    auto const history = p.taped();
    for (std::int64_t const interval : {0, 5}) {
        replaying::replayer player(history, {.interval = interval});
        detect::straggler_scan<detect::late> a;
        detect::straggler_scan<program::node_aware<>> b;
        detect::straggler_scan<detect::over_median> c;
        player.run(a, b, c);
        std::uint64_t const looks = player.counts().looks;
        CHECK(allocations_during([&] { player.run(a, b, c); }) == 0);
        CHECK(player.counts().looks == looks);
    }
}

TEST_CASE("replay: the example of the documentation") {
    past const p = [] {
        std::mt19937_64 engine(8);
        return slow_nodes(engine, 3);
    }();
    //! [records]
    struct attempt {
        std::string job, host;
        int task, number;
        std::chrono::milliseconds begin, end;
    };
    struct heartbeat {
        std::string job;
        int task, attempt;
        std::chrono::milliseconds time;
        double done;
    };
    constexpr replaying::recorded_fields fields{.job = &attempt::job,
                                                .task = &attempt::task,
                                                .node = &attempt::host,
                                                .start = &attempt::begin,
                                                .end = &attempt::end,
                                                .attempt = &attempt::number};
    constexpr replaying::reading_fields progress{.job = &heartbeat::job,
                                                 .task = &heartbeat::task,
                                                 .time = &heartbeat::time,
                                                 .progress = &heartbeat::done,
                                                 .attempt = &heartbeat::attempt};
    //! [records]
    using std::chrono::milliseconds;
    std::vector<attempt> attempts;
    for (recorded const& a : p.attempts)
        attempts.push_back({a.job, a.node, a.task, a.number, milliseconds(a.start), milliseconds(a.end)});
    std::vector<heartbeat> heartbeats;
    for (progress_report const& r : p.reports)
        heartbeats.push_back({r.job, r.task, r.number, milliseconds(r.time), r.progress});
    //! [run]
    replaying::recording const history(attempts, fields, heartbeats, progress);
    straggle::detect::straggler_scan late{straggle::detect::hierarchical{straggle::detect::late{}}};
    straggle::detect::straggler_scan ours{program::node_aware<>{}};

    replaying::replayer player(history, {.interval = 1s});
    std::span<straggle::evaluate::detection_metrics const> const metrics = player.run(late, ours);
    double const better = *metrics[1].f1_in_time() - *metrics[0].f1_in_time();
    //! [run]
    CHECK(better > 0);
}
