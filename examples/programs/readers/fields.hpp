// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Times, numbers and fields of text, as the engines write them.
#pragma once

#include "../common/number.hpp"
#include "history.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace readers {

/// 126 years: the largest distance from the origin, so that two times can be subtracted.
inline constexpr std::int64_t latest_ns = 4'000'000'000'000'000'000;

/// A count of units of `unit_ns` nanoseconds; nothing beyond `latest_ns`, or before the origin.
[[nodiscard]] inline std::optional<moment> time_of(std::int64_t count, std::int64_t unit_ns) {
    if (count < 0 || count > latest_ns / unit_ns) return std::nullopt;
    return moment(count * unit_ns);
}
[[nodiscard]] inline std::optional<moment> ms_time(std::int64_t ms) {
    return time_of(ms, 1'000'000);
}
/// Seconds as a floating-point number, rounded to nanoseconds.
[[nodiscard]] std::optional<moment> seconds_time(double seconds);
/// Seconds as text with any number of decimal places, exact to the nanosecond.
[[nodiscard]] std::optional<moment> seconds_time(std::string_view text);

/// The whole text as a whole number.
[[nodiscard]] inline std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    if (program::read_whole(text, value)) return value;
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// A calendar date in days since 1970; nothing unless it is a date from 1970 to 2096.
[[nodiscard]] std::optional<std::int64_t> days_of(int year, int month, int day);

/// `2026-11-22T15:40:51`, possibly with a blank instead of the T, with `.123` and with a zone (`Z`, `+0100`,
/// `+01:00`). Without a zone the time is in UTC.
/// @param zoned whether there was a zone
[[nodiscard]] std::optional<moment> iso_time(std::string_view text, bool* zoned = nullptr);

/// Reads times in the form of `iso_time`. Many times of a log are in the same hour, so the result for the
/// beginning is kept.
class iso_clock {
  public:
    /// As `iso_time` reads it.
    std::optional<moment> read(std::string_view text, bool* zoned = nullptr) {
        constexpr std::size_t hour_size = 14, whole_size = 19; // 2026-11-22T15: and 2026-11-22T15:40:51
        if (text.size() < whole_size || hour_.size() != hour_size ||
            std::memcmp(text.data(), hour_.data(), hour_size) != 0)
            return read_slowly(text, zoned);
        auto const minute = two_digits(text.data() + 14), second = two_digits(text.data() + 17);
        if (minute > 59 || second > 60 || text[16] != ':') return std::nullopt;
        std::int64_t ns = (minute * 60 + second) * std::int64_t{1'000'000'000};
        if (text.size() > whole_size) { // milliseconds, or something else
            auto const millis = text.size() == whole_size + 4 && text[whole_size] == '.'
                                    ? two_digits(text.data() + 20) * 10 + one_digit(text[22])
                                    : no_digits;
            if (millis > 999) return read_slowly(text, zoned);
            ns += millis * std::int64_t{1'000'000};
        }
        if (zoned != nullptr) *zoned = false;
        return since_ + moment(ns);
    }

  private:
    static constexpr unsigned no_digits = 10'000;

    static unsigned one_digit(char c) {
        unsigned const digit = static_cast<unsigned char>(c) - unsigned{'0'};
        return digit <= 9 ? digit : no_digits;
    }
    static unsigned two_digits(char const* at) { return one_digit(at[0]) * 10 + one_digit(at[1]); }

    std::optional<moment> read_slowly(std::string_view text, bool* zoned);

    std::string hour_;
    moment since_{};
};

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

/// The fields of a line, in reused memory.
class field_list {
  public:
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::string_view operator[](std::size_t i) const { return fields_[i]; }

    /// Replaces all fields by those of a line.
    void split(std::string_view line, char separator) {
        size_ = 0;
        std::size_t at = 0, first = 0;
#if defined(__SSE2__)
        __m128i const wanted = _mm_set1_epi8(separator);
        while (at < line.size() && line.size() >= 16) {
            std::size_t const block = (std::min)(at, line.size() - 16); // the last one overlaps
            make_room(17);
            __m128i const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(line.data() + block));
            auto hits = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
            for (hits &= 0xffffU << (at - block); hits != 0; hits &= hits - 1) {
                std::size_t const end = block + static_cast<std::size_t>(std::countr_zero(hits));
                fields_[size_++] = {line.data() + first, end - first};
                first = end + 1;
            }
            at = block + 16;
        }
#endif
        make_room(17);
        for (; at < line.size(); ++at) {
            if (line[at] != separator) continue;
            make_room(2);
            fields_[size_++] = {line.data() + first, at - first};
            first = at + 1;
        }
        fields_[size_++] = line.substr(first);
    }

  private:
    void make_room(std::size_t more) {
        if (size_ + more > fields_.size()) fields_.resize(2 * (size_ + more));
    }

    std::vector<std::string_view> fields_ = std::vector<std::string_view>(64);
    std::size_t size_ = 0;
};

/// Which column of a table is what, according to the user: a name in the header, or `#3` for the third.
/// Empty: not given.
struct given_columns {
    std::string job, task, node, start, end, duration, status;
    [[nodiscard]] bool any() const { return !(job + task + node + start + end + duration + status).empty(); }
};

/// Where a column is in a header, if it is there. @param name or `#3`
[[nodiscard]] inline std::optional<std::size_t> column_of(field_list const& header, std::string_view name) {
    if (name.starts_with('#')) {
        auto const n = whole_number(name.substr(1));
        if (n && *n >= 1 && static_cast<std::size_t>(*n) <= header.size())
            return static_cast<std::size_t>(*n - 1);
    }
    for (std::size_t i = 0; i < header.size(); ++i)
        if (trimmed(header[i]) == name) return i;
    return std::nullopt;
}

} // namespace readers
