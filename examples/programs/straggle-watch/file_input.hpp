// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Lines from standard input, or from a file that grows.
#pragma once

#include "line_buffer.hpp"
#include "session.hpp"

#include <string>

namespace straggle_watch {

class file_input {
  public:
    /// @param follow the file; empty: standard input
    file_input(std::string follow, options const& o, session& to);

    [[nodiscard]] int fd() const { return follow_.empty() ? 0 : file_.get(); }
    /// Reads what is available, and processes it. @return whether there was anything
    bool read(answers& out);
    /// The input has ended.
    [[nodiscard]] bool is_over() const { return is_over_; }

  private:
    void open(file_position const& from);
    /// Whether the file was replaced or truncated: then it is read from its beginning.
    bool was_rotated();
    std::uint64_t take(journal_entry entry, std::size_t bytes, answers& out);

    std::string follow_;
    session& session_;
    descriptor file_;
    line_buffer buffer_;
    file_position at_{};
    bool is_over_ = false;
};

} // namespace straggle_watch
