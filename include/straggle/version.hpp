// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The version of the library: the one place the build system and the packages read it from. Every header
/// reads this one first, so it also rejects a compiler that is too old, or set to an older standard.
#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#if defined(__GNUC__) || defined(__clang__)
// Not #error, after which these compilers would go on and complain of every header: a missing file ends it.
#include <straggle needs C++20: compile with -std=c++20 or newer>
#else
#error "straggle needs C++20: compile with /std:c++20 or newer"
#endif
#endif

/// Incompatible changes (before 1.0: see the minor number).
#define STRAGGLE_VERSION_MAJOR 0
/// New features; before 1.0 also incompatible changes.
#define STRAGGLE_VERSION_MINOR 2
/// Corrections only.
#define STRAGGLE_VERSION_PATCH 0
