// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `gang/`: which rank do the others wait for?
/// Begin with `gang::step_watch`.
#pragma once

#include <straggle/gang/end_watch.hpp>
#include <straggle/gang/step_fields.hpp>
#include <straggle/gang/step_watch.hpp>
