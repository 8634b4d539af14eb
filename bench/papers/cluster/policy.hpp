// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What the master of the cluster asks of a scheduler, and what it shows it. The engine knows nothing of any
/// policy; a policy knows nothing of the simulator.
#pragma once

#include <cstdint>
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
    double start = 0;
    double end = 0;
    ending how = ending::finished;
    bool copy = false;
    double progress = 1; ///< done at the end
    double input = 1;
    double took() const { return end - start; }
};

/// A running task: the attempt that is furthest, as the last report told.
struct running_view {
    std::uint32_t task = 0;
    std::uint32_t node = 0;
    double start = 0;
    double progress = 0;
    double input = 1;
    std::uint32_t attempts = 1;
    std::vector<std::uint32_t> nodes{}; ///< of all its attempts
};

struct phase_view {
    std::uint32_t job = 0;
    std::uint32_t phase = 0;
    std::uint32_t tasks = 0;   ///< in all
    std::uint32_t waiting = 0; ///< not started yet
    double began = 0;
    std::span<running_view const> running;
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

/// A scheduler's judgement: which machines to avoid, which tasks to copy where.
class policy {
  public:
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
    /// How many first attempts may run on a machine at once.
    virtual std::uint32_t task_slots(std::uint32_t /*node*/, node_view const& view) const {
        return view.slots;
    }
    /// Whether copies are placed before the tasks that wait.
    virtual bool copies_first() const { return false; }
    /// Appends the copies to launch now; those that cannot be (no slot, task over, already there) are
    /// ignored.
    virtual void copies(cluster_view const&, std::vector<copy_request>&) {}
};

} // namespace cluster
