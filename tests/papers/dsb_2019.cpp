// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/papers/dsb_2019.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace straggle;
namespace dsb = straggle::papers::dsb_2019;

namespace {

struct attempt {
    int job;
    std::string host;
    double took;
};
constexpr attempt_fields fields{.job = &attempt::job, .node = &attempt::host, .duration = &attempt::took};

struct ended {
    int job;
    std::string host;
    std::int64_t took, end;
};
constexpr attempt_fields ended_fields{
    .job = &ended::job, .node = &ended::host, .end = &ended::end, .duration = &ended::took};

template <class Decision>
std::vector<std::string> names(Decision const& decision) {
    std::vector<std::string> all;
    for (auto const& v : decision.blacklisted()) all.push_back(v.id);
    return all;
}

// Three jobs of two tasks: 20 on the slow host, 10 on the other.
template <class Loop>
void run_window(Loop& loop, std::string const& slow, std::string const& fast, std::int64_t end, int& job) {
    for (int i = 0; i < 3; ++i, ++job) {
        CHECK(loop.observe(ended{job, fast, 10, end}));
        CHECK(loop.observe(ended{job, slow, 20, end}));
    }
}

} // namespace

TEST_CASE("dsb_2019: two tasks make a job, the deviation is the population's, all of level 0 is out") {
    // z = -1 and +1 in each job; node b has +1 three times: mean 1, deviation 0, a point.
    std::vector<attempt> const attempts{{1, "a", 10}, {1, "b", 20}, {2, "a", 5},
                                        {2, "b", 9},  {3, "a", 1},  {3, "b", 2}};
    auto const ranking = rank_nodes(attempts, fields, dsb::ranking());
    REQUIRE(ranking.levels() == 2);
    CHECK(ranking.level(0)[0].id == "b");
    CHECK(ranking.level(0)[0].mean == 1.0);
    auto const decision = dsb::blacklist().decide(ranking);
    REQUIRE(decision.blacklisted().size() == 1);
    CHECK(decision.blacklisted()[0].id == "b");
    CHECK(decision.spared().empty());
    // The default wants five tasks a job.
    CHECK(rank_nodes(attempts, fields).levels() == 0);
}

TEST_CASE("dsb_2019: a straggler takes more than 1.5 times the average") {
    CHECK_FALSE(dsb::straggler(15.0, 10.0));
    CHECK(dsb::straggler(15.5, 10.0));
}

TEST_CASE("dsb_2019: algorithm 1 ranks every window anew, by the tasks of that window alone") {
    auto loop = dsb::loop_of<ended>(ended_fields, 100);
    int job = 0;
    CHECK(loop.decide(50).blacklisted().empty());
    run_window(loop, "b", "a", 50, job);
    CHECK(loop.decide(99).blacklisted().empty()); // the window is not over
    CHECK(names(loop.decide(100)) == std::vector<std::string>{"b"});
    CHECK(loop.monitor().ranking().levels() == 2);

    // In the next one b still runs what it had, and is the fast one: ranked with the others, and released.
    run_window(loop, "a", "b", 150, job);
    CHECK(names(loop.decide(199)) == std::vector<std::string>{"b"}); // what is going on counts later
    CHECK(names(loop.decide(200)) == std::vector<std::string>{"a"});

    // A window in which a runs nothing, since it is avoided: without a score it is released, too.
    CHECK(loop.observe(ended{job, "b", 10, 250}));
    CHECK(loop.observe(ended{job, "c", 20, 250}));
    CHECK(loop.observe(ended{job + 1, "b", 10, 251}));
    CHECK(loop.observe(ended{job + 1, "c", 20, 251}));
    CHECK(names(loop.decide(300)) == std::vector<std::string>{"c"});
    CHECK(names(loop.decide(400)).empty()); // nothing ran
}

TEST_CASE("dsb_2019: the loop decides as a batch over the same window, and once for each") {
    std::mt19937_64 random(7);
    auto loop = dsb::loop_of<ended>(ended_fields, 1000);
    for (std::int64_t window = 0; window < 20; ++window) {
        std::vector<ended> tasks;
        for (int job = 0; job < 6; ++job)
            for (int task = 0; task < 12; ++task) {
                std::string const host(1, static_cast<char>('a' + random() % 6));
                auto const took = static_cast<std::int64_t>(50 + random() % 50 + (host == "c" ? 40 : 0));
                auto const at = window * 1000 + static_cast<std::int64_t>(random() % 1000);
                tasks.push_back({static_cast<int>(window) * 100 + job, host, took, at});
            }
        for (ended const& t : tasks) CHECK(loop.observe(t, (window + 1) * 1000 - 1));
        auto const batch = dsb::blacklist().decide(rank_nodes(tasks, ended_fields, dsb::ranking()));
        std::multiset<std::string> one, other;
        for (auto const& n : names(loop.decide((window + 1) * 1000))) one.insert(n);
        for (auto const& n : names(batch)) other.insert(n);
        CHECK(one == other);
        CHECK_FALSE(one.empty());
    }
}

TEST_CASE("dsb_2019: with number, at most k of level 0, drawn once for each window") {
    // All times of a job are equal but for one host each: wide intervals that overlap, one level of six.
    std::mt19937_64 random(11), draws(3);
    auto loop = dsb::loop_of<ended>(ended_fields, 1000, blacklist::top_k_intersection(2, draws));
    std::vector<ended> tasks;
    for (int job = 0; job < 8; ++job)
        for (int task = 0; task < 12; ++task)
            tasks.push_back({job, std::string(1, static_cast<char>('a' + (task + job) % 6)),
                             static_cast<std::int64_t>(50 + random() % 50), 500});
    for (ended const& t : tasks) CHECK(loop.observe(t));
    auto const ranking = rank_nodes(tasks, ended_fields, dsb::ranking());
    REQUIRE(ranking.level(0).size() > 2);
    auto const first = names(loop.decide(1000));
    CHECK(first.size() == 2);
    for (auto const& name : first) {
        bool weak = false;
        for (auto const& node : ranking.level(0)) weak = weak || node.id == name;
        CHECK(weak);
    }
    for (int i = 0; i < 10; ++i) CHECK(names(loop.decide(1500)) == first);
}
