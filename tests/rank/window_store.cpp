// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What a monitor remembers, and until when: its windows, by the rule of its documentation written out as a
// walk over a list of everything that was ever seen.

#include <straggle/rank/detail/window_store.hpp>
#include <straggle/rank/monitor.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include "../support/contract_trap.hpp"
#include "../support/monitor_cases.hpp"
#include "../support/rank_window.hpp"
#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using straggle_test::difference;
using straggle_test::order_of_nodes;

namespace {

template <class Time>
struct timed {
    int job = 0;
    int node = 0;
    std::int64_t took = 0;
    std::optional<Time> end{};
    attempt_status status = attempt_status::success;
};
template <class Time>
constexpr attempt_fields fields{.job = &timed<Time>::job,
                                .node = &timed<Time>::node,
                                .end = &timed<Time>::end,
                                .duration = &timed<Time>::took,
                                .status = &timed<Time>::status};
template <class Time>
using watcher = monitor<timed<Time>, std::remove_const_t<decltype(fields<Time>)>>;

using milliseconds = std::chrono::milliseconds;
using wall = std::chrono::time_point<std::chrono::system_clock, milliseconds>;
using exact_wall = std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>>;

// Times and spans of a clock from whole numbers; quarters are exact in a double.
template <class Time>
Time at(std::int64_t t) {
    if constexpr (std::is_floating_point_v<Time>)
        return static_cast<Time>(t) / 4;
    else if constexpr (std::is_arithmetic_v<Time>)
        return static_cast<Time>(t);
    else if constexpr (std::is_floating_point_v<typename Time::rep>)
        return Time(typename Time::duration(static_cast<double>(t) / 4));
    else
        return Time(typename Time::duration(t));
}
template <class Time>
constexpr bool is_in_quarters = std::is_floating_point_v<Time>;
template <class Clock, class Duration>
constexpr bool is_in_quarters<std::chrono::time_point<Clock, Duration>> =
    std::is_floating_point_v<typename Duration::rep>;
template <class Time>
auto span(std::int64_t t) {
    return at<Time>(t) - at<Time>(0);
}

std::int64_t step_of(std::int64_t t, std::int64_t step) {
    std::int64_t k = t / step;
    while (k * step > t) --k;
    return k;
}
// The last step that is over at t.
std::int64_t last_over(std::int64_t t, std::int64_t step) {
    std::int64_t k = step_of(t, step);
    while ((k + 1) * step > t) --k;
    return k;
}

// The documented rule over a plain list.
template <class Time>
struct plain_watch {
    std::int64_t step, steps;
    double step_in_time; // of the clock
    std::optional<std::int64_t> head{};
    struct entry {
        std::int64_t number;
        timed<Time> attempt;
        int life; // of its job
    };
    std::vector<entry> seen{};
    std::map<int, int> lives{};
    std::uint64_t too_old = 0, early = 0, forgotten = 0;

    // A job of which nothing is held, and nothing was seen for three times its longest attempt, is over.
    void advance(std::int64_t number) {
        if (head && number <= *head) return;
        head = number;
        for (auto& [job, life] : lives) {
            std::int64_t last = INT64_MIN, longest = 0;
            for (entry const& e : seen) {
                if (e.attempt.job != job || e.life != life) continue;
                last = (std::max)(last, e.number);
                longest = (std::max)(longest, e.attempt.took);
            }
            double const stay = 3.0 * static_cast<double>(longest) / step_in_time;
            if (last == INT64_MIN || holds(last)) continue;
            if (*head < last + 1 + static_cast<std::int64_t>(std::ceil(stay))) continue;
            ++life;
            ++forgotten;
        }
    }
    [[nodiscard]] bool holds(std::int64_t number) const { return number > *head - steps - 1; }
    bool take(timed<Time> const& a, std::int64_t end) {
        std::int64_t const number = step_of(end, step);
        if (number > *head) return ++early, false;
        if (!holds(number)) return ++too_old, false;
        seen.push_back({number, a, lives[a.job]});
        return true;
    }
    [[nodiscard]] std::vector<timed<Time>> window(std::int64_t last) const {
        std::vector<timed<Time>> inside;
        for (entry const& e : seen)
            if (e.number > last - steps && e.number <= last && holds(e.number)) inside.push_back(e.attempt);
        return inside;
    }
    // What is remembered of what ended in a step or before.
    [[nodiscard]] std::vector<timed<Time>> known_by(std::int64_t number) const {
        std::vector<timed<Time>> known;
        for (entry const& e : seen)
            if (e.number <= number && e.life == lives.at(e.attempt.job)) known.push_back(e.attempt);
        return known;
    }
};

// Ends that mostly go up, on and beside the edges of steps, with gaps, laggards and runaways.
class event_source {
  public:
    event_source(std::mt19937_64& draw, std::int64_t step, bool may_be_negative)
        : draw_(draw), step_(step), now_(may_be_negative ? -40 * step : 300 * step) {}
    [[nodiscard]] std::int64_t now() const { return now_; }
    std::int64_t next() {
        std::uint64_t const what = draw_() % 64;
        if (what == 0) now_ += 30 * step_; // longer than any window here
        if (what < 20) now_ += static_cast<std::int64_t>(draw_() % static_cast<unsigned>(step_));
        std::int64_t end = now_;
        if (what % 8 == 1) end -= static_cast<std::int64_t>(draw_() % static_cast<unsigned>(12 * step_));
        if (what % 8 == 2) end = step_of(end, step_) * step_;     // on an edge
        if (what % 8 == 3) end = step_of(end, step_) * step_ - 1; // just before it
        if (what == 4) end += 3 * step_;
        return end;
    }

  private:
    std::mt19937_64& draw_;
    std::int64_t step_, now_;
};

constexpr attempt_status success = attempt_status::success;

} // namespace

TEST_CASE_TEMPLATE("windows: a ranking is that of the attempts of the window against all of their job", Time,
                   std::int64_t, std::uint64_t, std::int32_t, double, wall, exact_wall) {
    std::uint64_t const seed = straggle_test::seed_or(51);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::uint64_t lates = 0, earlies = 0, rankings = 0, forgotten = 0;
    for (int round = 0; round < 36; ++round) {
        CAPTURE(round);
        std::int64_t const step = round % 4 == 0 ? 4 : 4 * static_cast<std::int64_t>(1 + draw() % 40);
        std::int64_t const steps = round % 3 == 0 ? 1 : static_cast<std::int64_t>(1 + draw() % 9);
        bool const callers_clock = round % 2 == 1;
        bool const whole = round % 5 != 0;
        typename watcher<Time>::options how{.window = span<Time>(step * steps),
                                            .baseline =
                                                whole ? score_baseline::whole_job : score_baseline::window};
        if (steps > 1 || round % 2 == 0) how.slide = span<Time>(step);
        watcher<Time> m(fields<Time>, how);
        node_ranker<timed<Time>, std::remove_const_t<decltype(fields<Time>)>> batch(fields<Time>);
        double const step_in_time = static_cast<double>(step) * (is_in_quarters<Time> ? 0.25 : 1.0);
        plain_watch<Time> plain{step, steps, step_in_time};
        auto const check = [&](auto const& found, std::int64_t last, std::int64_t known_by) {
            if (whole) {
                // Times of an unsigned clock do not go below zero, nor do the windows asked about.
                straggle_test::time_window<Time> const window{at<Time>((last - steps + 1) * step),
                                                              at<Time>((last + 1) * step)};
                auto held = plain.known_by(known_by);
                auto const expected = straggle_test::rank_window(held, window, fields<Time>);
                if (plain.holds(last - steps + 1))
                    REQUIRE(difference(found, expected, order_of_nodes::any) == "");
            } else {
                REQUIRE(difference(found, batch.rank(plain.window(last)), order_of_nodes::any) == "");
            }
        };
        event_source events(draw, step, !std::is_unsigned_v<Time>);
        std::uint64_t entered = 0;
        for (int i = 0; i < 400; ++i) {
            CAPTURE(i);
            std::int64_t const end = events.next();
            timed<Time> const a{static_cast<int>(draw() % 6), static_cast<int>(draw() % 5),
                                static_cast<std::int64_t>(100 + draw() % 50), at<Time>(end), success};
            if (callers_clock) {
                plain.advance(step_of(events.now(), step));
                REQUIRE(m.observe(a, at<Time>(events.now())) == plain.take(a, end));
            } else {
                plain.advance(step_of(end, step));
                REQUIRE(m.observe(a) == plain.take(a, end));
            }
            entered = plain.seen.size();
            if (draw() % 4 == 0) {
                check(m.rank(), *plain.head, *plain.head);
            }
            if (draw() % 4 == 0) { // now, at an edge, in the future, in the past
                std::int64_t now = events.now();
                std::uint64_t const what = draw() % 8;
                if (what < 3) now = step_of(now, step) * step + (what == 1 ? 1 : 0);
                if (what == 3) now += step;
                if (what == 4) now -= static_cast<std::int64_t>(draw() % static_cast<unsigned>(8 * step));
                std::int64_t const last = last_over(now, step);
                REQUIRE(m.window_number(at<Time>(now)) == last);
                auto const& found = m.rank(at<Time>(now));
                plain.advance(step_of(now, step));
                check(found, last, step_of(now, step));
                rankings += found.levels() > 0 ? 1u : 0u;
            }
            REQUIRE(m.counts().too_old == plain.too_old);
            REQUIRE(m.counts().early == plain.early);
            if (whole) REQUIRE(m.counts().forgotten_jobs == plain.forgotten);
            REQUIRE(m.counts().attempts.used == entered);
            REQUIRE(straggle_test::adds_up(m.counts()));
        }
        lates += plain.too_old;
        earlies += plain.early;
        forgotten += whole ? plain.forgotten : 0;
    }
    CHECK(lates > 100);
    CHECK(earlies > 100);
    CHECK(forgotten > 50);
    CHECK(rankings > 500);
}

TEST_CASE("windows: which step an attempt belongs to, and which window a time") {
    using clock = std::int64_t;
    watcher<clock> m(fields<clock>, {.window = 100, .slide = 10});
    for (auto const& [now, number] : std::vector<std::pair<clock, clock>>{
             {0, -1}, {1, -1}, {9, -1}, {10, 0}, {11, 0}, {-1, -2}, {-10, -2}, {-9, -2}, {-11, -3}, {100, 9}})
        CHECK(m.window_number(now) == number);
    CHECK(m.has_window());
    // A tumbling window asked at its end or later is all of it; before, it is the one before.
    watcher<clock> hours(fields<clock>, {.window = 60});
    for (int i = 0; i < 6; ++i) hours.observe({1, i % 2, 10 + i * i, 54 + i});
    CHECK(hours.rank(59).attempts().used == 0);
    CHECK(hours.rank(59).fleet_size() == 0);
    CHECK(hours.rank().attempts().used == 6); // the step that is going on
    CHECK(hours.rank(60).attempts().used == 6);
    CHECK(hours.rank(60).nodes().size() == 2);
    CHECK(hours.rank(119).attempts().used == 6);
    CHECK(hours.rank().attempts().used == 0); // now that is another
    // What ended in the last window is still welcome while the next one goes on.
    CHECK(hours.observe({1, 0, 5, 59}));
    CHECK(hours.rank(60).attempts().used == 7);
    CHECK_FALSE(hours.observe({1, 0, 5, -1}));
    CHECK(hours.counts().too_old == 1);
    CHECK(hours.rank(120).attempts().used == 0);
    CHECK(hours.rank(60).attempts().used == 0); // gone for good
    CHECK_FALSE(hours.observe({1, 0, 5, 59}));
    CHECK(hours.pairs() == 0);
    CHECK(hours.nodes() == 0);
    CHECK(hours.jobs() == 1); // what it said is remembered for a while
    CHECK(hours.rank(300).fleet_size() == 0);
    CHECK(hours.jobs() == 0);
    CHECK(hours.counts().forgotten_jobs == 1);
    watcher<clock> ever(fields<clock>);
    CHECK(ever.window_number(123) == -1);
    CHECK_FALSE(ever.has_window());
}

TEST_CASE("windows: nodes come in order of first appearance since they were last without evidence") {
    using clock = std::int64_t;
    watcher<clock> m(fields<clock>, {.window = 20, .slide = 10});
    auto const names = [](auto const& ranking) {
        std::vector<int> all(ranking.fleet_size());
        for (auto const& n : ranking.nodes()) all[n.seen] = n.id;
        for (auto const& n : ranking.unranked()) all[n.seen] = n.id;
        return all;
    };
    m.observe({1, 7, 1, 1});
    m.observe({1, 5, 1, 2});
    m.observe({1, 9, 1, 3});
    CHECK(names(m.rank()) == std::vector{7, 5, 9});
    m.observe({1, 9, 1, 15});
    m.observe({1, 5, 1, 25});
    CHECK(names(m.rank()) == std::vector{5, 9}); // 7 is held, but outside
    m.observe({1, 7, 1, 26});
    CHECK(names(m.rank()) == std::vector{7, 5, 9});
    m.observe({1, 3, 1, 47}); // only what ended from 20 on is held
    m.observe({1, 9, 1, 48});
    m.observe({1, 5, 1, 49});
    CHECK(names(m.rank(40)) == std::vector{7, 5});
    CHECK(names(m.rank()) == std::vector{5, 3, 9});
}

TEST_CASE("windows: without an end field the caller's clock says when") {
    struct plain {
        int job, node;
        double took;
    };
    constexpr attempt_fields f{.job = &plain::job, .node = &plain::node, .duration = &plain::took};
    using type = monitor<plain, std::remove_const_t<decltype(f)>, rank_options<>, double>;
    type m(f, {.window = 1.0, .slide = 0.25});
    for (int i = 0; i < 8; ++i) CHECK(m.observe({1, i % 2, 1.0 + i * i}, 0.25 * i));
    CHECK(m.rank().attempts().used == 4);
    CHECK(m.rank(1.0).attempts().used == 1); // of four, three are no longer held
    CHECK(m.rank(1.99).attempts().used == 4);
    CHECK(m.rank(2.0).attempts().used == 4);
    CHECK(m.rank(2.25).attempts().used == 3);
    CHECK(m.counts().attempts.used == 8);
    {
        straggle_test::contract_trap const trap;
        CHECK_THROWS_AS(m.observe({1, 1, 1.0}), straggle_test::broken_contract);
        double const nan = std::numeric_limits<double>::quiet_NaN();
        for (double const bad : {nan, static_cast<double>(INFINITY), 0x1p62, -0x1p62}) {
            CHECK_THROWS_AS(m.observe({1, 1, 1.0}, bad), straggle_test::broken_contract);
            CHECK_THROWS_AS((void)m.rank(bad), straggle_test::broken_contract);
            CHECK_THROWS_AS((void)m.window_number(bad), straggle_test::broken_contract);
        }
    }
    type ever(f);
    CHECK(ever.observe({1, 1, 1.0}));
    CHECK(ever.observe({1, 1, 1.0}, 1e300)); // no window, no clock to break
    CHECK(ever.counts().attempts.used == 2);
}

TEST_CASE("windows: an end that is not known is missing_time; without a window nobody asks") {
    watcher<double> m(fields<double>, {.window = 8});
    double const nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    CHECK_FALSE(m.observe({1, 1, 1, nan})); // before the clock has started
    CHECK_FALSE(m.observe({1, 1, 1, std::nullopt}));
    CHECK(m.rank().attempts().seen == 0);
    CHECK(m.observe({1, 1, 1, 3.0}));
    for (double const bad : {nan, inf, -inf, 1e300, -1e300}) {
        CHECK_FALSE(m.observe({1, 1, 1, bad}));
        CHECK_FALSE(m.observe({1, 1, 1, bad}, 4.0));
    }
    CHECK_FALSE(m.observe({1, 1, 1, std::nullopt}, 4.0));
    CHECK(m.counts().attempts[rejection::missing_time] == 13);
    CHECK(m.counts().attempts.used == 1);
    CHECK(straggle_test::adds_up(m.counts()));
    // What is told about them enters the step of the time when they were seen.
    CHECK(m.rank().attempts()[rejection::missing_time] == 11);
    CHECK(m.rank(8.0).attempts()[rejection::missing_time] == 11);
    CHECK(m.rank(16.0).attempts().seen == 0);

    watcher<double> ever(fields<double>);
    CHECK(ever.observe({1, 1, 1, nan}));
    CHECK(ever.observe({1, 1, 1, std::nullopt}));
    CHECK(ever.rank().attempts().used == 2);
}

TEST_CASE("windows: failed and rejected attempts are counted in the step they ended in, never as late") {
    using clock = std::int64_t;
    watcher<clock> m(fields<clock>, {.window = 10});
    m.observe({1, 1, 1, 5, attempt_status::failed});
    m.observe({1, 1, 1, 6, attempt_status::killed});
    m.observe({1, 1, -1, 7});
    m.observe({1, 1, 1, 15});
    m.observe({1, 1, 1, 8, attempt_status::failed}); // held: one step behind
    CHECK(m.rank().attempts().seen == 1);
    auto const& before = m.rank(10).attempts();
    CHECK(before.seen == 4);
    CHECK(before.failed == 2);
    CHECK(before.killed == 1);
    CHECK(before[rejection::negative_duration] == 1);
    m.observe({1, 1, 1, -50, attempt_status::failed}); // not held: in no window
    CHECK(m.rank().attempts().seen == 1);
    CHECK(m.counts().too_old == 0);
    CHECK(m.counts().attempts.failed == 3);
    CHECK(straggle_test::adds_up(m.counts()));
}

TEST_CASE("windows: options that make no sense are broken contracts") {
    straggle_test::contract_trap const trap;
    auto const refused = [](auto window, auto slide) {
        using time = std::conditional_t<std::same_as<decltype(window), milliseconds>, wall, decltype(window)>;
        try {
            watcher<time> m(fields<time>, {.window = window, .slide = slide});
            return false;
        } catch (straggle_test::broken_contract const&) {
            return true;
        }
    };
    using clock = std::int64_t;
    CHECK(refused(clock{100}, clock{30}));
    CHECK(refused(clock{100}, clock{101}));
    CHECK(refused(clock{0}, clock{1}));
    CHECK(refused(clock{-100}, clock{0}));
    CHECK(refused(clock{100}, clock{-10}));
    CHECK(refused(clock{255}, clock{1}));
    CHECK_FALSE(refused(clock{254}, clock{1}));
    CHECK(refused(INT64_MAX, clock{1}));
    CHECK(refused(INT64_MIN, clock{1}));
    CHECK(refused(std::uint64_t{100}, std::uint64_t{30}));
    CHECK(refused(UINT64_MAX, std::uint64_t{1}));
    CHECK(refused(milliseconds(1000), milliseconds(300)));
    CHECK_FALSE(refused(milliseconds(1000), milliseconds(250)));
    double const nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    CHECK(refused(1.0, 0.3));
    CHECK(refused(1.0, 1e-300));
    CHECK(refused(nan, 0.0));
    CHECK(refused(1.0, nan));
    CHECK(refused(inf, 1.0));
    CHECK(refused(-1.0, 0.0));
    CHECK(refused(255.0, 1.0));
    CHECK_FALSE(refused(0.3, 0.1)); // not a whole number in binary, but meant
    CHECK_FALSE(refused(86400.0, 86400.0 / 7));
    CHECK(refused(clock{2'000'001}, clock{1'000'000}));
}

TEST_CASE("windows: from one end of time to the other") {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    using clock = std::int64_t;
    for (clock const window : {clock{2}, clock{254}}) {
        watcher<clock> m(fields<clock>, {.window = window, .slide = 1});
        CHECK(m.observe({1, 1, 1, -most}));
        CHECK(m.rank(-most + 1).attempts().used == 1);
        CHECK(m.rank(-most).attempts().used == 0);
        CHECK(m.observe({1, 1, 1, most}));
        CHECK(m.rank(most).attempts().used == 0);
        CHECK(m.rank().attempts().used == 1);
        CHECK(m.pairs() == 1);
        CHECK_FALSE(m.observe({1, 1, 1, -most}));
        CHECK(m.counts().too_old == 1);
        CHECK_FALSE(m.observe({1, 1, 1, INT64_MAX})); // cannot be numbered
        CHECK_FALSE(m.observe({1, 1, 1, INT64_MIN}));
        CHECK(m.counts().attempts[rejection::missing_time] == 2);
        watcher<clock> back(fields<clock>, {.window = window, .slide = 1});
        CHECK(back.restore(m.serialize()) == status::ok);
        CHECK(difference(back.rank(), m.rank()) == "");
    }
    watcher<clock> coarse(fields<clock>, {.window = INT64_MAX});
    CHECK(coarse.observe({1, 1, 1, INT64_MIN}));
    CHECK(coarse.observe({1, 1, 1, -1}));
    CHECK(coarse.rank().attempts().used == 1);
    CHECK(coarse.rank(0).attempts().used == 1);
    CHECK(coarse.observe({1, 1, 1, 0}));
    CHECK(coarse.observe({1, 1, 1, INT64_MAX}));
    watcher<std::uint64_t> large(fields<std::uint64_t>, {.window = UINT64_MAX / 8, .slide = UINT64_MAX / 8});
    CHECK(large.observe({1, 1, 1, UINT64_MAX}));
    CHECK(large.rank().attempts().used == 1);
}
