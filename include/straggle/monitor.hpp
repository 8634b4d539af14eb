// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `monitor/`: the same over time, in windows.
/// Begin with `monitor`.
#pragma once

#include <straggle/monitor/monitor.hpp>
#include <straggle/monitor/monitor_counts.hpp>
#include <straggle/monitor/monitor_options.hpp>
