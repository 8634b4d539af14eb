// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `stats/`: numbers, no scheduling word.
/// Begin with `stats::moments`, `stats::t_interval`, `stats::empirical`.
#pragma once

#include <straggle/stats/confidence.hpp>
#include <straggle/stats/confusion_matrix.hpp>
#include <straggle/stats/empirical.hpp>
#include <straggle/stats/interval.hpp>
#include <straggle/stats/long_sum.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/order.hpp>
#include <straggle/stats/student_t.hpp>
#include <straggle/stats/tick_moments.hpp>
