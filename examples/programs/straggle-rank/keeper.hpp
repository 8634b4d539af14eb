// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A blacklist keeper with the policies and limits of the command line.
#pragma once

#include "decide.hpp"

#include <straggle/blacklist/decision_log.hpp>

#include <memory>

namespace straggle_rank {

using decision_record = straggle::blacklist::decision_record<std::uint32_t>;
using decision_difference = straggle::blacklist::decision_difference;

/// Decides window after window; see `straggle::ranked_blacklist`.
class keeper {
  public:
    virtual ~keeper() = default;

    /// Decides on a window of the whole fleet.
    virtual decision const& decide(ranking const& r, std::int64_t window) = 0;
    /// The last decision, to be logged.
    [[nodiscard]] virtual decision_record record(ranking const& r) const = 0;
    /// What is remembered of a node.
    [[nodiscard]] virtual straggle::blacklist::exclusion exclusion_of(std::uint32_t node) const = 0;
    /// Whether nothing is remembered of anybody: windows without tasks then change nothing.
    [[nodiscard]] virtual bool remembers_nothing() const = 0;
    /// See `straggle::replay`.
    [[nodiscard]] virtual straggle::outcome<std::optional<decision_difference>>
    replay(decision_record const& record) = 0;
};

/// @pre fleet and options outlive the keeper
[[nodiscard]] std::unique_ptr<keeper> make_keeper(fleet const& f, options const& o);

} // namespace straggle_rank
