// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Nextflow's `trace.txt`.
#pragma once

#include "history.hpp"
#include "text_window.hpp"

#include <optional>
#include <string_view>

namespace readers {

[[nodiscard]] bool looks_like_nextflow(std::string_view head);
void read_nextflow(text_window& text, collector& out);

/// `1h 2m 3.5s`, `850ms`, `0ms`, or milliseconds as a raw trace says them.
[[nodiscard]] std::optional<moment> nextflow_length(std::string_view text);
/// `1.2 GB`, or bytes as a raw trace says them.
[[nodiscard]] std::optional<double> nextflow_bytes(std::string_view text);

} // namespace readers
