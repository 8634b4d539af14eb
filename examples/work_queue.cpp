// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A dispatcher that gives slow workers nothing to do for a while. Workers are processes that get one task at
/// a time; a job is done when its last task is. One worker is slow for some jobs: it is found, then tried
/// with copies of tasks that run elsewhere as well, and returns to service once it does them in time. POSIX
/// only.

#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/windowed_blacklist.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::size_t workers = 8, jobs = 72, tasks = 12; // of each job
constexpr std::size_t slow_worker = 5, slow_factor = 6;   // its slowdown
constexpr std::size_t slow_from = 10, slow_until = 40;    // in these jobs
constexpr auto task_time = 10ms;
constexpr auto window = 200ms;        // between two decisions
constexpr std::int64_t longest = 4;   // the longest exclusion, in windows
constexpr double most_avoided = 0.25; // share of all workers

struct order { // to a worker, and back when it is done
    std::size_t job, task;
};
struct worker {
    int socket = -1;
    pid_t process = -1;
    bool busy = false;
    std::size_t tried_in = jobs; // the last job it got a copy of
    steady::time_point since{};
};
struct attempt { // what the library reads
    std::size_t job, worker;
    steady::duration took;
    steady::time_point ended;
};
constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::worker, .end = &attempt::ended, .duration = &attempt::took};

[[noreturn]] void serve(int socket, std::size_t self) { // the worker's side
    for (order o{}; read(socket, &o, sizeof o) == sizeof o;) {
        bool const slow = self == slow_worker && o.job >= slow_from && o.job < slow_until;
        auto const needs = task_time * (80 + (o.job * 29 + o.task * 17) % 41) / 100; // 80 to 120 %
        std::this_thread::sleep_for(steady::duration(needs * (slow ? slow_factor : 1)));
        if (write(socket, &o, sizeof o) != sizeof o) break;
    }
    _exit(0);
}

bool dispatch(bool avoid) {
    straggle::windowed_blacklist watch(
        straggle::monitor_of<attempt>(fields, {.window = window}),
        straggle::rolling_blacklister_of<std::size_t>(
            straggle::blacklist::dominated{},
            straggle::blacklist::probation{straggle::blacklist::escalating{.base = 1, .max = longest}},
            straggle::blacklist::at_most_slot_fraction{most_avoided}));
    std::fflush(stdout); // otherwise the children might print it again
    std::array<worker, workers> pool;
    for (std::size_t id = 0; id < workers; ++id) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
        pool[id] = {.socket = ends[0], .process = fork()};
        if (pool[id].process == 0) serve(ends[1], id);
        close(ends[1]);
    }
    std::array<std::array<int, tasks>, jobs> given{}, done{};
    auto const give = [&](worker& w, order o) {
        w.busy = write(w.socket, &o, sizeof o) == sizeof o;
        w.since = steady::now();
        ++given[o.job][o.task];
    };
    auto const collect = [&] { // waits a while for results
        std::array<pollfd, workers> ready{};
        for (std::size_t id = 0; id < workers; ++id) ready[id] = {pool[id].socket, POLLIN, 0};
        poll(ready.data(), workers, 10);
        for (std::size_t id = 0; id < workers; ++id) {
            order o{};
            if (ready[id].revents == 0) continue;
            if (read(pool[id].socket, &o, sizeof o) != sizeof o) _exit(2); // a worker died
            auto const now = steady::now();
            watch.observe(attempt{o.job, id, now - pool[id].since, now}, now);
            pool[id].busy = false;
            ++done[o.job][o.task];
        }
    };

    auto const begin = steady::now();
    milliseconds before{}, slow{}, after{};
    std::string said;
    bool right = true;
    for (std::size_t job = 0; job < jobs; ++job) {
        auto const began = steady::now();
        for (std::size_t next = 0; std::ranges::count(done[job], 0) > 0; collect()) {
            auto const& decision = watch.decide(steady::now());
            for (std::size_t id = 0; id < workers; ++id) {
                worker& w = pool[id];
                if (w.busy || (avoid && decision.avoids(id))) continue;
                if (!avoid || !decision.tries(id)) {
                    if (next < tasks) give(w, {job, next++});
                } else if (next > 0 && w.tried_in != job) { // a task that runs elsewhere as well
                    give(w, {job, next - 1});
                    w.tried_in = job;
                }
            }
            std::string says; // the rest is for the reader
            for (auto const& v : decision.blacklisted())
                says += " avoid " + std::to_string(v.id) + " for " +
                        std::to_string(static_cast<long>(v.until - v.since)) + " windows;";
            for (auto const& v : decision.on_probation()) says += " try " + std::to_string(v.id) + ";";
            if (avoid && says != said)
                std::printf("  job %2zu:%s\n", job, says.empty() ? " all in service" : says.c_str());
            said = says;
            auto const out =
                static_cast<double>(decision.blacklisted().size() + decision.on_probation().size());
            right = right && out <= most_avoided * workers;
        }
        (job < slow_from ? before : job < slow_until ? slow : after) += steady::now() - began;
    }
    milliseconds const total = steady::now() - begin;
    while (std::ranges::count(pool, true, &worker::busy) > 0) collect();
    for (worker& w : pool) {
        shutdown(w.socket, SHUT_RDWR);
        waitpid(w.process, nullptr, 0);
        close(w.socket);
    }
    std::printf("%s: a job takes %.0f ms, while a worker is slow %.0f ms, then %.0f ms; all take %.2f s\n",
                avoid ? "avoiding slow workers" : "without", before.count() / slow_from,
                slow.count() / (slow_until - slow_from), after.count() / (jobs - slow_until),
                total.count() / 1000);
    return right && given == done;
}

int main() {
    bool const right = dispatch(false) && dispatch(true);
    std::puts(right ? "every order was carried out once" : "WRONG: an order was lost, or came back twice");
    return right ? 0 : 1;
}
