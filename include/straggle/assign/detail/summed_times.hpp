// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/copy_worth.hpp`: a few ascending times that are asked how many of them are below
/// some time, and what those come to, without a branch that could be guessed wrong.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

class summed_times {
  public:
    static constexpr std::size_t most = 16;

    // @pre no more than `most`, ascending
    explicit summed_times(std::span<double const> times) noexcept : count_(times.size()) {
        for (std::size_t i = 0; i < count_; ++i) {
            at_[i] = times[i];
            sum_[i + 1] = sum_[i] + times[i];
        }
        for (std::size_t i = count_; i < most; ++i) at_[i] = std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    // Of those from `first` up to `last`.
    [[nodiscard]] double sum(std::size_t first, std::size_t last) const noexcept {
        return sum_[last] - sum_[first];
    }
    [[nodiscard]] std::size_t below(double time) const noexcept {
        return count([time](double x) { return x < time; });
    }
    [[nodiscard]] std::size_t up_to(double time) const noexcept {
        std::size_t const n = count([time](double x) { return x <= time; });
        return n < count_ ? n : count_; // should the time be infinite
    }

  private:
    // How many something holds for that holds up to one of them.
    template <class Holds>
    [[nodiscard]] std::size_t count(Holds holds) const noexcept {
        std::size_t n = 8 * static_cast<std::size_t>(holds(at_[7]));
        n += 4 * static_cast<std::size_t>(holds(at_[n + 3]));
        n += 2 * static_cast<std::size_t>(holds(at_[n + 1]));
        n += static_cast<std::size_t>(holds(at_[n]));
        return n + static_cast<std::size_t>(holds(at_[n]));
    }

    std::array<double, most> at_{}; // infinite behind the last
    std::array<double, most + 1> sum_{};
    std::size_t count_;
};

// Calls visit(times) for one few after the other.
template <class Visit>
void for_each_few(std::span<double const> times, Visit&& visit) noexcept {
    for (; times.size() > summed_times::most; times = times.subspan(summed_times::most))
        visit(times.first(summed_times::most));
    visit(times);
}

} // namespace straggle::detail
