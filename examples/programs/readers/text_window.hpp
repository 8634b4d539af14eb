// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The current part of a text: a buffer that is refilled from a source and counts lines.
#pragma once

#include "source.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace readers {

/// The number of line ends in a text.
[[nodiscard]] std::size_t line_ends_in(std::string_view text);

/// A window on a text. The visible part is always followed by `padding` readable bytes.
/// @par Cost memory for a block, or for the longest piece that was ever requested
class text_window {
  public:
    static constexpr std::size_t padding = 64; ///< simdjson asks for 64 at most
    static constexpr std::size_t block = std::size_t{1} << 18;

    explicit text_window(unpacked_source& source) : source_(source) {
        buffer_.resize(block + padding);
        while (end_ < 4 && more()) {
        }
        if (view().starts_with("\xEF\xBB\xBF")) begin_ = 3; // a byte order mark
    }

    /// The text that has not been consumed.
    [[nodiscard]] std::string_view view() const { return {buffer_.data() + begin_, end_ - begin_}; }
    /// Appends more text to the view, which moves; false at the end of the text.
    bool more() {
        if (done_) return false;
        std::size_t const rest = end_ - begin_;
        std::memmove(buffer_.data(), buffer_.data() + begin_, rest);
        begin_ = 0;
        end_ = rest;
        std::size_t const room = rest + (std::max)(block, rest); // a whole block bypasses the source's buffer
        if (buffer_.size() < room + padding) buffer_.resize(room + padding);
        std::size_t const got = source_(buffer_.data() + end_, room - end_);
        end_ += got;
        done_ = got == 0;
        return !done_;
    }
    /// Releases the first n bytes of the view, which contain `lines` line ends.
    void consume(std::size_t n, std::size_t lines) {
        begin_ += n;
        line_ += lines;
        consumed_ += n;
    }
    /// The same, counting the lines.
    void consume(std::size_t n) {
        std::string_view const gone = view().substr(0, n);
        consume(gone.size(), line_ends_in(gone));
    }

    /// At least this much, if the text has it.
    std::string_view head(std::size_t size) {
        while (view().size() < size && more()) {
        }
        return view().substr(0, size);
    }

    /// The line of the first byte of the view, counted from 1.
    [[nodiscard]] std::size_t line() const { return line_; }
    [[nodiscard]] bool at_end() const { return done_ && begin_ == end_; }
    [[nodiscard]] std::uint64_t consumed() const { return consumed_; }
    [[nodiscard]] unpacked_source const& source() const { return source_; }

  private:
    unpacked_source& source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0, line_ = 1;
    std::uint64_t consumed_ = 0;
    bool done_ = false;
};

/// The lines of a text, one by one, without their ends.
class line_reader {
  public:
    static constexpr std::size_t longest = std::size_t{64} << 20;

    explicit line_reader(text_window& text) : text_(text) {}

    /// Goes to the next line; false at the end of the text.
    bool next() {
        text_.consume(used_, used_ > 0 && ended_ ? 1 : 0);
        used_ = 0;
        std::size_t looked = 0;
        for (;;) {
            std::string_view const rest = text_.view();
            void const* const end = looked < rest.size()
                                        ? std::memchr(rest.data() + looked, '\n', rest.size() - looked)
                                        : nullptr;
            if (end != nullptr) {
                used_ = static_cast<std::size_t>(static_cast<char const*>(end) - rest.data()) + 1;
                ended_ = true;
                return take(rest.substr(0, used_ - 1));
            }
            looked = rest.size();
            if (looked > longest) return skip_monster();
            if (text_.more()) continue;
            if (text_.view().empty()) return false;
            used_ = looked;
            ended_ = false;
            return take(text_.view());
        }
    }

    [[nodiscard]] std::string_view line() const { return line_; }
    /// The line and what follows it in the window.
    [[nodiscard]] std::string_view rest() const { return text_.view(); }
    /// The offset of the line in the text.
    [[nodiscard]] std::uint64_t offset() const { return text_.consumed(); }
    /// Counted from 1.
    [[nodiscard]] std::size_t number() const { return text_.line(); }
    /// The line is the last one and has no end: it may still be in the process of being written.
    [[nodiscard]] bool torn() const { return !ended_; }
    /// The line is longer than allowed; it is skipped, and `line` is empty.
    [[nodiscard]] bool too_long() const { return too_long_; }

  private:
    bool take(std::string_view line) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        line_ = line;
        too_long_ = false;
        return true;
    }
    bool skip_monster() {
        line_ = {};
        too_long_ = true;
        for (;;) {
            std::string_view const rest = text_.view();
            std::size_t const end = rest.find('\n');
            if (end != std::string_view::npos) {
                used_ = end + 1;
                ended_ = true;
                return true;
            }
            text_.consume(rest.size(), 0);
            if (!text_.more()) {
                used_ = 0;
                ended_ = false;
                return true;
            }
        }
    }

    text_window& text_;
    std::string_view line_;
    std::size_t used_ = 0;
    bool ended_ = true, too_long_ = false;
};

} // namespace readers
