// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "history.hpp"

#include <algorithm>

namespace readers {

namespace {

constexpr std::array<std::string_view, reason_count> reason_names{
    "not about an attempt",
    "a step of a task",
    "never started",
    "on several nodes",
    "not run: taken from a cache",
    "reported again after its output was lost",
    "no end in the log",
    "no HTTP request",
    "answered by the proxy itself",
    "an end without a start",
    "not JSON",
    "the last line is cut off",
    "too long",
    "not a record of this format",
    "wrong number of fields",
    "no job",
    "no node",
    "not a number",
    "not a time",
    "time in another form than in the first record",
    "ends before it starts",
    "damaged compression",
    "unknown version",
    "not a history",
};

} // namespace

std::optional<format> format_named(std::string_view name) {
    auto const found = std::find(format_names.begin(), format_names.end(), name);
    if (found == format_names.end()) return std::nullopt;
    return static_cast<format>(found - format_names.begin());
}

std::string_view to_string(reason r) {
    return reason_names[static_cast<std::size_t>(r)];
}

void collector::take(attempt const& a) {
    if (a.start && a.end && *a.end < *a.start) return leave_out(reason::ends_before_start, a.line);
    ++report_.attempts;
    ++report_.files.back().attempts;
    switch (a.end_state) {
    case ending::success:
        ++report_.successes;
        break;
    case ending::failed:
        ++report_.failed;
        break;
    case ending::killed:
        ++report_.killed;
        break;
    case ending::running:
        ++report_.running;
        break;
    }
    if (a.speculative.value_or(false)) ++report_.speculative;
    sink_(a);
}

void collector::leave_out(reason why, std::size_t line) {
    occurrences& all = report_.reasons[static_cast<std::size_t>(why)];
    ++all.count;
    if (all.first.size() < occurrences::most_places)
        all.first.push_back({static_cast<std::uint32_t>(report_.files.size() - 1), line});
}

void collector::leave_out(reason why, std::size_t line, wrong_field const& field) {
    std::string& example = report_.reasons[static_cast<std::size_t>(why)].example;
    if (example.empty()) {
        constexpr std::size_t most = 40;
        example.append(field.name).append(field.value.empty() ? " is empty" : " is '");
        if (!field.value.empty()) example.append(field.value.substr(0, most)).append("'");
        example.append(", expected is ").append(field.expected);
    }
    leave_out(why, line);
}

} // namespace readers
