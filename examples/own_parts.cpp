// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Every part can be replaced: here all thirteen, each a few lines, alone and in a mitigator.

#include <straggle/blacklist/ranking_stage.hpp>
#include <straggle/mitigate/stages.hpp>
#include <straggle/predict/similar_tasks.hpp>
#include <straggle/straggle.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

//! [traits]
struct task_record {
    std::uint64_t stage;
    std::string executor;
    std::int64_t started_us, ended_us;
};

// Names the fields once for the whole program; no call needs a `fields` argument then.
template <>
struct straggle::task_traits<task_record> {
    static constexpr auto fields = attempt_fields{.job = &task_record::stage,
                                                  .node = &task_record::executor,
                                                  .start = &task_record::started_us,
                                                  .end = &task_record::ended_us};
};
//! [traits]

//! [normalizer]
// How many times the mean of the job.
struct times_the_mean {
    straggle::outcome<straggle::rank::affine_scale<std::int64_t>>
    fit(straggle::stats::tick_moments const& job) const {
        if (job.count() < 3) return straggle::status::insufficient_evidence;
        return straggle::rank::affine_scale<std::int64_t>{.factor = 1 / job.mean()};
    }
    straggle::outcome<straggle::rank::affine_scale<double>> fit(straggle::stats::moments const& job) const {
        if (job.count() < 3) return straggle::status::insufficient_evidence;
        return straggle::rank::affine_scale<double>{.factor = 1 / job.mean()};
    }
};
static_assert(straggle::rank::moment_normalizer<times_the_mean>);
//! [normalizer]

//! [estimator]
// Two standard errors about the mean.
struct two_errors {
    straggle::outcome<straggle::rank::node_performance>
    estimate(straggle::rank::node_sample const& scores) const {
        if (scores.n < 2) return straggle::status::insufficient_evidence;
        auto const n = static_cast<double>(scores.n);
        double const sd = std::sqrt(scores.squared_deviations / (n - 1)), off = 2 * sd / std::sqrt(n);
        return straggle::rank::node_performance{
            scores.n, scores.mean, sd, {scores.mean - off, scores.mean + off}};
    }
};
static_assert(straggle::rank::interval_estimator<two_errors>);
//! [estimator]

//! [ranker]
// Two levels: nodes that are provably slower than the fastest, and the rest.
struct slower_than_the_fastest {
    straggle::outcome<std::size_t> levels(std::span<double const> low, std::span<double const> high,
                                          std::span<std::uint32_t> level) const {
        if (high.empty()) return std::size_t{0};
        double const fastest = *std::min_element(high.begin(), high.end());
        for (std::size_t i = 0; i < level.size(); ++i) level[i] = low[i] > fastest ? 0 : 1;
        return std::size_t{2};
    }
};
static_assert(straggle::rank::ranker<slower_than_the_fastest>);
//! [ranker]

//! [policy]
// A node is weak if its interval begins above a fixed score.
struct above {
    static constexpr std::string_view name = "above";
    double score;

    template <class Node>
    straggle::blacklist::selection_note select(std::span<Node const> nodes,
                                               straggle::blacklist::selection_scratch&,
                                               std::vector<straggle::blacklist::candidate>& out) const {
        for (std::uint32_t i = 0; i < nodes.size(); ++i)
            if (nodes[i].ci.low > score) out.push_back({i, nodes[i].ci.low, score});
        return straggle::blacklist::selection_note::none;
    }
};
static_assert(straggle::blacklist::selection_policy<above>);
//! [policy]

//! [limit]
// Never more than a number of nodes.
struct few_nodes {
    static constexpr std::string_view name = "few_nodes";
    std::size_t most, taken = 0;

    template <class Fleet>
    void begin(Fleet const&, std::size_t) {
        taken = 0;
    }
    bool admits(auto const&) const { return taken < most; }
    void take(auto const&) { ++taken; }
};
static_assert(straggle::blacklist::node_limit<few_nodes, std::string>);
//! [limit]

//! [exclusion]
// Excludes a weak node for two windows each time.
struct two_windows {
    static constexpr std::string_view name = "two_windows";

    void advance(straggle::blacklist::exclusion& s, straggle::blacklist::window_evidence const& evidence,
                 std::int64_t window) const {
        if (evidence.weak)
            s = {.state = straggle::node_state::excluded, .since = window, .until = window + 2};
        else if (window >= s.until)
            s = {};
    }
};
static_assert(straggle::blacklist::exclusion_policy<two_windows>);
//! [exclusion]

//! [weighing]
// A node is out while its last task took longer than a fixed time.
struct last_took {
    double most;
    std::vector<double> last{};
    std::vector<straggle::blacklist::node_verdict> out{};

    bool observe(straggle::ended_attempt const& a, double) {
        if (a.node >= last.size()) last.resize(a.node + 1);
        last[a.node] = a.end - a.start;
        return true;
    }
    void decide(double, std::span<straggle::running_attempt const>,
                std::span<straggle::blacklist::node_row const>, straggle::cluster_load const&, bool) {
        out.clear();
        for (std::uint32_t n = 0; n < last.size(); ++n)
            if (last[n] > most) out.push_back({.node = n, .state = straggle::node_state::excluded});
    }
    std::span<straggle::blacklist::node_verdict const> verdicts() const { return out; }
};
static_assert(straggle::blacklist::node_weighing<last_took>);
//! [weighing]

//! [detector]
// Suspects what has run for longer than a fixed time.
struct older_than {
    static constexpr std::string_view name = "older_than";
    double time;

    straggle::detect::detection_note detect(straggle::detect::job_view const& job,
                                            straggle::detect::detector_scratch&,
                                            std::vector<straggle::detect::finding>& out) const {
        for (std::uint32_t i = 0; i < job.running.size(); ++i)
            if (job.running[i].elapsed > time) out.push_back({i, job.running[i].elapsed, time, time});
        return straggle::detect::detection_note::none;
    }
};
static_assert(straggle::detect::straggler_detector<older_than>);
//! [detector]

//! [profit]
// What a copy saves if both take as long as half of their kind do.
struct medians {
    static constexpr std::string_view name = "medians";

    straggle::outcome<straggle::assign::backup_value> value(straggle::assign::backup_case const& c) const {
        double const saved = c.remaining.quantile(0.5).value_or(0) - c.copy.quantile(0.5).value_or(0);
        return straggle::assign::backup_value{
            .profit = saved, .gain = saved, .win_probability = saved > 0 ? 1.0 : 0};
    }
    bool accepts(straggle::assign::backup_value const& v) const { return v.profit > 0; }
};
static_assert(straggle::assign::profit_policy<medians>);
//! [profit]

//! [matching]
// Each straggler takes the last node that would do.
struct last_come {
    static constexpr std::string_view name = "last_come";

    template <class Admit>
    void operator()(straggle::assign::assignable_pairs const& pairs, std::span<std::uint32_t const> room,
                    std::vector<straggle::assign::assigned_pair>& out, Admit&& admit) {
        out.clear();
        room_.assign(room.begin(), room.end());
        for (std::uint32_t row = 0; row < pairs.rows(); ++row)
            for (std::uint32_t p = pairs.first[row + 1]; p-- > pairs.first[row];)
                if (room_[pairs.column[p]] > 0) {
                    if (admit(row)) --room_[pairs.column[p]], out.push_back({row, p});
                    break;
                }
    }
    std::vector<std::uint32_t> room_;
};
static_assert(straggle::assign::matching<last_come>);
//! [matching]

//! [copy_limit]
// At most that many copies per decision.
struct few_copies {
    static constexpr std::string_view name = "few_copies";
    std::uint64_t most, taken = 0;

    void begin(straggle::cluster_load const&, std::size_t) { taken = 0; }
    bool admits(straggle::assign::backup_request const&) const { return taken < most; }
    void take(straggle::assign::backup_request const&) { ++taken; }
};
static_assert(straggle::assign::copy_limit<few_copies>);
//! [copy_limit]

struct task {
    int job, number;
    std::string host;
    double start, end = 0;
    std::string program = "sort";
    double time() const { return end - start; }
};
struct host {
    std::string name;
    int slots, busy;
};

//! [distance]
// Tasks of one program are alike.
struct same_program {
    double operator()(std::span<straggle::predict::factor_kind const>, std::span<double const> x,
                      std::span<double const> y, std::span<double const>, std::span<double const>) const {
        return x[1] == y[1] ? 0 : 1; // x[0] is the node
    }
};
static_assert(straggle::predict::distance<same_program>);
//! [distance]

constexpr straggle::predict::task_profile profile{
    .node = &task::host,
    .time = &task::time,
    .factors = straggle::predict::factors(straggle::predict::categorical(&task::program, "program"))};
using similar = straggle::predict::similar_tasks<task, std::remove_const_t<decltype(profile)>, same_program>;

//! [predictor]
// A task takes as long as similar ones did.
struct by_history {
    similar* history;
    std::vector<task> const* running;

    straggle::outcome<double> replacement(straggle::detect::running_task const& t,
                                          straggle::detect::job_view const&) const {
        auto const times = history->predict((*running)[t.row], "");
        return times ? times->quantile(0.5) : times.reason();
    }
    straggle::outcome<double> remaining(straggle::detect::running_task const& t,
                                        straggle::detect::job_view const& job) const {
        auto const whole = replacement(t, job);
        return whole ? std::max(*whole, t.elapsed) : whole; // late: as long again
    }
};
static_assert(straggle::detect::predictor<by_history>);
//! [predictor]

// The records of a mitigator, and one job: three of its 30 tasks run on.
constexpr straggle::attempt_fields ended_fields{
    .job = &task::job, .task = &task::number, .node = &task::host, .start = &task::start, .end = &task::end};
constexpr straggle::running_fields running_fields{
    .job = &task::job, .task = &task::number, .node = &task::host, .start = &task::start};
constexpr straggle::node_fields host_fields{.node = &host::name, .slots = &host::slots, .busy = &host::busy};

struct job {
    std::vector<host> hosts;
    std::vector<task> ended, running;

    job() {
        for (int i = 0; i < 8; ++i) hosts.push_back({"host-" + std::to_string(i), 4, 1});
        for (int i = 0; i < 30; ++i) {
            std::string const where = "host-" + std::to_string(i % 8);
            double const took = (90 + i % 20) * (i % 8 == 2 ? 1.4 : 1.0);
            if (i < 27) ended.push_back({1, i, where, 0, took});
            if (i >= 27) running.push_back({1, i, where, 0});
        }
    }
};

template <class Mitigator>
void run(Mitigator& loop, job const& of) {
    for (task const& t : of.ended) loop.observe(t, t.end);
    for (double const now : {150.0, 250.0}) {
        auto const& plan = loop.decide(now, of.running, of.hosts);
        for (auto const& n : plan.nodes())
            if (n.state == straggle::node_state::excluded)
                std::cout << "at " << now << " avoid " << of.hosts[n.row].name << '\n';
        for (auto const& c : plan.copies())
            std::cout << "at " << now << " copy task " << of.running[c.row].number << " to "
                      << of.hosts[c.node_row].name << ": " << c.why.rule << '\n';
    }
}

void in_a_mitigator() {
    job const cluster;
    similar history(profile);
    for (task const& t : cluster.ended) history.observe(t);
    std::vector<task> const& running = cluster.running;

    //! [in_a_mitigator]
    straggle::mitigator loop{
        ended_fields, running_fields, host_fields, straggle::mitigator_options{},
        straggle::mitigate::stages{
            .nodes =
                straggle::blacklist::ranking_stage{
                    straggle::monitor_options{
                        .window = 140.0,
                        .ranking = straggle::rank_options{.normalizer = times_the_mean{},
                                                          .estimator = two_errors{},
                                                          .ranker = slower_than_the_fastest{}}},
                    straggle::rolling_blacklister_of<std::uint32_t>(above{1.2}, two_windows{}, few_nodes{2})},
            .tasks = straggle::detect::straggler_scan{older_than{200}, by_history{&history, &running}},
            .copies = straggle::assign::assigner{medians{}, last_come{}, few_copies{1}}}};
    //! [in_a_mitigator]
    run(loop, cluster);

    //! [own_weighing]
    straggle::mitigator other{ended_fields, running_fields, host_fields, straggle::mitigator_options{},
                              straggle::mitigate::stages{.nodes = last_took{130}}};
    //! [own_weighing]
    run(other, cluster);
}

int main() {
    std::vector<task_record> records;
    for (std::uint64_t stage = 0; stage < 12; ++stage) {
        for (std::int64_t task = 0; task < 15; ++task) {
            std::int64_t const place = task % 5;
            std::string const executor = "worker-" + std::to_string(place);
            std::int64_t const took = 1000 + 37 * ((task * 7 + static_cast<std::int64_t>(stage)) % 11);
            bool const slow = place == 0 || place == 3;
            records.push_back({stage, executor, 0, slow ? 3 * took : took});
        }
    }

    //! [together]
    auto const ranking =
        straggle::rank_nodes(records, straggle::rank_options{.normalizer = times_the_mean{},
                                                             .estimator = two_errors{},
                                                             .ranker = slower_than_the_fastest{}});
    straggle::blacklister list(above{1.2}, few_nodes{1});
    auto const decision = list.decide(ranking);
    //! [together]

    for (auto const& v : decision.blacklisted())
        std::cout << "avoid " << v.id << ": at least " << v.ci.low << " times the mean of its jobs\n";
    for (auto const& v : decision.spared()) std::cout << v.id << " stays: " << v.spared_by << '\n';
    in_a_mitigator();
}
