// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The output formats of the result.
#pragma once

#include "causes.hpp"
#include "decide.hpp"
#include "evidence.hpp"

#include <iosfwd>

namespace straggle_rank {

/// Everything to print.
struct result {
    [[nodiscard]] std::vector<std::string> const& names() const { return *json_names; }

    straggle_rank::options const& options;
    straggle_rank::history const& history;
    straggle_rank::ranking const& ranking;
    straggle_rank::decision const& decision;
    straggle_rank::whole_evidence const& weighed;         ///< what attempts show about nodes
    straggle_rank::expectation const* expected = nullptr; ///< if requested
    straggle_rank::lost_time const* lost = nullptr;       ///< likewise
    std::vector<std::string> const* json_names = nullptr; ///< of nodes
};

/// The common end of all node names, from a dot on: ".c.example.org"; empty if none.
[[nodiscard]] std::string_view common_domain(history const& h);
/// The name of a node in at most this many columns: without the common domain if it is too long, then without
/// its middle.
/// without its middle.
[[nodiscard]] std::string name_within(history const& h, std::uint32_t node, std::string_view domain,
                                      std::size_t most, std::string_view ellipsis);

/// Records that were rejected, by reason; only reasons that occurred.
struct rejected_records {
    std::string_view reason;
    std::uint64_t count = 0;
    std::vector<std::size_t> lines; ///< of the first few, where they are known
    std::string example{};          ///< of the first, if helpful
};
[[nodiscard]] std::vector<rejected_records> rejected(history const& h, ranking const& r);
/// "2 rejected: end_before_start (lines 3, 7)".
[[nodiscard]] std::string in_words(rejected_records const& some);

/// The counts of all records: "240 read, 236 used, 4 failed, ...".
[[nodiscard]] std::string records_in_words(result const& r);
/// How many attempts had no sibling to be compared with, as a sentence; empty if none.
[[nodiscard]] std::string not_compared_in_words(result const& r);
/// Jobs that fail: "nightly: 6 tasks failed on 2 nodes, none ended well: ...". The first five.
[[nodiscard]] std::vector<std::string> failing_jobs_in_words(result const& r);

/// How many jobs `--normalizer work_rate` compares only by time, because an input is missing.
[[nodiscard]] std::uint64_t jobs_without_input(history const& h);

/// The ranked nodes level by level, within one by falling mean.
[[nodiscard]] std::vector<ranking::node_type> slowest_first(ranking const& r);

void print_table(std::ostream& out, result const& r, bool colors);
void print_json(std::ostream& out, result const& r);
void print_csv(std::ostream& out, result const& r);

/// Writes the page of `--report`; a `failure` if that is impossible.
void write_report(std::string const& file, result const& r);

} // namespace straggle_rank
