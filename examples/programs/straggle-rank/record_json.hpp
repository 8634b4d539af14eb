// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Decisions as lines of JSON.
#pragma once

#include "keeper.hpp"

#include <nlohmann/json_fwd.hpp>

namespace straggle_rank {

/// Of the lines of a log.
inline constexpr int decision_log_version = 2;

/// A record as an object on one line. Doubles read back as the same.
/// @param names of the nodes, in UTF-8
[[nodiscard]] nlohmann::ordered_json record_json(logged_decision const& r,
                                                 std::span<std::string const> names);

/// The inverse; a `std::runtime_error` or an exception of the JSON library describes the error.
[[nodiscard]] logged_decision record_from(nlohmann::json const& line,
                                          straggle::interner<std::string> const& names,
                                          straggle::rank::edge_rule edges);

} // namespace straggle_rank
