// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The interface between the master of the cluster and a scheduler. The engine knows nothing about policies,
/// and a policy nothing about the simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cluster {

enum class ending : std::uint8_t { finished, killed };

/// An attempt that has ended.
struct attempt_record {
    std::uint32_t job = 0;
    std::uint32_t phase = 0; ///< of the whole run: every phase of every job has a number of its own
    std::uint32_t task = 0;  ///< within the phase
    std::uint32_t node = 0;
    std::uint32_t kind = 0;   ///< the same for all phases of one work: the n-th of jobs of one kind
    std::uint32_t number = 0; ///< of the task's attempts, from 0
    double start = 0;
    double end = 0;
    ending how = ending::finished;
    bool copy = false;
    bool outrun = false; ///< killed because another attempt won
    double progress = 1; ///< done at the end
    double input = 1;
    double took() const { return end - start; }
};

/// A running task: its most advanced attempt, as last reported.
struct running_view {
    std::uint32_t task = 0;
    std::uint32_t node = 0;
    double start = 0;
    double progress = 0;
    double input = 1;
    std::uint32_t attempts = 1;
    std::vector<std::uint32_t> nodes{}; ///< of all its attempts
};

/// A running attempt.
struct attempt_view {
    attempt_record who{};             ///< everything except its end
    std::optional<double> progress{}; ///< as last reported
    double reported = 0;              ///< when; the start if it has not reported
};

struct phase_view {
    std::uint32_t job = 0;
    std::uint32_t phase = 0;
    std::uint32_t kind = 0;
    std::uint32_t tasks = 0; ///< in all
    std::uint32_t finished = 0;
    std::uint32_t waiting = 0; ///< without an attempt
    double began = 0;
    std::span<running_view const> running;
    std::span<attempt_view const> attempts; ///< those of a task side by side
};

struct node_view {
    std::uint32_t slots = 0;
    std::uint32_t used = 0;   ///< tasks and copies
    std::uint32_t copies = 0; ///< of the used
    std::uint32_t free() const { return slots - used; }
};

struct cluster_view {
    double now = 0;
    std::span<phase_view const> phases;
    std::span<node_view const> nodes;
    std::uint32_t waiting = 0; ///< tasks without a slot, of all jobs
};

struct copy_request {
    std::uint32_t phase = 0;
    std::uint32_t task = 0;
    std::uint32_t node = 0;
    bool kill = false; ///< stop the attempts that run, as the copy starts
};
struct kill_request {
    std::uint32_t phase = 0;
    std::uint32_t task = 0;
    std::uint32_t node = 0;
};

/// What is to be done in a round. Requests that cannot be met (no slot, the task is over, the attempt is
/// gone) are ignored.
struct requests {
    std::vector<copy_request> copies{};
    std::vector<kill_request> kills{}; ///< after the copies; a task without an attempt waits again
};

/// A task that waits for a slot.
struct waiting_task {
    std::uint32_t job = 0;
    std::uint32_t phase = 0;
    std::uint32_t task = 0;
    std::uint32_t kind = 0;
    double input = 1;
};

/// A scheduler's judgment: which machines to avoid, which tasks to copy where.
class policy {
  public:
    static constexpr std::size_t wait = ~std::size_t{0};

    policy() = default;
    policy(policy const&) = delete;
    policy& operator=(policy const&) = delete;
    virtual ~policy() = default;

    /// An attempt has ended, as the master learns of it.
    virtual void ended(attempt_record const&, double /*now*/) {}
    /// A phase is over: nothing of it will be seen again.
    virtual void phase_over(std::uint32_t /*phase*/) {}
    /// A round begins.
    virtual void round(double /*now*/) {}
    /// Whether a machine gets no first attempts.
    virtual bool avoids(std::uint32_t /*node*/) const { return false; }
    /// Whether a machine gets first attempts only when no other is free.
    virtual bool is_last_resort(std::uint32_t /*node*/) const { return false; }
    /// How many first attempts may run on a machine at once.
    virtual std::uint32_t task_slots(std::uint32_t /*node*/, node_view const& view) const {
        return view.slots;
    }
    /// Which of the free machines a task gets.
    /// @param free never empty, in random order, all of last resort or none
    /// @return an index into `free`, or `wait`: its phase is passed over in this round
    virtual std::size_t place_task(waiting_task const&, std::span<std::uint32_t const> /*free*/,
                                   double /*now*/) {
        return 0;
    }
    /// Whether the step of a round comes before the tasks that wait are placed.
    virtual bool copies_first() const { return false; }
    /// Once per round: appends what to do now.
    virtual void step(cluster_view const& view, requests& out) { copies(view, out.copies); }
    /// For schedulers that do nothing but copy: appends the copies to launch now.
    virtual void copies(cluster_view const&, std::vector<copy_request>&) {}
};

} // namespace cluster
