// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// 3 and "3" are the same name, and each is returned as it was sent.
#pragma once

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdint>
#include <string_view>

namespace straggle_watch {

/// Precedes the digits of a name that was sent as a number: this byte does not occur in UTF-8, so no text is
/// such a name.
inline constexpr char number_mark = '\xFF';

/// The name itself, in whatever form it was sent.
[[nodiscard]] constexpr std::string_view plain(std::string_view name) {
    return name.starts_with(number_mark) ? name.substr(1) : name;
}

/// A name in the form in which it was sent.
[[nodiscard]] inline nlohmann::ordered_json name_json(std::string_view name) {
    if (!name.starts_with(number_mark)) return name;
    name = plain(name);
    auto const number = [name](auto n) -> nlohmann::ordered_json {
        std::from_chars(name.data(), name.data() + name.size(), n);
        return n;
    };
    return name.starts_with('-') ? number(std::int64_t{0}) : number(std::uint64_t{0});
}

} // namespace straggle_watch
