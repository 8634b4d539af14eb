// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/failures/attempt.hpp>

#include <doctest/doctest.h>

#include <straggle/blacklist/node_stage.hpp>
#include <straggle/failures.hpp>

#include <vector>

namespace failures = straggle::failures;

static_assert(failures::failure_rule<failures::spark_health_tracker>);
static_assert(failures::failure_rule<failures::mapreduce_blacklist>);
static_assert(failures::failure_rule<failures::tez_blacklist>);
static_assert(failures::failure_rule<failures::mr1_blacklist>);
static_assert(failures::failure_rule<failures::storm_blacklist>);
static_assert(failures::failure_rule<failures::cook_novel_host>);
static_assert(failures::failure_rule<failures::envoy_outlier_detection>);

TEST_CASE("failures: an attempt as node decisions see it") {
    straggle::ended_attempt const a{.node = 3,
                                    .job = 4,
                                    .task = 5,
                                    .start = 6,
                                    .end = 7,
                                    .as = straggle::attempt_status::failed,
                                    .copy = true};
    failures::attempt const b = failures::attempt_of(a);
    CHECK(b.node == 3);
    CHECK(b.executor == failures::no_executor);
    CHECK(b.job == 4);
    CHECK(b.stage == 0);
    CHECK(b.task == 5);
    CHECK(b.end == 7);
    CHECK(b.as == straggle::attempt_status::failed);
    CHECK(b.kind == failures::failure_kind::task);
}

// Node 2 fails all its tasks, each a task of its own.
template <class Rule>
static std::vector<bool> out_after_a_black_hole(Rule rule) {
    for (std::uint32_t i = 0; i < 200; ++i) {
        bool const failed = i % 5 == 2;
        rule.observe({.node = i % 5,
                      .job = 1,
                      .task = i,
                      .id = i,
                      .end = i * 0.1,
                      .as = failed ? straggle::attempt_status::failed : straggle::attempt_status::success});
    }
    rule.advance(20);
    std::vector<bool> out;
    for (std::uint32_t node = 0; node < 5; ++node) out.push_back(rule.is_out(node));
    return out;
}

TEST_CASE("failures: each rule that blames nodes names a black hole, and nobody else") {
    std::vector<bool> const hole{false, false, true, false, false};
    failures::mapreduce_blacklist mapreduce;
    mapreduce.set_nodes(5);
    CHECK(out_after_a_black_hole(mapreduce) == hole);
    failures::tez_blacklist tez;
    tez.set_nodes(5);
    CHECK(out_after_a_black_hole(tez) == hole);
    CHECK(out_after_a_black_hole(failures::storm_blacklist()) == hole);
    CHECK(out_after_a_black_hole(failures::envoy_outlier_detection({.max_ejection_percent = 20})) == hole);
}

TEST_CASE("failures: a rule decides together with the library, by denying nodes") {
    straggle::node_stage decisions;
    straggle::failures::tez_blacklist rule({.maxtaskfailures_per_node = 3});
    std::vector<straggle::blacklist::node_row> rows;
    for (std::uint32_t node = 0; node < 8; ++node) rows.push_back({.node = node, .slots = 4});
    rule.set_nodes(rows.size());
    double now = 0;
    auto const round = [&](bool failing) {
        for (std::uint32_t i = 0; i < 3; ++i) {
            straggle::ended_attempt const a{.node = 5,
                                            .job = 1,
                                            .task = 100 * static_cast<std::uint64_t>(now) + i,
                                            .start = now,
                                            .end = now + 1,
                                            .as = failing ? straggle::attempt_status::failed
                                                          : straggle::attempt_status::success};
            decisions.observe(a, now + 1);
            rule.observe(straggle::failures::attempt_of(a));
        }
        now += 1;
        rule.advance(now);
        //! [deny]
        for (auto& row : rows)
            row.word = rule.is_out(row.node) ? straggle::record::condition::denied
                                             : straggle::record::condition::present;
        //! [deny]
        decisions.decide(now, {}, rows, {});
    };
    round(false);
    CHECK(decisions.state(5) == straggle::node_state::healthy);
    round(true);
    CHECK(decisions.state(5) == straggle::node_state::excluded);
    REQUIRE(!decisions.verdicts().empty());
    CHECK(decisions.verdicts().front().node == 5);
    CHECK(straggle::blacklist::has(decisions.verdicts().front().causes, straggle::blacklist::cause::denied));
    CHECK(decisions.state(4) == straggle::node_state::healthy);
}
