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

/// Another rule, but without suspects before the job has run for `lag`.
///
/// Source: the evaluation framework (Phan et al. 2019), section 6.2, where with Hadoop's 60 seconds 14 % of
/// the detections come too late to help, and 20 seconds perform better: set it to the time your tasks need to
/// show how fast they are. In Hadoop 1 itself the lag is per task: see `task_lag`.
///
/// Verdict: the base's; `detection_note::too_early` before.
/// @par Cost
/// the base's
template <straggler_detector Base>
struct speculative_lag {
    static constexpr std::string_view name = detail::nested_name<detail::speculative_lag_name, Base>;

    Base base{};       ///< the rule
    double lag = 60.0; ///< since the job started; a minute, if in seconds: Hadoop's value

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) {
        if (!(job.age >= lag)) return detection_note::too_early;
        return base.detect(job, scratch, out);
    }
};

template <class Base>
speculative_lag(Base) -> speculative_lag<Base>;
template <class Base>
speculative_lag(Base, double) -> speculative_lag<Base>;

/// Keeps the suspects of another rule that have themselves run for `lag`.
///
/// Source: `SPECULATIVE_LAG` of Hadoop 1, whose 60 seconds count from the start of the task. It keeps rules
/// based on progress alone from blaming tasks that have just started, and unlike `min_progress` it does not
/// spare those that hang at the start. Young tasks still count in the averages of the rule.
///
/// Verdict: the base's; `detection_note::too_early` if all its suspects are too young.
/// @par Cost
/// the base's, plus O(suspects)
template <straggler_detector Base>
struct task_lag {
    static constexpr std::string_view name = detail::nested_name<detail::task_lag_name, Base>;

    Base base{};       ///< the rule
    double lag = 60.0; ///< since the task started; a minute, if in seconds: Hadoop's value

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
