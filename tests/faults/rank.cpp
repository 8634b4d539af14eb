// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations while nodes are ranked, once and again.

#include "support/fault_cases.hpp"
#include "support/faults.hpp"

#include <straggle/rank/monitor.hpp>
#include <straggle/rank/normalize.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle_test::check_failures;
using straggle_test::named_attempt;
using straggle_test::promise;
using straggle_test::seen;
using straggle_test::seen_of;

struct numbered {
    std::uint32_t job, node;
    std::int64_t took;
};
constexpr straggle::attempt_fields numbered_fields{
    .job = &numbered::job, .node = &numbered::node, .duration = &numbered::took};
constexpr straggle::attempt_fields with_tasks{.job = &named_attempt::job,
                                              .task = &named_attempt::task,
                                              .node = &named_attempt::node,
                                              .duration = &named_attempt::took};
constexpr straggle::attempt_fields with_input{.job = &named_attempt::job,
                                              .node = &named_attempt::node,
                                              .duration = &named_attempt::took,
                                              .input = &named_attempt::input};

std::vector<numbered> numbered_history(std::uint32_t jobs, std::uint32_t nodes) {
    std::vector<numbered> all;
    for (std::uint32_t i = 0; i < jobs * nodes * 2; ++i)
        all.push_back({i % jobs, i / jobs % nodes, 100 + (i * 7919) % 31 + (i / jobs % nodes == 2 ? 50 : 0)});
    return all;
}

template <class Record, class Fields, class Options = straggle::rank_options<>>
void check_ranker(char const* what, std::vector<Record> const& few, std::vector<Record> const& many,
                  Fields const& fields, Options const& options = {}) {
    check_failures(
        what,
        [&] {
            straggle::node_ranker<Record, Fields, Options> ranker(fields, options);
            ranker.rank(few);
            return ranker;
        },
        [&](auto& ranker) { ranker.rank(many); }, [](auto const& ranker) { return seen(ranker.ranking()); });
}

using tick_monitor =
    straggle::monitor<named_attempt, std::remove_const_t<decltype(straggle_test::named_ticks)>>;
using real_monitor =
    straggle::monitor<named_attempt, std::remove_const_t<decltype(straggle_test::named_reals)>>;
using windowed =
    straggle::monitor<named_attempt, std::remove_const_t<decltype(straggle_test::named_in_time)>>;

// The bytes, what it said last, and what it would say.
template <class Monitor>
std::pair<std::vector<std::byte>, std::vector<seen_of>> state_of(Monitor const& m) {
    Monitor copy = m;
    return {m.serialize(), {seen(m.ranking()), seen(copy.rank())}};
}
template <class Monitor>
Monitor monitor_of(std::vector<named_attempt> const& history) {
    Monitor m = [] {
        if constexpr (std::is_same_v<Monitor, tick_monitor>)
            return Monitor(straggle_test::named_ticks);
        else
            return Monitor(straggle_test::named_reals);
    }();
    for (auto const& a : history) m.observe(a);
    return m;
}
windowed windowed_of(std::vector<named_attempt> const& history) {
    windowed m(straggle_test::named_in_time, {.window = 300, .slide = 100});
    for (auto const& a : history) m.observe(a);
    return m;
}

template <class Monitor>
void check_monitor() {
    auto const history = straggle_test::named_history(6, 5), other = straggle_test::named_history(9, 7);
    auto const some = [&] { return monitor_of<Monitor>(history); };
    auto const ranked = [&] {
        Monitor m = some();
        m.rank();
        return m;
    };
    named_attempt const stranger{"a job that nobody has heard of before", "a node that nobody has heard of"};
    check_failures(
        "observe a new job on a new node", some, [&](Monitor& m) { m.observe(stranger); }, state_of<Monitor>);
    check_failures(
        "observe it first", [] { return monitor_of<Monitor>({}); }, [&](Monitor& m) { m.observe(stranger); },
        state_of<Monitor>, promise::usable); // time has begun
    named_attempt at_home = stranger;
    at_home.node = history.front().node;
    check_failures(
        "observe a new job on a known node", some, [&](Monitor& m) { m.observe(at_home); },
        state_of<Monitor>);
    named_attempt elsewhere = stranger;
    elsewhere.job = history.front().job;
    check_failures(
        "observe a known job on a new node", some, [&](Monitor& m) { m.observe(elsewhere); },
        state_of<Monitor>);
    // Whatever else is next to grow.
    for (int i = 0; i < 24; ++i)
        check_failures(
            "observe one after the other",
            [&, i] {
                Monitor m = some();
                for (int k = 0; k < i; ++k)
                    m.observe({straggle_test::long_name("job", 3), straggle_test::long_name("more", k), 7});
                return m;
            },
            [i](Monitor& m) {
                m.observe({straggle_test::long_name("job", 3), straggle_test::long_name("more", i), 9});
            },
            state_of<Monitor>);
    check_failures("rank", some, [](Monitor& m) { m.rank(); }, state_of<Monitor>);
    check_failures(
        "rank more",
        [&] {
            Monitor m = ranked();
            for (auto const& a : other) m.observe(a);
            return m;
        },
        [](Monitor& m) { m.rank(); }, state_of<Monitor>);
    check_failures("finish", some, [&](Monitor& m) { m.finish(history.front().job); }, state_of<Monitor>);
    Monitor const second = monitor_of<Monitor>(other);
    check_failures("merge", ranked, [&](Monitor& m) { m.merge(second); }, state_of<Monitor>);
    check_failures("serialize", [&] { return second.serialize(); });
    std::vector<std::byte> const bytes = second.serialize();
    check_failures("restore", ranked, [&](Monitor& m) { (void)m.restore(bytes); }, state_of<Monitor>);
    check_failures("copy assignment", ranked, [&](Monitor& m) { m = second; }, state_of<Monitor>);
}

} // namespace

TEST_CASE("node_ranker: a failed allocation leaves the last ranking") {
    auto const few = straggle_test::named_history(3, 3), many = straggle_test::named_history(9, 6);
    check_ranker("text, ticks", few, many, straggle_test::named_ticks);
    check_ranker("text, reals", few, many, straggle_test::named_reals);
    check_ranker("tasks", few, many, with_tasks);
    check_ranker("robust", few, many, straggle_test::named_ticks,
                 straggle::rank_options<straggle::rank::robust_z>{});
    check_ranker("per input", few, many, with_input,
                 straggle::rank_options<straggle::rank::work_rate<straggle::rank::z_score>>{});
    check_ranker("dense numbers", numbered_history(2, 3), numbered_history(30, 9), numbered_fields);
    check_ranker("sparse numbers", numbered_history(2, 3), {{5, 1'000'000'000, 7}, {1'000'000'000, 3, 8}},
                 numbered_fields);
}

TEST_CASE("normalize: nothing leaks when an allocation fails") {
    auto const many = straggle_test::named_history(9, 6);
    check_failures("normalize", [&] {
        auto const n = straggle::rank::normalize(many, straggle_test::named_ticks);
        seen_of s;
        for (auto const& a : n.attempts) s.see(a.score);
        for (auto const& id : n.nodes) s.see(id);
        for (auto const& id : n.jobs) s.see(id);
        s.see(n.counts);
        return s;
    });
}

TEST_CASE("ranking_from: nothing leaks when an allocation fails") {
    auto const ranking = straggle::rank_nodes(straggle_test::named_history(9, 6), straggle_test::named_ticks);
    check_failures("ranking_from", [&] {
        return seen(*straggle::rank::ranking_from<std::string>(ranking.nodes(), ranking.unranked()));
    });
    auto const other = straggle::rank_nodes(straggle_test::named_history(5, 3), straggle_test::named_ticks);
    check_failures(
        "copy assignment", [&] { return other; }, [&](auto& r) { r = ranking; },
        [](auto const&) { return 0; }, promise::nothing);
}

TEST_CASE("p_cores: a failed allocation changes nothing") {
    std::vector<double> low, high;
    for (int i = 0; i < 300; ++i) {
        low.push_back((i * 7919) % 311);
        high.push_back(low.back() + i % 7);
    }
    struct levels {
        straggle::rank::p_cores cores = straggle::rank::p_cores();
        std::vector<std::uint32_t> level = std::vector<std::uint32_t>(300);
        std::size_t count = 0;
    };
    check_failures(
        "levels", [] { return levels{}; }, [&](levels& l) { l.count = *l.cores.levels(low, high, l.level); },
        [](levels const& l) { return std::pair(l.level, l.count); });
}

TEST_CASE("monitor: a failed allocation changes nothing, ticks") {
    check_monitor<tick_monitor>();
}

TEST_CASE("monitor: a failed allocation changes nothing, reals") {
    check_monitor<real_monitor>();
}

TEST_CASE("monitor: clear needs no memory") {
    named_attempt const huge{"a job of long tasks, and so is its name", "the node", std::int64_t{1} << 62};
    auto const wide = [&] {
        tick_monitor m = monitor_of<tick_monitor>(straggle_test::named_history(2, 2));
        for (int i = 0; i < 40; ++i) m.observe(huge);
        return m;
    };
    tick_monitor const original = wide();
    tick_monitor copy = original; // the copy has room for nothing
    {
        straggle_test::failing_allocations const failing(1);
        copy.clear();
    }
    CHECK(copy.nodes() == 0);
    for (int i = 0; i < 40; ++i) copy.observe(huge); // takes the place again
    tick_monitor again(straggle_test::named_ticks);
    for (int i = 0; i < 40; ++i) again.observe(huge);
    CHECK(copy.serialize() == again.serialize());
}

TEST_CASE("monitor: with windows a failed allocation loses no attempt, but time moves on") {
    auto const history = straggle_test::named_history(6, 5);
    named_attempt const next{"a job that nobody has heard of before", "a node that nobody has heard of", 70,
                             610};
    check_failures(
        "observe in the window", [&] { return windowed_of(history); },
        [&](windowed& m) {
            named_attempt a = next;
            a.end = history.back().end;
            m.observe(a);
        },
        state_of<windowed>);
    check_failures(
        "observe beyond the window", [&] { return windowed_of(history); },
        [&](windowed& m) { m.observe(next); }, state_of<windowed>, promise::usable);
    check_failures(
        "rank at a time", [&] { return windowed_of(history); }, [](windowed& m) { m.rank(610); },
        state_of<windowed>, promise::usable);
    check_failures(
        "the last ranking stands",
        [&] {
            windowed m = windowed_of(history);
            m.rank(500);
            return m;
        },
        [](windowed& m) { m.rank(610); }, [](windowed const& m) { return seen(m.ranking()); });
}
