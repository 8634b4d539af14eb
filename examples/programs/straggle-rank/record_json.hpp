// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Decisions as lines of JSON.
#pragma once

#include "keeper.hpp"

#include <nlohmann/json_fwd.hpp>

namespace straggle_rank {

/// A record as one line of JSON without its end. Doubles read back as the same.
/// @param names of the nodes, as JSON
/// @param head what comes first, such as `"window":7`
[[nodiscard]] std::string record_line(decision_record const& r, std::span<std::string const> names,
                                      std::string_view head);

/// The other way round; a `std::runtime_error` or an exception of the JSON
/// library says what is wrong.
[[nodiscard]] decision_record record_from(nlohmann::json const& line,
                                          straggle::interner<std::string> const& names,
                                          straggle::rank::edge_rule edges);

} // namespace straggle_rank
