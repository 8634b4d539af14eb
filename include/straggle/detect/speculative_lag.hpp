// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Patience: no detection before the job, or the task, has run for some time.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {
inline constexpr char speculative_lag_name[] = "speculative_lag";
inline constexpr char task_lag_name[] = "task_lag";
} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::detect {

/// Another rule, but no suspects before the job has run for `lag`.
///
/// Source: the evaluation framework (Phan et al. 2019), section 6.2, where Hadoop's 60 seconds name 14 % of
/// the tasks too late to help and 20 seconds do better: set it to what your tasks need to show how fast they
/// are. In Hadoop 1 itself the lag is the task's: see `task_lag`.
///
/// Verdict: the base's; `detection_note::too_early` before.
/// @par Cost
/// the base's
template <straggler_detector Base>
struct speculative_lag {
    static constexpr std::string_view name = detail::nested_name<detail::speculative_lag_name, Base>;

    Base base{};       ///< the rule
    double lag = 60.0; ///< since the job began; a minute, if in seconds: Hadoop's

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) {
        if (!(job.age >= lag)) return detection_note::too_early;
        return base.detect(job, scratch, out);
    }
};

template <class Base>
speculative_lag(Base) -> speculative_lag<Base>;
template <class Base>
speculative_lag(Base, double) -> speculative_lag<Base>;

/// Of the suspects of another rule those that have run for `lag` themselves.
///
/// Source: `SPECULATIVE_LAG` of Hadoop 1, whose 60 seconds count from the start of the task. It keeps rules
/// that look at progress alone from blaming tasks that have just begun, and unlike `min_progress` it does not
/// spare those that hang at the start. Young tasks count in the averages of the rule all the same.
///
/// Verdict: the base's; `detection_note::too_early` if all its suspects are too young.
/// @par Cost
/// the base's, O(suspects) more
template <straggler_detector Base>
struct task_lag {
    static constexpr std::string_view name = detail::nested_name<detail::task_lag_name, Base>;

    Base base{};       ///< the rule
    double lag = 60.0; ///< since the task began; a minute, if in seconds: Hadoop's

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) {
        std::size_t const first = out.size();
        detection_note const note = base.detect(job, scratch, out);
        bool const any = out.size() > first;
        detail::keep_suspects(out, first,
                              [&](finding const& s) { return job.running[s.task].elapsed >= lag; });
        return any && out.size() == first ? detection_note::too_early : note;
    }
};

template <class Base>
task_lag(Base) -> task_lag<Base>;
template <class Base>
task_lag(Base, double) -> task_lag<Base>;

} // namespace straggle::detect
