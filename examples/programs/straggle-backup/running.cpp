// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "running.hpp"

#include "../common/failure.hpp"
#include "../common/status.hpp"
#include "running_rows.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace straggle_backup {

using namespace program;

namespace {

// A row of the file, before the current time is known.
struct row : past_attempt {
    std::optional<moment> reported{};
    std::optional<double> progress{};
    std::uint32_t copies = 0;
    bool copy = false;
    std::size_t line = 0;
};

std::optional<std::uint32_t> find_name(straggle::interner<std::string>& names, std::string_view field) {
    if (field.empty()) return std::nullopt;
    return names.insert(field);
}

bool is_yes(std::string_view field) {
    using history_words::is_word;
    return is_word(field, "true") || is_word(field, "yes") || field == "1";
}

class row_reader {
  public:
    row_reader(options const& o, running_rows const& rows, name_table& names, kind_finder& kinds,
               snapshot& into)
        : names_(names), kinds_(kinds), into_(into) {
        for (auto const& [c, unit] :
             {std::pair(running_column::start, &start_unit_), std::pair(running_column::time, &time_unit_)})
            *unit =
                rows.name(c).empty() ? time_unit::seconds : unit_of_times(o.unit, into.file, rows.name(c));
    }
    [[nodiscard]] time_unit start_unit() const { return start_unit_; }

    std::vector<row> read(running_rows& rows) {
        std::vector<row> read;
        while (rows.next()) {
            ++into_.rows;
            if (std::optional<fault> const f = read_row(rows, read.emplace_back())) {
                into_.faults[static_cast<std::size_t>(*f)].note(rows.line());
                read.pop_back();
            }
        }
        return read;
    }

  private:
    std::optional<fault> read_row(running_rows& rows, row& r) {
        using enum running_column;
        number const begun = read_number(rows.field(start)), told = read_number(rows.field(time));
        number const done = read_number(rows.field(progress)), size = read_number(rows.field(input));
        number const several = read_number(rows.field(copies));
        r.line = rows.line();
        if (!rows.is_plain()) return fault::unreadable;
        r.job = find_name(names_.jobs, rows.field(job));
        r.task = find_name(names_.tasks, rows.field(task));
        r.node = find_name(names_.nodes, rows.field(node));
        for (number const& n : {begun, told, size, several})
            if (n.kind == number_kind::unreadable || n.kind == number_kind::not_finite)
                return fault::unreadable;
        if (done.kind == number_kind::unreadable) return fault::unreadable;
        if (done.kind == number_kind::not_finite) return fault::bad_progress;
        r.start = moment_of(begun, start_unit_);
        r.reported = moment_of(told, time_unit_);
        if ((!r.start && begun.kind != number_kind::missing) ||
            (!r.reported && told.kind != number_kind::missing))
            return fault::out_of_range;
        if (!r.job) return fault::missing_job;
        if (done.kind != number_kind::missing) r.progress = value_of(done);
        if (size.kind != number_kind::missing) r.input = value_of(size);
        double const count = value_of(several);
        r.copies = count >= 1 && count <= 1e6 ? static_cast<std::uint32_t>(count) : 0;
        r.copy = is_yes(rows.field(speculative));
        r.kind = kinds_(rows.field(kind), *r.job, names_);
        return std::nullopt;
    }

    name_table& names_;
    kind_finder& kinds_;
    snapshot& into_;
    time_unit start_unit_{}, time_unit_{};
};

// Assembles attempts to tasks, and tasks to jobs.
class assembler {
  public:
    assembler(history const& past, snapshot& into) : into_(into) {
        for (past_attempt const& a : past.attempts)
            if (a.status == straggle::attempt_status::success && a.job && a.task)
                finished_.insert(key(*a.job, *a.task));
    }

    void add(row const& r) {
        if (std::optional<fault> const f = fault_of(r)) {
            into_.faults[static_cast<std::size_t>(*f)].note(r.line);
            return;
        }
        running_job& job = job_of(*r.job);
        if (!r.start) {
            job.waiting.push_back(r);
            ++into_.waiting;
            return;
        }
        running_task& task = task_of(job, r);
        running_attempt const a{*r.node, *r.start, r.reported, r.progress, r.copy};
        for (running_attempt const& b : task.attempts) {
            if (r.task && a.node == b.node && a.start == b.start) {
                into_.faults[static_cast<std::size_t>(fault::duplicate)].note(r.line);
                return;
            }
        }
        ++into_.attempts;
        task.copies = (std::max)(task.copies, r.copies);
        if (!task.input) task.input = r.input;
        task.attempts.push_back(a);
    }

    void end() {
        for (running_job& job : into_.jobs) {
            for (running_task& task : job.tasks) finish(task);
            into_.tasks += job.tasks.size();
        }
    }

  private:
    static std::uint64_t key(std::uint32_t job, std::uint32_t task) {
        return std::uint64_t{job} << 32 | task;
    }

    std::optional<fault> fault_of(row const& r) const {
        if (r.task && finished_.contains(key(*r.job, *r.task))) return fault::finished;
        if (!r.start && !r.node) return std::nullopt; // it waits
        if (!r.node) return fault::missing_node;
        if (!r.start) return fault::missing_start;
        if (*r.start > into_.now) return fault::not_started;
        if (r.progress && !(*r.progress >= 0 && *r.progress <= 1)) return fault::bad_progress;
        return std::nullopt;
    }
    running_job& job_of(std::uint32_t job) {
        auto const [at, is_new] = jobs_.try_emplace(job, into_.jobs.size());
        if (is_new) into_.jobs.push_back({job, {}, {}});
        return into_.jobs[at->second];
    }
    // A row without a name is a separate task.
    running_task& task_of(running_job& job, row const& r) {
        if (r.task) {
            auto const [at, is_new] = tasks_.try_emplace(key(*r.job, *r.task), job.tasks.size());
            if (!is_new) return job.tasks[at->second];
        }
        running_task& task = job.tasks.emplace_back();
        static_cast<work&>(task) = r;
        task.task = r.task;
        return task;
    }
    void finish(running_task& task) {
        auto const rank = [](running_attempt const& a) {
            return std::tuple(-a.progress.value_or(-1), a.start);
        };
        auto const best = std::ranges::min_element(task.attempts, {}, rank);
        task.furthest = static_cast<std::size_t>(best - task.attempts.begin());
        into_.copies += task.attempts_running() - 1;
        // If no record says which is the copy, it is the one that started later.
        if (std::ranges::any_of(task.attempts, &running_attempt::copy)) return;
        auto const first = std::ranges::min_element(task.attempts, {}, &running_attempt::start);
        for (auto a = task.attempts.begin(); a != task.attempts.end(); ++a) a->copy = a != first;
    }

    snapshot& into_;
    std::unordered_set<std::uint64_t> finished_;
    std::unordered_map<std::uint32_t, std::size_t> jobs_;
    std::unordered_map<std::uint64_t, std::size_t> tasks_; // in their jobs
};

moment latest_time(history const& past, std::vector<row> const& rows) {
    std::optional<moment> latest;
    auto const see = [&](std::optional<moment> t) {
        if (t && (!latest || *t > *latest)) latest = t;
    };
    for (past_attempt const& a : past.attempts) {
        see(a.start);
        see(a.end);
    }
    for (row const& r : rows) {
        see(r.start);
        see(r.reported);
    }
    return latest.value_or(moment{});
}

moment parse_now(std::string const& text, std::optional<time_unit> unit) {
    if (!unit) throw failure(exit_status::usage, "--now: no file has a start");
    std::optional<moment> const now = moment_of(read_number(text), *unit);
    if (!now) throw failure(exit_status::usage, "--now: '" + text + "' is not a time");
    return *now;
}

std::vector<row> running_in(history& past) {
    std::vector<row> rows;
    for (past_attempt const& a : past.running) {
        static_cast<past_attempt&>(rows.emplace_back()) = a;
    }
    return rows;
}

} // namespace

std::string_view to_string(fault f) {
    constexpr std::array<std::string_view, fault_count> names{"unreadable",   "out_of_range",  "missing_job",
                                                              "missing_node", "missing_start", "not_started",
                                                              "bad_progress", "finished",      "duplicate"};
    return names[static_cast<std::size_t>(f)];
}

snapshot read_running(options const& o, history& past, name_table& names, kind_finder& kinds,
                      bool show_progress) {
    snapshot s;
    std::vector<row> rows;
    if (o.running.empty()) {
        s.file = past.file;
        if (o.now.empty() && past.read.empty())
            throw failure(exit_status::usage, "RUNNING is required, or --now for what ran then (see --help)");
        s.now =
            o.now.empty() ? latest_time(past, rows) : parse_now(o.now, past.start_unit); // a log holds both
        cut(past, s.now);
        rows = running_in(past);
        s.rows = rows.size();
    } else {
        s.file = name_of(o.running);
        std::unique_ptr<running_rows> const told = open_running(o, show_progress);
        row_reader reader(o, *told, names, kinds, s);
        rows = reader.read(*told);
        s.now = o.now.empty() ? latest_time(past, rows) : parse_now(o.now, reader.start_unit());
        cut(past, s.now);
    }
    assembler all(past, s);
    for (row const& r : rows) all.add(r);
    all.end();
    return s;
}

} // namespace straggle_backup
