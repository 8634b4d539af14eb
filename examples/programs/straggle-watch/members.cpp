// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "members.hpp"

#include <charconv>
#include <cmath>

namespace straggle_watch {

void members::read(simdjson::dom::object object) {
    present_ = 0;
    fault_ = {};
    for (auto const& [key, value] : object) {
        std::size_t const m = member_names.find(key);
        if (m == member_count || value.is_null() || (present_ >> m & 1u) != 0) continue;
        present_ |= std::uint64_t{1} << m;
        values_[m] = value;
    }
}

template <class T>
bool members::read(member m, T& told) {
    if (!has(m)) return false;
    if (value(m).get(told) == simdjson::SUCCESS) return true;
    fail(fault::bad_value, m);
    return false;
}
template bool members::read(member, double&);
template bool members::read(member, bool&);
template bool members::read(member, std::string_view&);
template bool members::read(member, simdjson::dom::array&);

std::string_view members::name_of(simdjson::dom::element value, std::size_t place) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) return text.size() > longest_name ? std::string_view{} : text;
    char* const first = digits_[place].data();
    char* const last = first + digits_[place].size();
    *first = number_mark;
    if (std::int64_t n = 0; value.get(n) == simdjson::SUCCESS)
        return {first, std::to_chars(first + 1, last, n).ptr};
    if (std::uint64_t n = 0; value.get(n) == simdjson::SUCCESS)
        return {first, std::to_chars(first + 1, last, n).ptr};
    return {};
}

std::optional<double> members::time(member m) {
    auto const x = number(m);
    if (x && !(std::fabs(*x) < 0x1p63)) { // beyond that, the library has no clock
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

} // namespace straggle_watch
