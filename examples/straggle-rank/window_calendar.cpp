// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "window_calendar.hpp"

#include "failure.hpp"
#include "number.hpp"
#include "text.hpp"

#include <array>
#include <ctime>

namespace straggle_rank {

namespace {

struct named_length {
    std::string_view name;
    std::int64_t ms;
};
constexpr std::array<named_length, 5> lengths{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<std::string_view, 4> unit_names{"ns", "us", "ms", "s"};
// Units per second.
constexpr std::array<std::int64_t, 4> per_second{1'000'000'000, 1'000'000, 1'000, 1};

std::int64_t rate(time_unit u) {
    return per_second[static_cast<std::size_t>(u)];
}

} // namespace

std::string_view to_string(time_unit u) {
    return unit_names[static_cast<std::size_t>(u)];
}

std::optional<time_unit> unit_named(std::string_view name) {
    for (std::size_t i = 0; i < unit_names.size(); ++i)
        if (unit_names[i] == name) return static_cast<time_unit>(i);
    return std::nullopt;
}

std::optional<time_unit> unit_of_column(std::string_view column) {
    std::size_t const bar = column.rfind('_');
    return bar == std::string_view::npos ? std::nullopt : unit_named(column.substr(bar + 1));
}

std::int64_t parse_length(std::string const& option, std::string_view text) {
    std::size_t const digits = text.find_first_not_of("0123456789.");
    std::string_view const unit = digits == std::string_view::npos ? "" : text.substr(digits);
    number const n = read_number(text.substr(0, digits));
    for (auto const& [name, ms] : lengths) {
        if (name != unit || n.kind != number_kind::exact) continue;
        std::int64_t scale = 1;
        for (int i = 0; i < n.places; ++i) scale *= 10;
        constexpr std::int64_t longest = 36'525LL * 86'400'000; // a century
        bool const fits = n.digits / scale <= longest / ms && n.digits <= INT64_MAX / ms;
        if (!fits || n.digits * ms / scale > longest)
            throw failure(exit_status::usage, option + ": '" + std::string(text) + "' is too long");
        if (n.digits == 0 || n.digits * ms % scale != 0)
            throw failure(exit_status::usage, option + ": '" + std::string(text) +
                                                  "' is not a whole number of milliseconds from 1");
        return n.digits * ms / scale;
    }
    throw failure(exit_status::usage,
                  option + ": '" + std::string(text) +
                      "' is not a length of time: a number and ms, s, m, h or d, as in 10m");
}

window_lengths parse_lengths(std::string const& window, std::string const& slide) {
    window_lengths const l{parse_length("--window", window), parse_length("--slide", slide)};
    constexpr std::int64_t most = 254;
    if (l.window_ms % l.slide_ms != 0)
        throw failure(exit_status::usage, "--slide: " + window + " is no whole number of times " + slide);
    if (l.slides() > most)
        throw failure(exit_status::usage, "--slide: " + window + " is " + std::to_string(l.slides()) +
                                              " times " + slide + ", at most " + std::to_string(most) +
                                              " are possible");
    return l;
}

std::string length_text(std::int64_t ms) {
    for (auto const& [name, length] : lengths)
        if (ms % length == 0) return std::to_string(ms / length) + std::string(name);
    return std::to_string(ms) + "ms";
}

window_calendar::window_calendar(history const& h, window_lengths const& lengths, time_unit unit)
    : lengths_(lengths), unit_(unit), exact_(h.attempts.index() == 0), places_(h.places) {
    slide_units_ = static_cast<double>(lengths.slide_ms) * static_cast<double>(rate(unit)) / 1000;
    if (!exact_) return;
    // Units are at most 10^9, places at most 9, milliseconds below 2^42: two steps, so that nothing
    // overflows.
    std::int64_t factor = rate(unit);
    std::int64_t divisor = 1000;
    for (int i = 0; i < places_; ++i) {
        if (divisor > 1)
            divisor /= 10;
        else if (factor <= INT64_MAX / 10)
            factor *= 10;
        else
            factor = INT64_MAX;
    }
    while (divisor > 1 && factor % 10 == 0) {
        divisor /= 10;
        factor /= 10;
    }
    bool const fits = lengths.slide_ms <= INT64_MAX / 1024 / factor;
    if (!fits || lengths.slide_ms * factor % divisor != 0)
        throw failure(exit_status::usage,
                      "--window, --slide: " + length_text(lengths.slide_ms) +
                          (fits ? " is no whole number of the steps in which '" : " is too long for '") +
                          h.end_column + "' counts time");
    slide_ticks_ = lengths.slide_ms * factor / divisor;
}

std::string window_calendar::edge(std::int64_t step) const {
    if (!exact_) return straggle_rank::exact(static_cast<double>(step) * slide_units_);
    std::int64_t const ticks = step * slide_ticks_;
    if (places_ == 0) return std::to_string(ticks);
    auto const magnitude = ticks < 0 ? -static_cast<std::uint64_t>(ticks) : static_cast<std::uint64_t>(ticks);
    std::string digits = std::to_string(magnitude);
    auto const places = static_cast<std::size_t>(places_);
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, ".");
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
    return (ticks < 0 ? "-" : "") + digits;
}

double window_calendar::edge_ms(std::int64_t step) const {
    return static_cast<double>(step) * static_cast<double>(lengths_.slide_ms);
}

std::string window_calendar::when(double ms) const {
    constexpr double from = 631152e6, to = 7258118400e3; // 1990 to 2200
    if (!(ms >= from && ms < to)) return short_number(ms / 1000) + " s";
    auto const seconds = static_cast<std::time_t>(ms / 1000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 40> text{};
    bool const to_minutes = lengths_.slide_ms % 60'000 == 0;
    std::strftime(text.data(), text.size(), to_minutes ? "%Y-%m-%d %H:%M" : "%Y-%m-%d %H:%M:%S", &parts);
    return text.data();
}

} // namespace straggle_rank
