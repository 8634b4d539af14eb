// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which column of the file is what.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace straggle_rank {

/// What the program wants to know about an attempt.
enum class column : std::size_t { job, node, start, end, duration, status, task, slots, input };
inline constexpr std::array<std::string_view, 9> column_keys{"job",    "node", "start", "end",  "duration",
                                                             "status", "task", "slots", "input"};

/// The names of the columns in the file.
class column_names {
  public:
    /// Takes `key=name,...` on top of the defaults; `key=` says that there is no such column.
    void override_with(std::string_view specification);

    struct entry {
        std::string name;
        bool required = false; ///< named by the user
    };
    [[nodiscard]] entry const& operator[](column c) const { return entries_[static_cast<std::size_t>(c)]; }

  private:
    std::array<entry, column_keys.size()> entries_{{{"job"},
                                                    {"node"},
                                                    {"start_ms"},
                                                    {"end_ms"},
                                                    {"duration"},
                                                    {"status"},
                                                    {"task"},
                                                    {"slots"},
                                                    {"input_bytes"}}};
};

/// Where the columns are in a record.
class column_places {
  public:
    /// Looks the names up in a header; a `failure` names what is missing.
    column_places(column_names const& names, std::span<std::string const> header, std::string const& file);

    [[nodiscard]] bool has(column c) const { return place(c).has_value(); }
    /// The field, empty if there is no such column.
    [[nodiscard]] std::string_view field(std::span<std::string_view const> record, column c) const {
        std::optional<std::size_t> const& at = place(c);
        return at ? record[*at] : std::string_view{};
    }

  private:
    [[nodiscard]] std::optional<std::size_t> const& place(column c) const {
        return places_[static_cast<std::size_t>(c)];
    }

    std::array<std::optional<std::size_t>, column_keys.size()> places_{};
};

} // namespace straggle_rank
