// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `mitigate/`: all of it in one object.
/// Begin with `mitigator`, `mitigate::stages`.
#pragma once

#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/mitigate/effect.hpp>
#include <straggle/mitigate/effect_meter.hpp>
#include <straggle/mitigate/lease.hpp>
#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/mitigator_counts.hpp>
#include <straggle/mitigate/mitigator_options.hpp>
#include <straggle/mitigate/node_states.hpp>
#include <straggle/mitigate/plan.hpp>
#include <straggle/mitigate/reason.hpp>
#include <straggle/mitigate/speculator.hpp>
#include <straggle/mitigate/speculator_options.hpp>
#include <straggle/mitigate/stages.hpp>
