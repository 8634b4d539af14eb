// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A file that is written beside its target and renamed when it is complete: a full disk or a kill does not
/// destroy what was there.
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
    /// A `failure` if it cannot be written.
    /// @param file if it is not an ordinary file, such as a pipe, it is written directly
    explicit output_file(std::string const& file) : name_(file), file_(file) {
        std::error_code ignored;
        auto const there = std::filesystem::status(file, ignored);
        if (std::filesystem::is_regular_file(there))
            file_ = std::filesystem::canonical(file, ignored).string();
        if (file_.empty()) file_ = file;
        part_ = file_;
        if (!std::filesystem::exists(there) || std::filesystem::is_regular_file(there)) part_ += ".part";
        out_.open(part_, std::ios::binary);
        if (!out_) fail();
    }
    output_file(output_file const&) = delete;
    output_file& operator=(output_file const&) = delete;
    ~output_file() {
        if (is_whole_ || part_ == file_) return;
        out_.close();
        std::error_code ignored;
        std::filesystem::remove(part_, ignored);
    }

    /// Errors are reported by `finish`.
    [[nodiscard]] std::ostream& stream() { return out_; }
    /// Puts the file in its place; a `failure` if that is impossible.
    void finish() {
        out_.close();
        std::error_code fault;
        if (out_ && part_ != file_) {
            auto const there = std::filesystem::status(file_, fault);
            if (std::filesystem::is_regular_file(there))
                std::filesystem::permissions(part_, there.permissions(), fault);
            std::filesystem::rename(part_, file_, fault);
        }
        if (!out_ || fault) fail();
        is_whole_ = true;
    }

  private:
    [[noreturn]] void fail() const {
        throw failure(exit_status::cannot_write, name_ + ": cannot be written");
    }

    std::string name_, file_, part_; // file_: the target of a symbolic link
    std::ofstream out_;
    bool is_whole_ = false;
};

} // namespace program
