// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../cluster/speed.hpp"
#include "faults.hpp"
#include "scenario.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace lab {

namespace {

constexpr std::size_t least_jobs = 120; // for a 99th percentile

// The work of tasks, and the luck of attempts.
class durations {
  public:
    durations(scenario const& what, histories const& seen, plan& out) : name_(what.durations), seen_(seen) {
        luck_model luck{luck_kind::lognormal, 0.1};
        if (name_ == "ln10" || name_ == "ln30" || name_ == "ln60") {
            // Half the variance is the task's, half the attempt's.
            sigma_ = (name_ == "ln10" ? 0.1 : name_ == "ln30" ? 0.3 : 0.6) * std::sqrt(0.5);
            luck.parameter = sigma_;
        } else if (name_ == "lognormal") {
            sigma_ = what.more.task_sigma;
            luck.parameter = what.more.luck_sigma;
        } else if (name_ == "pareto_luck") {
            luck = {luck_kind::pareto, 1.8};
        } else if (name_ == "exponential") {
            luck = {luck_kind::exponential};
        } else if (name_ == "history") {
            if (seen.empty()) throw std::runtime_error("scenario " + what.name + " needs histories");
        } else if (!is_sized() && name_ != "pareto_size") {
            throw std::runtime_error("scenario " + what.name + ": unknown durations " + name_);
        }
        out.lucks = {luck};
        if (name_ != "history") return;
        for (auto const& times : seen) out.lucks.push_back({luck_kind::resampled, 0, times});
    }

    // Few tasks are much larger than the others.
    [[nodiscard]] bool is_sized() const {
        return name_ == "sizes_known" || name_ == "sizes_hidden" || name_ == "rare_known" ||
               name_ == "rare_hidden";
    }

    void make(job_spec& job, std::size_t tasks, double seconds, draw& d) const {
        // A history does not show what was luck: in half of the jobs all of it counts as luck, in the others
        // as size.
        bool const by_luck = d.uniform() < 0.5;
        std::size_t const from = seen_.empty() ? 0 : d.below(seen_.size());
        if (name_ == "history" && by_luck) job.luck = static_cast<std::uint32_t>(from) + 1;
        for (std::size_t t = 0; t < tasks; ++t) {
            double size = 1, input = 0;
            if (is_sized()) {
                bool const rare = name_.starts_with("rare");
                double const share = rare ? 0.01 : 0.2, larger = rare ? 10 : 3;
                size = d.uniform() < share ? larger : 1;
                if (name_.ends_with("known")) input = size * 64e6;
                size /= 1 + share * (larger - 1);
            } else if (name_ == "pareto_size") {
                size = d.pareto(1.8);
            } else if (name_ == "history" && !by_luck) {
                size = seen_[from][d.below(seen_[from].size())];
            } else if (sigma_ > 0) {
                size = d.lognormal(sigma_);
            }
            job.tasks.push_back({seconds * size, input});
        }
    }

  private:
    std::string name_;
    histories const& seen_;
    double sigma_ = 0;
};

void make_jobs(scenario const& what, histories const& seen, draw& d, plan& out) {
    durations const make(what, seen, out);
    std::vector<double> seconds;
    std::vector<std::array<double, 3>> phases;
    std::uint32_t const stages = what.more.stages;
    for (std::uint32_t k = 0; k < what.more.kinds * stages; ++k) {
        seconds.push_back(what.task_seconds * d.lognormal(0.4));
        double const a = d.uniform(0.1, 1), b = d.uniform(0.1, 1), c = d.uniform(0.1, 1);
        phases.push_back({a / (a + b + c), b / (a + b + c), c / (a + b + c)});
    }
    double const wanted = std::max(what.more.tasks, what.more.waves * what.nodes * what.slots);
    double const low = std::log(what.min_tasks), high = std::log(what.max_tasks + 1);
    for (double tasks = 0; tasks < wanted || out.jobs.size() < least_jobs;) {
        auto const kind = static_cast<std::uint32_t>(d.below(what.more.kinds));
        auto const n = std::min<std::uint32_t>(static_cast<std::uint32_t>(std::exp(d.uniform(low, high))),
                                               what.max_tasks);
        tasks += n;
        for (std::uint32_t s = 0; s < stages; ++s) {
            job_spec job;
            job.kind = kind * stages + s;
            job.phases = phases[job.kind];
            job.follows = s > 0;
            make.make(job, std::max(n / stages, 1u), seconds[job.kind], d);
            out.jobs.push_back(std::move(job));
        }
    }
}

// A Poisson process, given the number of jobs and the time.
double make_arrivals(scenario const& what, draw& d, plan& out) {
    double work = 0, capacity = 0;
    for (job_spec const& j : out.jobs)
        for (task_spec const& t : j.tasks) work += t.work + out.launch;
    for (node_spec const& n : out.nodes) capacity += n.slots * n.speed / what.more.lives;
    capacity *= 1 - what.more.service;
    double const time = work / (what.load * capacity);
    std::vector<double> arrivals;
    while (arrivals.size() < out.jobs.size() / what.more.stages) {
        double const at = d.uniform(0, time);
        double const rate = 1 + what.more.swing * std::sin(2 * std::numbers::pi * at / 3600);
        if (what.more.swing > 0 && d.uniform(0, 1 + what.more.swing) > rate) continue;
        arrivals.push_back(at);
    }
    std::sort(arrivals.begin(), arrivals.end());
    for (std::size_t j = 1; j < arrivals.size() && what.more.burst > 0; ++j)
        if (d.uniform() < what.more.burst) arrivals[j] = arrivals[j - 1];
    for (std::size_t j = 0; j < out.jobs.size(); ++j) out.jobs[j].arrival = arrivals[j / what.more.stages];
    return time;
}

// One job whose tasks run from the beginning until jobs stop arriving.
void make_service(scenario const& what, double time, plan& out) {
    if (!(what.more.service > 0)) return;
    job_spec job;
    job.kind = what.more.kinds * what.more.stages;
    job.is_service = true;
    job.tasks.assign(static_cast<std::size_t>(what.more.service * what.nodes * what.slots), {time, 0});
    out.jobs.insert(out.jobs.begin(), std::move(job));
}

// Replaces nodes: a moment after one leaves, a node with a different name and its own faults takes its place.
void make_lives(scenario const& what, double time, draw& d, plan& out) {
    double const never = 1e300, gap = 2 * what.task_seconds;
    std::size_t const lives = what.more.lives, nodes = out.nodes.size() / lives;
    for (std::size_t n = 0; n < nodes && lives > 1; ++n) {
        double from = 0;
        for (std::size_t i = 0; i < lives; ++i) {
            bool const last = i + 1 == lives;
            double const share = static_cast<double>(i) + d.uniform(0.5, 1);
            double const to = last ? never : time * share / static_cast<double>(lives);
            std::vector<time_span>& away = out.nodes[i * nodes + n].away;
            if (from > 0) away.push_back({0, from});
            if (!last) away.push_back({to, never});
            from = to + gap;
        }
    }
}

std::uint64_t number_of(std::string const& name) {
    std::uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

} // namespace

plan make_plan(scenario const& what, std::uint64_t seed, histories const& seen) {
    plan out;
    out.seed = draw(seed, number_of(what.name))();
    out.heartbeat = what.task_seconds * what.more.heartbeat;
    out.report_interval = what.more.reports * out.heartbeat;
    out.launch = what.task_seconds * what.more.launch;
    out.decide_every = what.more.decide_every;
    out.contention = what.more.contention;
    out.shares_link = what.more.shares_link;
    out.locality = what.more.locality;
    out.copy_start = what.more.copy_start;
    out.preempted = what.more.preempted;
    out.failures = what.failures;
    out.hole_time = what.task_seconds / 20;
    out.progress = what.progress;
    out.copies_first = what.copies_first;
    out.classes_told = what.classes_told;

    draw nodes(out.seed, 1), jobs(out.seed, 2), arrivals(out.seed, 3), faults(out.seed, 4);
    std::uint32_t const rack = std::max<std::uint32_t>(4, what.nodes / 10);
    for (std::uint32_t n = 0; n < what.nodes * what.more.lives; ++n) {
        node_spec node{.slots = what.slots, .domain = n / rack};
        node.machine_class = what.generations > 1 && nodes.uniform() < 0.3 ? 1 : 0;
        node.speed = std::exp(what.more.node_spread * nodes.normal()) / (node.machine_class == 1 ? 1.5 : 1);
        out.nodes.push_back(std::move(node));
    }
    make_jobs(what, seen, jobs, out);
    double const time = make_arrivals(what, arrivals, out);
    make_faults(what, time, faults, out);
    draw lives(out.seed, 5);
    make_lives(what, time, lives, out);
    make_service(what, time, out);
    return out;
}

void give_deadlines(plan& to, double factor, std::uint32_t every) {
    constexpr std::size_t times = 31;
    double slots = 0;
    for (node_spec const& n : to.nodes) slots += n.slots;
    for (std::size_t j = 0; j < to.jobs.size(); ++j) {
        job_spec& job = to.jobs[j];
        draw d(to.seed, 6, j);
        if (job.is_service || job.follows || (every > 1 && d.below(every) != 0)) continue;
        std::array<double, times> ends{};
        for (double& end : ends) {
            double work = 0;
            for (task_spec const& t : job.tasks) {
                double const took = to.launch + t.work * to.lucks[job.luck](d);
                end = std::max(end, took);
                work += took;
            }
            end = std::max(end, work / slots); // it may have more tasks than there are slots
        }
        std::sort(ends.begin(), ends.end());
        job.deadline = job.arrival + factor * ends[times / 2];
    }
}

double healthy_load(scenario const& what, plan const& made) {
    double const time = made.jobs.back().arrival;
    double design = 0, real = 0;
    for (node_spec const& n : made.nodes) {
        design += n.slots * n.speed * time;
        double away = 0;
        for (time_span const& gone : n.away)
            away += std::max(0.0, std::min(gone.to, time) - std::min(gone.from, time));
        double const failing = n.holes.empty() ? 0 : std::max(0.0, time - n.holes.front().from);
        double const there = 1 - std::min(1.0, (away + failing) / time);
        real += n.slots * work_between(n, 0, time) * there;
    }
    return what.load * design / real / what.more.lives;
}

} // namespace lab
