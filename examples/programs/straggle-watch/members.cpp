// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "members.hpp"

#include <charconv>
#include <cmath>

namespace straggle_watch {

namespace {

// Which member a key is; `member_count` for one that nobody knows. By length and first letter there are few.
std::size_t find_member(std::string_view key) {
    static constexpr auto by_length = [] {
        constexpr std::size_t longest = 10;
        std::array<std::array<std::uint8_t, 10>, longest> table{};
        for (auto& row : table) row.fill(member_count);
        for (std::size_t m = 0; m < member_count; ++m) {
            auto& row = table[to_string(static_cast<member>(m)).size()];
            std::size_t i = 0;
            while (row[i] != member_count) ++i;
            row[i] = static_cast<std::uint8_t>(m);
        }
        return table;
    }();
    if (key.size() >= by_length.size()) return member_count;
    for (std::uint8_t const m : by_length[key.size()]) {
        if (m == member_count) return m;
        if (to_string(static_cast<member>(m)) == key) return m;
    }
    return member_count;
}

} // namespace

void members::read(simdjson::dom::object object) {
    present_ = 0;
    fault_ = {};
    for (auto const& [key, found] : object) {
        std::size_t const m = find_member(key);
        if (m == member_count || found.is_null() || (present_ >> m & 1u) != 0) continue;
        present_ |= std::uint64_t{1} << m;
        keep(m, found);
    }
}

void members::keep(std::size_t m, simdjson::dom::element from) {
    value& to = values_[m];
    bool yes = false;
    if (from.get(to.text) == simdjson::SUCCESS) {
        to.is = kind::text;
    } else if (from.get(to.number) == simdjson::SUCCESS) { // simdjson has no infinity and no NaN
        auto const digits = name_of(from, m);
        to.is = digits ? kind::whole : kind::real;
        if (digits) to.text = *digits;
    } else if (from.get(yes) == simdjson::SUCCESS) {
        to.is = yes ? kind::yes : kind::no;
    } else {
        to.is = from.is_array() ? kind::array : kind::other;
        arrays_[m] = from;
    }
}

std::optional<std::string_view> members::name_of(simdjson::dom::element from, std::size_t place) {
    std::string_view text;
    if (from.get(text) == simdjson::SUCCESS) {
        if (text.empty() || text.size() > longest_name) return std::nullopt;
        return text;
    }
    char* const first = digits_[place].data();
    char* const last = first + digits_[place].size();
    if (std::int64_t n = 0; from.get(n) == simdjson::SUCCESS)
        return std::string_view(first, std::to_chars(first, last, n).ptr);
    if (std::uint64_t n = 0; from.get(n) == simdjson::SUCCESS)
        return std::string_view(first, std::to_chars(first, last, n).ptr);
    return std::nullopt;
}

std::optional<std::string_view> members::name(member m) {
    if (!has(m)) return std::nullopt;
    value const& v = (*this)[m];
    bool const is_name =
        v.is == kind::whole || (v.is == kind::text && !v.text.empty() && v.text.size() <= longest_name);
    if (is_name) return v.text;
    fail(fault::bad_value, m);
    return std::nullopt;
}

std::optional<double> members::number(member m) {
    if (!has(m)) return std::nullopt;
    value const& v = (*this)[m];
    if (v.is == kind::whole || v.is == kind::real) return v.number;
    fail(fault::bad_value, m);
    return std::nullopt;
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

std::optional<bool> members::flag(member m) {
    if (!has(m)) return std::nullopt;
    value const& v = (*this)[m];
    if (v.is == kind::yes || v.is == kind::no) return v.is == kind::yes;
    fail(fault::bad_value, m);
    return std::nullopt;
}

std::optional<std::string_view> members::text(member m) {
    if (!has(m)) return std::nullopt;
    value const& v = (*this)[m];
    if (v.is == kind::text) return v.text;
    fail(fault::bad_value, m);
    return std::nullopt;
}

std::optional<simdjson::dom::array> members::array(member m) {
    simdjson::dom::array found;
    if (!has(m)) {
        fail(fault::missing_member, m);
        return std::nullopt;
    }
    if ((*this)[m].is != kind::array ||
        arrays_[static_cast<std::size_t>(m)].get(found) != simdjson::SUCCESS) {
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    return found;
}

} // namespace straggle_watch
