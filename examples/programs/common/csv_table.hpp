// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A CSV file of which some columns are known, record by record.
#pragma once

#include "columns.hpp"
#include "csv.hpp"
#include "file_source.hpp"
#include "number.hpp"
#include "progress.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace program {

/// Rows that could not become records.
struct unreadable_rows {
    std::uint64_t count = 0;
    std::vector<std::size_t> lines{}; ///< of the first few

    /// @param line 0: it is not known
    void note(std::size_t line) {
        ++count;
        if (line > 0 && lines.size() < 5) lines.push_back(line);
    }
};

/// @throws csv::error where the file is no table, `failure` where it cannot be read or a column is missing
template <class Column>
class csv_table {
  public:
    /// @param option that says which column is what
    csv_table(std::string const& file, column_names<Column> const& columns, bool show_progress,
              std::string const& option = "--columns")
        : csv_(file_source(file)),
          places_(columns, csv_.header(), name_of(file), option),
          progress_(show_progress, size_of(file)) {}

    [[nodiscard]] column_places<Column> const& places() const { return places_; }
    /// Goes to the next record; false at the end of the file.
    bool next() {
        if (!csv_.next()) return false;
        progress_.update(csv_.bytes(), ++rows_);
        return true;
    }
    /// Empty if there is no such column.
    [[nodiscard]] std::string_view field(Column c) const { return places_.field(csv_.fields(), c); }
    [[nodiscard]] std::size_t line() const { return csv_.line(); }
    [[nodiscard]] std::uint64_t rows() const { return rows_; }

  private:
    csv::reader<file_source> csv_;
    column_places<Column> places_;
    progress_bar progress_;
    std::uint64_t rows_ = 0;
};

} // namespace program
