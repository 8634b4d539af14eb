// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../../examples/programs/straggle-replay/replay.hpp"

#include "../support/seed.hpp"
#include "histories.hpp"
#include "scans.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

using namespace straggle;
using namespace straggle_test;
using namespace std::chrono_literals;

namespace {

// What a scheduler would do itself: at each look, go through all the records.
class by_hand {
  public:
    explicit by_hand(past const& p) : past_(p) {
        for (std::size_t i = 0; i < p.attempts.size(); ++i) by_start_.push_back(i);
        std::ranges::sort(by_start_, {}, [&](std::size_t i) { return std::pair(p.attempts[i].start, i); });
        by_end_ = by_start_;
        std::ranges::sort(by_end_, {}, [&](std::size_t i) {
            return std::tuple(p.attempts[i].end, p.attempts[i].start, i);
        });
        for (std::size_t const i : by_end_) {
            recorded const& a = p.attempts[i];
            if (a.status == attempt_status::success) winner_.try_emplace(key(a), i);
            tasks_[a.job].insert(a.task);
        }
    }

    using task_key = std::pair<std::string, int>;
    static task_key key(recorded const& a) { return {a.job, a.task}; }

    std::uint64_t looks = 0;

    void watch(std::string const& job, std::vector<std::int64_t> const& times, std::vector<any_scan>& scans,
               std::function<void(std::size_t scan, task_key const&, std::int64_t)> const& named) {
        detect::job_progress<std::string, std::int64_t> progress(tasks_.at(job).size());
        std::int64_t begin = std::numeric_limits<std::int64_t>::max();
        for (recorded const& a : past_.attempts)
            if (a.job == job) begin = std::min(begin, a.start);
        progress.set_begin(begin);
        std::size_t told = 0; // of by_end_
        for (std::int64_t const now : times) {
            for (; told < by_end_.size() && past_.attempts[by_end_[told]].end <= now; ++told) {
                recorded const& a = past_.attempts[by_end_[told]];
                if (a.job == job && is_winner(by_end_[told]))
                    progress.observe(a.node, a.end - a.start, a.input, a.predicted);
            }
            std::vector<shown> snapshot = snapshot_at(job, now);
            if (snapshot.empty()) continue;
            ++looks;
            constexpr running_fields fields{.node = &shown::node,
                                            .start = &shown::start,
                                            .progress = &shown::progress,
                                            .input = &shown::input,
                                            .copies = &shown::copies};
            progress.running(snapshot, fields, now);
            for (std::size_t s = 0; s < scans.size(); ++s)
                for (auto const& x : scans[s](progress.view())) named(s, {job, snapshot[x.row].task}, now);
        }
    }

    // Times at which something happens to the job.
    [[nodiscard]] std::vector<std::int64_t> events(std::string const& job) const {
        std::set<std::int64_t> times;
        for (recorded const& a : past_.attempts)
            if (a.job == job) times.insert({a.start, a.end});
        for (progress_report const& r : past_.reports)
            if (r.job == job) times.insert(r.time);
        return {times.begin(), times.end()};
    }
    [[nodiscard]] std::set<std::string> jobs() const {
        std::set<std::string> names;
        for (auto const& [name, tasks] : tasks_) names.insert(name);
        return names;
    }

  private:
    struct shown {
        std::string node;
        int task, copies;
        std::optional<double> progress;
        std::int64_t start;
        double input;
    };

    [[nodiscard]] bool is_winner(std::size_t row) const {
        auto const found = winner_.find(key(past_.attempts[row]));
        return found != winner_.end() && found->second == row;
    }
    [[nodiscard]] std::vector<shown> snapshot_at(std::string const& job, std::int64_t now) const {
        std::vector<shown> snapshot;
        for (std::size_t const i : by_start_) {
            recorded const& a = past_.attempts[i];
            if (a.job != job || a.start > now || a.end <= now) continue;
            auto const w = winner_.find(key(a));
            if (w != winner_.end() && past_.attempts[w->second].end <= now) continue;
            std::optional<double> progress;
            for (progress_report const& r : past_.reports)
                if (r.job == job && r.task == a.task && r.number == a.number && r.time <= now)
                    progress = r.progress;
            auto const same = std::ranges::find(snapshot, a.task, &shown::task);
            if (same == snapshot.end()) {
                snapshot.push_back({a.node, a.task, 1, progress, a.start, a.input});
            } else {
                int const copies = same->copies + 1;
                if (progress.value_or(0) > same->progress.value_or(0))
                    *same = {a.node, a.task, copies, progress, a.start, a.input};
                same->copies = copies;
            }
        }
        return snapshot;
    }

    past const& past_;
    std::vector<std::size_t> by_start_, by_end_;
    std::map<task_key, std::size_t> winner_;
    std::map<std::string, std::set<int>> tasks_;
};

} // namespace

TEST_CASE("replay: says what one would find by going through the records at each look") {
    std::uint64_t const seed = seed_or(2);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::size_t named = 0, judged = 0;
    for (int round = 0; round < 40; ++round) {
        INFO("round ", round);
        past const p = random_past(engine, 4, round % 3 == 0 ? 10 : 1);
        auto const history = p.taped();
        REQUIRE(history.readings().used == p.reports.size());
        std::int64_t const interval = round % 2 == 0 ? 0 : 7;
        std::vector<any_scan> ours = every_rule(1), theirs = every_rule(1);
        replaying::replayer player(history, {.interval = interval, .min_tasks = 1});
        auto const m = player.run(ours);
        REQUIRE(m.size() == theirs.size());

        by_hand hand(p);
        std::map<std::pair<std::size_t, by_hand::task_key>, std::vector<std::int64_t>> when;
        std::int64_t first = p.attempts[0].start, last = 0;
        for (recorded const& a : p.attempts) {
            first = std::min(first, a.start);
            last = std::max(last, a.end);
        }
        std::vector<std::int64_t> grid;
        for (std::int64_t t = first; interval > 0 && t <= last; t += interval) grid.push_back(t);
        for (std::string const& job : hand.jobs())
            hand.watch(job, interval > 0 ? grid : hand.events(job), theirs,
                       [&](std::size_t scan, by_hand::task_key const& task, std::int64_t now) {
                           when[{scan, task}].push_back(now);
                       });
        CHECK(player.counts().looks == hand.looks);
        std::vector<std::uint64_t> detected(m.size());
        for (std::size_t task = 0; task < history.tasks(); ++task) {
            recorded const& original = p.attempts[history.row_of(task)];
            for (std::size_t scan = 0; scan < m.size(); ++scan) {
                auto const result = player.result_of(task, scan);
                if (!result) continue;
                std::optional<double> first_named;
                for (std::int64_t const now : when[{scan, by_hand::key(original)}])
                    if (!first_named && now >= original.start && now < original.end)
                        first_named = static_cast<double>(now - original.start);
                INFO(theirs[scan].name);
                CHECK(result->detected == first_named);
                detected[scan] += first_named ? 1u : 0u;
                ++judged;
            }
        }
        for (std::size_t scan = 0; scan < m.size(); ++scan) {
            CHECK(m[scan].counts().judged() + m[scan].counts().undecided == player.counts().judged);
            CHECK(m[scan].counts().detected() <= detected[scan]);
            named += detected[scan];
        }
    }
    // Not an empty comparison.
    CHECK(named > judged / 20);
    CHECK(named < judged);
}

TEST_CASE("replay: nothing that happens later makes a difference") {
    std::uint64_t const seed = seed_or(3);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    constexpr std::int64_t today = 100;
    struct seen_task {
        double progress, elapsed;
        std::uint32_t node, row, copies;
        bool operator==(seen_task const&) const = default;
    };
    using seen_job = std::tuple<double, std::uint64_t, std::vector<double>, std::vector<seen_task>>;
    // What is shown until today, of one job.
    auto const seen_of = [](past const& p) {
        std::vector<seen_job> seen;
        auto const history = p.taped();
        replaying::replayer player(history, {.interval = 3});
        std::int64_t begin = std::numeric_limits<std::int64_t>::max();
        for (recorded const& a : p.attempts) begin = std::min(begin, a.start);
        player.run([&](detect::job_view const& job) {
            if (static_cast<double>(begin) + job.age > today) return detect::suspect_list<>();
            std::vector<seen_task> tasks;
            for (detect::running_task const& t : job.running)
                tasks.push_back({t.progress, t.elapsed, t.node, t.row, t.copies});
            seen.emplace_back(job.age, job.tasks, std::vector(job.finished.begin(), job.finished.end()),
                              tasks);
            return detect::suspect_list<>();
        });
        return seen;
    };
    std::size_t looks = 0;
    for (int round = 0; round < 100; ++round) {
        past const p = random_past(engine, 1);
        past other = p;
        for (recorded& a : other.attempts) {
            if (a.start > today) a.start += 11;
            if (a.end > today) {
                a.end += 17;
                a.status = attempt_status::success;
            }
        }
        for (progress_report& r : other.reports)
            if (r.time > today) {
                r.time += 11;
                r.progress /= 2;
            }
        auto const seen = seen_of(p);
        CHECK((seen == seen_of(other)));
        looks += seen.size();
    }
    CHECK(looks > 500);
}

TEST_CASE("replay: looks only when somebody runs, and only at the grid") {
    auto const looks = [](std::vector<std::pair<std::int64_t, std::int64_t>> const& attempts,
                          std::int64_t step) {
        past p;
        for (auto const& [start, end] : attempts)
            p.attempts.push_back({.job = "j",
                                  .node = "n",
                                  .task = static_cast<int>(p.attempts.size()),
                                  .start = start,
                                  .end = end});
        auto const history = p.taped();
        std::vector<std::int64_t> times;
        replaying::replayer player(history, {.interval = step});
        player.run([&](detect::job_view const& job) {
            times.push_back(static_cast<std::int64_t>(job.age));
            return detect::suspect_list<>();
        });
        CHECK(times.size() == player.counts().looks);
        return times;
    };
    using times = std::vector<std::int64_t>;
    CHECK(looks({{5, 15}}, 4) == times{0, 4, 8});
    CHECK(looks({{5, 15}}, 5) == times{0, 5}); // not at 10: it is over
    CHECK(looks({{0, 3}, {1000000000001, 1000000000009}}, 4) == times{0, 1000000000004, 1000000000008});
    CHECK(looks({{0, 3}, {5, 7}, {8, 9}}, 4) == times{0, 8});
    CHECK(looks({{0, 3}}, 100) == times{0});
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    CHECK(looks({{0, 3}, {5, most / 2}}, most) == times{0});
    CHECK(looks({{-most / 2, 3}, {1, most / 2}}, most / 2) == times{0, most / 2 + 1}); // as a double
    CHECK(looks({{0, 0}, {2, 2}}, 1).empty());
    CHECK(looks({{0, 10}, {4, 6}}, 0) == times{0, 4, 6});
    CHECK(looks({}, 1).empty());
}

TEST_CASE("replay: clocks of every kind") {
    auto const caught = [](auto begin, auto length, auto interval) {
        struct attempt {
            int job, task, node;
            decltype(begin) start, end;
        };
        replaying::recorded_fields const members{.job = &attempt::job,
                                                 .task = &attempt::task,
                                                 .node = &attempt::node,
                                                 .start = &attempt::start,
                                                 .end = &attempt::end};
        std::vector<attempt> attempts;
        for (int i = 0; i < 4; ++i) {
            auto end = begin;
            for (int k = 0; k < (i == 0 ? 3 : 1); ++k) end = static_cast<decltype(begin)>(end + length);
            attempts.push_back({0, i, 0, begin, end});
        }
        replaying::recording const history(attempts, members);
        replaying::replayer player(history, {.interval = interval});
        detect::straggler_scan scan{over{25}};
        auto const m = player.run(scan);
        CHECK(m[0].counts().stragglers() == 1);
        CHECK(number(m[0].detection_latency()) == doctest::Approx(1.5).epsilon(1e-12)); // minutes
        return m[0].counts().caught();
    };
    CHECK(caught(1000.5, 20.0, 10.0) == 1);
    CHECK(caught(1000.5f, 20.0f, 10.0f) == 1);
    CHECK(caught(std::int16_t{-17}, 20, 10) == 1);
    CHECK(caught(7u, 20u, 10u) == 1);
    CHECK(caught(std::uint8_t{7}, 20, 10) == 1);
    CHECK(caught(std::chrono::milliseconds(5), 20000ms, 10000ms) == 1);
    CHECK(caught(std::chrono::system_clock::time_point{} + 1s, 20s, 10s) == 1);
    CHECK(caught(std::chrono::duration<double, std::ratio<60>>(3), 20s, 10s) == 1);
}

TEST_CASE("replay: hadoop-sls with every detector") {
    auto const p = past_of_sls();
    if (!p) return;
    using std::chrono::milliseconds;
    replaying::recorded_fields const members{.job = &recorded::job,
                                             .task = &recorded::task,
                                             .node = &recorded::node,
                                             .start = [](recorded const& a) { return milliseconds(a.start); },
                                             .end = [](recorded const& a) { return milliseconds(a.end); },
                                             .attempt = &recorded::number};
    replaying::reading_fields const readings{
        .job = &progress_report::job,
        .task = &progress_report::task,
        .time = [](progress_report const& r) { return milliseconds(r.time); },
        .progress = &progress_report::progress,
        .attempt = &progress_report::number};
    replaying::recording const history(p->attempts, members, p->reports, readings);

    // The facts of the file. Half of 96 times lie below the usual one, between the two in the middle.
    std::map<std::string, std::vector<std::int64_t>> times;
    for (recorded const& a : p->attempts) times[a.job].push_back(a.end - a.start);
    std::map<std::string, double> usual;
    for (auto& [job, t] : times) {
        std::ranges::sort(t);
        usual[job] = static_cast<double>(t[t.size() / 2 - 1] + t[t.size() / 2]) / 2000;
    }
    std::uint64_t stragglers = 0, seen_late = 0;
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();
    for (recorded const& a : p->attempts) begin = std::min(begin, a.start);
    for (recorded const& a : p->attempts) {
        double const limit = 1.2 * usual[a.job];
        bool const slow = static_cast<double>(a.end - a.start) / 1000 > limit;
        stragglers += slow ? 1u : 0u;
        // A look, at whole seconds from the beginning, between the time that makes it one and its end.
        auto const look =
            static_cast<std::int64_t>(std::floor((static_cast<double>(a.start - begin) / 1000 + limit))) + 1;
        seen_late += begin + 1000 * look < a.end ? 1u : 0u;
    }
    CHECK(stragglers == 17);
    by_hand const hand(*p);
    std::uint64_t busy_moments = 0;
    for (std::string const& job : hand.jobs())
        for (std::int64_t const t : hand.events(job))
            busy_moments += std::ranges::any_of(
                p->attempts, [&](recorded const& a) { return a.job == job && a.start <= t && t < a.end; });

    for (milliseconds const interval : {0ms, 1000ms}) {
        replaying::replayer player(history, {.interval = interval});
        std::vector<any_scan> all = every_rule(1);
        auto const m = player.run(all);
        CHECK(player.counts().tasks == 192);
        CHECK(player.counts().judged == 192);
        if (interval == 0ms) CHECK(player.counts().looks == busy_moments);
        for (std::size_t i = 0; i < all.size(); ++i) {
            INFO(all[i].name);
            evaluate::detection_counts const& c = m[i].counts();
            CHECK(c.judged() == 192);
            CHECK(c.stragglers() == stragglers);
            CHECK(c.total_rejected() + c.undecided == 0);
            std::uint64_t named = 0, caught = 0, fakes = 0;
            for (std::size_t task = 0; task < 192; ++task) {
                evaluate::task_outcome const o = *player.result_of(task, i);
                recorded const& a = p->attempts[history.row_of(task)];
                CHECK(o.execution == static_cast<double>(a.end - a.start) / 1000);
                CHECK(o.usual == doctest::Approx(usual[a.job]).epsilon(1e-14));
                bool const slow = o.execution > 1.2 * usual[a.job];
                named += o.detected ? 1u : 0u;
                caught += slow && o.detected ? 1u : 0u;
                fakes += slow && o.detected && o.execution - *o.detected < usual[a.job] ? 1u : 0u;
            }
            CHECK(c.detected() == named);
            CHECK(c.caught() == caught);
            CHECK(c.fakes == fakes);
            if (std::getenv("STRAGGLE_SHOW_SCORES"))
                MESSAGE(all[i].name, ": detected ", c.detected(), " caught ", c.caught(), " fakes ", c.fakes,
                        " latency ", m[i].detection_latency().value_or(0));
        }
    }
    // Who waits until a task is one makes no mistake, and misses those that end before the next look.
    std::map<double, std::uint64_t> found;
    for (auto const& [job, u] : usual) {
        replaying::replayer player(history, {.interval = 1000ms});
        detect::straggler_scan scan{over{1.2 * u}};
        std::uint64_t caught = 0;
        player.run(scan);
        for (std::size_t task = 0; task < history.tasks(); ++task)
            if (history.job(history.job_of(task)) == job)
                caught += player.result_of(task, 0)->detected ? 1u : 0u;
        found[u] = caught;
    }
    std::uint64_t all_found = 0;
    for (auto const& [u, n] : found) all_found += n;
    CHECK(all_found == seen_late);
}
