// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/mitigator.hpp`: converts the caller's records for the loop. Maps names to
/// numbers, puts times on one line, and counts what it rejects.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/mitigate/detail/loop_guard.hpp>
#include <straggle/mitigate/detail/loop_handle.hpp>
#include <straggle/mitigate/detail/node_reader.hpp>
#include <straggle/mitigate/mitigator_counts.hpp>
#include <straggle/mitigate/mitigator_options.hpp>
#include <straggle/record/attempt_reader.hpp>
#include <straggle/record/cluster_load.hpp>
#include <straggle/record/record_reader.hpp>
#include <straggle/record/task_reader.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// All state of a mitigator except its plans, and the intake.
template <class Attempt, class Running, class Node, class AttemptFields, class RunningFields,
          class NodeFields, class NodePart, class CopyPart>
class mitigator_intake {
    static_assert(explain_attempts_that_run<AttemptFields, Attempt, RunningFields, Running>());
    static_assert(explain_nodes<AttemptFields, Attempt, NodeFields, Node>());

  public:
    using time_type = typename own_time<RunningFields, Running>::type;
    using task_reader = detail::task_reader<Running, RunningFields>;
    using node_reader = detail::node_reader<Node, NodeFields>;
    using loop_type = loop_handle<NodePart, CopyPart>;
    using kind_table = typename task_reader::kind_table;
    using job_id = owned_identifier_t<field_value_t<decltype(RunningFields::job), Running>>;
    using job_key = std::conditional_t<text<job_id>, std::string_view, job_id const&>;

  protected:
    // `own`: custom parts.
    template <class... Parts>
    mitigator_intake(AttemptFields attempts, RunningFields running, NodeFields nodes,
                     mitigator_options const& options, Parts&&... own)
        : options_(options),
          attempts_(std::move(attempts), options.hash_key),
          tasks_(std::move(running), options.hash_key),
          fleet_(std::move(nodes), options.most_nodes),
          kinds_(make_table<kind_table>(options.most_nodes)),
          loop_(options, std::forward<Parts>(own)...) {}

    void tell(time_type const& now) {
        if (!line_.is_usable(now)) return;
        if (!line_.is_set()) line_.set_origin(now);
        loop_.guard().tick(line_.at(now));
    }

    // An attempt that ended. False if unusable.
    bool take(Attempt const& attempt) {
        read_ended out;
        if (!attempts_.read(attempt, line_, loop_.guard(), tasks_.races(), counts_.attempts,
                            counts_.other_clock, out,
                            [this](auto const& name) { return this->node_of(name); }))
            return false;
        if constexpr (has_kind<AttemptFields> && has_kind<RunningFields>) {
            auto const& kind = project(attempts_.fields().kind, attempt);
            if (is_present(kind)) out.kind = kind_of(unwrap(kind));
        } else if (auto const* const known = loop_.kind_of(out.attempt.job)) {
            out.kind = *known;
            out.attempt.kind = out.kind == no_index ? 0 : out.kind + std::uint64_t{1};
        }
        return loop_.ended(out.attempt, out.kind);
    }

    // Converts all running attempts and all nodes to rows.
    template <class RunningRange, class Nodes>
    clock_step take_round(time_type const& now, RunningRange& running, Nodes& nodes, cluster_load& load) {
        clock_step const step = begin_round(line_, loop_.guard(), now);
        fleet_.read(nodes, loop_.guard().now());
        counts_.no_room += fleet_.no_room();
        counts_.nodes_refused += fleet_.twice();
        tasks_.read(
            line_.is_usable(now) ? line_.at(now) : unknown, running, line_, loop_.guard(),
            [this](auto const& name) { return this->node_of(name); },
            [this](auto const& name) { return this->kind_of(name); },
            [this](std::uint64_t job) { return loop_.is_left_alone(job); }, counts_.running,
            counts_.other_clock);
        fleet_.count_busy(tasks_.rows());
        if (load.slots == 0) fleet_.count_slots(load);
        return step;
    }

    // A task that is not running yet.
    [[nodiscard]] mitigate::new_task waiting_task(Running const& task) {
        auto const read = tasks_.read_waiting(task, [this](auto const& name) { return this->kind_of(name); });
        return {.job = read.job, .task = read.task, .kind = read.kind, .input = read.input};
    }

    template <class Job>
    [[nodiscard]] std::uint64_t key_of_job(Job const& job) const {
        return key_of(static_cast<job_key>(job), options_.hash_key);
    }

    mitigator_options options_;
    attempt_reader<Attempt, AttemptFields> attempts_;
    time_line<time_type> line_;
    task_reader tasks_;
    node_reader fleet_;
    [[no_unique_address]] kind_table kinds_;
    loop_type loop_;
    mitigate::mitigator_counts counts_;

  private:
    template <class Name>
    std::uint32_t node_of(Name const& name) {
        std::uint32_t const node = fleet_.ids().insert(name, loop_.guard().now());
        if (node == no_index) ++counts_.no_room;
        return node;
    }
    template <class Name>
    std::uint32_t kind_of(Name const& name) {
        return kinds_.insert(name, loop_.guard().now());
    }
};

} // namespace straggle::detail
