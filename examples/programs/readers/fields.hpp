// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Times, numbers and fields of text, as the engines write them.
#pragma once

#include "history.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace readers {

/// 126 years: as far as times may be from the origin, so that two of them can be subtracted.
inline constexpr std::int64_t latest_ns = 4'000'000'000'000'000'000;

/// A count of units of so many nanoseconds; nothing beyond `latest_ns`, or before the origin.
[[nodiscard]] inline std::optional<moment> time_of(std::int64_t count, std::int64_t unit_ns) {
    if (count < 0 || count > latest_ns / unit_ns) return std::nullopt;
    return moment(count * unit_ns);
}
[[nodiscard]] inline std::optional<moment> ms_time(std::int64_t ms) {
    return time_of(ms, 1'000'000);
}
/// Seconds as a floating number, rounded to nanoseconds.
[[nodiscard]] std::optional<moment> seconds_time(double seconds);
/// Seconds as text with any number of decimal places, exact to the nanosecond.
[[nodiscard]] std::optional<moment> seconds_time(std::string_view text);

/// The whole text is a whole number.
[[nodiscard]] inline std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// A date of the calendar in days since 1970; nothing for what is no date from 1970 to 2096.
[[nodiscard]] std::optional<std::int64_t> days_of(int year, int month, int day);

/// `2026-11-22T15:40:51`, with a blank instead of the T, with `.123` and with a zone (`Z`, `+0100`, `+01:00`)
/// as may be. Without a zone the time is that of UTC.
/// @param zoned whether there was a zone
[[nodiscard]] std::optional<moment> iso_time(std::string_view text, bool* zoned = nullptr);

[[nodiscard]] inline std::string_view trimmed(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    return s;
}

/// The first word of a text, taken off it.
inline std::string_view take_word(std::string_view& rest, char separator = ' ') {
    std::size_t const end = rest.find(separator);
    std::string_view const word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return word;
}

/// The fields of a line; their number is returned in their vector.
inline void split(std::string_view line, char separator, std::vector<std::string_view>& fields) {
    fields.clear();
    std::size_t first = 0;
    for (std::size_t at = 0; at < line.size(); ++at) { // fields are short: a search for each costs more
        if (line[at] != separator) continue;
        fields.push_back(line.substr(first, at - first));
        first = at + 1;
    }
    fields.push_back(line.substr(first));
}

/// Where a column is in a header, if it is there.
[[nodiscard]] inline std::optional<std::size_t> column_of(std::vector<std::string_view> const& header,
                                                          std::string_view name) {
    for (std::size_t i = 0; i < header.size(); ++i)
        if (trimmed(header[i]) == name) return i;
    return std::nullopt;
}

} // namespace readers
