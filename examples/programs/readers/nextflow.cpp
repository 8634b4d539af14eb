// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "nextflow.hpp"

#include "fields.hpp"

#include <array>
#include <string>
#include <utility>

namespace readers {

namespace {

// `-` stands for unknown in a trace.
bool is_known(std::string_view field) {
    return !field.empty() && field != "-";
}

constexpr std::string_view wanted_fields =
    "trace.fields = "
    "'task_id,hash,native_id,process,name,status,hostname,submit,start,complete,realtime,rchar,"
    "attempt'";

struct trace_columns {
    std::optional<std::size_t> id, hash, native_id, process, name, status, host, submit, start, complete,
        duration, realtime, rchar, attempt;

    trace_columns(field_list const& header, given_columns const& given) {
        auto const find = [&header](std::string const& said, std::string_view usual) {
            return column_of(header, said.empty() ? usual : std::string_view(said));
        };
        id = column_of(header, "task_id");
        hash = column_of(header, "hash");
        native_id = column_of(header, "native_id");
        process = find(given.job, "process");
        name = find(given.task, "name");
        status = find(given.status, "status");
        host = find(given.node, "hostname");
        submit = column_of(header, "submit");
        start = find(given.start, "start");
        complete = find(given.end, "complete");
        duration = column_of(header, "duration");
        realtime = find(given.duration, "realtime");
        rchar = column_of(header, "rchar");
        attempt = column_of(header, "attempt");
    }

    [[nodiscard]] bool tells_times() const {
        return (start && complete) || (realtime && (start || complete || (submit && duration)));
    }
    // Why such a trace is useless, and what to do; empty if it is not.
    [[nodiscard]] std::string complaint(bool joined) const {
        std::string const fix = "; set " + std::string(wanted_fields) + " in nextflow.config";
        if (!status) return "the trace has no field status" + fix;
        if (!host && joined && !native_id)
            return "the trace has no field native_id, by which --join finds its jobs" + fix;
        if (!host && !joined)
            return "the trace has no field hostname, so that nothing says where a task ran" + fix +
                   (native_id ? " next time; if it ran on Slurm, --join FILE takes the node from what "
                                "sacct -P -o JobID,NodeList,State,Start,End wrote"
                              : "");
        if (!tells_times() && !joined) return "the trace has no fields start and complete, or realtime" + fix;
        return {};
    }
};

class trace_reader {
  public:
    trace_reader(trace_columns const& columns, native_jobs const* joined, collector& out)
        : at_(columns), joined_(joined), out_(out) {}

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
        if (a.job.empty())
            return out_.leave_out(reason::no_job, line, {"process", {}, "the name of a process"});
        native_jobs::job const* const native =
            joined_ != nullptr ? joined_->find(field(at_.native_id)) : nullptr;
        a.node = field(at_.host);
        if (a.node.empty() && native != nullptr) a.node = native->node;
        if (a.node.empty()) {
            if (joined_ == nullptr)
                return out_.leave_out(reason::no_node, line, {"hostname", {}, "the name of a host"});
            return out_.leave_out(reason::no_node, line,
                                  {"native_id", field(at_.native_id), "a job of the joined file"});
        }
        a.end_state = status == "COMPLETED" ? ending::success
                      : status == "ABORTED" ? ending::killed
                      : status == "RUNNING" ? ending::running
                                            : ending::failed;
        wrong_field wrong{};
        bool const timed = read_times(a, field(at_.submit), field(at_.start), field(at_.complete),
                                      field(at_.duration), field(at_.realtime), wrong);
        if (!timed && native != nullptr && wrong.name.empty()) {
            a.start = native->start;
            a.end = a.end_state == ending::running ? std::nullopt : native->end;
        }
        if (!a.start || (!a.end && a.end_state != ending::running)) {
            if (wrong.name.empty()) wrong = {"complete", {}, "a time"};
            return out_.leave_out(reason::bad_time, line, wrong);
        }
        if (auto const n = whole_number(field(at_.attempt)); n && *n >= 1 && *n <= 0x7fffffff)
            a.number = static_cast<std::uint32_t>(*n - 1);
        name_task(a, field(at_.id), field(at_.hash), field(at_.name));
        a.input = nextflow_bytes(field(at_.rchar));
        a.line = line;
        out_.take(a);
    }

    /// The ids of a new run follow.
    void begin_run() {
        ++run_;
        to_be_tried_again_.clear();
    }

  private:
    // The process, or the name without its tag: `align (sample 3)`.
    static std::string_view process_of(std::string_view process, std::string_view name) {
        if (!process.empty()) return process;
        return trimmed(name.substr(0, name.rfind(" (")));
    }

    // A retry has a new id and hash: it is the task of that name whose last attempt failed. Different tasks
    // can have the same name.
    void name_task(attempt& a, std::string_view id, std::string_view hash, std::string_view name) {
        task_.assign(id).append(1, ' ').append(hash);
        if (task_.size() == 1) task_ = "line " + std::to_string(a.line);
        if (run_ > 0) task_.append(" run ").append(std::to_string(run_));
        std::string key(a.job);
        key.append(1, '\t').append(name);
        if (a.number > 0) {
            auto const [first, last] = to_be_tried_again_.equal_range(key);
            for (auto at = first; at != last; ++at) {
                if (at->second.next != a.number) continue;
                task_ = at->second.task;
                to_be_tried_again_.erase(at);
                break;
            }
        }
        if (a.end_state == ending::failed || a.end_state == ending::killed)
            to_be_tried_again_.emplace(std::move(key), failed_attempt{task_, a.number + 1});
        a.task = task_;
    }

    // A moment as `2026-11-22 15:40:51.123`, or as milliseconds since 1970.
    std::optional<moment> time_in(std::string_view text) {
        if (text.size() <= 4 || text[4] != '-')
            if (auto const ms = whole_number(text)) return ms_time(*ms);
        return times_.read(text);
    }

    bool read_times(attempt& a, std::string_view submit, std::string_view start, std::string_view complete,
                    std::string_view duration, std::string_view realtime, wrong_field& wrong) {
        constexpr std::string_view moment_form = "2026-01-31 12:00:00.000, or milliseconds since 1970";
        auto const took = nextflow_length(realtime);
        a.start = time_in(start);
        a.end = time_in(complete);
        if (!a.start && !start.empty()) wrong = {"start", start, moment_form};
        if (!a.end && !complete.empty()) wrong = {"complete", complete, moment_form};
        if (!took && !realtime.empty()) wrong = {"realtime", realtime, "1m 3s, or milliseconds"};
        if (!wrong.name.empty()) {
            a.start.reset();
            return false;
        }
        if (!a.end) {
            auto const from = time_in(submit);
            auto const all = nextflow_length(duration);
            if (from && all) a.end = *from + *all;
        }
        if (a.end_state == ending::running) {
            a.end.reset();
            return a.start.has_value();
        }
        // The real time excludes what the executor added.
        if (took && a.start)
            a.end = *a.start + *took;
        else if (took && a.end && *a.end >= *took)
            a.start = *a.end - *took;
        return a.start && a.end;
    }

    struct failed_attempt {
        std::string task;
        std::uint32_t next;
    };

    trace_columns at_;
    native_jobs const* joined_;
    collector& out_;
    iso_clock times_;
    std::string task_;
    std::multimap<std::string, failed_attempt> to_be_tried_again_; // by process and name
    std::uint32_t run_ = 0;
};

// The separator of a header's fields: `trace.sep` may be anything.
char separator_of(std::string_view header) {
    for (char const c : {'\t', ';', '|', ','})
        if (header.find(c) != std::string_view::npos) return c;
    return '\t';
}

// The fields of a line in which some may be quoted.
class trace_row {
  public:
    explicit trace_row(char separator) : separator_(separator) {}

    field_list const& split(std::string_view line) {
        if (separator_ != '\t' && line.find('"') != std::string_view::npos) line = unquoted(line);
        fields_.split(line, separator_ != '\t' && line.data() == plain_.data() ? unit : separator_);
        return fields_;
    }

  private:
    static constexpr char unit = '\x1f'; // occurs in no field

    // Without its quotes, and with other separators.
    std::string_view unquoted(std::string_view line) {
        plain_.clear();
        bool quoted = false;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (line[i] == '"') {
                if (quoted && i + 1 < line.size() && line[i + 1] == '"')
                    plain_ += line[i++];
                else
                    quoted = !quoted;
            } else {
                plain_ += line[i] == separator_ && !quoted ? unit : line[i];
            }
        }
        return plain_;
    }

    char separator_;
    std::string plain_;
    field_list fields_;
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
        auto const count = seconds_time(part.substr(0, digits)); // this number, times 1e9
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

void native_jobs::add(attempt const& a) {
    std::string id(a.job);
    constexpr std::string_view alone = "/job"; // not in an array
    if (id.ends_with(alone))
        id.resize(id.size() - alone.size());
    else
        id.append(1, '_').append(a.task);
    jobs_[id] = {std::string(a.node), a.start, a.end};
}

native_jobs::job const* native_jobs::find(std::string_view native_id) const {
    auto const found = jobs_.find(native_id);
    return found == jobs_.end() ? nullptr : &found->second;
}

bool looks_like_nextflow(std::string_view head) {
    std::string_view const line = head.substr(0, head.find_first_of("\r\n"));
    trace_row row(separator_of(line));
    field_list const& fields = row.split(line);
    int known = 0;
    for (std::string_view const name : {"task_id", "hash", "native_id", "process"})
        known += column_of(fields, name) ? 1 : 0;
    return column_of(fields, "status") && known > 0 &&
           (column_of(fields, "realtime") || column_of(fields, "complete") || column_of(fields, "duration") ||
            known > 1);
}

void read_nextflow(text_window& text, given_columns const& given, native_jobs const* joined, collector& out) {
    line_reader lines(text);
    if (!lines.next()) return;
    std::string const header(lines.line());
    trace_row row(separator_of(header));
    field_list const& names = row.split(header);
    std::size_t const count = names.size();
    trace_columns const columns(names, given);
    if (std::string const complaint = columns.complaint(joined != nullptr); !complaint.empty()) {
        out.leave_out(reason::not_a_record, 1);
        out.remark(complaint);
        return;
    }
    trace_reader reader(columns, joined, out);
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        out.count_line();
        field_list const& fields = row.split(lines.line());
        if (lines.too_long()) {
            out.leave_out(reason::too_long, lines.number());
        } else if (lines.line() == header) {
            out.leave_out(reason::other_event, lines.number());
            reader.begin_run();
        } else if (fields.size() != count) {
            out.leave_out(lines.torn() ? reason::torn : reason::wrong_field_count, lines.number());
        } else {
            reader.read(fields, lines.number());
        }
    }
}

} // namespace readers
