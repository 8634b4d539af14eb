// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Monitor and blacklist in one object, as a scheduler uses them: `observe` each attempt as it ends, `decide`
/// every interval, and let any thread read the latest decision.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/published.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/rank/monitor.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>

namespace straggle::inline STRAGGLE_ABI {

/// A monitor and a `rolling_blacklister` connected to each other, with their latest decision readable by any
/// thread.
///
/// Source: DSB algorithm 1 with all its steps.
/// @tparam Monitor a `monitor`
/// @tparam Keeper a `rolling_blacklister` of the monitor's nodes
/// @par Example
/// `windowed_blacklist watch(monitor_of<attempt>(fields, {.window = 10min}));`. As a member of a class, for
/// records whose `task_traits` name the fields, its type is `windowed_blacklist<monitor<attempt>>`
/// @par Cost
/// that of the parts, and a copy of each decision
/// @par Guarantees
/// one thread observes and decides; any number of threads call `latest`, without locks.
/// Strong exception guarantee, except that a decision may be in `decision` and not yet in `latest`.
/// @snippet monitor.cpp watch
template <class Monitor, class Keeper = rolling_blacklister<typename Monitor::node_id>>
class windowed_blacklist {
    using node_id = typename Monitor::node_id;

  public:
    /// The type of a decision.
    using decision_type = blacklist_decision<node_id>;
    /// Points in time.
    using time_type = typename Monitor::time_type;
    /// The type of `latest`: a decision that stays unchanged while held.
    using snapshot = typename published<decision_type>::snapshot;

    /// A watch on records whose `task_traits` name the fields.
    explicit windowed_blacklist(typename Monitor::options how = {}, Keeper keeping = Keeper{})
        requires std::constructible_from<Monitor, typename Monitor::options>
        : windowed_blacklist(Monitor(std::move(how)), std::move(keeping)) {}
    /// @param watching what remembers the attempts
    /// @param keeping what remembers the exclusions
    explicit windowed_blacklist(Monitor watching, Keeper keeping = Keeper{})
        : monitor_(std::move(watching)), keeper_(std::move(keeping)) {
        keeper_.windows_overlap(monitor_.windows_overlap());
    }

    /// Adds an attempt that ended; see `monitor::observe`.
    template <class Record>
    bool observe(Record const& attempt) {
        return monitor_.observe(attempt);
    }
    /// The same at the caller's time.
    template <class Record>
    bool observe(Record const& attempt, time_type now) {
        return monitor_.observe(attempt, now);
    }
    /// Adds an attempt that was killed because a later copy was faster; see `monitor::observe_censored`.
    template <class Record>
    bool observe_censored(Record const& attempt) {
        return monitor_.observe_censored(attempt);
    }
    /// The same at the caller's time.
    template <class Record>
    bool observe_censored(Record const& attempt, time_type now) {
        return monitor_.observe_censored(attempt, now);
    }

    /// Decides on the window at `now`, once per window: further calls within the window return the same
    /// decision. Without a window, every call decides. If an allocation fails, call again: nothing is lost,
    /// and a decision that was not published is published then.
    /// @return the decision, valid until the next one
    decision_type const& decide(time_type now) {
        return decide_on(now, [this](auto const& ranking, std::int64_t number) -> decision_type const& {
            return keeper_.decide(ranking, number);
        });
    }
    /// The same with all nodes that are in the cluster now; see `rolling_blacklister::decide`.
    decision_type const& decide(time_type now, std::span<node_id const> fleet) {
        return decide_on(now, [&](auto const& ranking, std::int64_t number) -> decision_type const& {
            return keeper_.decide(ranking, number, fleet);
        });
    }

    /// The latest decision, for any thread: never waits, and never makes `decide` wait.
    [[nodiscard]] snapshot latest() const noexcept { return latest_.read(); }
    /// Whether the latest decision says to avoid a node for new work; any thread, like `latest`.
    [[nodiscard]] bool avoids(typename interner<node_id>::key_type node) const {
        auto const now = latest();
        return now->avoids(node);
    }
    /// The latest decision, for the thread that decides.
    [[nodiscard]] decision_type const& decision() const& noexcept { return keeper_.decision(); }
    void decision() const&& = delete; // keep the watch in a variable first

    /// The monitor: to finish jobs, merge, store.
    [[nodiscard]] Monitor& monitor() noexcept { return monitor_; }
    /// The blacklister: to store it before a restart.
    [[nodiscard]] Keeper& keeper() noexcept { return keeper_; }

  private:
    template <class Decide>
    decision_type const& decide_on(time_type now, Decide&& decide) {
        std::int64_t const number = monitor_.has_window() ? monitor_.window_number(now) : decisions_;
        bool const is_decided = (decisions_ != 0 || is_owed_) && number <= keeper_.decision().window();
        if (is_decided && !is_owed_) return keeper_.decision();
        if (!is_decided) {
            decide(monitor_.rank(now), number);
            is_owed_ = true;
        }
        latest_.publish(keeper_.decision());
        is_owed_ = false;
        ++decisions_;
        return keeper_.decision();
    }

    Monitor monitor_;
    Keeper keeper_;
    published<decision_type> latest_;
    std::int64_t decisions_ = 0; // published decisions
    bool is_owed_ = false;       // one more decision exists, but publishing it failed to allocate
};

template <class Monitor>
windowed_blacklist(Monitor) -> windowed_blacklist<Monitor>;

} // namespace straggle
