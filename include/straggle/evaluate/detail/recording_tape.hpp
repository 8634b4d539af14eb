// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `evaluate/recording.hpp` and `evaluate/replay.hpp`: the attempts and readings of a history
/// in order of time, and what belongs together of the attempts of one task.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/record/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

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

// A time that looks can be taken at: it shows its number, and lengths of time can be added to it.
template <class Time>
concept replayable_time =
    base::time_like<Time> && requires(Time const& t) { static_cast<Time>(t + (t - t)); } &&
    (std::is_arithmetic_v<Time> || requires(Time const& t) { t.time_since_epoch().count(); } ||
     requires(Time const& t) { t.count(); });

template <class Field, class Records>
using recorded_id = owned_identifier_t<field_value_t<Field, std::ranges::range_value_t<Records>>>;

// What attempts are told apart by; anything where they are not.
template <class Field, class Record>
struct attempt_name {
    using type = owned_identifier_t<field_value_t<Field, Record>>;
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
    return !is_unordered(moment_of(t));
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

// A number as a double; 0 where there is none above that.
template <class Field>
double positive_or_0(Field const& field) noexcept {
    if (!is_present(field)) return 0;
    double const x = to_time(unwrap(field));
    return x > 0 && is_finite(x) ? x : 0;
}

// What `replayer` sees of a recording, and how it makes a `starting_job`. (A friend that is a constrained
// template makes clang 19 crash.)
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
    double input = 0, usual = 0, predicted = 0; // 0: not known
    std::uint32_t task = no_attempt, node = 0, row = 0;
    attempt_status status = attempt_status::success;
    bool reported = false;

    [[nodiscard]] double time() const noexcept { return to_time(end - start); }
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
    std::uint32_t original = no_attempt;      // of the run that decides
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
    std::vector<std::uint32_t> places;         // where an attempt is now, in order of reading
    std::vector<std::uint32_t> by_end;         // attempts by end, then place
    std::vector<std::uint32_t> of_tasks;       // attempts of each task, by start
    std::vector<Time> reach;                   // the latest end of the task's attempts up to there

    // Once all attempts are there, in order of reading.
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

    // The oldest attempt of a task that ran then; if none did, one that begins later or is over.
    [[nodiscard]] std::uint32_t running_at(std::uint32_t task, Time const& at) const {
        taped_task const& t = tasks[task];
        auto const *const first = reach.data() + t.first, *const end = first + t.count;
        // The reach grows: where it gets past a time, an attempt ends after it.
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
        std::uint32_t begin = t.first; // of the run going on
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

} // namespace straggle::detail
