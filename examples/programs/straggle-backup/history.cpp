// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "history.hpp"

#include "../common/failure.hpp"
#include "../common/status.hpp"
#include "../common/text.hpp"

#include <algorithm>

namespace straggle_backup {

using namespace program;

namespace {

std::optional<std::uint32_t> read_name(straggle::interner<std::string>& names, std::string_view field) {
    if (field.empty()) return std::nullopt;
    return names.insert(field);
}

class history_reader {
  public:
    history_reader(options const& o, std::unique_ptr<readers::input> file, name_table& names,
                   kind_finder& kinds, bool show_progress)
        : rows_(std::move(file), size_of(o.history), o.columns, show_progress), names_(names), kinds_(kinds) {
        auto const& places = rows_.places();
        h_.file = name_of(o.history);
        places.require(o.columns, column::job);
        places.require(o.columns, column::node);
        h_.has_times = places.has(column::start) && places.has(column::end);
        if (!h_.has_times && !places.has(column::duration))
            places.fail_without_times(places.has(column::start));
        for (auto const& [c, unit] :
             {std::pair(column::start, &start_unit_), std::pair(column::end, &end_unit_),
              std::pair(column::duration, &duration_unit_)})
            if (places.has(c)) *unit = unit_of_times(o.unit, h_.file, places.name(c));
        if (places.has(column::start)) h_.start_unit = start_unit_;
    }

    history read() && {
        while (rows_.next())
            if (std::optional<past_fault> const f = read_row())
                h_.faults[static_cast<std::size_t>(*f)].note(rows_.line());
        h_.rows = rows_.rows();
        if (h_.rows == 0) throw failure(exit_status::bad_input, h_.file + ":1: a header and nothing else");
        if (h_.attempts.empty()) throw failure(exit_status::bad_input, h_.file + ": " + nothing_used());
        return std::move(h_);
    }

  private:
    std::optional<past_fault> read_row() {
        number const start = number_in(column::start), end = number_in(column::end);
        number const duration = number_in(column::duration), input = number_in(column::input);
        past_attempt a;
        a.job = read_name(names_.jobs, rows_.name(column::job));
        a.node = read_name(names_.nodes, rows_.field(column::node));
        a.task = read_name(names_.tasks, rows_.field(column::task));
        for (number const& n : {start, end, duration, input})
            if (n.kind == number_kind::unreadable || n.kind == number_kind::not_finite)
                return past_fault::unreadable;
        a.start = moment_of(start, start_unit_);
        a.end = moment_of(end, end_unit_);
        a.took = moment_of(duration, duration_unit_);
        for (auto const& [told, read] :
             {std::pair(&start, &a.start), std::pair(&end, &a.end), std::pair(&duration, &a.took)})
            if (told->kind != number_kind::missing && !*read) return past_fault::out_of_range;
        if (!a.took && a.start && a.end) a.took = *a.end - *a.start;
        if (!a.end && a.start && a.took) a.end = *a.start + *a.took;
        if (a.end && *a.end > latest_moment) return past_fault::out_of_range;
        if (a.start && a.end && *a.end < *a.start) return past_fault::end_before_start;
        if (a.took && *a.took < moment{}) return past_fault::negative_duration;
        if (input.kind != number_kind::missing) a.input = value_of(input);
        if (a.job) a.kind = kinds_(rows_.field(column::kind), *a.job, names_);
        std::string_view const status = rows_.field(column::status);
        if (rows_.places().has(column::status)) a.status = history_words::read_status(status);
        a.may_run = !a.end && a.start && history_words::is_running(status);
        if (!a.may_run && !a.job) return past_fault::missing_job;
        if (!a.may_run && !a.node) return past_fault::missing_node;
        h_.attempts.push_back(a);
        return std::nullopt;
    }

    [[nodiscard]] std::string nothing_used() const {
        std::string text = "every record was rejected";
        for (std::size_t i = 0; i < past_fault_count; ++i)
            if (h_.faults[i].count > 0)
                text += "; " + grouped(h_.faults[i].count) +
                        " rejected: " + std::string(to_string(static_cast<past_fault>(i))) +
                        in_lines(h_.faults[i].lines, h_.faults[i].count);
        return text;
    }

    [[nodiscard]] number number_in(column c) const {
        return rows_.places().has(c) ? read_number(rows_.field(c)) : number{};
    }

    csv_table<column> rows_;
    name_table& names_;
    kind_finder& kinds_;
    time_unit start_unit_ = time_unit::seconds, end_unit_ = time_unit::seconds,
              duration_unit_ = time_unit::seconds;
    history h_;
};

straggle::attempt_status status_of(readers::ending how) {
    if (how == readers::ending::success) return straggle::attempt_status::success;
    return how == readers::ending::killed ? straggle::attempt_status::killed
                                          : straggle::attempt_status::failed;
}

// A log of an engine, with the attempts that still ran when it ended.
history read_log(options const& o, readers::opened_history opened, name_table& names, kind_finder& kinds,
                 bool show_progress) {
    history h;
    h.file = name_of(o.history);
    h.has_times = true;
    h.start_unit = o.unit.value_or(time_unit::milliseconds); // of --now
    readers::reading_report const report = readers::read_history(
        opened.files,
        {.from = o.from, .show_progress = show_progress, .columns = given_columns(o.columns), .join = o.join},
        [&](readers::attempt const& from) {
            past_attempt a;
            a.job = read_name(names.jobs, from.job);
            a.node = read_name(names.nodes, from.node);
            // A task without a name is a separate one.
            a.task = from.task.empty() ? names.tasks.insert("#" + std::to_string(h.rows))
                                       : names.tasks.insert(from.task);
            ++h.rows;
            if (a.job) a.kind = kinds({}, *a.job, names);
            a.start = from.start;
            a.end = from.end;
            if (a.start && a.end) a.took = *a.end - *a.start;
            a.input = from.input;
            a.may_run = from.end_state == readers::ending::running;
            if (!a.may_run) a.status = status_of(from.end_state);
            h.attempts.push_back(a);
        },
        std::move(opened.first));
    readers::expect_attempts(report);
    h.read = readers::summary_of(report);
    return h;
}

} // namespace

std::string_view to_string(past_fault f) {
    constexpr std::array<std::string_view, past_fault_count> names{
        "unreadable", "out_of_range", "missing_job", "missing_node", "end_before_start", "negative_duration"};
    return names[static_cast<std::size_t>(f)];
}

kind_finder::kind_finder(std::optional<std::string> const& pattern) {
    if (pattern) pattern_.emplace(*pattern);
}

std::optional<std::string> kind_finder::find(std::string const& job) const {
    if (!pattern_) return job.substr(job.rfind('/') + 1);
    constexpr std::size_t longest = 1024; // std::regex recurses over its text
    std::string const head = job.substr(0, longest);
    std::smatch match;
    if (!std::regex_search(head, match, *pattern_)) return std::nullopt;
    return match[match.size() > 1 ? 1 : 0];
}

std::optional<std::uint32_t> kind_finder::operator()(std::string_view told, std::uint32_t job,
                                                     name_table& names) {
    if (!told.empty()) return names.kinds.insert(told);
    if (job >= by_job_.size()) by_job_.resize(job + std::size_t{1});
    found& f = by_job_[job];
    if (!f.asked) {
        f.asked = true;
        if (std::optional<std::string> const kind = find(names.jobs[job])) f.kind = names.kinds.insert(*kind);
    }
    return f.kind;
}

history read_history(options const& o, name_table& names, kind_finder& kinds, bool show_progress) {
    readers::opened_history opened = readers::open_history({o.history}, o.from);
    if (!opened.is_csv) return read_log(o, std::move(opened), names, kinds, show_progress);
    if (opened.files.size() > 1)
        throw failure(exit_status::bad_input, o.history + ": name one file of CSV, not a folder");
    try {
        return history_reader(o, std::move(opened.first), names, kinds, show_progress).read();
    } catch (csv::error const& e) {
        throw failure(exit_status::bad_input,
                      name_of(o.history) + ":" + std::to_string(e.line()) + ": " + e.what());
    }
}

void cut(history& h, moment now) {
    auto const ended = [now](past_attempt const& a) { return !(a.end && *a.end > now) && !a.may_run; };
    std::vector<past_attempt> past;
    for (past_attempt& a : h.attempts) {
        if (ended(a))
            past.push_back(a);
        else if (a.start && *a.start <= now)
            h.running.push_back(a);
        else
            ++h.later;
    }
    h.attempts = std::move(past);
}

} // namespace straggle_backup
