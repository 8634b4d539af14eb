// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/copy_worth.hpp`: a few ascending times that answer how many of them are below a
/// time, and what those sum to.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/leading_count.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

class summed_times {
  public:
    static constexpr std::size_t most = 16;

    // @pre at most `most`, ascending
    explicit summed_times(std::span<double const> times) noexcept : times_(times) {
        for (std::size_t i = 0; i < times.size(); ++i) sum_[i + 1] = sum_[i] + times[i];
    }
    [[nodiscard]] std::size_t size() const noexcept { return times_.size(); }
    // Sum of the times in [first, last).
    [[nodiscard]] double sum(std::size_t first, std::size_t last) const noexcept {
        return sum_[last] - sum_[first];
    }
    [[nodiscard]] std::size_t below(double time) const noexcept {
        return leading_count(size(), [&](std::size_t i) { return times_[i] < time; });
    }
    [[nodiscard]] std::size_t up_to(double time) const noexcept {
        return leading_count(size(), [&](std::size_t i) { return times_[i] <= time; });
    }

  private:
    std::span<double const> times_;
    std::array<double, most + 1> sum_{};
};

// Calls visit(times) for one small group after another.
template <class Visit>
void for_each_few(std::span<double const> times, Visit&& visit) noexcept {
    for (; times.size() > summed_times::most; times = times.subspan(summed_times::most))
        visit(times.first(summed_times::most));
    visit(times);
}

} // namespace straggle::detail
