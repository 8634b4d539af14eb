// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The state of a node: one value, written by a blacklist and read by all code that places work.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI {

/// The state of a node, from the most work to none.
///
/// | state | new tasks | copies |
/// |---|---|---|
/// | `healthy` | yes | yes |
/// | `last_resort` | if waiting for a healthy slot would take longer | no |
/// | `on_probation` | a few, never the only attempt | probes |
/// | `excluded` | no | no |
/// | `away` | no | no |
enum class node_state : std::uint8_t {
    healthy,      ///< there is no evidence against it
    last_resort,  ///< provably slow, but a limit keeps it in service
    on_probation, ///< its exclusion has ended; it must prove itself on a few slots
    excluded,     ///< gets no work
    away,         ///< absent according to the operator or the cluster
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::record {

/// Number of states.
inline constexpr std::size_t node_state_count = 5;

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI {

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(node_state state) noexcept {
    constexpr std::array<std::string_view, record::node_state_count> names{
        "healthy", "last_resort", "on_probation", "excluded", "away"};
    auto const place = static_cast<std::size_t>(state); // may be read from bytes
    return place < record::node_state_count ? names[place] : std::string_view("unknown");
}

} // namespace straggle
