// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// From ranked nodes to the decision which nodes to avoid, with reasons in words.
#pragma once

#include "fleet.hpp"
#include "forecast.hpp"
#include "rank.hpp"

#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/node_verdict.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace straggle_rank {

using decision = straggle::blacklist_decision<std::uint32_t>;
using verdict = straggle::verdict<std::uint32_t>;

/// Decides on a ranking with the policy and the limits of the command line.
/// @param expected of the nodes, if requested
[[nodiscard]] decision decide(ranking const& r, fleet const& f, options const& o,
                              expectation const* expected = nullptr);

/// Why a node counts as weak, as the end of "node X: ...".
[[nodiscard]] std::string reason(verdict const& v, ranking const& r, options const& o);

/// The same for a verdict that may be older than the last ranking.
[[nodiscard]] std::string reason(verdict const& v, options const& o);

/// "takes 1.31 times as long as elsewhere (1.24 to 1.39), 116 tasks", or "at least 2.00 times as long as
/// elsewhere; 3 attempts still running"; empty if nothing is known.
[[nodiscard]] std::string in_words(straggle::slowdown const& s);

/// "12 of 80 attempts failed (9 % to 24 %), 1 % elsewhere".
[[nodiscard]] std::string in_words(straggle::blacklist::failure_rate const& f);

/// The names of the causes of a verdict: slow, hung, failing, denied.
[[nodiscard]] std::vector<std::string_view> causes(std::uint8_t set);

/// The reason of a limit that spares a node, as the end of "kept in service: ...".
[[nodiscard]] std::string limit_reason(std::string_view limit, options const& o);

/// Why no node is weak, or another remark about the fleet; empty if none.
[[nodiscard]] std::string remark(decision const& d, ranking const& r);

} // namespace straggle_rank
