// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "length.hpp"

#include "failure.hpp"
#include "number.hpp"

#include <array>
#include <ctime>

namespace program {

namespace {

struct named_length {
    std::string_view name;
    std::int64_t ms;
};
constexpr std::array<named_length, 5> lengths{
    {{"d", day_in_ms}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<std::string_view, 4> unit_names{"ns", "us", "ms", "s"};

} // namespace

std::string_view to_string(time_unit u) {
    return unit_names[static_cast<std::size_t>(u)];
}

std::int64_t per_second(time_unit u) {
    constexpr std::array<std::int64_t, 4> rates{1'000'000'000, 1'000'000, 1'000, 1};
    return rates[static_cast<std::size_t>(u)];
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

time_unit unit_of_times(std::optional<time_unit> told, std::string const& file, std::string const& column) {
    if (!told) told = unit_of_column(column);
    if (!told)
        throw failure(exit_status::usage, file + ": the unit of the column '" + column +
                                              "' is not known; say --time-unit ns, us, ms or s");
    return *told;
}

std::int64_t parse_length(std::string const& option, std::string_view text) {
    std::size_t const digits = text.find_first_not_of("0123456789.");
    std::string_view const unit = digits == std::string_view::npos ? "" : text.substr(digits);
    number const n = read_number(text.substr(0, digits));
    for (auto const& [name, ms] : lengths) {
        if (name != unit || n.kind != number_kind::exact) continue;
        std::int64_t scale = 1;
        for (int i = 0; i < n.places; ++i) scale *= 10;
        constexpr std::int64_t longest = 36'525 * day_in_ms; // a century
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

std::optional<std::string> utc_text(double ms, char const* format) {
    constexpr double from = 631152e6, to = 7258118400e3; // 1990 to 2200
    if (!(ms >= from && ms < to)) return std::nullopt;
    auto const seconds = static_cast<std::time_t>(ms / 1000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 40> text{};
    std::strftime(text.data(), text.size(), format, &parts);
    return text.data();
}

std::string length_text(std::int64_t ms) {
    for (auto const& [name, length] : lengths)
        if (ms % length == 0) return std::to_string(ms / length) + std::string(name);
    return std::to_string(ms) + "ms";
}

} // namespace program
