// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "dask.hpp"

#include "fields.hpp"
#include "json.hpp"
#include "json_items.hpp"
#include "json_walk.hpp"

#include <string>

namespace readers {

namespace {

constexpr std::int64_t known_version = 1;

// The members of a line, in the order in which the plugin writes them.
struct task_event {
    enum member : std::size_t {
        event,
        key,
        prefix,
        group,
        worker,
        name,
        start,
        stop,
        to,
        input,
        copy,
        version,
        distributed,
        members
    };
};
member_names<task_event::members> const task_members({"event", "key", "prefix", "group", "worker", "name",
                                                      "start", "stop", "to", "input", "copy", "version",
                                                      "distributed"});

// As written: a double would be off by a quarter of a microsecond.
std::optional<moment> seconds_in(walked_value const& value) {
    char const front = value.front();
    if (front >= '1' && front <= '9') {
        std::string_view const token = value.token();
        if (token.back() != '.')
            if (auto const time = seconds_time(token)) return time;
    }
    return seconds_time(number_of(value));
}

class task_reader {
  public:
    explicit task_reader(collector& out) : out_(out) {}

    void read(found_members<task_event::members> const& of, std::size_t line) {
        using enum task_event::member;
        auto const text = [&of](task_event::member which) { return text_of(of[which]); };
        std::string_view const about = text(event);
        if (about == "log") {
            out_.note_version(text(distributed));
            bool const known = whole_or(0, of[version]) == known_version;
            return out_.leave_out(known ? reason::other_event : reason::unknown_version, line);
        }
        if (about != "task")
            return out_.leave_out(about.empty() ? reason::not_a_record : reason::other_event, line);
        attempt& a = attempt_;
        a.task = text(key);
        // Tasks of a collection, ('sum-1f2e', 0, 3), are siblings; single tasks are grouped by function.
        a.job = a.task.starts_with('(') ? text(group) : std::string_view{};
        if (a.job.empty()) a.job = text(prefix);
        a.executor = text(worker);
        a.node = text(name);
        if (a.node.empty()) a.node = a.executor;
        if (a.task.empty()) return out_.leave_out(reason::no_job, line, {"key", {}, "the key of a task"});
        if (a.job.empty())
            return out_.leave_out(reason::no_job, line, {"prefix", {}, "what the key begins with"});
        if (a.node.empty())
            return out_.leave_out(reason::no_node, line, {"worker", {}, "the address of a worker"});
        a.start = seconds_in(of[start]);
        a.end = seconds_in(of[stop]);
        if (!a.start || !a.end)
            return out_.leave_out(reason::bad_time, line,
                                  {a.start ? "stop" : "start", {}, "seconds since 1970, as 1767225600.123"});
        std::string_view const state = text(to);
        a.end_state = state == "memory"  ? ending::success
                      : state == "erred" ? ending::failed
                                         : ending::killed;
        a.speculative = flag(of[copy]);
        double const bytes = number_of(of[input]);
        a.input = bytes >= 0 ? std::optional(bytes) : std::nullopt;
        a.line = line;
        out_.take(a);
    }

  private:
    collector& out_;
    attempt attempt_; // what no line reports stays unknown
};

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
    line_reader lines(text);
    json_line_walker walker(lines);
    task_reader task(out);
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        out.count_line();
        if (lines.too_long()) {
            out.leave_out(reason::too_long, lines.number());
            continue;
        }
        found_members<task_event::members> found;
        switch (walker.read([&found](walked_object& object) { return walk(object, task_members, found); })) {
        case json_kind::object:
            task.read(found, lines.number());
            break;
        case json_kind::other:
            out.leave_out(reason::not_a_record, lines.number());
            break;
        case json_kind::none:
            out.leave_out(lines.torn() ? reason::torn : reason::not_json, lines.number());
            break;
        }
    }
}

bool looks_like_dask_stream(std::string_view head) {
    std::size_t const start = head.find_first_not_of(" \t\r\n[");
    return start != std::string_view::npos && head[start] == '{' &&
           head.find("\"startstops\"") != std::string_view::npos &&
           head.find("\"worker\"") != std::string_view::npos;
}

namespace {

// `inc` of `inc-1f2e9c`, like Dask's `key_split`.
std::string_view prefix_of(std::string_view key) {
    std::size_t const dash = key.rfind('-');
    if (dash == std::string_view::npos || dash == 0) return key;
    return key.find_first_not_of("0123456789abcdef-", dash + 1) == std::string_view::npos
               ? key.substr(0, dash)
               : key;
}

class stream_reader {
  public:
    explicit stream_reader(collector& out) : out_(out) {}

    void read(json_value task, std::size_t line) {
        attempt a;
        auto const key = member(task, "key");
        simdjson::dom::array parts;
        if (key && key->get(parts) == simdjson::SUCCESS) { // ("sum-1f2e", 0, 3)
            a.job = parts.size() > 0 ? text_of(parts.at(0).value()) : std::string_view{};
            task_ = simdjson::minify(*key);
        } else {
            task_ = text_of(key);
            a.job = prefix_of(task_);
            if (task_.starts_with("('")) a.job = std::string_view(task_).substr(2, task_.find('\'', 2) - 2);
        }
        a.task = task_;
        a.node = text_in(task, "worker");
        if (a.job.empty()) return out_.leave_out(reason::no_job, line, {"key", task_, "the key of a task"});
        if (a.node.empty())
            return out_.leave_out(reason::no_node, line, {"worker", {}, "the address of a worker"});
        if (!read_times(a, member(task, "startstops")))
            return out_.leave_out(reason::bad_time, line, {"startstops", {}, "a start and stop of compute"});
        a.end_state = text_in(task, "status") == "OK" ? ending::success : ending::failed;
        a.line = line;
        out_.take(a);
    }

  private:
    // Only computing: transfers and the rest are not the task's. Written as
    // {"action": "compute", "start": 1, "stop": 2}, in older versions as ["compute", 1, 2].
    static bool read_times(attempt& a, std::optional<json_value> list) {
        simdjson::dom::array steps, three;
        if (!list || list->get(steps) != simdjson::SUCCESS) return false;
        for (json_value const step : steps) {
            bool const old = step.get(three) == simdjson::SUCCESS && three.size() == 3;
            if ((old ? text_of(three.at(0).value()) : text_in(step, "action")) != "compute") continue;
            auto const start = old ? real(three.at(1).value()) : real_in(step, "start");
            auto const stop = old ? real(three.at(2).value()) : real_in(step, "stop");
            if (!start || !stop) continue;
            a.start = seconds_time(*start);
            a.end = seconds_time(*stop);
        }
        return a.start && a.end;
    }

    collector& out_;
    std::string task_;
};

} // namespace

void read_dask_stream(text_window& text, collector& out) {
    simdjson::dom::parser parser;
    json_items items(text);
    stream_reader reader(out);
    while (items.next()) {
        out.count_line();
        if (items.garbage_line() > 0) out.leave_out(reason::not_a_record, items.garbage_line());
        if (auto const task = parse_json(parser, items.item())) {
            reader.read(*task, items.line());
        } else {
            out.leave_out(items.torn() ? reason::torn : reason::not_json, items.line());
            items.give_up();
        }
    }
    if (items.garbage_line() > 0) out.leave_out(reason::not_a_record, items.garbage_line());
}

} // namespace readers
