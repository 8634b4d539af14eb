// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A recorded history that can be replayed: which attempts of which tasks ran where and when, and what
/// progress they reported. Impossible records are rejected and counted by reason; the rest is sorted by time.
#pragma once

#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/reason_counts.hpp>
#include <straggle/record/running.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <vector>

namespace replaying {

using namespace straggle;
namespace detail = straggle::detail;

template <class Fields>
concept recorded_aggregate = requires(Fields const& f) {
    f.job;
    f.task;
    f.attempt;
    f.node;
    f.start;
    f.end;
    f.status;
    f.input;
    f.usual;
    f.predicted;
};
template <class Fields>
concept reading_aggregate = requires(Fields const& f) {
    f.job;
    f.task;
    f.attempt;
    f.time;
    f.progress;
};

// A time for looks: its number is accessible, and lengths of time can be added to it.
template <class Time>
concept replayable_time =
    base::time_like<Time> && requires(Time const& t) { static_cast<Time>(t + (t - t)); } &&
    (std::is_arithmetic_v<Time> || requires(Time const& t) { t.time_since_epoch().count(); } ||
     requires(Time const& t) { t.count(); });

template <class Field, class Records>
using recorded_id = owned_identifier_t<detail::field_value_t<Field, std::ranges::range_value_t<Records>>>;

// What distinguishes attempts; anything if they are not distinguished.
template <class Field, class Record>
struct attempt_name {
    using type = owned_identifier_t<detail::field_value_t<Field, Record>>;
};
template <class Record>
struct attempt_name<base::no_field, Record> {
    using type = std::uint32_t;
};

// The number behind a time or a length of time, in its own unit.
template <class Time>
constexpr auto moment_of(Time const& t) noexcept {
    if constexpr (std::is_arithmetic_v<Time>)
        return t;
    else if constexpr (requires { t.time_since_epoch().count(); })
        return t.time_since_epoch().count();
    else
        return t.count();
}
template <class Time>
constexpr bool is_moment(Time const& t) noexcept {
    return !detail::is_unordered(moment_of(t));
}
// Differences of such times fit their type. Those of unsigned ones always do: the later is the minuend.
template <class Time>
constexpr bool is_in_range(Time const& t) noexcept {
    auto const n = moment_of(t);
    using number = std::remove_const_t<decltype(n)>;
    constexpr number most = (std::numeric_limits<number>::max)() / 2;
    if constexpr (std::is_floating_point_v<number>) // and seconds are a double
        return n <= most && n >= -most && n <= number(1e300) && n >= number(-1e300);
    else if constexpr (std::is_signed_v<number>)
        return n <= most && n >= -most;
    else
        return true;
}

// A number as a double; 0 unless it is above 0.
template <class Field>
double positive_or_0(Field const& field) noexcept {
    if (!detail::is_present(field)) return 0;
    double const x = detail::to_time(detail::unwrap(field));
    return x > 0 && detail::is_finite(x) ? x : 0;
}

// What `replayer` sees of a recording, and how it makes a `starting_job`. (A constrained friend template
// makes clang 19 crash.)
struct replay_access {
    template <class Recording>
    static auto const& tape(Recording const& r) noexcept {
        return r.tape_;
    }
    template <class Recording>
    static auto const& nodes(Recording const& r) noexcept {
        return r.nodes_;
    }
    template <class Job, class... Arguments>
    static Job starting(Arguments&... arguments) {
        return Job(arguments...);
    }
};

inline constexpr std::uint32_t no_attempt = 0xffffffffu; // also: no task, no job; as `interner::none`

template <class Time>
struct taped_attempt {
    Time start, end;
    Time last_report{};
    double last_progress = 0;
    double input = 0, usual = 0, predicted = 0; // 0: unknown
    std::uint32_t task = no_attempt, node = 0, row = 0;
    attempt_status status = attempt_status::success;
    bool reported = false;

    [[nodiscard]] double time() const noexcept { return detail::to_time(end - start); }
};

template <class Time>
struct taped_reading {
    Time time;
    double progress = 0;
    std::uint32_t attempt = no_attempt, row = 0;
};

struct taped_task {
    std::uint32_t job = no_attempt;
    std::uint32_t first = 0, count = 0;       // its attempts, in `tape::of_tasks`
    std::uint32_t original = no_attempt;      // of the deciding run
    std::uint32_t winner = no_attempt;        // the first success
    std::uint32_t run_first = 0, run_end = 0; // the run, in `tape::of_tasks`
};

struct taped_job {
    std::uint32_t tasks = 0, attempts = 0;
};

template <class Time>
struct tape {
    std::vector<taped_attempt<Time>> attempts; // by start, then row
    std::vector<taped_reading<Time>> readings; // by time, then row
    std::vector<taped_task> tasks;             // in order of first appearance
    std::vector<taped_job> jobs;               // the same
    std::vector<std::uint32_t> places;         // the place of each attempt, in order of reading
    std::vector<std::uint32_t> by_end;         // attempts by end, then place
    std::vector<std::uint32_t> of_tasks;       // attempts of each task, by start
    std::vector<Time> reach;                   // the latest end of the task's attempts up to there

    // After all attempts have been added, in order of reading.
    void settle() {
        sort_attempts();
        sort_by_end();
        group_by_task();
        for (taped_task& t : tasks) find_run(t);
    }
    void sort_readings() {
        std::sort(readings.begin(), readings.end(),
                  [](taped_reading<Time> const& a, taped_reading<Time> const& b) {
                      return a.time < b.time || (!(b.time < a.time) && a.row < b.row);
                  });
    }

    // The oldest attempt of a task that ran then; if none did, one that begins later or has ended.
    [[nodiscard]] std::uint32_t running_at(std::uint32_t task, Time const& at) const {
        taped_task const& t = tasks[task];
        auto const *const first = reach.data() + t.first, *const end = first + t.count;
        // The reach grows: where it exceeds a time, an attempt ends after it.
        auto place = static_cast<std::size_t>(std::lower_bound(first, end, at) - reach.data());
        if (place == t.first + t.count) --place;
        if (at < attempts[of_tasks[place]].start && place > t.first) --place;
        return of_tasks[place];
    }

  private:
    void sort_attempts() {
        std::vector<std::uint32_t> order(attempts.size());
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
            Time const &x = attempts[a].start, &y = attempts[b].start;
            return x < y || (!(y < x) && a < b);
        });
        std::vector<taped_attempt<Time>> sorted;
        sorted.reserve(attempts.size());
        places.resize(attempts.size());
        for (std::uint32_t const i : order) {
            places[i] = static_cast<std::uint32_t>(sorted.size());
            sorted.push_back(attempts[i]);
        }
        attempts.swap(sorted);
    }
    void sort_by_end() {
        by_end.resize(attempts.size());
        std::iota(by_end.begin(), by_end.end(), 0u);
        std::sort(by_end.begin(), by_end.end(), [this](std::uint32_t a, std::uint32_t b) {
            Time const &x = attempts[a].end, &y = attempts[b].end;
            return x < y || (!(y < x) && a < b);
        });
    }
    void group_by_task() {
        for (taped_attempt<Time> const& a : attempts) ++tasks[a.task].count;
        std::uint32_t first = 0;
        for (taped_task& t : tasks) {
            t.first = t.run_first = t.run_end = first;
            first += t.count;
        }
        of_tasks.resize(attempts.size());
        reach.clear();
        // `run_end` is where the next attempt of the task goes.
        for (std::uint32_t i = 0; i < attempts.size(); ++i) of_tasks[tasks[attempts[i].task].run_end++] = i;
        for (std::uint32_t place = 0; place < of_tasks.size(); ++place) {
            taped_attempt<Time> const& a = attempts[of_tasks[place]];
            Time const before = place == tasks[a.task].first ? a.end : reach.back();
            reach.push_back((std::max)(before, a.end));
        }
    }
    void find_run(taped_task& t) const {
        std::uint32_t begin = t.first; // of the current run
        for (std::uint32_t place = t.first; place < t.first + t.count; ++place) {
            std::uint32_t const i = of_tasks[place];
            taped_attempt<Time> const& a = attempts[i];
            if (place > begin && !(a.start < reach[place - 1])) begin = place;
            bool const first_success = a.status == attempt_status::success &&
                                       (t.winner == no_attempt || a.end < attempts[t.winner].end);
            if (first_success) t.winner = i;
            if (first_success || t.winner == no_attempt) t.run_first = begin;
        }
        t.original = of_tasks[t.run_first];
        t.run_end = t.run_first + 1;
        while (t.run_end < t.first + t.count && attempts[of_tasks[t.run_end]].start < reach[t.run_end - 1])
            ++t.run_end;
    }
};

/// The meaning of a recorded attempt's members. An aggregate for designated initializers; all except job,
/// task, node, start and end are optional. Any projection may yield a `std::optional`.
/// @par Example
/// `recorded_fields{.job = &row::job, .task = &row::task, .node = &row::host, .start = &row::begin,
/// .end = &row::end}`
template <class Job = base::no_field, class Task = base::no_field, class Node = base::no_field,
          class Start = base::no_field, class End = base::no_field, class Status = base::no_field,
          class Attempt = base::no_field, class Input = base::no_field, class Usual = base::no_field,
          class Predicted = base::no_field>
struct recorded_fields {
    [[no_unique_address]] Job job{};         ///< `job_field`
    [[no_unique_address]] Task task{};       ///< `task_field`
    [[no_unique_address]] Node node{};       ///< `node_field`
    [[no_unique_address]] Start start{};     ///< `time_field`
    [[no_unique_address]] End end{};         ///< `time_field`, of the same type
    [[no_unique_address]] Status status{};   ///< `status_field`; without it every attempt is a success
    [[no_unique_address]] Attempt attempt{}; ///< identifies an attempt of its task; without it each is new
    [[no_unique_address]] Input input{};     ///< `input_field`: passed to detectors; without it 1
    /// `duration_field`: the usual time of the task, by which it is judged; without it, or where it is not
    /// above 0, a quantile of the times of its job.
    [[no_unique_address]] Usual usual{};
    /// `duration_field`: the time expected before the task ran; passed to detectors when it has finished
    /// (`job_progress::finished`). Without it no expectation is passed.
    [[no_unique_address]] Predicted predicted{};
};

/// The meaning of the members of a progress reading. An aggregate for designated initializers.
template <class Job = base::no_field, class Task = base::no_field, class Time = base::no_field,
          class Progress = base::no_field, class Attempt = base::no_field>
struct reading_fields {
    [[no_unique_address]] Job job{};           ///< `job_field`, as in the attempts
    [[no_unique_address]] Task task{};         ///< `task_field`, as in the attempts
    [[no_unique_address]] Time time{};         ///< `time_field`, on the clock of the attempts
    [[no_unique_address]] Progress progress{}; ///< `progress_field`
    [[no_unique_address]] Attempt attempt{}; ///< without it: the task's attempt that ran then, the older one
};

/// Distinguishes the attempts of one task: a number or a name.
template <class Field, class Record>
concept attempt_number_field =
    base::projection_of<Field, Record> && base::identifier<detail::field_value_t<Field, Record>>;

/// Fields with which a `Record` can be read as a recorded attempt.
template <class Fields, class Record>
concept recorded_fields_for =
    recorded_aggregate<Fields> && record::job_field<decltype(Fields::job), Record> &&
    record::task_field<decltype(Fields::task), Record> &&
    record::node_field<decltype(Fields::node), Record> &&
    record::time_field<decltype(Fields::start), Record> &&
    record::time_field<decltype(Fields::end), Record> &&
    replayable_time<detail::field_value_t<decltype(Fields::start), Record>> &&
    std::same_as<detail::field_value_t<decltype(Fields::start), Record>,
                 detail::field_value_t<decltype(Fields::end), Record>> &&
    (!detail::given<decltype(Fields::attempt)> || attempt_number_field<decltype(Fields::attempt), Record>) &&
    (!detail::given<decltype(Fields::status)> || record::status_field<decltype(Fields::status), Record>) &&
    (!detail::given<decltype(Fields::input)> || record::input_field<decltype(Fields::input), Record>) &&
    (!detail::given<decltype(Fields::usual)> || record::duration_field<decltype(Fields::usual), Record>) &&
    (!detail::given<decltype(Fields::predicted)> ||
     record::duration_field<decltype(Fields::predicted), Record>);

/// Fields with which a `Reading` can be read as a report of progress.
template <class Fields, class Reading>
concept reading_fields_for =
    reading_aggregate<Fields> && record::job_field<decltype(Fields::job), Reading> &&
    record::task_field<decltype(Fields::task), Reading> &&
    record::time_field<decltype(Fields::time), Reading> &&
    record::progress_field<decltype(Fields::progress), Reading> &&
    (!detail::given<decltype(Fields::attempt)> || attempt_number_field<decltype(Fields::attempt), Reading>);

/// Why a recorded attempt could not be used.
enum class recording_fault : std::uint8_t {
    missing_name,     ///< the job, task, attempt or node is an empty optional
    missing_time,     ///< the start or the end is an empty optional
    not_finite,       ///< the start or the end is NaN or infinite
    out_of_range,     ///< beyond half of what its type can hold, so that differences may not fit
    end_before_start, ///< start and end are the wrong way round
    duplicate,        ///< the same attempt of the same task occurred before
};
/// Number of reasons.
inline constexpr std::size_t recording_fault_count = 6;
/// Number of reasons, for `record::reason_counts`.
[[nodiscard]] constexpr std::size_t reason_count(recording_fault) noexcept {
    return recording_fault_count;
}

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(recording_fault f) noexcept {
    constexpr std::array<std::string_view, recording_fault_count> names{
        "missing_name", "missing_time", "not_finite", "out_of_range", "end_before_start", "duplicate"};
    return names[static_cast<std::size_t>(f)];
}

/// Why a reading could not be used. The first that applies, in this order.
enum class reading_fault : std::uint8_t {
    missing_field, ///< an empty optional
    bad_progress,  ///< not a number from 0 to 1
    bad_time,      ///< NaN or infinite
    unknown_task,  ///< no usable attempt has this job, task and attempt
    before_start,  ///< the attempt had not begun yet
    after_end,     ///< the attempt was over
    out_of_order,  ///< an earlier one of the attempt, in the order of the range, is of a later time
};
/// Number of reasons.
inline constexpr std::size_t reading_fault_count = 7;
/// Number of reasons, for `record::reason_counts`.
[[nodiscard]] constexpr std::size_t reason_count(reading_fault) noexcept {
    return reading_fault_count;
}

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(reading_fault f) noexcept {
    constexpr std::array<std::string_view, reading_fault_count> names{
        "missing_field", "bad_progress", "bad_time",    "unknown_task",
        "before_start",  "after_end",    "out_of_order"};
    return names[static_cast<std::size_t>(f)];
}

/// The counts of what was read.
/// @tparam Fault `recording_fault` or `reading_fault`
/// @par Guarantees
/// `seen == used + total_rejected()`
template <record::countable_reason Fault>
struct fault_counts {
    std::uint64_t seen = 0;                  ///< read
    std::uint64_t used = 0;                  ///< part of the recording
    record::reason_counts<Fault> rejected{}; ///< why the others were left out

    /// Rejected for one reason.
    [[nodiscard]] constexpr std::uint64_t operator[](Fault f) const noexcept { return rejected[f]; }
    /// Rejected for any reason.
    [[nodiscard]] constexpr std::uint64_t total_rejected() const noexcept { return rejected.total(); }
    friend constexpr bool operator==(fault_counts const&, fault_counts const&) = default;
};
/// Of recorded attempts.
using recording_counts = fault_counts<recording_fault>;
/// Of readings.
using reading_fault_counts = fault_counts<reading_fault>;

/// The outcome of a task in the history.
enum class task_fate : std::uint8_t {
    finished,        ///< an attempt succeeded, and it is known how the first of its run went
    never_finished,  ///< no attempt succeeded
    original_failed, ///< a copy succeeded, but its original had failed before: it was not too slow
};

/// A history in order of time, which can be replayed any number of times. It keeps nothing of the records.
///
/// Attempts of one task that overlap in time are a *run*: its first attempt is the *original*, the others are
/// speculative copies. (What the record itself calls speculative is ignored: real histories are often wrong
/// there.) An attempt that begins when no other of the task is running begins a new run, for example after a
/// failure. A task has finished with its first success; attempts that run or begin after that only count as
/// slot time. The run of the first success *decides* the outcome of the task, see `task_fate`.
///
/// @tparam JobId and `NodeId`: how jobs and nodes are named: `std::string` for text
/// @tparam Time points of time: a number, a `std::chrono` time or duration
/// @par Cost
/// O(n log n) for n attempts and readings; 92 bytes per attempt, 24 per reading and 28 per task
/// (with times of 8 bytes), less than twice that with the slack of vectors, and the names of jobs and nodes.
/// Allocates only when made.
/// @par Guarantees
/// the same records in the same order give the same recording; only allocation can throw
template <base::identifier JobId, base::identifier NodeId, replayable_time Time>
class recording {
  public:
    /// What jobs and nodes are looked up by.
    using node_key = typename interner<NodeId>::key_type;

    /// A history of times without any progress reports.
    /// @param attempts any input range of records, in any order
    /// @param fields a `recorded_fields` that names the members of a record
    template <std::ranges::input_range Attempts, class Fields>
        requires recorded_fields_for<Fields, std::ranges::range_value_t<Attempts>>
    recording(Attempts&& attempts, Fields const& fields) {
        names<Fields, std::ranges::range_value_t<Attempts>> known;
        read_attempts(attempts, fields, known);
        tape_.settle();
    }

    /// A history with progress.
    /// @param attempts any input range of records, in any order
    /// @param fields a `recorded_fields` that names the members of a record
    /// @param readings any input range, in any order but that those of one attempt are in order of time
    /// @param reading a `reading_fields` that names the members of a reading
    template <std::ranges::input_range Attempts, class Fields, std::ranges::input_range Readings,
              class ReadingFields>
        requires recorded_fields_for<Fields, std::ranges::range_value_t<Attempts>> &&
                 reading_fields_for<ReadingFields, std::ranges::range_value_t<Readings>>
    recording(Attempts&& attempts, Fields const& fields, Readings&& readings, ReadingFields const& reading) {
        names<Fields, std::ranges::range_value_t<Attempts>> known;
        read_attempts(attempts, fields, known);
        tape_.settle();
        read_readings(readings, reading, known);
        tape_.sort_readings();
    }

    /// The counts of the attempts.
    [[nodiscard]] recording_counts const& attempts() const noexcept { return attempts_; }
    /// The counts of the readings.
    [[nodiscard]] reading_fault_counts const& readings() const noexcept { return readings_; }
    /// Number of jobs with a usable attempt, in order of first appearance.
    [[nodiscard]] std::size_t jobs() const noexcept { return tape_.jobs.size(); }
    /// Number of nodes, in order of first appearance.
    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_.size(); }
    /// Number of tasks, in order of first appearance.
    [[nodiscard]] std::size_t tasks() const noexcept { return tape_.tasks.size(); }

    /// The name of a job. @pre `job < jobs()`
    [[nodiscard]] JobId const& job(std::size_t job) const { return jobs_[static_cast<std::uint32_t>(job)]; }
    /// The job of a task. @pre `task < tasks()`
    [[nodiscard]] std::size_t job_of(std::size_t task) const { return tape_.tasks[task].job; }
    /// The outcome of a task. @pre `task < tasks()`
    [[nodiscard]] task_fate fate_of(std::size_t task) const {
        taped_task const& t = tape_.tasks[task];
        if (t.winner == no_attempt) return task_fate::never_finished;
        taped_attempt<Time> const& original = tape_.attempts[t.original];
        bool const gone =
            original.status == attempt_status::failed && original.end < tape_.attempts[t.winner].end;
        return gone ? task_fate::original_failed : task_fate::finished;
    }
    /// The place in the user's range of the attempt a task is judged by: the original of the run that
    /// decided; of a task that never finished, its last run's. @pre `task < tasks()`
    [[nodiscard]] std::size_t row_of(std::size_t task) const {
        return tape_.attempts[tape_.tasks[task].original].row;
    }

  private:
    friend struct replay_access;

    // Names that are needed only while reading. Pairs of indices in one word.
    template <class Fields, class Record>
    struct names {
        using task_name = owned_identifier_t<detail::field_value_t<decltype(Fields::task), Record>>;
        using attempt_name = typename attempt_name<decltype(Fields::attempt), Record>::type;
        static constexpr bool numbered = detail::given<decltype(Fields::attempt)>;

        interner<task_name> task_names;
        interner<attempt_name> attempt_names;
        interner<std::uint64_t> tasks;    // job and task name
        interner<std::uint64_t> attempts; // task and attempt name; in order of reading
    };
    static constexpr std::uint64_t pair_of(std::uint32_t high, std::uint32_t low) noexcept {
        return (std::uint64_t{high} << 32) | low;
    }
    void reject(recording_fault f) noexcept { ++attempts_.rejected[f]; }
    void reject(reading_fault f) noexcept { ++readings_.rejected[f]; }

    template <class Attempts, class Fields, class Names>
    void read_attempts(Attempts&& attempts, Fields const& fields, Names& known) {
        for (auto const& record : attempts) {
            STRAGGLE_EXPECTS(attempts_.seen < no_attempt);
            read_attempt(record, fields, known, static_cast<std::uint32_t>(attempts_.seen++));
        }
        attempts_.used = tape_.attempts.size();
    }

    template <class Record, class Fields, class Names>
    void read_attempt(Record const& record, Fields const& fields, Names& known, std::uint32_t row) {
        auto&& job = detail::project(fields.job, record);
        auto&& task = detail::project(fields.task, record);
        auto&& node = detail::project(fields.node, record);
        if (!detail::is_present(job) || !detail::is_present(task) || !detail::is_present(node))
            return reject(recording_fault::missing_name);
        if constexpr (Names::numbered)
            if (!detail::is_present(detail::project(fields.attempt, record)))
                return reject(recording_fault::missing_name);
        auto&& start = detail::project(fields.start, record);
        auto&& end = detail::project(fields.end, record);
        if (!detail::is_present(start) || !detail::is_present(end))
            return reject(recording_fault::missing_time);
        taped_attempt<Time> a{.start = detail::unwrap(start), .end = detail::unwrap(end), .row = row};
        if (!is_moment(a.start) || !is_moment(a.end)) return reject(recording_fault::not_finite);
        if (!is_in_range(a.start) || !is_in_range(a.end)) return reject(recording_fault::out_of_range);
        if (a.end < a.start) return reject(recording_fault::end_before_start);

        std::uint32_t const j = jobs_.insert(detail::unwrap(job));
        std::uint32_t const name = known.task_names.insert(detail::unwrap(task));
        a.task = known.tasks.insert(pair_of(j, name));
        if (j == tape_.jobs.size()) tape_.jobs.emplace_back();
        if (a.task == tape_.tasks.size()) {
            tape_.tasks.push_back({.job = j});
            ++tape_.jobs[j].tasks;
        }
        if constexpr (Names::numbered) {
            std::uint32_t const number =
                known.attempt_names.insert(detail::unwrap(detail::project(fields.attempt, record)));
            if (known.attempts.insert(pair_of(a.task, number)) != tape_.attempts.size())
                return reject(recording_fault::duplicate);
        }
        ++tape_.jobs[j].attempts;
        a.node = nodes_.insert(detail::unwrap(node));
        a.status = detail::read_status(fields, record);
        if constexpr (detail::given<decltype(Fields::input)>)
            a.input = positive_or_0(detail::project(fields.input, record));
        if constexpr (detail::given<decltype(Fields::usual)>)
            a.usual = positive_or_0(detail::project(fields.usual, record));
        if constexpr (detail::given<decltype(Fields::predicted)>)
            a.predicted = positive_or_0(detail::project(fields.predicted, record));
        tape_.attempts.push_back(a);
    }

    template <class Readings, class Fields, class Names>
    void read_readings(Readings&& readings, Fields const& fields, Names const& known) {
        static_assert(Names::numbered || !detail::given<decltype(Fields::attempt)>,
                      "readings that name an attempt need attempts with names");
        for (auto const& reading : readings) {
            STRAGGLE_EXPECTS(readings_.seen < no_attempt);
            read_reading(reading, fields, known, static_cast<std::uint32_t>(readings_.seen++));
        }
        readings_.used = tape_.readings.size();
    }

    template <class Reading, class Fields, class Names>
    void read_reading(Reading const& reading, Fields const& fields, Names const& known, std::uint32_t row) {
        auto&& job = detail::project(fields.job, reading);
        auto&& task = detail::project(fields.task, reading);
        auto&& time = detail::project(fields.time, reading);
        auto&& progress = detail::project(fields.progress, reading);
        if (!detail::is_present(job) || !detail::is_present(task) || !detail::is_present(time) ||
            !detail::is_present(progress))
            return reject(reading_fault::missing_field);
        if constexpr (detail::given<decltype(Fields::attempt)>)
            if (!detail::is_present(detail::project(fields.attempt, reading)))
                return reject(reading_fault::missing_field);
        double const done = static_cast<double>(detail::unwrap(progress));
        if (!(done >= 0) || !(done <= 1)) return reject(reading_fault::bad_progress);
        Time const& at = detail::unwrap(time);
        if (!is_moment(at)) return reject(reading_fault::bad_time);

        std::uint32_t const j = jobs_.find(detail::unwrap(job));
        std::uint32_t const name = known.task_names.find(detail::unwrap(task));
        if (j == no_attempt || name == no_attempt) return reject(reading_fault::unknown_task);
        std::uint32_t const t = known.tasks.find(pair_of(j, name));
        if (t == no_attempt) return reject(reading_fault::unknown_task);
        std::uint32_t attempt = no_attempt;
        if constexpr (detail::given<decltype(Fields::attempt)>) {
            std::uint32_t const number =
                known.attempt_names.find(detail::unwrap(detail::project(fields.attempt, reading)));
            if (number != no_attempt) attempt = known.attempts.find(pair_of(t, number));
            if (attempt != no_attempt) attempt = tape_.places[attempt];
        } else {
            attempt = tape_.running_at(t, at);
        }
        if (attempt == no_attempt) return reject(reading_fault::unknown_task);
        taped_attempt<Time>& a = tape_.attempts[attempt];
        if (at < a.start) return reject(reading_fault::before_start);
        if (a.end < at) return reject(reading_fault::after_end);
        if (a.reported && at < a.last_report) return reject(reading_fault::out_of_order);
        a.reported = true;
        a.last_report = at;
        a.last_progress = done;
        tape_.readings.push_back({.time = at, .progress = done, .attempt = attempt, .row = row});
    }

    interner<JobId> jobs_;
    interner<NodeId> nodes_;
    tape<Time> tape_;
    recording_counts attempts_;
    reading_fault_counts readings_;
};

template <class Attempts, class Fields>
recording(Attempts&&, Fields const&)
    -> recording<recorded_id<decltype(Fields::job), Attempts>, recorded_id<decltype(Fields::node), Attempts>,
                 detail::field_value_t<decltype(Fields::start), std::ranges::range_value_t<Attempts>>>;
template <class Attempts, class Fields, class Readings, class ReadingFields>
recording(Attempts&&, Fields const&, Readings&&, ReadingFields const&)
    -> recording<recorded_id<decltype(Fields::job), Attempts>, recorded_id<decltype(Fields::node), Attempts>,
                 detail::field_value_t<decltype(Fields::start), std::ranges::range_value_t<Attempts>>>;

} // namespace replaying
