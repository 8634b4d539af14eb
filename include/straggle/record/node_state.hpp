// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Where a node stands: one word, which a blacklist writes and whatever places work reads.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI {

/// Where a node stands, from the most work to none.
///
/// | state | new tasks | copies |
/// |---|---|---|
/// | `healthy` | yes | yes |
/// | `last_resort` | where waiting for a healthy slot would take longer | no |
/// | `on_probation` | a few, never the only attempt | probes |
/// | `excluded` | no | no |
/// | `away` | no | no |
enum class node_state : std::uint8_t {
    healthy,      ///< nothing is held against it
    last_resort,  ///< provably slow, but a limit keeps it in service
    on_probation, ///< its exclusion is over; it has to prove itself on a few slots
    excluded,     ///< gets no work
    away,         ///< the operator or the cluster says that it is not there
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::record {

/// How many states there are.
inline constexpr std::size_t node_state_count = 5;

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI {

/// The name of a state as it stands in the source, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(node_state state) noexcept {
    constexpr std::array<std::string_view, record::node_state_count> names{
        "healthy", "last_resort", "on_probation", "excluded", "away"};
    auto const place = static_cast<std::size_t>(state); // may come from bytes
    return place < record::node_state_count ? names[place] : std::string_view("unknown");
}

} // namespace straggle
