// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Cook's rule about hosts that failed a task.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/failures/attempt.hpp>
#include <straggle/failures/detail/keyed.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::failures {

/// Cook's settings.
struct cook_novel_host_options {
    /// How many failures of each kind caused by the cluster do not count as attempts; -1: no such failure
    /// counts.
    int mea_culpa_failure_limit = 5;
    bool disable_mea_culpa_retries = false; ///< every failure counts as an attempt
    std::size_t max_tasks = 1 << 16;        ///< limit on pairs of a task and a host
};

/// A task never runs again on a host where it ran before, whether it failed there or not; a preempted attempt
/// does not count. No host is excluded as a whole: this rule applies per task.
///
/// Source: Cook (github.com/twosigma/Cook, last version, archived), the constraint `novel-host-constraint` of
/// scheduler/src/cook/scheduler/constraints.clj and the function `attempts-consumed` of its schema. What Cook
/// calls a job is a task here. Preempted is `attempt_status::killed`.
/// @par Cost
/// every function O(1) expected, `forget` O(hosts of the task)
class cook_novel_host {
  public:
    static constexpr std::string_view name = "cook_novel_host";

    /// @param options settings
    explicit cook_novel_host(cook_novel_host_options options = {})
        : options_(options), hosts_(options.max_tasks), tasks_(options.max_tasks) {}

    /// Adds an attempt.
    void observe(attempt const& a) {
        if (a.task == no_task) return;
        task_state* const task = tasks_.insert({a.job, a.stage, a.task});
        if (task == nullptr) return;
        if (a.as == attempt_status::failed)
            ++(a.kind == failure_kind::mea_culpa ? task->mea_culpa : task->failed);
        if (a.as == attempt_status::killed || is_out_for_task(a.node, a.job, a.task, a.stage)) return;
        if (hosts_.insert(host_key(a.node, a.job, a.task, a.stage)) != nullptr) task->nodes.push_back(a.node);
    }
    /// Does nothing: the rule does not depend on time.
    void advance(double) const noexcept {}
    /// Always false.
    [[nodiscard]] static constexpr bool is_out(std::uint32_t) noexcept { return false; }
    /// Whether a task must not run on a node.
    [[nodiscard]] bool is_out_for_task(std::uint32_t node, std::uint64_t job, std::uint64_t task,
                                       std::uint64_t stage = 0) const {
        return hosts_.find(host_key(node, job, task, stage)) != nullptr;
    }
    /// How many of its attempts a task has used up: its failures, counting those caused by the cluster only
    /// beyond the limit.
    [[nodiscard]] std::uint64_t attempts_consumed(std::uint64_t job, std::uint64_t task,
                                                  std::uint64_t stage = 0) const {
        task_state const* const t = tasks_.find({job, stage, task});
        if (t == nullptr) return 0;
        int const limit = options_.disable_mea_culpa_retries ? 0 : options_.mea_culpa_failure_limit;
        if (limit < 0) return t->failed;
        std::uint64_t const free = static_cast<std::uint64_t>(limit);
        return t->failed + (t->mea_culpa > free ? t->mea_culpa - free : 0);
    }
    /// A task is over.
    void forget(std::uint64_t job, std::uint64_t task, std::uint64_t stage = 0) {
        if (task_state const* const t = tasks_.find({job, stage, task}))
            for (std::uint32_t const node : t->nodes) hosts_.erase(host_key(node, job, task, stage));
        tasks_.erase({job, stage, task});
    }
    /// Number of observations dropped for lack of room.
    [[nodiscard]] std::uint64_t refused() const noexcept { return hosts_.refused() + tasks_.refused(); }

  private:
    struct task_state {
        std::uint64_t failed = 0, mea_culpa = 0;
        std::vector<std::uint32_t> nodes; // where it ran
    };
    struct nothing {};
    static detail::failure_key host_key(std::uint32_t node, std::uint64_t job, std::uint64_t task,
                                        std::uint64_t stage) noexcept {
        return {job, stage, task, std::uint64_t{node} + 1};
    }

    cook_novel_host_options options_;
    detail::keyed<nothing> hosts_; // that a task ran on
    detail::keyed<task_state> tasks_;
};

} // namespace straggle::failures
