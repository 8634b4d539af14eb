// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "settings.hpp"

#include "failure.hpp"
#include "number.hpp"
#include "text.hpp"

#include <algorithm>
#include <charconv>

namespace program {

settings::settings(std::string_view specification) : whole_(specification) {
    std::size_t const colon = specification.find(':');
    name_ = specification.substr(0, colon);
    if (colon == std::string_view::npos) return;
    specification.remove_prefix(colon + 1);
    for (bool more = true; more;) {
        std::size_t const comma = specification.find(',');
        std::string_view const item = specification.substr(0, comma);
        std::size_t const sign = item.find('=');
        if (sign == std::string_view::npos || sign == 0)
            wrong("'" + std::string(item) + "' is not of the form key=value");
        pair const one{item.substr(0, sign), item.substr(sign + 1)};
        for (pair const& p : pairs_)
            if (p.key == one.key) wrong(std::string(p.key) + " is there twice");
        pairs_.push_back(one);
        more = comma != std::string_view::npos;
        if (more) specification.remove_prefix(comma + 1);
    }
}

settings::pair* settings::ask(std::string_view key) {
    if (std::ranges::find(asked_, key) != asked_.end()) return nullptr; // another part has taken it
    asked_.push_back(key);
    auto const found = std::ranges::find(pairs_, key, &pair::key);
    if (found == pairs_.end()) return nullptr;
    found->taken = true;
    return &*found;
}

void settings::take(std::string_view key, double& value, double low, double high) {
    pair const* const found = ask(key);
    if (!found) return;
    double read = 0;
    if (!detail::read_double(found->value, read) || !(read >= low && read <= high))
        wrong(std::string(key) + ": '" + std::string(found->value) + "' is not a number from " +
              short_number(low) + " to " + short_number(high));
    value = read;
}

void settings::take(std::string_view key, std::uint64_t& value, std::uint64_t low, std::uint64_t high) {
    pair const* const found = ask(key);
    if (!found) return;
    std::uint64_t read = 0;
    std::string_view const s = found->value;
    auto const [end, fault] = std::from_chars(s.data(), s.data() + s.size(), read);
    if (fault != std::errc{} || end != s.data() + s.size() || read < low || read > high)
        wrong(std::string(key) + ": '" + std::string(s) + "' is not a whole number from " +
              std::to_string(low) + " to " + std::to_string(high));
    value = read;
}

bool settings::flag(std::string_view key, bool otherwise) {
    std::uint64_t value = otherwise ? 1 : 0;
    take(key, value, 0, 1);
    return value == 1;
}

void settings::finish() const {
    for (pair const& p : pairs_)
        if (!p.taken) wrong("it has no " + std::string(p.key) + ", only " + known());
}

std::string settings::known() const {
    std::string names;
    for (std::string_view const key : asked_) (names += names.empty() ? "" : ", ") += key;
    return names;
}

void settings::wrong(std::string const& what) const {
    throw failure(exit_status::usage,
                  "--detector: '" + printable(whole_) + "': " + printable(what) + " (see --help)");
}

} // namespace program
