// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The schedulers that are compared: all copy as YARN does, and differ in which machines they avoid.
#pragma once

#include "../policies/schedulers.hpp"
#include "calendar.hpp"

#include <cstdint>
#include <string>

namespace ml_na {

/// `none`: no machine is avoided; the log has those that `forecast` would avoid. `reactive`: by `dominated`.
/// `forecast`: machines expected to be weak this month. `either`: both of these. `last month`: machines that
/// were weak in the last month. `month known`: machines that will be weak in the mean of this month.
/// `oracle`: machines that are weak today.
/// @param truth for the last two
policies::scheduler make_scheduler(std::string const& name, slowdown_by_day const& truth, std::uint64_t seed);

} // namespace ml_na
