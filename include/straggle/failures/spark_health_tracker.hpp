// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Spark's exclusion of executors and nodes on failure: for a task, a stage and the application.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/failures/attempt.hpp>
#include <straggle/failures/detail/keyed.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::failures {

/// Spark's settings, all of them `spark.excludeOnFailure...`; before version 3.1 `spark.blacklist...`.
struct spark_health_tracker_options {
    double timeout = 3600;                                       ///< length of an exclusion in seconds
    std::uint32_t task_max_task_attempts_per_executor = 1;       ///< failures of a task on an executor
    std::uint32_t task_max_task_attempts_per_node = 2;           ///< failures of a task on a node
    std::uint32_t stage_max_failed_tasks_per_executor = 2;       ///< distinct tasks of a stage
    std::uint32_t stage_max_failed_executors_per_node = 2;       ///< excluded for the same stage
    std::uint32_t application_max_failed_tasks_per_executor = 2; ///< within `timeout`, in successful stages
    std::uint32_t application_max_failed_executors_per_node = 2; ///< excluded at the same time
    bool application_fetch_failure_enabled = false;              ///< a fetch failure excludes at once
    bool kill_excluded_executors = false;                        ///< report excluded executors to be killed
    std::size_t max_failures = 1 << 20; ///< limit on distinct failed tasks per executor
    std::uint32_t max_nodes = 1 << 20;  ///< limit on nodes, and on executors, remembered
};

/// Three independent rules. An executor or node where one task failed too often does not get that task again;
/// one where too many tasks of a stage failed gets no task of that stage; and once a stage has succeeded, its
/// failures count for the application, for a time that starts with the failure, not with the end of the
/// stage. Failures of failed stages never count there, and successes do not offset failures.
///
/// Source: Spark 3.5, `HealthTracker` and `TaskSetExcludelist`. All attempts of a stage count as that stage.
/// Without executors, the node is its only one: then `..._failed_executors_per_node` must be 1 to exclude
/// nodes.
/// @par Cost
/// `observe` O(1) expected; `end_stage` O(its failures and those of its executors that count); `advance`
/// O(nodes and executors) when something has expired
class spark_health_tracker {
  public:
    static constexpr std::string_view name = "spark_health_tracker";

    /// @param options settings
    explicit spark_health_tracker(spark_health_tracker_options const& options = {})
        : options_(options),
          tasks_(options.max_failures),
          on_nodes_(options.max_failures),
          stage_executors_(options.max_failures),
          stage_nodes_(options.max_failures),
          stages_(options.max_failures),
          executors_(options.max_nodes),
          nodes_(options.max_nodes) {}

    /// Adds an attempt.
    void observe(attempt const& a) {
        if (a.as != attempt_status::failed || a.kind == failure_kind::mea_culpa) return;
        std::uint64_t const e = executor_key(a.executor, a.node);
        stage_state* const stage = stages_.insert({a.job, a.stage});
        failures* const here = tasks_.insert({a.job, a.stage, a.task, e});
        counted* const there = on_nodes_.insert({a.job, a.stage, a.task, std::uint64_t{a.node} + 1});
        stage_executor* const executor = stage_executors_.insert({a.job, a.stage, e});
        counted* const node = stage_nodes_.insert({a.job, a.stage, std::uint64_t{a.node} + 1});
        if (stage == nullptr || here == nullptr || there == nullptr || executor == nullptr || node == nullptr)
            return;
        ++there->times;
        here->last = (std::max)(here->last, a.end);
        if (here->times++ > 0) return;
        stage->failed.push_back({e, a.task, a.node});
        if (++executor->failed_tasks == options_.stage_max_failed_tasks_per_executor) ++node->times;
    }

    /// A stage is over. If it succeeded, its failures count for the application.
    void end_stage(std::uint64_t job, std::uint64_t stage, bool succeeded, double now) {
        advance(now);
        stage_state* const s = stages_.find({job, stage});
        if (s == nullptr) return;
        if (succeeded) {
            for (failed_task const& f : s->failed)
                if (executor_state* const e = executors_.insert({f.executor})) {
                    double const expiry =
                        tasks_.find({job, stage, f.task, f.executor})->last + options_.timeout;
                    e->expiries.push_back(expiry);
                    e->earliest = (std::min)(e->earliest, expiry);
                }
            for (failed_task const& f : s->failed)
                if (executor_state* const e = executors_.find({f.executor})) {
                    drop_before(*e, now);
                    if (e->expiries.size() >= options_.application_max_failed_tasks_per_executor &&
                        !e->is_excluded)
                        exclude_executor(*e, f.executor, f.node, now);
                }
        }
        for (failed_task const& f : s->failed) {
            tasks_.erase({job, stage, f.task, f.executor});
            on_nodes_.erase({job, stage, f.task, std::uint64_t{f.node} + 1});
            stage_executors_.erase({job, stage, f.executor});
            stage_nodes_.erase({job, stage, std::uint64_t{f.node} + 1});
        }
        stages_.erase({job, stage});
    }

    /// The output of an executor could not be fetched. If an external shuffle service serves a whole node,
    /// the node is excluded, otherwise the executor; nothing unless enabled.
    void observe_fetch_failure(std::uint32_t node, std::uint32_t executor, bool has_shuffle_service,
                               double now) {
        if (!options_.application_fetch_failure_enabled) return;
        advance(now);
        if (has_shuffle_service) {
            exclude_node(node, now);
            return;
        }
        executor_state* const e = executors_.insert({executor_key(executor, node)});
        if (e != nullptr && !e->is_excluded) exclude_executor(*e, executor_key(executor, node), node, now);
    }

    /// Ends expired exclusions. Their nodes restart: their earlier failures have expired as well.
    void advance(double now) {
        if (!(now > next_expiry_)) return;
        next_expiry_ = never;
        executors_.for_each([&](executor_state& e) {
            if (!e.is_excluded) return;
            if (e.until < now) {
                e.is_excluded = false;
                if (node_entry* const n = nodes_.at(e.node); n != nullptr && n->excluded_executors > 0)
                    --n->excluded_executors;
            } else {
                next_expiry_ = (std::min)(next_expiry_, e.until);
            }
        });
        for (node_entry& n : nodes_.all()) {
            if (n.is_excluded && n.until < now)
                n.is_excluded = false;
            else if (n.is_excluded)
                next_expiry_ = (std::min)(next_expiry_, n.until);
        }
    }

    /// Whether a node gets no work of the application.
    [[nodiscard]] bool is_out(std::uint32_t node) const noexcept {
        node_entry const* const n = nodes_.find(node);
        return n != nullptr && n->is_excluded;
    }
    /// Whether an executor gets no work of the application.
    /// @param executor as in attempts
    /// @param node its node; used if attempts have no executors
    [[nodiscard]] bool is_executor_out(std::uint32_t executor, std::uint32_t node = 0) const {
        executor_state const* const e = executors_.find({executor_key(executor, node)});
        return e != nullptr && e->is_excluded;
    }
    /// End of a node's exclusion; 0 if it is not out.
    [[nodiscard]] double until(std::uint32_t node) const noexcept {
        return is_out(node) ? nodes_.find(node)->until : 0.0;
    }
    /// Whether a node gets no task of a stage.
    [[nodiscard]] bool is_out_for_stage(std::uint32_t node, std::uint64_t job, std::uint64_t stage) const {
        counted const* const n = stage_nodes_.find({job, stage, std::uint64_t{node} + 1});
        return n != nullptr && n->times >= options_.stage_max_failed_executors_per_node;
    }
    /// Whether an executor gets no task of a stage.
    [[nodiscard]] bool is_executor_out_for_stage(std::uint32_t executor, std::uint64_t job,
                                                 std::uint64_t stage, std::uint32_t node = 0) const {
        stage_executor const* const e = stage_executors_.find({job, stage, executor_key(executor, node)});
        return e != nullptr && e->failed_tasks >= options_.stage_max_failed_tasks_per_executor;
    }
    /// Whether a node must not get this task again.
    [[nodiscard]] bool is_out_for_task(std::uint32_t node, std::uint64_t job, std::uint64_t stage,
                                       std::uint64_t task) const {
        counted const* const n = on_nodes_.find({job, stage, task, std::uint64_t{node} + 1});
        return n != nullptr && n->times >= options_.task_max_task_attempts_per_node;
    }
    /// Whether an executor must not get this task again.
    [[nodiscard]] bool is_executor_out_for_task(std::uint32_t executor, std::uint64_t job,
                                                std::uint64_t stage, std::uint64_t task,
                                                std::uint32_t node = 0) const {
        failures const* const f = tasks_.find({job, stage, task, executor_key(executor, node)});
        return f != nullptr && f->times >= options_.task_max_task_attempts_per_executor;
    }
    /// An executor to kill.
    struct kill {
        std::uint32_t executor = no_executor; ///< `no_executor`: all executors of the node
        std::uint32_t node = 0;               ///< its node
    };
    /// Executors, and nodes with all their executors, excluded since `forget_kills`, if they are to be
    /// killed.
    [[nodiscard]] std::span<kill const> kills() const noexcept { return kills_; }
    /// Clears the list after the executors have been killed.
    void forget_kills() noexcept { kills_.clear(); }
    /// Number of observations dropped for lack of room.
    [[nodiscard]] std::uint64_t refused() const noexcept {
        return tasks_.refused() + on_nodes_.refused() + stage_executors_.refused() + stage_nodes_.refused() +
               stages_.refused() + executors_.refused() + nodes_.refused();
    }

  private:
    static constexpr double never = (std::numeric_limits<double>::max)();

    struct counted {
        std::uint32_t times = 0;
    };
    struct failures {
        std::uint32_t times = 0;
        double last = std::numeric_limits<double>::lowest();
    };
    struct failed_task {
        std::uint64_t executor = 0, task = 0;
        std::uint32_t node = 0;
    };
    struct stage_executor {
        std::uint32_t failed_tasks = 0;
    };
    struct stage_state {
        std::vector<failed_task> failed;
    };
    struct executor_state {
        std::vector<double> expiries; // of counted failures
        double earliest = never;      // the earliest of them
        double until = 0;
        std::uint32_t node = 0;
        bool is_excluded = false;
    };
    struct node_entry {
        double until = 0;
        std::uint32_t excluded_executors = 0;
        bool is_excluded = false;
    };

    // Keys of executors, distinct from those of nodes without executors.
    static constexpr std::uint64_t executor_key(std::uint32_t executor, std::uint32_t node) noexcept {
        return executor == no_executor ? (std::uint64_t{1} << 32) + node : executor;
    }
    void drop_before(executor_state& e, double now) {
        if (!(e.earliest < now)) return;
        e.earliest = never;
        std::size_t kept = 0;
        for (double const expiry : e.expiries)
            if (!(expiry < now)) {
                e.earliest = (std::min)(e.earliest, expiry);
                e.expiries[kept++] = expiry;
            }
        e.expiries.resize(kept);
    }
    void exclude_executor(executor_state& e, std::uint64_t key, std::uint32_t node, double now) {
        e.is_excluded = true;
        e.until = now + options_.timeout;
        e.node = node;
        next_expiry_ = (std::min)(next_expiry_, e.until);
        if (options_.kill_excluded_executors)
            kills_.push_back({key >> 32 != 0 ? no_executor : static_cast<std::uint32_t>(key), node});
        node_entry* const n = nodes_.at(node);
        if (n == nullptr) return;
        if (++n->excluded_executors >= options_.application_max_failed_executors_per_node && !n->is_excluded)
            exclude_node(node, now);
    }
    void exclude_node(std::uint32_t node, double now) {
        node_entry* const n = nodes_.at(node);
        if (n == nullptr || n->is_excluded) return;
        n->is_excluded = true;
        n->until = now + options_.timeout;
        next_expiry_ = (std::min)(next_expiry_, n->until);
        if (options_.kill_excluded_executors) kills_.push_back({no_executor, node});
    }

    spark_health_tracker_options options_;
    detail::keyed<failures> tasks_;                 // by stage, task and executor
    detail::keyed<counted> on_nodes_;               // by stage, task and node
    detail::keyed<stage_executor> stage_executors_; // by stage and executor
    detail::keyed<counted> stage_nodes_;            // by stage and node: executors excluded
    detail::keyed<stage_state> stages_;
    detail::keyed<executor_state> executors_;
    detail::by_node<node_entry> nodes_;
    std::vector<kill> kills_;
    double next_expiry_ = never;
};

} // namespace straggle::failures
