// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What is learned from the history: how long tasks take where, which nodes are slow, and which to avoid.
#pragma once

#include "running.hpp"

#include <straggle/blacklist/decision.hpp>
#include <straggle/predict/calibration.hpp>
#include <straggle/predict/similar_tasks.hpp>
#include <straggle/rank/ranking.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace straggle_backup {

/// A task to learn from or to predict.
struct task_record : work {
    std::uint32_t node = 0;
    moment took{};
};

/// Inputs differ by orders of magnitude. Those within 5 % count as equal: then many tasks are equal, and need
/// only one query.
struct log_input {
    std::optional<double> operator()(work const& w) const {
        if (!w.input || !(*w.input >= 0)) return std::nullopt;
        return std::round(std::log1p(*w.input) * 20) / 20;
    }
};

//! [similarity]
/// What makes tasks similar, beside the node.
inline constexpr straggle::predict::task_profile similarity{
    .node = &task_record::node,
    .time = &task_record::took,
    .factors = straggle::predict::factors(straggle::predict::categorical(&task_record::kind, "kind"),
                                          straggle::predict::categorical(&task_record::job, "job"),
                                          straggle::predict::numeric(log_input{}, "input"))};
//! [similarity]

/// How long do tasks take? As long as the most similar tasks of the history did, by node, kind, job and the
/// logarithm of the input. Nothing is known about a kind of work that never ran.
class time_model {
  public:
    /// Learns the tasks that have finished, in the order in which they did.
    time_model(history const& past, options const& o);

    /// How long it would take there, in seconds; valid until the next query.
    /// @par Cost a search among the tasks, but none if an equal task was queried recently
    [[nodiscard]] straggle::outcome<straggle::stats::empirical_view> times(work const& w, std::uint32_t node);
    /// How long it usually takes on a good node.
    [[nodiscard]] straggle::outcome<double> usual(work const& w);
    /// The number of tasks remembered.
    [[nodiscard]] std::size_t size() const { return tasks_.size(); }
    /// How often 80 % ranges were right, for the last of the tasks learned, each predicted before it was
    /// learned.
    [[nodiscard]] straggle::predict::calibration const& ranges() const { return ranges_; }

  private:
    [[nodiscard]] bool is_known(work const& w) const;

    using alike =
        std::tuple<std::optional<std::uint32_t>, std::optional<std::uint32_t>, std::optional<double>>;
    static constexpr std::size_t most_answers = 200'000; // of 300 bytes

    straggle::predict::similar_tasks<task_record, std::remove_const_t<decltype(similarity)>> tasks_;
    straggle::predict::calibration ranges_{0.8, {.step = 0, .stretch = 0}}; // unchanged
    std::vector<bool> kinds_, jobs_;                                        // of which a task was learned
    std::map<alike, std::unordered_map<std::uint32_t, straggle::stats::empirical>> answers_; // by node
    std::size_t answered_ = 0;
    std::map<alike, straggle::outcome<double>> usual_;
};

using node_ranking = straggle::node_ranking<std::uint32_t, std::uint32_t>;

/// Ranks the nodes as straggle-rank does by default.
[[nodiscard]] node_ranking rank(history const& past);

/// How much longer tasks take on each node than elsewhere, by the jobs that are not running now; 1 if that is
/// unknown. The geometric mean of the times over the median of their jobs, as if the node had run two usual
/// tasks more.
struct node_slowdown {
    double factor = 1;
    bool known = false;
};
[[nodiscard]] std::vector<node_slowdown> find_slowdown(history const& past, snapshot const& now,
                                                       std::size_t nodes);

} // namespace straggle_backup
