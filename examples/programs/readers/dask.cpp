// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "dask.hpp"

#include "fields.hpp"
#include "json.hpp"

#include <string>

namespace readers {

namespace {

constexpr std::int64_t known_version = 1;

constexpr wanted_members members(std::array<std::string_view, 11>{
    "event", "key", "prefix", "group", "name", "worker", "to", "start", "stop", "copy", "input"});

void read_line(json_value of, std::size_t number, collector& out) {
    auto const [said_event, said_key, said_prefix, said_group, said_name, said_worker, said_to, said_start,
                said_stop, copy, input] = members.in(of);
    std::string_view const event = text_of(said_event);
    if (event == "log") {
        std::string_view const version = text_in(of, "distributed");
        out.note_version(version);
        bool const known = whole_in(of, "version").value_or(0) == known_version;
        return out.leave_out(known ? reason::other_event : reason::unknown_version, number);
    }
    if (event != "task")
        return out.leave_out(event.empty() ? reason::not_a_record : reason::other_event, number);
    std::string_view const key = text_of(said_key), prefix = text_of(said_prefix),
                           group = text_of(said_group);
    std::string_view const name = text_of(said_name), worker = text_of(said_worker), to = text_of(said_to);
    attempt a;
    // Tasks of a collection, ('sum-1f2e', 0, 3), are siblings; single ones are by their function.
    a.job = key.starts_with('(') && !group.empty() ? group : prefix;
    a.task = key;
    a.node = name.empty() ? worker : name;
    a.executor = worker;
    if (a.job.empty() || key.empty()) return out.leave_out(reason::no_job, number);
    if (a.node.empty()) return out.leave_out(reason::no_node, number);
    auto const start = real(said_start), stop = real(said_stop);
    if (start) a.start = seconds_time(*start);
    if (stop) a.end = seconds_time(*stop);
    if (!a.start || !a.end) return out.leave_out(reason::bad_time, number);
    a.end_state = to == "memory" ? ending::success : to == "erred" ? ending::failed : ending::killed;
    a.speculative = flag(copy);
    if (auto const bytes = real(input); bytes && *bytes >= 0) a.input = bytes;
    a.line = number;
    out.take(a);
}

} // namespace

bool looks_like_dask(std::string_view head) {
    std::string_view const line = head.substr(0, head.find('\n'));
    if (!line.starts_with('{')) return false;
    return line.find("\"straggle-dask\"") != std::string_view::npos ||
           (line.find("\"event\": \"task\"") != std::string_view::npos &&
            line.find("\"prefix\"") != std::string_view::npos) ||
           (line.find("\"event\":\"task\"") != std::string_view::npos &&
            line.find("\"prefix\"") != std::string_view::npos);
}

void read_dask(text_window& text, collector& out) {
    simdjson::dom::parser parser;
    line_reader lines(text);
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        out.count_line();
        if (lines.too_long())
            out.leave_out(reason::too_long, lines.number());
        else if (auto const event = parse_json(parser, lines.line()))
            read_line(*event, lines.number(), out);
        else
            out.leave_out(lines.torn() ? reason::torn : reason::not_json, lines.number());
    }
}

} // namespace readers
