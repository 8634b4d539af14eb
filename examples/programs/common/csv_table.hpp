// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A CSV file with some known columns, record by record; may be packed with gzip or zstd.
#pragma once

#include "../readers/readers.hpp"
#include "columns.hpp"
#include "csv.hpp"
#include "file_source.hpp"
#include "number.hpp"
#include "progress.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace program {

/// Rows that could not become records.
struct unreadable_rows {
    std::uint64_t count = 0;
    std::vector<std::size_t> lines{}; ///< of the first few

    /// @param line 0: unknown
    void note(std::size_t line) {
        ++count;
        if (line > 0 && lines.size() < 5) lines.push_back(line);
    }
};

/// The user's column names, for the readers of logs.
template <class Column>
[[nodiscard]] readers::given_columns given_columns(column_names<Column> const& names) {
    return {.job = names.said("job"),
            .task = names.said("task"),
            .node = names.said("node"),
            .start = names.said("start"),
            .end = names.said("end"),
            .duration = names.said("duration"),
            .status = names.said("status")};
}

/// @throws csv::error if the file is not a table, `failure` if it cannot be read or a column is missing
template <class Column>
class csv_table {
  public:
    /// @param option the option that names columns
    csv_table(std::string const& file, column_names<Column> const& columns, bool show_progress,
              std::string const& option = "--columns")
        : csv_table(std::make_unique<readers::input>(file), size_of(file), columns, show_progress, option) {}
    /// @param bytes of the file, 0 if unknown
    csv_table(std::unique_ptr<readers::input> in, std::uint64_t bytes, column_names<Column> const& columns,
              bool show_progress, std::string const& option = "--columns")
        : in_(std::move(in)),
          csv_(source{in_.get()}, {}, !columns.by_place()),
          places_(columns, csv_.header(), in_->name(), option),
          progress_(show_progress, bytes) {}

    [[nodiscard]] column_places<Column> const& places() const { return places_; }
    /// Goes to the next record; false at the end of the file.
    bool next() {
        if (!csv_.next_plain()) {
            if (!in_->source().damage().empty())
                throw failure(exit_status::bad_input, in_->name() + ": " + in_->source().damage());
            return false;
        }
        progress_.update(in_->source().packed_bytes(), ++rows_);
        return true;
    }
    /// Empty if there is no such column.
    [[nodiscard]] std::string_view field(Column c) const { return places_.field(csv_.fields(), c); }
    /// The same for a name that may be made of several columns; valid until the next call.
    [[nodiscard]] std::string_view name(Column c) { return places_.name_in(csv_.fields(), c, name_); }
    [[nodiscard]] std::size_t line() const { return csv_.line(); }
    [[nodiscard]] std::uint64_t rows() const { return rows_; }

  private:
    struct source {
        readers::input* in;
        std::size_t operator()(char* to, std::size_t size) const { return (*in)(to, size); }
    };

    std::unique_ptr<readers::input> in_;
    csv::reader<source> csv_;
    column_places<Column> places_;
    progress_bar progress_;
    std::string name_;
    std::uint64_t rows_ = 0;
};

} // namespace program
