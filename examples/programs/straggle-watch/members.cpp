// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "members.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace straggle_watch {

namespace {

using simdjson::dom::element_type;

std::uint64_t word_at(char const* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// The first eight bytes of a text; zeros behind its end.
constexpr std::uint64_t first_bytes(std::string_view text) {
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size() && i < text.size(); ++i) bytes[i] = text[i];
    return std::bit_cast<std::uint64_t>(bytes);
}

// The same, of a text with eight readable bytes behind its beginning.
std::uint64_t first_bytes_there(std::string_view text) {
    std::uint64_t const word = word_at(text.data());
    if (text.size() >= sizeof word) return word;
    auto const unused = static_cast<unsigned>(8 * (sizeof word - text.size()));
    if (unused == 64) return 0;
    return std::endian::native == std::endian::little ? word << unused >> unused : word >> unused << unused;
}

// Which member a key is; `member_count` for one that nobody knows. By length there are few.
std::size_t find_member(std::string_view key, std::uint64_t first) {
    struct row {
        std::array<std::uint64_t, 10> first{};
        std::array<std::uint8_t, 10> member{};
        std::size_t size = 0;
    };
    static constexpr auto by_length = [] {
        std::array<row, 10> table{};
        for (std::size_t m = 0; m < member_count; ++m) {
            std::string_view const name = to_string(static_cast<member>(m));
            row& r = table[name.size()];
            r.first[r.size] = first_bytes(name);
            r.member[r.size++] = static_cast<std::uint8_t>(m);
        }
        return table;
    }();
    if (key.size() >= by_length.size()) return member_count;
    row const& r = by_length[key.size()];
    for (std::size_t i = 0; i < r.size; ++i)
        if (r.first[i] == first && (key.size() <= 8 || to_string(static_cast<member>(r.member[i])) == key))
            return r.member[i];
    return member_count;
}

bool is_space(char c) {
    return c == ' ' || c == '\t';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Where text ends that begins at `at`: at its closing quotation mark. Null where it is not plain.
char const* end_of_text(char const* at, char const* end) {
    constexpr std::uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    for (; at < end; at += 8) {
        std::uint64_t const word = word_at(at);
        std::uint64_t const quote = word ^ (ones * '"'), escape = word ^ (ones * '\\');
        // The lowest byte that is marked is one of these for sure: borrows go upwards only.
        std::uint64_t marked =
            ((quote - ones) & ~quote) | ((escape - ones) & ~escape) | ((word - ones * 0x20) & ~word) | word;
        marked &= high;
        if (marked == 0) continue;
        if constexpr (std::endian::native == std::endian::big) {
            while (at < end && *at != '"' && *at != '\\' && *at >= 0x20 && *at < 0x7F) ++at;
        } else {
            at += std::countr_zero(marked) / 8;
        }
        return at < end && *at == '"' ? at : nullptr;
    }
    return nullptr;
}

} // namespace

char const* members::read_plain_number(char const* at, char const* end, plain_value& to) {
    // More digits than these, signs and exponents are left to the parser.
    constexpr std::ptrdiff_t most_digits = 19;
    constexpr std::array<double, 20> powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                            1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    to.begin = at;
    std::uint64_t digits = 0;
    for (; at < end && is_digit(*at); ++at) digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
    std::ptrdiff_t const before = at - to.begin;
    if (before == 0 || before > most_digits || (before > 1 && *to.begin == '0')) return nullptr;
    std::ptrdiff_t behind = 0;
    to.is = plain_value::kind::whole;
    if (at < end && *at == '.') {
        char const* const first = ++at;
        for (; at < end && is_digit(*at); ++at) digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
        behind = at - first;
        if (behind == 0 || before + behind > most_digits) return nullptr;
        to.is = plain_value::kind::real;
    }
    if (at < end && (*at == 'e' || *at == 'E')) return nullptr;
    to.size = static_cast<std::uint32_t>(at - to.begin);
    if (digits <= std::uint64_t{1} << 53)
        // Both are exact, so that the quotient is what is nearest.
        to.number = static_cast<double>(digits) / powers[static_cast<std::size_t>(behind)];
    else if (std::from_chars(to.begin, at, to.number).ptr != at)
        return nullptr;
    return at;
}

char const* members::read_plain_value(char const* at, char const* end, plain_value& to) {
    using kind = plain_value::kind;
    if (*at == '"') {
        char const* const last = end_of_text(++at, end);
        if (last == nullptr) return nullptr;
        to.is = kind::text;
        to.begin = at;
        to.size = static_cast<std::uint32_t>(last - at);
        return last + 1;
    }
    std::string_view const left(at, static_cast<std::size_t>(end - at));
    to.begin = nullptr;
    if (left.starts_with("null")) return at + 4;
    if (bool const yes = left.starts_with("true"); yes || left.starts_with("false")) {
        to.begin = at;
        to.is = yes ? kind::yes : kind::no;
        return at + (yes ? 4 : 5);
    }
    return read_plain_number(at, end, to);
}

bool members::read_plain(std::string_view line) {
    present_ = 0;
    fault_ = {};
    is_plain_ = true;
    char const *at = line.data(), *const end = at + line.size();
    auto const skip = [&] {
        while (at < end && is_space(*at)) ++at;
        return at < end;
    };
    if (!skip() || *at++ != '{') return false;
    for (;;) {
        if (!skip() || *at++ != '"') return false;
        char const* const last = end_of_text(at, end);
        if (last == nullptr) return false;
        std::string_view const key(at, static_cast<std::size_t>(last - at));
        std::size_t const m = find_member(key, first_bytes_there(key));
        at = last + 1;
        if (!skip() || *at++ != ':' || !skip()) return false;
        plain_value value;
        at = read_plain_value(at, end, value);
        if (at == nullptr || !skip()) return false;
        if (m != member_count && value.begin != nullptr && (present_ >> m & 1u) == 0) {
            present_ |= std::uint64_t{1} << m;
            plain_[m] = value;
        }
        if (*at == '}') break;
        if (*at++ != ',') return false;
    }
    ++at;
    return !skip();
}

void members::read(simdjson::dom::object object) {
    present_ = 0;
    fault_ = {};
    is_plain_ = false;
    for (auto const& [key, value] : object) {
        std::size_t const m = find_member(key, first_bytes(key));
        if (m == member_count || value.is_null() || (present_ >> m & 1u) != 0) continue;
        present_ |= std::uint64_t{1} << m;
        values_[m] = value;
    }
}

std::optional<std::string_view> members::name_of(simdjson::dom::element value, std::size_t place) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
        if (text.empty() || text.size() > longest_name) return std::nullopt;
        return text;
    }
    char* const first = digits_[place].data();
    char* const last = first + digits_[place].size();
    if (std::int64_t n = 0; value.get(n) == simdjson::SUCCESS)
        return std::string_view(first, std::to_chars(first, last, n).ptr);
    if (std::uint64_t n = 0; value.get(n) == simdjson::SUCCESS)
        return std::string_view(first, std::to_chars(first, last, n).ptr);
    return std::nullopt;
}

std::optional<std::string_view> members::read_name(member m) {
    auto const place = static_cast<std::size_t>(m);
    std::optional<std::string_view> found;
    if (!is_plain_)
        found = name_of(values_[place], place);
    else if (plain_value const& v = plain(m);
             v.is == plain_value::kind::whole ||
             (v.is == plain_value::kind::text && v.size != 0 && v.size <= longest_name))
        found.emplace(v.begin, v.size);
    if (!found) fail(fault::bad_value, m);
    return found;
}

std::optional<double> members::read_number(member m) {
    if (is_plain_) {
        plain_value const& v = plain(m);
        if (v.is == plain_value::kind::whole || v.is == plain_value::kind::real) return v.number;
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    double x = 0;
    // A double from whatever kind of number it is; simdjson has no infinity and no NaN.
    if (values_[static_cast<std::size_t>(m)].get(x) != simdjson::SUCCESS) {
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    return x;
}

std::optional<std::int64_t> members::count(member m) {
    auto const x = number(m);
    if (!x) return std::nullopt;
    if (!(*x >= 0 && *x <= 0x1p53) || std::floor(*x) != *x) {
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    return static_cast<std::int64_t>(*x);
}

std::optional<bool> members::read_flag(member m) {
    bool yes = is_plain_ && plain(m).is == plain_value::kind::yes;
    if (is_plain_ ? !yes && plain(m).is != plain_value::kind::no
                  : values_[static_cast<std::size_t>(m)].get(yes) != simdjson::SUCCESS) {
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    return yes;
}

std::optional<std::string_view> members::read_text(member m) {
    std::string_view found;
    if (is_plain_ && plain(m).is == plain_value::kind::text)
        return std::string_view(plain(m).begin, plain(m).size);
    if (is_plain_ || values_[static_cast<std::size_t>(m)].get(found) != simdjson::SUCCESS) {
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    return found;
}

std::optional<simdjson::dom::array> members::array(member m) {
    simdjson::dom::array found;
    if (!has(m)) {
        fail(fault::missing_member, m);
        return std::nullopt;
    }
    if (is_plain_ || values_[static_cast<std::size_t>(m)].get(found) != simdjson::SUCCESS) {
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    return found;
}

} // namespace straggle_watch
