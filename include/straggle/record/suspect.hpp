// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A task that is held to be a straggler, in one shape from detectors to assigners: the user's record, what
/// is left of the task, and why.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/record/comparison.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// A task that looks like a straggler. `straggler_scan` names them, `assigner` takes them as they are.
///
/// @tparam Row the user's own: the place of the task in the range of running tasks, or a pointer to it there
/// @tparam TimeLeft a number, or a distribution; may be an `outcome`, which says why it is not known
template <class Row = std::uint32_t, class TimeLeft = outcome<double>>
struct suspect {
    Row row{};        ///< which task
    TimeLeft left{};  ///< what the task still takes where it runs
    comparison why{}; ///< what was compared, by which rule

    friend constexpr bool operator==(suspect const&, suspect const&) = default;
};

} // namespace straggle
