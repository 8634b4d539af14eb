// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One attempt of a task, as an actor on its machine: reads, fetches, computes, writes, and can be stopped.
#pragma once

#include "machines.hpp"
#include "policy.hpp"

#include <simgrid/s4u.hpp>

#include <cstdint>

namespace cluster {

class attempt {
  public:
    /// Starts it at once. @param from the machine it fetches from
    attempt(plan const& what, task_spec const& work, machine const& on, machine const& from,
            attempt_record const& who);
    attempt(attempt const&) = delete;
    attempt& operator=(attempt const&) = delete;

    /// Whether it has ended.
    bool over() const { return over_; }
    /// The time at which it ended.
    double end() const { return end_; }
    /// The share of its work that is done, by the time each part takes on an idle machine.
    double progress() const;
    /// The progress that it last reported to the master, at every `report_interval`.
    double reported(double now);
    /// The time of that report; the start if there was none.
    double reported_at() const { return told_at_; }
    void kill();
    attempt_record const& who() const { return who_; }

  private:
    enum part : std::size_t { reading, fetching, computing, writing, parts };
    void work(task_spec const& todo, machine const& on, machine const& from, double launch, bool from_disk);

    attempt_record who_;
    double share_[parts] = {}; // of the whole
    std::size_t part_ = 0;     // the current one
    double size_ = 0;          // of the current part
    simgrid::s4u::ActivityPtr activity_;
    simgrid::s4u::CommPtr sent_; // beside the activity: what it fetches while that is read
    simgrid::s4u::ActorPtr actor_;
    double interval_, next_report_, told_ = 0, told_at_;
    bool over_ = false;
    double end_ = 0;
};

} // namespace cluster
