// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Walks through JSON as simdjson comes by it, without a tree: what nobody wants is passed over, and only its
/// brackets are looked at. An object has to be walked to its end before it is known to be one.
#pragma once

#include "../common/member_names.hpp"
#include "text_window.hpp"

#include <simdjson.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace readers {

using walked_value = simdjson::ondemand::value;
using walked_object = simdjson::ondemand::object;

using program::member_names;

/// Calls `each(which, value)` for the wanted members of an object, as they come. Of those of the same name
/// the first counts.
/// @param each says false where it has seen that this is no JSON
/// @return false if it is no JSON
template <std::size_t N, class Each>
[[nodiscard]] bool walk(walked_object& object, member_names<N> const& names, Each&& each) {
    static_assert(N < 32);
    std::uint32_t seen = 0;
    for (auto member : object) {
        if (member.error() != simdjson::SUCCESS) return false;
        auto&& field = std::move(member).value_unsafe();
        std::size_t const which = names.index_of(field.key().raw());
        if (which == N || (seen >> which & 1U) != 0) continue;
        seen |= 1U << which;
        if (!each(which, field.value())) return false;
    }
    return true;
}

/// Calls `each` with the object that a value is; true where it is something else.
template <class Each>
[[nodiscard]] bool walk_object(walked_value& value, Each&& each) {
    auto object = value.get_object();
    if (object.error() == simdjson::INCORRECT_TYPE) return true;
    if (object.error() != simdjson::SUCCESS) return false;
    auto&& found = std::move(object).value_unsafe(); // as all of them it is not copied: that takes long
    return each(found);
}

/// Calls `each` with the objects in the array that a value is; true where it is something else.
template <class Each>
[[nodiscard]] bool walk_objects(walked_value& value, Each&& each) {
    auto array = value.get_array();
    if (array.error() == simdjson::INCORRECT_TYPE) return true;
    if (array.error() != simdjson::SUCCESS) return false;
    auto&& elements = std::move(array).value_unsafe();
    for (auto element : elements) {
        if (element.error() != simdjson::SUCCESS) return false;
        auto&& item = std::move(element).value_unsafe();
        if (!walk_object(item, each)) return false;
    }
    return true;
}

/// Whether there is a backslash in a text, or up to seven bytes behind it. Texts are too short for `memchr`.
[[nodiscard]] inline bool may_have_escapes(std::string_view text) {
    constexpr std::uint64_t ones = 0x0101010101010101u;
    std::uint64_t found = 0;
    for (std::size_t at = 0; at < text.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, 8);
        word ^= ones * '\\'; // a backslash becomes 0
        found |= (word - ones) & ~word;
    }
    return (found & (ones << 7U)) != 0;
}

[[nodiscard]] inline bool is_array(walked_value& value) {
    simdjson::ondemand::json_type type{};
    return value.type().get(type) == simdjson::SUCCESS && type == simdjson::ondemand::json_type::array;
}

/// Empty if it is no text. The view is one into the parsed text, or into the parser's memory.
[[nodiscard]] inline std::string_view text_of(walked_value& value) {
    std::string_view token = value.raw_json_token(); // and the blanks behind it
    if (!token.starts_with('"')) return {};
    token = token.substr(1, token.rfind('"') - 1);
    if (may_have_escapes(token) && value.get_string().get(token) != simdjson::SUCCESS) return {};
    return token;
}

/// NaN if it is no number.
[[nodiscard]] inline double number_of(walked_value& value) {
    double x = 0;
    bool const known = value.get_double().get(x) == simdjson::SUCCESS && std::isfinite(x);
    return known ? x : std::numeric_limits<double>::quiet_NaN();
}

/// `unknown` if it is no whole number. An optional would be put together in memory, which takes longer.
[[nodiscard]] inline std::int64_t whole_or(std::int64_t unknown, walked_value& value) {
    std::int64_t n = 0;
    if (value.get_int64().get(n) == simdjson::SUCCESS) return n;
    double const x = number_of(value); // 1.5e12, as some write their times
    return std::fabs(x) < 9e18 && std::floor(x) == x ? static_cast<std::int64_t>(x) : unknown;
}

[[nodiscard]] inline std::optional<bool> flag(walked_value& value) {
    bool yes = false;
    if (value.get_bool().get(yes) != simdjson::SUCCESS) return std::nullopt;
    return yes;
}

/// What a text is as a whole.
enum class json_kind : std::uint8_t { object, other, none };

/// Walks through text that is one object, of which `body(object)` sees the beginning.
class json_walker {
  public:
    /// @param text has as many bytes behind it as a `text_window` gives
    /// @param body says false where it has seen that this is no JSON
    template <class Body>
    [[nodiscard]] json_kind read(std::string_view text, Body&& body) {
        simdjson::ondemand::document document;
        auto const fault =
            parser_.iterate(text.data(), text.size(), text.size() + text_window::padding).get(document);
        if (fault != simdjson::SUCCESS) return json_kind::none;
        simdjson::ondemand::json_type type{};
        if (document.type().get(type) != simdjson::SUCCESS) return json_kind::none;
        if (type != simdjson::ondemand::json_type::object) return json_kind::other;
        auto object = document.get_object();
        if (object.error() != simdjson::SUCCESS) return json_kind::none;
        auto&& found = std::move(object).value_unsafe();
        return body(found) && at_end(document) ? json_kind::object : json_kind::none;
    }

  private:
    // Something behind the object would be more than JSON.
    static bool at_end(simdjson::ondemand::document& document) {
        return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    }

    simdjson::ondemand::parser parser_;
};

} // namespace readers
