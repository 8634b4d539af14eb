// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// How good are predictions from similar tasks, and how honest are their ranges? Measured on recorded
// histories of real clusters: every task is predicted with what was known before, then learned. And on tasks
// made up, of which the truth is known. The tables in docs/reference/detecting.md are what this test prints
// (test_property -tc="*real history*").

#include <straggle/predict/calibration.hpp>
#include <straggle/predict/similar_tasks.hpp>

#include <doctest/doctest.h>

#include <support/seed.hpp>
#include <support/shared_data.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct task {
    std::string job, kind, node;
    std::int64_t start = 0, end = 0;
    std::optional<std::int64_t> bytes;

    [[nodiscard]] std::int64_t took() const { return end - start; }
    [[nodiscard]] std::optional<double> size() const { // inputs differ by orders of magnitude
        if (!bytes) return std::nullopt;
        return std::log1p(static_cast<double>(*bytes));
    }
};

constexpr predict::task_profile profile{.node = &task::node,
                                        .time = &task::took,
                                        .factors = predict::factors(predict::categorical(&task::job, "job"),
                                                                    predict::categorical(&task::kind, "kind"),
                                                                    predict::numeric(&task::size, "size"))};

// Successful attempts with a start and an end that make sense, in the order in which they ended.
std::vector<task> read_history(std::filesystem::path const& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    std::vector<task> tasks;
    while (std::getline(in, line)) {
        // job,task,attempt,node,start_ms,end_ms,status,speculative,input_bytes
        std::istringstream cells(line);
        std::vector<std::string> cell(9);
        for (std::string& c : cell) std::getline(cells, c, ',');
        if (cell[6] != "success" || cell[4].empty() || cell[5].empty()) continue;
        task t{
            cell[0], cell[0].substr(cell[0].find('/') + 1), cell[3], std::stoll(cell[4]), std::stoll(cell[5]),
            {}};
        if (t.end < t.start) continue;
        if (!cell[8].empty()) t.bytes = std::stoll(cell[8]);
        tasks.push_back(std::move(t));
    }
    std::ranges::sort(tasks, [](task const& a, task const& b) {
        return std::tie(a.end, a.start, a.job, a.node) < std::tie(b.end, b.start, b.job, b.node);
    });
    return tasks;
}

// The loss of saying that the q-quantile is x where the truth is y.
double pinball(double y, double x, double q) {
    return y >= x ? q * (y - x) : (1 - q) * (x - y);
}

// What was said of some tasks: a low end, a middle and a high end, at 10 %, 50 % and 90 %.
struct score {
    double n = 0, held = 0, width = 0, error = 0, loss = 0, times = 0;
    void add(double truth, double low, double middle, double high) {
        n += 1;
        held += low <= truth && truth <= high ? 1 : 0;
        width += high - low;
        error += std::fabs(truth - middle);
        loss += (pinball(truth, low, 0.1) + pinball(truth, middle, 0.5) + pinball(truth, high, 0.9)) / 3;
        times += truth;
    }
    void add(double truth, stats::empirical_view const& v) {
        add(truth, *v.quantile(0.1), *v.quantile(0.5), *v.quantile(0.9));
    }
    [[nodiscard]] double relative_width() const { return width / times; }
    [[nodiscard]] double relative_error() const { return error / times; }
    [[nodiscard]] double relative_loss() const { return loss / times; }
};

struct comparison {
    std::size_t tasks = 0, answered = 0, compared = 0;
    predict::calibration fair{0.8}; // all that were answered
    std::array<predict::calibration, 3> others{predict::calibration{0.5}, predict::calibration{0.9},
                                               predict::calibration{0.95}};
    double width = 0, times = 0, plainly_held = 0; // by the samples' own quantiles
    score similar, honest, nearest, job, all;      // where each has something to say
};

// When is a task predicted? Tasks of a wave that start together are all predicted before any of them is
// known.
enum class asked : std::uint8_t { just_before_its_end, when_it_starts };

comparison replay(std::vector<task> const& tasks, asked when) {
    struct event {
        std::int64_t time;
        std::size_t task;
        bool ends;
    };
    std::vector<event> events;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        events.push_back({when == asked::when_it_starts ? tasks[i].start : tasks[i].end, i, false});
        events.push_back({tasks[i].end, i, true});
    }
    std::ranges::sort(events, [](event const& a, event const& b) {
        return std::tie(a.time, a.task, a.ends) < std::tie(b.time, b.task, b.ends);
    });

    auto history = predict::similar_tasks_of<task>(profile);
    auto nearest = predict::similar_tasks_of<task>(profile, {.neighbors = 1});
    std::map<std::string, std::vector<double>> job;
    std::vector<double> all;
    struct prediction {
        std::optional<predict::predicted_range> range;
        std::array<predict::predicted_range, 3> others;
        stats::empirical similar, nearest, job, all;
    };
    std::vector<prediction> predictions(tasks.size());
    comparison c;
    c.tasks = tasks.size();
    for (event const& e : events) {
        task const& t = tasks[e.task];
        prediction& p = predictions[e.task];
        auto const keep = [](stats::empirical& to, stats::empirical_view const& v) {
            std::vector<double> samples;
            for (std::size_t i = 0; i < v.size(); ++i) samples.push_back(v[i]);
            to.assign(samples);
        };
        if (!e.ends) {
            auto const times = history.predict(t, t.node);
            if (!times) continue;
            p.range = *c.fair.range(*times);
            for (std::size_t k = 0; k < c.others.size(); ++k) p.others[k] = *c.others[k].range(*times);
            keep(p.similar, *times);
            keep(p.nearest, *nearest.predict(t, t.node));
            p.job.assign(job[t.job]);
            p.all.assign(all);
            continue;
        }
        double const truth = static_cast<double>(t.took());
        if (p.range) {
            ++c.answered;
            c.fair.record(*p.range, truth);
            for (std::size_t k = 0; k < c.others.size(); ++k) c.others[k].record(p.others[k], truth);
            c.width += p.range->high - p.range->low;
            c.times += truth;
            stats::empirical_view const v = p.similar.view();
            c.plainly_held += *v.quantile(0.1) <= truth && truth <= *v.quantile(0.9) ? 1 : 0;
            if (p.job.size() > 0) { // the others have always something to say
                ++c.compared;
                c.similar.add(truth, p.similar.view());
                c.honest.add(truth, p.range->low, *p.similar.view().quantile(0.5), p.range->high);
                c.nearest.add(truth, p.nearest.view());
                c.job.add(truth, p.job.view());
                c.all.add(truth, p.all.view());
            }
        }
        p = {};
        history.observe(t);
        nearest.observe(t);
        job[t.job].push_back(truth);
        all.push_back(truth);
    }
    return c;
}

std::string table(std::string const& name, comparison const& c) {
    std::ostringstream out;
    out << std::fixed << std::setprecision(3);
    stats::interval const sure = *c.fair.coverage_interval();
    double const n = static_cast<double>(c.fair.recorded());
    out << name << ": " << c.answered << " of " << c.tasks << " predicted; an 80 % range held "
        << 100 * *c.fair.coverage() << " % (" << 100 * sure.low << " to " << 100 * sure.high << "), shorter "
        << 100 * static_cast<double>(c.fair.too_short()) / n << ", longer "
        << 100 * static_cast<double>(c.fair.too_long()) / n << ", width " << c.width / c.times
        << " of the mean time\n  ranges of 50, 90 and 95 % held";
    for (predict::calibration const& other : c.others) out << "  " << *other.coverage();
    out << "\n  on the " << c.compared
        << " for which the job had finished a task before: held, width, error of "
        << "the median, pinball loss (the last three in mean times)\n";
    auto const line = [&](char const* what, score const& s) {
        out << "  " << std::left << std::setw(34) << what << std::right << s.held / s.n << "  "
            << std::setw(7) << s.relative_width() << "  " << std::setw(7) << s.relative_error() << "  "
            << std::setw(7) << std::setprecision(4) << s.relative_loss() << std::setprecision(3) << '\n';
    };
    line("similar tasks, ranges kept honest", c.honest);
    line("similar tasks", c.similar);
    line("the most similar one (paper)", c.nearest);
    line("all of the job", c.job);
    line("all there are", c.all);
    return out.str();
}

} // namespace

TEST_CASE("predictions: an 80 % range holds 80 % of a real history") {
    for (char const* const name : {"hadoop-gridmix-a", "spark-groupon", "hadoop-19jobs"}) {
        auto const file = straggle_test::shared_file("data/" + std::string(name) + ".csv");
        if (!file) return;
        std::vector<task> const tasks = read_history(*file);
        REQUIRE(tasks.size() > 1000);
        comparison const c = replay(tasks, asked::just_before_its_end);
        MESSAGE(table(name, c));
        CHECK(c.answered == c.tasks - 1);
        CHECK(std::fabs(*c.fair.coverage() - 0.8) <= 0.03);
        for (predict::calibration const& other : c.others)
            CHECK(std::fabs(*other.coverage() - other.asked()) <= 0.03);
        // Missed on both sides alike,
        CHECK(std::fabs(static_cast<double>(c.fair.too_long()) - static_cast<double>(c.fair.too_short())) <
              0.03 * static_cast<double>(c.answered));
        // and not bought by width: what is said is worth more than what its rivals say.
        CHECK(c.honest.loss < 1.1 * c.similar.loss);
        CHECK(c.honest.loss < c.nearest.loss);
        CHECK(c.honest.loss < 1.1 * c.job.loss);
        CHECK(c.honest.loss < 0.8 * c.all.loss);
        CHECK(c.similar.error < 0.9 * c.all.error);
        // The range of the samples alone is too short: that is what calibration is for.
        CHECK(c.similar.held / c.similar.n < 0.77);
    }
}

TEST_CASE("predictions: asked when a task starts, a real history of many jobs is held as well") {
    auto const file = straggle_test::shared_file("data/hadoop-gridmix-a.csv");
    if (!file) return;
    comparison const c = replay(read_history(*file), asked::when_it_starts);
    MESSAGE(table("hadoop-gridmix-a, when tasks start", c));
    CHECK(std::fabs(*c.fair.coverage() - 0.8) <= 0.03);
    CHECK(c.width < 3 * c.times);
}

TEST_CASE("predictions: a history in a single burst cannot be predicted, but ranges stay within reason") {
    for (char const* const name : {"spark-groupon", "hadoop-19jobs"}) {
        auto const file = straggle_test::shared_file("data/" + std::string(name) + ".csv");
        if (!file) return;
        comparison const c = replay(read_history(*file), asked::when_it_starts);
        MESSAGE(table(std::string(name) + ", when tasks start", c));
        CHECK(*c.fair.coverage() > c.plainly_held / static_cast<double>(c.answered)); // 48 and 38 %
        CHECK(c.width < 3 * c.times); // without looking at late answers in their time, 1e30
    }
}

TEST_CASE("predictions: where the truth is known, the distribution is right") {
    std::uint64_t const seed = straggle_test::seed_or(20'250'307);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    auto const uniform = [&] { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; };
    auto history = predict::similar_tasks_of<task>(profile, {.neighbors = 20});
    predict::calibration fair(0.8);
    double width = 0, raw = 0, ideal = 0, n = 0;
    // A time is its job's, by its node's speed, by chance: exchangeable given both.
    for (int i = 0; i < 30'000; ++i) {
        std::uint64_t const job = engine() % 4, node = engine() % 5;
        double const usual = 1e6 * static_cast<double>(job + 1) * (node == 0 ? 2 : 1);
        double const u = uniform();
        task t{"job-" + std::to_string(job), "map", "n" + std::to_string(node), 0, 0, {}};
        t.end = std::llround(usual * std::exp(0.6 * (u - 0.5)));
        if (i >= 5000) {
            auto const times = history.predict(t, t.node);
            REQUIRE(times.has_value());
            auto const r = *fair.range(*times);
            double const truth = static_cast<double>(t.took());
            fair.record(r, truth);
            auto const plain = *times->range(0.8);
            raw += plain.low <= truth && truth <= plain.high ? 1 : 0;
            width += (r.high - r.low) / usual;
            ideal += std::exp(0.6 * 0.4) - std::exp(-0.6 * 0.4);
            n += 1;
        }
        history.observe(t);
    }
    CHECK(std::fabs(raw / n - 0.8) < 0.015);          // five deviations, and the wrong ones among the similar
    CHECK(std::fabs(*fair.coverage() - 0.8) < 0.005); // levels moved by 6 at most
    CHECK(width / ideal < 1.1);                       // 20 samples know the ends that well
    CHECK(width / ideal > 0.95);
}
