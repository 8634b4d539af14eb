// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// No more copies than the cluster can bear: keeps only the worst suspects, as many as may still be copied.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {
inline constexpr char cap_name[] = "cap";
} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::detect {

/// Keeps the worst suspects of another rule, as many as may be copied: at most max(least, of_tasks * tasks,
/// of_running * running tasks) copies, including running copies.
///
/// Source: Hadoop MRv2 `DefaultSpeculator` and its defaults; as there, the maximum is rounded down. A suspect
/// that has a copy needs no other and is already counted: it stays in the list without taking a place.
///
/// Verdict: the base's; `detection_note::cap_reached` if suspects were cut.
/// @par Cost
/// the base's, plus O(tasks)
template <straggler_detector Base>
struct cap {
    static constexpr std::string_view name = detail::nested_name<detail::cap_name, Base>;

    Base base{};              ///< the rule
    std::uint64_t least = 10; ///< always allow this many copies
    double of_tasks = 0.01;   ///< copies as a share of all tasks of the job
    double of_running = 0.1;  ///< copies as a share of the running tasks

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) {
        std::size_t const first = out.size();
        detection_note const note = base.detect(job, scratch, out);
        if (out.size() == first) return note;
        double allowed = std::floor(of_tasks * static_cast<double>(detail::tasks_of(job)));
        allowed = (std::max)(allowed, std::floor(of_running * static_cast<double>(job.running.size())));
        allowed = (std::max)(allowed, static_cast<double>(least));
        double copies = static_cast<double>(detail::copies_of(job));
        bool reached = false;
        detail::keep_suspects(out, first, [&](finding const& s) {
            if (job.running[s.task].copies > 1) return true;
            if (!(copies < allowed)) {
                reached = true;
                return false;
            }
            copies += 1.0;
            return true;
        });
        return reached ? detection_note::cap_reached : note;
    }
};

template <class Base>
cap(Base) -> cap<Base>;
template <class Base>
cap(Base, std::uint64_t) -> cap<Base>;
template <class Base>
cap(Base, std::uint64_t, double) -> cap<Base>;
template <class Base>
cap(Base, std::uint64_t, double, double) -> cap<Base>;

} // namespace straggle::detect
