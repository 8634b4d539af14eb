// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Slurm's accounting: `sacct --parsable`, `--parsable2` with or without a header, and `--json`.
#pragma once

#include "fields.hpp"
#include "history.hpp"
#include "text_window.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace readers {

[[nodiscard]] bool looks_like_sacct(std::string_view head);
[[nodiscard]] bool looks_like_sacct_json(std::string_view head);

/// @param given which column is what, where the names are not those of `sacct`
void read_sacct(text_window& text, given_columns const& given, collector& out);
void read_sacct_json(text_window& text, collector& out);

/// The meaning of a state; empty for a task that has not run.
[[nodiscard]] std::optional<ending> slurm_ending(std::string_view state);
/// Whether a list of nodes names one.
[[nodiscard]] bool is_one_node(std::string_view list);
[[nodiscard]] bool is_no_node(std::string_view list);

/// The parts of `JobID`: `12_3` is task 3 of array 12, `12` a single job, `12.4` its step 4.
struct slurm_id {
    std::string_view job, task, step;
    bool array = false;
    bool pending = false; ///< `12_[4-7]`: tasks that have not begun
};
[[nodiscard]] slurm_id slurm_id_of(std::string_view id);

} // namespace readers
