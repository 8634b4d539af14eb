// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A streaming reader of CSV with a header (RFC 4180): quoted fields, line breaks inside quotes, CRLF, LF or
/// CR line ends, a byte order mark, a last line without an end. It holds one record at a time, however long
/// the file is, and returns views into its buffer. Anything else is an `error` with its line number, never a
/// guess.
#pragma once

#include "marks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace csv {

/// The text is not a table; the message does not repeat the line.
class error : public std::runtime_error {
  public:
    error(std::size_t line, std::string const& message) : std::runtime_error(message), line_(line) {}
    /// Where, counted from 1 as editors do.
    [[nodiscard]] std::size_t line() const noexcept { return line_; }

  private:
    std::size_t line_;
};

/// Plausible sizes; beyond them a quote is missing or the file is something else.
struct limits {
    std::size_t record_bytes = std::size_t{16} << 20;
    std::size_t fields = std::size_t{1} << 16;
};

/// Reads records one by one.
///
/// @tparam Source called with (char* to, std::size_t size); writes up to size bytes, returns how many, 0 at
/// the end
/// @par Cost one pass over the bytes; memory for one block or one record, whichever is longer
template <class Source>
class reader {
  public:
    /// Reads the header.
    /// @param has_header false: there is none, and the columns are called `#1`, `#2` and so on
    explicit reader(Source source, limits bounds = {}, bool has_header = true)
        : source_(std::move(source)), limits_(bounds), at_first_(!has_header) {
        while (end_ < longest_mark && refill()) {
        }
        skip_byte_order_mark();
        if (!read_record()) throw error(line_, "the file is empty");
        header_.assign(fields_.begin(), fields_.end());
        if (!has_header)
            for (std::size_t i = 0; i < header_.size(); ++i) header_[i] = '#' + std::to_string(i + 1);
    }

    /// The names of the columns.
    [[nodiscard]] std::span<std::string const> header() const noexcept { return header_; }

    /// Goes to the next record; false at the end of the file.
    bool next() {
        if (at_first_) {
            at_first_ = false;
            return true;
        }
        if (!read_record()) return false;
        if (fields_.size() != header_.size())
            throw error(record_line_, std::to_string(fields_.size()) + " fields where the header has " +
                                          std::to_string(header_.size()));
        return true;
    }

    /// The same as `next`, and twice as fast where rows have no quotes: finds the ends of the fields of many
    /// rows at once. Leaves everything else to `next`.
    bool next_plain() {
        if (at_first_ || !read_plain_record()) return next();
        return true;
    }

    /// After an `error` of `next`: skips the bad part, so that `next` continues after it. That is the record
    /// with a wrong number of fields, otherwise the line on which the record began; if that line is longer
    /// than any record may be, the error is thrown again.
    /// @return the line on which it began
    std::size_t skip_fault() {
        if (!torn_) return record_line_;
        torn_ = false;
        for (std::size_t at = begin_;;) {
            while (at != end_ && buffer_[at] != '\n' && buffer_[at] != '\r') ++at;
            bool const may_go_on = at == end_ || (buffer_[at] == '\r' && at + 1 == end_);
            if (may_go_on && !source_done_) {
                at -= begin_; // refilling moves begin_ to 0
                refill();
                continue;
            }
            if (at != end_ && buffer_[at] == '\r' && buffer_[at + 1] == '\n') ++at;
            begin_ = at == end_ ? at : at + 1;
            return line_++;
        }
    }

    /// The fields of the record, as many as the header has; valid until the next call of `next`.
    [[nodiscard]] std::span<std::string_view const> fields() const noexcept { return fields_; }
    /// The line on which the record begins.
    [[nodiscard]] std::size_t line() const noexcept { return record_line_; }
    /// Bytes of the file up to the end of the record.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return read_ - (end_ - begin_); }

  private:
    struct place {
        std::size_t first, last;
        bool doubled_quotes;
    };
    enum class scan_result : std::uint8_t { complete, more };

    static constexpr std::size_t longest_mark = 4;
    static constexpr std::size_t block = std::size_t{1} << 18;

    // Ends a run of plain characters. NUL is both a fault and the limit at the end of the buffer.
    static constexpr std::array<bool, 256> ends_plain_text = [] {
        std::array<bool, 256> ends{};
        for (char c : {',', '\n', '\r', '\0'}) ends[static_cast<unsigned char>(c)] = true;
        return ends;
    }();

    // Makes the next record with any content the current one.
    bool read_record() {
        for (;;) {
            if (begin_ == end_ && (source_done_ || !refill())) return false;
            torn_ = true;
            while (scan() == scan_result::more) refill();
            torn_ = false;
            record_line_ = line_;
            line_ += lines_in_record_;
            begin_ = record_end_;
            if (places_.size() == 1 && places_[0].first == places_[0].last && !quoted_) continue;
            write_fields();
            return true;
        }
    }

    // Makes the next record the current one if it has the right number of fields, no quotes, and is in the
    // buffer to the end of its line; otherwise does nothing.
    bool read_plain_record() {
        std::size_t const fields = header_.size();
        while (next_mark_ != last_mark_ && marks_[next_mark_] < begin_) ++next_mark_;
        if (last_mark_ - next_mark_ <= fields) mark(fields + 1);
        if (last_mark_ - next_mark_ < fields) return false;
        std::uint32_t const* const ends = marks_.data() + next_mark_;
        char const* const text = buffer_.data();
        fields_.resize(fields);
        std::size_t first = begin_;
        unsigned other = 0; // characters other than a comma
        for (std::size_t i = 0; i + 1 < fields; ++i) {
            fields_[i] = {text + first, ends[i] - first};
            other |= static_cast<unsigned>(text[ends[i]] ^ ',');
            first = ends[i] + std::size_t{1};
        }
        std::size_t last = ends[fields - 1], used = fields;
        if (other != 0 || (fields == 1 && first == last)) return false;
        fields_.back() = {text + first, last - first};
        if (text[last] == '\r' && last + 1 != end_) ++last, ++used; // the next mark, if it is a line's end
        if (text[last] != '\n') return false;
        next_mark_ += used;
        begin_ = last + 1;
        record_line_ = line_++;
        return true;
    }

    // Finds this many marks from begin_ on, and a few more, if there are any.
    void mark(std::size_t wanted) {
        constexpr std::size_t step = std::size_t{1} << 12;
        if (end_ > UINT32_MAX) return;
        auto const begin = marks_.begin();
        std::copy(begin + static_cast<std::ptrdiff_t>(next_mark_),
                  begin + static_cast<std::ptrdiff_t>(last_mark_), begin);
        last_mark_ -= next_mark_;
        next_mark_ = 0;
        marked_to_ = (std::max)(marked_to_, begin_);
        while (last_mark_ < wanted && marked_to_ != end_) {
            std::size_t const to = (std::min)(marked_to_ + step, end_);
            if (marks_.size() < last_mark_ + step + marks_padding)
                marks_.resize(last_mark_ + step + marks_padding);
            last_mark_ = static_cast<std::size_t>(
                find_marks(buffer_.data(), marked_to_, to, marks_.data() + last_mark_) - marks_.data());
            marked_to_ = to;
        }
    }

    // The record at begin_ is damaged at `at`. At every line end before that it is inside quotes, and so is
    // any record that begins later and reaches such a line end: it will fail there, too. Knowing this keeps
    // recovery from any number of faults linear.
    [[noreturn]] void tear(std::size_t at, std::size_t line, std::string because) {
        torn_until_ = offset_of(at);
        torn_line_ = line;
        torn_because_ = std::move(because);
        throw error(torn_line_, torn_because_);
    }
    // Its offset in the file.
    [[nodiscard]] std::uint64_t offset_of(std::size_t at) const noexcept { return read_ - end_ + at; }

    // Finds the fields of the record at begin_ without changing anything, since it may have to start over
    // when the buffer ends first.
    scan_result scan() {
        places_.clear();
        quoted_ = false;
        lines_in_record_ = 1;
        std::size_t at = begin_;
        for (;;) {
            if (places_.size() == limits_.fields) tear(at, line_, "too many fields");
            if (buffer_[at] == '"') {
                if (scan_quoted(at) == scan_result::more) return scan_result::more;
            } else {
                std::size_t const first = at;
                char const* p = buffer_.data() + at;
                while (!ends_plain_text[static_cast<unsigned char>(*p)]) ++p;
                at = static_cast<std::size_t>(p - buffer_.data());
                places_.push_back({first, at, false});
            }
            if (at == end_) {
                if (!source_done_) return scan_result::more;
                record_end_ = at;
                return scan_result::complete;
            }
            char const c = buffer_[at];
            if (c == '\0') tear(at, line_of(at), "a NUL byte: this is not a text file");
            ++at;
            if (c == ',') continue;
            if (c == '\r') {
                if (at == end_ && !source_done_) return scan_result::more;
                if (buffer_[at] == '\n') ++at;
            }
            record_end_ = at;
            return scan_result::complete;
        }
    }

    // `at` goes from the opening quote to behind the closing one.
    scan_result scan_quoted(std::size_t& at) {
        quoted_ = true;
        std::size_t const opened_on = line_ + lines_in_record_ - 1;
        std::size_t const first = ++at;
        bool doubled = false;
        for (;; ++at) {
            char const c = buffer_[at];
            if (c == '\n' || c == '\r') {
                if (offset_of(at) < torn_until_) throw error(torn_line_, torn_because_);
                lines_in_record_ += static_cast<std::size_t>(c == '\n');
            } else if (c == '\0') {
                if (at != end_) tear(at, line_of(at), "a NUL byte: this is not a text file");
                if (source_done_)
                    tear(at, opened_on, "a quoted field is never closed: is the file truncated?");
                return scan_result::more;
            } else if (c == '"') {
                if (at + 1 == end_ && !source_done_) return scan_result::more;
                if (buffer_[at + 1] != '"') break;
                doubled = true;
                ++at;
            }
        }
        places_.push_back({first, at, doubled});
        ++at;
        if (!ends_plain_text[static_cast<unsigned char>(buffer_[at])])
            tear(at, line_of(at), "text behind a closing quote");
        return scan_result::complete;
    }

    void write_fields() {
        fields_.clear();
        for (place const& p : places_) {
            char* const first = buffer_.data() + p.first;
            char* last = buffer_.data() + p.last;
            if (p.doubled_quotes) last = halve_quotes(first, last);
            fields_.emplace_back(first, static_cast<std::size_t>(last - first));
        }
    }

    static char* halve_quotes(char* first, char* last) {
        char* to = first;
        for (char const* from = first; from != last; ++from) {
            *to++ = *from;
            if (*from == '"') ++from;
        }
        return to;
    }

    // Moves the rest to the front and reads more; false at the end of the file.
    bool refill() {
        std::size_t const rest = end_ - begin_;
        if (rest >= limits_.record_bytes)
            tear(end_, line_,
                 "a record of more than " + std::to_string(limits_.record_bytes) +
                     " bytes: is a closing quote missing?");
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
        std::size_t const room = (std::max)(block, 2 * rest);
        if (buffer_.size() < room + marks_padding) buffer_.resize(room + marks_padding);
        std::size_t const got = source_(buffer_.data() + rest, room - rest);
        begin_ = marked_to_ = next_mark_ = last_mark_ = 0; // marks are where text was
        end_ = rest + got;
        buffer_[end_] = '\0';
        read_ += got;
        source_done_ = got == 0;
        return got > 0;
    }

    void skip_byte_order_mark() {
        std::string_view const start(buffer_.data(), end_);
        if (start.starts_with("\xEF\xBB\xBF")) begin_ = 3;
        if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF"))
            throw error(1, "this is UTF-16: convert it to UTF-8 first");
        if (start.starts_with("\x1F\x8B")) throw error(1, "this is compressed: unpack it with gzip first");
        if (start.starts_with("\x28\xB5\x2F\xFD"))
            throw error(1, "this is compressed: unpack it with zstd first");
    }

    [[nodiscard]] std::size_t line_of(std::size_t at) const {
        auto const first = buffer_.begin() + static_cast<std::ptrdiff_t>(begin_);
        auto const last = buffer_.begin() + static_cast<std::ptrdiff_t>(at);
        return line_ + static_cast<std::size_t>(std::count(first, last, '\n'));
    }

    Source source_;
    limits limits_;
    std::vector<char> buffer_{'\0'}; // [begin_, end_) has not been returned yet; buffer_[end_] is NUL
    std::size_t begin_ = 0, end_ = 0;
    std::uint64_t read_ = 0;
    bool source_done_ = false;
    bool at_first_;                // the first record is not a header, and has not been returned yet
    bool torn_ = false;            // the record at begin_ is damaged
    std::uint64_t torn_until_ = 0; // offset
    std::size_t torn_line_ = 1;
    std::string torn_because_;
    std::size_t line_ = 1;
    std::vector<place> places_;
    bool quoted_ = false;
    std::size_t record_end_ = 0, record_line_ = 1, lines_in_record_ = 1;
    std::vector<std::string_view> fields_;
    std::vector<std::string> header_;
    // The marks of the buffer up to marked_to_; those from begin_ on are in marks_[next_mark_, last_mark_).
    std::size_t marked_to_ = 0, next_mark_ = 0, last_mark_ = 0;
    std::vector<std::uint32_t> marks_;
};

/// Reads from text in memory.
class text_source {
  public:
    explicit text_source(std::string_view text) noexcept : rest_(text) {}
    std::size_t operator()(char* to, std::size_t size) noexcept {
        std::size_t const n = (std::min)(size, rest_.size());
        std::copy_n(rest_.data(), n, to);
        rest_.remove_prefix(n);
        return n;
    }

  private:
    std::string_view rest_;
};

/// A field in written form: quoted only if necessary.
/// @param safe puts an apostrophe before what a spreadsheet would take for a formula
[[nodiscard]] inline std::string quoted(std::string_view field, bool safe = false) {
    if (safe && !field.empty() && std::string_view("=+-@\t\r\n").find(field[0]) != std::string_view::npos)
        return csv::quoted("'" + std::string(field));
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
    std::string out = "\"";
    for (char c : field) {
        if (c == '"') out += '"';
        out += c;
    }
    return out += '"';
}

} // namespace csv
