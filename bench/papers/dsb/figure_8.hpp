// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Figure 8: who stands out after an hour, in the three clusters of table 1.
#pragma once

#include "../report/report.hpp"

namespace dsb {

void figure_8(report::options const& how);

} // namespace dsb
