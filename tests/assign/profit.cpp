// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/profit.hpp>
#include <straggle/papers/riski_2014.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/seed.hpp"
#include "goal_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace {

using straggle::outcome;
using straggle::status;
using straggle::assign::backup_case;
using straggle::assign::backup_value;
using straggle::assign::expected_gain;
using riski_2014 = straggle::papers::riski_2014::profit;
using straggle::papers::riski_2014::profit_as_printed;
using straggle::stats::empirical;

using limits = std::numeric_limits<double>;
constexpr double nan = limits::quiet_NaN();
constexpr double inf = limits::infinity();
constexpr double most = (limits::max)();

static_assert(straggle::assign::profit_policy<riski_2014> && straggle::assign::profit_policy<expected_gain>);

// A policy of one's own, and what each part of it must be.
struct even_odds {
    static constexpr std::string_view name = "even_odds";
    outcome<backup_value> value(backup_case const& c) const {
        return backup_value{.profit = static_cast<double>(c.copy.size())};
    }
    bool accepts(backup_value const& v) const { return v.profit > 0; }
};
struct nameless {
    outcome<backup_value> value(backup_case const&) const { return status::out_of_domain; }
    bool accepts(backup_value const&) const { return false; }
};
struct says_profit_only : even_odds {
    outcome<double> value(backup_case const&) const { return 1.0; }
};
struct says_how_much : even_odds {
    double accepts(backup_value const& v) const { return v.profit; }
};
struct learns : even_odds {
    bool accepts(backup_value const&) { return false; }
};
static_assert(straggle::assign::profit_policy<even_odds> && !straggle::assign::profit_policy<nameless>);
static_assert(!straggle::assign::profit_policy<says_profit_only> &&
              !straggle::assign::profit_policy<says_how_much>);
static_assert(!straggle::assign::profit_policy<learns> && !straggle::assign::profit_policy<double>);

// A straggler and a copy whose samples are owned.
struct race {
    std::vector<double> r, x;
    double launch = 0, next_slowest = 0;
    empirical remaining, copy;

    race(std::vector<double> left, std::vector<double> there, double o = 0, double s = 0)
        : r(std::move(left)), x(std::move(there)), launch(o), next_slowest(s) {
        remaining.assign(r);
        copy.assign(x);
    }
    [[nodiscard]] backup_case as_case() const {
        return {remaining.view(), copy.view(), launch, next_slowest};
    }
    template <class Policy = expected_gain>
    [[nodiscard]] backup_value worth(Policy const& policy = {}) const {
        auto const v = policy.value(as_case());
        REQUIRE(v.has_value());
        return *v;
    }
    [[nodiscard]] double largest() const {
        return (std::max)({*std::max_element(r.begin(), r.end()),
                           *std::max_element(x.begin(), x.end()) + launch, next_slowest});
    }
    // Every pair of samples is one that may come true.
    [[nodiscard]] backup_value by_pairs(double slot_price) const {
        long double gain = 0, earlier = 0;
        std::uint64_t wins = 0;
        for (double const left : r)
            for (double const there : x) {
                double const done = there + launch;
                wins += done < left ? 1U : 0U;
                gain += static_cast<long double>((std::max)(left, next_slowest)) -
                        static_cast<long double>(
                            (std::min)((std::max)(left, next_slowest), (std::max)(done, next_slowest)));
                earlier += static_cast<long double>((std::min)(left, done));
            }
        long double const pairs = static_cast<long double>(r.size()) * static_cast<long double>(x.size());
        double const cost = slot_price * static_cast<double>(earlier / pairs);
        double const won = static_cast<double>(gain / pairs);
        return {won - cost, won, cost, static_cast<double>(static_cast<long double>(wins) / pairs)};
    }
};

// Four units in the last place of the largest time; the profit is a difference of two such numbers.
double blur(race const& c) {
    return 4 * limits::epsilon() * c.largest();
}

void check_same(backup_value const& got, backup_value const& want, double off) {
    REQUIRE(std::fabs(got.gain - want.gain) <= off);
    REQUIRE(std::fabs(got.cost - want.cost) <= off);
    REQUIRE(std::fabs(got.profit - want.profit) <= 2 * off);
    REQUIRE(std::fabs(got.win_probability - want.win_probability) <= 2 * limits::epsilon());
}

double unit(std::mt19937_64& draw) {
    return static_cast<double>(draw() >> 11) * 0x1p-53;
}

// Times with a long tail; one in three cases in quarters, with many ties.
std::vector<double> times(std::mt19937_64& draw, std::size_t n, bool ties) {
    std::vector<double> t(n);
    for (double& x : t) {
        x = ties ? static_cast<double>(draw() % 40) / 4 : 3 - 5 * std::log1p(-unit(draw));
        if (draw() % 50 == 0) x = 0;
    }
    return t;
}

race random_race(std::mt19937_64& draw) {
    static constexpr std::size_t sizes[] = {1, 1, 1, 2, 3, 7, 8, 9, 20, 65, 150, 700};
    auto const size = [&] { return sizes[draw() % std::size(sizes)]; };
    bool const ties = draw() % 3 == 0;
    double const launch = draw() % 2 == 0 ? 0 : ties ? static_cast<double>(draw() % 8) / 4 : 2 * unit(draw);
    double const next = draw() % 2 == 0 ? 0 : ties ? static_cast<double>(draw() % 40) / 4 : 15 * unit(draw);
    return {times(draw, size(), ties), times(draw, size(), ties), launch, next};
}

TEST_CASE("profit: an example") {
    //! [profit]
    straggle::stats::empirical left, there;
    left.assign(std::vector{90.0, 120.0, 150.0});        // what the straggler may still take, in seconds
    there.assign(std::vector{40.0, 60.0, 110.0, 130.0}); // what similar tasks took on a free node

    straggle::assign::expected_gain const policy;
    auto const worth =
        policy.value({.remaining = left.view(), .copy = there.view(), .launch = 5, .next_slowest = 50});
    bool const launch = worth && policy.accepts(*worth);
    // gain 35.8 s of the job, cost 8.3 s: a tenth of the 82.9 s of the slot; first in 9 of 12 cases
    //! [profit]
    CHECK(launch);
    CHECK(worth->gain == doctest::Approx(430.0 / 12).epsilon(1e-14));
    CHECK(worth->cost == doctest::Approx(0.1 * 995.0 / 12).epsilon(1e-14));
    CHECK(worth->profit == doctest::Approx(430.0 / 12 - 0.1 * 995.0 / 12).epsilon(1e-14));
    CHECK(worth->win_probability == 0.75);
}

TEST_CASE("profit: figure 9, two nodes of the same mean") {
    // t_s = 100. A copy takes 90 on one node, 40 or 140 on the other: on average 90 on both.
    race sure({100}, {90}), open({100}, {40, 140});
    CHECK(sure.worth(riski_2014{}).profit == 10);
    CHECK(open.worth(riski_2014{}).profit == 10); // the loss of 40 is counted, and does not happen
    expected_gain const free_slots{.slot_price = 0};
    CHECK(sure.worth(free_slots) == backup_value{10, 10, 0, 1});
    CHECK(open.worth(free_slots) == backup_value{30, 30, 0, 0.5});
    // The copy on the other node holds its slot for 40 or, until the straggler is done, 100.
    CHECK(sure.worth().cost == doctest::Approx(9).epsilon(1e-15));
    CHECK(open.worth().cost == doctest::Approx(7).epsilon(1e-15));
    // The next task of the job ends at 80: what is done before that waits for it.
    sure.next_slowest = open.next_slowest = 80;
    CHECK(sure.worth(free_slots).gain == 10);
    CHECK(open.worth(free_slots).gain == 10);
    CHECK(sure.worth(riski_2014{}).profit == 10);
    sure.next_slowest = open.next_slowest = 95;
    CHECK(sure.worth(free_slots).gain == 5);
    CHECK(open.worth(free_slots).gain == 2.5);
    sure.next_slowest = open.next_slowest = 100;
    CHECK(sure.worth(free_slots) == backup_value{0, 0, 0, 1});
    CHECK(open.worth(free_slots) == backup_value{0, 0, 0, 0.5});
    // A launch of 10 takes the sure win away: a tie is not won.
    sure.launch = 10;
    sure.next_slowest = 0;
    CHECK(sure.worth(free_slots) == backup_value{0, 0, 0, 0});
}

TEST_CASE("profit: all pairs, without looking at them") {
    std::uint64_t const seed = straggle_test::seed_or(62);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    int searched = 0, walked = 0, by_copy = 0;
    for (int round = 0; round < 3000; ++round) {
        race const c = random_race(draw);
        double const price = round % 3 == 0 ? 0 : unit(draw);
        INFO("round ", round, " sizes ", c.r.size(), " ", c.x.size(), " launch ", c.launch, " s ",
             c.next_slowest);
        check_same(c.worth(expected_gain{.slot_price = price}), c.by_pairs(price), blur(c));
        auto const [few, many] = std::minmax({c.r.size(), c.x.size()});
        ++(many / few < 64 ? walked : searched);
        by_copy += c.x.size() < c.r.size();
    }
    CHECK(searched > 300);
    CHECK(walked > 300);
    CHECK(by_copy > 300);
}

TEST_CASE("profit: a million samples on one side and on both, exactly counted") {
    std::uint64_t const seed = straggle_test::seed_or(63);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    constexpr std::size_t large = 1000000, values = 200;
    for (auto const& [m, n] : {std::pair<std::size_t, std::size_t>{1, large},
                               {100, large},
                               {large, large},
                               {large, 1},
                               {large, 3000},
                               {50000, large}}) {
        std::vector<std::uint64_t> count_r(values), count_x(values);
        std::vector<double> r(m), x(n);
        for (double& t : r) ++count_r[static_cast<std::size_t>(t = static_cast<double>(draw() % values))];
        for (double& t : x) ++count_x[static_cast<std::size_t>(t = static_cast<double>(draw() % values))];
        race const c(r, x, 3, 60);
        // All values instead of all samples: whole numbers below 2^64.
        std::uint64_t gain = 0, earlier = 0, wins = 0;
        for (std::uint64_t a = 0; a < values; ++a)
            for (std::uint64_t b = 3; b < values + 3; ++b) {
                std::uint64_t const pairs = count_r[a] * count_x[b - 3];
                if (a > b && a > 60) gain += pairs * (a - (std::max)(b, std::uint64_t{60}));
                earlier += pairs * (std::min)(a, b);
                wins += a > b ? pairs : 0;
            }
        double const all = static_cast<double>(m) * static_cast<double>(n);
        double const won = static_cast<double>(gain) / all, cost = 0.1 * (static_cast<double>(earlier) / all);
        check_same(c.worth(), {won - cost, won, cost, static_cast<double>(wins) / all}, blur(c));
    }
    // All equal, and a tie at that.
    std::vector<double> const equal(large, 7.25);
    CHECK(race(equal, equal).worth(expected_gain{.slot_price = 0}) == backup_value{});
    CHECK(race(equal, {7.25}).worth(riski_2014{}) == backup_value{});
    check_same(race(equal, equal, 0, 3).worth(), {-0.725, 0, 0.725, 0}, 1e-14);
    check_same(race({8.25}, equal).worth(expected_gain{.slot_price = 0}), {1, 1, 0, 1}, 1e-14);
    // A million additions that are all rounded.
    race const odd(std::vector<double>(large, 1 / 3.0), std::vector<double>(large, 1 / 7.0));
    check_same(odd.worth(), {4 / 21.0 - 0.1 / 7, 4 / 21.0, 0.1 / 7, 1}, 4 * limits::epsilon() / 3);
}

TEST_CASE("profit: what is expected is what happens on average") {
    std::uint64_t const seed = straggle_test::seed_or(64);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 12; ++round) {
        race const c = random_race(draw);
        backup_value const want = c.worth(expected_gain{.slot_price = 1});
        constexpr int trials = 100000;
        double sum[3] = {}, squares[3] = {};
        for (int i = 0; i < trials; ++i) {
            double const r = c.r[draw() % c.r.size()], x = c.x[draw() % c.x.size()] + c.launch;
            double const with_copy = (std::max)((std::min)(r, x), c.next_slowest);
            double const seen[3] = {(std::max)(r, c.next_slowest) - with_copy, (std::min)(r, x),
                                    x < r ? 1.0 : 0.0};
            for (int k = 0; k < 3; ++k) {
                sum[k] += seen[k];
                squares[k] += seen[k] * seen[k];
            }
        }
        double const expected[3] = {want.gain, want.cost, want.win_probability};
        for (int k = 0; k < 3; ++k) {
            double const mean = sum[k] / trials;
            double const error = std::sqrt((std::max)(squares[k] / trials - mean * mean, 0.0) / trials);
            INFO("round ", round, " part ", k);
            CHECK(std::fabs(mean - expected[k]) <= 4.5 * error + 1e-10); // 36 comparisons
        }
    }
}

TEST_CASE("profit: slower copies, a later next task, other orders, other units") {
    std::uint64_t const seed = straggle_test::seed_or(65);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 1500; ++round) {
        INFO("round ", round);
        race c = random_race(draw);
        backup_value const v = c.worth(), risk = c.worth(riski_2014{});
        double mean_r = 0;
        for (double const r : c.r) mean_r += r / static_cast<double>(c.r.size());
        double const off = 2 * blur(c);
        REQUIRE((v.gain >= 0 && v.gain <= mean_r + off));
        REQUIRE((v.cost >= 0 && v.cost <= 0.1 * mean_r + off));
        REQUIRE((v.win_probability >= 0 && v.win_probability <= 1));

        std::vector<double> slower = c.x;
        for (double& x : slower) x += draw() % 2 == 0 ? 0 : 4 * unit(draw);
        race const late(c.r, slower, c.launch, c.next_slowest);
        REQUIRE(late.worth().profit <= v.profit + 2 * blur(late));
        REQUIRE(late.worth().win_probability <= v.win_probability);
        REQUIRE(late.worth(riski_2014{}).profit <= risk.profit + 2 * blur(late));

        race const waits(c.r, c.x, c.launch, c.next_slowest + 5 * unit(draw));
        REQUIRE(waits.worth().gain <= v.gain + off);
        REQUIRE(waits.worth().cost == v.cost);
        REQUIRE(waits.worth().win_probability == v.win_probability);

        // The job gains what the straggler gains, if it waits for that alone: E[min(r, X)] + E[(r - X)+] =
        // E[r].
        race const alone(c.r, c.x, c.launch);
        backup_value const all = alone.worth(expected_gain{.slot_price = 1});
        REQUIRE(std::fabs(all.gain + all.cost - mean_r) <= off);

        std::vector<double> r = c.r, x = c.x;
        std::shuffle(r.begin(), r.end(), draw);
        std::shuffle(x.begin(), x.end(), draw);
        REQUIRE(race(r, x, c.launch, c.next_slowest).worth() == v);
        for (double& t : r) t *= 1024; // milliseconds, were they binary
        for (double& t : x) t *= 1024;
        backup_value const scaled = race(r, x, 1024 * c.launch, 1024 * c.next_slowest).worth();
        REQUIRE(scaled == backup_value{1024 * v.profit, 1024 * v.gain, 1024 * v.cost, v.win_probability});

        // Each sample twice is the same distribution.
        r = c.r;
        r.insert(r.end(), c.r.begin(), c.r.end());
        check_same(race(r, c.x, c.launch, c.next_slowest).worth(), v, off);
    }
}

TEST_CASE("profit: a copy that cannot win gains nothing") {
    std::uint64_t const seed = straggle_test::seed_or(66);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 500; ++round) {
        race const c = random_race(draw);
        double const last = *std::max_element(c.r.begin(), c.r.end());
        std::vector<double> x = c.x;
        for (double& t : x) t += last; // at best a tie
        backup_value const never = race(c.r, x, c.launch, c.next_slowest).worth();
        REQUIRE(never.gain == 0);
        REQUIRE(never.win_probability == 0);
        REQUIRE(never.profit <= 0);
        REQUIRE(!expected_gain{.slot_price = 0, .least_win_probability = 0}.accepts(never));
        // Nor one whose job has to wait for another task anyway.
        backup_value const idle = race(c.r, c.x, c.launch, last).worth();
        REQUIRE(idle.gain == 0);
        REQUIRE(idle.profit <= 0);
    }
}

TEST_CASE("profit: differences of a last place gain nothing or more") {
    std::uint64_t const seed = straggle_test::seed_or(67);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    auto const about = [&](double t) {
        return t * (1 + static_cast<double>(draw() % 5) * limits::epsilon());
    };
    for (int round = 0; round < 3000; ++round) {
        double const t = unit(draw);
        std::vector<double> r(1 + draw() % 12), x(1 + draw() % 12);
        for (double& a : r) a = about(t);
        for (double& a : x) a = about(t);
        double const gain = race(r, x, 0, draw() % 2 == 0 ? 0 : about(t)).worth().gain;
        REQUIRE((gain >= 0 && gain <= 16 * limits::epsilon() * t));
    }
}

TEST_CASE("profit: parts of histories, moved to now") {
    // Of what similar tasks took, the straggler has run for 70 already: 30, 50 and 80 are left.
    empirical history, there;
    history.assign(std::vector{50.0, 70.0, 100.0, 120.0, 150.0});
    there.assign(std::vector{20.0, 40.0, 60.0});
    auto const v = expected_gain{.slot_price = 0}.value(
        {.remaining = history.view().beyond(70).moved(-70), .copy = there.view(), .launch = 10});
    // Of X + 10 = 30, 50, 70: 0 + (20) + (50 + 30 + 10) over 9
    CHECK(v->gain == doctest::Approx(110.0 / 9).epsilon(1e-14));
    CHECK(v->win_probability == doctest::Approx(4.0 / 9).epsilon(1e-15));
}

TEST_CASE("profit: who is accepted") {
    expected_gain const usual;
    CHECK(usual.accepts({.profit = 1, .win_probability = 0.5}));
    CHECK(!usual.accepts({.profit = 1, .win_probability = 0.4999}));
    CHECK(!usual.accepts({.profit = 0, .win_probability = 1}));
    CHECK(!usual.accepts({.profit = nan, .win_probability = 1}));
    CHECK(!usual.accepts({.profit = 1, .win_probability = nan}));
    CHECK(expected_gain{.least_win_probability = 0.1}.accepts({.profit = 1, .win_probability = 0.2}));
    CHECK(riski_2014{}.accepts({.profit = 1, .win_probability = 0}));
    CHECK(!riski_2014{}.accepts({.profit = 0, .win_probability = 1}));
    CHECK(!riski_2014{}.accepts({.profit = nan, .win_probability = 1}));
    // At price 1 a copy has to free as much as it takes: the straggler's 100 against twice 50 or twice 51.
    expected_gain const even{.slot_price = 1};
    CHECK(even.accepts(race({100}, {49}).worth(even)));
    CHECK(!even.accepts(race({100}, {50}).worth(even)));
}

template <class Policy>
void check_bad_input(Policy const& policy) {
    race const good({3, 4}, {1, 2});
    auto const reason = [&](backup_case const& c) { return policy.value(c).reason(); };
    CHECK(reason(good.as_case()) == status::ok);
    CHECK(reason({}) == status::insufficient_evidence);
    CHECK(reason({good.remaining.view(), {}}) == status::insufficient_evidence);
    CHECK(reason({{}, good.copy.view()}) == status::insufficient_evidence);
    for (double const bad : {nan, inf, -inf, -1.0, -limits::denorm_min()}) {
        backup_case c = good.as_case();
        c.launch = bad;
        CHECK(reason(c) == status::out_of_domain);
        c = good.as_case();
        c.next_slowest = bad;
        CHECK(reason(c) == status::out_of_domain);
    }
    CHECK(reason(race({-1, 4}, {1, 2}).as_case()) == status::out_of_domain);
    CHECK(reason(race({3, 4}, {1, -0.5}).as_case()) == status::out_of_domain);
    CHECK(reason(race({3, 4}, {0.0, -0.0}, -0.0, -0.0).as_case()) == status::ok);
    CHECK(reason(race({most, most, most}, {1}).as_case()) == status::out_of_range);
    CHECK(reason(race({1}, {most, most, most}, most).as_case()) != status::out_of_domain);
}

TEST_CASE("profit: of two prices of a slot the higher one counts") {
    race const owner({30, 50}, {10, 40}, 1, 5);
    backup_case c = owner.as_case();
    for (double const told : {0.0, 0.05, 0.3, 7.0}) {
        c.slot_price = told;
        backup_case plain = c;
        plain.slot_price = 0;
        CHECK(*expected_gain{.slot_price = 0.2}.value(c) ==
              *expected_gain{.slot_price = (std::max)(0.2, told)}.value(plain));
    }
    for (double const bad : {-0.1, nan, inf}) {
        c.slot_price = bad;
        CHECK(expected_gain{}.value(c).reason() == status::out_of_domain);
    }
}

TEST_CASE("profit: bad input is said to be so") {
    check_bad_input(riski_2014{});
    check_bad_input(profit_as_printed{});
    check_bad_input(expected_gain{});
    CHECK(expected_gain{.slot_price = most}.value(race({10}, {20}).as_case()).reason() ==
          status::out_of_range);
}

TEST_CASE("profit: numbers of any size are finite, or said to be too large") {
    for (double const a : {0.0, limits::denorm_min(), 1.0, most / 4, most})
        for (double const b : {0.0, limits::denorm_min(), 1.0, most / 4, most})
            for (double const s : {0.0, 1.0, most})
                for (std::size_t const n : {1u, 3u, 100u}) {
                    race const c({a}, std::vector<double>(n, b), b / 2, s);
                    for (auto const& v : {expected_gain{}.value(c.as_case()), riski_2014{}.value(c.as_case()),
                                          profit_as_printed{}.value(c.as_case())}) {
                        if (!v) {
                            CHECK(v.reason() == status::out_of_range);
                            continue;
                        }
                        CHECK((std::isfinite(v->profit) && std::isfinite(v->gain) && std::isfinite(v->cost)));
                        CHECK((v->win_probability >= 0 && v->win_probability <= 1));
                    }
                }
    CHECK(race({most}, {1}).worth(expected_gain{.slot_price = 0}).gain == most);
    CHECK(race({1}, {most}).worth(expected_gain{.slot_price = 0}).gain == 0);
    CHECK(race({most}, {1}, 0, most / 2).worth().gain == most / 2);
}

TEST_CASE("profit: the gain of a goal is that of its value over all pairs") {
    using straggle::assign::job_goal;
    std::uint64_t const seed = straggle_test::seed_or(23);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::uniform_real_distribution<double> u;
    for (int round = 0; round < 300; ++round) {
        race const c(times(draw, 1 + draw() % 30, round % 2 == 0), times(draw, 1 + draw() % 30, false),
                     u(draw), round % 3 == 0 ? 5 * u(draw) : 0.0);
        backup_case with = c.as_case();
        with.goal = {.deadline = round % 5 == 0 ? inf : 12 * u(draw) - 1,
                     .weight = 3 * u(draw),
                     .missed = 20 * u(draw)};
        auto const v = expected_gain{}.value(with);
        REQUIRE(v);
        double gain = 0, taken = 0, wins = 0;
        for (double const r : c.r)
            for (double const x : c.x) {
                double const copy = x + with.launch, s = with.next_slowest;
                gain += straggle_test::value_of_end((std::max)((std::min)(r, copy), s), with.goal) -
                        straggle_test::value_of_end((std::max)(r, s), with.goal);
                taken += (std::min)(r, copy);
                wins += copy < r;
            }
        double const pairs = static_cast<double>(c.r.size() * c.x.size());
        CHECK(v->gain == doctest::Approx(gain / pairs).epsilon(1e-9));
        CHECK(v->cost == doctest::Approx(0.1 * taken / pairs).epsilon(1e-9));
        CHECK(v->win_probability == doctest::Approx(wins / pairs));
        CHECK(v->gain >= 0);
        with.goal = {}; // none: as without
        CHECK(expected_gain{}.value(with) == expected_gain{}.value(c.as_case()));
    }
    backup_case bad = race({3}, {1}).as_case();
    for (job_goal const goal : {job_goal{.deadline = nan}, job_goal{.weight = -1}, job_goal{.weight = nan},
                                job_goal{.missed = -1}}) {
        bad.goal = goal;
        CHECK(expected_gain{}.value(bad).reason() == status::out_of_domain);
    }
}

TEST_CASE("profit: a copy that saves a deadline gains more than one that saves time to spare") {
    race const c({9}, {4});
    backup_case due = c.as_case(), spare = due;
    due.goal = {.deadline = 5, .missed = 10};
    spare.goal = {.deadline = 100, .missed = 10};
    CHECK(expected_gain{}.value(due)->gain == 10 + 4);
    CHECK(expected_gain{}.value(spare)->gain == 0);
    CHECK_FALSE(expected_gain{}.accepts(*expected_gain{}.value(spare)));
}

TEST_CASE("profit: contracts") {
    straggle_test::contract_trap const trap;
    race const c({3}, {1});
    for (double const bad : {-0.1, nan, inf})
        CHECK_THROWS_AS((void)expected_gain{.slot_price = bad}.value(c.as_case()),
                        straggle_test::broken_contract);
    for (double const bad : {-0.1, nan, 1.1})
        CHECK_THROWS_AS((void)expected_gain{.least_win_probability = bad}.value(c.as_case()),
                        straggle_test::broken_contract);
    CHECK_THROWS_AS((void)expected_gain{.slot_price = nan}.value(c.as_case()),
                    straggle_test::broken_contract);
}

TEST_CASE("profit: allocates nothing") {
    std::mt19937_64 draw(1);
    race const c(times(draw, 1000, false), times(draw, 30, false), 1, 2);
    double seen = 0;
    CHECK(straggle_test::allocations_during([&] {
              seen = expected_gain{}.value(c.as_case())->gain + riski_2014{}.value(c.as_case())->gain;
          }) == 0);
    CHECK(seen != 0);
}

} // namespace
