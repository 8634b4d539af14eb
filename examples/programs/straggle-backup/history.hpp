// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The task history in memory: one record per attempt, names replaced by small numbers.
#pragma once

#include "../common/csv_table.hpp"
#include "../common/moment.hpp"
#include "options.hpp"

#include <straggle/base/interner.hpp>
#include <straggle/record/attempt.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace straggle_backup {

using program::moment;

/// The names of jobs, tasks, nodes and kinds of jobs, from all files.
struct name_table {
    straggle::interner<std::string> jobs, tasks, nodes, kinds;
};

/// The kind of work of a job, derived from its name, since jobs of the same kind have different names.
class kind_finder {
  public:
    /// @param pattern its first group, or the whole match, is the kind; empty: what follows the last '/', or
    /// all if there is none
    explicit kind_finder(std::optional<std::string> const& pattern);

    /// @param told the kind in a column; empty: the name decides
    /// @return empty if the pattern does not match
    [[nodiscard]] std::optional<std::uint32_t> operator()(std::string_view told, std::uint32_t job,
                                                          name_table& names);

  private:
    [[nodiscard]] std::optional<std::string> find(std::string const& job) const;

    std::optional<std::regex> pattern_;
    struct found {
        bool asked = false;
        std::optional<std::uint32_t> kind;
    };
    std::vector<found> by_job_;
};

/// What is known about a task before it runs.
struct work {
    std::optional<std::uint32_t> job{}, kind{};
    std::optional<double> input{};
};

/// One attempt to run a task. Empty is unknown.
struct past_attempt : work {
    std::optional<std::uint32_t> task{}, node{};
    std::optional<moment> start{}, end{}, took{};
    straggle::attempt_status status = straggle::attempt_status::success;
    bool may_run = false; ///< without an end, and without any sign of one
};

/// Why a row is not an attempt of the past.
enum class past_fault : std::uint8_t {
    unreadable,   ///< a number is invalid
    out_of_range, ///< a time, by 126 years or more
    missing_job,
    missing_node,
    end_before_start,
    negative_duration
};
inline constexpr std::size_t past_fault_count = 6;
[[nodiscard]] std::string_view to_string(past_fault f);

struct history {
    std::string file;                   ///< its name in messages
    std::vector<past_attempt> attempts; ///< what had ended by now
    std::vector<past_attempt> running;  ///< had begun and not ended by now
    bool has_times = false;             ///< starts and ends are known, not just durations
    std::optional<program::time_unit> start_unit;
    std::vector<std::string> read{}; ///< sentences about the log, unless it is CSV
    std::uint64_t rows = 0;
    std::uint64_t later = 0; ///< rows that begin after now
    std::array<program::unreadable_rows, past_fault_count> faults{};
};

/// Reads a file or a folder, `-` for standard input; a `failure` names file and line.
[[nodiscard]] history read_history(options const& o, name_table& names, kind_finder& kinds,
                                   bool show_progress);

/// Removes what had not ended by then.
void cut(history& h, moment now);

} // namespace straggle_backup
