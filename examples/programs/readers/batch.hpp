// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The accounting of batch systems, a record per line for each job that ended: PBS and Torque, Grid Engine
/// (SGE, UGE, Altair) and LSF; and HTCondor's event log.
#pragma once

#include "history.hpp"
#include "text_window.hpp"

#include <string_view>

namespace readers {

[[nodiscard]] bool looks_like_pbs(std::string_view head);
[[nodiscard]] bool looks_like_sge(std::string_view head);
[[nodiscard]] bool looks_like_lsf(std::string_view head);
[[nodiscard]] bool looks_like_htcondor(std::string_view head);

void read_pbs(text_window& text, collector& out);
void read_sge(text_window& text, collector& out);
void read_lsf(text_window& text, collector& out);
void read_htcondor(text_window& text, collector& out);

} // namespace readers
