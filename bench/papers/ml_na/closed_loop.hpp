// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Does avoiding the machines that a forecast names shorten jobs? Not in the paper, which ends with the
/// forecast.
#pragma once

#include "../report/report.hpp"

namespace ml_na {

/// Runs the schedulers on the same months, and writes the results.
void closed_loop(report::options const& how);

} // namespace ml_na
