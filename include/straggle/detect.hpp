// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `detect/`: which running task is a straggler?
/// Begin with `detect::straggler_scan`, `detect::tail_of_siblings`, `detect::late`.
#pragma once

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/cap.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_cause.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/mantri.hpp>
#include <straggle/detect/min_progress.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/remaining_time.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/suspect_list.hpp>
#include <straggle/detect/tail_of_siblings.hpp>
#include <straggle/detect/without_copies.hpp>
