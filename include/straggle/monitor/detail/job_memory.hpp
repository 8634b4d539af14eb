// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: how long a job is remembered of which nothing is in the window, and
/// which one is the next to be forgotten.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The most of everything that is kept.
struct store_bounds {
    std::size_t pairs, jobs, nodes, finished;
};

// Durations as a job remembers its longest one: in a float, which is enough for a rule of thumb.
inline float as_length(double duration) noexcept {
    constexpr double most = 3e38;
    return static_cast<float>(duration < most ? duration : most);
}

// How many steps of time a job is remembered after its last one: so many for each unit of its longest
// attempt.
class remembered_steps {
  public:
    remembered_steps() = default;
    explicit remembered_steps(double per_unit) noexcept : per_unit_(per_unit) {}
    // Whether a job outlives the steps it is in.
    [[nodiscard]] bool any() const noexcept { return per_unit_ > 0; }

    // The step in which a job is forgotten of which nothing was seen after `last`.
    [[nodiscard]] std::int64_t until(std::int64_t last, float longest) const noexcept {
        constexpr double most = 0x1p61;
        double const steps = std::ceil(static_cast<double>(longest) * per_unit_);
        return last + 1 + static_cast<std::int64_t>(steps < most ? steps : most); // NaN is no length
    }

  private:
    double per_unit_ = 0;
};

// Jobs of which nothing is in the window, the one to be forgotten first on top. A row may be out of date: the
// job has been seen again, or is gone; that shows when it comes to the top.
class idle_jobs {
  public:
    struct row {
        std::int64_t until;
        std::uint64_t seen; // of the job: which of those that had its number in turn
        std::uint32_t job;
    };

    // Room for so many jobs, and as many rows of jobs that are gone.
    void reserve(std::size_t jobs) {
        if (std::size_t const rows = 2 * jobs + 8; rows > rows_.capacity()) rows_.reserve(2 * rows);
    }
    // @pre there is room for the jobs there are; `is_of_a_job(row)` says whether its job is not gone
    template <class IsOfAJob>
    void push(row const& r, IsOfAJob&& is_of_a_job) noexcept {
        if (rows_.size() == rows_.capacity()) {
            std::erase_if(rows_, [&](row const& x) { return !is_of_a_job(x); });
            std::make_heap(rows_.begin(), rows_.end(), later);
        }
        rows_.push_back(r);
        std::push_heap(rows_.begin(), rows_.end(), later);
    }
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
    [[nodiscard]] row const& top() const noexcept { return rows_.front(); }
    void pop() noexcept {
        std::pop_heap(rows_.begin(), rows_.end(), later);
        rows_.pop_back();
    }
    void clear() noexcept { rows_.clear(); }

  private:
    static bool later(row const& a, row const& b) noexcept {
        return a.until != b.until ? a.until > b.until : a.seen > b.seen;
    }

    std::vector<row> rows_;
};

} // namespace straggle::detail
