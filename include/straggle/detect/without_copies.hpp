// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Only tasks that have no copy yet: from "what is slow" to "what needs a copy".
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {
inline constexpr char without_copies_name[] = "without_copies";
} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::detect {

/// Keeps the suspects of another rule that have a single running attempt.
///
/// A task does not stop being a straggler when it gets a copy, so the rules themselves ignore copies (except
/// those that decide what to copy, such as `late_with_caps`). Wrap this around a rule whose suspects are
/// copied without further checks, as Spark and Hadoop do; omit it when measuring detection.
///
/// Source: Spark (`copiesRunning == 1`), Hadoop 1 (`MAX_TASK_EXECS`). Verdict: the base's.
/// @par Cost
/// the base's, plus O(suspects)
template <straggler_detector Base>
struct without_copies {
    static constexpr std::string_view name = detail::nested_name<detail::without_copies_name, Base>;

    Base base{}; ///< the rule

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) {
        std::size_t const first = out.size();
        detection_note const note = base.detect(job, scratch, out);
        detail::keep_suspects(out, first,
                              [&](finding const& s) { return !(job.running[s.task].copies > 1); });
        return note;
    }
};

template <class Base>
without_copies(Base) -> without_copies<Base>;

} // namespace straggle::detect
