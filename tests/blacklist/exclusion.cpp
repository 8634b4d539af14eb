// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/exclusion.hpp>

#include <support/contract_trap.hpp>
#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using straggle_test::broken_contract;
using straggle_test::contract_trap;

namespace {

constexpr std::int64_t last_window = (std::numeric_limits<std::int64_t>::max)();

constexpr blacklist::window_evidence weak{.n = 10, .mean = 2.0, .ranked = true, .weak = true};
constexpr blacklist::window_evidence good{.n = 10, .mean = 0.0, .ranked = true, .weak = false};
constexpr blacklist::window_evidence nothing{};
constexpr blacklist::window_evidence probe(double score, std::uint64_t n = 1) {
    return {.n = n, .mean = score, .ranked = false, .weak = false};
}

// What becomes of a fresh node: one letter per window in, w(eak) g(ood) n(othing), b(ad) or p(assing) probe;
// one letter per window out: '.' at large, 's' excluded, 'p' on probation.
template <class Policy>
std::string life(Policy const& policy, std::string const& windows, std::int64_t first = 1) {
    blacklist::exclusion s;
    std::string states;
    for (char const c : windows) {
        blacklist::window_evidence const e = c == 'w'   ? weak
                                             : c == 'g' ? good
                                             : c == 'b' ? probe(3.0)
                                             : c == 'p' ? probe(0.5)
                                                        : nothing;
        policy.advance(s, e, first++);
        states += s.state == node_state::excluded ? 's' : s.state == node_state::on_probation ? 'p' : '.';
    }
    return states;
}

// Lengths of the exclusions of a node that is weak whenever it is in service, and that gets no tasks
// otherwise.
std::vector<std::int64_t> lengths_of_relapses(blacklist::escalating const& policy, int relapses,
                                              std::int64_t window = 1) {
    std::vector<std::int64_t> lengths;
    blacklist::exclusion s;
    for (int i = 0; i < relapses; ++i) {
        policy.advance(s, weak, window);
        lengths.push_back(s.until - window);
        window = s.until;
        policy.advance(s, nothing, window);
        if (window < last_window) ++window;
    }
    return lengths;
}

using lengths = std::vector<std::int64_t>;

static_assert(std::same_as<decltype(blacklist::probation{}), blacklist::probation<blacklist::escalating>>);
static_assert(std::same_as<decltype(blacklist::probation{blacklist::rerank_every_window{}, 5}),
                           blacklist::probation<blacklist::rerank_every_window>>);
static_assert(
    std::same_as<decltype(blacklist::probation{.probes = 5}), blacklist::probation<blacklist::escalating>>);
static_assert(std::same_as<decltype(blacklist::hysteresis{}),
                           blacklist::hysteresis<blacklist::probation<blacklist::escalating>>>);
static_assert(
    std::same_as<decltype(blacklist::hysteresis{blacklist::probation{blacklist::escalating{1, 16}}, 3, 2}),
                 blacklist::hysteresis<blacklist::probation<blacklist::escalating>>>);
static_assert(std::same_as<decltype(blacklist::hysteresis{.inner = blacklist::escalating{.base = 2, .max = 8},
                                                          .enter = 3}),
                           blacklist::hysteresis<blacklist::escalating>>);
static_assert(blacklist::hysteresis{blacklist::escalating{2, 8}, 3}.inner.max == 8);
static_assert(std::regular<blacklist::exclusion> && std::is_trivially_copyable_v<blacklist::exclusion> &&
              sizeof(blacklist::exclusion) <= 48);

// All of it works at compile time.
static_assert([] {
    blacklist::exclusion s;
    blacklist::hysteresis<> const policy{};
    policy.advance(s, weak, 1);
    policy.advance(s, weak, 2);
    return s == blacklist::exclusion{
                    .state = node_state::excluded, .strikes = 1, .since = 2, .until = 3, .weak_streak = 2};
}());

} // namespace

TEST_CASE("states have names") {
    CHECK(to_string(node_state::healthy) == "healthy");
    CHECK(to_string(node_state::excluded) == "excluded");
    CHECK(to_string(node_state::on_probation) == "on_probation");
    CHECK(to_string(static_cast<node_state>(77)) == "unknown");
}

TEST_CASE("rerank_every_window: excluded is who is weak now") {
    CHECK(life(blacklist::rerank_every_window{}, "gwwgnwnwnn") == ".ss..s.s..");
    blacklist::exclusion s;
    blacklist::rerank_every_window{}.advance(s, weak, 5);
    CHECK(s == blacklist::exclusion{.state = node_state::excluded, .since = 5, .until = 6});
    blacklist::rerank_every_window{}.advance(s, weak, 9);
    CHECK(s == blacklist::exclusion{.state = node_state::excluded, .since = 5, .until = 10});
    blacklist::rerank_every_window{}.advance(s, good, 10);
    CHECK(s == blacklist::exclusion{});
}

TEST_CASE("rerank_every_window leaves a node on probation to those who put it there") {
    blacklist::exclusion s{.state = node_state::on_probation, .since = 1, .until = 2};
    blacklist::exclusion const before = s;
    blacklist::rerank_every_window{}.advance(s, nothing, 3);
    CHECK(s == before);
    blacklist::rerank_every_window{}.advance(s, good, 4);
    CHECK(s.state == node_state::healthy);
}

TEST_CASE("escalating: a exclusion lasts as many windows as it says") {
    CHECK(life(blacklist::escalating{3, 3}, "gwnnng") == ".sss..");
    CHECK(life(blacklist::escalating{1, 1}, "wnwn") == "s.s.");
    // Envoy: interval 10 s, base 30 s, ejected at 10 s; still out at 19.999 s and 39.999 s, back at 40 s.
    blacklist::exclusion s;
    blacklist::escalating const envoy{.base = 3, .max = 30};
    envoy.advance(s, weak, 1);
    CHECK(s.until == 4);
    envoy.advance(s, nothing, 3);
    CHECK(s.state == node_state::excluded);
    envoy.advance(s, nothing, 5); // 50.001 s: a window was skipped
    CHECK(s.state == node_state::healthy);
    CHECK(s.since == 0);
    CHECK(s.until == 0);
}

TEST_CASE("escalating: exclusions double up to the longest") {
    CHECK(lengths_of_relapses({1, 16}, 7) == lengths{1, 2, 4, 8, 16, 16, 16});
    CHECK(lengths_of_relapses({3, 20}, 5) == lengths{3, 6, 12, 20, 20});
    CHECK(lengths_of_relapses({5, 5}, 3) == lengths{5, 5, 5});
    // Envoy issue 21142: a node that fails whenever it is let back is no first offender.
    CHECK(lengths_of_relapses({30, 300}, 3) == lengths{30, 60, 120});
}

TEST_CASE("escalating: no more strikes than the longest exclusion needs") {
    // Envoy issue 37602: base 2, max 7. 2, 4, 7: the third strike is the last.
    blacklist::escalating const policy{2, 7};
    CHECK(lengths_of_relapses(policy, 6) == lengths{2, 4, 7, 7, 7, 7});
    blacklist::exclusion s;
    std::int64_t window = 0;
    for (int relapse = 0; relapse < 50; ++relapse) {
        policy.advance(s, weak, ++window);
        CHECK(s.strikes <= 3);
        window = s.until;
        policy.advance(s, nothing, window);
    }
    CHECK(s.strikes == 3);
    for (int i = 0; i < 3; ++i) policy.advance(s, good, ++window); // the way back is as long as the way there
    CHECK(s == blacklist::exclusion{});
    policy.advance(s, weak, ++window);
    CHECK(s.until - s.since == 2);
    // A policy that was made milder while the strikes were stored.
    s = {.strikes = 4'000'000'000};
    policy.advance(s, weak, ++window);
    CHECK(s.strikes == 3);
    CHECK(s.until - window == 7);
}

TEST_CASE("escalating: strikes go down by evidence only") {
    blacklist::escalating const policy{1, 16};
    blacklist::exclusion s{.strikes = 3};
    for (std::int64_t window = 1; window < 100; ++window) policy.advance(s, nothing, window);
    policy.advance(s, probe(0.0), 100); // one score is no evidence
    CHECK(s.strikes == 3);
    policy.advance(s, good, 1000);
    CHECK(s.strikes == 2);
    policy.advance(s, weak, 1001);
    CHECK(s.until == 1001 + 4);
    // What comes in while it serves was begun before.
    policy.advance(s, good, 1002);
    policy.advance(s, weak, 1003);
    policy.advance(s, weak, 1005);
    CHECK(s == blacklist::exclusion{.strikes = 3});
}

TEST_CASE("escalating: no exclusion overflows") {
    CHECK(lengths_of_relapses({last_window, last_window}, 1, 0) == lengths{last_window});
    blacklist::escalating const policy{.base = 1, .max = last_window};
    blacklist::exclusion s;
    for (int i = 1; i <= 200; ++i) {
        s.state = node_state::healthy;
        policy.advance(s, weak, 0);
        CHECK(s.until == (i <= 63 ? std::int64_t{1} << (i - 1) : last_window));
        CHECK(s.strikes <= 64);
    }
    s = {};
    blacklist::escalating{5, 5}.advance(s, weak, last_window - 2);
    CHECK(s.until == last_window);
    s = {};
    blacklist::escalating{5, 5}.advance(s, weak, (std::numeric_limits<std::int64_t>::min)());
    CHECK(s.until == (std::numeric_limits<std::int64_t>::min)() + 5);
}

TEST_CASE("escalating: a stored exclusion is never longer than the longest there is now") {
    blacklist::exclusion s{.state = node_state::excluded, .strikes = 9, .since = 90, .until = 100'000};
    blacklist::escalating{1, 8}.advance(s, nothing, 100);
    CHECK(s.state == node_state::excluded);
    CHECK(s.until == 108);
    blacklist::escalating{1, 8}.advance(s, nothing, 108);
    CHECK(s.state == node_state::healthy);
}

TEST_CASE("escalating on a node that others put on probation") {
    blacklist::exclusion const on_probation{
        .state = node_state::on_probation, .strikes = 2, .since = 3, .until = 5};
    auto const after = [&](blacklist::window_evidence const& e) {
        blacklist::exclusion s = on_probation;
        blacklist::escalating{}.advance(s, e, 7);
        return s;
    };
    CHECK(after(nothing) == on_probation);
    CHECK(after(probe(9.0)) == on_probation);
    CHECK(after(good) == blacklist::exclusion{.strikes = 1});
    CHECK(after(weak) ==
          blacklist::exclusion{.state = node_state::excluded, .strikes = 3, .since = 7, .until = 11});
}

TEST_CASE("probation: three probes decide") {
    blacklist::probation const policy{blacklist::escalating{2, 16}};
    CHECK(life(policy, "gwnn"
                       "pppgg") == ".ssp"
                                   "pp...");
    CHECK(life(policy, "wnn"
                       "bbb"
                       "nnnn"
                       "ppp") == "ssp"
                                 "pps"
                                 "sssp"
                                 "pp.");
    CHECK(life(policy, "wnn"
                       "ngn") == "ssp"
                                 "p.."); // ten scores at once
    CHECK(life(policy, "wnnnnnnnnnnn") == "ssppppppppp"
                                          "p"); // without probes it never ends
    CHECK(life(policy, "wnnw") == "ssps");      // the selection policy does not wait for probes
}

TEST_CASE("probation: the mean of the probes, at the bound still good") {
    blacklist::exclusion s{.state = node_state::on_probation, .strikes = 2, .since = 1, .until = 2};
    blacklist::probation<> const policy{};
    policy.advance(s, probe(4.0), 3);
    CHECK(s.probes == 1);
    CHECK(s.probe_sum == 4.0);
    policy.advance(s, nothing, 4);
    CHECK(s.probes == 1);
    policy.advance(s, probe(-0.5, 2), 5); // (4 - 0.5 - 0.5) / 3 = 1
    CHECK(s == blacklist::exclusion{.strikes = 1});
    s = {.state = node_state::on_probation, .strikes = 2, .since = 1, .until = 2};
    policy.advance(s, probe(1.5, 2), 3);
    policy.advance(s, probe(0.25), 4); // 3.25 / 3
    CHECK(s == blacklist::exclusion{.state = node_state::excluded, .strikes = 3, .since = 4, .until = 8});
}

TEST_CASE("probation: a sum beyond all numbers stays one that can be stored and taken from") {
    blacklist::exclusion s{.state = node_state::on_probation, .strikes = 1, .since = 1, .until = 2};
    blacklist::probation<> const policy{.probes = 1000};
    double const most = (std::numeric_limits<double>::max)();
    policy.advance(s, probe(most, 400), 3);
    CHECK(s.probe_sum == most);
    policy.advance(s, probe(-most, 400), 4);
    CHECK(s.probe_sum == -most);
    policy.advance(s, probe(most, 1), 5);
    CHECK(s.probe_sum == 0);
}

TEST_CASE("probation: error rates of one and of three probes") {
    auto const beyond = [](double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }; // upper tail of N(0, 1)
    CHECK(beyond(std::sqrt(3.0)) == doctest::Approx(0.0416).epsilon(0.01));
    CHECK(beyond(1.0) == doctest::Approx(0.1587).epsilon(0.01));
    std::uint64_t const seed = straggle_test::seed_or(11);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> score;
    auto const share_sentenced = [&](std::uint64_t probes, double shift) {
        blacklist::probation const policy{blacklist::escalating{}, probes};
        int again = 0;
        constexpr int trials = 40'000;
        for (int i = 0; i < trials; ++i) {
            blacklist::exclusion s{.state = node_state::on_probation, .strikes = 1, .since = 0, .until = 1};
            for (std::int64_t w = 2; s.state == node_state::on_probation; ++w)
                policy.advance(s, probe(score(engine) + shift), w);
            again += s.state == node_state::excluded;
        }
        return static_cast<double>(again) / trials;
    };
    // Five standard errors of a share of 40 000 trials.
    CHECK(std::fabs(share_sentenced(3, 0) - beyond(std::sqrt(3.0))) < 0.005);
    CHECK(std::fabs(share_sentenced(1, 0) - beyond(1.0)) < 0.0092);
    CHECK(std::fabs(share_sentenced(3, 2) - (1 - beyond(std::sqrt(3.0)))) < 0.005);
}

TEST_CASE("hysteresis: only so many weak windows in a row are believed") {
    blacklist::hysteresis const policy{blacklist::escalating{2, 16}, 3, 1};
    CHECK(life(policy, "wwgww") == ".....");
    CHECK(life(policy, "wwgwww") == ".....s");
    CHECK(life(policy, "wnnwpnbw") ==
          ".......s"); // windows without evidence neither break nor lengthen a row
    // A weak window that is not believed takes no strike back either.
    blacklist::exclusion s{.strikes = 2};
    policy.advance(s, weak, 1);
    CHECK(s == blacklist::exclusion{.strikes = 2, .weak_streak = 1});
    policy.advance(s, good, 2);
    CHECK(s == blacklist::exclusion{.strikes = 1});
}

TEST_CASE("hysteresis: on probation until so many good findings in a row") {
    // Around a policy that knows no probation: without evidence nobody is let go, and nobody serves for ever.
    CHECK(life(blacklist::hysteresis{blacklist::escalating{2, 16}, 1, 2}, "wnn"
                                                                          "nnngnng") == "ssp"
                                                                                        "pppppp.");
    CHECK(life(blacklist::hysteresis{blacklist::rerank_every_window{}, 1, 2}, "wn"
                                                                              "nngnwn"
                                                                              "gg") == "sp"
                                                                                       "pppps"
                                                                                       "p"
                                                                                       "p.");
    // Around one: two sets of probes, or two windows with an interval, or one of each.
    blacklist::hysteresis const policy{blacklist::probation{blacklist::escalating{1, 16}}, 1, 2};
    CHECK(life(policy, "wn"
                       "pppppp") == "sp"
                                    "ppppp.");
    CHECK(life(policy, "wn"
                       "gg") == "sp"
                                "p.");
    CHECK(life(policy, "wn"
                       "gppp") == "sp"
                                  "ppp.");
    CHECK(life(policy, "wn"
                       "pppbbb") == "sp"
                                    "ppppps");
    // And inside one.
    blacklist::probation const inside{blacklist::hysteresis{blacklist::escalating{1, 16}, 1, 2}};
    CHECK(life(inside, "wn"
                       "pppppp") == "sp"
                                    "ppppp.");
    CHECK(life(inside, "wn"
                       "pppbbb") == "sp"
                                    "ppppps");
}

TEST_CASE("hysteresis: strikes go down once, when the node is let go") {
    blacklist::hysteresis const policy{blacklist::probation{blacklist::escalating{1, 16}}, 1, 3};
    blacklist::exclusion s{.state = node_state::on_probation, .strikes = 4, .since = 1, .until = 2};
    policy.advance(s, good, 3);
    CHECK(s ==
          blacklist::exclusion{
              .state = node_state::on_probation, .strikes = 4, .since = 1, .until = 2, .good_streak = 1});
    policy.advance(s, good, 4);
    CHECK(s.strikes == 4);
    policy.advance(s, good, 5);
    CHECK(s == blacklist::exclusion{.strikes = 3});
}

namespace {

// The rules every composition keeps, from every state that a random life leads to.
template <class Policy>
void keeps_the_rules(Policy const& policy, bool judges_probes) {
    std::uint64_t const seed = straggle_test::seed_or(12);
    INFO(Policy::name, ", seed ", seed);
    std::mt19937_64 engine(seed);
    constexpr blacklist::window_evidence all[] = {weak, good, nothing, probe(3.0), probe(0.0), probe(3.0, 5)};
    for (int trial = 0; trial < 2000; ++trial) {
        blacklist::exclusion s;
        std::int64_t window = 0;
        for (std::size_t step = engine() % 40; step > 0; --step)
            policy.advance(s, all[engine() % 6], window += 1 + static_cast<std::int64_t>(engine() % 3));
        bool const free = s.state == node_state::healthy;
        CHECK((free || s.until > s.since));
        CHECK((!free || (s.since == 0 && s.until == 0 && s.good_streak == 0 && s.probes == 0)));
        CHECK(s.strikes <= 4); // as 8 windows need, see below

        // Nobody serves longer than the longest exclusion without being found weak again.
        blacklist::exclusion idle = s;
        for (std::int64_t w = window + 1; w <= window + 8; ++w) policy.advance(idle, nothing, w);
        CHECK(idle.state != node_state::excluded);
        // Good windows lead out, and to nothing worth remembering.
        blacklist::exclusion better = s;
        for (std::int64_t w = window + 1; w <= window + 8 + 2; ++w) policy.advance(better, good, w);
        CHECK(better.state == node_state::healthy);
        for (std::int64_t w = window + 11; w <= window + 11 + 4; ++w) policy.advance(better, good, w);
        CHECK(better == blacklist::exclusion{});
        // So do good probes, one at a time, where probes are judged.
        if (judges_probes) {
            blacklist::exclusion tried = s;
            // A set of probes begun badly may cost another exclusion.
            for (std::int64_t w = window + 1; w <= window + 2 * (8 + 6) + 8; ++w)
                policy.advance(tried, probe(0.0), w);
            CHECK(tried.state == node_state::healthy);
        }
        // Weak windows lead in, at the latest when a exclusion just over has been followed by two.
        blacklist::exclusion worse = s;
        std::int64_t w = window;
        bool served = false;
        for (int i = 0; i < 8 + 2; ++i) {
            policy.advance(worse, weak, ++w);
            served = served || worse.state == node_state::excluded;
        }
        CHECK(served);
        // The same again gives the same.
        blacklist::exclusion one = s, other = s;
        policy.advance(one, weak, window + 1);
        policy.advance(other, weak, window + 1);
        CHECK(one == other);
    }
}

} // namespace

TEST_CASE("no composition keeps a node for ever or loses one") {
    blacklist::escalating const by_length{1, 8};
    blacklist::rerank_every_window const anew{};
    keeps_the_rules(anew, false);
    keeps_the_rules(by_length, false);
    keeps_the_rules(blacklist::probation{anew}, true);
    keeps_the_rules(blacklist::probation{by_length}, true);
    keeps_the_rules(blacklist::hysteresis{anew}, false);
    keeps_the_rules(blacklist::hysteresis{by_length}, false);
    keeps_the_rules(blacklist::hysteresis{blacklist::probation{anew}}, true);
    keeps_the_rules(blacklist::hysteresis{blacklist::probation{by_length}}, true);
    keeps_the_rules(blacklist::probation{blacklist::hysteresis{anew}}, true);
    keeps_the_rules(blacklist::probation{blacklist::hysteresis{by_length}}, true);
}

TEST_CASE("parameters that make no sense break the contract") {
    contract_trap const trap;
    double const nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
    auto const use = [](auto const& policy) {
        blacklist::exclusion s;
        policy.advance(s, nothing, 1);
    };
    CHECK_THROWS_AS(use(blacklist::escalating{0, 16}), broken_contract);
    CHECK_THROWS_AS(use(blacklist::escalating{-1, 16}), broken_contract);
    CHECK_THROWS_AS(use(blacklist::escalating{5, 4}), broken_contract);
    CHECK_THROWS_AS(use(blacklist::probation{blacklist::escalating{}, 0}), broken_contract);
    CHECK_THROWS_AS(use(blacklist::probation{blacklist::escalating{}, 3, nan}), broken_contract);
    CHECK_THROWS_AS(use(blacklist::probation{blacklist::escalating{}, 3, infinity}), broken_contract);
    CHECK_THROWS_AS(use(blacklist::hysteresis{blacklist::escalating{}, 0, 2}), broken_contract);
    CHECK_THROWS_AS(use(blacklist::hysteresis{blacklist::escalating{}, 2, 0}), broken_contract);
    CHECK_NOTHROW(
        use(blacklist::hysteresis{blacklist::probation{blacklist::escalating{1, 1}, 1, -1.0}, 1, 1}));
}
