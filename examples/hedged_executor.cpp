// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A thread pool that hedges its slow tasks. A request consists of a few tasks and waits for the last of
/// them. A late task gets a copy on an idle worker if that is expected to pay; the first result wins, and the
/// other attempt is canceled. Tasks sleep instead of working, so two cores are enough.

#include <straggle/straggle.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <ranges>
#include <thread>

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;
constexpr int requests = 25, fan_out = 6;       // tasks of a request
constexpr int slow_worker = 2, slow_factor = 8; // its slowdown
constexpr auto look_every = 2ms;                // how often the running tasks are checked
constexpr double late = 1.5;                    // in usual times: beyond that a copy is considered,
constexpr double slot_price = 0.1;              // and made if it saves more than this per worker second

struct task {
    int id = 0, kind = 0, worker = 0, attempts = 0;
    double usual = 0; // seconds that tasks like it take
    steady::time_point begun{};
    seconds took{};
};
struct worker {
    int id = 0, idle = 1;
    task doing{};
};

// Which of our members means what to the library.
constexpr straggle::predict::task_profile profile{.node = &task::worker,
                                                  .time = &task::took,
                                                  .factors =
                                                      factors(straggle::predict::categorical(&task::kind))};
constexpr straggle::running_fields runs{
    .node = &task::worker, .start = &task::begun, .input = &task::usual, .copies = &task::attempts};
constexpr straggle::assign::backup_node_fields helps{.node = &worker::id, .free = &worker::idle};

struct thread_pool {
    bool hedges, stops = false;
    std::vector<worker> workers{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
    std::vector<task> running{}; // each once: its first attempt
    std::mutex mutex{};          // of all of this
    std::condition_variable changed{};
    steady::time_point asked{};                                                   // the request
    std::vector<int> results = std::vector<int>(std::size_t{requests} * fan_out); // by task
    std::vector<double> times{}; // milliseconds from the request on
    int copies = 0, won = 0, cancelled = 0;
    seconds wasted{};

    // How long do which tasks take where; which of them run; what is late and has no copy; what pays?
    straggle::predict::similar_tasks<task, decltype(profile)> history{profile, {.capacity = 10'000}};
    straggle::detect::job_progress<int, steady::time_point> progress{};
    straggle::detect::straggler_scan<straggle::detect::without_copies<straggle::detect::flink>> scan{
        {{.multiplier = late, .lower_bound = 0.005}}};
    straggle::assign::assigner<straggle::assign::expected_gain> assigner{{.slot_price = slot_price}};

    void hedge(steady::time_point now) {
        progress.running(running, runs, now);
        auto const late_tasks = scan(progress.view(), running);
        auto const still = [&](auto const& suspect) {
            task const& t = *suspect.row;
            auto const left = history.remaining(t, t.worker, now - t.begun);
            return left ? *left->mean() : seconds(now - t.begun).count(); // longer than any: as long again
        };
        auto const there = [&](auto const& suspect, worker const& w) {
            return history.predict(*suspect.row, w.id);
        };
        auto const here = [](auto const& suspect) { return suspect.row->worker; };
        straggle::assign::straggler_fields const lags{.runs_on = here, .remaining = still};
        for (auto const& choice : assigner.choose(late_tasks, lags, workers, helps, there).choices)
            if (choice.copy) start(*late_tasks[choice.straggler].row, workers[choice.copy->node]);
    }
    void learn(task const& t) {
        history.observe(t);
        progress.observe(t.worker, t.took, t.usual); // some bytes each: clear() once a day
    }

    // From here on, an ordinary thread pool. The caller hands out the tasks of a request and watches them.
    void run(int next, int end) {
        std::unique_lock lock(mutex);
        for (asked = steady::now(); next < end || !running.empty(); changed.wait_for(lock, look_every)) {
            for (worker& w : workers) {
                if (!w.idle || next == end) continue;
                task t{.id = next, .kind = next++ % 3};
                t.usual = history.usual_time(t).value_or(0.01);
                running.push_back(start(t, w));
            }
            if (hedges) hedge(steady::now());
        }
    }
    task const& start(task& t, worker& w) {
        copies += ++t.attempts > 1;
        w = {.id = w.id, .idle = 0, .doing = t};
        w.doing.worker = w.id;
        w.doing.begun = steady::now();
        changed.notify_all();
        return w.doing;
    }
    void work(worker& me) {
        task& t = me.doing;
        for (std::unique_lock lock(mutex);; me.idle = 1, changed.notify_all()) {
            changed.wait(lock, [&] { return stops || !me.idle; });
            if (me.idle) return;
            // Stands for work that checks a flag from time to time, without holding the lock.
            int& result = results[static_cast<std::size_t>(t.id)];
            auto const end = t.begun + 6ms * (1 + t.kind) * (me.id == slow_worker ? slow_factor : 1);
            bool const too_late = changed.wait_until(lock, end, [&] { return result > 0; });
            t.took = steady::now() - t.begun;
            if (too_late) ++cancelled, wasted += t.took;
            if (too_late) continue;
            ++result;
            won += t.attempts > 1; // the first attempt counts only itself
            times.push_back(1000 * seconds(steady::now() - asked).count());
            std::erase_if(running, [&](task const& r) { return r.id == t.id; });
            learn(t);
        }
    }
};

int main() {
    bool right = true;
    for (bool const hedges : {false, true}) {
        thread_pool pool{hedges};
        std::vector<std::thread> threads;
        for (worker& w : pool.workers) threads.emplace_back([&] { pool.work(w); });
        auto const begin = steady::now();
        for (int r = 0; r < requests; ++r) pool.run(r * fan_out, (r + 1) * fan_out);
        double const total = seconds(steady::now() - begin).count();
        std::unique_lock lock(pool.mutex);
        pool.stops = true;
        lock.unlock();
        pool.changed.notify_all();
        for (std::thread& t : threads) t.join();
        int const n = requests * fan_out;
        right = right && pool.cancelled == pool.copies && std::ranges::count(pool.results, 1) == n;
        std::ranges::sort(pool.times);
        auto const at = [&](int percent) { return pool.times[static_cast<std::size_t>(n * percent / 100)]; };
        std::printf(
            "hedging %-3s: p50 %3.0f ms, p99 %3.0f ms, total %.2f s; %d copies, %d won; %.2f s wasted\n",
            hedges ? "on" : "off", at(50), at(99), total, pool.copies, pool.won, pool.wasted.count());
    }
    std::puts(right ? "each task has one result" : "WRONG: a result was lost, or came twice");
    return right ? 0 : 1;
}
