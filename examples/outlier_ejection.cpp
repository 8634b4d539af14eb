// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A load balancer that ejects backends by their latency, where others look only at errors. In each interval
/// latencies are compared by route, so no backend is blamed for a costly route. Backends that are clearly
/// slower get no requests for a time that doubles with each relapse; the share that may be out is limited.

#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/windowed_blacklist.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::size_t backends = 10, routes = 3, requests = 1600;
constexpr auto request_every = 1250us;
constexpr std::size_t bad_backend = 4, bad_factor = 4;     // the slowdown of its answers
constexpr std::size_t bad_from = 400, bad_until = 1100;    // for these requests
constexpr auto interval = 100ms;                           // between two decisions
constexpr std::int64_t ejection = 1, longest_ejection = 8; // in intervals: the first one, and the longest
constexpr double max_ejected = 0.3;                        // share of all backends
constexpr double least_harm = 0.5;                         // deviations by which it must be slower than most

struct request { // what the library reads
    std::size_t id, route, backend;
    steady::time_point sent, answered;
};
constexpr straggle::attempt_fields fields{
    .job = &request::route, .node = &request::backend, .start = &request::sent, .end = &request::answered};

struct network {
    std::mutex mutex;
    std::array<std::condition_variable, backends> arrived;
    std::array<std::deque<request>, backends> sent;
    std::vector<request> answers;
    bool closed = false;

    void send(request const& r) {
        std::lock_guard const lock(mutex);
        sent[r.backend].push_back(r);
        arrived[r.backend].notify_one();
    }
    std::vector<request> receive() {
        std::lock_guard const lock(mutex);
        return std::exchange(answers, {});
    }
    void close() {
        std::lock_guard const lock(mutex);
        closed = true;
        for (std::condition_variable& c : arrived) c.notify_one();
    }
    void serve(std::size_t self) { // a backend: serves one request after the other
        for (std::unique_lock lock(mutex);;) {
            arrived[self].wait(lock, [&] { return closed || !sent[self].empty(); });
            if (sent[self].empty()) return;
            request r = sent[self].front();
            sent[self].pop_front();
            lock.unlock();
            bool const bad = self == bad_backend && r.id >= bad_from && r.id < bad_until;
            auto const needs = 100us * (10 + 10 * r.route + r.id * 7919 / 8 % 37) * (bad ? bad_factor : 1);
            std::this_thread::sleep_for(steady::duration(needs));
            lock.lock();
            r.answered = steady::now();
            answers.push_back(r);
        }
    }
};

bool balance(bool ejects) {
    network net;
    std::vector<std::thread> threads;
    for (std::size_t b = 0; b < backends; ++b) threads.emplace_back([&net, b] { net.serve(b); });

    straggle::windowed_blacklist watch(
        straggle::monitor_of<request>(fields, {.window = interval}),
        straggle::rolling_blacklister_of<std::size_t>(
            straggle::blacklist::dominated{.least_mean = least_harm},
            straggle::blacklist::escalating{.base = ejection, .max = longest_ejection},
            straggle::blacklist::at_most_slot_fraction{max_ejected}));
    std::vector<int> answers(requests);
    std::array<std::vector<double>, 3> latencies; // before, while and after a backend is bad
    bool right = true;
    auto const receive = [&] {
        for (request const& r : net.receive()) {
            watch.observe(r, steady::now());
            ++answers[r.id];
            std::size_t const phase = r.id < bad_from ? 0 : r.id < bad_until ? 1 : 2;
            latencies[phase].push_back(milliseconds(r.answered - r.sent).count());
        }
    };

    auto begin = steady::now(), due = begin;
    std::string said;
    for (std::size_t id = 0, next = 0; id < requests; ++id) {
        std::this_thread::sleep_until(due += request_every);
        receive();
        auto const& decision = watch.decide(steady::now()); // decides once per interval
        do next = (next + 1) % backends;
        while (ejects && decision.avoids(next));
        net.send({id, id * 7919 / 64 % routes, next, steady::now(), {}});

        std::string says;
        for (auto const& v : decision.blacklisted())
            says += " backend " + std::to_string(v.id) + " ejected for " +
                    std::to_string(static_cast<long>(v.until - v.since) * interval.count()) + " ms;";
        if (ejects && says != said)
            std::printf("  %4.0f ms:%s\n", milliseconds(steady::now() - begin).count(),
                        says.empty() ? " all in service" : says.c_str());
        said = says;
        right = right && static_cast<double>(decision.blacklisted().size()) <= max_ejected * backends;
    }
    net.close();
    for (std::thread& t : threads) t.join();
    receive();
    std::printf("%s ejection: p50, p99", ejects ? "with" : "without");
    for (std::vector<double>& l : latencies) {
        std::ranges::sort(l);
        std::printf(" %4.0f, %4.0f ms;", l[l.size() / 2], l[l.size() * 99 / 100]);
    }
    std::puts(" before, while and after a backend is bad");
    return right && std::ranges::count(answers, 1) == requests;
}

int main() {
    bool const right = balance(false) && balance(true);
    std::puts(right ? "every request was answered once" : "WRONG: an answer was lost, or came twice");
    return right ? 0 : 1;
}
