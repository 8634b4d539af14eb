// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/papers/riski_2014.hpp>

#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace straggle;
namespace riski = straggle::papers::riski_2014;
using assign::backup_case;
using assign::backup_value;
using limits = std::numeric_limits<double>;

static_assert(assign::profit_policy<riski::profit> && assign::profit_policy<riski::profit_as_printed>);
static_assert(detect::straggler_detector<riski::detector>);

// A straggler and a copy whose samples are owned.
struct race {
    std::vector<double> r, x;
    double launch = 0;
    stats::empirical remaining, copy;

    race(std::vector<double> left, std::vector<double> there, double o = 0)
        : r(std::move(left)), x(std::move(there)), launch(o) {
        remaining.assign(r);
        copy.assign(x);
    }
    [[nodiscard]] backup_case as_case() const { return {remaining.view(), copy.view(), launch, 0}; }
    template <class Policy>
    [[nodiscard]] backup_value worth(Policy const& policy) const {
        auto const v = policy.value(as_case());
        REQUIRE(v.has_value());
        return *v;
    }
};

struct task {
    std::string job, host;
    double input = 0, took = 0;
};
constexpr predict::task_profile profile{.node = &task::host,
                                        .time = &task::took,
                                        .factors = predict::factors(predict::categorical(&task::job, "job"),
                                                                    predict::numeric(&task::input, "input"))};

std::vector<double> samples(outcome<stats::empirical_view> const& times) {
    std::vector<double> all;
    if (times)
        for (std::size_t i = 0; i < times->size(); ++i) all.push_back((*times)[i]);
    return all;
}

} // namespace

TEST_CASE("riski_2014: profit as printed selects what loses") {
    riski::profit const right;
    riski::profit_as_printed const printed;
    race const even({100}, {60, 140}), wins({100}, {60, 80}), loses({100}, {120, 160}),
        tie({100}, {60, 100, 110});
    CHECK(even.worth(right) == backup_value{0, 0, 0, 0.5});
    CHECK(wins.worth(right) == backup_value{30, 30, 0, 1});
    CHECK(loses.worth(right) == backup_value{-40, -40, 0, 0});
    CHECK(right.accepts(wins.worth(right)));
    CHECK(!right.accepts(loses.worth(right)));
    CHECK(!right.accepts(even.worth(right)));
    CHECK(even.worth(printed).profit == -20); // 1/2 (60 - 100) + 1/2 (100 - 100)
    CHECK(wins.worth(printed).profit == -30); // 1 (70 - 100)
    CHECK(loses.worth(printed).profit == 40); // 1 (140 - 100)
    CHECK(printed.accepts(loses.worth(printed)));
    CHECK(!printed.accepts(wins.worth(printed)));
    // t_s is in both parts: 2/3 (80 - 100) + 2/3 (90 - 100).
    CHECK(tie.worth(printed).profit == doctest::Approx(-20).epsilon(1e-15));
    CHECK(tie.worth(right).profit == 10);
    CHECK(tie.worth(right).win_probability == doctest::Approx(1.0 / 3).epsilon(1e-15));
}

TEST_CASE("riski_2014: profit put right is its two parts, and these are the difference of the means") {
    std::uint64_t const seed = straggle_test::seed_or(61);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 2000; ++round) {
        auto const times = [&](std::size_t most) {
            std::vector<double> t(1 + draw() % most);
            for (double& x : t) x = 3 - 5 * std::log1p(-static_cast<double>(draw() >> 11) * 0x1p-53);
            return t;
        };
        race const c(times(30), times(60), static_cast<double>(draw() % 8) / 4);
        double const blur = 4 * limits::epsilon() *
                            (std::max)(*std::max_element(c.r.begin(), c.r.end()),
                                       *std::max_element(c.x.begin(), c.x.end()) + 2);
        long double t_s = 0, below = 0, above = 0, n_below = 0;
        for (double const r : c.r) t_s += static_cast<long double>(r) / static_cast<long double>(c.r.size());
        double const split = *c.remaining.view().mean();
        for (double const x : c.x) {
            double const done = x + c.launch;
            (done < split ? below : above) += static_cast<long double>(done);
            n_below += done < split ? 1 : 0;
        }
        long double const n = static_cast<long double>(c.x.size()), n_above = n - n_below;
        long double e = 0;
        if (n_below > 0) e += n_below / n * (t_s - below / n_below);
        if (n_above > 0) e += n_above / n * (t_s - above / n_above);
        backup_value const got = c.worth(riski::profit{});
        REQUIRE(std::fabs(got.profit - static_cast<double>(e)) <= blur);
        REQUIRE(got.gain == got.profit);
        REQUIRE(got.cost == 0);
        REQUIRE(got.win_probability == static_cast<double>(n_below / n));
    }
}

TEST_CASE("riski_2014: equation 4 as printed, by hand") {
    CHECK(*riski::real_similarity_as_printed(15, 10, 20, 14) == doctest::Approx(1 - 5.0 / 15));
    CHECK(*riski::real_similarity_as_printed(12, 10, 20, 14) == doctest::Approx(1 - 2.0 / 14));
    CHECK(*riski::real_similarity_as_printed(10, 10, 20, 14) == 1);
    CHECK(*riski::real_similarity_as_printed(20, 10, 20, 14) == 1);
    CHECK(*riski::real_similarity_as_printed(25, 10, 20, 14) == doctest::Approx(1 - 5.0 / 25));
    CHECK(*riski::real_similarity_as_printed(0, 0, 0, 0) == 1);
    for (double const bad : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) {
        CHECK(riski::real_similarity_as_printed(bad, 1, 2, 1.5).reason() == status::out_of_domain);
        CHECK(riski::real_similarity_as_printed(1, bad, 2, 1.5).reason() == status::out_of_domain);
        CHECK(riski::real_similarity_as_printed(1, 1, bad, 1.5).reason() == status::out_of_domain);
        CHECK(riski::real_similarity_as_printed(1, 1, 2, bad).reason() == status::out_of_domain);
    }
    CHECK(riski::real_similarity_as_printed(1, 2, 1, 1.5).reason() == status::out_of_domain);
}

TEST_CASE("riski_2014: equation 4 as printed is the formula, and the library's outside of the range") {
    std::uint64_t const seed = straggle_test::seed_or(1);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    for (int i = 0; i < 20000; ++i) {
        double const scale = std::ldexp(1, static_cast<int>(next() >> 58) - 32);
        double low = scale * next.unit(), high = scale * next.unit();
        if (low > high) std::swap(low, high);
        double const t = 1.5 * scale * next.unit(), mean = low + next.unit() * (high - low);
        double const printed = 1 - (std::min)(std::fabs(t - high), std::fabs(low - t)) / (std::max)(t, mean);
        double const got = *riski::real_similarity_as_printed(t, low, high, mean);
        CHECK(std::fabs(got - printed) <= 4e-16);
        if (t < low || t > high) CHECK(got == *predict::real_similarity(t, low, high, mean));
        for (double const m : {0.0, -scale, 10 * scale}) { // whatever is called the mean
            double const r = *riski::real_similarity_as_printed(t, low, high, m);
            CHECK((r >= 0 && r <= 1));
        }
    }
}

TEST_CASE("riski_2014: a prediction is the range of the most similar profile of the node") {
    auto p = riski::predictor_of<task>(profile);
    auto printed = riski::predictor_of<task, riski::as_printed>(profile);
    CHECK(p.predict({"wordcount", "", 64, 0}, "n1").reason() == status::insufficient_evidence);
    for (task const& t : std::vector<task>{{"wordcount", "n1", 64, 80},
                                           {"wordcount", "n1", 64, 159},
                                           {"wordcount", "n1", 64, 100},
                                           {"sort", "n1", 64, 30},
                                           {"wordcount", "n1", 8, 12},
                                           {"wordcount", "n4", 64, 32},
                                           {"wordcount", "n4", 64, 54}}) {
        CHECK(p.observe(t));
        CHECK(printed.observe(t));
    }
    CHECK(p.profiles_of("n1") == 3);
    CHECK(p.profiles_of("n4") == 1);
    // Table 1: tasks of one job take 80 to 159 s on node 1 and 32 to 54 s on node 4.
    CHECK(samples(p.predict({"wordcount", "", 64, 0}, "n1")) == std::vector<double>{80, 100, 159});
    CHECK(samples(p.predict({"wordcount", "", 63, 0}, "n1")) == std::vector<double>{80, 100, 159});
    CHECK(samples(p.predict({"wordcount", "", 9, 0}, "n1")) == std::vector<double>{12});
    CHECK(samples(p.predict({"sort", "", 64, 0}, "n1")) == std::vector<double>{30});
    CHECK(samples(p.predict({"wordcount", "", 64, 0}, "n4")) == std::vector<double>{32, 54});
    CHECK_FALSE(p.predict({"wordcount", "", 64, 0}, "n9").has_value());
    // Equation 6 over the range.
    CHECK(*p.predict({"wordcount", "", 64, 0}, "n1")->between(90, 200) == doctest::Approx(2.0 / 3));
    // What is left after 90 s.
    CHECK(samples(p.remaining({"wordcount", "", 64, 0}, "n1", 90)) == std::vector<double>{10, 69});
    CHECK(p.remaining({"wordcount", "", 64, 0}, "n1", 159.0).reason() == status::insufficient_evidence);
    CHECK(p.remaining({"wordcount", "", 64, 0}, "n1", limits::quiet_NaN()).reason() == status::out_of_domain);
    // Algorithm 1 by the word finds the profile that is least like it, or none.
    auto const far = samples(printed.predict({"wordcount", "", 64, 0}, "n1"));
    CHECK((far == std::vector<double>{30} || far == std::vector<double>{12}));
    CHECK(printed.predict({"wordcount", "", 64, 0}, "n4").reason() == status::insufficient_evidence);
    CHECK(p.counts().used == 7);
}

TEST_CASE("riski_2014: each node learns what matters there") {
    // On node "io" the time is the input, whatever the job; on node "cpu" it is the job.
    auto p = riski::predictor_of<task>(profile);
    std::uint64_t const seed = straggle_test::seed_or(14);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int i = 0; i < 120; ++i) {
        bool const heavy = draw() % 2 == 0;
        double const input = static_cast<double>(10 + draw() % 10 * 10);
        CHECK(p.observe({heavy ? "pi" : "grep", "io", input, input}));
        CHECK(p.observe({heavy ? "pi" : "grep", "cpu", input, heavy ? 90.0 : 10.0}));
    }
    CHECK(p.weights_of("io")[1] > 0.6);
    CHECK(p.weights_of("cpu")[0] > 0.6);
    for (char const* node : {"io", "cpu"})
        CHECK(p.weights_of(node)[0] + p.weights_of(node)[1] == doctest::Approx(1).epsilon(1e-12));
    CHECK(p.weights_of("new")[0] == 0.5);
    // An input that neither has seen with this job.
    CHECK(*p.predict({"pi", "", 14, 0}, "io")->mean() == doctest::Approx(10).epsilon(0.5));
    CHECK(*p.predict({"pi", "", 14, 0}, "cpu")->mean() == 90);
}

TEST_CASE("riski_2014: what is kept is bounded, and what is no evidence is counted") {
    auto p = riski::predictor_of<task>(profile, {.most_profiles = 2, .most_times = 2});
    for (double const input : {1.0, 2.0, 3.0})
        for (double const took : {10.0, 20.0, 30.0}) CHECK(p.observe({"a", "n", input, input * took}));
    CHECK(p.profiles_of("n") == 2);
    CHECK(samples(p.predict({"a", "", 3, 0}, "n")) == std::vector<double>{60, 90});
    CHECK(samples(p.predict({"a", "", 1, 0}, "n")) == std::vector<double>{40, 60}); // the oldest is gone
    CHECK_FALSE(p.observe({"a", "n", 1, limits::quiet_NaN()}));
    CHECK_FALSE(p.observe({"a", "n", 1, -1}));
    CHECK(p.counts()[rejection::not_finite] == 1);
    CHECK(p.counts()[rejection::negative_duration] == 1);
    CHECK(p.counts().seen == 11);
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS((void)riski::predictor_of<task>(profile, {.most_profiles = 0}),
                    straggle_test::broken_contract);
}

TEST_CASE("riski_2014: figure 9(d), the straggler is killed where its copy must win") {
    auto const kills = [](std::vector<double> const& remaining, std::vector<double> const& copy,
                          double launch = 0) {
        race const c(remaining, copy);
        return riski::kills_straggler(c.remaining.view(), c.copy.view(), launch);
    };
    CHECK(kills({50}, {20, 49}));
    CHECK_FALSE(kills({50}, {20, 50}));
    CHECK_FALSE(kills({48, 90}, {20, 49}));
    CHECK_FALSE(kills({50}, {20, 40}, 10));
    CHECK_FALSE(kills({}, {20}));
}

TEST_CASE("riski_2014: algorithm 2, one straggler after the other") {
    struct running {
        std::string host;
        double left;
    };
    struct machine {
        std::string name;
        std::vector<double> times;
    };
    std::vector<machine> const machines{{"a", {10, 20}}, {"b", {40, 60}}, {"slow", {100, 120}}};
    std::vector<running> const stragglers{{"slow", 90}, {"slow", 55}, {"slow", 45}};
    constexpr assign::straggler_fields fields{.runs_on = &running::host, .remaining = &running::left};
    constexpr assign::backup_node_fields nodes{.node = &machine::name,
                                               .free = [](machine const&) { return 1; }};
    stats::empirical times;
    auto const there = [&times](running const&, machine const& m) {
        times.assign(m.times);
        return times.view();
    };
    SUBCASE("as meant") {
        riski::assigner<> a;
        auto const& plan = a.choose(stragglers, fields, machines, nodes, there);
        REQUIRE(plan.choices.size() == 3);
        // The first takes the best node, E = 90 - 15, and is killed: 90 > 20.
        CHECK(plan.choices[0].copy->node == 0);
        CHECK(plan.choices[0].copy->value.profit == 75);
        CHECK(plan.choices[0].copy->kill);
        // The second has b left: E = 55 - 50, and races: 55 < 60.
        CHECK(plan.choices[1].copy->node == 1);
        CHECK(plan.choices[1].copy->value.profit == 5);
        CHECK_FALSE(plan.choices[1].copy->kill);
        CHECK_FALSE(plan.choices[2].copy.has_value());
        CHECK(plan.policy == "riski_2014");
    }
    SUBCASE("by the word it takes what loses") {
        riski::assigner<riski::profit_as_printed> a;
        CHECK_FALSE(a.choose_for(stragglers[0], fields, machines, nodes, there).copy.has_value());
        // b for 45: 1/2 (40 - 45) + 1/2 (50 - 45) = 0; it would be more than 0 from a mean above 50 on.
        std::vector<machine> const worse{{"a", {10, 20}}, {"b", {40, 80}}};
        auto const& choice = a.choose_for(stragglers[2], fields, worse, nodes, there);
        REQUIRE(choice.copy.has_value());
        CHECK(choice.copy->node == 1);
        CHECK(choice.copy->value.profit == 5); // 1/2 (40 - 45) + 1/2 (60 - 45)
    }
}

TEST_CASE("riski_2014: candidates are the tasks that have run longer than the average of the running") {
    riski::detector const rule;
    CHECK(rule.factor == 1.0);
    CHECK(rule.of == detect::average_time::basis::running);
}
