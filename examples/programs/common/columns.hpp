// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which column of a file is what. A program lists its columns in an enum `Column`, and gives in
/// `column_set<Column>` their names on the command line (`keys`) and, unless the user says otherwise, in the
/// file (`names`).
#pragma once

#include "failure.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace program {

template <class Column>
struct column_set;

/// The names of the columns in the file.
template <class Column>
class column_names {
  public:
    column_names() {
        for (std::size_t c = 0; c < count; ++c) entries_[c].name = column_set<Column>::names[c];
    }

    /// Applies `key=name,...` on top of the defaults; `key=` says that there is no such column.
    /// @param option the option with which the user gave it
    void override_with(std::string_view specification, std::string const& option = "--columns") {
        while (!specification.empty()) {
            std::string_view const item = specification.substr(0, specification.find(','));
            specification.remove_prefix((std::min)(item.size() + 1, specification.size()));
            std::size_t const sign = item.find('=');
            auto const key = std::find(keys.begin(), keys.end(), item.substr(0, sign));
            if (sign == std::string_view::npos || key == keys.end()) {
                std::string known;
                for (std::string_view k : keys) (known += known.empty() ? "" : ", ") += k;
                throw failure(exit_status::usage, option + ": '" + std::string(item) +
                                                      "' is not of the form key=name, with key one of " +
                                                      known);
            }
            std::string const name(item.substr(sign + 1));
            entries_[static_cast<std::size_t>(key - keys.begin())] = {name, !name.empty()};
        }
    }

    struct entry {
        std::string name;
        bool required = false; ///< named by the user
    };
    [[nodiscard]] entry const& operator[](Column c) const { return entries_[static_cast<std::size_t>(c)]; }

    /// The user names columns by position, `#3`: the file has no header.
    [[nodiscard]] bool by_place() const {
        return std::ranges::any_of(entries_,
                                   [](entry const& e) { return e.required && e.name.starts_with('#'); });
    }
    /// The user's name for the column with that key; empty if not given.
    [[nodiscard]] std::string said(std::string_view key) const {
        auto const at = std::find(keys.begin(), keys.end(), key);
        if (at == keys.end()) return {};
        entry const& e = entries_[static_cast<std::size_t>(at - keys.begin())];
        return e.required ? e.name : std::string();
    }

  private:
    static constexpr auto const& keys = column_set<Column>::keys;
    static constexpr std::size_t count = keys.size();
    std::array<entry, count> entries_;
};

/// Where the columns are in a record.
template <class Column>
class column_places {
  public:
    /// Looks up the names in a header; a `failure` names what is missing.
    /// @param option the option that sets other names
    column_places(column_names<Column> const& names, std::span<std::string const> header, std::string file,
                  std::string option = "--columns")
        : header_(header.begin(), header.end()), file_(std::move(file)), option_(std::move(option)) {
        for (std::size_t c = 0; c < places_.size(); ++c) {
            auto const& [name, required] = names[static_cast<Column>(c)];
            if (name.empty()) continue;
            auto found = std::find(header.begin(), header.end(), name);
            // Unless the user named it: the key itself, or with a unit.
            std::string const key(column_set<Column>::keys[c]);
            for (char const* const suffix : {"", "_ms", "_s", "_us", "_ns", "_bytes"}) {
                if (required || found != header.end()) break;
                found = std::find(header.begin(), header.end(), key + suffix);
            }
            if (found == header.end() && required && name.find('+') != std::string::npos) {
                place_parts(name, header, c);
                continue;
            }
            if (found == header.end()) {
                if (required) fail("no column '" + name + "'");
                continue;
            }
            if (std::find(found + 1, header.end(), *found) != header.end())
                fail("two columns '" + *found + "'");
            places_[c] = static_cast<std::size_t>(found - header.begin());
        }
    }

    /// A `failure` unless there is such a column.
    void require(column_names<Column> const& names, Column c) const {
        if (!has(c))
            fail("no column '" + names[c].name + "' for the " +
                 std::string(column_set<Column>::keys[static_cast<std::size_t>(c)]));
    }
    /// A `failure` about a history that does not say how long attempts took.
    [[noreturn]] void fail_without_times(bool has_start) const {
        fail(has_start ? "starts and no ends: if these attempts still run, pass the file to straggle-backup, "
                         "behind a history; else add the end or the duration"
                       : "no columns for start and end, nor one for the duration");
    }
    /// A `failure` about the header.
    [[noreturn]] void fail(std::string const& what) const {
        constexpr std::size_t most = 300;
        std::string all;
        for (std::string const& name : header_) {
            if (all.size() > most) break;
            all += (all.empty() ? "" : ", ") + name.substr(0, most + 1);
        }
        if (all.size() > most) all.replace(most, std::string::npos, "...");
        // No table has only one of its columns: it is something else.
        throw failure(
            exit_status::bad_input,
            file_ + ":1: " +
                (header_.size() > 1
                     ? what + "; the header has: " + all + " (see " + option_ + ")"
                     : (option_ == "--columns" ? "no log of a known format (see --from), and " : "") +
                           std::string("no table with commas between its columns; it begins with: ") + all));
    }

    /// What the column is called; empty if there is none.
    [[nodiscard]] std::string name(Column c) const { return has(c) ? header_[*place(c)] : std::string(); }
    [[nodiscard]] bool has(Column c) const { return place(c).has_value(); }
    /// The field, empty if there is no such column.
    [[nodiscard]] std::string_view field(std::span<std::string_view const> record, Column c) const {
        std::optional<std::size_t> const& at = place(c);
        return at ? record[*at] : std::string_view{};
    }
    /// The same for a name that may be made of several columns, `job_name+task_name`: with slashes between
    /// them.
    /// @param buffer memory for such a name
    [[nodiscard]] std::string_view name_in(std::span<std::string_view const> record, Column c,
                                           std::string& buffer) const {
        std::string_view const first = field(record, c);
        auto const& more = more_[static_cast<std::size_t>(c)];
        if (more.empty()) return first;
        buffer = first;
        for (std::size_t const at : more) buffer.append(1, '/').append(record[at]);
        return buffer;
    }

  private:
    void place_parts(std::string_view name, std::span<std::string const> header, std::size_t c) {
        while (!name.empty()) {
            std::string_view const part = name.substr(0, name.find('+'));
            name.remove_prefix((std::min)(part.size() + 1, name.size()));
            auto const found = std::find(header.begin(), header.end(), part);
            if (found == header.end()) fail("no column '" + std::string(part) + "'");
            auto const at = static_cast<std::size_t>(found - header.begin());
            if (places_[c])
                more_[c].push_back(at);
            else
                places_[c] = at;
        }
    }
    [[nodiscard]] std::optional<std::size_t> const& place(Column c) const {
        return places_[static_cast<std::size_t>(c)];
    }

    std::array<std::optional<std::size_t>, column_set<Column>::keys.size()> places_{};
    std::array<std::vector<std::size_t>, column_set<Column>::keys.size()>
        more_{}; // of names of several columns
    std::vector<std::string> header_;
    std::string file_, option_;
};

} // namespace program
