// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "shard.hpp"

#include "../common/csv.hpp"
#include "../common/failure.hpp"
#include "../common/status.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>

namespace straggle_mpi {

namespace {

using program::exit_status;
using program::failure;

class file_source {
  public:
    explicit file_source(std::string const& file) : file_(std::fopen(file.c_str(), "rb")), name_(file) {
        if (!file_) fail();
    }
    std::size_t operator()(char* to, std::size_t size) {
        std::size_t const n = std::fread(to, 1, size, file_.get());
        if (n == 0 && std::ferror(file_.get())) fail();
        return n;
    }

  private:
    struct close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    [[noreturn]] void fail() const {
        throw failure(exit_status::bad_input, name_ + ": " + std::strerror(errno));
    }

    std::unique_ptr<std::FILE, close> file_;
    std::string name_;
};

// Where the columns are in a row.
class columns {
  public:
    columns(std::span<std::string const> header, std::string const& file) {
        for (std::size_t c = 0; c < names.size(); ++c)
            while (places_[c] < header.size() && header[places_[c]] != names[c]) ++places_[c];
        for (std::size_t c = 0; c < names.size(); ++c)
            if (c != status && places_[c] == header.size())
                throw failure(exit_status::bad_input,
                              file + ":1: there is no column '" + std::string(names[c]) + "'");
        has_status_ = places_[status] < header.size();
    }

    // Nothing if a number is none.
    [[nodiscard]] std::optional<attempt> read(std::span<std::string_view const> row) const {
        attempt a{.job = name(row[places_[job]]), .node = name(row[places_[node]])};
        if (!read_number(row[places_[start]], a.start_ms) || !read_number(row[places_[end]], a.end_ms))
            return std::nullopt;
        if (has_status_) a.status = history_words::read_status(row[places_[status]]);
        return a;
    }

  private:
    enum column : std::size_t { job, node, start, end, status };
    static constexpr std::array<std::string_view, 5> names{"job", "node", "start_ms", "end_ms", "status"};

    static std::optional<std::string_view> name(std::string_view field) {
        return field.empty() ? std::nullopt : std::optional(field);
    }
    static bool read_number(std::string_view field, std::optional<std::int64_t>& number) {
        if (field.empty()) return true;
        char const* const last = field.data() + field.size();
        auto const [stop, fault] = std::from_chars(field.data(), last, number.emplace());
        return fault == std::errc{} && stop == last;
    }

    std::array<std::size_t, names.size()> places_{};
    bool has_status_ = false;
};

} // namespace

void read_share(std::string const& file, int rank, int ranks, share& to) {
    std::uint64_t row = 0; // in the file, bad ones too: all ranks count alike
    auto const is_mine = [&] { return row % static_cast<unsigned>(ranks) == static_cast<unsigned>(rank); };
    auto const leave_out = [&](std::uint64_t line) {
        if (to.unreadable.count++ == 0) to.unreadable.first_line = line;
    };
    try {
        csv::reader<file_source> table{file_source(file)};
        columns const where(table.header(), file);
        for (;; ++row) {
            try {
                if (!table.next_plain()) break;
                if (!is_mine()) continue;
                if (std::optional<attempt> const a = where.read(table.fields()))
                    to.seen.observe(*a);
                else
                    leave_out(table.line());
            } catch (csv::error const&) {
                std::size_t const line = table.skip_fault();
                if (is_mine()) leave_out(line);
            }
        }
    } catch (csv::error const& e) {
        throw failure(exit_status::bad_input, file + ":" + std::to_string(e.line()) + ": " + e.what());
    }
    if (row == 0) throw failure(exit_status::bad_input, file + ":1: a header and nothing else");
}

} // namespace straggle_mpi
