// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A suspected straggler, in one shape from detectors to assigners: the user's record, the time the task has
/// left, and why it is suspected.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/record/comparison.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// A task that looks like a straggler. `straggler_scan` produces them, `assigner` accepts them unchanged.
///
/// @tparam Row chosen by the user: the index of the task in the range of running tasks, or a pointer to it
/// @tparam TimeLeft a number or a distribution; may be an `outcome`, which says why the time is unknown
template <class Row = std::uint32_t, class TimeLeft = outcome<double>>
struct suspect {
    Row row{};        ///< which task
    TimeLeft left{};  ///< time the task still needs where it runs
    comparison why{}; ///< what was compared, by which rule

    friend constexpr bool operator==(suspect const&, suspect const&) = default;
};

} // namespace straggle
