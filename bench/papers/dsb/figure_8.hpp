// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Figure 8: who stands out after an hour, in the three clusters of table 1; and what looking costs.
#pragma once

#include "../report/report.hpp"

namespace dsb {

void figure_8(report::options const& how);
/// Section 5.2: what the parts that rank cost the master, in its own time.
void overhead(report::options const& how);

} // namespace dsb
