// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How the program ends when it cannot do what it was asked to do.
#pragma once

#include <stdexcept>
#include <string>

namespace program {

/// The exit status, as `--help` explains it.
enum class exit_status { done = 0, usage = 1, bad_input = 2, cannot_write = 3 };

/// Ends the program with a status and one line on standard error.
class failure : public std::runtime_error {
  public:
    failure(exit_status status, std::string const& message) : std::runtime_error(message), status_(status) {}
    [[nodiscard]] exit_status status() const noexcept { return status_; }

  private:
    exit_status status_;
};

} // namespace program
