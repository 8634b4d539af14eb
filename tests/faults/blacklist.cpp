// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations while it is decided which nodes to avoid.

#include "blacklist/windows.hpp"
#include "support/fault_cases.hpp"
#include "support/faults.hpp"

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/forecast_weak.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/blacklist/timed_limits.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>
#include <straggle/blacklist/windowed_blacklist.hpp>
#include <straggle/rank/monitor.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle_test::check_failures;
using straggle_test::named_attempt;
using straggle_test::promise;
using straggle_test::seen_of;

std::vector<double> scores(int weak, int good) {
    std::vector<double> all;
    for (int i = 0; i < good; ++i) all.push_back(0.01 * i);
    for (int i = 0; i < weak; ++i) all.push_back(5 + i);
    return all;
}
auto const& some_weak() {
    static auto const ranking = straggle_test::window_of(scores(4, 9));
    return ranking;
}
auto const& more_weak() {
    static auto const ranking = straggle_test::window_of(scores(9, 19));
    return ranking;
}

template <class Decision>
seen_of seen_in(Decision const& d) {
    seen_of s;
    for (auto const list : {d.blacklisted(), d.on_probation(), d.spared()}) {
        s.see(list.size());
        for (auto const& v : list) {
            s.see(v.id);
            for (double const x : {v.mean, v.sd, v.ci.low, v.value, v.threshold}) s.see(x);
            s.see(v.rule);
            s.see(v.spared_by);
            s.see(v.strikes);
            s.see(v.since);
            s.see(v.until);
        }
    }
    s.see(d.rule());
    s.see(d.excluding());
    s.see(d.window());
    s.see(static_cast<int>(d.note()));
    return s;
}
template <class Keeper>
seen_of seen_in_keeper(Keeper const& k) {
    seen_of s = seen_in(k.decision());
    k.for_each_exclusion([&](std::string const& id, straggle::blacklist::exclusion const& state) {
        s.see(id);
        s.see(static_cast<int>(state.state));
        for (auto const n : {state.since, state.until}) s.see(n);
        for (auto const n : {state.strikes, state.weak_streak, state.good_streak}) s.see(n);
    });
    return s;
}

template <class Blacklister>
struct deciding {
    Blacklister decide;
    straggle::blacklist_decision<std::string> decision{};
};
// What it says, and what it would say of one more window: limits remember, too.
template <class Blacklister>
void check_blacklister(char const* what, Blacklister const& blacklister) {
    auto const decided = [&] {
        deciding<Blacklister> d{blacklister};
        d.decide.decide(some_weak(), d.decision);
        return d;
    };
    check_failures(
        what, decided, [](auto& d) { d.decide.decide(more_weak(), d.decision); },
        [](auto const& d) {
            auto copy = d;
            copy.decide.decide(more_weak(), copy.decision);
            return std::pair(seen_in(d.decision), seen_in(copy.decision));
        },
        promise::usable);
    // The decision is empty in between, and nothing else changes.
    check_failures(
        what, decided,
        [](auto& d) {
            straggle::blacklist_decision<std::string> other;
            d.decide.decide(more_weak(), other);
        },
        [](auto const& d) {
            auto copy = d;
            copy.decide.decide(more_weak(), copy.decision);
            return seen_in(copy.decision).numbers.size();
        },
        promise::usable);
}

struct rack_of {
    std::string operator()(std::string const& node) const {
        return "a rack whose name needs memory of its own " + std::string(1, node.back());
    }
};
struct often_weak {
    straggle::outcome<double> operator()(std::string const& node) const {
        return node.back() % 2 == 0 ? 0.9 : 0.1;
    }
};

template <class Keeper>
void check_keeper(char const* what, Keeper const& keeper) {
    auto const kept = [&] {
        Keeper k = keeper;
        k.decide(some_weak(), 1);
        k.decide(more_weak(), 2);
        return k;
    };
    check_failures(
        what, kept, [](Keeper& k) { k.decide(some_weak(), 4); },
        [](Keeper const& k) {
            Keeper copy = k;
            copy.decide(more_weak(), 5);
            return std::pair(seen_in_keeper(k), seen_in_keeper(copy));
        });
    std::vector<std::string> fleet;
    for (std::size_t i = 0; i < 40; ++i) fleet.push_back(straggle_test::name_of(i));
    check_failures(what, kept, [&](Keeper& k) { k.decide(some_weak(), 4, fleet); }, seen_in_keeper<Keeper>);
    check_failures(
        what, [&] { return keeper; }, [](Keeper& k) { k.decide(more_weak(), 1); }, seen_in_keeper<Keeper>);
    check_failures(
        what, kept,
        [](Keeper& k) {
            k.restore("a node that nobody has heard of before, with a long name",
                      {.state = straggle::node_state::excluded, .strikes = 2, .since = 1, .until = 9});
        },
        seen_in_keeper<Keeper>);
    check_failures(
        "copy assignment", [&] { return keeper; }, [other = kept()](Keeper& k) { k = other; },
        seen_in_keeper<Keeper>);
}

using windowed =
    straggle::monitor<named_attempt, std::remove_const_t<decltype(straggle_test::named_in_time)>>;

} // namespace

TEST_CASE("blacklister: after a failed allocation it decides as before") {
    using namespace straggle;
    check_blacklister("dominated", blacklister{blacklist::dominated{}, record::unlimited{}});
    check_blacklister("clearly_dominated", blacklister{blacklist::clearly_dominated{}, record::unlimited{}});
    check_blacklister("dominated_fdr", blacklister{blacklist::dominated_fdr{}, record::unlimited{}});
    check_blacklister("weakest_level", blacklister{blacklist::weakest_level{}, blacklist::at_most{2}});
    check_blacklister("top_k_intersection",
                      blacklister{blacklist::top_k_intersection{1}, record::unlimited{}});
    check_blacklister("forecast_weak",
                      blacklister{blacklist::forecast_weak{often_weak{}}, record::unlimited{}});
    check_blacklister("either", blacklister{blacklist::either{blacklist::dominated{},
                                                              blacklist::forecast_weak{often_weak{}}},
                                            record::unlimited{}});
    check_blacklister("one_per_domain",
                      blacklister{blacklist::dominated{}, blacklist::one_per_domain{rack_of{}}});
    check_blacklister("rate_limit", blacklister{blacklist::dominated{}, blacklist::rate_limit{0.5, 1}});
    check_blacklister("fail_open", blacklister{blacklist::dominated{}, blacklist::fail_open{0.31, 0.1}});
    check_blacklister("demand",
                      blacklister{blacklist::dominated{}, blacklist::release_on_demand{[] { return 7; }},
                                  blacklist::at_least_healthy_slots{6}});
}

TEST_CASE("blacklister: a decision being filled is empty after a failed allocation") {
    straggle::blacklister decide{straggle::blacklist::dominated{}, straggle::record::unlimited{}};
    std::size_t failures = 0;
    for (bool through = false; !through;) {
        straggle::blacklist_decision<std::string> decision = decide.decide(some_weak());
        CHECK_FALSE(decision.blacklisted().empty());
        try {
            straggle_test::failing_allocations const failing(failures + 1);
            decide.decide(more_weak(), decision);
            through = true;
        } catch (std::bad_alloc const&) {
            ++failures;
        }
        // Where not even the nodes were looked at, it is as it was.
        bool const untouched = seen_in(decision) == seen_in(decide.decide(some_weak()));
        if (!through) CHECK((untouched || decision.blacklisted().empty()));
    }
    CHECK(failures > 0);
}

TEST_CASE("rolling_blacklister: a failed allocation changes nothing") {
    using namespace straggle;
    check_keeper("defaults", rolling_blacklister_of<std::string>(blacklist::clearly_dominated{}));
    check_keeper("hysteresis", rolling_blacklister_of<std::string>(
                                   blacklist::dominated{}, blacklist::hysteresis<>{}, record::unlimited{}));
    check_keeper("rates", rolling_blacklister_of<std::string>(
                              blacklist::weakest_level{}, blacklist::probation<blacklist::escalating>{},
                              blacklist::rate_limit{0.5, 2}, blacklist::fail_open{0.31, 0.1}));
    check_keeper("racks",
                 rolling_blacklister_of<std::string>(blacklist::dominated{}, blacklist::rerank_every_window{},
                                                     blacklist::one_per_domain{rack_of{}}));
}

TEST_CASE("windowed_blacklist: a failed allocation loses no decision and no publication") {
    using keeper_type = decltype(straggle::rolling_blacklister_of<std::string>(
        straggle::blacklist::dominated{}, straggle::blacklist::probation<straggle::blacklist::escalating>{},
        straggle::record::unlimited{}));
    using watch = straggle::windowed_blacklist<windowed, keeper_type>;
    struct held {
        watch w;
        typename watch::snapshot first, second;
        explicit held(bool read)
            : w(windowed(straggle_test::named_in_time, {.window = 300, .slide = 100}), keeper_type()) {
            for (auto const& a : straggle_test::named_history(6, 9)) w.observe(a);
            if (read) first = w.latest();
            w.decide(500);
            if (read) second = w.latest();
        }
    };
    for (bool const read : {false, true})
        check_failures(
            "decide", [read] { return std::make_unique<held>(read); }, [](auto& h) { h->w.decide(650); },
            [](auto const& h) {
                auto const latest = h->w.latest();
                return std::pair(seen_in(h->w.decision()), seen_in(*latest));
            },
            promise::usable);
}
