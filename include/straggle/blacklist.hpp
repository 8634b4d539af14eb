// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `blacklist/`: which nodes to avoid, how many, and for how long?
/// Begin with `blacklister`, `dynamic_blacklist`, `windowed_blacklist`.
#pragma once

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/dynamic_blacklist.hpp>
#include <straggle/blacklist/exclusion.hpp>
#include <straggle/blacklist/forecast_weak.hpp>
#include <straggle/blacklist/limits.hpp>
#include <straggle/blacklist/node_rows.hpp>
#include <straggle/blacklist/node_stage.hpp>
#include <straggle/blacklist/node_stage_options.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/blacklist/ranking_stage.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/blacklist/slower_by.hpp>
#include <straggle/blacklist/timed_limits.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>
#include <straggle/blacklist/windowed_blacklist.hpp>
