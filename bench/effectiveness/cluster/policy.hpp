// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The interface between the master of the simulated cluster and a policy. The engine knows nothing about
/// policies, and a policy nothing about the engine. Jobs, tasks of a job and nodes are numbered from 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lab {

enum class ending : std::uint8_t {
    finished,
    failed,
    killed, ///< another attempt of the task won, or the policy requested it
    lost,   ///< with its node
};

/// An attempt that has ended.
struct attempt_record {
    std::uint32_t job = 0;
    std::uint32_t task = 0; ///< within the job
    std::uint32_t node = 0;
    std::uint32_t kind = 0;   ///< of the job
    std::uint32_t number = 0; ///< of the task's attempts, from 0
    double start = 0;
    double end = 0;
    double input = 0; ///< 0: unknown
    ending how = ending::finished;
    bool copy = false;
    bool outrun = false; ///< killed because another attempt won
    double took() const { return end - start; }
};

/// An attempt that runs.
struct running_attempt {
    std::uint32_t job = 0;
    std::uint32_t task = 0;
    std::uint32_t node = 0;
    std::uint32_t kind = 0;
    std::uint32_t number = 0;
    std::uint32_t attempts = 1;  ///< running attempts of the task, including this one
    std::uint32_t job_tasks = 0; ///< all tasks of its job
    double start = 0;
    double input = 0;                 ///< 0: unknown
    std::optional<double> progress{}; ///< as last reported, from 0 to 1
    double reported = 0;              ///< when; the start if it has not reported
    bool copy = false;
    std::optional<double> deadline{}; ///< of its job
};

/// A job that has arrived and is not finished.
struct job_view {
    std::uint32_t job = 0;
    std::uint32_t kind = 0;
    std::uint32_t tasks = 0;
    std::uint32_t finished = 0;
    std::uint32_t waiting = 0; ///< tasks without an attempt
    double arrival = 0;
    std::uint32_t first = 0; ///< its attempts are `running[first]` to `running[first + count - 1]`
    std::uint32_t count = 0;
    std::optional<double> deadline{};
};

struct node_view {
    std::uint32_t slots = 0;
    std::uint32_t busy = 0;
    std::uint32_t copies = 0; ///< busy slots that run copies
    std::optional<std::uint32_t> machine_class{};
    std::uint32_t domain = 0;
    bool away = false;
    std::uint32_t free() const { return away ? 0 : slots - busy; }
};

/// The cluster in one round.
struct cluster_view {
    double now = 0;
    std::span<running_attempt const> running; ///< by job in order of arrival; attempts of a task side by side
    std::span<job_view const> jobs;           ///< in order of arrival
    std::span<node_view const> nodes;
    std::uint32_t waiting = 0; ///< tasks without a slot
    bool copies_first = false; ///< copies of this round are placed before those tasks, not after
};

/// What a node gets.
enum class service : std::uint8_t {
    normal,      ///< tasks
    last_resort, ///< tasks, when no other node is free, or `place` chooses it
    copies_only, ///< only what the policy itself places there
    none,        ///< the same, but it counts as out of service
};

struct copy_request {
    std::uint32_t job = 0;
    std::uint32_t task = 0;
    std::uint32_t node = 0;
};
struct kill_request {
    std::uint32_t job = 0;
    std::uint32_t task = 0;
    std::uint32_t node = 0;
};

/// What a policy wants. The engine obeys, as far as slots are free and tasks still run.
struct decisions {
    std::vector<service> nodes; ///< by node; unchanged until the policy changes it
    std::vector<copy_request> copies;
    std::vector<kill_request> kills;
};

/// A task that waits for a slot.
struct waiting_task {
    std::uint32_t job = 0;
    std::uint32_t task = 0;
    std::uint32_t kind = 0;
    double input = 0; ///< 0: unknown
};

/// What no scheduler knows. Only oracles use it.
class truth {
  public:
    truth() = default;
    truth(truth const&) = delete;
    truth& operator=(truth const&) = delete;
    virtual ~truth() = default;
    /// Work per second of a slot of the node now; 0 where all attempts fail.
    virtual double speed(std::uint32_t node) const = 0;
    /// The work of a task, without luck.
    virtual double work(std::uint32_t job, std::uint32_t task) const = 0;
    /// The work that an attempt has done by now.
    virtual double done(running_attempt const& attempt) const = 0;
    /// The remaining work of an attempt, including luck, if its progress reveals it.
    virtual std::optional<double> left(running_attempt const& attempt) const = 0;
    /// Samples of the luck of a job's attempts, sorted.
    virtual std::span<double const> luck(std::uint32_t job) const = 0;
};

/// What a policy claims about a late attempt.
struct cause_claim {
    std::uint32_t job = 0;
    std::uint32_t task = 0;
    std::uint32_t number = 0;
    double now = 0;
    std::array<double, 5> probability{}; ///< of node, input, crowd, kind, itself
    std::array<double, 5> times{};       ///< slowdown due to each
};

class policy {
  public:
    static constexpr std::uint32_t wait = ~std::uint32_t{0};
    static constexpr std::uint32_t any = wait - 1;

    policy() = default;
    policy(policy const&) = delete;
    policy& operator=(policy const&) = delete;
    virtual ~policy() = default;

    /// Called before all else; the truth is valid until the end.
    virtual void on_start(truth const&) {}
    /// The master has learned that an attempt ended.
    virtual void on_task_end(attempt_record const&, double /*now*/) {}
    /// A job is over: nothing of it will be seen again.
    virtual void on_job_end(std::uint32_t /*job*/, double /*now*/) {}
    /// Whether it wants to decide now; false saves the time to collect the view.
    virtual bool is_due(double /*now*/) { return true; }
    /// Once per round: appends copies and kills to do now, and sets what nodes get from now on.
    virtual void decide(cluster_view const&, decisions&) {}
    /// Which of the free nodes a task gets.
    /// @param free never empty, in the order of the cluster, with any service: includes nodes that are out
    /// @return an index into `free`; `any`: a random one with `normal` service, or a last resort if there is
    /// none; or `wait`
    virtual std::uint32_t place(waiting_task const&, std::span<std::uint32_t const> /*free*/,
                                double /*now*/) {
        return any;
    }
    /// Called after all else: why attempts were late, in order of time.
    virtual std::span<cause_claim const> claims() const { return {}; }
};

} // namespace lab
