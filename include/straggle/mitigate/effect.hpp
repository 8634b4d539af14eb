// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Kinds of action, the effect that one has on a cluster, and how that is measured.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// What a mitigator may advise.
enum class action_kind : std::uint8_t {
    exclusion, ///< a node gets no new tasks
    copy,      ///< a running task gets a second attempt elsewhere
    placement, ///< a new task goes where it ends first
};
/// Number of kinds.
inline constexpr std::size_t action_kind_count = 3;

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(action_kind kind) noexcept {
    constexpr std::array<std::string_view, action_kind_count> names{"exclusion", "copy", "placement"};
    return names[static_cast<std::size_t>(kind)];
}

/// Ratio of the time with a kind of action to the time without: below 1 it helps.
struct effect {
    double value = 1;                                      ///< best estimate
    double low = 0;                                        ///< lower end of the interval
    double high = std::numeric_limits<double>::infinity(); ///< upper end
    std::uint64_t treated = 0;                             ///< observations with the action
    std::uint64_t alone = 0;                               ///< comparable observations without it
    bool is_stopped = false;                               ///< the interval excluded any benefit

    /// The data sufficed for an interval.
    [[nodiscard]] constexpr bool is_known() const noexcept {
        return high < std::numeric_limits<double>::infinity();
    }
    friend constexpr bool operator==(effect const&, effect const&) = default;
};

/// How effects are measured.
struct effect_options {
    double left_alone = 0;      ///< share of the jobs left alone; 0 measures nothing
    std::uint64_t key = 0;      ///< selects these jobs: the same key selects the same jobs; may be random
    double level = 0.95;        ///< confidence level; the interval holds at all times simultaneously
    std::uint64_t least = 20;   ///< observations required on the smaller side
    std::uint64_t most = 20000; ///< observations remembered per kind: beyond, older ones count half
};

} // namespace straggle::mitigate
