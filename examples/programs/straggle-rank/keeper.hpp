// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A blacklist keeper with the policies and limits of the command line.
#pragma once

#include "decide.hpp"
#include "decision_record.hpp"
#include "evidence.hpp"

#include <memory>

namespace straggle_rank {

using logged_decision = decision_record<std::uint32_t>;

/// Decides window after window: a `straggle::dynamic_blacklist`, or a `straggle::rolling_blacklister` where
/// a policy was named.
class keeper {
  public:
    virtual ~keeper() = default;

    /// Takes an attempt that ended, before the decision on the window in which it ended.
    virtual void observe(past_attempt const&) {}
    /// Decides on a window, with the nodes that were seen by its end.
    /// @param now when it ends, by the clock of the attempts
    /// @param running then
    virtual decision const& decide(ranking const& r, std::int64_t window, double now,
                                   std::span<running_attempt const> running) = 0;
    /// The last decision, to be logged.
    [[nodiscard]] virtual logged_decision record(ranking const& r) const = 0;
    /// How often a node was found weak recently.
    [[nodiscard]] virtual std::uint32_t strikes_of(std::uint32_t node) const = 0;
    /// How attempts fail on a node; empty if only rankings are known.
    [[nodiscard]] virtual straggle::blacklist::failure_rate failures_of(std::uint32_t) const { return {}; }
    /// The window of `since` and `until` of a verdict.
    [[nodiscard]] virtual std::int64_t window_of(double point) const {
        return static_cast<std::int64_t>(point);
    }
    /// Whether nothing is remembered about any node: windows without tasks then change nothing.
    [[nodiscard]] virtual bool remembers_nothing() const = 0;
    /// See `straggle::replay`.
    [[nodiscard]] virtual straggle::outcome<std::optional<decision_difference>>
    replay(logged_decision const& record) = 0;
};

/// @param attempts that will be passed to the keeper, or more; 0 if unknown
/// @param slide of windows, and @param origin the number of the window in which the clock of attempts begins,
/// by that clock
/// @pre fleet and options outlive the keeper
[[nodiscard]] std::unique_ptr<keeper> make_keeper(fleet const& f, options const& o, std::size_t attempts,
                                                  double slide, double origin);

} // namespace straggle_rank
