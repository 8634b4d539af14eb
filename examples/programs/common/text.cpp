// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

namespace program {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// Length of the well-formed character at the front (Unicode table 3-7), 0 if there is none.
std::size_t character_length(std::string_view s) {
    auto const byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
    auto const tail = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
    unsigned const first = byte(0), second = byte(1);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        if (first == 0xE0 && second < 0xA0) return 0;
        if (first == 0xED && second > 0x9F) return 0;
        return tail(1) && tail(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (first == 0xF0 && second < 0x90) return 0;
        if (first == 0xF4 && second > 0x8F) return 0;
        return tail(1) && tail(2) && tail(3) ? 4 : 0;
    }
    return 0;
}

bool is_harmless(std::string_view character) {
    if (character.size() == 1) return character[0] >= ' ' && character[0] != '\x7F';
    if (character.size() == 2 && character[0] == '\xC2')
        return static_cast<unsigned char>(character[1]) >= 0xA0;
    // U+200B to U+200F, U+2028 to U+202E, U+2066 to U+2069
    if (character.starts_with("\xE2\x80")) {
        auto const last = static_cast<unsigned char>(character[2]);
        return !(last >= 0x8B && last <= 0x8F) && !(last >= 0xA8 && last <= 0xAE);
    }
    if (character.starts_with("\xE2\x81")) {
        auto const last = static_cast<unsigned char>(character[2]);
        return !(last >= 0xA6 && last <= 0xA9);
    }
    return true;
}

template <class Accept>
std::string filtered(std::string_view text, Accept&& accept) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t const length = character_length(text);
        std::string_view const character = text.substr(0, length);
        out += length > 0 && accept(character) ? character : replacement;
        text.remove_prefix(length > 0 ? length : 1);
    }
    return out;
}

template <class... Arguments>
std::string formatted(char const* format, Arguments... arguments) {
    std::array<char, 400> text{};
    std::snprintf(text.data(), text.size(), format, arguments...);
    return text.data();
}

bool begins_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
}

} // namespace

std::string valid_utf8(std::string_view text) {
    return filtered(text, [](std::string_view) { return true; });
}

std::vector<std::string> distinct_names(std::span<std::string const> names) {
    std::vector<std::string> result;
    std::set<std::string, std::less<>> used;
    for (std::string const& name : names) {
        std::string text = valid_utf8(name);
        for (int n = 2; !used.insert(text).second; ++n) text = valid_utf8(name) + "#" + std::to_string(n);
        result.push_back(std::move(text));
    }
    return result;
}

std::string printable(std::string_view text) {
    std::string out = filtered(text, [](std::string_view c) { return c == "\t" || is_harmless(c); });
    std::ranges::replace(out, '\t', ' ');
    return out;
}

std::size_t width(std::string_view text) {
    std::size_t n = 0;
    for (char c : text) n += static_cast<std::size_t>(begins_character(c));
    return n;
}

std::string shortened(std::string_view text, std::size_t most, std::string_view ellipsis) {
    std::size_t const columns = width(text);
    if (columns <= most) return std::string(text);
    std::size_t const kept = most - width(ellipsis);
    std::size_t const front = (kept + 1) / 2, back = columns - kept / 2;
    std::string head, tail;
    std::size_t column = 0;
    for (char c : text) {
        column += static_cast<std::size_t>(begins_character(c));
        if (column <= front) head += c;
        if (column > back) tail += c;
    }
    return head.append(ellipsis) + tail;
}

std::string exact(double x) {
    std::array<char, 32> text{};
    auto const [end, fault] = std::to_chars(text.data(), text.data() + text.size(), x);
    return {text.data(), end};
}

std::string grouped(std::uint64_t n) {
    std::string digits = std::to_string(n);
    for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ' ');
    return digits;
}

std::string fixed(double x, int digits) {
    return formatted("%.*f", digits, x);
}
std::string signed_number(double x) {
    return formatted("%+.2f", x);
}
std::string short_number(double x) {
    return formatted("%.3g", x);
}
std::string percent(double share) {
    return formatted("%.3g %%", share * 100);
}

std::string counted(std::uint64_t n, std::string_view noun) {
    return grouped(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

std::string in_lines(std::span<std::size_t const> first, std::uint64_t all) {
    std::string list;
    for (std::size_t const line : first) list.append(list.empty() ? "" : ", ").append(std::to_string(line));
    if (list.empty()) return list;
    list.insert(0, all == 1 ? " (line " : " (lines ");
    list.append(all > first.size() ? ", ...)" : ")");
    return list;
}

} // namespace program
