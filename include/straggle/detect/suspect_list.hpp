// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The suspects of one look at a job, as a range: each is put together when it is read.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/predict/progress.hpp>
#include <straggle/record/suspect.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detect {

/// Goes through the suspects of a `suspect_list`; what it points to is made when it is asked for.
template <class Task>
class suspect_iterator {
  public:
    /// A place in the user's range, or a pointer into it.
    using row_type = std::conditional_t<std::is_void_v<Task>, std::uint32_t, Task*>;
    using value_type = suspect<row_type, outcome<double>>;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::random_access_iterator_tag;

    constexpr suspect_iterator() = default;
    /// @param found the first finding, and what else its suspect is made of; see `suspect_list`
    constexpr suspect_iterator(finding const* found, job_view const& job, std::string_view rule,
                               Task* tasks) noexcept
        : found_(found), running_(job.running.data()), tasks_(tasks), rule_(rule) {}

    /// The suspect it points to, by value.
    constexpr value_type operator*() const noexcept {
        running_task const& t = running_[found_->task];
        comparison const why{found_->value, found_->threshold, found_->usual, rule_};
        outcome<double> const left = predict::average_rate_remaining(t.elapsed, t.progress);
        if constexpr (std::is_void_v<Task>)
            return {t.row, left, why};
        else
            return {tasks_ + t.row, left, why};
    }
    /// The suspect so many steps on, by value.
    constexpr value_type operator[](difference_type n) const noexcept { return *(*this + n); }
    /// Steps, as those of a pointer.
    constexpr suspect_iterator& operator+=(difference_type n) noexcept {
        found_ += n;
        return *this;
    }
    /// Steps back.
    constexpr suspect_iterator& operator-=(difference_type n) noexcept { return *this += -n; }
    /// One step on.
    constexpr suspect_iterator& operator++() noexcept { return *this += 1; }
    /// One step back.
    constexpr suspect_iterator& operator--() noexcept { return *this += -1; }
    /// One step on; what it was before.
    constexpr suspect_iterator operator++(int) noexcept {
        suspect_iterator const before = *this;
        ++*this;
        return before;
    }
    /// One step back; what it was before.
    constexpr suspect_iterator operator--(int) noexcept {
        suspect_iterator const before = *this;
        --*this;
        return before;
    }
    /// So many steps on.
    friend constexpr suspect_iterator operator+(suspect_iterator i, difference_type n) noexcept {
        return i += n;
    }
    friend constexpr suspect_iterator operator+(difference_type n, suspect_iterator i) noexcept {
        return i += n;
    }
    /// So many steps back.
    friend constexpr suspect_iterator operator-(suspect_iterator i, difference_type n) noexcept {
        return i -= n;
    }
    /// How many steps lie between two.
    friend constexpr difference_type operator-(suspect_iterator const& a,
                                               suspect_iterator const& b) noexcept {
        return a.found_ - b.found_;
    }
    friend constexpr bool operator==(suspect_iterator const& a, suspect_iterator const& b) noexcept {
        return a.found_ == b.found_;
    }
    friend constexpr std::strong_ordering operator<=>(suspect_iterator const& a,
                                                      suspect_iterator const& b) noexcept {
        return a.found_ <=> b.found_;
    }

  private:
    finding const* found_ = nullptr;
    running_task const* running_ = nullptr;
    Task* tasks_ = nullptr;
    std::string_view rule_{};
};

/// What `straggler_scan` returns: a view of suspects, worst first, random access.
///
/// What is left of a task is at the average of its rate, `predict::average_rate_remaining`; other estimates
/// are in `remaining_time.hpp`.
///
/// @tparam Task the user's record of a running task, const where the range was: `row` points to it. `void`:
/// `row` is its place in the range
/// @par Cost
/// O(1) for each suspect that is read, nothing for the others; allocates nothing
/// @par Guarantees
/// valid until the next look of its scan, or the next change of the job or of the user's range
template <class Task = void>
class suspect_list {
  public:
    using iterator = suspect_iterator<Task>;
    using value_type = typename iterator::value_type;

    /// No suspects.
    constexpr suspect_list() = default;
    /// The suspects that these findings are.
    /// @param job the view in which they were found
    /// @param rule the name of the rule that found them; text that lives as long as the program
    /// @param tasks the first of the records that the snapshot of the view was made of, where `row` points
    constexpr suspect_list(std::span<finding const> found, job_view const& job, std::string_view rule,
                           Task* tasks = nullptr) noexcept
        : begin_(found.data(), job, rule, tasks), size_(found.size()) {}

    /// How many there are.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    /// The worst, and one behind the least.
    [[nodiscard]] constexpr iterator begin() const noexcept { return begin_; }
    [[nodiscard]] constexpr iterator end() const noexcept {
        return begin_ + static_cast<std::ptrdiff_t>(size_);
    }
    /// The suspect that stands at a place. @pre there are so many
    [[nodiscard]] constexpr value_type operator[](std::size_t place) const {
        STRAGGLE_EXPECTS(place < size_);
        return begin_[static_cast<std::ptrdiff_t>(place)];
    }

  private:
    iterator begin_{};
    std::size_t size_ = 0;
};

} // namespace straggle::detect
