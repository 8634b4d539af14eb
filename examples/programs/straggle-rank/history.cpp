// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "history.hpp"

#include "../common/csv.hpp"
#include "../common/csv_table.hpp"
#include "../common/digits.hpp"
#include "../common/failure.hpp"
#include "../common/file_source.hpp"
#include "../common/length.hpp"
#include "../common/number.hpp"
#include "../common/progress.hpp"
#include "../common/status.hpp"
#include "../common/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace straggle_rank {

using namespace program;

namespace {

using straggle::attempt_status;

// digits * 10^places, if that fits.
std::optional<std::int64_t> scaled(std::int64_t digits, int places) {
    std::int64_t const factor = powers_of_ten[static_cast<std::size_t>(places)];
    if (digits > INT64_MAX / factor || digits < -(INT64_MAX / factor)) return std::nullopt;
    return digits * factor;
}

// The numbers of one row.
struct row_times {
    number start, end, duration;
    template <class Visit>
    void each(Visit&& visit) const {
        visit(start);
        visit(end);
        visit(duration);
    }
};

// a - b; missing if one of them is.
number difference(number const& a, number const& b) {
    if (a.kind == number_kind::missing || b.kind == number_kind::missing) return {};
    if (a.kind == number_kind::exact && b.kind == number_kind::exact) {
        int const places = (std::max)(a.places, b.places);
        auto const x = scaled(a.digits, places - a.places), y = scaled(b.digits, places - b.places);
        auto const fits = [](std::optional<std::int64_t> t) {
            return t && *t <= INT64_MAX / 2 && *t >= -(INT64_MAX / 2);
        };
        if (fits(x) && fits(y)) return {.kind = number_kind::exact, .places = places, .digits = *x - *y};
    }
    return {.kind = number_kind::real, .value = value_of(a) - value_of(b)};
}

// An attempt's time without its wait for others; an unknown wait counts as none.
number own_work(row_times const& t, number const& waited) {
    number const whole = t.duration.kind == number_kind::missing ? difference(t.end, t.start) : t.duration;
    if (waited.kind == number_kind::missing) return whole;
    return value_of(waited) < 0 ? waited : difference(whole, waited); // no such duration: it is rejected
}

// Collects attempts as exact ticks of 10^-places as long as that is possible, then as floating point.
class attempt_list {
  public:
    attempt_list() = default;
    explicit attempt_list(std::vector<attempt<std::int64_t>>&& ticks) : list_(std::move(ticks)) {}

    void reserve(std::size_t n) {
        std::visit([n](auto& list) { list.reserve(n); }, list_);
    }

    // `rest` contains everything except the times.
    void add(row_times const& times, attempt<std::int64_t> const& rest) {
        if (auto* const ticks = std::get_if<tick_list>(&list_)) {
            if (fits(times, *ticks)) {
                ticks->push_back(with_times<std::int64_t>(rest, times, [this](number const& n) {
                    return n.digits * powers_of_ten[static_cast<std::size_t>(places_ - n.places)];
                }));
                return;
            }
            go_to_floating_point(*ticks);
        }
        std::get<real_list>(list_).push_back(with_times<double>(rest, times, [](number const& n) {
            return n.kind == number_kind::real
                       ? n.value
                       : static_cast<double>(n.digits) /
                             static_cast<double>(powers_of_ten[static_cast<std::size_t>(n.places)]);
        }));
    }

    // The attempts, while the whole numbers of the file are their ticks; else null.
    [[nodiscard]] std::vector<attempt<std::int64_t>>* whole_ticks() {
        return places_ == 0 ? std::get_if<tick_list>(&list_) : nullptr;
    }

    [[nodiscard]] int places() const { return places_; }
    [[nodiscard]] std::size_t size() const {
        return std::visit([](auto const& list) { return list.size(); }, list_);
    }
    [[nodiscard]] bool is_exact() const { return std::holds_alternative<tick_list>(list_); }
    // Which of the tasks have succeeded. They have no numbers yet.
    [[nodiscard]] std::vector<bool> successes_among(straggle::interner<std::uint64_t> const& keys) const {
        std::vector<bool> found(keys.size());
        std::visit(
            [&](auto const& list) {
                for (auto const& a : list)
                    if (a.status() == attempt_status::success)
                        if (std::uint32_t const n = keys.find(a.task_key()); n != keys.none) found[n] = true;
            },
            list_);
        return found;
    }
    void followed_by(repeated_tasks& tasks) const {
        std::visit([&](auto const& list) { tasks.follow(list); }, list_);
    }
    auto take() && { return std::move(list_); }

  private:
    using tick_list = std::vector<attempt<std::int64_t>>;
    using real_list = std::vector<attempt<double>>;

    // Makes the ticks as fine as a row needs; false if it cannot be done.
    bool fits(row_times const& times, tick_list& ticks) {
        int places = places_;
        times.each([&](number const& n) { places = n.places > places ? n.places : places; });
        bool possible = places == places_ || refine(ticks, places);
        times.each([&](number const& n) {
            possible = possible && n.kind != number_kind::real && scaled(n.digits, places_ - n.places);
        });
        return possible;
    }

    bool refine(tick_list& ticks, int places) {
        int const by = places - places_;
        auto const fits_still = [by](std::optional<std::int64_t> t) { return !t || scaled(*t, by); };
        for (auto const& a : ticks)
            if (!fits_still(a.start()) || !fits_still(a.end()) || !fits_still(a.duration())) return false;
        for (auto& a : ticks) a = a.converted<std::int64_t>([by](std::int64_t t) { return *scaled(t, by); });
        places_ = places;
        return true;
    }

    void go_to_floating_point(tick_list const& ticks) {
        double const unit = static_cast<double>(powers_of_ten[static_cast<std::size_t>(places_)]);
        real_list reals;
        reals.reserve(ticks.capacity());
        for (auto const& a : ticks)
            reals.push_back(
                a.converted<double>([unit](std::int64_t t) { return static_cast<double>(t) / unit; }));
        list_ = std::move(reals);
    }

    template <class Time, class Convert>
    static attempt<Time> with_times(attempt<std::int64_t> const& rest, row_times const& times,
                                    Convert&& convert) {
        auto const known = [&](number const& n) {
            return n.kind == number_kind::missing ? std::nullopt : std::optional<Time>(convert(n));
        };
        attempt<Time> a = rest.converted<Time>([](std::int64_t t) { return static_cast<Time>(t); });
        a.set_start(known(times.start));
        a.set_end(known(times.end));
        a.set_duration(known(times.duration));
        return a;
    }

    std::variant<tick_list, real_list> list_;
    int places_ = 0;
};

// Collects all files of a history.
struct history_parts {
    history h;
    attempt_list list;
    repeated_tasks tasks;
    std::vector<number> running_starts; // by running attempt
    std::string last_job;               // whose attempts are often adjacent
    std::uint32_t last_job_number = 0;
    std::string timed; // the first column whose name contains the unit
};

attempt_names names_in(history_parts& to, std::string_view job, std::string_view node,
                       std::string_view task) {
    attempt_names names;
    if (!job.empty()) {
        if (job != to.last_job) {
            to.last_job_number = to.h.jobs.insert(job);
            to.last_job = job;
        }
        names.job = to.last_job_number;
        names.task_key = task_key(names.job, task);
    }
    if (!node.empty()) names.node = to.h.nodes.insert(node);
    return names;
}

bool is_known(number const& n) {
    return n.kind == number_kind::exact || n.kind == number_kind::real;
}

// Without a job or a node it is no evidence.
void add_running(history_parts& to, attempt_names const& names, number const& start, double input) {
    ++to.h.unended;
    constexpr attempt_names unknown;
    if (names.job == unknown.job || names.node == unknown.node) return;
    to.h.running.push_back({names.job, names.node, names.task_key, 0, input});
    to.running_starts.push_back(start);
}

// Their starts in ticks. An attempt whose task has succeeded is not waited for: its end was lost.
void finish_running(history_parts& parts) {
    history& h = parts.h;
    if (h.running.empty()) return;
    double const ticks = parts.list.is_exact() ? std::pow(10, parts.list.places()) : 1;
    straggle::interner<std::uint64_t> keys;
    for (std::size_t i = 0; i < h.running.size(); ++i) {
        h.running[i].start = value_of(parts.running_starts[i]) * ticks;
        if (h.running[i].task_key != no_task) keys.insert(h.running[i].task_key);
    }
    std::vector<bool> const succeeded = parts.list.successes_among(keys);
    std::erase_if(h.running, [&](unended_attempt const& a) {
        return a.task_key != no_task && succeeded[keys.find(a.task_key)];
    });
}

// What csv::reader reads from.
struct input_source {
    readers::input* in;
    std::size_t operator()(char* to, std::size_t size) const { return (*in)(to, size); }
};

class csv_file {
  public:
    csv_file(readers::input& in, std::uint64_t bytes, reading_options const& options, history_parts& to)
        : in_(in),
          csv_(input_source{&in}, {}, !options.columns.by_place()),
          columns_(options.columns, csv_.header(), in.name()),
          bytes_(bytes),
          progress_(options.show_progress, bytes_),
          success_(options.success),
          needs_input_(options.needs_input),
          has_input_(columns_.has(column::input)),
          only_times_(!has_input_ && !columns_.has(column::slots) && !columns_.has(column::waited)),
          to_(to),
          history_(to.h) {
        // After subtracting a wait, what remains is the duration of the attempt's own work.
        bool const durations = columns_.has(column::duration) || columns_.has(column::waited);
        if (history_.rows > 0 && durations != history_.has_durations)
            columns_.fail("durations in some of the files and not in others");
        history_.has_durations = durations;
        if (columns_.has(column::start)) history_.start_column = columns_.name(column::start);
        if (columns_.has(column::end)) history_.end_column = columns_.name(column::end);
        history_.has_inputs = history_.has_inputs || has_input_;
        history_.has_waits = history_.has_waits || columns_.has(column::waited);
        history_.has_tasks = history_.has_tasks || columns_.has(column::task);
        for (column const c : {column::start, column::end, column::duration, column::waited})
            if (columns_.has(c)) check_unit(columns_.name(c));
    }

    void read() {
        std::uint64_t const before = history_.rows;
        while (csv_.next_plain()) {
            ++history_.rows;
            if ((history_.rows & 0xff) == 0) to_.list.followed_by(to_.tasks);
            if ((history_.rows & 0xfff) == 0) progress_.update(in_.source().packed_bytes(), history_.rows);
            if (history_.rows - before == 1000) reserve();
            read_row(csv_.fields());
        }
        if (history_.rows == before)
            throw failure(exit_status::bad_input, in_.name() + ":1: a header and nothing else");
        if (!in_.source().damage().empty())
            throw failure(exit_status::bad_input, in_.name() + ": " + in_.source().damage());
    }

  private:
    // Nothing is converted: all times of a history must have the same unit.
    void check_unit(std::string const& name) {
        if (!unit_of_column(name)) return;
        if (to_.timed.empty()) to_.timed = name;
        if (unit_of_column(to_.timed) != unit_of_column(name))
            columns_.fail("times in two units, '" + to_.timed + "' and '" + name + "'");
    }

    void read_row(std::span<std::string_view const> record) {
        attempt_names const names =
            names_in(to_, columns_.name_in(record, column::job, job_), columns_.field(record, column::node),
                     columns_.field(record, column::task));
        straggle::attempt_status const status = columns_.has(column::status)
                                                    ? status_in(columns_.field(record, column::status))
                                                    : straggle::attempt_status::success;
        auto* const ticks = only_times_ ? to_.list.whole_ticks() : nullptr;
        if (ticks != nullptr && add_ticks(record, names, status, *ticks)) return;

        row_times times{number_in(record, column::start), number_in(record, column::end),
                        number_in(record, column::duration)};
        number const waited = number_in(record, column::waited);
        number const input = has_input_ ? number_in(record, column::input) : number{};
        number const needed = needs_input_ ? input : number{};
        number const slots = number_in(record, column::slots);
        if (names.node != attempt_names{}.node) note_slots(names.node, slots);
        if (!is_usable({times.start, times.end, times.duration, waited, needed, slots}, record)) return;
        if (is_running(record, times)) {
            add_running(to_, names, times.start, is_known(input) ? value_of(input) : 0);
            return;
        }
        if (columns_.has(column::waited)) times.duration = own_work(times, waited);
        to_.list.add(times, {names, status});
        if (is_known(input) || (has_input_ && (needs_input_ || !history_.inputs.empty()))) {
            history_.inputs.resize(to_.list.size(), std::nan(""));
            if (is_known(input)) history_.inputs.back() = value_of(input);
        }
    }

    // Nearly all rows: digits in the columns of times, and no other number. Writes them in place, because a
    // copy would wait for what was just written.
    bool add_ticks(std::span<std::string_view const> record, attempt_names const& names,
                   straggle::attempt_status status, std::vector<attempt<std::int64_t>>& to) {
        std::int64_t start = 0, end = 0, duration = 0;
        auto const read = [&](column c, std::int64_t& t) {
            return !columns_.has(c) || read_whole(columns_.field(record, c), t);
        };
        if (!read(column::start, start) || !read(column::end, end) || !read(column::duration, duration))
            return false;
        attempt<std::int64_t>& a = to.emplace_back(names, status);
        if (columns_.has(column::start)) a.set_start(start);
        if (columns_.has(column::end)) a.set_end(end);
        if (columns_.has(column::duration)) a.set_duration(duration);
        return true;
    }

    number number_in(std::span<std::string_view const> record, column c) const {
        return columns_.has(c) ? read_number(columns_.field(record, c)) : number{};
    }

    straggle::attempt_status status_in(std::string_view field) {
        if (field != last_word_) {
            last_word_ = field;
            last_status_ = std::ranges::find(success_, field) != success_.end()
                               ? attempt_status::success
                               : history_words::read_status(field);
        }
        return last_status_;
    }

    bool is_usable(std::array<number, 6> const& numbers, std::span<std::string_view const> record) {
        bool is = true;
        for (number const& n : numbers) is &= n.kind <= number_kind::real;
        if (is) return true;
        for (number_kind const fault : {number_kind::unreadable, number_kind::not_finite}) {
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                if (numbers[i].kind != fault) continue;
                constexpr std::array columns{column::start,  column::end,   column::duration,
                                             column::waited, column::input, column::slots};
                note(fault == number_kind::unreadable ? history_.unparsable_number : history_.not_finite,
                     columns_.name(columns[i]), columns_.field(record, columns[i]));
                return false;
            }
        }
        return true;
    }

    void note(unreadable_rows& rows, std::string const& name, std::string_view value) const {
        if (++rows.count == 1)
            rows.example = name + " is '" + shortened(printable(value), 40, "..") +
                           "', expected is a number, for a time since any moment";
        if (rows.lines.size() < 5) rows.lines.push_back(csv_.line());
    }

    // It started, and there is no sign that it ended.
    [[nodiscard]] bool is_running(std::span<std::string_view const> record, row_times const& times) const {
        return is_known(times.start) && times.end.kind == number_kind::missing &&
               times.duration.kind == number_kind::missing &&
               (!columns_.has(column::status) ||
                history_words::is_running(columns_.field(record, column::status)));
    }

    void note_slots(std::uint32_t node, number const& slots) {
        if (node >= history_.slots.size()) history_.slots.resize(node + 1, 0);
        if (!is_known(slots)) return;
        history_.slots[node] = (std::max)(history_.slots[node], value_of(slots));
    }

    // Once the length of rows is known.
    void reserve() {
        double const rows = static_cast<double>(bytes_) / static_cast<double>(csv_.bytes()) * 1000;
        if (in_.source().packed_bytes() < bytes_)
            to_.list.reserve(static_cast<std::size_t>(rows * 1.02) + 1000);
    }

    readers::input& in_;
    csv::reader<input_source> csv_;
    column_places columns_;
    std::uint64_t bytes_;
    progress_bar progress_;
    std::vector<std::string> const& success_;
    bool needs_input_, has_input_, only_times_;
    history_parts& to_;
    history& history_;
    std::string job_;       // composed of several columns
    std::string last_word_; // of a status; there are few different ones
    straggle::attempt_status last_status_ = history_words::read_status({});
};

history finished(history_parts parts) {
    parts.h.places = parts.list.places();
    finish_running(parts);
    if (!parts.h.inputs.empty()) parts.h.inputs.resize(parts.list.size(), std::nan(""));
    parts.h.attempts = std::move(parts.list).take();
    // A node without a number of slots in the file has one.
    parts.h.slots.resize(parts.h.nodes.size(), 0);
    for (double& slots : parts.h.slots)
        if (!(slots > 0)) slots = 1;
    std::visit([&](auto& attempts) { std::move(parts.tasks).number(attempts); }, parts.h.attempts);
    return std::move(parts.h);
}

std::string name_of_all(std::vector<std::string> const& files) {
    return files.size() == 1 ? name_of(files.front()) : counted(files.size(), "file");
}

history read_csv(std::vector<std::string> const& files, std::unique_ptr<readers::input> first,
                 reading_options const& options) {
    history_parts parts;
    parts.h.file = name_of_all(files);
    for (std::string const& file : files) {
        std::unique_ptr<readers::input> const in =
            first ? std::move(first) : std::make_unique<readers::input>(file);
        try {
            csv_file(*in, size_of(file), options, parts).read();
        } catch (csv::error const& e) {
            throw failure(exit_status::bad_input,
                          in->name() + ":" + std::to_string(e.line()) + ": " +
                              (in->source().damage().empty() ? e.what() : in->source().damage()));
        }
    }
    return finished(std::move(parts));
}

straggle::attempt_status status_of(readers::ending how) {
    if (how == readers::ending::success) return straggle::attempt_status::success;
    return how == readers::ending::killed ? straggle::attempt_status::killed
                                          : straggle::attempt_status::failed;
}

// Nanoseconds, as in the log's own names.
history read_log(std::vector<std::string> const& files, std::unique_ptr<readers::input> first,
                 reading_options const& options) {
    std::vector<attempt<std::int64_t>> list;
    history_parts parts;
    parts.h.file = name_of_all(files);
    parts.h.start_column = "start_ns";
    parts.h.end_column = "end_ns";
    parts.h.has_tasks = true;
    readers::reading_report report = readers::read_history(
        files,
        {.from = options.from,
         .show_progress = options.show_progress,
         .columns = given_columns(options.columns),
         .join = options.join},
        [&](readers::attempt const& a) {
            ++parts.h.rows;
            attempt_names const names = names_in(parts, a.job, a.node, a.task);
            if (a.end_state == readers::ending::running) {
                if (a.start)
                    add_running(parts, names, {.kind = number_kind::exact, .digits = a.start->count()},
                                a.input.value_or(0));
                return;
            }
            attempt<std::int64_t>& b = list.emplace_back(names, status_of(a.end_state));
            if (a.start) b.set_start(a.start->count());
            if (a.end) b.set_end(a.end->count());
            if (a.input && !parts.h.has_inputs) parts.h.inputs.resize(list.size() - 1, std::nan(""));
            parts.h.has_inputs = parts.h.has_inputs || a.input.has_value();
            if (parts.h.has_inputs) parts.h.inputs.push_back(a.input.value_or(std::nan("")));
        },
        std::move(first));
    readers::expect_ended(report);
    parts.list = attempt_list(std::move(list));
    parts.h.log = std::move(report);
    return finished(std::move(parts));
}

} // namespace

history read_history(std::vector<std::string> const& paths, reading_options const& options) {
    readers::opened_history opened = readers::open_history(paths, options.from);
    auto const read = opened.is_csv ? read_csv : read_log;
    return read(opened.files, std::move(opened.first), options);
}

} // namespace straggle_rank
