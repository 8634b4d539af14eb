// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Learns from a history which nodes become weak, and applies the result to the nodes of a different history.
#pragma once

#include "history.hpp"
#include "options.hpp"

#include <straggle/learn/forecast.hpp>
#include <straggle/learn/forecast_model.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace straggle_rank {

/// What was learned from one period of the history.
struct learned_period {
    std::int64_t first_day = 0;
    std::size_t nodes = 0, weak = 0;
    std::size_t groups = 0;                        ///< of similar nodes
    straggle::status found = straggle::status::ok; ///< why no weak nodes were found
};

/// What was learned.
struct learning {
    straggle::learn::forecast_model model;
    std::vector<learned_period> periods; ///< in order of time
    std::size_t examples = 0, weak_examples = 0;
    std::uint64_t days = 0, days_left_out = 0; ///< left out: too few for a whole period, at the beginning
    std::uint64_t scores_without_day = 0;
    std::size_t tested = 0; ///< periods that were forecast only from those before them
    straggle::stats::confusion_matrix forecast, majority, repeat; ///< in all of these
};

/// Learns. A `failure` says what the history lacks.
[[nodiscard]] learning learn(history const& h, options const& o);

/// Writes the model. A `failure` if that is impossible.
/// @return its size
std::size_t write_model(std::string const& file, straggle::learn::forecast_model const& model);

/// Prints what was learned, in the requested format.
void print_learning(std::ostream& out, learning const& l, history const& h, options const& o,
                    std::size_t bytes);

/// The forecast of a model for the nodes of a history, in the period after it.
struct expectation {
    std::string file;                  ///< of the model
    std::uint32_t days = 0;            ///< of a period
    std::int64_t day_ms = 0;           ///< length of a day
    std::uint64_t days_known = 0;      ///< of the last period
    bool is_useful = true;             ///< false: no better than "as it was before", and ignored
    double least = 0;                  ///< nodes with at least this probability are expected to be weak
    std::vector<double> probability{}; ///< by node; NaN for those without tasks in the last period

    [[nodiscard]] std::size_t expected_weak() const;
};

/// Reads a model and applies it. A `failure` if it is invalid, or does not fit the history.
[[nodiscard]] expectation expect(history const& h, options const& o);

} // namespace straggle_rank
