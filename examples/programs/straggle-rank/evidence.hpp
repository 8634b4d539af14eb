// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Decides on nodes by everything that attempts show: how long they took, how they ended, which failed.
#pragma once

#include "fleet.hpp"

#include <straggle/blacklist/dynamic_blacklist.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace straggle_rank {

/// An attempt of the history, by a clock that starts with it.
struct past_attempt {
    std::uint32_t job = 0, node = 0;
    std::optional<std::uint32_t> task;
    double start = 0, end = 0;
    straggle::attempt_status status = straggle::attempt_status::success;
    double input = 0; ///< how much it had to read; 0 if unknown
};

/// An attempt that runs at a decision, by the same clock.
struct running_attempt {
    std::uint32_t job = 0, node = 0;
    double start = 0;
    double input = 0; ///< how much it has to read; 0 if unknown
};

/// The library's own rule, with the limits of the command line.
class evidence {
  public:
    /// @param attempts that will be observed, or more; 0 if unknown
    /// @param windows_per_error see `straggle::node_stage_options`
    /// @param is_one_class whether all machines are assumed to be equal: a single decision cannot show that
    /// some have always been slower
    evidence(fleet const& f, options const& o, std::size_t attempts, double windows_per_error,
             bool is_one_class = false);
    void observe(past_attempt const& a);
    /// Nothing more will be observed of a job.
    void finish(std::uint32_t job) { list_.finish_job(job); }
    /// Decides by what was observed and what runs; only nodes that were seen are part of the cluster.
    straggle::blacklist_decision<std::uint32_t> const& decide(double now,
                                                              std::span<running_attempt const> running = {});
    [[nodiscard]] straggle::blacklist_decision<std::uint32_t> const& decision() const& {
        return list_.decision();
    }
    [[nodiscard]] straggle::blacklist::failure_rate failures_of(std::uint32_t node) const {
        return list_.failures_of(node);
    }
    [[nodiscard]] straggle::slowdown slowdown_of(std::uint32_t node) const { return list_.slowdown_of(node); }
    [[nodiscard]] straggle::slowdown estimate_of(std::uint32_t node) const { return list_.estimate_of(node); }
    [[nodiscard]] std::vector<straggle::blacklist::failing_job> failing_jobs() const {
        return list_.failing_jobs();
    }
    /// The key of a job in `failing_jobs`.
    [[nodiscard]] std::uint64_t key_of_job(std::uint32_t job) const { return list_.key_of_job(job); }
    /// Attempts whose job was over before a sibling ended on another node.
    [[nodiscard]] std::uint64_t not_compared() const { return list_.decisions().counts().not_compared; }
    /// How long a task usually takes; 0 if nothing is known.
    [[nodiscard]] double usual_duration() const { return list_.decisions().usual_duration(); }

  private:
    struct known_node {
        std::uint32_t id = 0, slots = 1;
        std::uint32_t domain = 0;
        std::optional<std::uint32_t> machine_class{};
        std::uint32_t busy = 0; ///< a history shows who is to blame: the capacity of others does not matter
    };
    static constexpr straggle::attempt_fields attempt_fields{.job = &past_attempt::job,
                                                             .task = &past_attempt::task,
                                                             .node = &past_attempt::node,
                                                             .start = &past_attempt::start,
                                                             .end = &past_attempt::end,
                                                             .status = &past_attempt::status,
                                                             .input = &past_attempt::input};
    static constexpr straggle::running_fields running_fields{.job = &running_attempt::job,
                                                             .node = &running_attempt::node,
                                                             .start = &running_attempt::start,
                                                             .input = &running_attempt::input};
    static constexpr straggle::node_fields node_fields{.node = &known_node::id,
                                                       .slots = &known_node::slots,
                                                       .busy = &known_node::busy,
                                                       .machine_class = &known_node::machine_class,
                                                       .domain = &known_node::domain};
    void see(std::uint32_t node);

    bool is_one_class_;
    std::vector<std::uint32_t> slots_, domains_; // by node
    std::vector<known_node> seen_;
    std::vector<bool> is_seen_;
    straggle::dynamic_blacklist<past_attempt, std::remove_const_t<decltype(attempt_fields)>, running_attempt,
                                std::remove_const_t<decltype(running_fields)>, known_node,
                                std::remove_const_t<decltype(node_fields)>>
        list_;
};

/// Decides once on a whole history.
struct whole_evidence {
    straggle::blacklist_decision<std::uint32_t> decision;
    std::vector<straggle::slowdown> slowdowns;                  ///< by node
    std::vector<straggle::slowdown> estimates;                  ///< by node, also from very little
    std::vector<straggle::blacklist::failure_rate> failures;    ///< by node
    std::vector<straggle::blacklist::failing_job> failing_jobs; ///< `job` is its number
    bool ends_coincide = false;     ///< the tasks of jobs end together, and the history has no waits
    std::uint64_t not_compared = 0; ///< attempts without a sibling elsewhere
    double usual_duration = 0;      ///< in the unit of the history
};
/// @param last_use whether the attempts of the history will not be used again: they are freed as soon as
/// possible
[[nodiscard]] whole_evidence weigh(history& h, fleet const& f, options const& o, bool last_use);

} // namespace straggle_rank
