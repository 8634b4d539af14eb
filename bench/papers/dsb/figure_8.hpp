// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Figure 8: which machines stand out after an hour, in the three clusters of table 1; and what finding them
/// costs.
#pragma once

#include "../report/report.hpp"

namespace dsb {

void figure_8(report::options const& how);
/// Section 5.2: what ranking costs the master, in its own time.
void overhead(report::options const& how);

} // namespace dsb
