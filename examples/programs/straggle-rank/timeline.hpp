// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A history as a sequence of windows: the decision that would have been made at the end of each.
#pragma once

#include "keeper.hpp"
#include "window_calendar.hpp"

namespace straggle_rank {

/// The state of a node after a decision.
enum class standing : std::uint8_t { in_service, avoided, on_probation, spared };
/// `in_service`, `avoided`, `on_probation`, `spared`.
[[nodiscard]] std::string_view to_string(standing s);

/// A node whose state has changed since the previous window, or that is excluded anew.
struct change {
    std::uint32_t node = 0;
    standing before = standing::in_service, after = standing::in_service;
    verdict const* why = nullptr;      ///< null for a node that is back in service
    std::int64_t since = 0, until = 0; ///< windows of the exclusion
};

/// One window with a decision; lives as long as the call it is passed to.
struct decided_window {
    std::int64_t number = 0;
    straggle_rank::ranking const& ranking;
    straggle_rank::decision const& decision;
    straggle_rank::keeper const& keeper;
    std::vector<change> const& changes;
    std::span<past_attempt const> ended;      ///< since the last one, for a log; empty if none is written
    std::span<running_attempt const> running; ///< at its end, unless only rankings decide
    bool has_ended = false;                   ///< any, unless only rankings decide
    double now = 0;                           ///< when it ends, by the clock of the attempts
    /// No task ended in it.
    [[nodiscard]] bool is_idle() const { return ranking.fleet_size() == 0 && !has_ended; }
};

/// Receives every window with a decision.
class window_sink {
  public:
    virtual ~window_sink() = default;
    virtual void take(decided_window const& window) = 0;
};

/// A sequence of windows in which a node had one state for one reason.
struct stay {
    std::uint32_t node = 0;
    standing where = standing::avoided;
    std::int64_t first = 0, last = 0; ///< windows
    std::uint32_t strikes = 0;
    std::int64_t until = 0; ///< first window that may end the exclusion, or in which it ends
    std::string why;
    std::string spared_by; ///< name of a limit
};

/// The account of one node over all windows.
struct node_account {
    std::uint64_t windows = 0; ///< with a task
    std::uint64_t exclusions = 0;
    std::uint64_t avoided = 0, on_probation = 0, spared = 0; ///< windows
    std::uint32_t strikes = 0;                               ///< at the end
    standing now = standing::in_service;                     ///< at the end
    straggle::blacklist::failure_rate failures;              ///< at the end
    [[nodiscard]] bool was_weak() const { return avoided + on_probation + spared > 0; }
};

/// A sequence of windows in which no task ended.
struct idle_gap {
    std::int64_t first = 0, last = 0;
    [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(last - first) + 1; }
};

struct timeline {
    window_calendar calendar;
    std::int64_t first = 0, last = 0; ///< windows
    std::uint64_t decisions = 0;      ///< windows with a decision
    std::uint64_t idle = 0;           ///< windows in gaps
    std::uint64_t untimed = 0;        ///< successes whose end is unknown
    std::vector<idle_gap> gaps;
    std::vector<node_account> nodes; ///< by node
    std::vector<stay> stays;         ///< in order of their first window
};

/// The window lengths that suit a history: `--window auto`. A `failure` if it does not show any.
[[nodiscard]] window_lengths recommended_lengths(history const& h, options const& o);
/// What is wrong with the requested windows; empty if nothing.
[[nodiscard]] std::string complaint(history const& h, options const& o);

/// The begins and ends of a history's windows; a `failure` if they are unknown.
[[nodiscard]] window_calendar calendar_of(history const& h, options const& o);

/// Follows a history from end to end. Windows without tasks that could change nothing are not decided on.
/// @param last_use whether the attempts of the history will not be used again: they are freed as soon as
/// possible
/// @pre sizes of inputs are not used if it is the last use
[[nodiscard]] timeline follow(history& h, options const& o, fleet const& f, window_calendar const& calendar,
                              std::span<window_sink* const> sinks, bool last_use);

} // namespace straggle_rank
