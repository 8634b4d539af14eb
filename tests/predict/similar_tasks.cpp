// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/similar_tasks.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace straggle;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

struct task {
    std::string job;
    std::string host;
    std::optional<double> input;
    std::optional<int> user;
    double took = 0;
};

constexpr predict::task_profile profile{.node = &task::host,
                                        .time = &task::took,
                                        .factors = predict::factors(predict::numeric(&task::input, "input"),
                                                                    predict::categorical(&task::job, "job"),
                                                                    predict::categorical(&task::user))};
using history = predict::similar_tasks<task, std::remove_const_t<decltype(profile)>>;

std::vector<double> samples_of(outcome<stats::empirical_view> const& times) {
    std::vector<double> samples;
    for (std::size_t i = 0; times && i < times->size(); ++i) samples.push_back((*times)[i]);
    return samples;
}

double uniform(std::mt19937_64& engine) {
    return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53;
}

task random_task(std::mt19937_64& engine, int jobs, int nodes) {
    task t;
    std::uint64_t const job = engine() % static_cast<unsigned>(jobs);
    std::uint64_t const node = engine() % static_cast<unsigned>(nodes);
    t.job = "job-" + std::to_string(job);
    t.host = "n" + std::to_string(node);
    if (engine() % 5 != 0) t.input = static_cast<double>(engine() % 50);
    if (engine() % 7 != 0) t.user = static_cast<int>(engine() % 3);
    t.took = std::floor(100.0 + 100.0 * static_cast<double>(job) +
                        10.0 * t.input.value_or(30) * (node % 4 == 0 ? 2 : 1) + 20 * uniform(engine));
    return t;
}

// The same by brute force: every record compared by the formula, everything sorted.
class brute_force {
  public:
    explicit brute_force(std::size_t capacity) : capacity_(capacity) {}
    void learn(task const& t) {
        records_.push_back({row_of(t, t.host), t.took});
        if (records_.size() > capacity_) records_.erase(records_.begin());
    }
    [[nodiscard]] std::vector<double> predict(task const& t, std::optional<std::string> const& node,
                                              std::span<double const> weights, std::size_t k,
                                              double within = infinite) {
        constexpr std::array kinds{predict::factor_kind::categorical, predict::factor_kind::numeric,
                                   predict::factor_kind::categorical, predict::factor_kind::categorical};
        double low = infinite, high = -infinite;
        for (record const& r : records_)
            if (!predict::is_missing_factor(r.row[1])) {
                low = std::min(low, r.row[1]);
                high = std::max(high, r.row[1]);
            }
        std::array const ranges{1.0, high > low ? high - low : 0.0, 1.0, 1.0};
        auto const wanted = row_of(t, node);
        std::vector<std::pair<double, std::size_t>> all; // distance and age
        for (std::size_t i = 0; i < records_.size(); ++i) {
            double const d = predict::weighted_distance(kinds, records_[i].row, wanted, ranges, weights);
            if (d <= within) all.emplace_back(d, records_.size() - i);
        }
        std::ranges::sort(all);
        std::vector<double> times;
        for (std::size_t i = 0; i < std::min(k, all.size()); ++i)
            times.push_back(records_[records_.size() - all[i].second].time);
        std::ranges::sort(times);
        return times;
    }
    [[nodiscard]] std::size_t size() const { return records_.size(); }

  private:
    using factors_of_task = std::array<double, 4>;
    struct record {
        factors_of_task row;
        double time;
    };
    [[nodiscard]] factors_of_task row_of(task const& t, std::optional<std::string> const& node) {
        auto const code = [this](std::string const& name) {
            return static_cast<double>(codes_.emplace(name, codes_.size()).first->second);
        };
        return {node ? code("node " + *node) : predict::missing_factor,
                t.input.value_or(predict::missing_factor), code("job " + t.job),
                t.user ? static_cast<double>(*t.user) : predict::missing_factor};
    }
    std::size_t capacity_;
    std::map<std::string, std::size_t> codes_;
    std::vector<record> records_;
};

// As the predictor uses them.
std::vector<double> in_use(std::span<double const> learned, double even_share) {
    std::vector<double> weights(learned.begin(), learned.end());
    for (double& w : weights) w = (1 - even_share) * w + even_share / static_cast<double>(weights.size());
    return weights;
}

} // namespace

TEST_CASE("similar_tasks: nothing is known before the first task") {
    history h(profile);
    task const t{"a", "n1", 5.0, 1};
    CHECK(h.predict(t, "n1").reason() == status::insufficient_evidence);
    CHECK(h.remaining(t, "n1", 3.0).reason() == status::insufficient_evidence);
    CHECK(h.usual_time(t).reason() == status::insufficient_evidence);
    CHECK(h.size() == 0);
    CHECK(h.counts() == attempt_counts{});
    CHECK(samples_of(h.predict(t, "n1")).empty());
    // All factors weigh the same.
    CHECK(std::ranges::all_of(h.weights_of("n1"), [](double w) { return w == 0.25; }));
    REQUIRE(h.observe({"a", "n1", 5.0, 1, 70}));
    CHECK(samples_of(h.predict(t, "elsewhere")) == std::vector<double>{70});
}

TEST_CASE("similar_tasks: the nearest are those of a brute-force search") {
    std::uint64_t const seed = straggle_test::seed_or(20'250'304);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    for (int round = 0; round < 12; ++round) {
        CAPTURE(round);
        predict::similar_tasks_options how;
        how.neighbors = 1 + engine() % 30;
        how.capacity = 1 + engine() % 700;
        how.pairs = round % 2 == 0 ? 0 : 4;
        how.even_share = round % 3 == 0 ? 0.0 : 0.2;
        if (round % 4 == 3) how.within = 0.3;
        history h(profile, how);
        brute_force oracle(how.capacity);
        predict::prediction_scratch scratch;
        for (int i = 0; i < 1500; ++i) {
            task const t = random_task(engine, 6, 5);
            if (i % 7 == 0) {
                std::string const node = i % 2 == 0 ? t.host : "n" + std::to_string(engine() % 7);
                auto const weights = in_use(h.weights_of(node), how.even_share);
                auto const expected = oracle.predict(t, node, weights, how.neighbors, how.within);
                auto const times = h.predict(t, node, scratch);
                REQUIRE(samples_of(times) == expected);
                if (expected.empty()) CHECK(times.reason() == status::insufficient_evidence);
                // What is left after a while is the same, conditioned.
                double const elapsed = 50.0 * static_cast<double>(engine() % 20);
                std::vector<double> left;
                for (double const x : expected)
                    if (x > elapsed) left.push_back(x - elapsed);
                auto const remaining = h.remaining(t, node, elapsed, scratch);
                REQUIRE(samples_of(remaining) == left);
                if (left.empty()) CHECK(remaining.reason() == status::insufficient_evidence);
                // Without a node, all are equally far in that respect.
                auto const fleet = in_use(h.fleet_weights(), how.even_share);
                auto const anywhere = oracle.predict(t, {}, fleet, how.neighbors, how.within);
                auto const usual = h.usual_time(t, scratch);
                REQUIRE(usual.has_value() == !anywhere.empty());
                if (usual) {
                    stats::empirical e;
                    e.assign(anywhere);
                    CHECK(*usual == *e.view().quantile(0.4));
                }
            }
            REQUIRE(h.observe(t));
            oracle.learn(t);
            REQUIRE(h.size() == oracle.size());
        }
    }
}

TEST_CASE("similar_tasks: ties go to the youngest") {
    history h(profile, {.neighbors = 3});
    for (int i = 1; i <= 10; ++i) h.observe({"a", "n1", 5.0, 1, static_cast<double>(i)});
    CHECK(samples_of(h.predict({"a", "n1", 5.0, 1}, "n1")) == std::vector<double>{8, 9, 10});
}

TEST_CASE("similar_tasks: records that are no evidence are counted and left out") {
    struct record {
        std::optional<std::string> host;
        std::optional<double> took;
        attempt_status ended;
    };
    auto h = predict::similar_tasks_of<record>(
        predict::task_profile{.node = &record::host, .time = &record::took, .status = &record::ended});
    static_assert(h.factor_count == 1);
    using enum attempt_status;
    CHECK(h.observe({"a", 5.0, success}));
    CHECK(!h.observe({"a", 6.0, failed}));
    CHECK(!h.observe({"a", 6.0, killed}));
    CHECK(!h.observe({std::nullopt, 6.0, success}));
    CHECK(!h.observe({"a", std::nullopt, success}));
    for (double const time : {no_number, infinite, -infinite, -1.0}) CHECK(!h.observe({"a", time, success}));
    CHECK(h.observe({"b", 0.0, success}));
    attempt_counts const& counts = h.counts();
    CHECK(counts.seen == 10);
    CHECK(counts.used == 2);
    CHECK(counts.failed == 1);
    CHECK(counts.killed == 1);
    CHECK(counts[rejection::missing_node] == 1);
    CHECK(counts[rejection::missing_time] == 1);
    CHECK(counts[rejection::not_finite] == 3);
    CHECK(counts[rejection::negative_duration] == 1);
    CHECK(counts.seen == counts.used + counts.failed + counts.killed + counts.total_rejected());
    CHECK(h.size() == 2);
    CHECK(samples_of(h.predict({}, "a")) == std::vector<double>{0, 5});
    h.clear();
    CHECK(h.size() == 0);
    CHECK(h.counts() == attempt_counts{});
    CHECK(h.predict({}, "a").reason() == status::insufficient_evidence);
}

TEST_CASE("similar_tasks: times of std::chrono are in seconds") {
    using namespace std::chrono_literals;
    struct record {
        int node;
        std::chrono::milliseconds took;
    };
    auto h = predict::similar_tasks_of<record>(
        predict::task_profile{.node = &record::node, .time = &record::took});
    for (int i = 1; i <= 4; ++i) h.observe({1, i * 1500ms});
    CHECK(samples_of(h.predict({}, 1)) == std::vector<double>{1.5, 3, 4.5, 6});
    CHECK(samples_of(h.remaining({}, 1, 3s)) == std::vector<double>{1.5, 3});
    CHECK(samples_of(h.remaining({}, 1, 3000ms)) == std::vector<double>{1.5, 3});
    CHECK(samples_of(h.remaining({}, 1, 3)) == std::vector<double>{1.5, 3});
    CHECK(h.remaining({}, 1, 6s).reason() == status::insufficient_evidence); // has outlived them all
    CHECK(h.remaining({}, 1, -1s).reason() == status::out_of_domain);
    CHECK(h.remaining({}, 1, no_number).reason() == status::out_of_domain);
    CHECK(h.remaining({}, 1, infinite).reason() == status::out_of_domain);
}

TEST_CASE("similar_tasks: factors that matter get the weight, others next to none") {
    struct record {
        int node;
        int job, user;
        double input, hour, took;
    };
    std::uint64_t const seed = straggle_test::seed_or(20'250'305);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    auto h = predict::similar_tasks_of<record>(predict::task_profile{
        .node = &record::node,
        .time = &record::took,
        .factors = predict::factors(
            predict::categorical(&record::job, "job"), predict::numeric(&record::input, "input"),
            predict::numeric(&record::hour, "hour"), predict::categorical(&record::user, "user"))});
    CHECK(h.factor_name(0) == "node");
    CHECK(h.factor_name(1) == "job");
    CHECK(h.factor_name(4) == "user");
    // RiskI's table 2: the size of the input matters, and the program; the rest is chance.
    for (int i = 0; i < 4000; ++i) {
        record r{
            static_cast<int>(engine() % 20), static_cast<int>(engine() % 3), static_cast<int>(engine() % 5),
            100 * uniform(engine),           24 * uniform(engine),           0};
        r.took = (r.job == 0 ? 1 : 3) * (20 + r.input) * (0.95 + 0.1 * uniform(engine));
        h.observe(r);
    }
    auto const w = h.fleet_weights();
    double sum = 0;
    for (double const x : w) sum += x;
    CHECK(sum == doctest::Approx(1));
    CHECK(w[0] < 0.05);
    CHECK(w[1] > 0.2);
    CHECK(w[2] > 0.2);
    CHECK(w[3] < 0.05);
    CHECK(w[4] < 0.05);
    for (int node = 0; node < 20; ++node) CHECK(h.weights_of(node)[1] + h.weights_of(node)[2] > 0.8);
}

TEST_CASE("similar_tasks: each node has weights of its own, also where there are many nodes") {
    struct record {
        int node;
        double reads, computes, took;
    };
    std::uint64_t const seed = straggle_test::seed_or(20'250'308);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    auto const h_of = [&](std::size_t pairs) {
        auto h = predict::similar_tasks_of<record>(
            predict::task_profile{.node = &record::node,
                                  .time = &record::took,
                                  .factors = predict::factors(predict::numeric(&record::reads),
                                                              predict::numeric(&record::computes))},
            {.pairs = pairs});
        for (int i = 0; i < 40'000; ++i) {
            record r{static_cast<int>(engine() % 200), uniform(engine), uniform(engine), 0};
            bool const slow_disk = r.node % 2 == 0; // the others have slow processors
            r.took = 10 + (slow_disk ? 50 : 10) * r.reads + (slow_disk ? 10 : 50) * r.computes;
            h.observe(r);
        }
        return h;
    };
    // By how much reading weighs more where disks are slow, on average over the nodes.
    auto const lean = [](auto const& h) {
        double sum = 0;
        for (int node = 0; node < 200; ++node)
            sum += (node % 2 == 0 ? 1 : -1) * (h.weights_of(node)[1] - h.weights_of(node)[2]);
        return sum / 200;
    };
    CHECK(lean(h_of(0)) == 0);
    CHECK(lean(h_of(4)) > 0.05); // without the last task of the node among the pairs: 0.002
}

TEST_CASE("similar_tasks: a node that is slow is predicted to be") {
    std::uint64_t const seed = straggle_test::seed_or(20'250'306);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    history h(profile);
    for (int i = 0; i < 3000; ++i) {
        std::uint64_t const node = engine() % 10;
        double const input = static_cast<double>(10 * (1 + engine() % 5));
        h.observe({"a", "n" + std::to_string(node), input, 1,
                   input * (node == 3 ? 2 : 1) * (0.9 + 0.2 * uniform(engine))});
    }
    task const t{"a", "", 30.0, 1};
    CHECK(h.weights_of("n3")[0] > 0);
    CHECK(*h.predict(t, "n3")->mean() == doctest::Approx(60).epsilon(0.1));
    CHECK(*h.predict(t, "n4")->mean() == doctest::Approx(30).epsilon(0.1));
    CHECK(*h.usual_time(t) == doctest::Approx(30).epsilon(0.1));
}

TEST_CASE("similar_tasks: memory is bounded, names and all") {
    history h(profile, {.capacity = 200});
    std::mt19937_64 engine(3);
    std::size_t most = 0;
    for (int i = 0; i < 20'000; ++i) {
        h.observe({"job-" + std::to_string(i / 2), "n" + std::to_string(engine() % 5), 1.0, i, 5});
        most = std::max(most, h.categories());
    }
    CHECK(h.size() == 200);
    // Twice the jobs and users among 200 tasks and some, and a few nodes.
    CHECK(most < 2 * (100 + 200) + 2 * 64 + 10 + 64);
    // A random one goes: as many stay, some of them old.
    history random(profile, {.neighbors = 200, .capacity = 200});
    for (int i = 0; i < 1000; ++i) random.observe({"a", "n", 1.0, 1, static_cast<double>(i)}, engine);
    auto const times = samples_of(random.predict({"a", "n", 1.0, 1}, "n"));
    REQUIRE(times.size() == 200);
    CHECK(times.front() < 700);
    CHECK(times.back() == 999);
}

TEST_CASE("similar_tasks: nothing is allocated in the steady state") {
    history h(profile, {.capacity = 500});
    std::mt19937_64 engine(4);
    std::vector<task> tasks;
    for (int i = 0; i < 6000; ++i) {
        tasks.push_back(random_task(engine, 30, 5));
        if (i % 3 == 0) tasks.back().job = "new job " + std::to_string(i);
    }
    std::size_t i = 0;
    predict::prediction_scratch scratch;
    auto const work = [&](std::size_t until) {
        for (; i < until; ++i) {
            h.observe(tasks[i]);
            (void)h.predict(tasks[i], "n1", scratch);
            (void)h.remaining(tasks[i], "n2", 100.0);
            (void)h.usual_time(tasks[i]);
        }
    };
    work(3000);
    CHECK(straggle_test::allocations_during([&] { work(tasks.size()); }) == 0);
}

TEST_CASE("similar_tasks: two predictions side by side, from a const object") {
    history h(profile, {.neighbors = 2});
    h.observe({"a", "n1", 5.0, 1, 10});
    h.observe({"a", "n1", 5.0, 1, 20});
    h.observe({"b", "n1", 5.0, 1, 70});
    h.observe({"b", "n1", 5.0, 1, 80});
    history const& all = h;
    predict::prediction_scratch one, two;
    auto const a = all.predict({"a", "", 5.0, 1}, "n1", one);
    auto const b = all.predict({"b", "", 5.0, 1}, "n1", two);
    CHECK(samples_of(a) == std::vector<double>{10, 20});
    CHECK(samples_of(b) == std::vector<double>{70, 80});
}

TEST_CASE("similar_tasks: stored and read again, it goes on as before") {
    std::mt19937_64 engine(5);
    for (std::size_t const pairs : {0u, 4u}) {
        predict::similar_tasks_options const how{.capacity = 300, .pairs = pairs};
        history h(profile, how);
        h.observe({"a", "n", 1.0, 1, no_number});
        for (int i = 0; i < 1000; ++i) h.observe(random_task(engine, 9, 5));
        std::vector<std::byte> const bytes = h.serialize();
        history again(profile, how), third(profile, how);
        again.observe({"something", "else", 1.0, 1, 1});
        REQUIRE(again.restore(bytes) == status::ok);
        REQUIRE(third.restore(bytes) == status::ok);
        CHECK(again.serialize() == bytes);
        CHECK(again.counts() == h.counts());
        CHECK(again.size() == h.size());
        CHECK(again.categories() == h.categories());
        for (int i = 0; i < 500; ++i) {
            task const t = random_task(engine, 12, 7);
            auto const times = samples_of(again.predict(t, t.host));
            CHECK(times == samples_of(third.predict(t, t.host)));
            // What it was read from has not fitted its weights since the last pairs; they differ a little.
            if (pairs == 0) CHECK(times == samples_of(h.predict(t, t.host)));
            for (history* const each : {&h, &again, &third}) each->observe(t);
        }
        CHECK(again.serialize() == third.serialize());
        CHECK(again.serialize() == h.serialize());
    }
}

TEST_CASE("similar_tasks: bytes of anything else change nothing") {
    history h(profile, {.capacity = 50});
    std::mt19937_64 engine(6);
    for (int i = 0; i < 40; ++i) h.observe(random_task(engine, 3, 3));
    std::vector<std::byte> const good = h.serialize();
    history target(profile, {.capacity = 50});
    target.observe({"before", "n", 1.0, 1, 7});
    std::vector<std::byte> const before = target.serialize();
    auto const refused = [&](std::span<std::byte const> bytes) {
        status const s = target.restore(bytes);
        CHECK(target.serialize() == before);
        return s;
    };
    for (std::size_t n = 0; n < good.size(); ++n) CHECK(refused(std::span(good).first(n)) != status::ok);
    for (int i = 0; i < 2000; ++i) {
        std::vector<std::byte> bad = good;
        bad[engine() % bad.size()] ^= static_cast<std::byte>(1 + engine() % 255);
        CHECK(refused(bad) != status::ok); // a checksum sees to it
    }
    CHECK(refused(byte_writer{}.payload()) != status::ok);
    history small(profile, {.capacity = 39});
    CHECK(small.restore(good) == status::out_of_range);
    struct record {
        int node;
        double took;
    };
    auto other = predict::similar_tasks_of<record>(
        predict::task_profile{.node = &record::node, .time = &record::took});
    CHECK(other.restore(good) == status::wrong_kind);
    // With a checksum that is right, nonsense inside must not crash: any byte of the payload changed.
    constexpr std::size_t head = 24, tail = 8;
    int accepted = 0;
    for (int i = 0; i < 3000; ++i) {
        byte_writer forged;
        std::vector<std::byte> payload(good.begin() + head, good.end() - tail);
        for (std::uint64_t flips = 1 + engine() % 2; flips > 0; --flips)
            payload[engine() % payload.size()] = static_cast<std::byte>(engine());
        for (std::byte const b : payload) forged.u8(static_cast<std::uint8_t>(b));
        history read(profile, {.capacity = 50});
        if (read.restore(std::move(forged).seal(frame_kind("simt"), 1)) != status::ok) {
            CHECK(read.size() == 0);
            continue;
        }
        ++accepted;
        for (int k = 0; k < 60; ++k) {
            task const t = random_task(engine, 4, 4);
            (void)read.predict(t, t.host);
            read.observe(t);
        }
        CHECK(read.size() == 50);
    }
    CHECK(accepted > 0); // a count that is another
}
