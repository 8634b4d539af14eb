// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "slurm.hpp"

#include "fields.hpp"

#include <array>

namespace readers {

namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    for (std::string_view const w : words)
        if (word == w) return true;
    return false;
}

enum class clock_form : std::uint8_t { none, epoch, local, zoned };

struct slurm_time {
    std::optional<moment> time;
    clock_form form = clock_form::none;
    bool unknown = false; ///< and said to be
};

slurm_time read_time(iso_clock& clock, std::string_view field) {
    slurm_time t;
    if (field.size() > 4 && field[4] == '-') {
        bool zoned = false;
        t.time = clock.read(field, &zoned);
        t.form = zoned ? clock_form::zoned : clock_form::local;
        return t;
    }
    bool const begins_with_digit = !field.empty() && field.front() >= '0' && field.front() <= '9';
    if (field == "0" ||
        (!begins_with_digit && (field.empty() || is_one_of(field, {"Unknown", "None", "N/A"})))) {
        t.unknown = true;
    } else if (field.find('-') == std::string_view::npos) {
        t.time = seconds_time(field);
        t.form = clock_form::epoch;
    } else {
        t.form = clock_form::local;
    }
    return t;
}

struct sacct_columns {
    std::optional<std::size_t> id, raw_id, node, state, start, end, elapsed, restarts;

    explicit sacct_columns(field_list const& header)
        : id(column_of(header, "JobID")),
          raw_id(column_of(header, "JobIDRaw")),
          node(column_of(header, "NodeList")),
          state(column_of(header, "State")),
          start(column_of(header, "Start")),
          end(column_of(header, "End")),
          elapsed(column_of(header, "ElapsedRaw")),
          restarts(column_of(header, "Restarts")) {}

    [[nodiscard]] std::string missing() const {
        std::string list;
        auto const want = [&](std::optional<std::size_t> const& c, char const* name) {
            if (!c) (list += list.empty() ? "" : ", ") += name;
        };
        want(id, "JobID");
        want(node, "NodeList");
        want(state, "State");
        want(start, "Start");
        if (!elapsed) want(end, "End");
        return list;
    }
};

class sacct_reader {
  public:
    sacct_reader(sacct_columns const& columns, collector& out) : at_(columns), out_(out) {}

    /// Another output follows, with other columns.
    void use(sacct_columns const& columns) { at_ = columns; }

    void read(field_list const& fields, std::size_t line) {
        auto const field = [&](std::optional<std::size_t> const& c) {
            return c ? trimmed(fields[*c]) : std::string_view{};
        };
        slurm_id const id = slurm_id_of(field(at_.id));
        if (id.job.empty()) return out_.leave_out(reason::no_job, line);
        if (!id.step.empty() &&
            (id.array || id.step.find_first_not_of("0123456789") != std::string_view::npos))
            return out_.leave_out(reason::step, line);
        auto const how = slurm_ending(field(at_.state));
        if (!how || id.pending) return out_.leave_out(reason::never_started, line);
        std::string_view const node = field(at_.node);
        if (is_no_node(node))
            return out_.leave_out(*how == ending::killed ? reason::never_started : reason::no_node, line);
        if (!is_one_node(node)) return out_.leave_out(reason::several_nodes, line);
        slurm_time const start = read_time(times_, field(at_.start)), end = read_time(times_, field(at_.end));
        if (start.unknown && *how == ending::killed) return out_.leave_out(reason::never_started, line);
        attempt& a = attempt_;
        a.start = start.time;
        a.end = end.time;
        if (!at_.end && a.start && *how != ending::running)
            if (auto const seconds = whole_number(field(at_.elapsed)))
                if (auto const took = time_of(*seconds, 1'000'000'000)) a.end = *a.start + *took;
        if (!a.start || (!a.end && *how != ending::running)) return out_.leave_out(reason::bad_time, line);
        if (!same_clock(start) || (!end.unknown && at_.end && !same_clock(end)))
            return out_.leave_out(reason::mixed_clocks, line);
        if (*how == ending::running) a.end.reset();
        a.job = id.job;
        a.task = id.array ? id.task : id.step.empty() ? "0" : id.step;
        a.node = node;
        a.end_state = *how;
        a.number = number_of(field(at_.id), field(at_.restarts));
        a.line = line;
        if (!id.array && id.step.empty()) { // a job of its own: its steps are another group
            job_.assign(id.job).append("/job");
            a.job = job_;
        }
        out_.take(a);
    }

  private:
    // Local times and times since 1970 cannot be compared.
    bool same_clock(slurm_time const& t) {
        if (clock_ == clock_form::none) clock_ = t.form;
        return clock_ == t.form;
    }

    // `sacct --duplicates` prints what was requeued once per run, one below the other.
    std::uint32_t number_of(std::string_view id, std::string_view restarts) {
        bool const again = id == last_id_;
        last_id_ = id;
        last_number_ = again ? last_number_ + 1 : 0;
        if (restarts.empty()) return last_number_;
        if (auto const told = whole_number(restarts); told && *told >= 0 && *told < 0x7fffffff)
            return static_cast<std::uint32_t>(*told);
        return last_number_;
    }

    sacct_columns at_;
    collector& out_;
    iso_clock times_;
    std::string last_id_, job_;
    attempt attempt_; // what no row says stays unknown
    std::uint32_t last_number_ = 0;
    clock_form clock_ = clock_form::none;
};

} // namespace

std::optional<ending> slurm_ending(std::string_view state) {
    if (state == "COMPLETED") return ending::success;
    std::string_view const word =
        state.substr(0, state.find_first_of(" +")); // "CANCELLED by 0", "CANCELLED+"
    if (is_one_of(word, {"COMPLETED", "CD"})) return ending::success;
    if (is_one_of(word, {"CANCELLED", "CA", "PREEMPTED", "PR", "REQUEUED", "RQ", "REVOKED", "RV"}))
        return ending::killed;
    if (is_one_of(word,
                  {"RUNNING", "R", "COMPLETING", "CG", "SUSPENDED", "S", "RESIZING", "RS", "STOPPED", "ST"}))
        return ending::running;
    if (word.empty() ||
        is_one_of(word, {"PENDING", "PD", "CONFIGURING", "CF", "REQUEUE_HOLD", "SPECIAL_EXIT"}))
        return std::nullopt;
    return ending::failed;
}

bool is_no_node(std::string_view list) {
    return list.empty() || is_one_of(list, {"None assigned", "(null)", "None"});
}

bool is_one_node(std::string_view list) {
    for (char const c : list) // a search for each would take longer
        if (c == ',' || c == '[') return false;
    return true;
}

namespace {

// As `find`, faster where texts are short.
std::size_t position_of(char c, std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == c) return i;
    return std::string_view::npos;
}

} // namespace

slurm_id slurm_id_of(std::string_view id) {
    slurm_id result;
    std::size_t const dot = position_of('.', id);
    if (dot != std::string_view::npos) {
        result.step = id.substr(dot + 1);
        if (result.step.empty()) return {};
    }
    std::string_view const whole = id.substr(0, dot);
    std::size_t const bar = position_of('_', whole);
    result.job = whole.substr(0, bar);
    if (result.job.empty() || result.job.front() < '0' || result.job.front() > '9') return {};
    if (bar != std::string_view::npos) {
        result.array = true;
        result.task = whole.substr(bar + 1);
        result.pending = result.task.starts_with('[');
        if (result.task.empty()) return {};
    }
    return result;
}

bool looks_like_sacct(std::string_view head) {
    std::string_view const line = head.substr(0, head.find_first_of("\r\n"));
    if (line.find('|') == std::string_view::npos) return false;
    field_list fields;
    fields.split(line, '|');
    return column_of(fields, "JobID") || column_of(fields, "JobIDRaw");
}

void read_sacct(text_window& text, collector& out) {
    line_reader lines(text);
    field_list fields;
    if (!lines.next()) return;
    std::string header(lines.line());
    fields.split(header, '|');
    std::size_t count = fields.size();
    sacct_columns const columns(fields);
    if (std::string const missing = columns.missing(); !missing.empty()) {
        out.leave_out(reason::not_a_record, lines.number());
        out.remark("no column " + missing + "; try sacct -P -o JobID,NodeList,State,Start,End");
        return;
    }
    sacct_reader reader(columns, out);
    std::size_t id = *columns.id;
    auto const is_other_header = [&] { // of an output with other columns
        bool const may_be =
            fields.size() != count || fields[id].empty() || fields[id][0] < '0' || fields[id][0] > '9';
        if (!may_be || !looks_like_sacct(lines.line())) return false;
        sacct_columns const others(fields);
        if (!others.missing().empty()) return false;
        header = lines.line();
        count = fields.size();
        id = *others.id;
        reader.use(others);
        return true;
    };
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        out.count_line();
        fields.split(lines.line(), '|');
        if (lines.too_long())
            out.leave_out(reason::too_long, lines.number());
        else if (lines.line() == header || is_other_header()) // several outputs one after the other
            out.leave_out(reason::other_event, lines.number());
        else if (fields.size() != count)
            out.leave_out(lines.torn() ? reason::torn : reason::wrong_field_count, lines.number());
        else
            reader.read(fields, lines.number());
    }
}

} // namespace readers
