// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The results and their output formats.
#pragma once

#include "history.hpp"
#include "options.hpp"
#include "replay.hpp"

#include <straggle/evaluate/detection_metrics.hpp>

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace straggle_replay {

/// One detector and its results.
struct scored {
    std::string detector;
    straggle::evaluate::detection_metrics metrics;
};

/// Everything to print.
struct result {
    straggle_replay::options const& options;
    straggle_replay::history const& history;
    replaying::replay_counts counts;
    std::vector<scored> detectors; ///< in the order of the command line
};

/// Records that were rejected, by reason; only reasons that occurred.
struct rejected_records {
    std::string_view reason;
    std::uint64_t count = 0;
    std::vector<std::size_t> lines{}; ///< of the first few, where they are known
};
/// "2 rejected: end_before_start (lines 3, 7)".
[[nodiscard]] std::string in_words(rejected_records const& some);
/// Of the attempts, and of the reports.
[[nodiscard]] std::vector<rejected_records> rejected_attempts(history const& h);
[[nodiscard]] std::vector<rejected_records> rejected_reports(history const& h);

/// Tasks that were overtaken by a copy, so that their full time is unknown.
[[nodiscard]] std::uint64_t undecided(result const& r);

/// The definition of the usual time, in words.
[[nodiscard]] std::string usual_text(options const& o);
/// When the detectors looked, in words.
[[nodiscard]] std::string looks_text(options const& o);

void print_table(std::ostream& out, result const& r, bool colors);
void print_csv(std::ostream& out, result const& r);
/// Strings in it are valid UTF-8, numbers are finite, what does not exist is null.
[[nodiscard]] nlohmann::ordered_json to_json(result const& r);

} // namespace straggle_replay
