// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A streaming reader of JSON lines: an object on each line, of which some members are wanted. It holds one
/// line at a time. Numbers are returned as written, so that no digit is lost. What is not an object, or
/// longer than any object should be, is an `error` with its line number.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace json_lines {

/// The text is not JSON lines; the message does not repeat the line.
class error : public std::runtime_error {
  public:
    error(std::size_t line, std::string const& message) : std::runtime_error(message), line_(line) {}
    /// Where, counted from 1 as editors do.
    [[nodiscard]] std::size_t line() const noexcept { return line_; }

  private:
    std::size_t line_;
};

/// The value of a member.
struct member {
    enum class kind : std::uint8_t {
        absent,
        null,
        text,    ///< a string
        number,  ///< as written
        boolean, ///< `true` or `false`
        nested,  ///< an array or an object; its content is skipped
    };
    kind is = kind::absent;
    std::string text;
};

namespace detail {

// Receives what the parser finds, and keeps what is wanted. Nesting costs one bit per level.
class listener {
  public:
    listener(std::span<std::string const> names, std::span<member> members)
        : names_(names), members_(members) {
        for (member& m : members_) {
            m.is = member::kind::absent;
            m.text.clear();
        }
    }

    bool null() { return take(member::kind::null, ""); }
    bool boolean(bool value) { return take(member::kind::boolean, value ? "true" : "false"); }
    bool number_integer(std::int64_t value) { return take(member::kind::number, std::to_string(value)); }
    bool number_unsigned(std::uint64_t value) { return take(member::kind::number, std::to_string(value)); }
    bool number_float(double, std::string const& text) { return take(member::kind::number, text); }
    bool string(std::string& value) { return take(member::kind::text, value); }
    bool binary(nlohmann::json::binary_t&) { return false; } // is not in JSON
    bool start_object(std::size_t) { return open(false); }
    bool start_array(std::size_t) { return open(true); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string const& name) {
        if (depth_ == 1) wanted_ = std::find(names_.begin(), names_.end(), name) - names_.begin();
        return true;
    }
    bool parse_error(std::size_t position, std::string const&, nlohmann::detail::exception const&) {
        fault_ = "no JSON from byte " + std::to_string(position) + " of the line on";
        return false;
    }
    [[nodiscard]] std::string const& fault() const { return fault_; }

  private:
    bool open(bool array) {
        if (depth_ == 0 && array) return no_object();
        if (depth_ == 1) take(member::kind::nested, "");
        ++depth_;
        return true;
    }
    bool close() {
        --depth_;
        return true;
    }
    bool take(member::kind kind, std::string_view text) {
        if (depth_ == 0) return no_object();
        if (depth_ > 1 || wanted_ == std::ssize(members_)) return true;
        members_[static_cast<std::size_t>(wanted_)].is = kind;
        members_[static_cast<std::size_t>(wanted_)].text = text;
        return true;
    }
    bool no_object() {
        fault_ = "JSON, but not an object";
        return false;
    }

    std::span<std::string const> names_;
    std::span<member> members_;
    std::ptrdiff_t wanted_ = 0;
    std::size_t depth_ = 0;
    std::string fault_;
};

} // namespace detail

/// Reads objects one by one; skips empty lines.
///
/// @tparam Source called with (char* to, std::size_t size); writes up to size bytes, returns how many, 0 at
/// the end
template <class Source>
class reader {
  public:
    /// @param names of the wanted members; if a name occurs twice, the first one counts
    reader(Source source, std::vector<std::string> names, std::size_t longest_line = std::size_t{1} << 20)
        : source_(std::move(source)),
          names_(std::move(names)),
          members_(names_.size()),
          longest_(longest_line) {
        while (buffer_.size() < 3 && refill()) {
        }
        std::string_view const start = buffer_;
        if (start.starts_with("\xEF\xBB\xBF")) begin_ = 3;
        if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF"))
            throw error(1, "this is UTF-16: convert it to UTF-8 first");
        if (start.starts_with("\x1F\x8B")) throw error(1, "this is compressed: unpack it with gzip first");
    }

    /// Goes to the next object; false at the end of the file.
    bool next() {
        std::string_view text;
        while (next_line(text)) {
            if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
            detail::listener listener(names_, members_);
            if (!nlohmann::json::sax_parse(text.begin(), text.end(), &listener))
                throw error(line_, listener.fault());
            return true;
        }
        return false;
    }

    /// The members of the object, in the order of the names; valid until the next call of `next`.
    [[nodiscard]] std::span<member const> members() const noexcept { return members_; }
    /// The current line.
    [[nodiscard]] std::size_t line() const noexcept { return line_; }
    /// Bytes of the file up to the end of the line.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return read_ - (buffer_.size() - begin_); }

  private:
    static constexpr std::size_t block = std::size_t{1} << 16;

    bool next_line(std::string_view& text) {
        std::size_t looked_at = begin_;
        for (;;) {
            std::size_t const end = buffer_.find('\n', looked_at);
            if (end != std::string::npos || (done_ && begin_ < buffer_.size())) {
                text = std::string_view(buffer_).substr(begin_, end - begin_);
                begin_ = (std::min)(begin_ + text.size() + 1, buffer_.size());
                ++line_;
                return true;
            }
            if (done_) return false;
            looked_at = buffer_.size() - begin_;
            if (looked_at > longest_)
                throw error(line_ + 1, "a line of more than " + std::to_string(longest_) + " bytes");
            refill();
        }
    }

    // Moves the rest to the front and reads more; false at the end of the file.
    bool refill() {
        buffer_.erase(0, begin_);
        begin_ = 0;
        std::size_t const rest = buffer_.size();
        buffer_.resize(rest + block);
        std::size_t const got = source_(buffer_.data() + rest, block);
        buffer_.resize(rest + got);
        read_ += got;
        done_ = got == 0;
        return got > 0;
    }

    Source source_;
    std::vector<std::string> names_;
    std::vector<member> members_;
    std::size_t longest_;
    std::string buffer_; // not yet returned from begin_ on
    std::size_t begin_ = 0;
    std::uint64_t read_ = 0;
    std::size_t line_ = 0;
    bool done_ = false;
};

} // namespace json_lines
