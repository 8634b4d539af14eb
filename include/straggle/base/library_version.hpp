// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The version of the headers a program was compiled with, as a value.
#pragma once

#include <straggle/base/config.hpp>

#include <compare>

namespace straggle::inline STRAGGLE_ABI {

/// Semantic version of the headers a program was compiled with.
struct version {
    int major_number; ///< incompatible changes (before 1.0: see the minor number)
    int minor_number; ///< new features; before 1.0 also incompatible changes
    int patch_number; ///< corrections only

    friend constexpr auto operator<=>(version const&, version const&) = default;
};

/// The version of these headers.
inline constexpr version library_version{STRAGGLE_VERSION_MAJOR, STRAGGLE_VERSION_MINOR,
                                         STRAGGLE_VERSION_PATCH};

} // namespace straggle
