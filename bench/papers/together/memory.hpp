// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a scheduler remembers of finished tasks: how long would one like them take there?
#pragma once

#include "../cluster/policy.hpp"

#include <straggle/predict/similar_tasks.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace together {

/// A task, as the predictor reads it.
struct known_task {
    std::uint32_t node = 0;
    double took = 0;
    std::uint32_t kind = 0; ///< of its job, and whether it is a map or a reduce
    double input = 1;
};
inline constexpr straggle::predict::task_profile known_task_profile{
    .node = &known_task::node,
    .time = &known_task::took,
    .factors = straggle::predict::factors(straggle::predict::categorical(&known_task::kind, "kind"),
                                          straggle::predict::numeric(&known_task::input, "input"))};

class memory {
  public:
    /// @param kinds the kind of each job, which a scheduler knows by its name
    explicit memory(std::vector<std::uint32_t> kinds)
        : kinds_(std::move(kinds)), history_(known_task_profile, {.capacity = 4000}) {}

    void learn(cluster::attempt_record const& a) {
        if (a.how != cluster::ending::finished) return;
        history_.observe({a.node, a.took(), kind(a.job, a.phase), a.input});
    }
    void forget(std::uint32_t phase) {
        usual_.erase(usual_.lower_bound({phase, 0}), usual_.lower_bound({phase + 1, 0}));
    }

    /// How long the task usually takes, as known when it was first asked for; 0 if it was not known.
    double usual(std::uint32_t job, std::uint32_t phase, std::uint32_t task, double input) {
        auto const [at, is_new] = usual_.try_emplace({phase, task}, 0.0);
        if (is_new) at->second = history_.usual_time({0, 0, kind(job, phase), input}).value_or(0.0);
        return at->second;
    }
    /// How long it would take on a machine; valid until the next prediction.
    straggle::outcome<straggle::stats::empirical_view> there(std::uint32_t kind, double input,
                                                             std::uint32_t node) {
        return history_.predict({0, 0, kind, input}, node);
    }
    std::uint32_t kind(std::uint32_t job, std::uint32_t phase) {
        bool const is_map = phases_.try_emplace(job, phase).first->second == phase; // maps are seen first
        return 2 * kinds_[job] + (is_map ? 0 : 1);
    }

  private:
    std::vector<std::uint32_t> kinds_;
    std::map<std::uint32_t, std::uint32_t> phases_; // the first of each job
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> usual_;
    straggle::predict::similar_tasks<known_task, decltype(known_task_profile)> history_;
};

} // namespace together
