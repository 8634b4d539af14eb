// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/gang/step_watch.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace gang = straggle::gang;

struct report {
    std::int64_t step;
    int rank;
    std::string node, section;
    double seconds, waited;
};
constexpr gang::step_fields fields{.step = &report::step,
                                   .rank = &report::rank,
                                   .node = &report::node,
                                   .section = &report::section,
                                   .duration = &report::seconds,
                                   .waited = &report::waited};

// A gang whose ranks wait for the slowest in each step: all wall times are equal.
template <class Slow>
void run(auto& watch, int ranks, std::int64_t first, std::int64_t last, double cv, std::mt19937_64& engine,
         Slow&& slow) {
    double const sigma = std::sqrt(std::log1p(cv * cv));
    std::lognormal_distribution<double> luck(-sigma * sigma / 2, sigma);
    std::vector<double> work(static_cast<std::size_t>(ranks));
    for (std::int64_t step = first; step < last; ++step) {
        double longest = 0;
        for (int r = 0; r < ranks; ++r) {
            double& w = work[static_cast<std::size_t>(r)];
            w = luck(engine) * slow(r, step);
            longest = std::max(longest, w);
        }
        for (int r = 0; r < ranks; ++r)
            watch.observe({step, r, "node-" + std::to_string(r), "step", longest,
                           longest - work[static_cast<std::size_t>(r)]});
        watch.close(step);
    }
}
auto const well = [](int, std::int64_t) { return 1.0; };

TEST_CASE("step_watch: wall times are equal, and the rank that waits least is named within 20 steps") {
    std::mt19937_64 engine(1);
    for (double const cv : {0.02, 0.1}) {
        auto watch = gang::step_watch_of<report>(fields);
        run(watch, 16, 0, 300, cv, engine, well);
        CHECK(watch.stragglers().empty());
        auto const seven = [](int r, std::int64_t) { return r == 7 ? 2.0 : 1.0; };
        run(watch, 16, 300, 320, cv, engine, seven);
        auto const found = watch.stragglers();
        REQUIRE(found.size() == 1);
        CHECK(found[0].rank == 7);
        CHECK(found[0].node == "node-7");
        CHECK(found[0].section == "step");
        CHECK(std::abs(static_cast<double>(found[0].since - 300)) <= 2);
        CHECK(found[0].slow.low > 1.1);
        CHECK(found[0].slow.low < 2);
        CHECK(found[0].slow.high > 2);
        CHECK(found[0].whose == gang::fault::rank_or_node);
        CHECK(found[0].of_best > 1.4);
        CHECK(found[0].loss_per_step == doctest::Approx(1).epsilon(0.2));
        // It recovers, and is named no longer.
        run(watch, 16, 320, 360, cv, engine, well);
        CHECK(watch.stragglers().empty());
    }
}

TEST_CASE("step_watch: in 1000 gangs where nothing is wrong nothing is named") {
    std::mt19937_64 engine(2);
    int named = 0;
    for (int i = 0; i < 1000; ++i) {
        auto watch = gang::step_watch_of<report>(fields);
        double const cv = std::vector{0.02, 0.1, 0.3, 1.0}[static_cast<std::size_t>(i % 4)];
        for (std::int64_t step = 0; step < 100; step += 20) {
            run(watch, 2 + i % 15, step, step + 20, cv, engine, well);
            if (!watch.stragglers().empty()) {
                ++named;
                break;
            }
        }
    }
    CHECK(named == 0);
}

TEST_CASE("step_watch: what is slow in turn is named nowhere, and is the moving share of the loss") {
    std::mt19937_64 engine(3);
    auto watch = gang::step_watch_of<report>(fields);
    run(watch, 8, 0, 200, 0.05, engine, [](int r, std::int64_t step) { return step % 8 == r ? 2.0 : 1.0; });
    CHECK(watch.stragglers().empty());
    gang::step_loss const loss = watch.loss();
    CHECK(loss.share() == doctest::Approx(0.5).epsilon(0.05));
    CHECK(loss.moving == 1);
}

TEST_CASE("step_watch: the loss is what the slowest rank adds") {
    auto watch = gang::step_watch_of<report>(fields);
    for (std::int64_t step = 0; step < 10; ++step) {
        for (int r = 0; r < 4; ++r) {
            double const work = r == 2 ? 3.0 : 1.0;
            CHECK(watch.observe({step, r, "n", "forward", 3.5 * work / 3.5, 0}));
            CHECK(watch.observe({step, r, "n", "all-reduce", 3.5 - work, 3.0 - work}));
        }
        watch.close(step);
    }
    // 3 s of work and half a second of exchange; without rank 2 a second and the exchange.
    CHECK(watch.loss().seconds == doctest::Approx(3.5).epsilon(1e-12));
    CHECK(watch.loss().without_stragglers == doctest::Approx(1.5).epsilon(1e-12));
    CHECK(watch.share_of_rank(2) == doctest::Approx(1).epsilon(1e-12));
    CHECK(watch.share_of_rank(1) == 0);
    CHECK(watch.share_of_section("forward") == doctest::Approx(1).epsilon(1e-12));
    CHECK(watch.share_of_section("all-reduce") == 0);
    CHECK(watch.share_of_node("n") == doctest::Approx(1).epsilon(1e-12));
    CHECK(watch.share_of_rank(99) == 0);
    // The other ranks of its node are well.
    REQUIRE(watch.stragglers().size() == 1);
    CHECK(watch.stragglers()[0].whose == gang::fault::rank);
    CHECK(watch.stragglers()[0].section == "forward");
    CHECK(watch.counts().seen == watch.counts().used);
    CHECK(watch.counts().steps == 10);
}

struct placed {
    std::int64_t step;
    int rank;
    int node;
    double work;
};
constexpr gang::step_fields of_placed{
    .step = &placed::step, .rank = &placed::rank, .node = &placed::node, .duration = &placed::work};

TEST_CASE("step_watch: a node is at fault where its ranks are slow, a rank where it takes that along") {
    std::mt19937_64 engine(4);
    std::normal_distribution<double> luck(1, 0.03);
    auto watch = gang::step_watch_of<placed>(of_placed);
    auto other = gang::step_watch_of<placed>(of_placed);
    for (std::int64_t step = 0; step < 60; ++step) {
        for (int r = 0; r < 16; ++r) {
            watch.observe({step, r, r / 4, luck(engine) * (r / 4 == 1 ? 1.5 : 1)});
            int const node = r == 5 && step >= 20 ? 100 : r;
            other.observe({step, r, node, luck(engine) * (r == 5 ? 1.5 : 1)});
        }
        watch.close(step);
        other.close(step);
        if (step == 15) {
            REQUIRE(other.stragglers().size() == 1);
            CHECK(other.stragglers()[0].whose == gang::fault::rank_or_node);
        }
    }
    REQUIRE(watch.stragglers().size() == 4);
    for (auto const& s : watch.stragglers()) {
        CHECK(s.node == 1);
        CHECK(s.whose == gang::fault::node);
    }
    REQUIRE(other.stragglers().size() == 1);
    CHECK(other.stragglers()[0].node == 100);
    CHECK(other.stragglers()[0].whose == gang::fault::rank);
}

TEST_CASE("step_watch: from arrivals at a barrier follows who works longest") {
    using clock = std::chrono::sys_time<std::chrono::microseconds>;
    struct arrival {
        int step;
        int rank;
        std::optional<clock> at;
    };
    auto watch = gang::step_watch_of<arrival>(
        gang::step_fields{.step = &arrival::step, .rank = &arrival::rank, .arrived = &arrival::at});
    std::mt19937_64 engine(5);
    std::normal_distribution<double> luck(1000, 20);
    double released = 1e15;
    for (int step = 0; step < 20; ++step) {
        double last = 0;
        for (int r = 0; r < 6; ++r) {
            double const at = released + luck(engine) * (r == 4 ? 1.8 : 1);
            last = std::max(last, at);
            CHECK(watch.observe({step, r, clock(std::chrono::microseconds(static_cast<std::int64_t>(at)))}));
        }
        released = last + 100;
    }
    watch.close(19);
    CHECK_FALSE(watch.observe({20, 1, {}}));
    REQUIRE(watch.stragglers().size() == 1);
    CHECK(watch.stragglers()[0].rank == 4);
    // The hundred microseconds of the barrier itself belong to the work here: 1900 over 1100.
    CHECK(watch.stragglers()[0].slow.value == doctest::Approx(1900.0 / 1100).epsilon(0.03));
    CHECK(watch.counts().rejected[gang::step_rejection::missing_field] == 1);
}

TEST_CASE("step_watch: arrivals at the barriers of several sections") {
    struct arrival {
        int step, rank;
        std::string section, stage;
        double at;
    };
    auto watch = gang::step_watch_of<arrival>(gang::step_fields{.step = &arrival::step,
                                                                .rank = &arrival::rank,
                                                                .section = &arrival::section,
                                                                .stage = &arrival::stage,
                                                                .arrived = &arrival::at});
    // Each section ends with a barrier, and so no rank arrives late at the next one because of it.
    std::mt19937_64 engine(8);
    std::normal_distribution<double> luck(1, 0.02);
    double released = 0;
    for (int step = 0; step < 40; ++step) {
        for (auto const& [section, work] :
             {std::pair("data", 1.0), std::pair("forward", 3.0), std::pair("backward", 6.0)}) {
            double last = 0;
            for (int r = 0; r < 8; ++r) {
                bool const is_slow = r == 5 && step >= 10 && section == std::string("forward");
                double const at = released + work * luck(engine) * (is_slow ? 2 : 1);
                last = std::max(last, at);
                watch.observe({step, r, section, r < 4 ? "a" : "b", at});
            }
            released = last;
        }
        watch.close(step);
        if (step == 9) CHECK(watch.stragglers().empty());
    }
    REQUIRE(watch.stragglers().size() == 1);
    auto const& slow = watch.stragglers()[0];
    CHECK(slow.rank == 5);
    CHECK(slow.section == "forward");
    CHECK(std::abs(slow.since - 10) <= 1);
    CHECK(slow.slow.value == doctest::Approx(1.3).epsilon(0.03)); // 13 of 10
    CHECK(slow.loss_per_step == doctest::Approx(3).epsilon(0.1));
    CHECK(watch.share_of_section("forward") > 0.8);
    CHECK(watch.share_of_section("data") < 0.1);
    CHECK(watch.share_of_section("backward") < 0.2);
    CHECK(watch.share_of_stage("b") > 0.9);
    CHECK(watch.share_of_stage("a") < 0.2);
}

TEST_CASE("step_watch: a replacement is worth it where it saves more than it costs") {
    std::mt19937_64 engine(6);
    auto watch = gang::step_watch_of<report>(fields);
    run(watch, 8, 0, 50, 0.02, engine, [](int r, std::int64_t) { return r == 3 ? 1.5 : 1.0; });
    gang::replacement const soon = watch.replace(3, {.restart = 30, .since_checkpoint = 6, .steps_left = 50});
    CHECK(soon.gain_per_step == doctest::Approx(0.5).epsilon(0.1));
    CHECK(soon.gain == doctest::Approx(50 * soon.gain_per_step - 36));
    CHECK(soon.low < soon.gain);
    CHECK(soon.gain < soon.high);
    CHECK(soon.nodes_waiting == 7);
    CHECK_FALSE(soon.is_worth);
    CHECK(soon.pays_after == doctest::Approx(72).epsilon(0.1));
    gang::replacement const later =
        watch.replace(3, {.restart = 30, .since_checkpoint = 6, .steps_left = 500});
    CHECK(later.low > 0);
    CHECK(later.is_worth);
    CHECK_FALSE(watch.replace(2, {.restart = 1, .steps_left = 1e9}).is_worth); // it is well
    CHECK_FALSE(watch.replace(1000, {.restart = 1, .steps_left = 1e9}).is_worth);
}

TEST_CASE("step_watch: what cannot be used is counted by reason") {
    auto watch = gang::step_watch_of<report>(fields, {.max_ranks = 4});
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                     inf = std::numeric_limits<double>::infinity();
    CHECK_FALSE(watch.observe({0, 0, "n", "s", nan, 0}));
    CHECK_FALSE(watch.observe({0, 0, "n", "s", inf, 0}));
    CHECK_FALSE(watch.observe({0, 0, "n", "s", -1, 0}));
    CHECK_FALSE(watch.observe({0, 0, "n", "s", 1, 2}));
    CHECK_FALSE(watch.observe({0, 0, "n", "s", 1, nan}));
    for (int r = 0; r < 6; ++r) watch.observe({10, r, "n", "s", 1, 0});
    watch.observe({20, 0, "n", "s", 1, 0});
    CHECK(watch.observe({10, 0, "n", "s", 1, 0}));
    watch.observe({20, 1, "n", "s", 1, 0}); // with most ranks there, 10 is closed
    CHECK_FALSE(watch.observe({10, 0, "n", "s", 1, 0}));
    for (int i = 0; i < 20; ++i) watch.observe({21, 1, "n", std::to_string(i), 1, 0});
    auto const& counts = watch.counts();
    CHECK(counts.rejected[gang::step_rejection::bad_time] == 5);
    CHECK(counts.rejected[gang::step_rejection::late] == 1);
    CHECK(counts.rejected[gang::step_rejection::no_room] == 2 + 13);
    CHECK(counts.seen == counts.used + counts.rejected.total());
    CHECK(watch.stragglers().empty());
    // After a restart from a checkpoint earlier steps come again.
    watch.restart();
    CHECK(watch.observe({10, 0, "n", "s", 1, 0}));
}

TEST_CASE("step_watch: a wrong step number silences no gang") {
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    struct wrong_report {
        std::int64_t before, step; // before which step it comes, and what it says
    };
    for (wrong_report const wrong :
         {wrong_report{0, huge}, {0, huge / 2}, {0, -huge - 1}, {9, huge}, {9, 1000}, {9, 10000}}) {
        CAPTURE(wrong.step);
        for (std::int64_t const stride : {1, 100}) {
            auto watch = gang::step_watch_of<report>(fields);
            std::uint64_t refused = 0;
            for (std::int64_t step = 0; step < 20; ++step) {
                // Several are no worse than one, as long as they come from one rank.
                if (step >= wrong.before)
                    for (std::int64_t more = 0; more < (step > 0 ? 20 : 1); ++more)
                        watch.observe({wrong.step + (wrong.step < 0 ? more : -more), 3, "d", "s", 1, 0});
                for (int r = 0; r < 4; ++r)
                    if (!watch.observe({step * stride, r, std::string(1, static_cast<char>('a' + r)), "s",
                                        r == 1 ? 2.0 : 1.0, 0}))
                        ++refused;
            }
            CHECK(watch.counts().steps >= 15);
            CHECK(refused <= 20);
            auto const& counts = watch.counts();
            CHECK(counts.seen == counts.used + counts.rejected.total());
            CHECK((wrong.step < 0 || counts.rejected[gang::step_rejection::ahead] > 0));
            REQUIRE(watch.stragglers().size() == 1);
            CHECK(watch.stragglers()[0].rank == 1);
        }
    }
}

TEST_CASE("step_watch: a gang that loses most of its ranks goes on without them") {
    for (std::int64_t const stride : {1, 100}) {
        for (int const left : {1, 5}) {
            auto watch = gang::step_watch_of<report>(fields);
            for (std::int64_t step = 0; step < 60; ++step)
                for (int r = 0; r < (step < 10 ? 32 : left); ++r)
                    watch.observe({step * stride, r, "n", "s", r == 1 ? 2.0 : 1.0, 0});
            CHECK(watch.stragglers().size() == 1);
            CHECK(watch.counts().steps >= (left > 1 ? 40u : 6u));
        }
    }
    // A rank alone closes its steps, too.
    auto watch = gang::step_watch_of<report>(fields);
    for (std::int64_t step = 0; step < 60; ++step) CHECK(watch.observe({step, 0, "n", "s", 1, 0}));
    CHECK(watch.counts().steps > 50);
}

TEST_CASE("step_watch: ranks are compared only with those of their stage") {
    struct staged {
        int step, rank;
        std::string stage, section;
        double seconds;
    };
    auto watch = gang::step_watch_of<staged>(gang::step_fields{.step = &staged::step,
                                                               .rank = &staged::rank,
                                                               .section = &staged::section,
                                                               .stage = &staged::stage,
                                                               .duration = &staged::seconds});
    // Pipeline stages, each of two tensor groups. The last stage has three times as much to do; one of its
    // ranks is slow in the backward pass, which takes two thirds of the time, but works less than any rank of
    // the other group.
    std::mt19937_64 engine(10);
    std::normal_distribution<double> luck(1, 0.02);
    auto const work = [](int rank, int step) {
        double const usual = rank < 8 ? 1 : rank < 12 ? 3 : 6;
        return std::pair(usual / 3, usual * 2 / 3 * (rank == 9 && step >= 30 ? 1.6 : 1));
    };
    for (int step = 0; step < 60; ++step) {
        for (int r = 0; r < 16; ++r) {
            std::string const stage = "group-" + std::to_string(r / 4);
            auto const [forward, backward] = work(r, step);
            watch.observe({step, r, stage, "forward", forward * luck(engine)});
            watch.observe({step, r, stage, "backward", backward * luck(engine)});
        }
        watch.close(step);
        if (step == 29) CHECK(watch.stragglers().empty());
    }
    REQUIRE(watch.stragglers().size() == 1);
    auto const& slow = watch.stragglers()[0];
    CHECK(slow.rank == 9);
    CHECK(slow.section == "backward");
    CHECK(slow.slow.low < 1.4);
    CHECK(slow.slow.high > 1.4);
    CHECK(std::abs(slow.since - 30) <= 1);
    // The group with the most to do decides how long a step takes: the slow rank costs nothing.
    CHECK(watch.loss().share() < 0.05);
    CHECK(slow.loss_per_step < 0.05);
}

TEST_CASE("step_watch: ranks whose node is not known are on one node without a name") {
    struct somewhere {
        int step, rank;
        std::optional<std::string> node;
        double work;
    };
    auto watch = gang::step_watch_of<somewhere>(gang::step_fields{.step = &somewhere::step,
                                                                  .rank = &somewhere::rank,
                                                                  .node = &somewhere::node,
                                                                  .duration = &somewhere::work});
    for (int step = 0; step < 20; ++step)
        for (int r = 0; r < 4; ++r) watch.observe({step, r, {}, r == 2 ? 2.0 : 1.0});
    REQUIRE(watch.stragglers().size() == 1);
    CHECK(watch.stragglers()[0].node.empty());
    CHECK(watch.replace(2, {.steps_left = 10}).nodes_waiting == 0);
}

TEST_CASE("step_watch: another unit of time, the same ranks") {
    for (double const unit : {1e-6, 1e6}) {
        std::mt19937_64 engine(7);
        auto watch = gang::step_watch_of<report>(fields);
        run(watch, 8, 0, 12, 0.05, engine, [&](int r, std::int64_t) { return unit * (r == 1 ? 2 : 1); });
        REQUIRE(watch.stragglers().size() == 1);
        CHECK(watch.stragglers()[0].rank == 1);
    }
}

TEST_CASE("step_watch: a rank has to stay slow before it is replaced, and longer after a replacement") {
    std::mt19937_64 engine(9);
    std::normal_distribution<double> luck(1, 0.03);
    auto watch = gang::step_watch_of<placed>(of_placed);
    std::vector<int> node{0, 1, 2, 3, 4, 5, 6, 7};
    std::int64_t step = 0;
    // Steps until it is worth it to replace a rank that takes twice as long.
    auto const slow_for = [&](int slow, int most) {
        for (int i = 1; i <= most; ++i) {
            for (int r = 0; r < 8; ++r)
                watch.observe(
                    {step, r, node[static_cast<std::size_t>(r)], luck(engine) * (r == slow ? 2 : 1)});
            watch.close(step++);
            if (watch.replace(slow, {.restart = 100, .steps_left = 2000}).is_worth) return i;
        }
        return most;
    };
    CHECK(slow_for(3, 40) == 40);
    slow_for(-1, 30); // recovers
    CHECK(watch.stragglers().empty());
    CHECK(slow_for(3, 200) < 30); // the earlier loss counts
    node[3] = 100;
    slow_for(-1, 30);
    CHECK(slow_for(5, 200) == doctest::Approx(150).epsilon(0.1));
    node[5] = 101;
    CHECK(slow_for(5, 400) == 400);
    REQUIRE(watch.stragglers().size() == 1);
    CHECK(watch.stragglers()[0].whose == gang::fault::rank);
    CHECK(watch.replace(5, {.steps_left = 1e6}).gain_per_step == 0);
}

// A recorded training job whose publishers name one culprit, pp0-dp0, and have 46.3 s a step, 23.5 without
// stragglers, all of it explained by that worker.
struct pass {
    std::string step, section, stage, node;
    double start, end;
};
std::vector<pass> training() {
    std::ifstream file(std::string(STRAGGLE_SHARED_DIR) + "/data/bytedance-AR.csv");
    std::vector<pass> out;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        for (char& c : line) c = c == ',' || c == '/' ? ' ' : c;
        std::istringstream in(line);
        pass p;
        std::string task;
        in >> p.step >> p.section >> p.stage >> task >> p.node >> p.start >> p.end;
        out.push_back(p);
    }
    return out;
}
struct training_report {
    std::int64_t step;
    std::string rank, section, stage;
    double took, waited;
};
constexpr gang::step_fields training_fields{.step = &training_report::step,
                                            .rank = &training_report::rank,
                                            .section = &training_report::section,
                                            .stage = &training_report::stage,
                                            .duration = &training_report::took,
                                            .waited = &training_report::waited};

TEST_CASE("step_watch: the culprit of a recorded training job, from its work and from waits") {
    std::vector<pass> const passes = training();
    if (passes.empty()) {
        MESSAGE("skipped: bytedance-AR.csv is not there");
        return;
    }
    for (bool const from_waits : {false, true}) {
        CAPTURE(from_waits);
        auto watch = gang::step_watch_of<training_report>(training_fields);
        std::map<std::string, double> free; // when a worker ended its last pass of the step
        std::string step;
        std::int64_t steps = 0, found_after = 0;
        // Passes come in order of steps; of a step in order of start for each worker.
        for (pass const& p : passes) {
            if (p.step != step) {
                if (!step.empty()) {
                    watch.close(steps);
                    if (found_after == 0 && !watch.stragglers().empty()) found_after = steps;
                }
                step = p.step;
                ++steps;
                free.clear();
            }
            double const waited =
                from_waits && free.contains(p.node) ? std::max(p.start - free[p.node], 0.0) : 0.0;
            free[p.node] = std::max(free[p.node], p.end);
            watch.observe({steps, p.node, p.section, p.stage, p.end - p.start + waited, waited});
        }
        watch.close(steps);
        auto const found = watch.stragglers();
        REQUIRE(found.size() == 1);
        CHECK(found[0].rank == "pp0-dp0");
        CHECK(found[0].slow.low < 2.4);
        CHECK(found[0].slow.high > 2.3);
        CHECK(found_after <= 20);
        CHECK(watch.loss().seconds / 1000 == doctest::Approx(46.3).epsilon(0.1));
        CHECK(watch.loss().without_stragglers / 1000 == doctest::Approx(23.5).epsilon(0.1));
        CHECK(watch.share_of_rank("pp0-dp0") > 0.95);
        CHECK(watch.loss().moving < 0.05);
    }
}

} // namespace
