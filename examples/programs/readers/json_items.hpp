// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The JSON objects of a text that is no text of lines: several one after the other, or the elements of an
/// array. Each is found by its braces or its indentation, so that a parser sees one of them at a time.
#pragma once

#include "text_window.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace readers {

/// Finds objects. Of a damaged one it knows where the next may begin.
/// @par Cost one pass; memory for one object
class json_items {
  public:
    static constexpr std::size_t longest = std::size_t{1} << 30;

    explicit json_items(text_window& text) : text_(text) {}

    /// Goes behind the `[` of the next `"key": [`; false if there is none.
    bool enter(std::string_view key);

    /// Goes to the next object; false at the end of the text, or of the array that was entered.
    bool next();

    /// The object, braces included.
    [[nodiscard]] std::string_view item() const { return text_.view().substr(0, used_); }
    /// On which line it begins.
    [[nodiscard]] std::size_t line() const { return text_.line(); }
    /// The text ends before the object does.
    [[nodiscard]] bool torn() const { return torn_; }
    /// On which line something begins that is no object, before this one or, where there is none, before the
    /// end; 0 if there is nothing of that kind.
    [[nodiscard]] std::size_t garbage_line() const { return garbage_line_; }

    /// The object cannot be parsed: goes on behind it, or at the next one that seems to begin within it.
    void give_up();

  private:
    bool find_start();
    bool find_end_by_indent();
    bool find_end_by_braces();

    text_window& text_;
    std::string indent_; // what stands before the object on its line, if that is white space
    bool at_line_start_ = false;
    bool pretty_ = false; // the object is written over several lines
    bool in_array_ = false, done_ = false, torn_ = false;
    std::size_t used_ = 0, garbage_line_ = 0;
};

/// Looks for the end of a JSON object, piece by piece.
class brace_scan {
  public:
    /// @param text begins with the object, and may have grown since the last call
    /// @return how long the object is, 0 if its end is not in the text
    std::size_t find_end(std::string_view text);

  private:
    std::size_t step(std::string_view text, std::size_t until);

    std::size_t at_ = 0;
    std::int64_t depth_ = 0;
    bool in_string_ = false, escaped_ = false;
};

} // namespace readers
