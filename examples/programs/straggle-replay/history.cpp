// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "history.hpp"

#include "../common/failure.hpp"
#include "../common/status.hpp"
#include "simulate.hpp"

#include <algorithm>
#include <memory>

namespace straggle_replay {

using namespace program;

namespace {

using names = straggle::interner<std::string>;

template <class Column>
number number_in(csv_table<Column> const& rows, Column c) {
    return rows.places().has(c) ? read_number(rows.field(c)) : number{};
}
// Whether that is a number, or nothing.
bool is_readable(number const& n) {
    return n.kind != number_kind::unreadable && n.kind != number_kind::not_finite;
}
// Whether a readable number is a time in the supported range, or empty.
bool is_in_range(number const& n, time_unit unit) {
    return n.kind == number_kind::missing || moment_of(n, unit);
}

struct task_names {
    names tasks, numbers;
};

std::optional<std::uint32_t> add_name(names& known, std::string_view field) {
    if (field.empty()) return std::nullopt;
    return known.insert(field);
}
std::optional<std::uint32_t> find_name(names const& known, std::string_view field) {
    if (field.empty()) return std::nullopt;
    std::uint32_t const found = known.find(field);
    return found == names::none ? unknown_name : found;
}

// Whether attempts have numbers.
bool read_table(history& h, task_names& known, options const& o, std::unique_ptr<readers::input> file,
                bool show_progress) {
    csv_table<column> rows(std::move(file), size_of(o.file), o.columns, show_progress);
    if (rows.places().has(column::start) && !rows.places().has(column::end))
        rows.places().fail_without_times(true);
    for (column const c : {column::job, column::task, column::node, column::start, column::end})
        rows.places().require(o.columns, c);
    if (o.with_input) rows.places().require(o.columns, column::input);
    time_unit const start_unit = unit_of_times(o.unit, h.file, rows.places().name(column::start));
    time_unit const end_unit = unit_of_times(o.unit, h.file, rows.places().name(column::end));
    bool const with_status = rows.places().has(column::status);
    while (rows.next()) {
        number const start = number_in(rows, column::start), end = number_in(rows, column::end);
        number const input = o.with_input ? number_in(rows, column::input) : number{};
        if (!is_readable(start) || !is_readable(end) || !is_readable(input)) {
            h.no_attempts.unparsable.note(rows.line());
            continue;
        }
        if (!is_in_range(start, start_unit) || !is_in_range(end, end_unit)) {
            h.no_attempts.out_of_range.note(rows.line());
            continue;
        }
        attempt a;
        a.job = add_name(h.jobs, rows.name(column::job));
        a.task = add_name(known.tasks, rows.field(column::task));
        a.node = add_name(h.nodes, rows.field(column::node));
        a.number = known.numbers.insert(rows.field(column::attempt));
        a.start = moment_of(start, start_unit);
        a.end = moment_of(end, end_unit);
        if (with_status) a.status = history_words::read_status(rows.field(column::status));
        if (input.kind != number_kind::missing) a.input = value_of(input);
        h.attempts.push_back(a);
    }
    if (rows.rows() == 0) throw failure(exit_status::bad_input, h.file + ":1: a header and nothing else");
    return rows.places().has(column::attempt);
}

straggle::attempt_status status_of(readers::ending how) {
    if (how == readers::ending::success) return straggle::attempt_status::success;
    return how == readers::ending::killed ? straggle::attempt_status::killed
                                          : straggle::attempt_status::failed;
}

// A log of an engine. Attempts that had not ended are skipped: their final lateness is unknown.
void read_log(history& h, task_names& known, options const& o, readers::opened_history opened,
              bool show_progress) {
    readers::reading_report const report = readers::read_history(
        opened.files,
        {.from = o.from, .show_progress = show_progress, .columns = given_columns(o.columns), .join = o.join},
        [&](readers::attempt const& from) {
            if (from.end_state == readers::ending::running) return;
            attempt a;
            a.job = add_name(h.jobs, from.job);
            a.node = add_name(h.nodes, from.node);
            // A task without a name is a separate one.
            a.task = from.task.empty() ? known.tasks.insert("#" + std::to_string(h.attempts.size()))
                                       : known.tasks.insert(from.task);
            a.number = known.numbers.insert(std::to_string(from.number));
            a.start = from.start;
            a.end = from.end;
            a.status = status_of(from.end_state);
            if (o.with_input) a.input = from.input.value_or(0);
            h.attempts.push_back(a);
        },
        std::move(opened.first));
    readers::expect_ended(report);
    if (o.with_input && std::ranges::none_of(h.attempts, [](attempt const& a) { return a.input > 0; }))
        throw failure(exit_status::bad_input,
                      h.file + ": --inputs, but it does not tell how much tasks read");
    h.read = readers::summary_of(report);
}

// Whether attempts have numbers.
bool read_attempts(history& h, task_names& known, options const& o, bool show_progress) {
    readers::opened_history opened = readers::open_history({o.file}, o.from);
    if (opened.is_csv && opened.files.size() == 1)
        return read_table(h, known, o, std::move(opened.first), show_progress);
    if (opened.is_csv) throw failure(exit_status::bad_input, h.file + ": name one file of CSV, not a folder");
    read_log(h, known, o, std::move(opened), show_progress);
    return true;
}

// Whether reports name their attempt.
bool read_reports(std::vector<report>& reports, history& h, task_names const& known, options const& o,
                  bool show_progress) {
    using enum progress_column;
    csv_table<progress_column> rows(o.progress_file, o.progress_columns, show_progress, "--progress-columns");
    for (progress_column const c : {job, task, time, progress}) rows.places().require(o.progress_columns, c);
    time_unit const unit = unit_of_times(o.unit, h.progress_file, rows.places().name(time));
    bool const numbered = rows.places().has(progress_column::attempt);
    while (rows.next()) {
        number const when = number_in(rows, time), done = number_in(rows, progress);
        if (!is_readable(when) || !is_readable(done)) {
            h.no_reports.unparsable.note(rows.line());
            continue;
        }
        if (!is_in_range(when, unit)) {
            h.no_reports.out_of_range.note(rows.line());
            continue;
        }
        report r;
        r.job = find_name(h.jobs, rows.field(job));
        r.task = find_name(known.tasks, rows.field(task));
        std::uint32_t const number = known.numbers.find(rows.field(progress_column::attempt));
        r.number = number == names::none ? unknown_name : number;
        r.time = moment_of(when, unit);
        if (done.kind != number_kind::missing) r.progress = value_of(done);
        reports.push_back(r);
    }
    return numbered;
}

} // namespace

void put_on_tape(history& h, std::vector<report> const& reports, bool attempts_numbered,
                 bool reports_numbered, bool with_input) {
    replaying::recorded_fields const all{.job = &attempt::job,
                                         .task = &attempt::task,
                                         .node = &attempt::node,
                                         .start = &attempt::start,
                                         .end = &attempt::end,
                                         .status = &attempt::status,
                                         .attempt = &attempt::number,
                                         .input = &attempt::input};
    replaying::recorded_fields const without_number{.job = &attempt::job,
                                                    .task = &attempt::task,
                                                    .node = &attempt::node,
                                                    .start = &attempt::start,
                                                    .end = &attempt::end,
                                                    .status = &attempt::status,
                                                    .input = &attempt::input};
    replaying::reading_fields const read{.job = &report::job,
                                         .task = &report::task,
                                         .time = &report::time,
                                         .progress = &report::progress,
                                         .attempt = &report::number};
    replaying::reading_fields const read_without_number{
        .job = &report::job, .task = &report::task, .time = &report::time, .progress = &report::progress};
    if (!with_input)
        for (attempt& a : h.attempts) a.input = 0;
    if (!attempts_numbered)
        h.tape.emplace(h.attempts, without_number, reports, read_without_number);
    else if (!reports_numbered)
        h.tape.emplace(h.attempts, all, reports, read_without_number);
    else
        h.tape.emplace(h.attempts, all, reports, read);
}

history read_history(options const& o, bool show_progress) {
    if (o.simulated) return simulate(*o.simulated, o.with_input);
    history h;
    h.file = name_of(o.file);
    task_names known;
    std::vector<report> reports;
    std::string reading = h.file;
    try {
        bool const attempts_numbered = read_attempts(h, known, o, show_progress);
        bool reports_numbered = false;
        if (!o.progress_file.empty()) {
            reading = h.progress_file = name_of(o.progress_file);
            reports_numbered = read_reports(reports, h, known, o, show_progress);
        }
        put_on_tape(h, reports, attempts_numbered, reports_numbered, o.with_input);
        return h;
    } catch (csv::error const& e) {
        throw failure(exit_status::bad_input, reading + ":" + std::to_string(e.line()) + ": " + e.what());
    }
}

} // namespace straggle_replay
