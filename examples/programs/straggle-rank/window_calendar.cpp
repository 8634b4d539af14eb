// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "window_calendar.hpp"

#include "../common/failure.hpp"
#include "../common/text.hpp"

namespace straggle_rank {

using namespace program;

window_lengths parse_lengths(std::string const& window, std::string const& slide) {
    window_lengths const l{parse_length("--window", window), parse_length("--slide", slide)};
    constexpr std::int64_t most = 254;
    if (l.window_ms % l.slide_ms != 0)
        throw failure(exit_status::usage, "--slide: " + window + " is not a multiple of " + slide);
    if (l.slides() > most)
        throw failure(exit_status::usage, "--slide: " + window + " is " + std::to_string(l.slides()) +
                                              " times " + slide + ", at most " + std::to_string(most) +
                                              " are possible");
    return l;
}

window_calendar::window_calendar(history const& h, window_lengths const& lengths, time_unit unit)
    : lengths_(lengths), unit_(unit), exact_(h.attempts.index() == 0), places_(h.places) {
    slide_units_ = static_cast<double>(lengths.slide_ms) * static_cast<double>(per_second(unit)) / 1000;
    if (!exact_) return;
    // Units are at most 10^9, places at most 9, milliseconds below 2^42: two steps, so that nothing
    // overflows.
    std::int64_t factor = per_second(unit);
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
                          (fits ? " is not a multiple of the steps in which '" : " is too long for '") +
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
    bool const to_minutes = lengths_.slide_ms % 60'000 == 0;
    // For a clock that does not count from 1970: how long it has run.
    constexpr double year = 366 * 86'400'000.0;
    if (std::fabs(ms) < year) {
        auto const all = static_cast<std::int64_t>(std::floor(ms));
        std::int64_t const t = all < 0 ? -all : all;
        auto const two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
        std::string relative = all < 0 ? "-" : "+";
        if (t >= 86'400'000) relative += std::to_string(t / 86'400'000) + "d ";
        relative += two(t / 3'600'000 % 24) + ":" + two(t / 60'000 % 60);
        if (!to_minutes) relative += ":" + two(t / 1000 % 60);
        if (lengths_.slide_ms % 1000 != 0) {
            std::string const rest = std::to_string(t % 1000);
            relative += "." + std::string(3 - rest.size(), '0') + rest;
        }
        return relative;
    }
    auto const text = utc_text(ms, to_minutes ? "%Y-%m-%d %H:%M" : "%Y-%m-%d %H:%M:%S");
    return text ? *text : short_number(ms / 1000) + " s";
}

} // namespace straggle_rank
