// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "members.hpp"

#include <charconv>
#include <cmath>

namespace straggle_watch {

namespace {

using simdjson::dom::element_type;

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
    for (auto const& [key, value] : object) {
        std::size_t const m = find_member(key);
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

std::optional<std::string_view> members::name(member m) {
    if (!has(m)) return std::nullopt;
    auto const place = static_cast<std::size_t>(m);
    auto const found = name_of(values_[place], place);
    if (!found) fail(fault::bad_value, m);
    return found;
}

std::optional<double> members::number(member m) {
    if (!has(m)) return std::nullopt;
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

std::optional<bool> members::flag(member m) {
    if (!has(m)) return std::nullopt;
    bool yes = false;
    if (values_[static_cast<std::size_t>(m)].get(yes) != simdjson::SUCCESS) {
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    return yes;
}

std::optional<std::string_view> members::text(member m) {
    if (!has(m)) return std::nullopt;
    std::string_view found;
    if (values_[static_cast<std::size_t>(m)].get(found) != simdjson::SUCCESS) {
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
    if (values_[static_cast<std::size_t>(m)].get(found) != simdjson::SUCCESS) {
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    return found;
}

} // namespace straggle_watch
