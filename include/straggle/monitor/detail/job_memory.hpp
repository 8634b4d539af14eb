// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: how long a job without attempts in the window is remembered, and
/// which is forgotten next.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Limits on what is stored.
struct store_bounds {
    std::size_t pairs, jobs, nodes, finished;
};

// A job's longest duration is stored as a float: precise enough for a heuristic.
inline float as_length(double duration) noexcept {
    constexpr double most = 3e38;
    return static_cast<float>(duration < most ? duration : most);
}

// How many time steps a job is remembered after its last one: proportional to its longest attempt.
class remembered_steps {
  public:
    remembered_steps() = default;
    explicit remembered_steps(double per_unit) noexcept : per_unit_(per_unit) {}
    // Whether a job outlives its steps.
    [[nodiscard]] bool any() const noexcept { return per_unit_ > 0; }

    // The step in which a job last seen at `last` is forgotten.
    [[nodiscard]] std::int64_t until(std::int64_t last, float longest) const noexcept {
        constexpr double most = 0x1p61;
        double const steps = std::ceil(static_cast<double>(longest) * per_unit_);
        return last + 1 + static_cast<std::int64_t>(steps < most ? steps : most); // NaN is not a length
    }

  private:
    double per_unit_ = 0;
};

// Jobs without attempts in the window, the next to be forgotten on top. A row may be outdated because the job
// was seen again or is gone; that is checked when it reaches the top.
class idle_jobs {
  public:
    struct row {
        std::int64_t until;
        std::uint64_t seen; // of the job: distinguishes successive jobs with the same number
        std::uint32_t job;
    };

    // Reserves room for that many jobs, and as many outdated rows.
    void reserve(std::size_t jobs) {
        if (std::size_t const rows = 2 * jobs + 8; rows > rows_.capacity()) rows_.reserve(2 * rows);
    }
    // @pre there is room for all jobs; `is_of_a_job(row)` says whether its job still exists
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
