// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Properties of deadlines: what is said of a job is calibrated, and records without a deadline change
// nothing.

#include <straggle/mitigate/mitigator.hpp>

#include <doctest/doctest.h>

#include <support/seed.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace {

struct ended_task {
    std::uint64_t job = 0, task = 0;
    std::uint32_t node = 0, kind = 0;
    double start = 0, end = 0;
    straggle::attempt_status how = straggle::attempt_status::success;
};
struct running_task {
    std::uint64_t job = 0, task = 0;
    std::uint32_t node = 0, kind = 0;
    double start = 0;
    std::optional<double> progress{}, deadline{}, weight{};
};
struct host {
    std::uint32_t id = 0, slots = 4;
};

constexpr straggle::attempt_fields ended_fields{.job = &ended_task::job,
                                                .task = &ended_task::task,
                                                .node = &ended_task::node,
                                                .start = &ended_task::start,
                                                .end = &ended_task::end,
                                                .status = &ended_task::how,
                                                .kind = &ended_task::kind};
constexpr straggle::running_fields plain_fields{.job = &running_task::job,
                                                .task = &running_task::task,
                                                .node = &running_task::node,
                                                .start = &running_task::start,
                                                .progress = &running_task::progress,
                                                .kind = &running_task::kind};
constexpr straggle::running_fields due_fields{.job = &running_task::job,
                                              .task = &running_task::task,
                                              .node = &running_task::node,
                                              .start = &running_task::start,
                                              .progress = &running_task::progress,
                                              .kind = &running_task::kind,
                                              .deadline = &running_task::deadline,
                                              .weight = &running_task::weight};
constexpr straggle::node_fields host_fields{.node = &host::id, .slots = &host::slots};

// Jobs arrive one after the other and run all their tasks at once, on nodes some of which are slow; no advice
// is followed. What becomes of a job is known when it ends.
class bystander {
  public:
    struct job {
        std::uint64_t id = 0;
        double deadline = 0, end = 0;
        std::vector<running_task> tasks{};
        std::vector<double> ends{};
    };
    explicit bystander(std::uint64_t seed) : random_(seed) {
        std::uniform_real_distribution<double> u;
        spread_ = 0.1 + 0.5 * u(random_);
        tail_ = u(random_) < 0.5 ? 0.05 : 0.0;
        shows_progress_ = u(random_) < 0.5;
        for (std::uint32_t n = 0; n < nodes; ++n) {
            hosts_.push_back({n});
            slow_.push_back(u(random_) < 0.1 ? 2.0 : 1.0);
        }
        for (double& m : middle_) m = 20 * std::exp(u(random_));
    }
    // Calls see(now, running, hosts) each step, and over(ended) for tasks that ended.
    template <class See, class Over, class Done>
    void run(int steps, See&& see, Over&& over, Done&& done) {
        std::uniform_real_distribution<double> u;
        for (int step = 1; step <= steps; ++step) {
            double const now = step;
            for (std::size_t j = jobs_.size(); j-- > 0;) {
                job& it = jobs_[j];
                for (std::size_t t = it.tasks.size(); t-- > 0;) {
                    if (it.ends[t] > now) continue;
                    running_task const& r = it.tasks[t];
                    over(ended_task{r.job, r.task, r.node, r.kind, r.start, it.ends[t]}, now);
                    it.tasks.erase(it.tasks.begin() + static_cast<std::ptrdiff_t>(t));
                    it.ends.erase(it.ends.begin() + static_cast<std::ptrdiff_t>(t));
                }
                if (!it.tasks.empty()) continue;
                done(it);
                jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(j));
            }
            if (step % 8 == 1) arrive(now);
            running_.clear();
            for (job const& it : jobs_)
                for (std::size_t t = 0; t < it.tasks.size(); ++t) {
                    running_.push_back(it.tasks[t]);
                    running_task& r = running_.back();
                    if (shows_progress_) r.progress = (now - r.start) / (it.ends[t] - r.start);
                }
            see(now, running_, hosts_);
        }
    }

  private:
    static constexpr std::uint32_t nodes = 30;

    void arrive(double now) {
        std::uniform_real_distribution<double> u;
        std::normal_distribution<double> normal;
        job it{.id = ++last_};
        auto const kind = static_cast<std::uint32_t>(random_() % middle_.size());
        std::size_t const tasks = 2 + random_() % 30;
        for (std::size_t t = 0; t < tasks; ++t) {
            auto const node = static_cast<std::uint32_t>(random_() % nodes);
            double took = middle_[kind] * std::exp(spread_ * normal(random_)) * slow_[node];
            if (u(random_) < tail_) took *= 1 + 5 * u(random_);
            it.tasks.push_back({it.id, t, node, kind, now});
            it.ends.push_back(now + took);
            it.end = std::max(it.end, now + took);
        }
        it.deadline = now + middle_[kind] * (1.2 + 2 * u(random_));
        for (running_task& r : it.tasks) r.deadline = it.deadline;
        jobs_.push_back(std::move(it));
    }

    std::mt19937_64 random_;
    double spread_, tail_;
    bool shows_progress_;
    std::array<double, 3> middle_{};
    std::vector<host> hosts_;
    std::vector<double> slow_;
    std::vector<job> jobs_;
    std::vector<running_task> running_;
    std::uint64_t last_ = 0;
};

} // namespace

TEST_CASE("deadlines: of jobs that are said to miss theirs in so many of a hundred cases, so many do") {
    struct claim {
        double miss, low, high; // as said, and when the job ends
        bool is_missed = false;
    };
    std::array<double, 10> said{}, came{}, count{};
    // Within a tenth, and what chance does to a few hundred claims of fewer jobs.
    constexpr double tolerance = 0.1, chance = 0.03;
    double below = 0, above = 0, all = 0;
    std::uint64_t const seed = straggle_test::seed_or(1);
    for (std::uint64_t s = 0; s < 12; ++s) {
        straggle::mitigator m(ended_fields, due_fields, host_fields);
        bystander world(seed * 1000 + s);
        std::vector<std::pair<std::uint64_t, claim>> open;
        std::mt19937_64 pick(s);
        world.run(
            1500,
            [&](double now, std::vector<running_task> const& running, std::vector<host> const& hosts) {
                auto const& plan = m.decide(now, running, hosts);
                std::size_t planned = 0;
                for (auto const& c : plan.copies()) planned += c.is_probe ? 0u : 1u;
                for (auto const& j : plan.jobs()) planned -= j.planned;
                CHECK(planned == 0); // all jobs have a deadline
                for (auto const& j : plan.jobs()) {
                    bool const makes_sense = j.end.low <= j.end.middle && j.end.middle <= j.end.high &&
                                             j.least_probability <= j.miss_probability + 1e-12;
                    CHECK(makes_sense);
                    if (now < 400 || !j.is_known || !(j.deadline > 0) || pick() % 8 != 0) continue;
                    open.push_back(
                        {running[j.row].job, {j.miss_probability, now + j.end.low, now + j.end.high}});
                }
            },
            [&](ended_task const& t, double now) { m.observe(t, now); },
            [&](bystander::job const& it) {
                m.finish(it.id);
                for (auto const& [id, c] : open) {
                    if (id != it.id) continue;
                    auto const tenth = static_cast<std::size_t>(std::min(c.miss * 10, 9.0));
                    said[tenth] += c.miss;
                    came[tenth] += it.end > it.deadline ? 1 : 0;
                    ++count[tenth];
                    ++all;
                    below += it.end < c.low ? 1 : 0;
                    above += it.end > c.high ? 1 : 0;
                }
                std::erase_if(open, [&](auto const& o) { return o.first == it.id; });
            });
    }
    for (std::size_t t = 0; t < 10; ++t) {
        CAPTURE(t);
        if (count[t] < 150) continue;
        CHECK(std::abs(said[t] - came[t]) / count[t] < tolerance + chance);
    }
    CHECK(below / all < 0.15); // one in ten each
    CHECK(above / all < 0.15);
}

TEST_CASE("deadlines: where no record has one, and no weight but 1, every decision is what it was") {
    for (bool const weighs : {false, true})
        for (std::uint64_t seed = 1; seed < 4; ++seed) {
            straggle::mitigator plain(ended_fields, plain_fields, host_fields);
            straggle::mitigator due(ended_fields, due_fields, host_fields);
            bystander world(seed);
            std::size_t copies = 0;
            std::vector<running_task> weighed;
            world.run(
                500,
                [&](double now, std::vector<running_task> const& running, std::vector<host> const& hosts) {
                    weighed = running;
                    for (running_task& r : weighed) {
                        r.deadline.reset();
                        if (weighs) r.weight = 1;
                    }
                    auto const &a = plain.decide(now, running, hosts), &b = due.decide(now, weighed, hosts);
                    CHECK(b.jobs().empty());
                    REQUIRE(a.copies().size() == b.copies().size());
                    for (std::size_t i = 0; i < a.copies().size(); ++i) {
                        CHECK(a.copies()[i].row == b.copies()[i].row);
                        CHECK(a.copies()[i].node_row == b.copies()[i].node_row);
                        CHECK(a.copies()[i].gain == b.copies()[i].gain);
                        CHECK(a.copies()[i].cost == b.copies()[i].cost);
                    }
                    copies += a.copies().size();
                    for (std::size_t n = 0; n < hosts.size(); ++n) CHECK(a.state(n) == b.state(n));
                },
                [&](ended_task const& t, double now) {
                    plain.observe(t, now);
                    due.observe(t, now);
                },
                [&](bystander::job const& it) {
                    plain.finish(it.id);
                    due.finish(it.id);
                });
            CHECK(copies > 0);
            CHECK(plain.serialize() == due.serialize());
        }
}

TEST_CASE("deadlines: any task may pass them, the earliest and the largest weight count") {
    straggle::mitigator m(ended_fields, due_fields, host_fields);
    std::vector<host> const hosts{{0}, {1}};
    double const inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<running_task> tasks(8);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        tasks[i].job = 1 + i % 4;
        tasks[i].task = i;
        tasks[i].start = 5;
    }
    tasks[0].deadline = 30, tasks[4].deadline = 20, tasks[4].weight = 2; // job 1
    tasks[5].deadline = 40;                                              // job 2
    tasks[2].deadline = inf, tasks[6].deadline = nan;                    // job 3: none
    tasks[3].weight = -1, tasks[7].weight = nan, tasks[7].deadline = 4;  // job 4: missed
    auto const jobs = m.decide(10, tasks, hosts).jobs();
    REQUIRE(jobs.size() == 3);
    for (auto const& j : jobs) {
        std::uint64_t const job = tasks[j.row].job;
        CHECK(j.deadline == (job == 1 ? 10 : job == 2 ? 30 : -6));
        CHECK(j.weight == (job == 1 ? 2 : 1));
        CHECK_FALSE(j.is_known);
        CHECK(j.is_lost() == (job == 4));
    }
}
