// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Fields of JSON as simdjson reads it: each exists with the right type, or is empty.
#pragma once

#include <simdjson.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace readers {

using json_value = simdjson::dom::element;

[[nodiscard]] inline std::optional<json_value> member(json_value of, std::string_view key) {
    json_value value;
    if (of[key].get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
}
[[nodiscard]] inline std::optional<json_value> member(std::optional<json_value> of, std::string_view key) {
    return of ? member(*of, key) : std::nullopt;
}

/// Empty if it is not a text.
[[nodiscard]] inline std::string_view text_of(std::optional<json_value> value) {
    std::string_view text;
    if (!value || value->get(text) != simdjson::SUCCESS) return {};
    return text;
}
/// Empty if there is no such text.
template <class Value>
[[nodiscard]] std::string_view text_in(Value of, std::string_view key) {
    return text_of(member(of, key));
}

[[nodiscard]] inline std::optional<std::int64_t> whole(std::optional<json_value> value) {
    if (!value) return std::nullopt;
    std::int64_t n = 0;
    if (value->get(n) == simdjson::SUCCESS) return n;
    double x = 0; // 1.5e12, as in some histories
    if (value->get(x) == simdjson::SUCCESS && std::fabs(x) < 9e18 && std::floor(x) == x)
        return static_cast<std::int64_t>(x);
    return std::nullopt;
}
template <class Value>
[[nodiscard]] std::optional<std::int64_t> whole_in(Value of, std::string_view key) {
    return whole(member(of, key));
}

[[nodiscard]] inline std::optional<double> real(std::optional<json_value> value) {
    double x = 0;
    if (!value || value->get(x) != simdjson::SUCCESS || !std::isfinite(x)) return std::nullopt;
    return x;
}
template <class Value>
[[nodiscard]] std::optional<double> real_in(Value of, std::string_view key) {
    return real(member(of, key));
}

[[nodiscard]] inline std::optional<bool> flag(std::optional<json_value> value) {
    bool yes = false;
    if (!value || value->get(yes) != simdjson::SUCCESS) return std::nullopt;
    return yes;
}
template <class Value>
[[nodiscard]] std::optional<bool> flag_in(Value of, std::string_view key) {
    return flag(member(of, key));
}

/// Parses text that is followed by as many bytes as simdjson reads ahead.
[[nodiscard]] inline std::optional<json_value> parse_json(simdjson::dom::parser& parser,
                                                          std::string_view text) {
    json_value value;
    if (parser.parse(text.data(), text.size(), false).get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
}

} // namespace readers
