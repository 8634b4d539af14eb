// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: late tasks that may get a copy, passed from the stage that
/// finds them to the stage that prices them.
#pragma once

#include <straggle/assign/job_goal.hpp>
#include <straggle/base/config.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/predict/time_outlook.hpp>
#include <straggle/record/comparison.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/slowdown.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::detail {

// A slowdown shrunk by its uncertainty: 1 where the interval is too wide.
[[nodiscard]] inline double believed(slowdown const& s) noexcept {
    if (!s.is_known() || !(s.value > 0) || !(s.low > 0)) return 1;
    auto const [log, error] = predict::log_factor_of(s);
    double const square = log * log, keep = square > 0 ? 1 - error * error / square : 0.0;
    return keep > 0 ? std::exp(log * keep) : 1.0;
}

[[nodiscard]] inline mitigate::time_range range_of(predict::time_points const& t, double scale) noexcept {
    return {t.quantile(0.1) * scale, t.quantile(0.5) * scale, t.quantile(0.9) * scale};
}

// Whether new tasks may be sent there.
[[nodiscard]] inline bool is_open(mitigate::place_row const& p) noexcept {
    return p.state == node_state::healthy && !p.hung;
}

// A task that may get a copy: it is late, or its job may miss its deadline by it.
struct copy_candidate {
    predict::time_points left;
    std::size_t note; // in the book, or `no_note`
    std::size_t group = 0;
    double age, input_factor, slow; // factor for its input, slowdown of its node
    double of_node = 0;             // probability that its node is slow right now
    double expected = 0;            // net gain on the best node
    comparison why;
    detect::late_cause cause;
    std::uint32_t at;    // index among the running rows
    bool is_late = true; // false: not late for its siblings, but its job may miss its deadline by it
    double others = 1;   // probability that the job's other tasks end before the deadline, copied if need be
};
inline constexpr std::size_t no_note = (std::numeric_limits<std::size_t>::max)();

// The late tasks of one job that may get a copy.
struct candidate_group {
    std::size_t first, last;    // candidates
    predict::time_points fresh; // times of a new task of the job whose factor is 1
    std::uint32_t kind;
    assign::job_goal goal{};
};

// A task that is not late and could try a node.
struct probe_candidate {
    double age;
    std::uint32_t at;
};

} // namespace straggle::detail
