// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The suspects in one snapshot of a job, as a range: each is assembled when it is read.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/predict/progress.hpp>
#include <straggle/record/suspect.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detect {

/// Iterates over a `suspect_list`; builds each suspect when it is dereferenced.
template <class Task>
class suspect_iterator {
  public:
    /// An index into the user's range, or a pointer into it.
    using row_type = std::conditional_t<std::is_void_v<Task>, std::uint32_t, Task*>;
    using value_type = suspect<row_type, outcome<double>>;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::forward_iterator_tag;

    constexpr suspect_iterator() = default;
    /// @param found the first finding; for the other parameters see `suspect_list`
    constexpr suspect_iterator(finding const* found, job_view const& job, std::string_view rule,
                               Task* tasks) noexcept
        : found_(found), running_(job.running.data()), tasks_(tasks), rule_(rule) {}

    /// The current suspect, by value.
    constexpr value_type operator*() const noexcept {
        running_task const& t = running_[found_->task];
        comparison const why{found_->value, found_->threshold, found_->usual, rule_};
        outcome<double> const left = predict::average_rate_remaining(t.elapsed, t.progress);
        if constexpr (std::is_void_v<Task>)
            return {t.row, left, why};
        else
            return {tasks_ + t.row, left, why};
    }
    /// The position `n` steps ahead.
    [[nodiscard]] constexpr suspect_iterator after(difference_type n) const noexcept {
        suspect_iterator i = *this;
        i.found_ += n;
        return i;
    }
    /// The suspect `n` steps ahead, by value.
    constexpr value_type operator[](difference_type n) const noexcept { return *after(n); }
    /// Advances by one.
    constexpr suspect_iterator& operator++() noexcept {
        ++found_;
        return *this;
    }
    /// Advances by one; returns the previous position.
    constexpr suspect_iterator operator++(int) noexcept {
        suspect_iterator const before = *this;
        ++*this;
        return before;
    }
    friend constexpr bool operator==(suspect_iterator const& a, suspect_iterator const& b) noexcept {
        return a.found_ == b.found_;
    }

  private:
    finding const* found_ = nullptr;
    running_task const* running_ = nullptr;
    Task* tasks_ = nullptr;
    std::string_view rule_{};
};

/// What `straggler_scan` returns: a view of suspects, worst first.
///
/// The remaining time of a task assumes its average rate so far, `predict::average_rate_remaining`; other
/// estimates are in `remaining_time.hpp`.
///
/// @tparam Task the user's record of a running task, const if the range was: `row` points to it. `void`:
/// `row` is its index in the range
/// @par Cost
/// O(1) for each suspect read, nothing for the others; allocates nothing
/// @par Guarantees
/// valid until the next call of its scan, or the next change of the job or of the user's range
template <class Task = void>
class suspect_list {
  public:
    using iterator = suspect_iterator<Task>;
    using value_type = typename iterator::value_type;

    /// No suspects.
    constexpr suspect_list() = default;
    /// The suspects for these findings.
    /// @param job the view in which they were found
    /// @param rule the name of the rule that found them; text with static lifetime
    /// @param tasks the first of the records behind the snapshot of the view, into which `row` points
    constexpr suspect_list(std::span<finding const> found, job_view const& job, std::string_view rule,
                           Task* tasks = nullptr) noexcept
        : begin_(found.data(), job, rule, tasks), size_(found.size()) {}

    /// Number of suspects.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    /// The worst suspect, and one past the last.
    [[nodiscard]] constexpr iterator begin() const noexcept { return begin_; }
    [[nodiscard]] constexpr iterator end() const noexcept {
        return begin_.after(static_cast<std::ptrdiff_t>(size_));
    }
    /// The suspect at an index. @pre `place < size()`
    [[nodiscard]] constexpr value_type operator[](std::size_t place) const {
        STRAGGLE_EXPECTS(place < size_);
        return begin_[static_cast<std::ptrdiff_t>(place)];
    }

  private:
    iterator begin_{};
    std::size_t size_ = 0;
};

} // namespace straggle::detect
