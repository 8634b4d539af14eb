// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What is running: jobs, their tasks, and the attempts of each.
#pragma once

#include "history.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace straggle_backup {

/// An attempt that runs.
struct running_attempt {
    std::uint32_t node = 0;
    moment start{};
    std::optional<moment> reported{}; ///< when it reported its progress; empty: just now
    std::optional<double> progress{}; ///< from 0 to 1
    bool copy = false;                ///< it is known to be a copy
};

/// A running task, once, however many attempts it has.
struct running_task : work {
    std::optional<std::uint32_t> task{};
    std::vector<running_attempt> attempts{};
    std::size_t furthest = 0; ///< the attempt with the most progress; of equals, the first that started
    std::uint32_t copies = 0; ///< number of attempts, if some of them are not listed
    [[nodiscard]] running_attempt const& best() const { return attempts[furthest]; }
    [[nodiscard]] std::uint32_t attempts_running() const {
        return (std::max)(copies, static_cast<std::uint32_t>(attempts.size()));
    }
};

struct running_job {
    std::uint32_t job = 0;
    std::vector<running_task> tasks{};
    std::vector<work> waiting{}; ///< tasks that have not begun
};

/// Why a row is not a running task.
enum class fault : std::uint8_t {
    unreadable,   ///< a number is invalid
    out_of_range, ///< a time, by 126 years or more
    missing_job,
    missing_node, ///< started, but it is unknown where
    missing_start,
    not_started, ///< begins after now
    bad_progress,
    finished,  ///< according to the history
    duplicate, ///< the same task, node and start as another row
};
inline constexpr std::size_t fault_count = 9;
[[nodiscard]] std::string_view to_string(fault f);

struct snapshot {
    std::string file; ///< its name in messages
    moment now{};
    std::vector<running_job> jobs{}; ///< in order of first appearance
    std::uint64_t rows = 0, attempts = 0, tasks = 0, waiting = 0, copies = 0;
    std::array<program::unreadable_rows, fault_count> faults{};
};

/// Reads what is running, `-` for standard input, or takes it from the history; cuts the history at that
/// time. A `failure` names file and line.
[[nodiscard]] snapshot read_running(options const& o, history& past, name_table& names, kind_finder& kinds,
                                    bool show_progress);

} // namespace straggle_backup
