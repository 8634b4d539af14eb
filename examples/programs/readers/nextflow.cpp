// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "nextflow.hpp"

#include "fields.hpp"

#include <array>
#include <string>
#include <utility>

namespace readers {

namespace {

// `-` is how the trace says that it does not know.
bool is_known(std::string_view field) {
    return !field.empty() && field != "-";
}

struct trace_columns {
    std::optional<std::size_t> id, hash, process, name, status, host, submit, start, complete, duration,
        realtime, rchar, attempt;

    explicit trace_columns(field_list const& header)
        : id(column_of(header, "task_id")),
          hash(column_of(header, "hash")),
          process(column_of(header, "process")),
          name(column_of(header, "name")),
          status(column_of(header, "status")),
          host(column_of(header, "hostname")),
          submit(column_of(header, "submit")),
          start(column_of(header, "start")),
          complete(column_of(header, "complete")),
          duration(column_of(header, "duration")),
          realtime(column_of(header, "realtime")),
          rchar(column_of(header, "rchar")),
          attempt(column_of(header, "attempt")) {}

    [[nodiscard]] bool tells_times() const {
        return (start && complete) || (realtime && (start || complete || (submit && duration)));
    }
};

class trace_reader {
  public:
    trace_reader(trace_columns const& columns, collector& out) : at_(columns), out_(out) {}

    void read(field_list const& fields, std::size_t line) {
        auto const field = [&](std::optional<std::size_t> const& c) {
            std::string_view const text = c ? trimmed(fields[*c]) : std::string_view{};
            return is_known(text) ? text : std::string_view{};
        };
        std::string_view const status = field(at_.status);
        if (status == "CACHED") return out_.leave_out(reason::not_run, line);
        if (status == "NEW" || status == "SUBMITTED") return out_.leave_out(reason::never_started, line);
        attempt a;
        a.job = process_of(field(at_.process), field(at_.name));
        if (a.job.empty()) return out_.leave_out(reason::no_job, line);
        a.node = field(at_.host);
        if (a.node.empty()) return out_.leave_out(reason::no_node, line);
        a.end_state = status == "COMPLETED" ? ending::success
                      : status == "ABORTED" ? ending::killed
                      : status == "RUNNING" ? ending::running
                                            : ending::failed;
        if (!read_times(a, field(at_.submit), field(at_.start), field(at_.complete), field(at_.duration),
                        field(at_.realtime)))
            return out_.leave_out(reason::bad_time, line);
        // A task that is tried again has a new id; its name stays.
        a.task = field(at_.name).empty() ? field(at_.id) : field(at_.name);
        if (auto const n = whole_number(field(at_.attempt)); n && *n >= 1 && *n <= 0x7fffffff)
            a.number = static_cast<std::uint32_t>(*n - 1);
        a.input = nextflow_bytes(field(at_.rchar));
        a.line = line;
        out_.take(a);
    }

  private:
    // The process, or the name without its tag: `align (sample 3)`.
    static std::string_view process_of(std::string_view process, std::string_view name) {
        if (!process.empty()) return process;
        return trimmed(name.substr(0, name.rfind(" (")));
    }

    // A moment as `2026-11-22 15:40:51.123`, or as milliseconds since 1970.
    std::optional<moment> time_in(std::string_view text) {
        if (text.size() <= 4 || text[4] != '-')
            if (auto const ms = whole_number(text)) return ms_time(*ms);
        return times_.read(text);
    }

    bool read_times(attempt& a, std::string_view submit, std::string_view start, std::string_view complete,
                    std::string_view duration, std::string_view realtime) {
        auto const took = nextflow_length(realtime);
        a.start = time_in(start);
        a.end = time_in(complete);
        if ((!a.start && !start.empty()) || (!a.end && !complete.empty()) || (!took && !realtime.empty()))
            return false;
        if (!a.end) {
            auto const from = time_in(submit);
            auto const all = nextflow_length(duration);
            if (from && all) a.end = *from + *all;
        }
        if (a.end_state == ending::running) {
            a.end.reset();
            return a.start.has_value();
        }
        // The time it really took leaves out what the executor added.
        if (took && a.start)
            a.end = *a.start + *took;
        else if (took && a.end && *a.end >= *took)
            a.start = *a.end - *took;
        return a.start && a.end;
    }

    trace_columns at_;
    collector& out_;
    iso_clock times_;
};

} // namespace

std::optional<moment> nextflow_length(std::string_view text) {
    if (text.empty()) return std::nullopt;
    if (auto const ms = whole_number(text)) return ms_time(*ms);
    constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{{{"ms", 1'000'000},
                                                                              {"s", 1'000'000'000},
                                                                              {"m", 60'000'000'000},
                                                                              {"h", 3'600'000'000'000},
                                                                              {"d", 86'400'000'000'000}}};
    moment sum{0};
    while (!text.empty()) {
        std::string_view const part = take_word(text);
        if (part.empty()) continue;
        std::size_t const digits = part.find_first_not_of("0123456789.");
        if (digits == std::string_view::npos || digits == 0) return std::nullopt;
        auto const count = seconds_time(part.substr(0, digits)); // so many, times 1e9
        bool known = false;
        for (auto const& [name, ns] : units) {
            if (name != part.substr(digits)) continue;
            known = true;
            if (!count || count->count() / 1'000'000'000 > latest_ns / 1000 / ns) return std::nullopt;
            // In two parts, so that neither is too large.
            sum += moment(count->count() / 1'000'000'000 * ns) +
                   moment(static_cast<std::int64_t>(static_cast<double>(count->count() % 1'000'000'000) /
                                                    1e9 * static_cast<double>(ns)));
        }
        if (!known || sum.count() > latest_ns) return std::nullopt;
    }
    return sum;
}

std::optional<double> nextflow_bytes(std::string_view text) {
    constexpr std::array<std::string_view, 6> units{"B", "KB", "MB", "GB", "TB", "PB"};
    if (text.empty()) return std::nullopt;
    std::string_view const number = take_word(text), unit = trimmed(text);
    auto const value = seconds_time(number); // any decimal number
    if (!value) return std::nullopt;
    double bytes = static_cast<double>(value->count()) / 1e9;
    if (unit.empty()) return bytes;
    for (std::string_view const u : units) {
        if (u == unit) return bytes;
        bytes *= 1024;
    }
    return std::nullopt;
}

bool looks_like_nextflow(std::string_view head) {
    std::string_view const line = head.substr(0, head.find_first_of("\r\n"));
    if (line.find('\t') == std::string_view::npos) return false;
    field_list fields;
    fields.split(line, '\t');
    return column_of(fields, "status") &&
           (column_of(fields, "task_id") || column_of(fields, "hash") || column_of(fields, "process")) &&
           (column_of(fields, "realtime") || column_of(fields, "complete"));
}

void read_nextflow(text_window& text, collector& out) {
    line_reader lines(text);
    field_list fields;
    if (!lines.next()) return;
    std::string const header(lines.line());
    fields.split(header, '\t');
    std::size_t const count = fields.size();
    trace_columns const columns(fields);
    if (!columns.host || !columns.status || !columns.tells_times()) {
        out.leave_out(reason::not_a_record, 1);
        out.remark(
            "the trace needs more fields; run with trace.fields = "
            "'task_id,hash,process,name,status,hostname,submit,start,complete,realtime,rchar,attempt'");
        return;
    }
    trace_reader reader(columns, out);
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        out.count_line();
        fields.split(lines.line(), '\t');
        if (lines.too_long())
            out.leave_out(reason::too_long, lines.number());
        else if (lines.line() == header)
            out.leave_out(reason::other_event, lines.number());
        else if (fields.size() != count)
            out.leave_out(lines.torn() ? reason::torn : reason::wrong_field_count, lines.number());
        else
            reader.read(fields, lines.number());
    }
}

} // namespace readers
