// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/detail/history_reader.hpp`: finds the first attempt of each task to complete.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/record/attempt.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Storage for tasks and ends; empty if the record lacks the field.
template <class Fields, class Record>
struct task_types {
    using id = std::uint32_t;
    using end = char;
};
template <class Fields, class Record>
    requires given<decltype(Fields::task)>
struct task_types<Fields, Record> {
    using id = owned_identifier_t<field_value_t<decltype(Fields::task), Record>>;
    using end = char;
};
template <class Fields, class Record>
    requires(given<decltype(Fields::task)> && given<decltype(Fields::end)>)
struct task_types<Fields, Record> {
    using id = owned_identifier_t<field_value_t<decltype(Fields::task), Record>>;
    using end = std::remove_cvref_t<projected_t<decltype(Fields::end), Record>>;
};

// Keeps only the first completion of each task.
template <class Record, class Fields>
class first_completions {
  public:
    static constexpr bool possible = given<decltype(Fields::task)>;

    void clear() noexcept {
        tasks_.clear();
        pairs_.clear();
        row_.clear();
        end_.clear();
    }

    // The row of an earlier attempt of the same task, or `next` if there is none; second: whether to keep
    // this attempt instead.
    [[nodiscard]] std::pair<std::size_t, bool> place(Fields const& fields, Record const& record,
                                                     std::uint32_t job, std::size_t next) {
        auto&& task = project(fields.task, record);
        if (!is_present(task)) return {next, true};
        std::uint64_t const key = (std::uint64_t{job} << 32) | tasks_.insert(unwrap(task));
        std::size_t const known = pairs_.size();
        std::size_t const index = pairs_.insert(key);
        if (index == known) {
            row_.push_back(next);
            if constexpr (timed) end_.push_back(project(fields.end, record));
            return {next, true};
        }
        bool earlier = false; // without times, the first in the range wins
        if constexpr (timed) {
            auto const& end = project(fields.end, record);
            earlier = is_known(end) && (!is_known(end_[index]) || unwrap(end) < unwrap(end_[index]));
            if (earlier) end_[index] = end;
        }
        return {row_[index], earlier};
    }

  private:
    static constexpr bool timed = given<decltype(Fields::end)>;

    template <class End>
    static constexpr bool is_known(End const& end) {
        return is_present(end) && !is_unordered(unwrap(end));
    }

    interner<typename task_types<Fields, Record>::id> tasks_;
    interner<std::uint64_t> pairs_; // (job, task)
    std::vector<std::size_t> row_;
    std::vector<typename task_types<Fields, Record>::end> end_;
};

} // namespace straggle::detail
