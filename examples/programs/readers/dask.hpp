// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Dask: the log that our scheduler plugin writes, a JSON object per line for every task that ended.
#pragma once

#include "history.hpp"
#include "text_window.hpp"

#include <string_view>

namespace readers {

[[nodiscard]] bool looks_like_dask(std::string_view head);
[[nodiscard]] bool looks_like_dask_stream(std::string_view head);
void read_dask(text_window& text, collector& out);
/// What `Client.get_task_stream` gives, written by `json.dump`.
void read_dask_stream(text_window& text, collector& out);

} // namespace readers
