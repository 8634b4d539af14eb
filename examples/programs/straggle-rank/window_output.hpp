// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The output formats of decisions over time. Output is kept until the whole history has been processed.
#pragma once

#include "output.hpp"
#include "timeline.hpp"

#include <memory>

namespace straggle_rank {

/// A sink whose text is printed at the end of the history.
class window_printer : public window_sink {
  public:
    /// Prints the collected output, and a summary. `whole` is the history without windows.
    virtual void print(std::ostream& out, result const& whole, timeline const& t) = 0;
};

/// The nodes that were weak at some time, the longest first, then by name.
[[nodiscard]] std::vector<std::uint32_t> once_weak(timeline const& t, history const& h);

[[nodiscard]] std::unique_ptr<window_printer> window_table(history const& h, options const& o,
                                                           window_calendar const& calendar, bool colors);
[[nodiscard]] std::unique_ptr<window_printer> window_json(history const& h, options const& o,
                                                          window_calendar const& calendar);
[[nodiscard]] std::unique_ptr<window_printer> window_csv(history const& h, options const& o,
                                                         window_calendar const& calendar);

} // namespace straggle_rank
