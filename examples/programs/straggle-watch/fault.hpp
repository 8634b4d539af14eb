// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The possible faults of a line, in the words of the protocol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle_watch {

enum class fault : std::uint8_t {
    none,
    not_json,
    not_an_object,
    too_long,
    no_event,
    unknown_event,
    unknown_protocol,
    missing_member,
    bad_value,
    unknown_attempt,
    unknown_node,
    no_room,
    no_clock,
    closed_step,
};
inline constexpr std::size_t fault_count = 14;

[[nodiscard]] constexpr std::string_view to_string(fault f) noexcept {
    constexpr std::array<std::string_view, fault_count> names{
        "none",          "not_json",         "not_an_object",  "too_long",   "no_event",
        "unknown_event", "unknown_protocol", "missing_member", "bad_value",  "unknown_attempt",
        "unknown_node",  "no_room",          "no_clock",       "closed_step"};
    return names[static_cast<std::size_t>(f)];
}

/// The fault, and its member.
struct line_fault {
    fault what = fault::none;
    std::string_view detail{}; ///< lives as long as the program
};

} // namespace straggle_watch
