// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The late rule of a mitigator as a detector of a replay. It needs more than a view of a job: which tasks
/// are the same across looks, other jobs, and the nodes. So a mitigator decides over the history first.
#pragma once

#include "history.hpp"

#include <straggle/detect/suspect_list.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle_replay {

/// Its name on the command line.
inline constexpr std::string_view mitigator_rule_name = "mitigator";

class mitigator_rule {
  public:
    /// Decides over the history, at the looks of the replay, without any of the future.
    /// @param interval between two looks; 0: at every event
    mitigator_rule(history const& h, moment interval);

    /// The tasks of a job that were suspects by then.
    straggle::detect::suspect_list<> operator()(straggle::detect::job_view const& job);

  private:
    struct named {
        double age = -1;          // of the attempt when it was first a suspect; negative: it never was
        std::uint32_t original{}; // the row of its task's original
        double later = 0;         // how much later than that it began
    };
    std::vector<named> rows_;
    std::vector<straggle::detect::finding> found_;
};

} // namespace straggle_replay
