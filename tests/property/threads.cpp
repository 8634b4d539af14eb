// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What docs/guide/linking.md promises, for the thread sanitizer: distinct objects in distinct threads, const
// members of one object in many.

#include <straggle/straggle.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace straggle;

struct attempt {
    std::string job, host;
    std::int64_t took;
};
constexpr attempt_fields fields{.job = &attempt::job, .node = &attempt::host, .duration = &attempt::took};

std::vector<attempt> history() {
    std::vector<attempt> records;
    for (int i = 0; i < 2000; ++i) {
        int const host = i * 7 % 13;
        records.push_back({"job-" + std::to_string(i / 25), "host-" + std::to_string(host),
                           (host == 5 ? 3 : 1) * (1000 + i * 7919 % 211)});
    }
    return records;
}

// All begin at once.
template <class Work>
void in_threads(int count, Work work) {
    std::atomic<int> waiting{count};
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t)
        threads.emplace_back([&, t] {
            waiting.fetch_sub(1);
            while (waiting.load() > 0) std::this_thread::yield();
            work(t);
        });
    for (std::thread& t : threads) t.join();
}

TEST_CASE("threads: distinct objects in distinct threads") {
    std::vector<attempt> const records = history();
    auto const options = rank_options<rank::robust_z>{};
    auto const right = rank_nodes(records, fields);
    std::atomic<int> wrong{0};
    in_threads(4, [&](int) {
        auto const ranking = rank_nodes(records, fields);
        if (ranking.nodes().size() != right.nodes().size()) ++wrong;
        for (std::size_t i = 0; i < ranking.nodes().size(); ++i)
            if (ranking.nodes()[i].id != right.nodes()[i].id ||
                !(ranking.nodes()[i].ci == right.nodes()[i].ci))
                ++wrong;
        if (!blacklister{}.decide(ranking).avoids("host-5")) ++wrong;
        auto const median = rank_nodes(records, fields, options);
        if (!blacklister(blacklist::dominated_fdr{}).decide(median).avoids("host-5")) ++wrong;
        if (rank::normalize(records, fields).attempts.empty()) ++wrong;
    });
    CHECK(wrong == 0);
}

TEST_CASE("threads: const members of one object in many threads") {
    std::vector<attempt> const records = history();
    using ranker_type = node_ranker<attempt, std::remove_cvref_t<decltype(fields)>>;
    ranker_type ranker(fields);
    ranker.rank(records);
    ranker_type const& read_only = ranker;
    auto const decision = blacklister{}.decide(ranker.ranking());
    interner<std::string> hosts;
    std::vector<double> low, high;
    for (auto const& node : ranker.ranking().nodes()) {
        hosts.insert(node.id);
        low.push_back(node.ci.low);
        high.push_back(node.ci.high);
    }
    interner<std::string> const& all_hosts = hosts;
    rank::p_cores const cores{};
    std::atomic<int> wrong{0};
    in_threads(4, [&](int) {
        for (int i = 0; i < 100; ++i) {
            auto const& ranking = read_only.ranking();
            if (ranking.levels() == 0 || ranking.level(0).empty() || ranking.attempts().used != 2000) ++wrong;
            if (!decision.avoids("host-5") || decision.blacklisted().size() != 1) ++wrong;
            if (all_hosts.find("host-5") == all_hosts.none || all_hosts.find("host-99") != all_hosts.none)
                ++wrong;
            std::vector<std::uint32_t> nodes(low.size());
            if (!cores.weakest(low, high, nodes)) ++wrong;
            if (!stats::student_t_quantile(0.975, 3.5) || !(stats::student_t_critical(0.95)(7) > 2)) ++wrong;
        }
    });
    CHECK(wrong == 0);
}

struct timed_attempt {
    std::uint32_t job;
    std::string host;
    std::int64_t took, ended;
};
constexpr attempt_fields timed_fields{.job = &timed_attempt::job,
                                      .node = &timed_attempt::host,
                                      .end = &timed_attempt::ended,
                                      .duration = &timed_attempt::took};

timed_attempt nth(int i) {
    int const host = i * 7 % 13;
    return {static_cast<std::uint32_t>(i / 40), "host-" + std::to_string(host),
            (host == 5 ? 3 : 1) * (1000 + i * 7919 % 211), i};
}

TEST_CASE("threads: one decides, many read what it decided") {
    windowed_blacklist watch(
        monitor_of<timed_attempt>(timed_fields, {.window = 400}),
        rolling_blacklister_of<std::string>(blacklist::dominated{}, blacklist::rerank_every_window{}));
    constexpr int attempts = 40'000;
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0}, seen{0};
    in_threads(4, [&](int thread) {
        if (thread == 0) {
            for (int i = 0; i < attempts; ++i) {
                // Every third window is empty: nobody is avoided then.
                if (i / 400 % 3 != 2) watch.observe(nth(i));
                if (i % 400 == 399) watch.decide(i + 1);
            }
            done = true;
            return;
        }
        std::int64_t last = -1;
        bool over = false;
        while (!over) {
            over = done;
            auto const now = watch.latest();
            std::int64_t const window = now->window();
            if (window < last) ++wrong;
            last = window;
            bool const decided = now->excluding().size() != 0;
            if (now->avoids("host-5") != (decided && window % 3 != 2)) ++wrong;
            if (now->blacklisted().size() > 1) ++wrong;
            if (now->avoids("host-5")) ++seen;
        }
        if (last != attempts / 400 - 1) ++wrong;
    });
    CHECK(wrong == 0);
    CHECK(seen > 0);
}

TEST_CASE("threads: shards watch on their own and are merged by their owner") {
    constexpr int shards = 4, attempts = 20'000;
    auto whole = monitor_of<timed_attempt>(timed_fields, {.window = 5000, .slide = 1000});
    for (int i = 0; i < attempts; ++i) whole.observe(nth(i));
    using shard_type = decltype(whole);
    std::vector<shard_type> shard(shards, shard_type(timed_fields, {.window = 5000, .slide = 1000}));
    in_threads(shards, [&](int t) {
        for (int i = t; i < attempts; i += shards) shard[static_cast<std::size_t>(t)].observe(nth(i));
    });
    for (std::size_t t = 1; t < shards; ++t) shard[0].merge(shard[t]);
    auto const& merged = shard[0].rank(attempts);
    auto const& right = whole.rank(attempts);
    REQUIRE(merged.nodes().size() == 13);
    CHECK(merged.attempts() == right.attempts());
    for (auto const& node : right.nodes())
        for (auto const& other : merged.nodes())
            if (node.id == other.id) {
                CHECK(node.n == other.n);
                CHECK(node.mean == other.mean);
                CHECK(node.ci == other.ci);
                CHECK(node.level == other.level);
            }
}

} // namespace
