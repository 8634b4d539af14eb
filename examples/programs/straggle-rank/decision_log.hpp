// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The log of decisions: a header with the options and the fleet, then one JSON object per decision and line.
#pragma once

#include "../common/output_file.hpp"
#include "timeline.hpp"

namespace straggle_rank {

/// Writes a log while the history is followed.
class log_writer final : public window_sink {
  public:
    /// A `failure` if the file cannot be written.
    log_writer(history const& h, options const& o, fleet const& f, window_calendar const& calendar);
    void take(decided_window const& window) override;
    /// Puts the complete log in its place; until then, there is nothing or the previous one.
    void close();

  private:
    program::output_file file_;
    std::vector<std::string> names_; ///< by node, in UTF-8
    window_calendar const& calendar_;
    bool by_attempts_; ///< not by rankings
};

} // namespace straggle_rank
