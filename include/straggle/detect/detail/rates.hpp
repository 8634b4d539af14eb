// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of the rules that compare progress rates.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/simd.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Progress per unit of time; negative if unknown or not a number.
inline double progress_rate(detect::running_task const& t, double tick = 0) noexcept {
    double const elapsed = t.elapsed > tick ? t.elapsed : tick;
    double const rate = t.progress / elapsed;
    return elapsed > 0 && t.progress >= 0 && t.elapsed >= 0 ? rate : -1;
}

// The rates of neighboring tasks, computed together, and which of them are known.
template <std::size_t... Lane>
STRAGGLE_ALWAYS_INLINE simd::lane_mask rates_at_once(detect::running_task const* tasks, double tick,
                                                     double* rates, std::index_sequence<Lane...>) noexcept {
    simd::lanes const elapsed{tasks[Lane].elapsed...}, progress{tasks[Lane].progress...};
    simd::lanes const zero = simd::splat(0.0), time = simd::larger(elapsed, simd::splat(tick));
    simd::lanes const all = progress / time;
    std::memcpy(rates, &all, sizeof all);
    return simd::less(zero, time) & simd::less_equal(zero, progress) & simd::less_equal(zero, elapsed);
}
// Writes the rates of all tasks; false, with unspecified output, if one of them is unknown.
inline bool rates_of_all(std::span<detect::running_task const> tasks, double tick, double* rates) noexcept {
    constexpr std::size_t lanes = simd::lane_count;
    std::size_t i = 0;
    simd::lane_mask not_known{}; // tested once, at the end: a test takes as long as the division
    for (; i + lanes <= tasks.size(); i += lanes)
        not_known |= ~rates_at_once(tasks.data() + i, tick, rates + i, std::make_index_sequence<lanes>());
    if (simd::any_bits(not_known) != 0) return false;
    for (; i < tasks.size(); ++i) {
        rates[i] = progress_rate(tasks[i], tick);
        if (!(rates[i] >= 0)) return false;
    }
    return true;
}

// The known rates of the tasks in scope, running tasks first: a finished task has done all in its time, a
// waiting one nothing.
// @return how many of the running tasks have a rate
inline std::size_t collect_rates(detect::job_view const& job, detect::task_scope over, double tick,
                                 std::vector<double>& rates) {
    rates.resize(job.running.size());
    std::size_t known = job.running.size();
    if (!rates_of_all(job.running, tick, rates.data())) {
        known = 0;
        for (detect::running_task const& t : job.running) {
            double const rate = progress_rate(t, tick);
            rates[known] = rate;
            known += rate >= 0 ? 1u : 0u;
        }
        rates.resize(known);
    }
    if (over == detect::task_scope::running) return known;
    for (double const time : job.finished)
        if (double const elapsed = time > tick ? time : tick; elapsed > 0) rates.push_back(1.0 / elapsed);
    if (over == detect::task_scope::started) return known;
    std::uint64_t const waiting = tasks_of(job) - job.running.size() - job.finished.size();
    rates.insert(rates.end(), static_cast<std::size_t>(waiting), 0.0);
    return known;
}

// The reason why there are too few rates to compare.
inline detect::detection_note lack_of_rates(detect::job_view const& job) noexcept {
    return job.running.size() < 2 ? detect::detection_note::too_few_running
                                  : detect::detection_note::too_early;
}

// Equal rates may differ by rounding: ignore that.
inline double below_mean(mean_and_deviation const& usual, double deviations) noexcept {
    double const step = deviations * usual.deviation, rounding = 1e-12 * usual.mean;
    return usual.mean - (step > rounding ? step : rounding);
}

} // namespace straggle::detail
