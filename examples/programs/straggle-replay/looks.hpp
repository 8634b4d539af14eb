// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// When a replay looks at a history, and how far along its tape it is.
#pragma once

#include "recording.hpp"

#include <straggle/base/contract.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace replaying {

/// How much of a tape has happened.
struct tape_position {
    std::size_t starts = 0, ends = 0, reports = 0;

    // No start and no end is left.
    template <class Time>
    [[nodiscard]] bool is_over(tape<Time> const& t) const noexcept {
        return starts == t.attempts.size() && ends == starts;
    }
    // No attempt runs.
    [[nodiscard]] bool is_idle() const noexcept { return starts == ends; }
    // When the next attempt starts, if none runs. @pre not over
    template <class Time>
    [[nodiscard]] std::optional<Time> end_of_pause(tape<Time> const& t) const {
        return is_idle() ? std::optional(t.attempts[starts].start) : std::nullopt;
    }
    // The time of the next event. @pre not over
    template <class Time>
    [[nodiscard]] Time next_time(tape<Time> const& t) const {
        Time now = t.attempts[t.by_end[ends]].end;
        if (starts < t.attempts.size()) now = (std::min)(now, t.attempts[starts].start);
        if (reports < t.readings.size()) now = (std::min)(now, t.readings[reports].time);
        return now;
    }
};

/// Looks in steps of an interval; further apart where nothing happens.
template <class Time>
class stepped_looks {
  public:
    using span_type = std::remove_cvref_t<decltype(std::declval<Time>() - std::declval<Time>())>;

    // From the first start of a tape that is not empty.
    stepped_looks(tape<Time> const& t, span_type interval)
        : origin_(t.attempts.front().start),
          interval_(interval),
          length_(t.attempts[t.by_end.back()].end - origin_) {}

    [[nodiscard]] Time now() const { return after(step_); }
    [[nodiscard]] Time end() const { return static_cast<Time>(origin_ + length_); }
    // Before what happens until now is played; `event`: the next.
    void begin(Time const& event) {
        if (!(now() < event)) quiet_since_ = step_;
    }
    // Goes to the next look; `event`: the next, `start`: if nothing runs. False if it would see no task.
    bool advance(Time const& event, std::optional<Time> const& start) {
        ticks next = static_cast<ticks>(step_ + 1);
        ticks const quiet = static_cast<ticks>(step_ - quiet_since_);
        if (quiet >= quiet_steps) {
            ticks more = static_cast<ticks>(quiet / quiet_steps);
            if constexpr (std::is_floating_point_v<ticks>) more = std::floor(more);
            auto const further = static_cast<ticks>(step_ + more);
            next = (std::max)(next, (std::min)(further, step_at(event - origin_)));
        }
        if (start) next = (std::max)(next, step_at(*start - origin_));
        if (next > whole_steps(length_)) return false;
        STRAGGLE_EXPECTS(now() < after(next));
        step_ = next;
        return true;
    }

  private:
    using ticks = decltype(moment_of(std::declval<span_type const&>()));
    static constexpr ticks quiet_steps = 1000; // intervals without an event before looks are further apart

    [[nodiscard]] ticks whole_steps(span_type const& length) const {
        ticks const all = moment_of(length), interval = moment_of(interval_);
        if constexpr (std::is_floating_point_v<ticks>)
            return std::floor(all / interval);
        else
            return static_cast<ticks>(all / interval);
    }
    // The step at that time, or the next one after it.
    [[nodiscard]] ticks step_at(span_type const& length) const {
        ticks const steps = whole_steps(length);
        bool const between = moment_of(interval_) * steps < moment_of(length);
        return static_cast<ticks>(between ? steps + 1 : steps);
    }
    [[nodiscard]] Time after(ticks steps) const {
        if constexpr (std::is_arithmetic_v<span_type>)
            return static_cast<Time>(origin_ + static_cast<span_type>(interval_ * steps));
        else
            return static_cast<Time>(origin_ + interval_ * steps);
    }

    Time origin_;
    span_type interval_, length_;
    ticks step_ = 0, quiet_since_ = 0;
};

} // namespace replaying
