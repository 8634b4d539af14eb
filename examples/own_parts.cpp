// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Every part can be replaced: here a normalizer, an estimator of intervals, a ranker, a selection policy and
/// a limit, each a few lines, combined with parts of the library.

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
// How many times longer than the fastest sibling.
struct times_fastest {
    straggle::status normalize(std::span<double> durations, std::span<double>) const {
        if (durations.size() < 3) return straggle::status::insufficient_evidence;
        double const fastest = *std::min_element(durations.begin(), durations.end());
        if (!(fastest > 0)) return straggle::status::no_spread;
        for (double& d : durations) d /= fastest;
        return straggle::status::ok;
    }
};
static_assert(straggle::rank::sibling_normalizer<times_fastest>);
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
// Weak is a node whose interval begins above a fixed score.
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
// Never takes out a node that holds a role.
struct spare_the_drivers {
    static constexpr std::string_view name = "spare_the_drivers";

    template <class Ranking>
    void begin(Ranking const&, std::size_t) {}
    bool admits(std::string const& executor) const { return !executor.starts_with("driver"); }
    void take(std::string const&) {}
};
static_assert(straggle::blacklist::node_limit<spare_the_drivers, std::string>);
//! [limit]

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
// At most so many copies a decision.
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
};
struct host {
    std::string name;
    int slots, busy;
};

void in_a_mitigator() {
    //! [in_a_mitigator]
    straggle::mitigator loop{
        straggle::attempt_fields{.job = &task::job,
                                 .task = &task::number,
                                 .node = &task::host,
                                 .start = &task::start,
                                 .end = &task::end},
        straggle::running_fields{
            .job = &task::job, .task = &task::number, .node = &task::host, .start = &task::start},
        straggle::node_fields{.node = &host::name, .slots = &host::slots, .busy = &host::busy},
        straggle::mitigator_options{},
        straggle::mitigate::stages{.tasks = straggle::detect::straggler_scan{older_than{200}},
                                   .copies =
                                       straggle::assign::assigner{medians{}, last_come{}, few_copies{1}}}};
    //! [in_a_mitigator]
    std::vector<host> hosts;
    for (int i = 0; i < 8; ++i) hosts.push_back({"host-" + std::to_string(i), 4, 1});
    std::vector<task> running;
    for (int i = 0; i < 30; ++i) {
        double const end = 90 + i % 20;
        if (i >= 27)
            running.push_back({1, i, "host-" + std::to_string(i % 8), 0});
        else
            loop.observe(task{1, i, "host-" + std::to_string(i % 8), 0, end}, end);
    }
    std::cout << loop.decide(150.0, running, hosts).copies().size() << " copies at 150\n";
    for (auto const& c : loop.decide(250.0, running, hosts).copies())
        std::cout << "copy task " << running[c.row].number << " to " << hosts[c.node_row].name << ": "
                  << c.why.rule << '\n';
}

int main() {
    std::vector<task_record> records;
    for (std::uint64_t stage = 0; stage < 12; ++stage) {
        for (std::int64_t task = 0; task < 15; ++task) {
            std::int64_t const place = task % 5;
            std::string const executor = place == 0 ? "driver-1" : "worker-" + std::to_string(place);
            std::int64_t const took = 1000 + 37 * ((task * 7 + static_cast<std::int64_t>(stage)) % 11);
            bool const slow = place == 0 || place == 3;
            records.push_back({stage, executor, 0, slow ? 3 * took : took});
        }
    }

    //! [together]
    auto const ranking =
        straggle::rank_nodes(records, straggle::rank_options{.normalizer = times_fastest{},
                                                             .estimator = two_errors{},
                                                             .ranker = slower_than_the_fastest{}});
    straggle::blacklister list(above{2.0}, spare_the_drivers{},
                               straggle::blacklist::at_most_slot_fraction{0.25});
    auto const decision = list.decide(ranking);
    //! [together]

    for (auto const& v : decision.blacklisted())
        std::cout << "avoid " << v.id << ": at least " << v.ci.low << " times the fastest sibling\n";
    for (auto const& v : decision.spared()) std::cout << v.id << " stays: " << v.spared_by << '\n';
    in_a_mitigator();
}
