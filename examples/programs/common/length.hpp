// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Lengths of time as on the command line, and the units of times in files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace program {

/// A day in milliseconds.
inline constexpr std::int64_t day_in_ms = 86'400'000;

/// The unit of the times in a file.
enum class time_unit : std::uint8_t { nanoseconds, microseconds, milliseconds, seconds };

/// `ns`, `us`, `ms` or `s`.
[[nodiscard]] std::string_view to_string(time_unit u);
[[nodiscard]] std::optional<time_unit> unit_named(std::string_view name);
/// How many of them are in a second.
[[nodiscard]] std::int64_t per_second(time_unit u);
/// The unit a column is named after, as in `end_ms`.
[[nodiscard]] std::optional<time_unit> unit_of_column(std::string_view column);

/// The unit that the user gave, or else that of the column; a `failure` if neither is known.
[[nodiscard]] time_unit unit_of_times(std::optional<time_unit> told, std::string const& file,
                                      std::string const& column);

/// `90s`, `1.5h`, `10m` and so on in milliseconds; a `failure` names the option.
[[nodiscard]] std::int64_t parse_length(std::string const& option, std::string_view text);

/// A point in time since 1970 in UTC, in a format of `strftime`; nothing unless it is from 1990 to 2200,
/// since other numbers are not times.
[[nodiscard]] std::optional<std::string> utc_text(double ms, char const* format);

/// `10m` for ten minutes: the largest unit that is exact.
[[nodiscard]] std::string length_text(std::int64_t ms);

} // namespace program
