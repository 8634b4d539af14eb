// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// ML-NA on nine made-up months (nine_months.hpp): what the paper's tables are made of.
#pragma once

#include "../nine_months.hpp"
#include "months.hpp"

#include <straggle/learn/boosted_trees_trainer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
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

/// Learns from every window of months and tests on the one after, as `papers::ml_na_2017::forecaster` does.
grid judge(std::vector<period> const& months, straggle::learn::boosted_trees_options const& how);
/// The same as a forecast, by the library's own forecaster.
grid forecast(std::vector<period> const& months);

/// The made-up months as `papers::ml_na_2017` processes them: its tuples and its labels.
struct month_of_paper {
    straggle::learn::weak_nodes found{};
    period carried{}; ///< an idle day has the values of the day before, as a cumulative tuple has
    period blank{};   ///< the other reading: each idle day is NaN; labeled by itself
    /// Figures 4 and 5: groups of nodes by the three features of the last day alone.
    straggle::learn::weak_nodes three_features{};
};
/// Which features of a month are NaN (figure 7): columns that are for all nodes, and the share of the others.
struct gaps {
    double columns = 0, rest = 0;
};
/// Counts them.
gaps gaps_of(period const& p);

/// The results of one history.
struct study {
    nine_months::straggler_counts stragglers{};
    std::vector<month> months{};
    std::vector<month_of_paper> by_paper{};
    std::vector<period> carried() const;
    std::vector<period> blank() const;
    std::vector<period> last_days() const;
};
/// @param seed of a history
study look(std::uint64_t seed);

/// Table II: of all machines in all months a third, drawn at random, is judged by what was learned from the
/// others, with the paper's tuples, labels and classifier.
/// @param table where the rows go, for other classifiers: test or not, label, features
straggle::stats::confusion_matrix judge_third(study const& s, std::uint64_t seed,
                                              std::filesystem::path const& table);

/// Prints tables I and III; the latter for both kinds of forecast, that of the month before with both kinds
/// of features.
/// @param judged by the features of the month itself @param expected by the last days of the month before
void print(study const& s, grid const& judged, grid const& expected);

} // namespace ml_na
