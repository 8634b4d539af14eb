// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The rows of the file with the running tasks, either CSV or JSON lines.
#pragma once

#include "options.hpp"

#include <memory>
#include <string_view>

namespace straggle_backup {

class running_rows {
  public:
    virtual ~running_rows() = default;
    /// Goes to the next row; false at the end. A `failure` names the line of an invalid row.
    virtual bool next() = 0;
    /// The name of a column; empty if there is none.
    [[nodiscard]] virtual std::string name(running_column c) const = 0;
    /// Empty if it does not exist.
    [[nodiscard]] virtual std::string_view field(running_column c) const = 0;
    /// Whether all fields are text, numbers and the like.
    [[nodiscard]] virtual bool is_plain() const = 0;
    [[nodiscard]] virtual std::size_t line() const = 0;
};

[[nodiscard]] std::unique_ptr<running_rows> open_running(options const& o, bool show_progress);

} // namespace straggle_backup
