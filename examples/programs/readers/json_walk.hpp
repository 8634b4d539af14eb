// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Walks through JSON from token to token, without a tree. simdjson finds the tokens and checks UTF-8 and
/// quotes; unwanted values are skipped, and only their brackets are checked. An object is known to be valid
/// only once it has been walked to its end.
#pragma once

#include "../common/number.hpp"
#include "json_tokens.hpp"
#include "member_names.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace readers {

/// The kind of token that begins with a character.
struct token_kinds {
    enum class kind : std::uint8_t { scalar, opening, other };
    std::array<kind, 256> kinds{};
    std::array<std::int8_t, 256> depths{}; ///< the change of depth behind it
    constexpr token_kinds() {
        for (char const c : {'{', '['}) set(c, kind::opening, 1);
        for (char const c : {'}', ']'}) set(c, kind::other, -1);
        for (char const c : {',', ':'}) set(c, kind::other, 0);
    }

  private:
    constexpr void set(char c, kind is, std::int8_t depth) {
        kinds[static_cast<unsigned char>(c)] = is;
        depths[static_cast<unsigned char>(c)] = depth;
    }
};
inline constexpr token_kinds kinds_of_tokens;

/// A value that a walk found, or none.
class walked_value {
  public:
    /// @param at its token, which another token follows; null: no such value
    walked_value(json_tokens const* of, std::uint32_t const* at) : of_(of), at_(at) {}

    [[nodiscard]] bool exists() const { return at_ != nullptr; }

    /// 0 if there is no such value.
    [[nodiscard]] char front() const { return exists() ? of_->text[*at_] : '\0'; }
    /// The text of a number, word or string, quotes included. @pre there is such a value
    [[nodiscard]] std::string_view token() const {
        char const *const first = of_->text + *at_, *last = of_->text + at_[1];
        while (is_blank(last[-1])) --last; // a token begins with something else
        return {first, static_cast<std::size_t>(last - first)};
    }
    [[nodiscard]] json_tokens const& tokens() const { return *of_; }
    [[nodiscard]] std::uint32_t const* place() const { return at_; }
    /// The walk has gone through it, and is behind it now.
    void leave(std::uint32_t const* at) { at_ = at; }

    /// Where the value ends that begins at a token: the end of the text if there is none, or if its bracket
    /// is missing.
    [[nodiscard]] static std::uint32_t const* behind(json_tokens const& of, std::uint32_t const* at) {
        auto const& [kinds, depths] = kinds_of_tokens;
        auto const kind = kinds[static_cast<unsigned char>(of.text[*at++])];
        if (kind == token_kinds::kind::scalar) return at;
        if (kind == token_kinds::kind::other) return of.last;
        for (std::ptrdiff_t depth = 1; depth > 0; ++at) {
            if (at == of.last) return at;
            depth += depths[static_cast<unsigned char>(of.text[*at])];
        }
        return at;
    }

  private:
    static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

    json_tokens const* of_;
    std::uint32_t const* at_;
};

/// An object whose bracket the walk has passed.
class walked_object {
  public:
    walked_object(json_tokens const& of, std::uint32_t const* at) : of_(of), at_(at) {}

    /// Calls `each(key, place)` for all members, with keys as written. It returns where the walk continues;
    /// null if it found that this is not JSON.
    /// @return false if it is not JSON
    template <class Each>
    [[nodiscard]] bool each_member(Each&& each) {
        char const* const text = of_.text;
        std::uint32_t const *at = at_, *const last = of_.last;
        if (at != last && text[*at] == '}') return leave(at + 1);
        for (;;) {
            if (last - at < 4) return false; // key, colon, value, and a comma or the end
            char const *const quote = text + at[0], *behind_key = text + at[1];
            if (*quote != '"' || *behind_key != ':') return false;
            while (behind_key[-1] != '"') --behind_key;
            std::string_view const key(quote + 1, static_cast<std::size_t>(behind_key - quote - 2));
            at = each(key, at + 2);
            if (at == nullptr || at == last) return false;
            char const next = text[*at++];
            if (next == '}') return leave(at);
            if (next != ',') return false;
        }
    }
    [[nodiscard]] json_tokens const& tokens() const { return of_; }
    [[nodiscard]] std::uint32_t const* place() const { return at_; }

  private:
    bool leave(std::uint32_t const* at) {
        at_ = at;
        return true;
    }

    json_tokens const& of_;
    std::uint32_t const* at_;
};

/// The wanted members of an object. Valid as long as the tokens are.
template <std::size_t N>
class found_members {
  public:
    void look_in(json_tokens const& of) {
        of_ = &of;
        places_ = {};
    }

    [[nodiscard]] walked_value operator[](std::size_t which) const { return {of_, places_[which]}; }
    /// Of several with the same name, the first counts. @return whether it was one
    bool note(std::size_t which, std::uint32_t const* at) {
        std::uint32_t const*& place = places_[which];
        bool const first = place == nullptr;
        place = first ? at : place;
        return first;
    }

  private:
    json_tokens const* of_ = nullptr;
    std::array<std::uint32_t const*, N + 1> places_{}; // the last one for unwanted members
};

/// Calls `go_into(value)` with the value that begins at a token.
/// @return where the walk continues; null if `go_into` found that this is not JSON
template <class GoInto>
[[nodiscard]] std::uint32_t const* walk_by(json_tokens const& of, std::uint32_t const* at, GoInto&& go_into) {
    walked_value value(&of, at);
    if (!go_into(value)) return nullptr;
    return value.place() == at ? walked_value::behind(of, at) : value.place();
}

/// Finds the wanted members of an object, and calls `each(which, value)` on the way for the arrays and
/// objects among them.
/// @param each returns false if it found that this is not JSON
/// @return false if it is not JSON
template <std::size_t N, class Each>
[[nodiscard]] bool walk(walked_object& object, member_names<N> const& names, found_members<N>& found,
                        Each&& each) {
    using kind = token_kinds::kind;
    json_tokens const& of = object.tokens();
    found.look_in(of);
    return object.each_member([&](std::string_view key, std::uint32_t const* at) {
        std::size_t const which = names.index_of(key);
        bool const first = found.note(which, at);
        if (kinds_of_tokens.kinds[static_cast<unsigned char>(of.text[*at])] == kind::scalar) return at + 1;
        if (which == N || !first) return walked_value::behind(of, at);
        return walk_by(of, at, [&](walked_value& value) { return each(which, value); });
    });
}
/// The same for objects from which no array or object is wanted.
template <std::size_t N>
[[nodiscard]] bool walk(walked_object& object, member_names<N> const& names, found_members<N>& found) {
    return walk(object, names, found, [](std::size_t, walked_value const&) { return true; });
}

/// Calls `each` with the object that a value is; true if it is something else.
template <class Each>
[[nodiscard]] bool walk_object(walked_value& value, Each&& each) {
    if (value.front() != '{') return true;
    walked_object object(value.tokens(), value.place() + 1);
    if (!each(object)) return false;
    value.leave(object.place());
    return true;
}

/// Calls `each` with the objects in the array that a value is; true if it is something else.
template <class Each>
[[nodiscard]] bool walk_objects(walked_value& value, Each&& each) {
    if (value.front() != '[') return true;
    json_tokens const& of = value.tokens();
    std::uint32_t const* at = value.place() + 1;
    if (of.text[*at] == ']') { // every value is followed by a token
        value.leave(at + 1);
        return true;
    }
    for (;;) {
        if (of.last - at < 2) return false;
        at = walk_by(of, at, [&](walked_value& item) { return walk_object(item, each); });
        if (at == nullptr || at == of.last) return false;
        char const next = of.text[*at++];
        if (next != ',' && next != ']') return false;
        if (next == ']') break;
    }
    value.leave(at);
    return true;
}

/// Whether there is a backslash in a text, or up to seven bytes behind it. Texts are too short for `memchr`.
[[nodiscard]] inline bool may_have_escapes(std::string_view text) {
    constexpr std::uint64_t ones = 0x0101010101010101u;
    std::uint64_t found = 0;
    for (std::size_t at = 0; at < text.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, 8);
        word ^= ones * '\\'; // a backslash becomes 0
        found |= (word - ones) & ~word;
    }
    return (found & (ones << 7U)) != 0;
}

/// Empty if it is not a text. A view into the parsed text, or into the walker's memory.
[[nodiscard]] inline std::string_view text_of(walked_value const& value) {
    if (value.front() != '"') return {};
    std::string_view const token = value.token();
    if (value.tokens().escapes && may_have_escapes(token)) return value.tokens().odd->unescaped(token);
    return token.substr(1, token.size() - 2);
}

[[nodiscard]] inline bool begins_number(char c) {
    return (c >= '0' && c <= '9') || c == '-';
}

/// A whole number of up to 16 digits, as nearly all are; `unknown` if it is written differently.
[[nodiscard]] inline std::int64_t plain_whole_or(std::int64_t unknown, std::string_view token) {
    bool const negative = token.front() == '-';
    std::string_view const digits = token.substr(negative ? 1 : 0);
    std::int64_t n = 0;
    if (digits.size() > 16 || (digits.size() > 1 && digits.front() == '0') || !program::read_whole(digits, n))
        return unknown;
    return negative ? -n : n;
}

/// NaN if it is not a number.
[[nodiscard]] inline double number_of(walked_value const& value) {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    if (!begins_number(value.front())) return unknown;
    std::string_view const token = value.token();
    if (std::int64_t const n = plain_whole_or(none, token); n != none) return static_cast<double>(n);
    auto const number = value.tokens().odd->parse(token);
    double x = 0;
    return number && number->get(x) == simdjson::SUCCESS && std::isfinite(x) ? x : unknown;
}

/// `unknown` if it is not a whole number. An optional would be assembled in memory, which takes longer.
[[nodiscard]] inline std::int64_t whole_or(std::int64_t unknown, walked_value const& value) {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    if (!begins_number(value.front())) return unknown;
    std::string_view const token = value.token();
    if (std::int64_t const n = plain_whole_or(none, token); n != none) return n;
    auto const number = value.tokens().odd->parse(token);
    std::int64_t n = 0;
    if (number && number->get(n) == simdjson::SUCCESS) return n;
    double x = 0; // 1.5e12, as in some histories
    bool const is_whole =
        number && number->get(x) == simdjson::SUCCESS && std::fabs(x) < 9e18 && std::floor(x) == x;
    return is_whole ? static_cast<std::int64_t>(x) : unknown;
}

[[nodiscard]] inline std::optional<bool> flag(walked_value const& value) {
    char const front = value.front();
    if (front != 't' && front != 'f') return std::nullopt;
    std::string_view const token = value.token();
    if (token == "true") return true;
    if (token == "false") return false;
    return std::nullopt;
}

/// The kind of a complete text.
enum class json_kind : std::uint8_t { object, other, none };

/// Walks through texts that are one object each. What it finds is valid until the next walk.
class json_walker {
  public:
    /// @param text is followed by as many bytes as a `text_window` guarantees
    /// @param body returns false if it found that this is not JSON
    template <class Body>
    [[nodiscard]] json_kind read(std::string_view text, Body&& body) {
        odd_.clear();
        auto const tokens = finder_.find(text);
        return tokens ? read_whole(text, *tokens, body) : json_kind::none;
    }

  protected:
    template <class Body>
    [[nodiscard]] json_kind read_whole(std::string_view text, json_tokens const& tokens, Body& body) {
        std::uint32_t const* const end = walk_through(tokens, body);
        if (tokens.text[*tokens.first] != '{') return odd_.parse(text) ? json_kind::other : json_kind::none;
        // Anything after the object would be more than JSON.
        return end == tokens.last ? json_kind::object : json_kind::none;
    }
    // Where the object ends that begins with the first token; null if it is not one.
    template <class Body>
    [[nodiscard]] std::uint32_t const* walk_through(json_tokens const& tokens, Body& body) {
        tokens_ = tokens;
        tokens_.odd = &odd_;
        if (tokens.text[*tokens.first] != '{') return nullptr;
        walked_object object(tokens_, tokens.first + 1);
        return body(object) ? object.place() : nullptr;
    }
    void forget() { odd_.clear(); }

  private:
    token_finder finder_;
    json_tokens tokens_;
    odd_values odd_;
};

/// The same for the lines of a text.
class json_line_walker : json_walker {
  public:
    explicit json_line_walker(line_reader const& lines) : lines_(lines), finder_(lines) {}

    /// Walks through the reader's current line. If a line is damaged, `body` is called twice.
    template <class Body>
    [[nodiscard]] json_kind read(Body&& body) {
        forget();
        if (auto const block = finder_.find_in_block())
            if (auto const* const end = walk_through(*block, body); end && finder_.is_end_of_line(end))
                return json_kind::object;
        auto const tokens = finder_.find_in_line();
        return tokens ? read_whole(lines_.line(), *tokens, body) : json_kind::none;
    }

  private:
    line_reader const& lines_;
    line_token_finder finder_;
};

} // namespace readers
