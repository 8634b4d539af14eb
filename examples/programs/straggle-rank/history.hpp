// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The task history in memory: one record per attempt, names replaced by small numbers.
#pragma once

#include "../readers/readers.hpp"
#include "columns.hpp"
#include "task_numbers.hpp"

#include <straggle/base/interner.hpp>
#include <straggle/record/attempt.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace straggle_rank {

/// Job and node by number and a task by its key, all of them unknown at first.
struct attempt_names {
    std::uint32_t job = (std::numeric_limits<std::uint32_t>::max)();
    std::uint32_t node = (std::numeric_limits<std::uint32_t>::max)();
    std::uint64_t task_key = no_task;
};

/// One attempt to run a task, in 40 bytes: histories are long. Empty is unknown.
template <class Time>
class attempt {
  public:
    [[nodiscard]] std::optional<Time> start() const { return known(start_); }
    [[nodiscard]] std::optional<Time> end() const { return known(end_); }
    [[nodiscard]] std::optional<Time> duration() const { return known(duration_); }
    [[nodiscard]] std::optional<std::uint32_t> job() const { return known(job_); }
    [[nodiscard]] std::optional<std::uint32_t> node() const { return known(node_); }
    /// Its number, if `repeated_tasks` assigned one.
    [[nodiscard]] std::optional<std::uint32_t> task() const {
        if (coded_status() != numbered_success) return std::nullopt;
        return static_cast<std::uint32_t>(task_key());
    }
    /// @pre the task has no number
    [[nodiscard]] std::uint64_t task_key() const { return task_ & no_task; }
    [[nodiscard]] straggle::attempt_status status() const {
        return coded_status() == numbered_success ? straggle::attempt_status::success
                                                  : static_cast<straggle::attempt_status>(coded_status());
    }

    attempt() = default;
    /// Without times.
    attempt(attempt_names const& names, straggle::attempt_status status)
        : task_(coded(names.task_key, static_cast<std::uint64_t>(status))),
          job_(names.job),
          node_(names.node) {}

    void set_start(std::optional<Time> t) { start_ = t.value_or(unknown<Time>); }
    void set_end(std::optional<Time> t) { end_ = t.value_or(unknown<Time>); }
    void set_duration(std::optional<Time> t) { duration_ = t.value_or(unknown<Time>); }
    void set_job(std::optional<std::uint32_t> id) { job_ = id.value_or(unknown<std::uint32_t>); }
    void set_node(std::optional<std::uint32_t> id) { node_ = id.value_or(unknown<std::uint32_t>); }
    /// @pre it is a success
    void set_task(std::optional<std::uint32_t> number) {
        task_ = number ? coded(*number, numbered_success) : no_task;
    }
    void set_task_key(std::uint64_t key) { task_ = coded(key, coded_status()); }
    void set_status(straggle::attempt_status s) { task_ = coded(task_key(), static_cast<std::uint64_t>(s)); }

    /// The same attempt with times of a different type.
    template <class Other, class Convert>
    [[nodiscard]] attempt<Other> converted(Convert&& convert) const {
        auto const other = [&](std::optional<Time> t) {
            return t ? std::optional<Other>(convert(*t)) : std::nullopt;
        };
        attempt<Other> a;
        a.set_start(other(start()));
        a.set_end(other(end()));
        a.set_duration(other(duration()));
        a.set_job(job());
        a.set_node(node());
        a.task_ = task_;
        return a;
    }

  private:
    template <class>
    friend class attempt;

    // In addition to the three statuses: a success whose task has a number.
    static constexpr std::uint64_t numbered_success = 3;
    static std::uint64_t coded(std::uint64_t key, std::uint64_t status) {
        return key | status << task_key_bits;
    }
    [[nodiscard]] std::uint64_t coded_status() const { return task_ >> task_key_bits; }

    // Values that no file contains: names are counted from 0, times are finite and not the least of their
    // type.
    template <class T>
    static constexpr T unknown = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN()
                                 : std::is_signed_v<T>       ? (std::numeric_limits<T>::min)()
                                                             : (std::numeric_limits<T>::max)();
    template <class T>
    static std::optional<T> known(T value) {
        if constexpr (std::is_floating_point_v<T>)
            return std::isnan(value) ? std::nullopt : std::optional<T>(value);
        else
            return value == unknown<T> ? std::nullopt : std::optional<T>(value);
    }

    Time start_ = unknown<Time>, end_ = unknown<Time>, duration_ = unknown<Time>;
    // A single number, written at once: reading it next does not wait for its pieces.
    std::uint64_t task_ = no_task; // and in the bits above the status, of which success is 0
    std::uint32_t job_ = unknown<std::uint32_t>, node_ = unknown<std::uint32_t>;
};

/// An attempt that had started and not ended when the history was written.
struct unended_attempt {
    std::uint32_t job = 0, node = 0;
    std::uint64_t task_key = no_task;
    double start = 0; ///< in ticks of the history
    double input = 0; ///< how much it has to read; 0 if unknown
};

/// A row that could not be converted to a record.
struct unreadable_rows {
    std::uint64_t count = 0;
    std::vector<std::size_t> lines; ///< of the first few
    std::string example;            ///< of the first: "start_ms is 'x', expected is a number"
};

struct history {
    std::string file;
    /// Exact ticks if every time in the file has at most nine decimal places, otherwise floating point.
    std::variant<std::vector<attempt<std::int64_t>>, std::vector<attempt<double>>> attempts;
    std::vector<unended_attempt> running; ///< at its end; without those whose task has succeeded since
    std::vector<double> inputs;           ///< by attempt, NaN for unknown; empty if none is known
    straggle::interner<std::string> jobs, nodes;
    std::vector<double> slots; ///< by node; the largest number the file gives
    bool has_durations = false;
    bool has_inputs = false;              ///< a column has how much was read
    bool has_waits = false;               ///< a column has how long an attempt waited for others
    bool has_tasks = false;               ///< a column identifies the task of each attempt
    std::string start_column, end_column; ///< of the times in the file; empty if there are none
    int places = 0;                       ///< ticks are units of the file times 10^-places
    unreadable_rows unparsable_number, not_finite;
    std::uint64_t rows = 0;
    std::uint64_t unended = 0;                  ///< rows without an end that are not errors
    std::optional<readers::reading_report> log; ///< what was read, unless it is CSV
};

struct reading_options {
    column_names columns;
    std::optional<readers::format> from{}; ///< empty: detected
    std::string join{};                    ///< the output of `sacct` about the jobs of a Nextflow trace
    std::vector<std::string> success{};    ///< further words of CSV for an attempt that succeeded
    bool needs_input = false;              ///< a row whose input cannot be read is not used
    bool show_progress = false;
};

/// Reads files and folders, `-` for standard input; a `failure` names file and line.
[[nodiscard]] history read_history(std::vector<std::string> const& paths, reading_options const& options);

} // namespace straggle_rank
