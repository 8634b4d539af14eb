// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Bytes as they arrive, divided into complete lines.
#pragma once

#include "watch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace straggle_watch {

/// @par Guarantees holds at most one incomplete line, of bounded length, and one block
class line_buffer {
  public:
    static constexpr std::size_t block = std::size_t{1} << 18;

    explicit line_buffer(std::size_t longest_line) : longest_(longest_line) {}

    /// Where the next bytes go: `block` of them.
    [[nodiscard]] char* room() {
        if (begin_ != 0) std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        if (bytes_.size() < end_ + block + padding) bytes_.resize(end_ + block + padding);
        return bytes_.data() + end_;
    }
    void filled(std::size_t bytes) { end_ += bytes; }

    /// Passes on complete lines: `lines(block, first_line)` returns their number, `too_long(line)` is called
    /// for a line that was skipped.
    template <class Lines, class TooLong>
    void take(Lines&& lines, TooLong&& too_long) {
        if (is_skipping_) {
            char const* const end = find_end(begin_);
            if (end == nullptr) {
                begin_ = end_;
                return;
            }
            begin_ = static_cast<std::size_t>(end - bytes_.data()) + 1;
            is_skipping_ = false;
        }
        std::string_view const there(bytes_.data() + begin_, end_ - begin_);
        if (std::size_t const last = there.rfind('\n'); last != std::string_view::npos) {
            line_ += lines(there.substr(0, last + 1), line_);
            begin_ += last + 1;
        }
        if (end_ - begin_ > longest_) {
            too_long(line_++);
            begin_ = end_;
            is_skipping_ = true;
        }
    }
    /// The same at the end, where the last line may not be terminated.
    template <class Lines>
    void take_rest(Lines&& lines) {
        if (!is_skipping_ && begin_ != end_) line_ += lines({bytes_.data() + begin_, end_ - begin_}, line_);
        begin_ = end_;
        is_skipping_ = false;
    }
    /// Bytes that were not passed on yet.
    [[nodiscard]] std::size_t left() const { return end_ - begin_; }
    /// Starts again, at a line.
    void restart(std::uint64_t line) {
        begin_ = end_ = 0;
        line_ = line;
        is_skipping_ = false;
    }

  private:
    [[nodiscard]] char const* find_end(std::size_t from) const {
        return static_cast<char const*>(std::memchr(bytes_.data() + from, '\n', end_ - from));
    }

    std::vector<char> bytes_ = std::vector<char>(padding);
    std::size_t begin_ = 0, end_ = 0, longest_;
    std::uint64_t line_ = 1;
    bool is_skipping_ = false;
};

} // namespace straggle_watch
