// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The simplest rule: a task is a straggler when it has run longer than the average.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// Suspects tasks that have run longer than `factor` times the average time; longest first.
///
/// Source: RiskI (2014), section 6.1: "by comparing the average execution time of all the running tasks and
/// the passed running time". The execution time is known only for finished tasks, so these are averaged
/// (`basis::running` follows that sentence literally). The factor is ours: other rules call a task a
/// straggler at 1.2 or 1.5 times the usual. RiskI treats these tasks as candidates and decides by expected
/// profit; on its own the rule eventually names nearly half of the tasks.
///
/// Verdict: value = elapsed time, threshold = factor * average, usual = average.
/// @par Cost
/// O(running tasks), plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
struct average_time {
    /// Which times are averaged.
    enum class basis : std::uint8_t {
        finished, ///< times of finished tasks
        running,  ///< elapsed times of running tasks
    };

    static constexpr std::string_view name = "average_time";

    double factor = 1.0;        ///< times the average
    basis of = basis::finished; ///< which times are averaged

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) const {
        double average = job.mean_finished;
        if (of == basis::finished) {
            if (job.finished.empty()) return detection_note::too_few_finished;
        } else {
            scratch.values.clear();
            for (running_task const& t : job.running)
                if (t.elapsed >= 0) scratch.values.push_back(t.elapsed);
            if (scratch.values.size() < 2) return detection_note::too_few_running;
            average = detail::mean_and_deviation_of(detail::span_of(scratch.values)).mean;
        }
        double const threshold = factor * average;
        detail::name_suspects<detail::worst::highest>(
            job, scratch, out, {0, 0, threshold, average}, [&](std::size_t i) {
                double const elapsed = job.running[i].elapsed;
                return detail::judgement{elapsed, elapsed > threshold};
            });
        return detection_note::none;
    }
};

} // namespace straggle::detect
