// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How time is divided into windows: lengths as on the command line, and points in time as in the file.
#pragma once

#include "../common/length.hpp"
#include "history.hpp"

#include <cstdint>
#include <string>

namespace straggle_rank {

using namespace program;

/// The values of `--window` and `--slide`. @pre slides() is from 1 to 254
struct window_lengths {
    std::int64_t window_ms = 0, slide_ms = 0;
    [[nodiscard]] std::int64_t slides() const { return window_ms / slide_ms; }
};

/// The lengths of `--window` and `--slide`. A `failure` unless the first is a whole multiple of the second,
/// at most 254.
[[nodiscard]] window_lengths parse_lengths(std::string const& window, std::string const& slide);

/// The begins and ends of windows. The window with a number ends with the step of that number, and begins
/// slides() - 1 steps earlier.
class window_calendar {
  public:
    window_calendar() = default;
    /// A `failure` if the file's unit of time is too coarse.
    window_calendar(history const& h, window_lengths const& lengths, time_unit unit);

    [[nodiscard]] window_lengths const& lengths() const { return lengths_; }
    [[nodiscard]] time_unit unit() const { return unit_; }

    /// The slide in ticks, and in units of the file.
    [[nodiscard]] std::int64_t slide_ticks() const { return slide_ticks_; }
    [[nodiscard]] double slide_units() const { return slide_units_; }

    /// As a number in the unit of the file, exact.
    [[nodiscard]] std::string begin(std::int64_t window) const {
        return edge(window - lengths_.slides() + 1);
    }
    [[nodiscard]] std::string end(std::int64_t window) const { return edge(window + 1); }
    /// The same in milliseconds.
    [[nodiscard]] double begin_ms(std::int64_t window) const {
        return edge_ms(window - lengths_.slides() + 1);
    }
    [[nodiscard]] double end_ms(std::int64_t window) const { return edge_ms(window + 1); }
    /// For people: `2026-11-21 10:20`, or the number if it is not a time since 1970.
    [[nodiscard]] std::string when(double ms) const;

  private:
    [[nodiscard]] std::string edge(std::int64_t step) const;
    [[nodiscard]] double edge_ms(std::int64_t step) const;

    window_lengths lengths_;
    time_unit unit_ = time_unit::milliseconds;
    bool exact_ = true;
    int places_ = 0;
    std::int64_t slide_ticks_ = 0;
    double slide_units_ = 0;
};

} // namespace straggle_rank
