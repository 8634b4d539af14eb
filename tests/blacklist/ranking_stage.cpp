// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/ranking_stage.hpp>
#include <straggle/papers/dsb_2019.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

using namespace straggle;
using condition = record::condition;

namespace {

static_assert(blacklist::node_weighing<blacklist::ranking_stage<>>);

std::vector<blacklist::node_row> fleet(std::uint32_t nodes) {
    std::vector<blacklist::node_row> rows(nodes);
    for (std::uint32_t n = 0; n < nodes; ++n) rows[n].node = n;
    return rows;
}

// A window of jobs of 24 tasks on six nodes; one node takes twice as long.
template <class Stage>
void run_window(Stage& stage, std::uint32_t slow, double begin, std::uint64_t& job) {
    for (std::uint32_t j = 0; j < 6; ++j, ++job)
        for (std::uint32_t t = 0; t < 24; ++t) {
            double const took = (20.0 + (t * 7 + j) % 5) * (t % 6 == slow ? 2 : 1), end = begin + 50 + t;
            CHECK(
                stage.observe({.node = t % 6, .job = job, .task = t, .start = end - took, .end = end}, end));
        }
}

std::vector<std::uint32_t> out_of_service(auto const& stage) {
    std::vector<std::uint32_t> nodes;
    for (auto const& v : stage.verdicts())
        if (v.state == node_state::excluded) nodes.push_back(v.node);
    return nodes;
}

} // namespace

TEST_CASE("ranking_stage: dsb_2019 as a stage decides as its loop, window by window") {
    auto stage = papers::dsb_2019::nodes(100);
    auto loop = papers::dsb_2019::loop_of<ended_attempt>(detail::ended_attempt_fields, 100.0);
    std::mt19937_64 random(5);
    auto const rows = fleet(6);
    std::size_t named = 0;
    for (int window = 0; window < 30; ++window) {
        for (std::uint64_t j = 0; j < 4; ++j)
            for (std::uint32_t t = 0; t < 18; ++t) {
                auto const node = static_cast<std::uint32_t>(random() % 6);
                double const took = 20 + static_cast<double>(random() % 20) + (node == 2 ? 15 : 0);
                double const end = 100.0 * window + static_cast<double>(random() % 100);
                ended_attempt const a{.node = node,
                                      .job = 10u * static_cast<unsigned>(window) + j,
                                      .task = t,
                                      .start = end - took,
                                      .end = end};
                CHECK(stage.observe(a, 100.0 * window + 99) == loop.observe(a, 100.0 * window + 99));
            }
        double const now = 100.0 * (window + 1);
        stage.decide(now, {}, rows, {});
        std::multiset<std::uint32_t> one, other;
        for (auto const& v : loop.decide(now).blacklisted()) one.insert(v.id);
        for (std::uint32_t const n : out_of_service(stage)) other.insert(n);
        CHECK(one == other);
        named += one.size();
    }
    CHECK(named >= 30);
}

TEST_CASE("ranking_stage: the default keeps a slow node out, on probation, and takes it back") {
    blacklist::ranking_stage stage{monitor_options<double>{.window = 100}};
    auto const rows = fleet(6);
    std::uint64_t job = 0;
    double now = 0;
    std::set<node_state> seen;
    for (int window = 0; window < 12; ++window) {
        run_window(stage, window < 3 ? 4 : 6, now, job);
        now += 100;
        stage.decide(now, {}, rows, {});
        CHECK(out_of_service(stage).size() <= 1);
        for (auto const& v : stage.verdicts()) {
            CHECK(v.node == 4);
            CHECK(blacklist::has(v.causes, blacklist::cause::slow));
            CHECK(v.why.rule == "slower_by");
            if (v.state == node_state::excluded) CHECK(v.until >= now);
            if (v.state == node_state::on_probation) CHECK(v.probe_slots == 1);
            seen.insert(v.state);
        }
        if (window < 3) CHECK(stage.slowdown_of(4).value == doctest::Approx(2).epsilon(0.1));
    }
    CHECK(seen.count(node_state::excluded) == 1);
    CHECK(stage.verdicts().empty());
    CHECK(stage.slowdown_of(4).value == doctest::Approx(1).epsilon(0.1));
    CHECK_FALSE(stage.slowdown_of(99).is_known());
}

TEST_CASE("ranking_stage: what operators and the mitigator say holds") {
    auto stage = papers::dsb_2019::nodes(100);
    auto rows = fleet(6);
    rows[1].word = condition::away;
    rows[3].word = condition::denied;
    std::uint64_t job = 0;
    run_window(stage, 4, 0, job);
    stage.decide(100, {}, rows, {}, false); // no new exclusions
    REQUIRE(stage.verdicts().size() == 3);
    CHECK(stage.verdicts()[0].state == node_state::away);
    CHECK(stage.verdicts()[1].node == 3);
    CHECK(blacklist::has(stage.verdicts()[1].causes, blacklist::cause::denied));
    CHECK(stage.verdicts()[2].spared_by == blacklist::spared::by_caller);
    stage.decide(101, {}, rows, {});
    CHECK(out_of_service(stage) == std::vector<std::uint32_t>{3, 4});
    rows[4].word = condition::pinned;
    stage.decide(102, {}, rows, {});
    CHECK(out_of_service(stage) == std::vector<std::uint32_t>{3});
    CHECK(stage.verdicts().back().spared_by == blacklist::spared::by_operator);
    stage.forget_node(4);
    stage.decide(300, {}, rows, {});
    CHECK(stage.verdicts().size() == 2);
}
