// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/slowdown_evidence.hpp>

#include <support/allocations.hpp>
#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace straggle;

namespace {

constexpr double not_a_time = std::numeric_limits<double>::quiet_NaN();

// Jobs, one after the other, with some tasks on each node; how often the 95 % interval holds the truth.
struct fleet {
    std::vector<double> factors; // by node
    unsigned tasks = 5;          // per node and job
    double sigma = 0.3;          // of the logarithm
    double unit = 1;

    template <class Engine>
    void run(slowdown_evidence& evidence, unsigned jobs, Engine& engine, std::uint64_t first_job = 0,
             double* clock = nullptr) const {
        std::normal_distribution<double> normal;
        double now = clock == nullptr ? 0 : *clock;
        for (std::uint64_t j = first_job; j < first_job + jobs; ++j) {
            for (std::uint32_t n = 0; n < factors.size(); ++n)
                for (unsigned k = 0; k < tasks; ++k) {
                    double const length = factors[n] * std::exp(sigma * normal(engine));
                    evidence.observe({n, j, n * 1000u + k, now * unit, (now + length) * unit});
                }
            evidence.finish_job(j);
            now += 5;
            evidence.update(now * unit, {}, {});
        }
        if (clock != nullptr) *clock = now;
    }
};

} // namespace

TEST_CASE("logarithms on the grid are those of the library, rounded down") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    std::uniform_real_distribution<double> exponent(-300, 300);
    for (int i = 0; i < 20000; ++i) {
        double const x = std::pow(10.0, exponent(engine));
        double const exact = std::log2(x) * 65536;
        double const ticks = detail::log_ticks(x);
        CHECK(ticks <= exact + 0.1);
        CHECK(ticks > exact - 1.1);
    }
    CHECK(detail::log_ticks(1) == 0);
    CHECK(detail::log_ticks(2) == 65536);
    CHECK(detail::log_ticks(0.25) == -2 * 65536);
}

TEST_CASE("detectors know without logarithms what is not above a threshold") {
    std::uint64_t const seed = straggle_test::seed_or(11);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> any(-3, 6), off(-2.5, 2.5);
    detail::score_rates const prices = detail::score_prices().upward();
    int above = 0;
    for (int i = 0; i < 4000; ++i) {
        detail::slow_detector slow;
        detail::hung_detector hung;
        for (int window = 0; window < 5; ++window) {
            slow.add(any(engine), 2, prices);
            hung.add(std::abs(any(engine)), window % 2);
            slow.next_window();
            hung.next_window();
        }
        double const score = any(engine), by_slow = slow.log_evidence(score, 1, prices),
                     by_hung = hung.log_evidence();
        // Around the evidence, and just at it.
        for (double const more : {off(engine), 0.0, 1e-12, -1e-12}) {
            CHECK(slow.is_above(by_slow + more, score, 1, prices) == (by_slow > by_slow + more));
            CHECK(hung.is_above(by_hung + more) == (by_hung > by_hung + more));
            above += more < 0 ? 1 : 0;
        }
    }
    CHECK(above > 4000);
    double const nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(detail::slow_detector{}.is_above(nan, 0, 0, prices));
    CHECK_FALSE(detail::slow_detector{}.is_above(0, nan, 1, prices));
}

TEST_CASE("siblings that have not ended count as Kaplan and Meier say") {
    // Freireich's 6-MP group, as in every textbook: times of remission, + where censored.
    struct row {
        double at;
        bool ended;
    };
    row const rows[] = {{6, true},   {6, true},   {6, true},   {6, false}, {7, true},   {9, false},
                        {10, true},  {10, false}, {11, false}, {13, true}, {16, true},  {17, false},
                        {19, false}, {20, false}, {22, true},  {23, true}, {25, false}, {32, false},
                        {32, false}, {34, false}, {35, false}};
    detail::censored_times times;
    std::uint32_t node = 0;
    for (row const& r : rows) times.add(r.at, r.ended, node++);
    times.sort();
    times.fit();
    CHECK(times.events() == 9);
    double const published[][2] = {{6, 0.8571},  {7, 0.8067},  {10, 0.7529}, {13, 0.6902},
                                   {16, 0.6275}, {22, 0.5378}, {23, 0.4482}};
    for (auto const& [at, survival] : published)
        CHECK(times.survival(at) == doctest::Approx(survival).epsilon(1e-4));
    CHECK(times.survival(5) == 1);
    CHECK(times.survival(35) == 0);
    CHECK(times.mean_beyond(40) == 40);
    // All that is left beyond 30 lies at the end.
    CHECK(times.mean_beyond(30) == doctest::Approx(35));
}

namespace {
// Jobs of so many tasks whose times are exponential in logarithms, about their median.
std::vector<double> behind_median(std::mt19937_64& engine, std::size_t tasks, double index) {
    std::exponential_distribution<double> excess(index);
    std::vector<double> times(tasks);
    for (double& x : times) x = excess(engine) - std::log(2.0) / index;
    return times;
}
} // namespace

TEST_CASE("times of other jobs: the upper half of their distribution, rather too much of it") {
    std::mt19937_64 engine(straggle_test::seed_or(20261125));
    detail::pooled_times pool;
    CHECK(pool.weight() == 0);
    CHECK(pool.survival(1) == 1);
    for (int job = 0; job < 400; ++job) pool.learn(behind_median(engine, 40, 2));
    // What is remembered is worth 4096 attempts: four standard errors, and the chord of a step of 0.125.
    for (double const x : {0.2, 0.5, 1.0, 1.7}) { // a step from the median on
        double const truth = 0.5 * std::exp(-2 * x), error = std::sqrt(truth / 4096);
        CHECK(pool.survival(x) > truth - 4 * error);
        CHECK(pool.survival(x) < 1.02 * truth + 4 * error + 1.0 / 4096);
    }
    CHECK(pool.survival(0) == 1);
    CHECK(pool.survival(100) > 0); // never nothing
    CHECK(pool.survival(std::numeric_limits<double>::quiet_NaN()) == 1);
}

TEST_CASE("times of other jobs are worth much where jobs are alike, and little where they differ") {
    std::mt19937_64 engine(straggle_test::seed_or(20261125));
    detail::pooled_times alike, mixed, young;
    for (int job = 0; job < 400; ++job) {
        alike.learn(behind_median(engine, 80, 3));
        mixed.learn(behind_median(engine, 80, job % 2 == 0 ? 1.2 : 8));
    }
    for (int job = 0; job < 2; ++job) young.learn(behind_median(engine, 80, 3));
    CHECK(alike.weight() > 80);
    CHECK(mixed.weight() < 20);
    CHECK(young.weight() < alike.weight());
    // A job whose tail is heavier than any before is left to itself.
    auto const job = behind_median(engine, 80, 1);
    auto const longer = [&](double by) {
        return static_cast<double>(std::count_if(job.begin(), job.end(), [&](double x) { return x > by; }));
    };
    CHECK_FALSE(alike.explains(80, longer));
    CHECK(mixed.explains(80, longer));
}

TEST_CASE("other jobs stand behind siblings: the share that takes longer is that of both together") {
    std::mt19937_64 engine(straggle_test::seed_or(20261125));
    detail::pooled_times pool;
    for (int job = 0; job < 400; ++job) pool.learn(behind_median(engine, 80, 3));
    detail::censored_times siblings;
    auto const times = behind_median(engine, 80, 3);
    std::uint32_t node = 0;
    for (double const x : times) siblings.add(x, true, node++ % 8);
    double const weight = (std::min)(pool.weight(), 80.0);
    siblings.sort();
    siblings.fit_hazards(pool, 0); // the median is where it is
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    double const middle = sorted[sorted.size() / 2 - 1];
    REQUIRE(weight > 0);
    // Susarla and Van Ryzin without censoring; the hazard adds 1 to those at risk, which is what is allowed.
    for (std::size_t const i : {50u, 58u, 65u, 72u}) {
        double const x = sorted[i] + 1e-9, longer = static_cast<double>(79 - i);
        double const both = (weight * pool.survival(x - middle) + longer) / (weight + 80);
        double const told = std::exp(-siblings.hazard(x, 99, 1.5));
        CHECK(told >= both);
        CHECK(told < both + 2.5 / (weight + 80));
    }
    // Its own hazard, where nothing is known of others.
    siblings.sort();
    siblings.fit_hazards({}, 0);
    CHECK(std::exp(-siblings.hazard(sorted[70] + 1e-9, 99, 1.5)) == doctest::Approx(10.0 / 81).epsilon(0.12));
}

TEST_CASE("attempts that hang do not hide each other: the longest is compared with others only") {
    detail::censored_times siblings;
    for (std::size_t i = 0; i < 76; ++i)
        siblings.add(0.01 * static_cast<double>(i), true, static_cast<std::uint32_t>(i % 9));
    for (int i = 0; i < 4; ++i) siblings.add(2, false, 9);
    siblings.sort();
    siblings.fit_hazards({}, 0.5);
    double own = 0, all = 0;
    for (int i = 1; i <= 76; ++i) {
        own += 1.0 / (i + 1); // those at risk elsewhere, and one
        all += 1.0 / (i + 5);
    }
    for (double const index : {1.5, 6.0})
        CHECK(siblings.hazard(0.751, 9, index) == doctest::Approx(own + index * 0.001));
    CHECK(siblings.hazard(0.751, 3, 1.5) == doctest::Approx(all));
    CHECK(siblings.lead() < 0); // it has not ended
    siblings.for_each_spacing([](double) { CHECK(false); });

    // Nor where one attempt elsewhere took longer than all of them.
    siblings.clear();
    for (std::size_t i = 0; i < 76; ++i)
        siblings.add(0.01 * static_cast<double>(i), true, static_cast<std::uint32_t>(i % 9));
    siblings.add(3, true, 5);
    for (int i = 0; i < 4; ++i) siblings.add(2, false, 9);
    siblings.sort();
    siblings.fit_hazards({}, 0.5);
    double others = 0;
    for (int i = 2; i <= 77; ++i) others += 1.0 / (i + 1);
    CHECK(siblings.hazard(1.9, 9, 1.5) == doctest::Approx(others));
    double everybody = 0;
    for (int i = 2; i <= 77; ++i) everybody += 1.0 / (i + 5);
    CHECK(siblings.hazard(1.9, 3, 1.5) == doctest::Approx(everybody));
}

TEST_CASE("spacings of a Pareto tail are exponential with mean 1 / index, also where some have not ended") {
    // The mean of 200 x 40 spacings lies within 4 standard errors: 4.5 %.
    for (double const index : {1.8, 5.0})
        for (bool const censored : {false, true}) {
            std::mt19937_64 engine(straggle_test::seed_or(20261124));
            std::exponential_distribution<double> excess(index), cut(0.3 * index);
            double sum = 0, n = 0, squares = 0;
            for (int job = 0; job < 200; ++job) {
                detail::censored_times times;
                for (std::uint32_t k = 0; k < 400; ++k) {
                    double const at = excess(engine), until = censored && k % 2 == 0 ? cut(engine) : 1e9;
                    times.add((std::min)(at, until), at <= until, k % 20);
                }
                times.sort();
                times.fit();
                times.for_each_spacing([&](double spacing) {
                    sum += spacing;
                    squares += spacing * spacing;
                    n += 1;
                });
            }
            CHECK(n > (censored ? 2000 : 7900));
            CHECK(sum / n == doctest::Approx(1 / index).epsilon(censored ? 0.09 : 0.045));
            CHECK(squares / n == doctest::Approx(2 / (index * index)).epsilon(censored ? 0.2 : 0.1));
        }
}

TEST_CASE("the index of a tail is that of its heaviest part, and heavy until something is known") {
    detail::tail_index tail;
    CHECK(tail.value() == detail::tail_index::least);
    std::mt19937_64 engine(straggle_test::seed_or(20261124));
    std::exponential_distribution<double> steep(6), heavy(2);
    for (int i = 0; i < 2000; ++i) tail.learn(steep(engine));
    CHECK(tail.value() == doctest::Approx(6).epsilon(0.25)); // third moments of 512 spacings
    for (int i = 0; i < 2000; ++i) tail.learn(i % 4 == 0 ? heavy(engine) : steep(engine));
    CHECK(tail.value() < 3);
    for (int i = 0; i < 5000; ++i) tail.learn(1e-9);
    CHECK(tail.value() <= detail::tail_index::most);
}

TEST_CASE("how steep the tail is, is learned from by how much the longest leads") {
    double evidence_of[2] = {0, 0};
    for (double const shape : {1.8, 4.0}) {
        std::mt19937_64 engine(straggle_test::seed_or(20261123));
        std::uniform_real_distribution<double> uniform;
        slowdown_evidence evidence;
        double now = 0;
        auto const feed = [&](std::uint64_t first) {
            for (std::uint64_t job = first; job < first + 400; ++job) {
                for (std::uint32_t k = 0; k < 40; ++k)
                    evidence.observe({k % 10, job, k, now, now + std::pow(1 - uniform(engine), -1 / shape)});
                evidence.finish_job(job);
                now += 10;
                evidence.update(now, {}, {});
            }
        };
        feed(0);
        // All four slots of a node hold attempts of one age; how much that tells depends on the tail.
        auto const told = [&](double age) {
            std::vector<running_attempt> running;
            for (std::uint32_t k = 0; k < 40; ++k)
                if (k % 10 != 9)
                    evidence.observe({k % 10, 5000, k, now, now + std::pow(1 - (k + 0.5) / 40, -1 / shape)});
            for (std::uint32_t k = 0; k < 4; ++k)
                running.push_back({.node = 9, .job = 5000, .task = 100 + k, .start = now});
            std::vector<std::uint32_t> const slots(10, 4);
            now += age;
            evidence.update(now, running, slots);
            return evidence.hung_evidence(9);
        };
        // Three times as old as the longest elsewhere.
        evidence_of[shape > 2 ? 1 : 0] = told(3 * std::pow(0.5 / 40, -1 / shape));
    }
    // Four attempts, each of which would be so rare as 3 to the shape says.
    CHECK(evidence_of[0] > 4 * std::log(40.0));
    CHECK(evidence_of[1] > evidence_of[0] + 2 * std::log(3.0));
}

TEST_CASE("tasks that began together are witnesses of their own until such a verdict was wrong") {
    detail::batch_trust trust;
    CHECK(trust.holds());
    trust.learn(false);
    CHECK_FALSE(trust.holds());
    int windows = 0;
    for (; !trust.holds(); ++windows) trust.next_window();
    CHECK(windows == 512);
    for (int i = 0; i < 3; ++i) trust.learn(true);
    trust.learn(false);
    CHECK(trust.holds());
}

// Four attempts of a job that began on node 9 at the same time, or at different times, and do not end.
double told_by_four(bool together, bool trusted) {
    slowdown_evidence evidence;
    std::mt19937_64 engine(20261124);
    std::normal_distribution<double> normal;
    double now = 0;
    for (std::uint64_t job = 0; job < 40; ++job, now += 10) {
        for (std::uint32_t k = 0; k < 80; ++k)
            evidence.observe({k % 10, job, k, now, now + std::exp(0.3 * normal(engine))});
        evidence.finish_job(job);
        evidence.update(now + 9, {}, {});
    }
    if (!trusted) evidence.learn_batch(false);
    for (std::uint32_t k = 0; k < 76; ++k)
        evidence.observe({k % 9, 99, k, now, now + std::exp(0.3 * normal(engine))});
    std::vector<running_attempt> running;
    for (std::uint32_t k = 0; k < 4; ++k)
        running.push_back(
            {.node = 9, .job = 99, .task = 100 + k, .start = now + (together ? 0.02 : 0.3) * k});
    std::vector<std::uint32_t> const slots(10, 4);
    evidence.update(now + 5, running, slots);
    CHECK(evidence.is_one_batch(9) == together);
    CHECK_FALSE(evidence.is_one_batch(3));
    return evidence.hung_evidence(9);
}

TEST_CASE("a batch counts as one once a verdict by a batch was wrong") {
    double const apart = told_by_four(false, true);
    CHECK(told_by_four(true, true) == doctest::Approx(apart).epsilon(0.1));
    // What began apart counts each, compared as one large task would be.
    double const doubtful = told_by_four(false, false);
    CHECK(doubtful < apart);
    CHECK(doubtful > 0.6 * apart);
    CHECK(told_by_four(true, false) < 0.5 * apart);
}

TEST_CASE("a copy that needs half the time elsewhere says that the node is to blame, not the task") {
    for (double const took : {2.0, 6.0})
        for (bool const job_goes_on : {true, false}) {
            slowdown_evidence evidence;
            for (std::uint32_t k = 0; k < 20; ++k) evidence.observe({k % 5, 1, k, 0, 1.0 + 0.01 * k});
            std::vector<running_attempt> const running{{.node = 5, .job = 1, .task = 20, .start = 0}};
            evidence.update(4, running, {});
            CHECK_FALSE(evidence.take_outrun(5));
            evidence.observe({.node = 2, .job = 1, .task = 20, .start = 4, .end = 4 + took, .copy = true});
            evidence.observe(
                {.node = 5, .job = 1, .task = 20, .start = 0, .end = 4 + took, .as = attempt_status::outrun});
            if (!job_goes_on) evidence.finish_job(1);
            evidence.update(4 + took, {}, {});
            CHECK(evidence.take_outrun(5) == (4 + took > 2 * took));
            CHECK_FALSE(evidence.take_outrun(5));
            CHECK_FALSE(evidence.take_outrun(2));
        }
}

TEST_CASE("copies that outrun a node's attempts count until as many end there") {
    slowdown_evidence evidence;
    for (std::uint32_t k = 0; k < 20; ++k) evidence.observe({k % 5, 1, k, 0, 1.0 + 0.01 * k});
    double now = 2;
    evidence.update(now, {}, {});
    auto const outrun = [&](std::uint64_t task) { // it ran for 3, its copy took 1
        evidence.observe({.node = 2, .job = 1, .task = task, .start = now + 2, .end = now + 3, .copy = true});
        evidence.observe({5, 1, task, now, now + 3, attempt_status::outrun});
        evidence.update(now += 3, {}, {});
    };
    outrun(100);
    CHECK(evidence.outrun_by(5) == 0); // one may have had bad luck
    outrun(101);
    CHECK(evidence.outrun_by(5) == doctest::Approx(3).epsilon(1e-3));
    CHECK(evidence.outrun_by(2) == 0);
    double const hung = evidence.hung_evidence(5);
    CHECK(hung > 0);
    evidence.observe({5, 1, 102, now, now + 1});
    evidence.update(now += 1, {}, {});
    CHECK(evidence.outrun_by(5) == 0);
    CHECK(evidence.hung_evidence(5) < hung);
    for (std::uint64_t task = 110; task < 122; ++task) outrun(task);
    for (std::uint64_t task = 130; task < 137; ++task) evidence.observe({5, 1, task, now, now + 1});
    evidence.update(now += 1, {}, {}); // no more than eight are held against it
    CHECK(evidence.outrun_by(5) == 0);
    CHECK(evidence.outrun_by(1000) == 0);
}

TEST_CASE("what is copied before its job has a tail is a witness of what hangs, too") {
    // Two jobs, of the same attempts: in one the siblings end first, in the other the copied attempt.
    double told[2];
    for (int const late : {0, 1}) {
        slowdown_evidence evidence;
        for (std::uint32_t k = 0; k < 20; ++k) evidence.observe({k % 5, 1, k, 0, 1.0 + 0.01 * k});
        evidence.finish_job(1);
        evidence.update(2, {}, {});
        auto const siblings = [&] {
            for (std::uint32_t k = 0; k < 20; ++k) evidence.observe({k % 5, 2, k, 2, 3.0 + 0.01 * k});
        };
        if (late == 0) siblings();
        std::vector<running_attempt> const running{{.node = 5, .job = 2, .task = 50, .start = 2}};
        evidence.update(3.5, running, {});
        evidence.observe({5, 2, 50, 2, 4, attempt_status::outrun});
        evidence.update(4, {}, {});
        if (late == 1) siblings();
        evidence.update(4.5, {}, {});
        told[late] = evidence.hung_evidence(5);
    }
    CHECK(told[0] > 0);
    CHECK(told[1] == doctest::Approx(told[0]).epsilon(0.05));
}

TEST_CASE(
    "a job is looked at again when its nodes are believed to be otherwise by a tenth of its deviation") {
    using stale = detail::live_cells::stale;
    detail::live_cells live;
    detail::effect_group const group{.cells = 3, .variance = 0.09, .tasks = 10};
    std::vector<detail::effect_cell> const cells{
        {.node = 0, .tasks = 2}, {.node = 1, .tasks = 3}, {.node = 4, .tasks = 5}};
    std::vector<detail::cell_score> const scores{{.node = 0}, {.node = 1}, {.node = 4}};
    CHECK(live.add({}, {}, {}).empty());
    CHECK(live.add(group, cells, scores).size() == 3);
    auto const with = [&](std::size_t node, double slowdown, double plain) {
        std::vector<detail::belief_change> changes(5);
        changes[node] = {slowdown * slowdown, plain * plain};
        return live.stale_of(live.groups()[1], 0, changes);
    };
    CHECK(with(2, 9, 9) == stale::nothing); // it has nothing there
    // A tenth of 0.3; half of the tasks that moved by d are d / sqrt(2) in all.
    CHECK(with(4, 0.042, 0) == stale::nothing);
    CHECK(with(4, 0.043, 0) == stale::cells);
    CHECK(with(0, 0.043, 0) == stale::nothing);
    CHECK(with(0, 0.068, 0) == stale::cells);
    CHECK(with(0, 0, 0.029) == stale::nothing);
    CHECK(with(0, 0, 0.031) == stale::scores);

    // What it says now is written over what it said, more or fewer cells; what is behind stays.
    std::vector<detail::effect_cell> const last_cells{{.node = 7, .tasks = 1, .mean = 0.5}};
    std::vector<detail::cell_score> const last_scores{{.node = 7}};
    (void)live.add({.cells = 1}, last_cells, last_scores);
    for (std::size_t const size : {3u, 2u, 3u}) {
        auto const said = live.replace(1, 0, {.cells = static_cast<std::uint32_t>(size)},
                                       std::span(cells).first(size), std::span(scores).first(size));
        CHECK(said.size() == size);
        CHECK(said.front().node == 0);
        CHECK(live.groups()[1].cells == size);
        REQUIRE(live.cells().size() == size + 1);
        REQUIRE(live.scores().size() == size + 1);
        CHECK(live.cells().back().node == 7);
        CHECK(live.scores().back().node == 7);
        CHECK(live.cells()[size - 1].node == cells[size - 1].node);
    }
}

TEST_CASE("what an update says, the next one says as well where nothing has happened") {
    // What is believed of nodes and what jobs say hang on each other: an update that looked at jobs too early
    // would be corrected by the next one.
    std::uint64_t const seed = straggle_test::seed_or(20261127);
    for (double const slow : {1.0, 1.5, 4.0}) {
        CAPTURE(slow);
        double squares = 0;
        constexpr std::uint64_t runs = 20;
        for (std::uint64_t run = 0; run < runs; ++run) {
            std::mt19937_64 engine(seed + run);
            std::normal_distribution<double> normal;
            slowdown_evidence evidence;
            double now = 0;
            for (std::uint64_t round = 0; round < 30; ++round) {
                // Jobs of which one goes on; node 2 is slow from the tenth round on.
                for (std::uint32_t n = 0; n < 12; ++n)
                    for (unsigned k = 0; k < 3; ++k)
                        evidence.observe(
                            {n, round / 5, round * 100 + n * 3 + k, now,
                             now + (n == 2 && round >= 10 ? slow : 1) * std::exp(0.3 * normal(engine))});
                now += 5;
                evidence.update(now, {}, {});
                std::vector<double> first;
                for (std::uint32_t n = 0; n < 12; ++n) first.push_back(evidence.evidence(n));
                double const before = evidence.estimate_of(2).value;
                evidence.update(now, {}, {});
                for (std::uint32_t n = 0; n < 12; ++n)
                    squares += std::pow(evidence.evidence(n) - first[n], 2);
                CHECK(evidence.estimate_of(2).value == doctest::Approx(before).epsilon(0.02));
            }
        }
        CHECK(std::sqrt(squares / (runs * 30 * 12)) < 0.6); // nats, where nine exclude a node
    }
}

TEST_CASE("a slowdown is found, and told only when it is known") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    fleet f{.factors = {1, 1, 1, 2, 1, 1}};
    slowdown_evidence evidence;
    f.run(evidence, 2, engine);
    CHECK_FALSE(evidence.slowdown_of(3).is_known()); // 10 tasks, but 2 jobs
    CHECK(evidence.estimate_of(3).is_known());
    double clock = 10;
    f.run(evidence, 10, engine, 2, &clock);
    slowdown const s = evidence.slowdown_of(3);
    REQUIRE(s.is_known());
    CHECK(s.value == doctest::Approx(2).epsilon(0.2));
    CHECK(s.low < s.value);
    CHECK(s.value < s.high);
    CHECK(s.low > 1.5);
    CHECK(s.tasks == 60);
    CHECK(evidence.evidence(3) > 15);
    CHECK(evidence.evidence(2) < 5);
    CHECK_FALSE(evidence.slowdown_of(77).is_known());
}

TEST_CASE("nodes compare inside a component of jobs and nodes only") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    std::normal_distribution<double> normal;
    slowdown_evidence evidence;
    double now = 0;
    for (std::uint64_t j = 0; j < 24; ++j) {
        // Odd jobs run on nodes 0 to 2, even ones on 3 to 5, where all takes 10 times as long; node 6 is
        // alone.
        std::uint32_t const first = j % 2 == 0 ? 3 : 0;
        for (std::uint32_t n = first; n < first + 3; ++n)
            for (unsigned k = 0; k < 6; ++k)
                evidence.observe(
                    {n, j, n * 100u + k, now,
                     now + (first == 3 ? 10 : 1) * (n == 4 ? 1.5 : 1) * std::exp(0.1 * normal(engine))});
        for (unsigned k = 0; k < 9; ++k) evidence.observe({6, 1000 + j, k, now, now + 50 + k});
        now += 30;
    }
    evidence.update(now, {}, {});
    CHECK(evidence.slowdown_of(1).value == doctest::Approx(1).epsilon(0.1));
    CHECK(evidence.slowdown_of(3).value == doctest::Approx(1).epsilon(0.1));
    CHECK(evidence.slowdown_of(4).value == doctest::Approx(1.5).epsilon(0.1));
    CHECK_FALSE(evidence.slowdown_of(6).is_known());
}

TEST_CASE("two of three nodes that are slow are not taken for the usual") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    slowdown_evidence evidence;
    fleet{.factors = {1, 2, 2}}.run(evidence, 12, engine);
    // The median node is a slow one: the other is twice as fast, not 1.33 times.
    CHECK(evidence.slowdown_of(0).value == doctest::Approx(0.5).epsilon(0.15));
    CHECK(evidence.slowdown_of(1).value == doctest::Approx(1).epsilon(0.15));
}

TEST_CASE("intervals hold the truth about as often as they say") {
    std::uint64_t const seed = straggle_test::seed_or(20261122);
    INFO("seed ", seed);
    for (unsigned const nodes : {2u, 3u, 10u, 60u})
        for (unsigned const tasks : {1u, 8u})
            for (double const sigma : {0.1, 0.8}) {
                unsigned held = 0, all = 0;
                for (unsigned run = 0; run < (nodes > 20 ? 12u : nodes > 5 ? 60u : 300u); ++run) {
                    std::mt19937_64 engine(seed + run);
                    fleet f{.factors = std::vector<double>(nodes, 1.0), .tasks = tasks, .sigma = sigma};
                    if (nodes >= 10) f.factors[4] = 2;
                    slowdown_evidence evidence;
                    f.run(evidence, tasks == 1 ? 12 : 6, engine);
                    for (std::uint32_t n = 0; n < nodes; ++n) {
                        slowdown const s = evidence.slowdown_of(n);
                        if (!s.is_known()) continue;
                        ++all;
                        held += s.low <= f.factors[n] && f.factors[n] <= s.high;
                    }
                }
                CAPTURE(nodes);
                CAPTURE(tasks);
                CAPTURE(sigma);
                REQUIRE(all >= 500);
                double const share = static_cast<double>(held) / all;
                CHECK(share > 0.90);
                if (nodes > 3) CHECK(share < 0.993); // few tasks of little spread: rather too wide
            }
}

TEST_CASE("evidence adds up over windows") {
    // Ten nodes with 20 tasks each per window.
    std::uint64_t const seed = straggle_test::seed_or(20261122);
    INFO("seed ", seed);
    struct goal {
        double slowdown, cv;
        unsigned windows;
    };
    for (goal const g : {goal{2, 1.0, 8}, goal{1.3, 0.6, 30}, goal{1.5, 0.3, 3}}) {
        unsigned found = 0, wrong = 0;
        constexpr unsigned runs = 60;
        for (unsigned run = 0; run < runs; ++run) {
            std::mt19937_64 engine(seed + run);
            fleet f{.factors = std::vector<double>(10, 1.0),
                    .tasks = 20,
                    .sigma = std::sqrt(std::log1p(g.cv * g.cv))};
            f.factors[3] = g.slowdown;
            slowdown_evidence evidence;
            f.run(evidence, g.windows, engine);
            double const threshold = std::log(1000 * 10);
            found += evidence.evidence(3) > threshold;
            for (std::uint32_t n = 0; n < 10; ++n) wrong += n != 3 && evidence.evidence(n) > threshold;
        }
        CAPTURE(g.slowdown);
        CHECK(found >= runs * 9 / 10);
        CHECK(wrong <= 1);
    }
}

TEST_CASE("attempts that run count: a node on which nothing ends is seen, others are not") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    std::normal_distribution<double> normal;
    slowdown_evidence evidence;
    double now = 0;
    std::vector<running_attempt> running;
    for (unsigned k = 0; k < 4; ++k) running.push_back({.node = 9, .job = 0, .task = 5000 + k, .start = 0});
    for (int step = 1; step <= 8; ++step) {
        for (std::uint32_t n = 0; n < 9; ++n)
            for (unsigned k = 0; k < 4; ++k)
                evidence.observe({n, 0, static_cast<std::uint64_t>(step * 100 + static_cast<int>(n * 4 + k)),
                                  now, now + std::exp(0.3 * normal(engine))});
        now += 1.5;
        std::vector<running_attempt> all = running;
        for (std::uint32_t n = 0; n < 9; ++n)
            all.push_back({.node = n, .job = 0, .task = 9000 + n, .start = now - 1});
        evidence.update(now, all, {});
    }
    CHECK(evidence.hung_evidence(9) > 9);
    CHECK(evidence.evidence(9) > 4);
    CHECK(evidence.stuck_for(9) > 8);
    for (std::uint32_t n = 0; n < 9; ++n) {
        CHECK(evidence.hung_evidence(n) < 4);
        CHECK(evidence.evidence(n) < 6);
    }
}

TEST_CASE("what an attempt waits for others is no time of its own") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    fleet const f{.factors = {1, 1, 1, 1, 1, 1}, .tasks = 2, .sigma = 0.1};
    for (double const waited : {0.0, 49.0}) {
        slowdown_evidence evidence;
        double clock = 0;
        f.run(evidence, 20, engine, 0, &clock);
        for (std::uint32_t k = 0; k < 40; ++k)
            evidence.observe(
                {.node = k % 5, .job = 99, .task = k, .start = clock, .end = clock + 50, .waited = 49});
        running_attempt const runs{.node = 5, .job = 99, .task = 99, .start = clock, .waited = waited};
        evidence.update(clock + 50, std::span(&runs, 1), {});
        CAPTURE(evidence.stuck_for(5));
        CHECK((evidence.stuck_for(5) > 10) == (waited == 0));
        CHECK(evidence.usual_duration() == doctest::Approx(1).epsilon(0.1));
    }
}

TEST_CASE("what was found to hang is not acquitted by having nothing left that runs") {
    std::mt19937_64 engine(straggle_test::seed_or(20261123));
    std::normal_distribution<double> normal;
    slowdown_evidence evidence;
    std::vector<std::uint32_t> const slots(10, 4);
    double now = 0;
    std::uint64_t task = 0;
    auto const work = [&](std::uint32_t nodes) {
        for (std::uint32_t n = 0; n < nodes; ++n)
            for (unsigned k = 0; k < 4; ++k)
                evidence.observe({n, 0, ++task, now, now + std::exp(0.3 * normal(engine))});
        now += 1.5;
    };
    for (int step = 0; step < 6; ++step) work(9);
    double const began = now;
    std::vector<running_attempt> running;
    for (unsigned k = 0; k < 4; ++k)
        running.push_back({.node = 9, .job = 0, .task = 5000 + k, .start = began});
    work(9), work(9), work(9);
    evidence.update(now, running, slots);
    double const found = evidence.hung_evidence(9);
    CHECK(found > 9);
    evidence.charge_hung(9);
    for (running_attempt const& r : running)
        evidence.observe({9, 0, r.task, r.start, now, attempt_status::killed});
    work(9);
    evidence.update(now, {}, slots);
    CHECK(evidence.hung_evidence(9) > 9);
    for (int step = 0; step < 4; ++step) work(10); // what ends there acquits it
    evidence.update(now, {}, slots);
    CHECK(evidence.hung_evidence(9) < 0);
}

TEST_CASE("cancelled attempts took at least so long") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    std::normal_distribution<double> normal;
    slowdown_evidence evidence;
    double now = 0;
    for (std::uint64_t j = 0; j < 12; ++j) {
        for (std::uint32_t n = 0; n < 6; ++n)
            for (unsigned k = 0; k < 5; ++k) {
                double const length = (n == 2 ? 3 : 1) * std::exp(0.3 * normal(engine));
                // Whatever takes longer than 2 is outrun by a copy.
                bool const outrun = length > 2;
                evidence.observe({n, j, n * 10u + k, now, now + (outrun ? 2 : length),
                                  outrun ? attempt_status::outrun : attempt_status::success});
            }
        evidence.finish_job(j);
        now += 5;
        evidence.update(now, {}, {});
    }
    CHECK(evidence.slowdown_of(2).value > 1.6);
    CHECK(evidence.evidence(2) > 12);
    CHECK(evidence.evidence(1) < 5);
}

TEST_CASE("all times multiplied, or shifted, give the same answers") {
    std::uint64_t const seed = straggle_test::seed_or(20261122);
    for (double const unit : {1000.0, 1.0 / 64}) {
        std::mt19937_64 one(seed), other(seed);
        slowdown_evidence a, b;
        fleet f{.factors = {1, 1, 1.7, 1, 1}};
        f.run(a, 9, one);
        f.unit = unit;
        f.run(b, 9, other);
        for (std::uint32_t n = 0; n < 5; ++n) {
            CHECK(a.slowdown_of(n).value == doctest::Approx(b.slowdown_of(n).value).epsilon(1e-4));
            CHECK(a.evidence(n) == doctest::Approx(b.evidence(n)).epsilon(1e-3));
        }
        CHECK(a.windows() == b.windows());
    }
}

TEST_CASE("what makes no sense is counted and changes nothing") {
    slowdown_evidence evidence({.max_nodes = 10});
    CHECK_FALSE(evidence.observe({1, 1, 1, not_a_time, 2}));
    CHECK_FALSE(evidence.observe({1, 1, 1, 0, std::numeric_limits<double>::infinity()}));
    CHECK_FALSE(evidence.observe({1, 1, 1, 3, 2}));
    CHECK_FALSE(evidence.observe({1, 1, 1, 3, 3}));
    CHECK_FALSE(evidence.observe({10, 1, 1, 0, 1}));
    CHECK_FALSE(evidence.observe({1, 1, 1, 0, 1, attempt_status::failed}));
    CHECK(evidence.observe({1, 1, 1, 0, 1}));
    auto const counts = evidence.counts();
    CHECK(counts.rejected == 4);
    CHECK(counts.over_nodes == 1);
    CHECK(counts.failed == 1);
    CHECK(counts.used == 1);
    running_attempt const odd[] = {{.node = 1, .job = 1, .start = not_a_time},
                                   {.node = 99, .job = 1, .start = 0}};
    evidence.update(5, odd, {});
    CHECK(evidence.node_bound() <= 10);
}

TEST_CASE("memory is bounded, and what was dropped is counted") {
    slowdown_evidence evidence(
        {.max_attempts = 64, .max_jobs = 4, .max_cells = 40, .cells_per_node = 8, .max_stretch = 32});
    double now = 0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
        evidence.observe(
            {static_cast<std::uint32_t>(i % 5), i / 10, i, now, now + 1 + static_cast<double>(i % 7)});
        now += 0.1;
        if (i % 50 == 0) evidence.update(now, {}, {});
    }
    CHECK(evidence.counts().used == 20000);
    CHECK(evidence.counts().closed_early > 0);
    CHECK(evidence.counts().forgotten_early > 0);
    byte_writer out;
    evidence.write(out);
    CHECK(out.payload().size() < 8000);
}

TEST_CASE("a large cluster keeps comparisons for each of its nodes") {
    constexpr std::uint32_t nodes = 400;
    auto const known = [](std::size_t cells_per_node) {
        slowdown_evidence evidence({.max_cells = 1000, .cells_per_node = cells_per_node});
        std::mt19937_64 engine(straggle_test::seed_or(20261128));
        double now = 0;
        for (std::uint64_t i = 0; i < 20000; ++i) {
            evidence.observe(
                {static_cast<std::uint32_t>(engine() % nodes), i / 50, i, now, now + 1 + (i % 5 == 3)});
            now += 0.002;
            if (i % 50 == 49) evidence.finish_job(i / 50);
            if (i % 500 == 0) evidence.update(now, {}, {});
        }
        evidence.update(now, {}, {});
        std::uint32_t out = 0;
        for (std::uint32_t n = 0; n < nodes; ++n) out += evidence.slowdown_of(n).is_known() ? 1u : 0u;
        return out;
    };
    CHECK(known(16) > nodes * 9 / 10);
    CHECK(known(0) < nodes / 10);
}

TEST_CASE("memory for what is expected is there from the beginning, and changes no answer") {
    auto const written = [](std::size_t expected) {
        slowdown_evidence evidence({.max_cells = 400, .expected_cells = expected});
        double now = 0;
        for (std::uint64_t i = 0; i < 5000; ++i) {
            evidence.observe({static_cast<std::uint32_t>(i % 5), i / 50, i, now, now + 1 + (i % 5 == 3)});
            now += 0.1;
            if (i % 50 == 0) evidence.update(now, {}, {});
        }
        byte_writer out;
        evidence.write(out);
        return std::vector<std::byte>(out.payload().begin(), out.payload().end());
    };
    auto const none = written(0);
    CHECK(written(300) == none);
    CHECK(written(1'000'000) == none);
    std::size_t const before = straggle_test::allocated_bytes();
    slowdown_evidence const plain;
    std::size_t const least = straggle_test::allocated_bytes() - before;
    slowdown_evidence const evidence({.max_cells = 400, .expected_cells = 1'000'000});
    CHECK(straggle_test::allocated_bytes() - before == 2 * least + std::size_t{400} * 24);
}

TEST_CASE("a job without end is cut into stretches") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    std::normal_distribution<double> normal;
    slowdown_evidence evidence;
    double now = 0;
    for (int i = 0; i < 6000; ++i) {
        std::uint32_t const n = static_cast<std::uint32_t>(i % 6);
        double const length = (n == 5 ? 1.6 : 1) * std::exp(0.4 * normal(engine));
        evidence.observe({n, 42, no_task, now, now + length});
        now += 0.02;
        if (i % 100 == 99) evidence.update(now, {}, {});
    }
    slowdown const s = evidence.slowdown_of(5);
    REQUIRE(s.is_known()); // one job, several stretches
    CHECK(s.value == doctest::Approx(1.6).epsilon(0.1));
}

TEST_CASE("a single long attempt of an endless job does not delay what it shows") {
    std::mt19937_64 engine(straggle_test::seed_or(20261128));
    std::normal_distribution<double> normal;
    slowdown_evidence evidence;
    double now = 0;
    evidence.observe({0, 42, no_task, -500, now});
    auto const work = [&](int attempts, double slow) {
        for (int i = 0; i < attempts; ++i) {
            std::uint32_t const n = static_cast<std::uint32_t>(i % 6);
            evidence.observe(
                {n, 42, no_task, now, now + (n == 5 ? slow : 1) * std::exp(0.4 * normal(engine))});
            now += 0.02;
            if (i % 100 == 99) evidence.update(now, {}, {});
        }
    };
    work(12000, 1); // four minutes
    work(3000, 4);  // one
    CHECK(evidence.attempts_of(42) < 1500);
    slowdown const s = evidence.slowdown_of(5);
    REQUIRE(s.is_known());
    CHECK(s.value == doctest::Approx(4).epsilon(0.15));
    CHECK(evidence.whole_slowdown_of(5).value < 2.5);
}

TEST_CASE("a node that changed is judged by its latest jobs, even if they take many windows each") {
    std::mt19937_64 engine(straggle_test::seed_or(20261128));
    std::normal_distribution<double> normal;
    slowdown_evidence evidence;
    double now = 0;
    for (std::uint64_t job = 0; job < 12; ++job) {
        for (std::uint64_t step = 0; step < 20; ++step) {
            // Too few attempts for more than one stretch.
            for (std::uint32_t n = 0; n < 6; ++n)
                if (n < 2 || step % 5 == 0)
                    evidence.observe({n, job, step * 10 + n, now,
                                      now + (n == 3 && job >= 8 ? 4 : 1) * std::exp(0.2 * normal(engine))});
            now += 1.5;
            evidence.update(now, {}, {});
        }
        evidence.finish_job(job);
    }
    evidence.update(now, {}, {});
    CHECK(evidence.slowdown_of(3).value == doctest::Approx(4).epsilon(0.2));
    CHECK(evidence.whole_slowdown_of(3).value < 2);
    CHECK(evidence.slowdown_of(2).value == doctest::Approx(1).epsilon(0.15));
}

TEST_CASE("what is stored decides as the original does") {
    std::uint64_t const seed = straggle_test::seed_or(20261122);
    std::mt19937_64 engine(seed);
    slowdown_evidence a;
    fleet const f{.factors = {1, 1, 1.5, 1, 1}};
    double clock = 0;
    f.run(a, 5, engine, 0, &clock);
    a.observe({1, 777, 1, clock, clock + 1});
    byte_writer out;
    a.write(out);
    slowdown_evidence b;
    byte_reader in(out.payload());
    REQUIRE(b.read(in) == status::ok);
    REQUIRE(in.at_end());
    byte_writer again;
    b.write(again);
    REQUIRE(std::equal(out.payload().begin(), out.payload().end(), again.payload().begin(),
                       again.payload().end()));
    std::mt19937_64 other = engine;
    double its = clock;
    f.run(a, 4, engine, 100, &clock);
    f.run(b, 4, other, 100, &its);
    for (std::uint32_t n = 0; n < 5; ++n) {
        CHECK(a.slowdown_of(n) == b.slowdown_of(n));
        CHECK(a.evidence(n) == b.evidence(n));
    }
    // Any shorter payload is refused.
    for (std::size_t size = 0; size < out.payload().size(); size += 97) {
        slowdown_evidence c;
        byte_reader part(out.payload().first(size));
        CHECK(c.read(part) != status::ok);
    }
}

TEST_CASE("nodes without any job are restored, too") {
    slowdown_evidence a, b;
    for (std::uint32_t n = 0; n < 10; ++n) a.tolerate(n, 2);
    byte_writer out;
    a.write(out);
    byte_reader in(out.payload());
    CHECK(b.read(in) == status::ok);
    CHECK(in.at_end());
}

TEST_CASE("sums over groups are refused if a node in them has none") {
    byte_writer out;
    for (int k = 0; k < 2; ++k) out.flag(true);
    out.varint(1); // a group
    for (int k = 0; k < 4; ++k) out.varint(0);
    for (int k = 0; k < 3; ++k) out.real(0);
    out.count(0); // nodes
    out.count(0);
    byte_reader in(out.payload());
    detail::effect_past past;
    base::read_fields(in, past);
    REQUIRE(in.at_end());
    detail::effect_group const group{.cells = 1};
    detail::effect_cell const cell{.node = 5, .tasks = 1};
    CHECK(!past.resume(9, {&group, 1}, {&cell, 1}, 0));
}

TEST_CASE("a node in trial is judged by what it does from then on") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    slowdown_evidence evidence;
    fleet f{.factors = {1, 1, 2, 1, 1}};
    double clock = 0;
    f.run(evidence, 8, engine, 0, &clock);
    REQUIRE(evidence.evidence(2) > 10);
    evidence.charge(2, 1.7);
    evidence.begin_trial(2, clock);
    CHECK(evidence.tasks_of(2) == 0);
    f.factors[2] = 1;
    f.run(evidence, 5, engine, 50, &clock);
    CHECK(evidence.restored_evidence(2) > 3);
    CHECK(evidence.evidence(2) < 1);
    CHECK(evidence.slowdown_of(2).value < 1.3);
}

TEST_CASE("the more a node is charged with, the sooner its recovery shows") {
    auto const recovered = [](double charge) {
        std::mt19937_64 engine(straggle_test::seed_or(20261122));
        slowdown_evidence evidence;
        fleet f{.factors = {1, 1, 3, 1, 1}};
        double clock = 0;
        f.run(evidence, 8, engine, 0, &clock);
        evidence.charge(2, 1.2);
        evidence.raise_charge(2, charge);
        f.factors[2] = 1;
        f.run(evidence, 2, engine, 50, &clock);
        return evidence.restored_evidence(2);
    };
    double const low = recovered(1.2), high = recovered(2.5);
    CHECK(high > low + 3);
    CHECK(recovered(1.01) == low); // it is never lowered
}

TEST_CASE("shards that are merged know what both know") {
    std::mt19937_64 engine(straggle_test::seed_or(20261122));
    fleet const f{.factors = {1, 1, 2, 1, 1, 1}};
    slowdown_evidence a;
    f.run(a, 4, engine, 0);
    double const alone = a.slowdown_of(2).high / a.slowdown_of(2).low;
    // The other one numbers its nodes the other way round, and knows one that is left out.
    std::uint32_t const node_of[] = {5, 4, 3, 2, 1, ~std::uint32_t{0}};
    slowdown_evidence turned;
    fleet const g{.factors = {1, 1, 1, 2, 1, 1}};
    g.run(turned, 4, engine, 500);
    a.merge(turned, node_of);
    a.update(21, {}, {});
    slowdown const s = a.slowdown_of(2);
    CHECK(s.tasks == 40);
    CHECK(s.value == doctest::Approx(2).epsilon(0.2));
    CHECK(s.high / s.low < alone);
    CHECK(a.slowdown_of(0).tasks == 20); // left out there
    CHECK(a.evidence(2) > 8);
    CHECK(a.evidence(3) < 5);
}
