// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `blacklist/dynamic_blacklist.hpp` and `mitigate/mitigator.hpp`: converts the user's ended
/// attempts to plain numbers, and infers how they ended if the records do not say.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/record_reader.hpp>
#include <straggle/record/task_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

struct read_ended {
    ended_attempt attempt{};
    std::uint32_t kind = no_index;
};

// Reads its times; counts invalid ones and returns false.
template <class Line, class Fields, class Record>
bool read_times(Line const& line, Fields const& fields, Record const& record, double now, double& start,
                double& end, attempt_counts& counts) {
    auto const reject = [&](rejection r) {
        ++counts.rejected[static_cast<std::size_t>(r)];
        return false;
    };
    auto const time = read_time(fields, record);
    if (!time.usable()) return reject(time.reason);
    if constexpr (has_duration<Fields, Record>) {
        auto const& field = project(fields.duration, record);
        double const took = to_time(unwrap(field));
        end = now;
        if constexpr (has_end<Fields>) {
            double const reported = read_point(line, fields.end, record);
            if (is_finite(reported)) end = reported;
        } else if constexpr (has_start<Fields>) {
            double const reported = read_point(line, fields.start, record);
            if (is_finite(reported)) end = reported + took;
        }
        start = end - took;
    } else {
        start = read_point(line, fields.start, record);
        end = read_point(line, fields.end, record);
    }
    return is_finite(start) && is_finite(end) ? true : reject(rejection::not_finite);
}

template <class Attempt, class Fields>
class attempt_reader {
  public:
    attempt_reader(Fields fields, std::uint64_t key) : fields_(std::move(fields)), key_(key) {}
    [[nodiscard]] Fields const& fields() const noexcept { return fields_; }

    // Counts unusable attempts and returns false. `node_of(name)` gives the index of a node, or none. `guard`
    // decides which points in time may be used, and how.
    template <class Line, class Guard, class NodeOf>
    bool read(Attempt const& attempt, Line const& line, Guard& guard, race_book const& races,
              attempt_counts& counts, std::uint64_t& other_clock, read_ended& to, NodeOf&& node_of) const {
        auto const reject = [&](rejection why) {
            ++counts.rejected[static_cast<std::size_t>(why)];
            return false;
        };
        auto const& job = project(fields_.job, attempt);
        if (!is_present(job) || is_nameless(unwrap(job))) return reject(rejection::missing_job);
        auto const& name = project(fields_.node, attempt);
        if (!is_present(name) || is_nameless(unwrap(name))) return reject(rejection::missing_node);
        ended_attempt& out = to.attempt;
        double const raw_now = guard.now() - guard.at(0);
        if (!read_times(line, fields_, attempt, raw_now, out.start, out.end, counts)) return false;
        if (!guard.trusts(out.start)) {
            ++other_clock;
            return false;
        }
        out.node = node_of(unwrap(name));
        if (out.node == no_index) return false;
        if (guard.is_ahead(out.end, out.node)) {
            ++other_clock;
            return false;
        }
        out.start = guard.at(out.start);
        out.end = guard.at(out.end);
        if (out.end > guard.now()) { // a node's clock is slightly ahead, or the caller's `now` behind
            out.start -= out.end - guard.now();
            out.end = guard.now();
        }
        out.job = key_of(unwrap(job), key_);
        out.task = no_task;
        if constexpr (has_task<Fields>) out.task = read_key(fields_.task, attempt, out.job, no_task);
        if constexpr (has_input<Fields>) out.input = read_number(fields_.input, attempt);
        if (!(out.input > 0) || !is_finite(out.input)) out.input = 0;
        if constexpr (has_waited<Fields>)
            out.waited = read_wait(fields_.waited, attempt, out.end - out.start);
        if constexpr (has_kind<Fields>) {
            auto const& kind = project(fields_.kind, attempt);
            if (is_present(kind)) out.kind = key_of(unwrap(kind), key_);
        }
        judge(attempt, races, out);
        ++(out.as == attempt_status::success  ? counts.used
           : out.as == attempt_status::failed ? counts.failed
                                              : counts.killed);
        return true;
    }

  private:
    // Its status and whether it was a copy: from the record, or inferred from concurrent attempts of its
    // task.
    void judge(Attempt const& attempt, race_book const& races, ended_attempt& out) const {
        auto const* const race = races.find(out.task);
        out.copy = race != nullptr && out.start > race->copies_after;
        if constexpr (has_is_copy<Fields>) out.copy = read_flag(fields_.is_copy, attempt, out.copy);
        bool is_outrun = race != nullptr;
        if constexpr (has_outrun<Fields>) is_outrun = read_flag(fields_.outrun, attempt, is_outrun);
        out.as = read_status(fields_, attempt);
        if (out.as == attempt_status::killed && is_outrun) out.as = attempt_status::outrun;
    }

    Fields fields_;
    std::uint64_t key_;
};

} // namespace straggle::detail
