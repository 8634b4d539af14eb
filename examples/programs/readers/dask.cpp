// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "dask.hpp"

#include "fields.hpp"
#include "json_walk.hpp"

#include <string>

namespace readers {

namespace {

constexpr std::int64_t known_version = 1;

class task_line {
  public:
    // Whether it is an object.
    [[nodiscard]] json_kind read(json_walker& walker, std::string_view line) {
        texts_ = {};
        numbers_ = {unknown, unknown, unknown};
        copy_.reset();
        version_ = 0;
        return walker.read(line, [this](walked_object& object) {
            return walk(object, wanted, [this](std::size_t which, walked_value& value) {
                if (which < texts)
                    texts_[which] = text_of(value);
                else if (which < texts + numbers)
                    numbers_[which - texts] = number_of(value);
                else if (which == copy)
                    copy_ = flag(value);
                else
                    version_ = whole_or(0, value);
                return true;
            });
        });
    }

    void hand_out(std::size_t line, collector& out) {
        if (text(event) == "log") {
            out.note_version(text(distributed));
            bool const known = version_ == known_version;
            return out.leave_out(known ? reason::other_event : reason::unknown_version, line);
        }
        if (text(event) != "task")
            return out.leave_out(text(event).empty() ? reason::not_a_record : reason::other_event, line);
        attempt& a = attempt_;
        // Tasks of a collection, ('sum-1f2e', 0, 3), are siblings; single ones are by their function.
        a.job = text(key).starts_with('(') && !text(group).empty() ? text(group) : text(prefix);
        a.task = text(key);
        a.node = text(name).empty() ? text(worker) : text(name);
        a.executor = text(worker);
        if (a.job.empty() || a.task.empty()) return out.leave_out(reason::no_job, line);
        if (a.node.empty()) return out.leave_out(reason::no_node, line);
        a.start = seconds_time(number(start));
        a.end = seconds_time(number(stop));
        if (!a.start || !a.end) return out.leave_out(reason::bad_time, line);
        a.end_state = text(to) == "memory"  ? ending::success
                      : text(to) == "erred" ? ending::failed
                                            : ending::killed;
        a.speculative = copy_;
        a.input.reset();
        if (number(input) >= 0) a.input = number(input);
        a.line = line;
        out.take(a);
    }

  private:
    // In the order in which the plugin writes them, those of a kind together.
    enum member : std::size_t {
        event,
        key,
        prefix,
        group,
        worker,
        name,
        to,
        distributed, // the last text
        start,
        stop,
        input, // the last number
        copy,
        version,
        members
    };
    static constexpr std::size_t texts = start, numbers = copy - start;
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    static inline member_names<members> const wanted =
        member_names<members>({"event", "key", "prefix", "group", "worker", "name", "to", "distributed",
                               "start", "stop", "input", "copy", "version"});

    [[nodiscard]] std::string_view text(member which) const { return texts_[which]; }
    [[nodiscard]] double number(member which) const { return numbers_[which - texts]; }

    std::array<std::string_view, texts> texts_{};
    std::array<double, numbers> numbers_{unknown, unknown, unknown};
    std::optional<bool> copy_;
    std::int64_t version_ = 0;
    attempt attempt_; // what no line says stays unknown
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
    json_walker walker;
    task_line task;
    line_reader lines(text);
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        out.count_line();
        if (lines.too_long()) {
            out.leave_out(reason::too_long, lines.number());
            continue;
        }
        switch (task.read(walker, lines.line())) {
        case json_kind::object:
            task.hand_out(lines.number(), out);
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

} // namespace readers
