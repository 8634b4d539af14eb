// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Small clusters, and a policy whose decisions a test sets.
#pragma once

#include "../cluster/engine.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lab_checks {

/// A cluster of nodes with one slot of speed 1, and one job of equal tasks at time 0, without luck.
inline lab::plan small_plan(std::size_t nodes, std::size_t tasks, double work) {
    lab::plan p;
    p.nodes.resize(nodes);
    lab::job_spec job;
    job.tasks.assign(tasks, {work, 0});
    p.jobs.push_back(job);
    p.heartbeat = 1;
    return p;
}

/// Records all ends, and returns the decisions that a test has set.
class told final : public lab::policy {
  public:
    std::function<void(lab::cluster_view const&, lab::decisions&)> does{};
    std::function<std::uint32_t(std::span<std::uint32_t const>)> places{};
    std::vector<lab::attempt_record> ended{};

    void on_task_end(lab::attempt_record const& a, double) override { ended.push_back(a); }
    void decide(lab::cluster_view const& view, lab::decisions& out) override {
        if (does) does(view, out);
    }
    std::uint32_t place(lab::waiting_task const&, std::span<std::uint32_t const> free, double) override {
        return places ? places(free) : any;
    }
};

} // namespace lab_checks
