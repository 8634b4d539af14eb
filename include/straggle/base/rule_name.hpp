// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of composed rules: their names, such as "cap(late)" and "either(dominated,forecast_weak)",
/// assembled at compile time.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::detail {

template <auto const& Outer, class... Inner>
struct nested_name_text {
    static constexpr std::string_view outer{Outer};
    static constexpr std::size_t size =
        outer.size() + 2 + (std::string_view(Inner::name).size() + ... + (sizeof...(Inner) - 1));
    static constexpr std::array<char, size> text = [] {
        std::array<char, size> t{};
        std::size_t at = 0;
        auto const append = [&](std::string_view s) {
            for (char const c : s) t[at++] = c;
        };
        append(outer);
        std::string_view between = "(";
        ((append(between), append(Inner::name), between = ","), ...);
        append(")");
        return t;
    }();
};

// `Outer` is a named character array, since templates take no string literals.
template <auto const& Outer, class... Inner>
inline constexpr std::string_view nested_name{nested_name_text<Outer, Inner...>::text.data(),
                                              nested_name_text<Outer, Inner...>::size};

} // namespace straggle::detail
