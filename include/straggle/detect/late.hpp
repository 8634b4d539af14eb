// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The rules that compare progress rates: a task that started later may have done less and still be as fast
/// as the others.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/detect/detail/rates.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Threshold>
detect::detection_note suspect_low_rates(detect::job_view const& job, detect::task_scope over,
                                         detect::detector_scratch& scratch, std::vector<detect::finding>& out,
                                         Threshold threshold_of) {
    std::size_t const known = collect_rates(job, over, 0, scratch.values);
    if (scratch.values.size() < 2 || job.running.empty()) return lack_of_rates(job);
    mean_and_deviation const usual = mean_and_deviation_of(span_of(scratch.values));
    double const threshold = threshold_of(usual);
    detect::finding const like{0, 0, threshold, usual.mean};
    if (known == job.running.size()) // all are known, each at the index of its task
        name_suspects<worst::lowest>(job, scratch, out, like, [&](std::size_t i) {
            double const rate = scratch.values[i];
            return judgement{rate, rate < threshold};
        });
    else
        name_suspects<worst::lowest>(job, scratch, out, like, [&](std::size_t i) {
            double const rate = progress_rate(job.running[i]);
            return judgement{rate, rate >= 0 && rate < threshold};
        });
    return detect::detection_note::none;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::detect {

/// Suspects tasks whose progress rate (progress / elapsed) is more than `alpha` standard deviations below the
/// average; lowest rate first.
///
/// Source: M. Zaharia et al., Improving MapReduce performance in heterogeneous environments (OSDI 2008), in
/// the form of the evaluation framework (Phan et al. 2019), equations 7-9, with equation 10 corrected:
/// `papers::evaluation_2019` has it as printed. For normally distributed rates, `alpha = 1` names 16 % of the
/// tasks, whether or not any is slow. A task that has just started (elapsed 0) has no rate yet: it is neither
/// averaged nor suspected. Rates within 1e-12 of the average differ by rounding only, and are never low.
///
/// Verdict: value = rate, threshold = average - alpha * deviation, usual = average.
/// @par Cost
/// O(tasks), plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees
/// deterministic; independent of the unit of time
struct late {
    static constexpr std::string_view name = "late";

    double alpha = 1.0;                    ///< population deviations below the average; the paper's default
    task_scope over = task_scope::running; ///< whose rates are averaged; eq. 8: of the running tasks

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) const {
        return detail::suspect_low_rates(
            job, over, scratch, out,
            [this](detail::mean_and_deviation const& usual) { return detail::below_mean(usual, alpha); });
    }
};

} // namespace straggle::detect
