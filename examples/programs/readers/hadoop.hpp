// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Hadoop MapReduce: the job history files of Hadoop 1 and 2 (`.jhist`, Avro as JSON) and Rumen's traces.
#pragma once

#include "history.hpp"
#include "text_window.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace readers {

[[nodiscard]] bool looks_like_jhist(std::string_view head);
[[nodiscard]] bool looks_like_hadoop1(std::string_view head);
[[nodiscard]] bool looks_like_rumen(std::string_view head);

void read_jhist(text_window& text, collector& out);
void read_hadoop1(text_window& text, collector& out);
void read_rumen(text_window& text, collector& out);

/// The 0 of `attempt_1_2_m_000003_0`.
[[nodiscard]] std::uint32_t hadoop_attempt_number(std::string_view attempt_id);
/// `host` of `/rack/host`.
[[nodiscard]] std::string_view hadoop_host(std::string_view name);

} // namespace readers
