// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// ML-NA on nine made-up months (nine_months.hpp): what the paper's tables are made of.
#pragma once

#include "../nine_months.hpp"
#include "months.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ml_na {

/// Table III, and what the paper leaves out. A row for each number of months learned from, then for any
/// number, for "all are what most were", for "as in the month before". A column for each month tested (the
/// accuracy), then for the accuracy in all of them, precision, recall. NaN where there is nothing.
struct grid {
    enum row : std::size_t { by_count, any = nine_months::months - 1, majority, repeat, rows };
    enum column : std::size_t { by_month, accuracy = nine_months::months - 1, precision, recall, columns };
    std::array<std::array<double, columns>, rows> share;
};

/// Learns from every window of months and tests on the one after.
grid forecast(std::vector<period> const& months, straggle::learn::forecast_from from);

/// What became of one history.
struct study {
    nine_months::straggler_counts stragglers{};
    std::vector<month> months{};
    std::vector<period> whole() const;
    std::vector<period> last_days() const;
};
/// @param seed of a history
study look(std::uint64_t seed);

/// Table II: of all machines in all months a third, drawn at random, is judged by what was learned from the
/// others.
straggle::stats::confusion_matrix judge_third(study const& s, std::uint64_t seed);

/// Prints tables I and III; the latter for both kinds of forecast, that of the month before with both kinds
/// of features.
/// @param judged by the features of the month itself @param expected by the last days of the month before
void print(study const& s, grid const& judged, grid const& expected);

} // namespace ml_na
