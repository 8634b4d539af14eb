// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Defines what a task attempt is: which of the user's members hold its job, node and time, which attempts
/// count, and why the others do not. Nothing disappears: every record read is used, filtered, or rejected for
/// a counted reason.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/record/attempt_status.hpp>
#include <straggle/record/detail/attempt_concepts.hpp>
#include <straggle/record/field.hpp>
#include <straggle/record/reason_counts.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::record {

/// How an attempt ended: `attempt_status`, or a `bool` that is true for success.
template <class Field, class Record>
concept status_field = base::projection_of<Field, Record> &&
                       (std::same_as<detail::field_value_t<Field, Record>, attempt_status> ||
                        std::same_as<detail::field_value_t<Field, Record>, bool>);

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI {

/// Maps the members of a record to their meaning. An aggregate for designated initializers; the template
/// arguments are deduced. All such aggregates list their members in the same order: job, task, node, start,
/// end, duration, status, then optional ones.
///
/// @par Example
/// `attempt_fields{.job = &attempt::job, .node = &attempt::host, .duration = &attempt::took}`
///
/// Either `duration`, or both `start` and `end`, are required; `duration` takes precedence. Any projection
/// may yield a `std::optional`: an empty one means unknown.
///
/// Tasks that wait for each other in barriers or collectives end together, however slow one of them is: pass
/// how long each one `waited`, in the unit of the duration, and only the rest, its own work, is compared.
template <class Job = base::no_field, class Task = base::no_field, class Node = base::no_field,
          class Start = base::no_field, class End = base::no_field, class Duration = base::no_field,
          class Status = base::no_field, class Input = base::no_field, class Waited = base::no_field,
          class Kind = base::no_field, class IsCopy = base::no_field, class Outrun = base::no_field>
struct attempt_fields { // .job .task .node .start .end .duration .status .input .waited .kind .is_copy
                        // .outrun
    [[no_unique_address]] Job job{};           ///< `job_field`
    [[no_unique_address]] Task task{};         ///< `task_field`; if absent, every attempt is its own task
    [[no_unique_address]] Node node{};         ///< `node_field`
    [[no_unique_address]] Start start{};       ///< `time_field`
    [[no_unique_address]] End end{};           ///< `time_field`
    [[no_unique_address]] Duration duration{}; ///< `duration_field`
    [[no_unique_address]] Status status{};     ///< `status_field`; if absent, every attempt is a success
    [[no_unique_address]] Input input{};       ///< `input_field`; used by `work_rate` and by slowdowns
    [[no_unique_address]] Waited waited{};     ///< `duration_field`: part of it spent waiting for other tasks
    [[no_unique_address]] Kind kind{};         ///< `label_field`: jobs of the same work
    [[no_unique_address]] IsCopy is_copy{};    ///< `flag_field`: it was a copy; used by mitigators
    [[no_unique_address]] Outrun outrun{}; ///< `flag_field`: killed because a copy won; used by mitigators
};

/// Names the fields of a record type once: specialize it with a `static constexpr auto fields =
/// attempt_fields{...};`, and every call may omit its `fields` argument. Records of running tasks use
/// `running_fields`, those of nodes `node_fields`; those read only by an assigner use
/// `assign::straggler_fields` and `assign::backup_node_fields`.
template <class Record>
struct task_traits {};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::record {

/// A record type whose `task_traits` name its fields.
template <class Record>
concept has_task_traits = requires { task_traits<Record>::fields; };

/// A time is known: a `duration_field`, or a `start` and an `end` that are both `time_field`s and can be
/// subtracted.
template <class Fields, class Record>
concept timed_fields = // written out, so that a diagnostic shows the offending field
    (!detail::given<decltype(Fields::duration)> || duration_field<decltype(Fields::duration), Record>) &&
    (detail::given<decltype(Fields::duration)> ||
     (time_field<decltype(Fields::start), Record> && time_field<decltype(Fields::end), Record> &&
      detail::on_one_clock<detail::field_value_t<decltype(Fields::start), Record>,
                           detail::field_value_t<decltype(Fields::end), Record>>));

/// Fields with which a `Record` can be read as a task attempt.
template <class Fields, class Record>
concept attempt_fields_for =
    detail::fields_aggregate<Fields> && job_field<decltype(Fields::job), Record> &&
    node_field<decltype(Fields::node), Record> && timed_fields<Fields, Record> &&
    (!detail::given<decltype(Fields::status)> || status_field<decltype(Fields::status), Record>) &&
    (!detail::given<decltype(Fields::task)> || task_field<decltype(Fields::task), Record>) &&
    (!detail::given<decltype(Fields::input)> || input_field<decltype(Fields::input), Record>) &&
    detail::waits_in_unit_of_duration<Fields, Record>();

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI::detail {

// The type of the fields that `task_traits` name.
template <class Record>
struct traits_fields {
    static_assert(sizeof(Record) == 0, "task_traits of the record is missing, and no fields are passed");
    using type = base::no_field;
};
template <record::has_task_traits Record>
struct traits_fields<Record> {
    using type = std::remove_cvref_t<decltype(task_traits<Record>::fields)>;
};

// Says in one line which field is wrong and what would be right; the concept would take dozens.
template <class Fields, class Record>
consteval bool explain_attempt_fields() {
    static_assert(
        fields_aggregate<Fields>,
        "the fields of a record are an attempt_fields{.job = &attempt::job, .node = ..., .duration = ...}");
    if constexpr (fields_aggregate<Fields>) {
        using job = decltype(Fields::job);
        using node = decltype(Fields::node);
        using duration = decltype(Fields::duration);
        using start = decltype(Fields::start);
        using end = decltype(Fields::end);
        static_assert(given<job>, "attempt_fields without .job: add .job = &attempt::job");
        static_assert(
            !given<job> || record::job_field<job, Record>,
            ".job has to be a member of the record, or a callable on it, that is text or has a std::hash");
        static_assert(given<node>, "attempt_fields without .node: add .node = &attempt::host");
        static_assert(
            !given<node> || record::node_field<node, Record>,
            ".node has to be a member of the record, or a callable on it, that is text or has a std::hash");
        static_assert(given<duration> || (given<start> && given<end>),
                      "attempt_fields without a time: add .duration, or .start and .end");
        static_assert(
            !given<duration> || record::duration_field<duration, Record>,
            ".duration has to be a member of the record, or a callable on it, that is a number or a "
            "std::chrono::duration, not text");
        static_assert(given<duration> || !given<start> || !given<end> || has_start_and_end<Fields, Record>,
                      ".start and .end have to be points in time of one type");
        constexpr bool is_status =
            !given<decltype(Fields::status)> || record::status_field<decltype(Fields::status), Record>;
        static_assert(is_status, ".status has to be an attempt_status, or a bool that is true for success");
        static_assert(record::attempt_fields_for<Fields, Record> || !given<job> || !given<node> ||
                          !is_status || !record::timed_fields<Fields, Record>,
                      ".task has to be text or have a std::hash, .input has to be a number, .waited like "
                      "the duration a number or a std::chrono::duration");
    }
    return true;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// Why a record could not be used although its status is success.
enum class rejection : std::uint8_t {
    missing_job,       ///< the job is an empty optional, or NaN
    missing_node,      ///< the node is an empty optional, or NaN
    missing_time,      ///< the duration, the start or the end is an empty optional
    not_finite,        ///< the duration is NaN or infinite
    end_before_start,  ///< the end is before the start
    negative_duration, ///< the duration is negative, or shorter than the wait
    out_of_range,      ///< an integer duration above 2^63 - 1 ticks
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::record {

/// Number of rejection reasons.
inline constexpr std::size_t rejection_count = 7;

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI {

/// Number of reasons, for `record::reason_counts`.
[[nodiscard]] constexpr std::size_t reason_count(rejection) noexcept {
    return record::rejection_count;
}

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(rejection r) noexcept {
    constexpr std::array<std::string_view, record::rejection_count> names{
        "missing_job",      "missing_node",      "missing_time", "not_finite",
        "end_before_start", "negative_duration", "out_of_range"};
    return names[static_cast<std::size_t>(r)];
}

/// What became of the records that were read.
/// @par Guarantees
/// `seen == used + failed + killed + superseded + total_rejected()`
struct attempt_counts {
    std::uint64_t seen = 0;                      ///< records read
    std::uint64_t used = 0;                      ///< successes that entered the statistics
    std::uint64_t failed = 0;                    ///< excluded: the attempt failed
    std::uint64_t killed = 0;                    ///< excluded: the attempt was killed
    std::uint64_t superseded = 0;                ///< excluded: another attempt of the task completed first
    record::reason_counts<rejection> rejected{}; ///< why the others were excluded

    /// Records rejected for one reason.
    [[nodiscard]] constexpr std::uint64_t operator[](rejection r) const noexcept { return rejected[r]; }
    /// Records rejected for any reason.
    [[nodiscard]] constexpr std::uint64_t total_rejected() const noexcept { return rejected.total(); }
    /// Adds another count.
    constexpr attempt_counts& operator+=(attempt_counts const& other) noexcept {
        seen += other.seen;
        used += other.used;
        failed += other.failed;
        killed += other.killed;
        superseded += other.superseded;
        rejected += other.rejected;
        return *this;
    }
    friend constexpr bool operator==(attempt_counts const&, attempt_counts const&) = default;
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Duration>
struct tick_type {
    using type = Duration;
};
template <class Duration>
    requires requires { typename Duration::rep; }
struct tick_type<Duration> {
    using type = typename Duration::rep;
};

// Reads integral durations as exact 64-bit ticks, others as double.
template <class Duration>
using reading_of =
    std::conditional_t<std::is_integral_v<typename tick_type<Duration>::type>, std::int64_t, double>;

template <class Fields, class Record>
struct duration_of;
template <class Fields, class Record>
    requires has_duration<Fields, Record>
struct duration_of<Fields, Record> {
    using type = field_value_t<decltype(Fields::duration), Record>;
};
template <class Fields, class Record>
    requires has_start_and_end<Fields, Record>
struct duration_of<Fields, Record> {
    using start = field_value_t<decltype(Fields::start), Record>;
    using type = std::remove_cvref_t<decltype(std::declval<field_value_t<decltype(Fields::end), Record>>() -
                                              std::declval<start>())>;
};
template <class Fields, class Record>
using reading_t = reading_of<typename duration_of<Fields, Record>::type>;

// A valid duration, or the reason for its rejection, encoded in one number: compilers generate better code
// for it than for a flag beside a reason.
template <class Value>
struct duration_reading {
    static constexpr auto none = static_cast<rejection>(record::rejection_count);
    Value value{};
    rejection reason = none;
    [[nodiscard]] constexpr bool usable() const noexcept { return reason == none; }
};

template <class Value, class Number>
STRAGGLE_ALWAYS_INLINE constexpr duration_reading<Value> checked_duration(Number n) noexcept {
    if constexpr (std::is_integral_v<Number>) {
        if constexpr (std::is_signed_v<Number>) {
            if (n < 0) return {.reason = rejection::negative_duration};
        } else if (static_cast<std::uint64_t>(n) >
                   static_cast<std::uint64_t>((std::numeric_limits<std::int64_t>::max)())) {
            return {.reason = rejection::out_of_range};
        }
        return {.value = static_cast<Value>(n)};
    } else {
        double const d = static_cast<double>(n);
        // One comparison checks for finite and nonnegative: the bits of exactly these doubles are in order. A
        // tiny negative long double becomes minus zero, so its own sign is checked below.
        if (!(std::bit_cast<std::uint64_t>(d) < infinity_bits)) [[unlikely]] { // minus zero excepted
            if (!is_finite(d)) return {.reason = rejection::not_finite};
            if (n < Number{}) return {.reason = rejection::negative_duration};
        }
        return {.value = d};
    }
}

template <class Value, class Duration>
STRAGGLE_ALWAYS_INLINE constexpr duration_reading<Value> read_duration(Duration const& d) noexcept {
    if constexpr (std::is_arithmetic_v<Duration>)
        return checked_duration<Value>(d);
    else
        return checked_duration<Value>(static_cast<typename Duration::rep>(d.count()));
}

// Whole ticks since an epoch, like a std::chrono::time_point.
template <class Time>
concept tick_time = requires(Time const& t) {
    { t.time_since_epoch().count() } -> std::integral;
    { t - t } -> std::same_as<std::remove_cvref_t<decltype(t.time_since_epoch())>>;
};

template <class Fields, class Record>
STRAGGLE_ALWAYS_INLINE constexpr duration_reading<reading_t<Fields, Record>>
read_whole_time(Fields const& fields, Record const& record) {
    using value = reading_t<Fields, Record>;
    if constexpr (has_duration<Fields, Record>) {
        auto const& field = project(fields.duration, record);
        if (!is_present(field)) return {.reason = rejection::missing_time};
        return read_duration<value>(unwrap(field));
    } else {
        auto const& start_field = project(fields.start, record);
        auto const& end_field = project(fields.end, record);
        if (!is_present(start_field) || !is_present(end_field)) return {.reason = rejection::missing_time};
        auto const& start = unwrap(start_field);
        auto const& end = unwrap(end_field);
        if (is_unordered(start) || is_unordered(end)) return {.reason = rejection::not_finite};
        if (end < start) return {.reason = rejection::end_before_start};
        using start_type = std::remove_cvref_t<decltype(start)>;
        // The difference of two signed times may overflow a signed type; unsigned arithmetic is exact.
        if constexpr (std::is_integral_v<start_type>) {
            return checked_duration<value>(static_cast<std::uint64_t>(end) -
                                           static_cast<std::uint64_t>(start));
        } else if constexpr (tick_time<start_type> &&
                             std::same_as<start_type, std::remove_cvref_t<decltype(end)>>) {
            return checked_duration<value>(static_cast<std::uint64_t>(end.time_since_epoch().count()) -
                                           static_cast<std::uint64_t>(start.time_since_epoch().count()));
        } else {
            return read_duration<value>(end - start);
        }
    }
}

// A wait in ticks of `Whole`, which is a number or a duration.
template <class Whole, class Waited>
constexpr double ticks_of_wait(Waited const& waited) noexcept {
    if constexpr (std::is_arithmetic_v<Whole>)
        return static_cast<double>(waited);
    else
        return static_cast<double>(waited.count()) * static_cast<double>(Waited::period::num) *
               static_cast<double>(Whole::period::den) /
               (static_cast<double>(Waited::period::den) * static_cast<double>(Whole::period::num));
}

// The time of the attempt's own work: without what it waited for others.
template <class Fields, class Record>
STRAGGLE_ALWAYS_INLINE constexpr duration_reading<reading_t<Fields, Record>> read_time(Fields const& fields,
                                                                                       Record const& record) {
    auto time = read_whole_time(fields, record);
    if constexpr (has_waited<Fields>) {
        auto const& field = project(fields.waited, record);
        if (!time.usable() || !is_present(field)) return time;
        using value = reading_t<Fields, Record>;
        auto const waited = checked_duration<double>(
            ticks_of_wait<typename duration_of<Fields, Record>::type>(unwrap(field)));
        if (!waited.usable()) return {.reason = waited.reason};
        if (waited.value > static_cast<double>(time.value)) return {.reason = rejection::negative_duration};
        if constexpr (std::is_integral_v<value>) // to the nearest tick
            time.value -= (std::min)(time.value, static_cast<value>(waited.value + 0.5));
        else
            time.value -= waited.value;
    }
    return time;
}

template <class Fields, class Record>
STRAGGLE_ALWAYS_INLINE constexpr attempt_status read_status(Fields const& fields, Record const& record) {
    if constexpr (!given<decltype(Fields::status)>) {
        return attempt_status::success;
    } else {
        auto const& field = project(fields.status, record);
        if (!is_present(field)) return attempt_status::failed;
        if constexpr (std::same_as<field_value_t<decltype(Fields::status), Record>, bool>)
            return unwrap(field) ? attempt_status::success : attempt_status::failed;
        else
            return unwrap(field);
    }
}

// Durations that are signed integers and never unknown.
template <class Fields, class Record>
concept has_plain_ticks =
    has_duration<Fields, Record> && !has_waited<Fields> &&
    std::signed_integral<std::remove_cvref_t<projected_t<decltype(Fields::duration), Record>>>;

// Checks one record, regardless of its status: calls `use(job, node, value)`, or counts the rejection.
template <class Fields, class Record, class Use>
STRAGGLE_ALWAYS_INLINE constexpr void check_attempt(Fields const& fields, Record const& record,
                                                    attempt_counts& counts, Use&& use) {
    auto const reject = [&](rejection r) { ++counts.rejected[r]; };
    auto&& job = project(fields.job, record);
    if (!is_present(job) || is_nameless(unwrap(job))) return reject(rejection::missing_job);
    auto&& node = project(fields.node, record);
    if (!is_present(node) || is_nameless(unwrap(node))) return reject(rejection::missing_node);
    if constexpr (has_plain_ticks<Fields, Record>) { // the same as below, with fewer values to carry
        auto const ticks = project(fields.duration, record);
        if (ticks < 0) [[unlikely]]
            return reject(rejection::negative_duration);
        use(unwrap(job), unwrap(node), static_cast<std::int64_t>(ticks));
    } else {
        auto const time = read_time(fields, record);
        if (!time.usable()) [[unlikely]]
            return reject(time.reason);
        use(unwrap(job), unwrap(node), time.value);
    }
}

// Filters and checks one record. Calls `use(job, node, value)` for an attempt that is evidence and counts all
// others; the caller's loop counts `seen` and `used`.
template <class Fields, class Record, class Use>
STRAGGLE_ALWAYS_INLINE constexpr void judge_attempt(Fields const& fields, Record const& record,
                                                    attempt_counts& counts, Use&& use) {
    if (attempt_status const status = read_status(fields, record); status != attempt_status::success) {
        ++(record::was_stopped(status) ? counts.killed : counts.failed);
        return;
    }
    check_attempt(fields, record, counts, use);
}

// The same for a single record, with all counts.
template <class Fields, class Record, class Use>
constexpr void read_attempt(Fields const& fields, Record const& record, attempt_counts& counts, Use&& use) {
    ++counts.seen;
    judge_attempt(fields, record, counts, [&](auto const& job, auto const& node, auto value) {
        ++counts.used;
        use(job, node, value);
    });
}

} // namespace straggle::detail
