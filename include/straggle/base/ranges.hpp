// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the rooms: the concepts of ranges, and the types of what is in them.
#pragma once

#include <straggle/base/config.hpp>

// Nothing else of <ranges> is used: no view. In libstdc++ these come with <span>, and what <ranges> has
// beside them takes a sixth of what a compiler needs for all the standard headers of the library.
// IWYU pragma: begin_keep
#include <span>
// IWYU pragma: end_keep
#if !defined(__GLIBCXX__)
#include <ranges>
#endif
