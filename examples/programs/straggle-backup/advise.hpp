// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which tasks are late, and is a copy worthwhile? Connects the files with the library.
#pragma once

#include "cluster.hpp"
#include "lessons.hpp"
#include "remaining.hpp"

#include <straggle/assign/backup_plan.hpp>
#include <straggle/detect/detector.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace straggle_backup {

/// An uncertain time, in seconds: [low, high] contains it with 80 %.
struct time_range {
    double low = 0, median = 0, high = 0;
    std::size_t samples = 0;
};

/// A node for a copy.
struct candidate {
    std::size_t node = 0; ///< its place in the cluster
    time_range time{};    ///< of a copy, without its launch
    straggle::assign::backup_value value{};
    std::optional<straggle::assign::backup_refusal> refusal{}; ///< why it is unsuitable in any case
};

/// The advice about one suspect.
struct advice {
    std::uint32_t job = 0;
    running_task const* task = nullptr;
    double elapsed = 0;
    std::optional<double> usual{};                            ///< time on a good node
    straggle::comparison why{};                               ///< the detector's
    std::optional<time_range> left{};                         ///< its remaining time where it runs
    basis from = basis::similar;                              ///< the basis of that estimate
    double next_slowest = 0;                                  ///< time left to the job without it
    bool launch = false;                                      ///< a copy, on `best`
    std::optional<straggle::assign::backup_refusal> reason{}; ///< why not
    std::string_view refused_by{};                            ///< the limit, if a limit refused it
    std::optional<candidate> best{}, runner_up{};
    straggle::assign::node_counts nodes{}; ///< as candidates
};

/// The whole advice.
struct advised {
    std::vector<advice> suspects{}; ///< copies first, by profit; then the others, the latest to end first
    std::uint64_t copies = 0;
    double profit = 0;
    std::vector<straggle::assign::limit_refusals> limits{};
    straggle::assign::node_counts nodes{};
    bool storm = false;      ///< too many suspects
    std::uint64_t tasks = 0; ///< of the running jobs: running and finished; suspects are a share of these
    double copy_limit = 0;   ///< slots that copies may take in all
    std::size_t rounds = 0;  ///< rounds of decisions until nothing changed
};

/// Decides. @param c receives how slow its nodes are
[[nodiscard]] advised advise(options const& o, history const& past, snapshot const& now, cluster& c,
                             time_model& model);

} // namespace straggle_backup
