// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Every part of the way from records to a blacklist can be one of your own: here a normalizer, an
/// estimator of intervals, a ranker, a selection policy and a limit, each a few lines, put together with
/// parts of the library.

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
// Two levels: nodes that are slower than the fastest beyond doubt, and the rest.
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
}
