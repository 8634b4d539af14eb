// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The JSON objects of a text that does not consist of lines: several in sequence, or the elements of an
/// array. Each is found by its braces or its indentation, so that a parser sees one of them at a time.
#pragma once

#include "text_window.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace readers {

/// Finds objects. In a damaged one it finds where the next may begin.
/// @par Cost one pass; memory for one object
class json_items {
  public:
    static constexpr std::size_t longest = std::size_t{1} << 30;

    explicit json_items(text_window& text) : text_(text) {}

    /// Goes to the position after the `[` of the next `"key": [`; false if there is none.
    bool enter(std::string_view key);

    /// Goes to the next object; false at the end of the text, or of the array that was entered.
    bool next();

    /// The object, braces included.
    [[nodiscard]] std::string_view item() const { return text_.view().substr(0, used_); }
    /// The line on which it begins.
    [[nodiscard]] std::size_t line() const { return text_.line(); }
    /// The text ends before the object does.
    [[nodiscard]] bool torn() const { return torn_; }
    /// The line on which something begins that is not an object, before this one or, without one, before the
    /// end; 0 if there is none.
    [[nodiscard]] std::size_t garbage_line() const { return garbage_line_; }

    /// The object cannot be parsed: continues after it, or at the next one that seems to begin within it.
    void give_up();

  private:
    bool find_start();
    bool find_end_by_indent();
    bool find_end_by_braces();

    text_window& text_;
    std::string indent_; // the white space before the object on its line
    bool at_line_start_ = false;
    bool pretty_ = false; // the object spans several lines
    bool in_array_ = false, done_ = false, torn_ = false;
    std::size_t used_ = 0, garbage_line_ = 0;
};

/// Looks for the end of a JSON object, piece by piece.
class brace_scan {
  public:
    /// @param text begins with the object; may have grown since the last call
    /// @return the length of the object, 0 if its end is not in the text
    std::size_t find_end(std::string_view text);

  private:
    std::size_t step(std::string_view text, std::size_t until);

    std::size_t at_ = 0;
    std::int64_t depth_ = 0;
    bool in_string_ = false, escaped_ = false;
};

} // namespace readers
