// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Where the tokens of JSON are, as simdjson finds them: for one text, or for many lines at once.
#pragma once

#include "text_window.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace readers {

/// Values that are not plain texts or numbers: simdjson parses them again.
class odd_values {
  public:
    /// The value of a complete text.
    [[nodiscard]] std::optional<simdjson::dom::element> parse(std::string_view text) {
        simdjson::dom::element value;
        if (parser_.parse(text.data(), text.size(), false).get(value) != simdjson::SUCCESS)
            return std::nullopt;
        return value;
    }
    /// The content of a quoted text; empty if its escapes are invalid. Valid until `clear`.
    [[nodiscard]] std::string_view unescaped(std::string_view quoted) {
        auto const value = parse(quoted);
        std::string_view text;
        if (!value || value->get(text) != simdjson::SUCCESS) return {};
        return texts_.emplace_back(text);
    }
    void clear() {
        if (!texts_.empty()) texts_.clear();
    }

  private:
    simdjson::dom::parser parser_;
    std::deque<std::string> texts_;
};

/// Where each bracket, comma, colon, text, number and word of a text begins. The text is UTF-8, and its
/// quotes are closed.
struct json_tokens {
    char const* text = nullptr;
    std::uint32_t const *first = nullptr, *last = nullptr; ///< offsets in the text
    bool escapes = false;                                  ///< there may be a backslash
    odd_values* odd = nullptr;
};

/// Finds the tokens of a text. This is the first stage of simdjson; the second builds a tree.
class token_finder {
  public:
    static_assert(text_window::padding >= simdjson::SIMDJSON_PADDING);

    /// Empty if there is none, or the text is not JSON. Valid until the next call.
    /// @param text is followed by as many bytes as a `text_window` guarantees
    [[nodiscard]] std::optional<json_tokens> find(std::string_view text) {
        if (text.empty() || (text.size() > capacity_ && !make_room(text.size()))) return std::nullopt;
        auto const* const bytes = reinterpret_cast<std::uint8_t const*>(text.data());
        if (stage_->stage1(bytes, text.size(), simdjson::stage1_mode::regular) != simdjson::SUCCESS ||
            stage_->n_structural_indexes == 0)
            return std::nullopt;
        std::uint32_t const* const first = stage_->structural_indexes.get();
        bool const escapes = std::memchr(text.data(), '\\', text.size()) != nullptr;
        return json_tokens{text.data(), first, first + stage_->n_structural_indexes, escapes};
    }

  private:
    bool make_room(std::size_t size) {
        size = (std::max)({size, 2 * capacity_, std::size_t{1} << 16});
        capacity_ = 0;
        if (simdjson::get_active_implementation()->create_dom_parser_implementation(
                size, simdjson::DEFAULT_MAX_DEPTH, stage_) != simdjson::SUCCESS)
            return false;
        capacity_ = size;
        return true;
    }

    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage_;
    std::size_t capacity_ = 0;
};

/// Finds the tokens of lines, as many at a time as are in the window. Once one of them proves damaged, the
/// others are processed one by one: an unclosed one must not cost the next line.
class line_token_finder {
  public:
    explicit line_token_finder(line_reader const& lines) : lines_(lines) {}

    /// The tokens of the reader's current line and of what follows; empty if they must be searched in the
    /// line alone.
    [[nodiscard]] std::optional<json_tokens> find_in_block() {
        if (lines_.offset() >= end_) find_block();
        if (!block_) return std::nullopt;
        std::uint32_t const begin = line_begin();
        while (block_->first != block_->last && *block_->first < begin) ++block_->first;
        if (block_->first == block_->last) return std::nullopt;
        return block_;
    }
    /// Reports where a walk from the first of these ended. @return whether that is the end of the line
    [[nodiscard]] bool is_end_of_line(std::uint32_t const* at) {
        std::size_t const end = line_begin() + lines_.line().size();
        if (at[-1] >= end || (at != block_->last && *at < end)) return false;
        block_->first = at;
        return true;
    }
    /// The tokens of the line alone. Empty if there is none, or the line is not JSON.
    [[nodiscard]] std::optional<json_tokens> find_in_line() {
        block_.reset();
        return finder_.find(lines_.line());
    }

  private:
    // Up to the last line end.
    void find_block() {
        std::string_view const text = lines_.rest().substr(0, most);
        std::size_t const size = (std::max)(text.rfind('\n') + 1, lines_.line().size()); // npos + 1 is 0
        begin_ = lines_.offset();
        end_ = begin_ + size;
        block_ = finder_.find(text.substr(0, size));
    }
    [[nodiscard]] std::uint32_t line_begin() const {
        return static_cast<std::uint32_t>(lines_.offset() - begin_);
    }

    static constexpr std::size_t most = std::size_t{1} << 30; // offsets have 32 bits

    line_reader const& lines_;
    token_finder finder_;
    std::optional<json_tokens> block_;  // from the line on; empty: searched line by line
    std::uint64_t begin_ = 0, end_ = 0; // of the block, in the whole text
};

} // namespace readers
