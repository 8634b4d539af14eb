// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "observe.hpp"
#include "../../../examples/programs/common/node_aware.hpp"

#include "../cluster/draw.hpp"
#include "../cluster/workload.hpp"
#include "scheduling.hpp"

#include <straggle/papers/riski_2014.hpp>
#include <straggle/stats/order.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace riski {

namespace {

constexpr std::size_t warm_up = 12;               // jobs, before those that are measured
constexpr double warm_up_interval = 150;          // seconds
constexpr double busy_for = 400, idle_for = 1200; // seconds: a virtual machine's neighbors, means
constexpr double work_of_map = 40e9;              // BBP takes half as much again: a minute on an idle core

struct size {
    std::uint32_t maps, reduces;
};
constexpr size small{2, 2}, medium{10, 5}, large{20, 10}; // table 4

// Figure 11: the fifty jobs by their size.
size size_of(riski_case const& c, std::size_t job) {
    if (c.sizes == "small") return small;
    if (c.sizes == "medium") return medium;
    if (c.sizes == "large") return large;
    if (job < parts[1] || job >= parts[4]) return medium;
    if (job < parts[2]) return small;
    if (job >= parts[3]) return large;
    if (job == 24) return medium;
    return job % 2 == 0 && job > 24 ? large : small;
}

cluster::job_spec make_job(std::string const& kind, size s, cluster::draw& random) {
    cluster::workload_sizes const sizes{
        .maps = s.maps, .reduces = s.reduces, .flops = work_of_map, .spread = 0.1, .reduce_spread = 0.15};
    if (kind == "Sort") return cluster::sort(sizes, random);
    cluster::job_spec job = cluster::bbp(sizes, random);
    job.phases[1].tasks.resize(s.reduces, cluster::task_spec(job.phases[1].tasks[0]));
    return job;
}

// Table 3: five virtual machines. Slots are for maps and reduces alike here: as many as the paper has for
// either.
cluster::plan make_plan(riski_case const& c, std::uint64_t seed) {
    cluster::plan plan;
    plan.seed = seed;
    plan.attempt_noise = 0.1;
    // Map and reduce slots of table 3, and mean times of table 1 (its four nodes; the fifth as all of them).
    constexpr std::array<std::uint32_t, 5> both{1, 4, 8, 8, 2};
    constexpr std::array<double, 5> table_1{108.61, 92.66, 73.61, 43.5, 80};
    for (auto const& [cores, slots] : {std::pair{1u, 1u}, {4u, 4u}, {4u, 4u}, {4u, 4u}, {4u, 1u}}) {
        std::size_t const n = plan.nodes.size();
        cluster::node_spec node{.cores = cores, .slots = c.table_3 ? both[n] : slots};
        if (c.table_1) node.speed *= table_1[3] / table_1[n];
        plan.nodes.push_back(node);
    }
    cluster::draw work(seed, 2), busy(seed, 3);
    std::size_t const jobs = c.sizes == "mix" ? parts.back() : 20;
    constexpr std::array<size, 3> first{medium, small, large};
    for (std::size_t i = 0; i < warm_up; ++i) {
        plan.jobs.push_back(make_job(c.kind, first[i % first.size()], work));
        plan.jobs.back().arrival = warm_up_interval * static_cast<double>(i);
    }
    double const begin = warm_up_interval * (warm_up + 2);
    for (std::size_t i = 0; i < jobs; ++i) {
        plan.jobs.push_back(make_job(c.kind, size_of(c, i), work));
        plan.jobs.back().arrival = begin + c.interval * static_cast<double>(i);
    }
    double const end = 4 * plan.jobs.back().arrival;
    for (std::uint32_t n = 0; n < plan.nodes.size() && c.neighbors > 0; ++n)
        for (double at = busy.exponential(idle_for); at < end;) {
            double const until = at + busy.exponential(busy_for);
            double const slowdown = 1 + 2 * c.neighbors;
            plan.faults.push_back({.node = n,
                                   .kind = cluster::fault_kind::memory,
                                   .from = at,
                                   .to = until,
                                   .strength = slowdown,
                                   .disk_strength = slowdown,
                                   .noise = 0.2});
            at = until + busy.exponential(idle_for);
        }
    return plan;
}

class no_copies final : public cluster::policy {};

// The paper to the letter: which tasks are candidates, how long a copy takes, what it is worth, what is
// killed.
template <class Reading, class Profit>
std::unique_ptr<cluster::policy> to_the_letter(std::vector<std::string> kinds) {
    using estimates_of_paper = estimates<history_of_paper<Reading>>;
    return std::make_unique<risk_aware<straggle::papers::riski_2014::detector,
                                       straggle::papers::riski_2014::assigner<Profit>, estimates_of_paper>>(
        estimates_of_paper(std::move(kinds), remaining_by::similar_tasks),
        straggle::papers::riski_2014::detector{}, straggle::papers::riski_2014::assigner<Profit>{},
        straggle::papers::riski_2014::assigner<Profit>{});
}

template <class Matching = straggle::assign::greedy_assignment, class Detector, class Profit>
std::unique_ptr<cluster::policy> risky(std::vector<std::string> kinds, Detector rule, Profit usually,
                                       Profit when_tasks_wait,
                                       straggle::assign::assigner_options const& options, remaining_by how) {
    using assigner = straggle::assign::assigner<Profit, Matching>;
    return std::make_unique<risk_aware<Detector, assigner>>(estimates<history>(std::move(kinds), how),
                                                            std::move(rule), assigner(usually, options),
                                                            assigner(when_tasks_wait, options));
}

std::unique_ptr<cluster::policy> make_scheduler(std::string const& name, std::vector<std::string> kinds,
                                                std::uint64_t seed) {
    using namespace straggle;
    if (name == "no copies") return std::make_unique<no_copies>();
    if (name == "LATE") return std::make_unique<late_scheduler>(seed);
    auto const riski = [&](assign::kill_rule kill, remaining_by how) {
        return risky<assign::assignment_in_turn>(std::move(kinds), papers::riski_2014::detector{},
                                                 papers::riski_2014::profit{}, papers::riski_2014::profit{},
                                                 {.kill = kill}, how);
    };
    if (name == "RiskI")
        return to_the_letter<papers::riski_2014::corrected, papers::riski_2014::profit>(std::move(kinds));
    if (name == "RiskI as printed")
        return to_the_letter<papers::riski_2014::as_printed, papers::riski_2014::profit_as_printed>(
            std::move(kinds));
    if (name == "with similar_tasks")
        return riski(assign::kill_rule::when_certain, remaining_by::similar_tasks);
    if (name == "racing") return riski(assign::kill_rule::race, remaining_by::similar_tasks);
    if (name == "and by progress") return riski(assign::kill_rule::race, remaining_by::progress);
    if (name == "expected gain")
        return risky(std::move(kinds), papers::riski_2014::detector{}, assign::expected_gain{},
                     assign::expected_gain{}, {}, remaining_by::similar_tasks);
    using aware = program::node_aware<policies::told_usual_time>;
    if (name == "and node_aware")
        return risky<assign::assignment_in_turn>(std::move(kinds), aware{.report_interval = 3},
                                                 papers::riski_2014::profit{}, papers::riski_2014::profit{},
                                                 {}, remaining_by::progress);
    if (name == "straggle")
        return risky(std::move(kinds), aware{.report_interval = 3}, assign::expected_gain{},
                     assign::expected_gain{}, {}, remaining_by::progress);
    if (name == "straggle priced")
        return risky(std::move(kinds), aware{.report_interval = 3}, assign::expected_gain{},
                     assign::expected_gain{.slot_price = 1}, {}, remaining_by::progress);
    throw std::invalid_argument("no scheduler is called " + name);
}

std::vector<std::string> kinds_of(cluster::plan const& plan) {
    std::vector<std::string> kinds;
    for (cluster::job_spec const& job : plan.jobs) kinds.push_back(job.kind);
    return kinds;
}

std::size_t part_of(std::size_t job) {
    std::size_t part = 0;
    while (part + 2 < parts.size() && job >= parts[part + 1]) ++part;
    return part;
}

// Predicts each map when it is over, before it learns from it.
class foreteller final : public cluster::policy {
  public:
    explicit foreteller(std::vector<std::string> kinds) : history_(std::move(kinds)) {}

    void ended(cluster::attempt_record const& a, double) override {
        execution const e = history_.describe(a);
        if (e.work % 2 == 0) {
            std::uint32_t& known = known_[{e.work, e.node}];
            auto const times = history_.tasks.predict(e, e.node, scratch_);
            if (known > 0 && times) judge(known, *times, e.took);
            ++known;
        }
        history_.ended(a);
    }
    void copies(cluster::cluster_view const& view, std::vector<cluster::copy_request>&) override {
        history_.note(view);
    }
    std::vector<double> result() {
        std::vector<double> all;
        for (auto* const by_known : {&width_, &inside_, &error_})
            for (std::size_t i = 0; i < executions.size(); ++i) {
                std::vector<double>& values = (*by_known)[i];
                double sum = 0;
                for (double const v : values) sum += v;
                all.push_back(sum / static_cast<double>(values.size())); // NaN without any
            }
        return all;
    }

  private:
    using samples = std::array<std::vector<double>, executions.size()>;

    void judge(std::uint32_t known, straggle::stats::empirical_view const& times, double took) {
        std::size_t i = 0;
        while (i + 1 < executions.size() && known >= executions[i + 1]) ++i;
        double const low = times.lowest().value_or(0), high = times.highest().value_or(0);
        width_[i].push_back((high - low) / times.mean().value_or(1));
        inside_[i].push_back(took >= low && took <= high ? 1 : 0);
        error_[i].push_back(std::abs(times.quantile(0.5).value_or(0) - took) / took);
    }

    history history_;
    straggle::predict::prediction_scratch scratch_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;
    samples width_, inside_, error_;
};

} // namespace

std::vector<double> observe(riski_case const& c, std::string const& scheduler, std::uint64_t seed) {
    cluster::plan const plan = make_plan(c, seed);
    auto const decides = make_scheduler(scheduler, kinds_of(plan), seed);
    cluster::result const r = cluster::run(plan, *decides);
    std::vector<double> m(measures), times;
    for (std::size_t i = warm_up; i < r.jobs.size(); ++i) {
        times.push_back(r.jobs[i].took());
        m[mean] += times.back();
    }
    m[mean] /= static_cast<double>(times.size());
    m[median] = straggle::stats::median_in_place(times).value_or(std::nan(""));
    m[p99] = straggle::stats::quantile_in_place(times, 0.99).value_or(std::nan(""));
    std::set<std::tuple<std::uint32_t, std::uint32_t, double>> launches;
    for (cluster::attempt_record const& a : r.attempts)
        if (a.copy) launches.insert({a.phase, a.task, a.start});
    double lost = 0, all = 0;
    for (cluster::attempt_record const& a : r.attempts) {
        if (a.job < warm_up) continue;
        bool const finished = a.how == cluster::ending::finished;
        all += a.took();
        lost += finished ? 0 : a.took();
        if (!a.copy && !finished && launches.contains({a.phase, a.task, a.end})) m[killed] += 1;
        if (!a.copy) continue;
        std::size_t const part = part_of(a.job - warm_up);
        m[copies] += 1;
        m[copies_in_part + part] += 1;
        if (!finished) continue;
        m[won] += 1;
        m[won_in_part + part] += 1;
    }
    m[wasted] = lost / all;
    return m;
}

std::vector<double> observe_equal_tasks(std::uint64_t seed) {
    // One plan for both, since a process can run one: the 128 maps, and an hour later those of the other
    // machines.
    constexpr std::array<double, 4> seconds{108.61, 92.66, 73.61, 43.5};
    constexpr std::array<std::uint32_t, 4> slots{4, 4, 8, 8};
    constexpr std::size_t most = 8, again = 20;
    constexpr std::uint32_t first = slots.size();
    constexpr double later = 3600;
    cluster::plan plan;
    plan.seed = seed;
    plan.attempt_noise = 0.1;
    for (std::size_t n = 0; n < slots.size(); ++n)
        plan.nodes.push_back({.speed = 1e9 * seconds[3] / seconds[n], .cores = 4, .slots = slots[n]});
    for (std::uint32_t n = 0; n < most; ++n) plan.nodes.push_back({.cores = 4, .slots = n + 1});
    cluster::draw work(seed, 2);
    for (std::uint32_t const maps : {128u, 900u})
        plan.jobs.push_back(
            cluster::word_count({.maps = maps, .reduces = 1, .flops = 20e9, .spread = 0}, work));
    plan.jobs[1].arrival = later;
    class one_after_the_other final : public cluster::policy {
        double now_ = 0;
        void round(double now) override { now_ = now; }
        bool avoids(std::uint32_t n) const override { return (n < first) != (now_ < later); }
    } policy;
    cluster::result const r = cluster::run(plan, policy);
    auto const judge = [](std::vector<double> const& t) {
        double sum = 0, squares = 0, low = t[0], high = t[0];
        for (double const x : t) sum += x;
        double const mean_of = sum / static_cast<double>(t.size());
        for (double const x : t) {
            squares += (x - mean_of) * (x - mean_of);
            low = std::min(low, x);
            high = std::max(high, x);
        }
        return std::array{mean_of, std::sqrt(squares / static_cast<double>(t.size())), high / low};
    };
    std::vector<std::vector<double>> of(slots.size() + most + 1);
    for (cluster::attempt_record const& a : r.attempts) {
        if (a.phase % 2 != 0) continue; // a reduce
        if (a.node < slots.size()) of[0].push_back(a.took());
        if (a.node < slots.size() || of[a.node + 1].size() < again) of[a.node + 1].push_back(a.took());
    }
    std::vector<double> all;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (of[i].empty()) of[i].push_back(std::nan(""));
        auto const found = judge(of[i]);
        all.push_back(found[0]);
        if (i <= slots.size()) all.push_back(found[1]);
        all.push_back(found[2]);
    }
    return all;
}

std::vector<double> observe_predictions(riski_case const& c, std::uint64_t seed) {
    cluster::plan const plan = make_plan(c, seed);
    foreteller decides(kinds_of(plan));
    cluster::run(plan, decides);
    return decides.result();
}

} // namespace riski
