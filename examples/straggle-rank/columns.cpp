// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "columns.hpp"

#include "failure.hpp"

#include <algorithm>

namespace straggle_rank {

void column_names::override_with(std::string_view specification) {
    while (!specification.empty()) {
        std::string_view const item = specification.substr(0, specification.find(','));
        specification.remove_prefix((std::min)(item.size() + 1, specification.size()));
        std::size_t const sign = item.find('=');
        auto const key = std::find(column_keys.begin(), column_keys.end(), item.substr(0, sign));
        if (sign == std::string_view::npos || key == column_keys.end())
            throw failure(exit_status::usage, "--columns: '" + std::string(item) +
                                                  "' is not of the form key=name, with key one of job, node, "
                                                  "start, end, duration, status, task, slots, input");
        std::string const name(item.substr(sign + 1));
        entries_[static_cast<std::size_t>(key - column_keys.begin())] = {name, !name.empty()};
    }
}

namespace {

std::string joined(std::span<std::string const> names) {
    std::string out;
    for (std::string const& name : names) {
        out += out.empty() ? "" : ", ";
        out += name;
        if (out.size() > 300) return out + ", ...";
    }
    return out;
}

} // namespace

column_places::column_places(column_names const& names, std::span<std::string const> header,
                             std::string const& file) {
    auto const fail = [&](std::string const& what) {
        throw failure(exit_status::bad_input,
                      file + ":1: " + what + "; the header has: " + joined(header) + " (see --columns)");
    };
    for (std::size_t c = 0; c < column_keys.size(); ++c) {
        auto const& [name, required] = names[static_cast<column>(c)];
        if (name.empty()) continue;
        auto const found = std::find(header.begin(), header.end(), name);
        if (found == header.end()) {
            if (required) fail("no column '" + name + "'");
            continue;
        }
        if (std::find(found + 1, header.end(), name) != header.end()) fail("two columns '" + name + "'");
        places_[c] = static_cast<std::size_t>(found - header.begin());
    }
    for (column const c : {column::job, column::node})
        if (!has(c))
            fail("no column '" + names[c].name + "' for the " +
                 std::string(column_keys[static_cast<std::size_t>(c)]));
    if (!has(column::duration) && !(has(column::start) && has(column::end)))
        fail("no columns for start and end, nor one for the duration");
}

} // namespace straggle_rank
