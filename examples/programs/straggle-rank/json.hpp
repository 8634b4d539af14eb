// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The result as a JSON document: what `--format json` prints and what the page of `--report` draws.
#pragma once

#include "output.hpp"

#include <nlohmann/json.hpp>

namespace straggle_rank {

/// The options.
[[nodiscard]] nlohmann::ordered_json to_json(options const& o);

/// The counts of all records.
[[nodiscard]] nlohmann::ordered_json records_json(result const& r);

/// A number with its interval, or a lower bound from running attempts; null if nothing is known.
[[nodiscard]] nlohmann::ordered_json slowdown_json(straggle::slowdown const& s);

/// Jobs that fail on several nodes.
[[nodiscard]] nlohmann::ordered_json failing_jobs_json(result const& r);

/// The version of this program.
[[nodiscard]] std::string version();

/// Strings in it are valid UTF-8, numbers are finite.
[[nodiscard]] nlohmann::ordered_json to_json(result const& r);

} // namespace straggle_rank
