// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the rooms: range concepts, and the types of range elements.
#pragma once

#include <straggle/base/config.hpp>

// Nothing else of <ranges> is used, in particular no view. In libstdc++ these come with <span>; the rest of
// <ranges> would take a sixth of the compile time of all the standard headers of the library.
// IWYU pragma: begin_keep
#include <span>
// IWYU pragma: end_keep
#if !defined(__GLIBCXX__)
#include <ranges>
#endif
