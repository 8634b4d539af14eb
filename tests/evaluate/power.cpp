// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/evaluate/power.hpp>
#include <straggle/papers/evaluation_2019.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using straggle::status;
using straggle::evaluate::energy_sweep;
using straggle::evaluate::node_load;
using straggle::evaluate::power_model;
using straggle::evaluate::power_source;
using straggle::evaluate::schedule_energy;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double huge = (std::numeric_limits<double>::max)();

constexpr power_model paper = straggle::papers::evaluation_2019::machines;
auto const per_node = [](std::uint32_t node) { return node == 0 ? paper : power_model{100.0, 50.0, 1, 1}; };

static_assert(paper == power_model{65.0, 17.0, 4, 2} && paper.valid() && paper.capacity() == 8);
static_assert(power_source<power_model> && power_source<decltype(per_node)>);
static_assert(!power_source<double> && !power_source<int (*)(std::uint32_t)>);
static_assert(!power_model{.cores = 0}.valid() && !power_model{.threads = 0}.valid());
static_assert(!power_model{.static_watts = -1}.valid() && !power_model{.dynamic_watts = nan}.valid());
static_assert(!power_model{.static_watts = inf}.valid());
static_assert(power_model{.cores = 0xffffffff, .threads = 0xffffffff}.capacity() == 0xfffffffe00000001);

struct attempt {
    std::uint32_t node;
    double start, end;
};

schedule_energy spent(std::vector<attempt> const& schedule, power_model const& model = paper) {
    energy_sweep sweep;
    for (auto const& a : schedule) REQUIRE(sweep.observe(a.node, a.start, a.end));
    auto const e = sweep.energy(model);
    REQUIRE(e.has_value());
    return *e;
}

TEST_CASE("power: the machines of figure 1, by hand") {
    double const watts[] = {0, 82, 99, 116, 133, 133, 133, 133, 133, 133};
    node_load const loads[] = {node_load::off,         node_load::free_core,   node_load::free_core,
                               node_load::free_core,   node_load::free_thread, node_load::free_thread,
                               node_load::free_thread, node_load::free_thread, node_load::full,
                               node_load::full};
    for (std::uint64_t n = 0; n < 10; ++n) {
        INFO(n, " tasks");
        CHECK(paper.watts(n) == watts[n]);
        CHECK(paper.load(n) == loads[n]);
        if (n < 8)
            CHECK(*paper.marginal_watts(n) == watts[n + 1] - watts[n]);
        else
            CHECK(paper.marginal_watts(n).reason() == status::out_of_domain);
    }
}

TEST_CASE("power: a model that draws more than a double can hold is not valid") {
    double volatile large = huge; // as a constant it would not compile
    CHECK(!power_model{large, large, 2, 1}.valid());
    CHECK(power_model{large, 0, 2, 1}.valid());
}

TEST_CASE("power: never falls, and every step is the marginal power") {
    for (std::uint32_t cores : {1u, 2u, 7u}) {
        for (std::uint32_t threads : {1u, 2u, 5u}) {
            power_model const m{12.0, 3.0, cores, threads};
            for (std::uint64_t n = 0; n < m.capacity(); ++n) {
                REQUIRE(m.watts(n + 1) - m.watts(n) == *m.marginal_watts(n));
                REQUIRE(*m.marginal_watts(n) >= 0.0);
            }
            CHECK(m.load(m.capacity()) == node_load::full);
            CHECK(m.load(m.capacity() - 1) != node_load::full);
            CHECK(m.watts(~std::uint64_t{0}) == m.watts(cores));
        }
    }
    // A core and a thread: turned on or full, nothing between.
    CHECK(power_model{1.0, 1.0, 1, 1}.load(1) == node_load::full);
    CHECK(power_model{1.0, 1.0, 1, 2}.load(1) == node_load::free_thread);
}

TEST_CASE("energy: schedules by hand") {
    CHECK(spent({}) == schedule_energy{});
    CHECK(spent({{0, 0, 10}}) == schedule_energy{820, 10, 10, 0});
    // 0..5 one task, 5..10 two, 10..20 one.
    CHECK(spent({{0, 0, 10}, {0, 5, 20}}) == schedule_energy{82 * 15 + 99 * 5, 20, 25, 0});
    CHECK(spent({{0, 0, 10}, {1, 5, 20}}) == schedule_energy{82 * 25, 25, 25, 0});  // two nodes
    CHECK(spent({{0, 0, 10}, {0, 20, 30}}) == schedule_energy{82 * 20, 20, 20, 0}); // off in between
    CHECK(spent({{0, 0, 10}, {0, 10, 30}}) == schedule_energy{82 * 30, 30, 30, 0}); // back to back
    CHECK(spent({{3, 5, 5}, {3, 5, 5}}) == schedule_energy{});                      // no time at all
    CHECK(spent({{3, 5, 5}, {3, 4, 6}, {3, 5, 5}}) == schedule_energy{164, 2, 2, 0});
    // Eight fill the node; two more are too many, and draw nothing more.
    std::vector<attempt> many(10, {7, 100, 101});
    CHECK(spent(many) == schedule_energy{133, 1, 10, 1});
    many.resize(8);
    CHECK(spent(many) == schedule_energy{133, 1, 8, 0});
    // A copy on a node with a free thread costs nothing, on one that is off it costs all.
    std::vector<attempt> const four(4, {0, 0, 60});
    auto with_copy = four;
    with_copy.push_back({0, 30, 60});
    CHECK(spent(with_copy).joules == spent(four).joules);
    with_copy.back().node = 1;
    CHECK(spent(with_copy).joules == spent(four).joules + 82 * 30);
}

TEST_CASE("energy: an example") {
    //! [energy]
    straggle::evaluate::energy_sweep sweep;
    sweep.observe(0, 0.0, 90.0);   // a task on node 0, killed after 90 s
    sweep.observe(7, 40.0, 90.0);  // its copy on node 7
    sweep.observe(7, 20.0, 130.0); // another task there
    straggle::evaluate::power_model const node{
        .static_watts = 65, .dynamic_watts = 17, .cores = 4, .threads = 2};
    double const joules = sweep.energy(node)->joules;
    //! [energy]
    CHECK(joules == 82.0 * 90 + 82 * 110 + 17 * 50);
}

TEST_CASE("energy: nodes of different kinds, each model asked for once, in order") {
    energy_sweep sweep;
    for (std::uint32_t node : {9u, 0u, 9u, 4u}) sweep.observe(node, 0, 10);
    std::vector<std::uint32_t> asked;
    auto const e = sweep.energy([&](std::uint32_t node) {
        asked.push_back(node);
        return per_node(node);
    });
    CHECK(asked == std::vector<std::uint32_t>{0, 4, 9});
    CHECK(e->joules == 820 + 1500 + 1500);
    CHECK(e->overcommitted == 10.0);
    CHECK(sweep.energy([](std::uint32_t node) { return power_model{.cores = node}; }).reason() ==
          status::out_of_domain);
    CHECK(sweep.energy(power_model{.static_watts = huge}).reason() == status::out_of_range);
}

TEST_CASE("energy: hostile attempts are counted and change nothing") {
    energy_sweep sweep;
    sweep.observe(0, 0, 10);
    for (double bad : {nan, inf, -inf}) {
        CHECK_FALSE(sweep.observe(0, bad, 10));
        CHECK_FALSE(sweep.observe(0, 0, bad));
        CHECK_FALSE(sweep.observe(0, bad, bad));
    }
    CHECK_FALSE(sweep.observe(0, 10, 9.999));
    CHECK_FALSE(sweep.observe(0, -huge, huge));
    CHECK(sweep.attempts() == 1);
    CHECK(sweep.rejected() == 11);
    CHECK(sweep.energy(paper)->joules == 820.0);
    CHECK(sweep.energy(power_model{.cores = 0}).reason() == status::out_of_domain);
    // Together longer than any double, but no attempt alone.
    sweep.observe(1, -huge, 0);
    sweep.observe(1, -1, huge);
    CHECK(sweep.energy(power_model{}).reason() == status::out_of_range);
    sweep.clear();
    CHECK(sweep.attempts() + sweep.rejected() == 0);
    CHECK(*sweep.energy(power_model{.cores = 0}) == schedule_energy{}); // no node to ask for
}

// The rule of tests/golden/power.py.
std::vector<attempt> golden_schedule(straggle_test::golden_row const& row) {
    straggle_test::golden_sequence next(row.integer<std::uint64_t>(0));
    std::vector<attempt> schedule(row.integer<std::size_t>(1));
    for (auto& a : schedule) {
        a.node = static_cast<std::uint32_t>((next() >> 33) % row.integer<std::uint64_t>(2));
        a.start = row.real(3) + row.real(4) * next.unit();
        double took = row.real(5) * next.unit();
        std::uint64_t const kind = next() >> 61;
        if (kind == 0) took = 0;
        if (kind == 1) {
            a.start = std::trunc(a.start);
            took = std::trunc(took);
        }
        a.end = a.start + took;
    }
    return schedule;
}

TEST_CASE("energy: plain integration in exact fractions") {
    // Power, length of a piece, their product and the final sum are rounded: 2.5 units at most, and one more.
    for (auto const& row : straggle_test::golden_table("power.csv")) {
        INFO("seed ", row.text(0));
        auto const e = spent(golden_schedule(row), {row.real(6), row.real(7), row.integer<std::uint32_t>(8),
                                                    row.integer<std::uint32_t>(9)});
        CHECK(straggle_test::ulps_off(e.joules, row.real(10)) <= 3.5);
        CHECK(straggle_test::ulps_off(e.node_time, row.real(11)) <= 2);
        CHECK(straggle_test::ulps_off(e.task_time, row.real(12)) <= 3);
        CHECK(straggle_test::ulps_off(e.overcommitted, row.real(13)) <= 2);
    }
}

std::vector<attempt> random_schedule(std::mt19937_64& engine, std::size_t n, std::uint32_t nodes) {
    std::uniform_real_distribution<double> start(0.0, 1000.0);
    std::exponential_distribution<double> took(1.0 / 60);
    std::vector<attempt> schedule(n);
    for (auto& a : schedule) {
        a.node = static_cast<std::uint32_t>(engine() % nodes);
        a.start = engine() % 4 == 0 ? std::floor(start(engine)) : start(engine);
        a.end = a.start + (engine() % 8 == 0 ? 0.0 : took(engine));
    }
    return schedule;
}

TEST_CASE("energy: the order of the attempts and how they are split changes no bit") {
    std::uint64_t const seed = straggle_test::seed_or(4);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    auto schedule = random_schedule(engine, 400, 5);
    auto const right = spent(schedule);
    for (int i = 0; i < 20; ++i) {
        std::shuffle(schedule.begin(), schedule.end(), engine);
        CHECK(spent(schedule) == right);
        energy_sweep one, two;
        for (auto const& a : schedule) (engine() % 2 == 0 ? one : two).observe(a.node, a.start, a.end);
        two.observe(0, 1, 0);
        (void)one.energy(paper);
        one.merge(two);
        CHECK(*one.energy(paper) == right);
        CHECK(one.rejected() == 1);
    }
    energy_sweep twice;
    for (auto const& a : schedule) twice.observe(a.node, a.start, a.end);
    twice.merge(twice);
    CHECK(twice.attempts() == 800);
    CHECK(twice.energy(paper)->node_time == right.node_time);
    CHECK(twice.energy(paper)->task_time == doctest::Approx(2 * right.task_time).epsilon(1e-15));
}

TEST_CASE("energy: what is spent before and after a moment adds up") {
    std::uint64_t const seed = straggle_test::seed_or(6);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    auto const schedule = random_schedule(engine, 300, 4);
    auto const whole = spent(schedule);
    for (double cut : {0.0, 1.0, 333.3, 500.0, 999.0}) {
        std::vector<attempt> before, after;
        for (auto const& a : schedule) {
            if (a.start < cut) before.push_back({a.node, a.start, (std::min)(a.end, cut)});
            if (a.end >= cut) after.push_back({a.node, (std::max)(a.start, cut), a.end});
        }
        auto const first = spent(before), second = spent(after);
        CHECK(first.joules + second.joules == doctest::Approx(whole.joules).epsilon(1e-13));
        CHECK(first.node_time + second.node_time == doctest::Approx(whole.node_time).epsilon(1e-13));
        CHECK(first.task_time + second.task_time == doctest::Approx(whole.task_time).epsilon(1e-13));
    }
}

TEST_CASE("energy: Monte Carlo over moments and nodes") {
    std::uint64_t const seed = straggle_test::seed_or(7);
    std::mt19937_64 engine(seed);
    constexpr std::uint32_t nodes = 3;
    auto const schedule = random_schedule(engine, 200, nodes);
    constexpr double horizon = 2000.0;
    std::uniform_real_distribution<double> moment(0.0, horizon);
    constexpr int draws = 100000;
    double sum = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
        double const t = moment(engine);
        auto const node = static_cast<std::uint32_t>(engine() % nodes);
        auto const running = std::count_if(schedule.begin(), schedule.end(), [&](attempt const& a) {
            return a.node == node && a.start <= t && t < a.end;
        });
        double const watts = paper.watts(static_cast<std::uint64_t>(running)) * nodes * horizon;
        sum += watts;
        squares += watts * watts;
    }
    double const mean = sum / draws, deviation = std::sqrt(squares / draws - mean * mean);
    double const error = deviation / std::sqrt(static_cast<double>(draws));
    INFO("seed ", seed, " mean ", mean, " standard error ", error);
    CHECK(std::fabs(spent(schedule).joules - mean) < 5 * error); // 1 in 1.7 million by chance
    CHECK(error < 0.01 * mean);
}

TEST_CASE("energy: nothing is allocated once the memory is there") {
    std::mt19937_64 engine(8);
    auto const schedule = random_schedule(engine, 500, 5);
    energy_sweep sweep;
    sweep.reserve(500);
    CHECK(straggle_test::allocations_during([&] {
              for (int i = 0; i < 3; ++i) {
                  sweep.clear();
                  for (auto const& a : schedule) sweep.observe(a.node, a.start, a.end);
                  (void)sweep.energy(paper);
                  (void)sweep.energy(per_node);
              }
          }) == 0);
}

TEST_CASE("power: names") {
    CHECK(to_string(node_load::off) == "off");
    CHECK(to_string(node_load::free_core) == "free_core");
    CHECK(to_string(node_load::free_thread) == "free_thread");
    CHECK(to_string(node_load::full) == "full");
}

} // namespace
