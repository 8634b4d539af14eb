// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Prints one number per part: a hash of results that are integers and of bytes that are stored.
// tests/platforms.sh runs it on every machine and natively, and compares. Nothing here is a floating result:
// compilers may contract those as they like.

#include <straggle/base/bytes.hpp>
#include <straggle/rank/monitor.hpp>
#include <straggle/rank/p_cores.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/stats/tick_moments.hpp>

#include "../support/rank_window.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

struct draw {
    std::uint64_t state = 1;
    std::uint32_t operator()(std::uint32_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(state >> 33) % below;
    }
};

struct hash {
    std::uint64_t value = 0xcbf29ce484222325u;
    void byte(std::uint8_t b) { value = (value ^ b) * 0x100000001b3u; }
    void number(std::uint64_t n) {
        for (int i = 0; i < 8; ++i) byte(static_cast<std::uint8_t>(n >> (8 * i)));
    }
};
void print(char const* part, hash const& h) {
    std::printf("%-14s %016" PRIx64 "\n", part, h.value);
}

struct attempt {
    std::string job;
    std::uint32_t node;
    std::int64_t took, end;
};
constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::node, .end = &attempt::end, .duration = &attempt::took};

std::vector<attempt> history() {
    draw random;
    std::vector<attempt> all;
    for (int i = 0; i < 20'000; ++i) {
        std::uint32_t const job = random(300), node = random(64);
        std::int64_t took = (std::int64_t{1000} << (job % 40)) + random(1000);
        if (node % 9 == 4) took += took / 2;
        all.push_back({"job_" + std::to_string(job), node, took, i});
    }
    return all;
}

template <class Ranking>
void add(hash& h, Ranking const& ranking) {
    h.number(ranking.levels());
    h.number(ranking.scored_attempts());
    for (auto const& n : ranking.nodes()) {
        h.number(n.id);
        h.number(n.n);
        h.number(n.level);
        h.number(n.seen);
    }
}

} // namespace

int main() {
    auto const all = history();

    hash stats;
    straggle::stats::tick_moments moments;
    for (attempt const& a : all) {
        moments.add(a.took);
        moments.add(-(a.took << 20));
    }
    auto const sums = moments.sums();
    for (std::uint64_t const n : {sums.n, sums.sum.lo, sums.sum.hi, sums.squares.low.lo, sums.squares.low.hi,
                                  sums.squares.top, static_cast<std::uint64_t>(moments.mean_parts().floor)})
        stats.number(n);
    print("stats", stats);

    hash rank;
    add(rank, straggle::rank_nodes(all, fields));
    add(rank, straggle_test::rank_window(all, straggle_test::time_window<std::int64_t>{5000, 9000}, fields));
    print("rank", rank);

    hash monitor;
    auto m = straggle::monitor_of<attempt>(fields, {.window = 4000, .slide = 500}), other = m;
    for (std::size_t i = 0; i < all.size(); ++i) (i % 3 == 0 ? other : m).observe(all[i]);
    m.merge(other);
    m.finish("job_7");
    for (std::byte const b : m.serialize()) monitor.byte(static_cast<std::uint8_t>(b));
    add(monitor, m.rank(19'000));
    print("monitor", monitor);

    hash cores;
    draw random;
    for (std::size_t const n : {1u, 7u, 8u, 9u, 63u, 1000u}) {
        std::vector<double> low, high;
        std::vector<std::uint32_t> level(n);
        for (std::size_t i = 0; i < n; ++i) {
            low.push_back(random(1000));
            high.push_back(low.back() + random(50));
        }
        straggle::rank::p_cores levels;
        cores.number(*levels.levels(low, high, level));
        for (std::uint32_t const l : level) cores.number(l);
    }
    print("p_cores", cores);
    return 0;
}
