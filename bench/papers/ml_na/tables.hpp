// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Tables I to III of ML-NA, on made-up months, beside the paper's.
#pragma once

#include "../report/report.hpp"

namespace ml_na {

/// Writes them, and prints those of one history as text.
void tables(report::options const& how);

} // namespace ml_na
