// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Reads a file, or standard input, piece by piece.
#pragma once

#include "failure.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

namespace program {

/// What a file is called in messages: `-` is standard input.
[[nodiscard]] inline std::string name_of(std::string const& file) {
    return file == "-" ? "<stdin>" : file;
}

/// In bytes; 0 if unknown.
[[nodiscard]] inline std::uint64_t size_of(std::string const& file) {
    std::error_code unknown;
    auto const size = std::filesystem::file_size(file, unknown);
    return unknown ? 0 : size;
}

/// A source for `csv::reader`; a `failure` says what is wrong with the file.
class file_source {
  public:
    /// @param file `-` for standard input
    explicit file_source(std::string const& file) : file_(opened(file)), name_(name_of(file)) {
        if (!file_) fail();
    }
    std::size_t operator()(char* to, std::size_t size) {
        std::size_t const n = std::fread(to, 1, size, file_.get());
        if (n == 0 && std::ferror(file_.get())) fail();
        return n;
    }

  private:
    struct close {
        void operator()(std::FILE* f) const {
            if (f != stdin) std::fclose(f);
        }
    };
    // Opening a named pipe waits for its writer: report that. What a shell makes of <(command) has one.
    static std::FILE* opened(std::string const& file) {
        if (file == "-") return stdin;
        std::error_code unknown;
        if (!file.starts_with("/dev/") && !file.starts_with("/proc/") &&
            std::filesystem::is_fifo(file, unknown))
            std::fprintf(stderr, "%s: a pipe, read as soon as a program writes to it\n", file.c_str());
        return std::fopen(file.c_str(), "rb");
    }
    [[noreturn]] void fail() const {
        throw failure(exit_status::bad_input, name_ + ": " + std::strerror(errno));
    }

    std::unique_ptr<std::FILE, close> file_;
    std::string name_;
};

} // namespace program
