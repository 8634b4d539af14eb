// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The timeline of the page of `--report`: for each node and column of time, how slow it was, and its state.
/// A column is one window, or several if there would be more columns than a screen can show.
#pragma once

#include "output.hpp"
#include "timeline.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace straggle_rank {

class timeline_picture final : public window_sink {
  public:
    void take(decided_window const& w) override;

    /// The data that the page draws.
    [[nodiscard]] nlohmann::ordered_json data(timeline const& t, result const& whole) const;

  private:
    struct cell {
        std::uint64_t n = 0;
        double mean = 0, low = 0, high = 0;
        std::uint32_t node = 0;
        bool has_interval = false;
    };
    using column = std::vector<cell>; // by node

    static constexpr std::size_t most_columns = 1500;

    static void merge(column& into, column const& later);
    void halve();

    std::int64_t windows_per_column_ = 1;
    std::map<std::int64_t, column> columns_; ///< by window / windows_per_column_
};

/// Writes the page of `--report` with a timeline.
void write_report(std::string const& file, result const& r, nlohmann::ordered_json timeline);

} // namespace straggle_rank
