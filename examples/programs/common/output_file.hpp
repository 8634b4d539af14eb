// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A file that is written beside its place and renamed when it is whole: a full disk or a kill loses nothing
/// of what was there.
#pragma once

#include "failure.hpp"

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <system_error>

namespace program {

class output_file {
  public:
    /// @param file what is no ordinary file, such as a pipe, is written directly
    explicit output_file(std::string const& file) : file_(file), part_(file) {
        std::error_code ignored;
        auto const there = std::filesystem::status(file, ignored);
        if (!std::filesystem::exists(there) || std::filesystem::is_regular_file(there)) part_ += ".part";
        out_.open(part_, std::ios::binary);
    }
    output_file(output_file const&) = delete;
    output_file& operator=(output_file const&) = delete;
    ~output_file() {
        if (is_whole_ || part_ == file_) return;
        out_.close();
        std::error_code ignored;
        std::filesystem::remove(part_, ignored);
    }

    [[nodiscard]] std::ostream& stream() { return out_; }
    /// Puts the file in its place; a `failure` if that is impossible.
    void finish() {
        out_.close();
        std::error_code fault;
        if (out_ && part_ != file_) std::filesystem::rename(part_, file_, fault);
        if (!out_ || fault) throw failure(exit_status::cannot_write, file_ + ": cannot be written");
        is_whole_ = true;
    }

  private:
    std::string file_, part_;
    std::ofstream out_;
    bool is_whole_ = false;
};

} // namespace program
