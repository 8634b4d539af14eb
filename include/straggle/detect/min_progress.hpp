// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Only tasks that have made some progress and are not nearly done.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {
inline constexpr char min_progress_name[] = "min_progress";
} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::detect {

/// Keeps the suspects of another rule whose progress lies within [least, most].
///
/// The first reports of a task are coarse, and rates and times estimated from them erratic: `least` waits
/// until there is enough to judge by. A task past `most` is nearly done: a copy would lose. But a task that
/// hangs at the start never reaches `least`, so use `task_lag` for rules that must find those.
///
/// Source: ours; MRv2's estimators do the same below 1e-4. The other tasks still count in the averages of the
/// rule.
///
/// Verdict: the base's; `detection_note::too_early` if all its suspects have made too little progress.
/// @par Cost
/// the base's, plus O(suspects)
template <straggler_detector Base>
struct min_progress {
    static constexpr std::string_view name = detail::nested_name<detail::min_progress_name, Base>;

    Base base{};         ///< the rule
    double least = 0.05; ///< share done, in [0, 1]
    double most = 1.0;   ///< share done, in [0, 1]; 1 excludes none

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) {
        std::size_t const first = out.size();
        detection_note const note = base.detect(job, scratch, out);
        bool too_early = out.size() > first;
        detail::keep_suspects(out, first, [&](finding const& s) {
            double const progress = job.running[s.task].progress;
            too_early = too_early && !(progress >= least);
            return progress >= least && progress <= most;
        });
        return too_early ? detection_note::too_early : note;
    }
};

template <class Base>
min_progress(Base) -> min_progress<Base>;
template <class Base>
min_progress(Base, double) -> min_progress<Base>;
template <class Base>
min_progress(Base, double, double) -> min_progress<Base>;

} // namespace straggle::detect
