// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Reads histories as the engines write them: files, folders and standard input, packed or not, in a format
/// that is given or detected.
#pragma once

#include "../common/progress.hpp"
#include "fields.hpp"
#include "history.hpp"
#include "source.hpp"
#include "text_window.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace readers {

/// Detects the format by the beginning of a file; empty if it is unknown.
[[nodiscard]] std::optional<format> guess_format(std::string_view head);

/// An opened file, whose beginning has been read.
class input {
  public:
    /// @param file `-` for standard input. A `program::failure` says what is wrong with it.
    explicit input(std::string const& file);
    /// From memory, or any other source.
    input(std::string name, raw_source raw);

    [[nodiscard]] std::string const& name() const { return name_; }
    /// The format by the beginning.
    [[nodiscard]] std::optional<format> guess();
    /// The program that unpacks it, empty if it is not packed or can be unpacked here.
    [[nodiscard]] std::string_view foreign_packing();
    [[nodiscard]] text_window& text() { return *text_; }
    [[nodiscard]] unpacked_source const& source() const { return *source_; }
    /// Returns the text from the current position, so that `input` is a source for `csv::reader`.
    std::size_t operator()(char* to, std::size_t size);

  private:
    std::string name_;
    std::unique_ptr<unpacked_source> source_;
    std::unique_ptr<text_window> text_;
};

struct reading_options {
    std::optional<format> from{}; ///< empty: detected for each file
    bool show_progress = false;
    given_columns columns{}; ///< of Slurm's tables and Nextflow's traces, if named differently
    std::string join{};      ///< the output of `sacct` about the jobs of a Nextflow trace; empty: none
};

/// The files to read: a folder stands for the files in and below it, by name, with numbers compared by value.
/// Skips hidden files, markers of Spark and Hadoop, and parts of a rolled log that were compacted. A
/// `program::failure` names what does not exist.
[[nodiscard]] std::vector<std::string> files_of(std::vector<std::string> const& paths);

/// Reads files that `files_of` has listed, all except CSV, and returns their attempts in the order of their
/// ends in the files. Nothing in a file is fatal; a file that cannot be opened is a `program::failure`.
/// @param first the first file, if it has been opened already
[[nodiscard]] reading_report read_history(std::vector<std::string> const& files, reading_options const& how,
                                          attempt_sink const& sink, std::unique_ptr<input> first = nullptr);

/// A history whose first file has been opened to detect its format.
struct opened_history {
    std::vector<std::string> files;
    std::unique_ptr<input> first;
    bool is_csv = false;
};
/// Opens files and folders. An unknown format is taken for CSV, whose reader reports what is wrong.
[[nodiscard]] opened_history open_history(std::vector<std::string> const& paths, std::optional<format> from);

/// A `program::failure` if nothing was read, which says what was found instead.
void expect_attempts(reading_report const& report);

/// The same, and if none of what was read has ended.
void expect_ended(reading_report const& report);

/// What was not read and why, each part after a semicolon; empty if everything was read.
[[nodiscard]] std::string reasons_of(reading_report const& report);

/// Sentences about what was read and what was not, each without its period.
[[nodiscard]] std::vector<std::string> summary_of(reading_report const& report);

} // namespace readers
