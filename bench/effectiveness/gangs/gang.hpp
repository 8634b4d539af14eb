// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A job whose ranks wait for each other in each step. If a node is replaced, the job restarts from its last
/// checkpoint. A usual step takes 1.
#pragma once

#include "../cluster/plan.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// One row of the frozen table (gangs.csv).
///
/// | fault | effect |
/// |---|---|
/// | none | none |
/// | for_good | from the first quarter of the job on, one node takes `factor` times as long to compute |
/// | several | three nodes do so from some time on |
/// | link | from the first quarter on, one node takes `factor` times as long to communicate |
/// | episodes | one node is slow for 50 to 150 steps, again and again, a third of the time |
/// | everywhere | all nodes are, in turn: together a third of the time |
/// | brief | the same, for 10 to 40 steps |
/// | skewed_steps | in each step a different rank has `factor` times as much to compute |
/// | skewed_data | one rank has `factor` times as much to compute, on whichever node it runs |
struct gang_scenario {
    std::string name, fault;
    std::uint64_t gangs = 0;
    std::uint32_t ranks = 0, steps = 0, checkpoint = 0;
    double spread = 0, factor = 1, restart = 0;
};

/// @throws std::runtime_error with file and line if it is no such table
std::vector<gang_scenario> read_gangs(std::filesystem::path const& file);

/// What happens in a scenario, except for the policy: the same for a seed everywhere.
struct gang_plan {
    gang_scenario what;
    std::uint64_t seed = 1;
    std::vector<node_spec> nodes; ///< those of the ranks first, then spares
    std::vector<node_spec> links; ///< of each node
};
gang_plan make_gang(gang_scenario const& what, std::uint64_t seed);

/// What a rank reports of a section of a step.
struct step_report {
    std::int64_t step = 0;
    std::uint32_t rank = 0, node = 0;
    std::string_view section;
    double duration = 0, waited = 0;
};

/// A running job. A copy of it runs on independently: the oracle tries both futures.
class gang_job {
  public:
    explicit gang_job(gang_plan const& plan);

    /// Runs a step.
    /// @param reports receives those of all ranks; may be null
    void step(std::vector<step_report>* reports);
    /// Restarts from the last checkpoint with the next spare node for a rank.
    /// @return false if there is no spare
    bool replace(std::uint32_t rank);

    /// Whether the last checkpoint contains all steps so far.
    [[nodiscard]] bool is_saved() const { return at_ % plan_->what.checkpoint == 0; }
    [[nodiscard]] bool over() const { return at_ == plan_->what.steps; }
    [[nodiscard]] double now() const { return now_; }
    [[nodiscard]] std::uint32_t steps_left() const { return plan_->what.steps - at_; }
    [[nodiscard]] double since_checkpoint() const { return is_saved() ? 0 : now_ - saved_; }
    [[nodiscard]] std::uint32_t replaced() const { return replaced_; }
    /// The current slowdown of its node or its link.
    [[nodiscard]] double slowdown_of(std::uint32_t rank) const;

  private:
    [[nodiscard]] double load(std::uint32_t rank) const;

    gang_plan const* plan_;
    std::vector<std::uint32_t> node_of_;    // by rank
    std::vector<std::array<double, 4>> of_; // by rank: time of each section
    double now_ = 0, saved_ = 0;
    std::uint32_t at_ = 0, replaced_ = 0;
};

struct gang_result {
    double time = 0;
    std::uint32_t replaced = 0;
    bool named = false; ///< a rank was called slow
};

/// Runs a job under a policy: "nothing", "library" or "oracle".
gang_result run_gang(gang_plan const& plan, std::string_view policy);

} // namespace lab
