// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Why a decision was made, in one shape for nodes and tasks: what was compared, with what, and by which
/// rule.
#pragma once

#include <straggle/base/config.hpp>

#include <string_view>

namespace straggle::inline STRAGGLE_ABI {

/// The reason behind a decision: `value` was compared with `threshold`; `usual` is the normal value.
///
/// All three are in the unit of the rule: a slowdown, a time, a rate, a score.
struct comparison {
    double value = 0;        ///< what was measured
    double threshold = 0;    ///< the bound it was compared with
    double usual = 0;        ///< the normal value
    std::string_view rule{}; ///< name of the rule; text with static lifetime

    friend constexpr bool operator==(comparison const&, comparison const&) = default;
};

} // namespace straggle
