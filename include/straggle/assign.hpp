// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `assign/`: is a copy worth it, and where?
/// Begin with `assign::assigner`, `assign::expected_gain`, `assign::copies_per_task`.
#pragma once

#include <straggle/assign/assigner.hpp>
#include <straggle/assign/assigner_options.hpp>
#include <straggle/assign/backup_fields.hpp>
#include <straggle/assign/backup_plan.hpp>
#include <straggle/assign/copy_limits.hpp>
#include <straggle/assign/copy_worth.hpp>
#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/assign/job_goal.hpp>
#include <straggle/assign/kill_rule.hpp>
#include <straggle/assign/optimal_assignment.hpp>
#include <straggle/assign/profit.hpp>
#include <straggle/assign/race_record.hpp>
#include <straggle/assign/race_record_options.hpp>
#include <straggle/assign/rank_places.hpp>
#include <straggle/assign/reservation.hpp>
#include <straggle/assign/suspect_fields.hpp>
