// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What a monitor may hold, what it does where that is not enough, and what is left of it when something
// throws or it is moved from.

#include <straggle/rank/monitor.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include "support/allocations.hpp"
#include "support/monitor_cases.hpp"
#include "support/rank_window.hpp"
#include "support/seed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace straggle;
using straggle_test::adds_up;
using straggle_test::attempt;
using straggle_test::difference;
using straggle_test::order_of_nodes;
using straggle_test::real_monitor;
using straggle_test::tick_monitor;

namespace {

struct refusal {};

// Throws in the n-th question from now on; 0: never.
int patience = 0;
void ask() {
    if (patience > 0 && --patience == 0) throw refusal();
}

struct touchy {
    int value = 0;
    touchy() = default;
    touchy(int v) : value(v) {}
    friend bool operator==(touchy const& a, touchy const& b) {
        ask();
        return a.value == b.value;
    }
};

struct touchy_attempt {
    touchy job, node;
    std::int64_t took = 0, end = 0;
    [[nodiscard]] touchy const& asked_node() const {
        ask();
        return node;
    }
};
constexpr attempt_fields touchy_fields{.job = &touchy_attempt::job,
                                       .node = &touchy_attempt::asked_node,
                                       .end = &touchy_attempt::end,
                                       .duration = &touchy_attempt::took};

} // namespace

template <>
struct std::hash<touchy> {
    std::size_t operator()(touchy const& t) const {
        ask();
        return static_cast<std::size_t>(t.value);
    }
};

namespace {

using touchy_monitor = monitor<touchy_attempt, std::remove_const_t<decltype(touchy_fields)>>;

// Everything that can be seen of one: identifiers of the user's have no bytes.
std::string seen_of(touchy_monitor m) {
    std::string s = std::to_string(m.pairs()) + " " + std::to_string(m.jobs()) + " " +
                    std::to_string(m.nodes()) + " " + std::to_string(m.counts().attempts.seen) + ":";
    auto const& r = m.rank();
    for (auto const& n : r.nodes())
        s += std::to_string(n.id.value) + "=" + std::to_string(n.n) + "," + std::to_string(n.mean) + ";";
    for (auto const& n : r.unranked()) s += std::to_string(n.id.value) + "?" + std::to_string(n.n) + ";";
    for (auto const& j : r.degenerate_jobs())
        s += std::to_string(j.id.value) + "!" + std::to_string(j.attempts) + ";";
    return s;
}

// Whatever is asked of the user throws in turn, until nothing does.
template <class Make, class Do>
int check_questions(char const* what, Make&& make, Do&& act) {
    CAPTURE(what);
    for (int n = 1;; ++n) {
        CAPTURE(n);
        touchy_monitor m = make();
        std::string const before = seen_of(m);
        touchy_monitor undisturbed = m;
        act(undisturbed);
        bool thrown = false;
        patience = n;
        try {
            act(m);
        } catch (refusal const&) {
            thrown = true;
        }
        patience = 0;
        if (!thrown) return n - 1;
        REQUIRE(seen_of(m) == before);
        act(m);
        REQUIRE(seen_of(m) == seen_of(undisturbed));
    }
}

touchy_monitor touched(std::int64_t window = 0) {
    touchy_monitor m(touchy_fields, {.window = window});
    for (int i = 0; i < 90; ++i) m.observe({i % 3, i % 7, 100 + i * i % 90, 5});
    return m;
}

} // namespace

TEST_CASE("monitor: a hash, comparison or projection that throws changes nothing") {
    CHECK(check_questions(
              "a known pair", [] { return touched(); }, [](auto& m) { m.observe({1, 1, 50, 5}); }) >= 3);
    CHECK(check_questions(
              "a new job on a new node", [] { return touched(); },
              [](auto& m) { m.observe({7, 77, 50, 5}); }) >= 3);
    CHECK(check_questions("finish", [] { return touched(); }, [](auto& m) { m.finish(1); }) >= 2);
    CHECK(check_questions(
              "finish what has too few",
              [] {
                  touchy_monitor m = touched();
                  m.observe({9, 99, 1, 5});
                  return m;
              },
              [](auto& m) { m.finish(9); }) >= 2);
    touchy_monitor const other = [] {
        touchy_monitor m = touched();
        for (int i = 0; i < 40; ++i) m.observe({i % 5, 5 + i % 4, 80 + i, 5});
        return m;
    }();
    CHECK(check_questions("merge", [] { return touched(); }, [&](auto& m) { m.merge(other); }) > 50);
    // Windows that close while somebody throws: nothing is asked then.
    touchy_monitor m = touched(10);
    patience = 1;
    m.rank(1000);
    m.rank(100'000);
    patience = 0;
    CHECK(m.nodes() == 0);
    CHECK(m.jobs() == 0);
}

TEST_CASE("monitor: one that was moved from is empty, and can be used") {
    for (std::int64_t const window : {0, 40}) {
        std::mt19937_64 draw(3);
        auto const all = straggle_test::random_history(draw, 300);
        tick_monitor m(straggle_test::ticks, {.window = window});
        tick_monitor const fresh = m;
        for (attempt const& a : all) m.observe(a);
        m.finish(all.back().job);
        tick_monitor same = m, assigned = fresh;
        tick_monitor moved = std::move(m);
        CHECK(difference(moved.rank(), same.rank()) == "");
        for (int round = 0; round < 2; ++round) {
            CHECK(m.pairs() + m.jobs() + m.nodes() + m.finished_scores() == 0);
            CHECK(m.counts() == monitor_counts{});
            CHECK(m.serialize() == fresh.serialize());
            CHECK_FALSE(m.finish(1));
            m.clear();
            for (attempt const& a : all) m.observe(a);
            m.finish(all.back().job);
            CHECK(difference(m.rank(), same.rank()) == "");
            assigned = std::move(m);
            CHECK(assigned.serialize() == same.serialize());
        }
        m.merge(assigned);
        CHECK(difference(m.rank(), same.rank(), order_of_nodes::any) == "");
    }
}

TEST_CASE("monitor: new jobs of a known shape for ever allocate nothing") {
    for (bool const windows : {false, true})
        for (bool const finishing : {false, true}) {
            if (!windows && !finishing) continue; // these are kept
            CAPTURE(windows);
            CAPTURE(finishing);
            std::mt19937_64 draw(5);
            tick_monitor m(straggle_test::ticks, windows
                                                     ? tick_monitor::options{.window = 6000, .slide = 1000}
                                                     : tick_monitor::options{});
            int job = 0;
            auto const run = [&](int jobs) {
                for (int last = job + jobs; job < last; ++job) {
                    for (int task = 0; task < 40; ++task)
                        m.observe({job, static_cast<int>(draw() % 60), 100 + static_cast<int>(draw() % 50),
                                   job * std::int64_t{10} + task});
                    if (finishing) m.finish(job - 3);
                    if (job % 50 == 0) (void)m.rank(job * std::int64_t{10});
                }
            };
            run(20'000);
            CHECK(straggle_test::allocations_during([&] { run(5'000); }) == 0);
            if (windows) CHECK(m.jobs() < 700);
        }
}

TEST_CASE("monitor: each bound holds, is counted, and takes nothing but what is one too many") {
    SUBCASE("nodes") {
        tick_monitor m(straggle_test::ticks, {.window = 100, .max_nodes = 10});
        for (int i = 0; i < 100; ++i) m.observe({1, i % 20, 100 + i, 50});
        CHECK(m.nodes() == 10);
        CHECK(m.counts().over_capacity == 50);
        CHECK(m.counts().attempts.used == 50);
        CHECK(adds_up(m.counts()));
        for (int i = 0; i < 100; ++i) m.observe({2, 100 + i % 10, 100 + i, 450}); // others have departed
        CHECK(m.nodes() == 10);
        CHECK(m.counts().over_capacity == 50);
    }
    SUBCASE("jobs: the one that has rested for longest goes first, none that is in the window") {
        tick_monitor m(straggle_test::ticks, {.window = 10, .max_jobs = 3});
        for (int job = 0; job < 3; ++job) m.observe({job, 1, 1000, 5 + 10 * job}, 5 + 10 * job);
        CHECK(m.jobs() == 3);
        CHECK(m.observe({3, 1, 1000, 35}, 35)); // job 0 is forgotten
        CHECK(m.counts().evicted_jobs == 1);
        CHECK(m.jobs() == 3);
        CHECK(m.observe({4, 1, 1000, 36}, 36)); // and job 1; job 2 is in the window before
        CHECK_FALSE(m.observe({5, 1, 1000, 37}, 37));
        CHECK(m.counts().evicted_jobs == 2);
        CHECK(m.counts().over_capacity == 1);
        CHECK(adds_up(m.counts()));
        tick_monitor all(straggle_test::ticks, {.max_jobs = 2});
        for (int job = 0; job < 5; ++job) all.observe({job, 1, 10, 5});
        CHECK(all.jobs() == 2);
        CHECK(all.counts().over_capacity == 3);
    }
    SUBCASE("finished scores") {
        tick_monitor m(straggle_test::ticks, {.max_finished = 5}), whole(straggle_test::ticks);
        for (int job = 0; job < 3; ++job)
            for (int i = 0; i < 8; ++i)
                for (tick_monitor* const w : {&m, &whole}) w->observe({job, 4 * job + i % 4, 100 + i * i, 5});
        CHECK(m.finish(0));
        CHECK(m.finished_scores() == 4);
        CHECK_FALSE(m.finish(1));
        CHECK(m.counts().unfinished_jobs == 1);
        CHECK(m.jobs() == 2);
        CHECK(difference(m.rank(), whole.rank()) == "");
        tick_monitor back(straggle_test::ticks, {.max_finished = 3});
        CHECK(back.restore(m.serialize()) == status::out_of_range);
    }
    SUBCASE("bytes that hold more") {
        tick_monitor m(straggle_test::ticks);
        for (int i = 0; i < 40; ++i) m.observe({i % 5, i % 8, 100 + i, 5});
        for (tick_monitor::options const& how :
             {tick_monitor::options{.max_pairs = 39}, tick_monitor::options{.max_jobs = 4},
              tick_monitor::options{.max_nodes = 7}}) {
            tick_monitor back(straggle_test::ticks, how);
            CHECK(back.restore(m.serialize()) == status::out_of_range);
            CHECK(back.jobs() == 0);
            back.merge(m);
            CHECK(back.counts().over_capacity > 0);
            CHECK(back.pairs() <= how.max_pairs);
            CHECK(back.jobs() <= how.max_jobs);
            CHECK(back.nodes() <= how.max_nodes);
            CHECK(adds_up(back.counts()));
        }
    }
}

TEST_CASE("monitor: a batch is one attempt after the other") {
    std::uint64_t const seed = straggle_test::seed_or(91);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        tick_monitor::options how;
        if (round % 3 != 0) how = {.window = 120, .slide = 40};
        if (round % 5 == 0) how.max_pairs = 40, how.max_jobs = 9, how.max_nodes = 7;
        tick_monitor one(straggle_test::ticks, how), many = one;
        real_monitor real(straggle_test::reals), reals = real;
        auto const all = straggle_test::random_history(draw, 400);
        for (std::size_t i = 0; i < all.size();) {
            std::size_t const size = (std::min)(std::size_t{draw() % 100}, all.size() - i);
            std::span<attempt const> const batch = std::span(all).subspan(i, size);
            std::size_t entered = 0;
            bool const by_clock = draw() % 2 == 0;
            for (attempt const& a : batch) {
                entered += (by_clock ? one.observe(a, all[i].end) : one.observe(a)) ? 1u : 0u;
                real.observe(a);
            }
            CHECK((by_clock ? many.observe(batch, all[i].end) : many.observe(batch)) == entered);
            CHECK(reals.observe(batch) == size);
            i += size;
        }
        REQUIRE(difference(many.rank(), one.rank()) == "");
        REQUIRE(many.counts().too_old == one.counts().too_old);
        REQUIRE(many.counts().forgotten_jobs == one.counts().forgotten_jobs);
        REQUIRE(many.counts().evicted_jobs == one.counts().evicted_jobs);
        REQUIRE(many.counts() == one.counts());
        REQUIRE(many.serialize() == one.serialize());
        REQUIRE(reals.serialize() == real.serialize());
    }
}

TEST_CASE("monitor: a job of which something runs is remembered as long as that takes") {
    tick_monitor::options const how{.window = 10};
    tick_monitor quiet(straggle_test::ticks, how), told = quiet;
    for (int i = 0; i < 8; ++i) {
        quiet.observe({1, i % 2, 10 + i % 3, 5}, 5);
        told.observe({1, i % 2, 10 + i % 3, 5}, 5);
    }
    CHECK_FALSE(told.observe_running(2, 5, 6)); // nothing is known of it
    CHECK(told.observe_running(1, 20, 30));
    quiet.rank(30);
    CHECK(quiet.jobs() == 1);
    quiet.rank(60); // three times 12 after the end of the step it was seen in
    CHECK(quiet.jobs() == 0);
    CHECK(quiet.counts().forgotten_jobs == 1);
    told.rank(60);
    CHECK(told.jobs() == 1);
    told.rank(99); // 3 * 20 after the step of 30
    CHECK(told.jobs() == 1);
    // Its last attempt ends, and is far slower than any: with its siblings it can be told.
    told.observe({1, 3, 80, 99}, 99);
    CHECK(told.rank(100).usable_jobs() == 1);
    REQUIRE(told.ranking().unranked().size() == 1);
    CHECK(told.ranking().unranked()[0].mean > 2.5);
    quiet.observe({1, 3, 80, 99}, 99);
    CHECK(quiet.rank(100).usable_jobs() == 0);
    told.rank(1000);
    CHECK(told.jobs() == 0);
}

TEST_CASE("monitor: finish in the midst of steps forgets the job when the last of them is gone") {
    std::mt19937_64 draw(straggle_test::seed_or(92));
    tick_monitor m(straggle_test::ticks, {.window = 40, .slide = 10}), whole = m;
    for (int i = 0; i < 60; ++i)
        for (tick_monitor* const w : {&m, &whole}) w->observe({1, i % 4, 1000 + i * i % 37, i});
    CHECK_FALSE(m.finish(1));
    for (std::int64_t now = 60; now < 90; now += 10) CHECK(difference(m.rank(now), whole.rank(now)) == "");
    m.rank(200);
    whole.rank(200);
    CHECK(m.jobs() == 0);
    CHECK(m.counts().forgotten_jobs == 0); // it was not forgotten, but over
    CHECK(whole.jobs() == 1);
}

TEST_CASE("monitor: windows are those of rank_window in any order, through merging and storing") {
    std::uint64_t const seed = straggle_test::seed_or(93);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::size_t rankings = 0;
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        auto all = straggle_test::random_history(draw, 400);
        std::int64_t const last = all.back().end, slide = 20 + static_cast<std::int64_t>(draw() % 60);
        // What ended before the steps that are held is shown first, and in order.
        auto const middle = std::partition_point(all.begin(), all.end(),
                                                 [&](attempt const& a) { return a.end < last - 3 * slide; });
        std::shuffle(middle, all.end(), draw);
        tick_monitor::options const how{.window = 3 * slide, .slide = slide, .remember = 1e9};
        tick_monitor one(straggle_test::ticks, how), merged = one, stored = one;
        real_monitor real(straggle_test::reals, {.window = 3 * slide, .slide = slide, .remember = 1e9});
        std::vector<tick_monitor> shards(3, one);
        for (attempt const& a : all) {
            one.observe(a);
            real.observe(a);
            shards[draw() % 3].observe(a);
            if (draw() % 50 == 0) REQUIRE(stored.restore(one.serialize()) == status::ok);
        }
        for (tick_monitor const& s : shards) merged.merge(s);
        REQUIRE(stored.restore(merged.serialize()) == status::ok);
        CHECK(one.counts().too_old == 0);
        for (std::int64_t now = last - slide; now <= last + 2 * slide; now += slide / 2) {
            std::int64_t const step = now / slide - (now % slide < 0 ? 1 : 0), known = (step + 1) * slide;
            std::vector<attempt> seen;
            for (attempt const& a : all)
                if (a.end < known) seen.push_back(a);
            straggle_test::time_window<std::int64_t> const window{(step - 3) * slide, step * slide};
            if (window.from < last - 3 * slide && now < last) continue; // partly gone
            auto const expected = straggle_test::rank_window(seen, window, straggle_test::ticks);
            REQUIRE(difference(one.rank(now), expected, order_of_nodes::any) == "");
            REQUIRE(difference(merged.rank(now), expected, order_of_nodes::any) == "");
            REQUIRE(difference(stored.rank(now), expected, order_of_nodes::any) == "");
            REQUIRE(difference(real.rank(now), straggle_test::rank_window(seen, window, straggle_test::reals),
                               order_of_nodes::any, 1e-12) == "");
            rankings += expected.levels() > 0 ? 1u : 0u;
        }
    }
    CHECK(rankings > 60);
}

TEST_CASE("monitor: floating durations are told apart at any offset") {
    struct record {
        int job, node;
        double took;
    };
    constexpr attempt_fields f{.job = &record::job, .node = &record::node, .duration = &record::took};
    std::uint64_t const seed = straggle_test::seed_or(94);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    struct shape {
        double offset, spread;
        std::size_t size;
    };
    for (shape const& s : {shape{1e6, 1e-2, 4000}, shape{1e12, 1.0, 4000}, shape{1e12, 1e-2, 4000},
                           shape{0, 1, 4000}, shape{3e9, 1e-6, 4000}, shape{1e6, 1e-2, 200'000}}) {
        CAPTURE(s.offset);
        CAPTURE(s.spread);
        for (bool const outlier_first : {false, true}) {
            std::vector<record> all;
            for (std::size_t i = 0; i < s.size; ++i) {
                double const u = static_cast<double>(draw() >> 11) * 0x1p-53;
                all.push_back(
                    {static_cast<int>(i % 3), static_cast<int>(draw() % 20), s.offset + s.spread * (1 + u)});
            }
            // The worst origin there is: a job's first duration tells nothing of the others.
            if (outlier_first)
                for (std::size_t i = 0; i < 3; ++i) all[i].took += 1e3 * s.spread;
            auto m = monitor_of<record>(f), left = m, right = m;
            for (std::size_t i = 0; i < all.size(); ++i) {
                m.observe(all[i]);
                (i % 2 == 0 ? left : right).observe(all[i]);
            }
            left.merge(right);
            // In numbers of more digits.
            std::vector<long double> mean(3), squares(3), n(3), score(20), count(20);
            for (record const& r : all) {
                auto const j = static_cast<std::size_t>(r.job);
                n[j] += 1;
                mean[j] += static_cast<long double>(r.took) - static_cast<long double>(s.offset);
            }
            for (std::size_t j = 0; j < 3; ++j) mean[j] /= n[j];
            for (record const& r : all) {
                auto const j = static_cast<std::size_t>(r.job);
                long double const d =
                    static_cast<long double>(r.took) - static_cast<long double>(s.offset) - mean[j];
                squares[j] += d * d;
            }
            for (record const& r : all) {
                auto const j = static_cast<std::size_t>(r.job), k = static_cast<std::size_t>(r.node);
                long double const d =
                    static_cast<long double>(r.took) - static_cast<long double>(s.offset) - mean[j];
                score[k] += d / std::sqrt(squares[j] / n[j]);
                count[k] += 1;
            }
            for (auto* const w : {&m, &left}) {
                auto const& ranking = w->rank();
                REQUIRE(ranking.nodes().size() == 20);
                for (auto const& node : ranking.nodes()) {
                    auto const k = static_cast<std::size_t>(node.id);
                    REQUIRE(std::fabs(node.mean - static_cast<double>(score[k] / count[k])) <= 1e-12);
                }
            }
            CHECK(difference(m.rank(), rank_nodes(all, f), order_of_nodes::any, 1e-12) == "");
        }
    }
}

TEST_CASE("monitor: NaN is the name of no node and of no job") {
    struct record {
        double job, node;
        std::int64_t took;
    };
    constexpr attempt_fields f{.job = &record::job, .node = &record::node, .duration = &record::took};
    auto m = monitor_of<record>(f);
    double const nan = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < 100; ++i) {
        CHECK_FALSE(m.observe({1.0, nan, 5}));
        CHECK_FALSE(m.observe({nan, 1.0, 5}));
    }
    std::vector<record> const some{{1, nan, 5}, {nan, 1, 5}, {1, 1, 5}};
    CHECK(m.observe(some) == 1);
    CHECK(m.nodes() == 1);
    CHECK(m.jobs() == 1);
    CHECK(m.counts().attempts[rejection::missing_node] == 101);
    CHECK(m.counts().attempts[rejection::missing_job] == 101);
    CHECK(rank_nodes(some, f).attempts()[rejection::missing_node] == 1);
}
