// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `failures/`: which nodes fail their tasks, by the rules of other systems?
/// Begin with `failures::spark_health_tracker`, `failures::envoy_outlier_detection`.
#pragma once

#include <straggle/failures/attempt.hpp>
#include <straggle/failures/cook_novel_host.hpp>
#include <straggle/failures/envoy_options.hpp>
#include <straggle/failures/envoy_outlier_detection.hpp>
#include <straggle/failures/mapreduce_blacklist.hpp>
#include <straggle/failures/mr1_blacklist.hpp>
#include <straggle/failures/spark_health_tracker.hpp>
#include <straggle/failures/storm_blacklist.hpp>
#include <straggle/failures/tez_blacklist.hpp>
