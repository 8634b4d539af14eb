// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `record/`: what does a scheduler report, what do rooms pass on?
/// Begin with `attempt_fields`, `running_fields`, `task_traits`.
#pragma once

#include <straggle/record/attempt.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/attempt_reader.hpp>
#include <straggle/record/attempt_status.hpp>
#include <straggle/record/cluster_load.hpp>
#include <straggle/record/comparison.hpp>
#include <straggle/record/field.hpp>
#include <straggle/record/id_table.hpp>
#include <straggle/record/limit.hpp>
#include <straggle/record/node.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/reason_counts.hpp>
#include <straggle/record/record_reader.hpp>
#include <straggle/record/running.hpp>
#include <straggle/record/slowdown.hpp>
#include <straggle/record/suspect.hpp>
#include <straggle/record/task_reader.hpp>
#include <straggle/record/time_line.hpp>
