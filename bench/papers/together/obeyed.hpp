// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Lets a policy of the laboratory (`bench/effectiveness`) drive the cluster on SimGrid, which obeys it as
/// the laboratory's own does. What is a job there is a phase here: its tasks may run at the same time.
#pragma once

#include "../../effectiveness/policies/make_policy.hpp"
#include "../cluster/plan.hpp"
#include "../cluster/policy.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace together {

class obeyed final : public cluster::policy {
  public:
    /// What a node gets from a time on.
    struct change {
        double from = 0;
        std::uint32_t node = 0;
        lab::service to = lab::service::normal;
    };

    /// @param name of a policy that does not use the truth: any but the oracle
    /// @throws std::runtime_error if there is no such policy
    obeyed(std::string_view name, cluster::plan const& where, std::uint64_t seed);

    /// All of them, in order of time; before the first every node gets `normal`.
    std::span<change const> changes() const { return changes_; }

    void ended(cluster::attempt_record const& a, double now) override;
    void phase_over(std::uint32_t phase) override { decides_->on_job_end(phase, now_); }
    void round(double now) override { now_ = now; }
    bool avoids(std::uint32_t node) const override;
    bool is_last_resort(std::uint32_t node) const override;
    std::size_t place_task(cluster::waiting_task const& t, std::span<std::uint32_t const> free,
                           double now) override;
    void step(cluster::cluster_view const& view, cluster::requests& out) override;

  private:
    void look(cluster::cluster_view const& view);
    void note_changes();

    std::unique_ptr<lab::policy> decides_;
    double now_ = 0;
    lab::decisions wants_;
    std::vector<lab::service> before_; // by node
    std::vector<change> changes_;
    std::vector<lab::running_attempt> running_;
    std::vector<lab::job_view> jobs_;
    std::vector<lab::node_view> nodes_;
};

} // namespace together
