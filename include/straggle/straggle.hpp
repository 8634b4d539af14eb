// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a scheduler needs: the way of a task record through the library, room by room. What is asked for by
/// name is not part of it: `<straggle/learn.hpp>` (which node will be weak next?), `<straggle/evaluate.hpp>`
/// (how good were we?), and the papers to the letter in `straggle/papers/`.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/version.hpp>

// First, so that a diagnostic about fields does not begin with a dozen lines of which header includes which.
#include <straggle/record.hpp>

#include <straggle/assign.hpp>
#include <straggle/base.hpp>
#include <straggle/blacklist.hpp>
#include <straggle/detect.hpp>
#include <straggle/mitigate.hpp>
#include <straggle/predict.hpp>
#include <straggle/rank.hpp>
#include <straggle/stats.hpp>
