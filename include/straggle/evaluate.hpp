// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `evaluate/`: how good were we?
/// Begin with `evaluate::detection_metrics`, `evaluate::find_usual_time`.
#pragma once

#include <straggle/evaluate/detection_metrics.hpp>
#include <straggle/evaluate/first_order.hpp>
#include <straggle/evaluate/power.hpp>
#include <straggle/evaluate/task_outcome.hpp>
#include <straggle/evaluate/usual_time.hpp>
