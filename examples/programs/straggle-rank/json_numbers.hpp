// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Numbers from JSON that fit their type. The conversions of the JSON library truncate: -1, 5e99 and 2^32
/// would all become some node.
#pragma once

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace straggle_rank {

/// @param what its name in the `std::runtime_error` if it is not an integer of that type
template <std::integral T>
[[nodiscard]] T integer_of(nlohmann::json const& value, char const* what) {
    if (!value.is_number_integer()) throw std::runtime_error(std::string(what) + " is not an integer");
    bool const fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                 : std::in_range<T>(value.get<std::int64_t>());
    if (!fits) throw std::runtime_error(std::string(what) + " is out of range");
    return value.get<T>();
}

[[nodiscard]] inline double real_of(nlohmann::json const& value, char const* what) {
    if (!value.is_number()) throw std::runtime_error(std::string(what) + " is not a number");
    return value.get<double>();
}

} // namespace straggle_rank
