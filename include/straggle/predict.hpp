// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `predict/`: how long will this task take, here or there?
/// Begin with `predict::similar_tasks`, `predict::sibling_times`.
#pragma once

#include <straggle/predict/calibration.hpp>
#include <straggle/predict/factors.hpp>
#include <straggle/predict/node_weights.hpp>
#include <straggle/predict/profile_store.hpp>
#include <straggle/predict/progress.hpp>
#include <straggle/predict/progress_trust.hpp>
#include <straggle/predict/sibling_times.hpp>
#include <straggle/predict/sibling_times_options.hpp>
#include <straggle/predict/similar_tasks.hpp>
#include <straggle/predict/similarity.hpp>
#include <straggle/predict/task_profile.hpp>
#include <straggle/predict/time_outlook.hpp>
#include <straggle/predict/weights.hpp>
