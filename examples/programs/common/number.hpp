// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Reads numbers without losing a digit: 1475705602.759 is 1475705602759 thousandths. Differences of such
/// times are exact, so tasks that ran equally long stay equal.
#pragma once

#include "digits.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace program {

enum class number_kind : std::uint8_t {
    missing,    ///< an empty field
    exact,      ///< `digits` * 10^-`places`
    real,       ///< `value`: an exponent, or too many digits
    not_finite, ///< NaN or infinity, written out
    unreadable, ///< anything else, and what no double can hold
};

struct number {
    number_kind kind = number_kind::missing;
    int places = 0;
    std::int64_t digits = 0;
    double value = 0;
};

inline constexpr int max_places = 9;
static_assert(powers_of_ten.size() > max_places);

/// The number as a double; 0 if there is none.
[[nodiscard]] inline double value_of(number const& n) {
    if (n.kind == number_kind::real) return n.value;
    return static_cast<double>(n.digits) /
           static_cast<double>(powers_of_ten[static_cast<std::size_t>(n.places)]);
}

namespace detail {

inline std::string_view trimmed(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    return s;
}

#if defined(__cpp_lib_to_chars)
inline bool read_double(std::string_view s, double& value) {
    auto const [end, fault] = std::from_chars(s.data(), s.data() + s.size(), value);
    return end == s.data() + s.size() && fault == std::errc{};
}
#else
// libc++ has no from_chars for floating point yet. The program never leaves the "C" locale.
inline bool read_double(std::string_view s, double& value) {
    if (s.empty() || s.find_first_of("xX( \t\n\v\f\r") != std::string_view::npos || s.front() == '+')
        return false;
    std::string const text(s);
    char* end = nullptr;
    errno = 0;
    value = std::strtod(text.c_str(), &end);
    return end == text.c_str() + text.size() && errno != ERANGE;
}
#endif

inline number read_real(std::string_view s) {
    if (s.starts_with('+') && !s.starts_with("+-")) s.remove_prefix(1);
    number n{.kind = number_kind::real};
    if (!read_double(s, n.value)) return {.kind = number_kind::unreadable};
    if (!std::isfinite(n.value)) return {.kind = number_kind::not_finite};
    return n;
}

} // namespace detail

namespace detail {

// Any number in a field that is not empty.
inline number read_any(std::string_view s) {
    constexpr int max_digits = 19; // many numbers of this length fit 64 bits: nanoseconds since 1970 do
    number n{.kind = number_kind::exact};
    bool const negative = s.front() == '-';
    int count = 0;
    bool point = false;
    for (std::size_t i = negative || s.front() == '+' ? 1 : 0; i < s.size(); ++i) {
        char const c = s[i];
        if (c == '.' && !point) {
            point = true;
        } else if (c >= '0' && c <= '9' && count < max_digits && n.places < max_places &&
                   n.digits <= (INT64_MAX - (c - '0')) / 10) {
            n.digits = n.digits * 10 + (c - '0');
            ++count;
            n.places += static_cast<int>(point);
        } else {
            return read_real(s);
        }
    }
    if (count == 0) return {.kind = number_kind::unreadable};
    if (negative) n.digits = -n.digits;
    return n;
}

} // namespace detail

/// The number in a field of 1 to 18 digits; for any other field false, and `to` is unspecified.
[[nodiscard]] inline bool read_whole(std::string_view s, std::int64_t& to) {
    constexpr std::size_t surely_fits = 18;
    if (eight_characters::works_here && s.size() >= 8 && s.size() <= 16) { // milliseconds since 1970
        eight_characters const first(s.data()), last(s.data() + s.size() - 8);
        std::uint64_t digits = first.first(8);
        if (std::size_t const rest = s.size() - 8; rest > 0)
            digits = digits * static_cast<std::uint64_t>(powers_of_ten[rest]) + last.last(rest);
        to = static_cast<std::int64_t>(digits);
        return first.digits() == 8 && last.digits() == 8;
    }
    if (s.empty() || s.size() > surely_fits) return false;
    to = 0;
    for (char const c : s) {
        unsigned const digit = static_cast<unsigned char>(c) - unsigned{'0'};
        if (digit > 9) return false;
        to = to * 10 + digit;
    }
    return true;
}

/// The number in a field.
[[nodiscard]] inline number read_number(std::string_view field) {
    std::string_view const s = detail::trimmed(field);
    if (s.empty()) return {};
    std::int64_t digits = 0; // most numbers have nothing else
    if (!read_whole(s, digits)) return detail::read_any(s);
    return {.kind = number_kind::exact, .digits = digits};
}

} // namespace program
