// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What grows with what: `growth CASE N` does the work of a case at size N, and prints the peak number of
/// bytes. `growth.py` counts instructions inside `counted` at N and at 4 N.

#include "support/lcg.hpp"

#include <straggle/blacklist/dynamic_blacklist.hpp>
#include <straggle/mitigate/mitigator.hpp>
#include <straggle/rank/monitor.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using straggle_bench::lcg;

double sink = 0;
std::size_t live = 0, most = 0; // bytes

} // namespace

// Each block is preceded by its size. Not inlined: the compiler would take the pair for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    auto* const block = static_cast<std::size_t*>(std::malloc(size + 16));
    if (block == nullptr) std::abort();
    *block = size;
    live += size;
    most = live > most ? live : most;
    return block + 2;
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
    if (at == nullptr) return;
    auto* const block = static_cast<std::size_t*>(at) - 2;
    live -= *block;
    std::free(block);
}
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept {
    operator delete(at);
}

// Callgrind starts to count on entry and stops on return; the script looks for this name.
extern "C" [[gnu::noinline]] void counted(void (*work)(void*), void* context) {
    work(context);
}

namespace {

template <class Work>
void count(Work work) {
    std::size_t const before = most = live;
    counted([](void* context) { (*static_cast<Work*>(context))(); }, &work);
    std::printf("bytes %zu\n", most - before);
}

template <class Id>
struct ended {
    Id job, task, node;
    double start, end;
};
template <class Id>
struct running {
    Id job, task, node;
    double start, progress;
};
template <class Id>
struct host {
    Id name;
    std::uint32_t slots, busy;
};
template <class Id>
constexpr straggle::attempt_fields ended_fields{.job = &ended<Id>::job,
                                                .task = &ended<Id>::task,
                                                .node = &ended<Id>::node,
                                                .start = &ended<Id>::start,
                                                .end = &ended<Id>::end};
template <class Id>
constexpr straggle::running_fields running_fields{.job = &running<Id>::job,
                                                  .task = &running<Id>::task,
                                                  .node = &running<Id>::node,
                                                  .start = &running<Id>::start,
                                                  .progress = &running<Id>::progress};
template <class Id>
constexpr straggle::node_fields host_fields{
    .node = &host<Id>::name, .slots = &host<Id>::slots, .busy = &host<Id>::busy};

template <class Id>
Id named(std::uint32_t number) {
    if constexpr (std::is_integral_v<Id>)
        return number;
    else
        return "some-name-" + std::to_string(number);
}

// Numbers of nodes (of four slots each), of attempts, and of tasks in a job.
struct sizes {
    std::uint32_t nodes, attempts, tasks_of_job;
};

template <class Id>
struct cluster {
    straggle::mitigator<ended<Id>, running<Id>, host<Id>, std::remove_const_t<decltype(ended_fields<Id>)>,
                        std::remove_const_t<decltype(running_fields<Id>)>,
                        std::remove_const_t<decltype(host_fields<Id>)>>
        mitigator{ended_fields<Id>, running_fields<Id>, host_fields<Id>};
    std::vector<host<Id>> hosts;
    std::vector<running<Id>> tasks;
    std::vector<ended<Id>> ends;
    double now = 100;

    explicit cluster(sizes s) {
        lcg random;
        for (std::uint32_t n = 0; n < s.nodes; ++n) hosts.push_back({named<Id>(n), 4, 1});
        for (std::uint32_t i = 0; i < s.attempts; ++i) {
            // Spread over all nodes, as schedulers do. (Comparing nodes along a chain of jobs that share few
            // takes more passes the longer the chain, up to 200.)
            Id const job = named<Id>(i / s.tasks_of_job), node = named<Id>(random() % s.nodes);
            double const length = 40 + 20 * random.uniform();
            double const start = 100 - length * random.uniform();
            ends.push_back({job, named<Id>(2 * i), node, 100 - 2 * length, 100 - length});
            tasks.push_back({job, named<Id>(2 * i + 1), node, start, (100 - start) / length});
        }
    }
    void observe() { sink += static_cast<double>(mitigator.observe(ends, 100)); }
    void decide() {
        sink += static_cast<double>(mitigator.decide(now, tasks, hosts, {.waiting = 10}).copies().size());
        now += 3;
    }
};

template <class Id, class Work>
void on_cluster(sizes s, Work work) {
    cluster<Id> c(s);
    count([&] { work(c); });
}
constexpr auto observe = [](auto& c) { c.observe(); };
// The first decision and some more, between which little ends.
constexpr auto decide = [](auto& c) {
    c.observe();
    for (int round = 0; round < 4; ++round) c.decide();
};
// Ends all jobs, then replaces all nodes.
constexpr auto replace = [](auto& c) {
    c.observe();
    c.decide();
    for (auto const& e : c.ends) c.mitigator.finish(e.job);
    c.tasks.clear();
    c.decide();
    for (auto& h : c.hosts) h.name += 1'000'000;
    c.now += 1e6;
    c.decide();
    c.decide();
};
template <class Id>
void store(sizes s, std::string_view what) {
    cluster<Id> c(s), other(s);
    c.observe();
    c.decide();
    if (what == "serialize")
        return count([&] { sink += static_cast<double>(c.mitigator.serialize().size()); });
    auto const bytes = c.mitigator.serialize();
    if (what == "restore")
        count([&] { sink += other.mitigator.restore(bytes) == straggle::status::ok ? 1 : 0; });
    else
        count([&] { other.mitigator.merge(c.mitigator); });
}
void places(std::uint32_t nodes, std::uint32_t calls) {
    cluster<std::uint32_t> c({nodes, 2000, 100});
    c.observe();
    c.decide();
    count([&] {
        for (std::uint32_t i = 0; i < calls; ++i)
            sink += static_cast<double>(c.mitigator.rank_places(std::uint32_t{3}, c.hosts).size());
    });
}
void place_all(std::uint32_t nodes, std::uint32_t tasks) {
    cluster<std::uint32_t> c({nodes, 2000, 100});
    c.observe();
    c.decide();
    count([&] {
        sink += static_cast<double>(c.mitigator.place_tasks(std::uint32_t{3}, tasks, c.hosts).size());
    });
}
void publish(std::uint32_t nodes) {
    cluster<std::uint32_t> c({nodes, 2000, 100});
    c.decide();
    for (auto& h : c.hosts) h.busy = 0;
    count([&] {
        c.decide();
        auto const seen = c.mitigator.published();
        for (auto const& h : c.hosts) sink += static_cast<double>(seen->state(h.name));
    });
}
void blacklist(sizes s) {
    cluster<std::uint32_t> c(s);
    straggle::dynamic_blacklist<ended<std::uint32_t>,
                                std::remove_const_t<decltype(ended_fields<std::uint32_t>)>>
        list(ended_fields<std::uint32_t>);
    count([&] {
        for (auto const& e : c.ends) (void)list.observe(e);
        for (int i = 0; i < 4; ++i)
            sink += static_cast<double>(list.decide(101 + 3 * i).blacklisted().size());
    });
}
void ranks(sizes s) {
    cluster<std::uint32_t> c(s);
    straggle::node_ranker<ended<std::uint32_t>, std::remove_const_t<decltype(ended_fields<std::uint32_t>)>>
        ranker(ended_fields<std::uint32_t>);
    count([&] { sink += static_cast<double>(ranker.rank(c.ends).levels()); });
}
void windows(sizes s) {
    cluster<std::uint32_t> c(s);
    straggle::monitor<ended<std::uint32_t>, std::remove_const_t<decltype(ended_fields<std::uint32_t>)>> m(
        ended_fields<std::uint32_t>, {.window = 100});
    count([&] {
        for (auto const& e : c.ends) (void)m.observe(e);
        sink += static_cast<double>(m.rank().levels());
    });
}

using number = std::uint32_t;

} // namespace

int main(int count_of_words, char** words) {
    if (count_of_words != 3) return std::fputs("usage: growth CASE N\n", stderr), 2;
    std::string_view const all = words[1];
    auto const n = static_cast<std::uint32_t>(std::strtoul(words[2], nullptr, 10));
    std::size_t const point = all.find('.');
    std::string_view const what = all.substr(0, point), grows = all.substr(point + 1);
    // Only this grows.
    sizes const s = grows == "nodes"  ? sizes{n, n, 50}
                    : grows == "jobs" ? sizes{100, n, 1}
                                      : sizes{100, n, 500};
    bool const is_text = grows == "names";
    if (what == "observe")
        is_text ? on_cluster<std::string>({n, n, 50}, observe) : on_cluster<number>(s, observe);
    else if (what == "decide")
        is_text ? on_cluster<std::string>({n, n, 50}, decide) : on_cluster<number>(s, decide);
    else if (what == "replace")
        on_cluster<number>(s, replace);
    else if (what == "serialize" || what == "restore" || what == "merge")
        is_text ? store<std::string>({n, n, 50}, what) : store<number>(s, what);
    else if (what == "rank_places")
        grows == "nodes" ? places(n, 1) : places(100, n);
    else if (what == "place_tasks")
        grows == "nodes" ? place_all(n, 1000) : place_all(100'000, n);
    else if (what == "published")
        publish(n);
    else if (what == "blacklist")
        blacklist(s);
    else if (what == "rank")
        ranks(s);
    else if (what == "monitor")
        windows(s);
    else
        return std::fputs("growth: no such case\n", stderr), 2;
    return sink < -1 ? 1 : 0;
}
