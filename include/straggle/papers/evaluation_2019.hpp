// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The evaluation framework, exactly as in the paper: its detectors, how it judges them, the machines whose
/// energy it computes, and equations 10 to 12 as printed.
///
/// Its metrics (equations 1 to 4 and 13), its power model and its first-order approximation are correct as
/// printed: they are `evaluate::detection_metrics`, `evaluate::power_model` and `evaluate::first_order`. The
/// paper counts fake positives as false positives, so its Precision is `precision_in_time()`.
///
/// Source: T.-D. Phan, G. Pallez, S. Ibrahim, P. Raghavan, A new framework for evaluating straggler detection
/// mechanisms in MapReduce, ACM TOMPECS (2019), hal-02172590.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/evaluate/power.hpp>
#include <straggle/evaluate/task_outcome.hpp>
#include <straggle/evaluate/usual_time.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::papers::evaluation_2019 {

/// *Default* (equations 5 and 6): progress more than 0.2 below the average of all tasks of the category,
/// including finished and waiting ones.
struct hadoop_default : detect::progress_gap {
    /// With the paper's settings.
    constexpr hadoop_default() noexcept : progress_gap{.gap = 0.2, .over = detect::task_scope::all} {}
};

/// *LATE* (equations 7 to 9) with equation 10 corrected: a rate more than one standard deviation below the
/// average of the running tasks.
struct late : detect::late {
    /// With the paper's settings.
    constexpr late() noexcept : detect::late{.alpha = 1.0, .over = detect::task_scope::running} {}
};

/// *LATE* with the threshold as equation 10 prints it: average * (1 - alpha * deviation).
///
/// A deviation has a unit, so the rule depends on the unit of time: rates of 0.01 +/- 0.002 per second give a
/// threshold of 0.00998 per second, the same rates per minute one of 0.528 per minute, which is 0.0088 per
/// second. Per millisecond, as in Hadoop, it is practically the average: nearly half of the tasks are
/// suspects. Only for comparison with that paper.
///
/// Verdict: value = rate, threshold as above, usual = average; lowest rate first.
/// @par Cost
/// O(tasks log tasks); allocates nothing in the steady state
/// @par Guarantees
/// deterministic
struct late_as_printed {
    /// The name in reports.
    static constexpr std::string_view name = "late_as_printed";

    double alpha = 1.0; ///< the paper's default

    /// See `detect::straggler_detector`.
    detect::detection_note detect(detect::job_view const& job, detect::detector_scratch& scratch,
                                  std::vector<detect::finding>& out) const {
        std::vector<double>& rates = scratch.values; // NaN: not known yet
        rates.clear();
        double sum = 0, known = 0;
        for (detect::running_task const& t : job.running) {
            bool const has_rate = t.elapsed > 0 && t.progress >= 0;
            rates.push_back(has_rate ? t.progress / t.elapsed : -1.0);
            sum += has_rate ? rates.back() : 0.0;
            known += has_rate ? 1.0 : 0.0;
        }
        if (!(known >= 2))
            return job.running.size() < 2 ? detect::detection_note::too_few_running
                                          : detect::detection_note::too_early;
        double const mean = sum / known; // equation 8
        double squares = 0;
        for (double const rate : rates) squares += rate >= 0 ? (rate - mean) * (rate - mean) : 0.0;
        double const threshold = mean * (1 - alpha * std::sqrt(squares / known)); // equations 9 and 10
        std::size_t const first = out.size();
        for (std::uint32_t i = 0; i < rates.size(); ++i)
            if (rates[i] >= 0 && rates[i] < threshold) out.push_back({i, rates[i], threshold, mean});
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                  [](detect::finding const& a, detect::finding const& b) {
                      return a.value < b.value || (!(b.value < a.value) && a.task < b.task);
                  });
        return detect::detection_note::none;
    }
};

/// *Hierarchical* (section 5.5): the suspects of *Default* on nodes below 90 % of the average performance.
struct hierarchical : detect::hierarchical<hadoop_default> {
    /// With the paper's settings.
    constexpr hierarchical() noexcept
        : detect::hierarchical<hadoop_default>{.base = hadoop_default{}, .share = 0.9} {}
};

/// A detector that is silent until the job has run for 20 seconds, as in section 6.3 and section 7 (section
/// 6.2; with Hadoop's own 60 seconds, 14 % of the detections come too late to help).
/// @param rule one of the above
/// @param units_per_second 1 for times in seconds, 1000 for milliseconds
template <detect::straggler_detector Detector>
[[nodiscard]] constexpr auto after_speculative_lag(Detector rule, double units_per_second = 1.0) {
    return detect::speculative_lag<Detector>{.base = rule, .lag = 20.0 * units_per_second};
}

/// Defines a straggler (section 6.1): more than 1.2 times the usual time, which is the median of repeated
/// runs: `evaluate::find_usual_time(times, usual_quantile)`.
inline constexpr evaluate::straggler_rule straggler{.threshold = 1.2};
/// The quantile that defines the usual time (table 5).
inline constexpr double usual_quantile = 0.5;
/// How tasks are judged (section 6 and table 7): the time of killed attempts is estimated from their
/// progress.
inline constexpr evaluate::judging_options judging{.straggler = straggler,
                                                   .killed = evaluate::killed_attempts::from_progress};

/// The machines, from figure 1 and section 5: 65 W plus 17 W per core, 4 cores, 8 tasks.
inline constexpr evaluate::power_model machines{
    .static_watts = 65.0, .dynamic_watts = 17.0, .cores = 4, .threads = 2};

/// Shares of the slots for normal tasks (section 7.1); the others are for copies. The sixth policy, *Shared*,
/// has no such share.
inline constexpr std::array<double, 5> shares_for_normal_tasks{1.0, 0.95, 0.9, 0.75, 0.5};

/// Equation 11: if the usual time is overestimated by `eps_guess`, a straggler with the smallest slowdown
/// still exceeds the threshold.
/// @param s_min smallest slowdown of a straggler
/// @param eps_setting relative variation of times with the setting
/// @param eps_guess relative error of the guess
[[nodiscard]] constexpr bool equation_11(double s_min, double eps_setting, double eps_guess) noexcept {
    return straggler.threshold * (1 + eps_guess) <= s_min * (1 - eps_setting);
}
/// Equation 12: if the usual time is underestimated by `eps_guess`, no ordinary task exceeds the threshold.
/// Parameters as for `equation_11`.
[[nodiscard]] constexpr bool equation_12(double eps_setting, double eps_guess) noexcept {
    return 1 + eps_setting <= straggler.threshold * (1 - eps_guess);
}
/// Whether any error is tolerated, according to the paper: eps_setting <= (s_min - 1) / (s_min + 1). This is
/// necessary, but sufficient only at s_min = 1.5: see `evaluate::tolerance_of_guess`.
[[nodiscard]] constexpr bool tolerates_as_printed(double s_min, double eps_setting) noexcept {
    return eps_setting <= (s_min - 1) / (s_min + 1);
}
/// The bound on `eps_guess` as the paper prints it, `min(s_min (1 - eps_guess) / 1.2 - 1, (0.2 - eps_guess) /
/// 1.2)`, solved for `eps_guess`, which appears on both sides: `min((s_min - slowdown) / (s_min + slowdown),
/// (slowdown - 1) / (slowdown + 1))`. It no longer depends on the variation with the setting; it is correct
/// if that variation happens to equal the error of the guess. The correct consequence of equations 11 and 12
/// is `evaluate::tolerance_of_guess`.
/// @param s_min smallest slowdown of a straggler; above 0
/// @param slowdown the threshold, the paper's 1.2; above 0
/// @return `status::out_of_domain` for other arguments, `status::insufficient_evidence` if negative
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// noexcept; usable in constant expressions
[[nodiscard]] constexpr outcome<double> tolerance_as_printed(double s_min, double slowdown = 1.2) noexcept {
    if (!(s_min > 0.0) || !detail::is_finite(s_min) || !(slowdown > 0.0) || !detail::is_finite(slowdown))
        return status::out_of_domain;
    double const ratio = s_min / slowdown; // not the sum of the two, which may overflow
    if (!detail::is_finite(ratio)) return status::out_of_domain;
    double const eps = (std::min)((ratio - 1.0) / (ratio + 1.0), (slowdown - 1.0) / (slowdown + 1.0));
    if (!(eps >= 0.0)) return status::insufficient_evidence;
    return eps;
}

} // namespace straggle::papers::evaluation_2019
