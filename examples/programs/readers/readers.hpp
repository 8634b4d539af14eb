// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Reads histories as the engines write them: files, folders and standard input, packed or not, of a format
/// that is told or found out.
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

/// Finds out the format by the beginning of a file; nothing for what is none of those known.
[[nodiscard]] std::optional<format> guess_format(std::string_view head);

/// A file that has been opened, and of which the beginning has been seen.
class input {
  public:
    /// @param file `-` for standard input. A `program::failure` says what is wrong with it.
    explicit input(std::string const& file);
    /// From memory, or wherever.
    input(std::string name, raw_source raw);

    [[nodiscard]] std::string const& name() const { return name_; }
    /// What the beginning looks like.
    [[nodiscard]] std::optional<format> guess();
    /// The program that unpacks it, empty if it is not packed or can be unpacked here.
    [[nodiscard]] std::string_view foreign_packing();
    [[nodiscard]] text_window& text() { return *text_; }
    [[nodiscard]] unpacked_source const& source() const { return *source_; }
    /// Hands the text out from where it is, so that `input` is a source for `csv::reader`.
    std::size_t operator()(char* to, std::size_t size);

  private:
    std::string name_;
    std::unique_ptr<unpacked_source> source_;
    std::unique_ptr<text_window> text_;
};

struct reading_options {
    std::optional<format> from{}; ///< nothing: found out, file by file
    bool show_progress = false;
    given_columns columns{}; ///< of Slurm's tables and Nextflow's traces, where they are called otherwise
    std::string join{};      ///< what `sacct` says of the jobs of a Nextflow trace; empty: nothing
};

/// The files to read: a folder stands for what is in it and below, in the order of names with numbers by
/// their value. Left out are hidden files, markers of Spark and Hadoop, and parts of a rolled log that were
/// compacted. A `program::failure` names what is not there.
[[nodiscard]] std::vector<std::string> files_of(std::vector<std::string> const& paths);

/// Reads files that `files_of` has listed, all but CSV, and hands out their attempts in the order in which
/// their ends stand there. Nothing in a file is fatal; a file that cannot be opened is a `program::failure`.
/// @param first the first file, if it has been opened already
[[nodiscard]] reading_report read_history(std::vector<std::string> const& files, reading_options const& how,
                                          attempt_sink const& sink, std::unique_ptr<input> first = nullptr);

/// A history whose first file has been opened to see what it is.
struct opened_history {
    std::vector<std::string> files;
    std::unique_ptr<input> first;
    bool is_csv = false;
};
/// Opens files and folders. What nobody knows is taken for CSV, whose reader says what is wrong with it.
[[nodiscard]] opened_history open_history(std::vector<std::string> const& paths, std::optional<format> from);

/// A `program::failure` if nothing was read, which says what was found instead.
void expect_attempts(reading_report const& report);

/// The same, and if none of what was read has ended.
void expect_ended(reading_report const& report);

/// What was not read and why, each part behind a semicolon; empty if nothing was left out.
[[nodiscard]] std::string reasons_of(reading_report const& report);

/// The sentences that say what was read and what was not, each without its full stop.
[[nodiscard]] std::vector<std::string> summary_of(reading_report const& report);

} // namespace readers
