// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "fields.hpp"

#include <array>

namespace readers {

namespace {

// Nanoseconds, by number of decimal places.
constexpr std::array<std::int64_t, 10> units{1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000,
                                             10'000,        1'000,       100,        10,        1};

// Takes this many digits off the front.
std::optional<int> take_digits(std::string_view& s, std::size_t count) {
    if (s.size() < count) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (s[i] < '0' || s[i] > '9') return std::nullopt;
        value = value * 10 + (s[i] - '0');
    }
    s.remove_prefix(count);
    return value;
}

bool take_char(std::string_view& s, char c) {
    if (!s.starts_with(c)) return false;
    s.remove_prefix(1);
    return true;
}

// The decimals, as nanoseconds.
std::int64_t take_fraction(std::string_view& s) {
    std::int64_t value = 0;
    std::size_t at = 0, used = 0;
    for (; at < s.size() && s[at] >= '0' && s[at] <= '9'; ++at) {
        if (at >= 9) continue; // less than a nanosecond
        value = value * 10 + (s[at] - '0');
        ++used;
    }
    s.remove_prefix(at);
    return value * units[used];
}

// `Z`, `+0100`, `+01:00`, `+01` in seconds; nothing for anything else.
std::optional<std::int64_t> zone_seconds(std::string_view s) {
    if (s == "Z") return 0;
    bool const west = s.starts_with('-');
    if (!west && !s.starts_with('+')) return std::nullopt;
    s.remove_prefix(1);
    auto const hours = take_digits(s, 2);
    take_char(s, ':');
    auto const minutes = s.empty() ? std::optional(0) : take_digits(s, 2);
    if (!hours || !minutes || !s.empty() || *hours > 14 || *minutes > 59) return std::nullopt;
    std::int64_t const seconds = *hours * 3600 + *minutes * 60;
    return west ? -seconds : seconds;
}

} // namespace

std::optional<moment> seconds_time(double seconds) {
    double const ns = seconds * 1e9;
    if (!(ns > -0.5 && ns <= static_cast<double>(latest_ns))) return std::nullopt;
    auto const below = static_cast<std::int64_t>(ns);
    return moment(below + static_cast<std::int64_t>(ns - static_cast<double>(below) >= 0.5));
}

std::optional<moment> seconds_time(std::string_view text) {
    // 1795363813.146928: seconds since 1970 have ten digits, and cannot exceed any limit.
    constexpr std::size_t before = 10, most = before + 1 + 8;
    if (program::eight_characters::works_here && text.size() > before + 1 && text.size() <= most &&
        text[before] == '.') {
        std::size_t const places = text.size() - before - 1;
        program::eight_characters const fraction(text.data() + text.size() - 8);
        std::int64_t seconds = 0;
        if (program::read_whole(text.substr(0, before), seconds) && fraction.ends_in_digits(places) &&
            seconds < latest_ns / units[0])
            return moment(seconds * units[0] +
                          static_cast<std::int64_t>(fraction.last(places)) * units[places]);
    }
    constexpr std::size_t surely_fits = 18;
    if (!text.empty() && text.size() <= surely_fits && text.front() != '.') { // nearly all
        std::int64_t digits = 0;
        std::size_t at = 0, point = text.size();
        for (; at < text.size(); ++at) {
            unsigned const digit = static_cast<unsigned char>(text[at]) - unsigned{'0'};
            if (digit <= 9)
                digits = digits * 10 + digit;
            else if (text[at] == '.' && point == text.size())
                point = at;
            else
                break;
        }
        std::size_t const places = point < at ? at - point - 1 : 0;
        if (at == text.size() && places < units.size()) return time_of(digits, units[places]);
    }
    std::size_t point = 0;
    while (point < text.size() && text[point] != '.') ++point;
    auto const whole = whole_number(text.substr(0, point));
    if (!whole) return std::nullopt;
    auto const since = time_of(*whole, 1'000'000'000);
    if (!since || point == text.size()) return since;
    std::string_view fraction = text.substr(point + 1);
    std::int64_t const ns = take_fraction(fraction);
    if (!fraction.empty()) return std::nullopt;
    return *since + moment(ns);
}

std::optional<std::int64_t> days_of(int year, int month, int day) {
    if (year < 1970 || year > 2095 || month < 1 || month > 12 || day < 1) return std::nullopt;
    constexpr std::array<int, 12> before{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    constexpr std::array<int, 12> length{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    auto const of = static_cast<std::size_t>(month - 1);
    int const leap = year % 4 == 0 ? 1 : 0; // so it is from 1970 to 2095
    if (day > length[of] + (month == 2 ? leap : 0)) return std::nullopt;
    int const years = year - 1970;
    return std::int64_t{365} * years + (years + 1) / 4 + before[of] + (month > 2 ? leap : 0) + day - 1;
}

std::optional<moment> iso_time(std::string_view text, bool* zoned) {
    std::string_view s = text;
    auto const year = take_digits(s, 4);
    if (!year || !take_char(s, '-')) return std::nullopt;
    auto const month = take_digits(s, 2);
    if (!month || !take_char(s, '-')) return std::nullopt;
    auto const day = take_digits(s, 2);
    if (!day || !(take_char(s, 'T') || take_char(s, ' '))) return std::nullopt;
    auto const hour = take_digits(s, 2);
    if (!hour || !take_char(s, ':')) return std::nullopt;
    auto const minute = take_digits(s, 2);
    if (!minute || !take_char(s, ':')) return std::nullopt;
    auto const second = take_digits(s, 2);
    if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    std::int64_t const fraction = take_char(s, '.') ? take_fraction(s) : 0;
    auto const days = days_of(*year, *month, *day);
    if (!days) return std::nullopt;
    std::int64_t seconds = *days * 86'400 + std::int64_t{3600} * *hour + std::int64_t{60} * *minute + *second;
    if (zoned != nullptr) *zoned = !s.empty();
    if (!s.empty()) {
        auto const zone = zone_seconds(s);
        if (!zone) return std::nullopt;
        seconds -= *zone;
    }
    auto const since = time_of(seconds, 1'000'000'000);
    if (!since) return std::nullopt;
    return *since + moment(fraction);
}

std::optional<moment> iso_clock::read_slowly(std::string_view text, bool* zoned) {
    auto const time = iso_time(text, zoned);
    constexpr std::size_t hour_size = 14;
    if (time)
        if (auto const since = iso_time(std::string(text.substr(0, hour_size)) + "00:00")) {
            hour_ = text.substr(0, hour_size);
            since_ = *since;
        }
    return time;
}

} // namespace readers
