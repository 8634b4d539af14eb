// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth table of the concept of detectors.
#include <straggle/detect/average_time.hpp>
#include <straggle/detect/cap.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/min_progress.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/without_copies.hpp>

#include <concepts>

namespace {

using namespace straggle;
using suspects = std::vector<suspect>;

// Can do what the concept asks for and nothing else.
struct minimal_detector {
    static constexpr char const* name = "minimal";
    minimal_detector() = delete;
    minimal_detector(minimal_detector&&) = default;
    minimal_detector& operator=(minimal_detector&&) = default;
    detection_note detect(job_view const&, detector_scratch&, suspects&) { return {}; }
};
struct named {
    static constexpr std::string_view name = "named";
};
struct detector_with_inherited_name : named {
    detection_note detect(job_view const&, detector_scratch&, suspects&) const { return {}; }
};
struct detector_without_name {
    detection_note detect(job_view const&, detector_scratch&, suspects&);
};
struct detector_with_number_for_name {
    static constexpr int name = 7;
    detection_note detect(job_view const&, detector_scratch&, suspects&);
};
struct detector_without_note : named {
    void detect(job_view const&, detector_scratch&, suspects&);
};
struct detector_with_truth_for_note : named {
    bool detect(job_view const&, detector_scratch&, suspects&);
};
struct detector_without_scratch : named {
    detection_note detect(job_view const&, suspects&);
};
struct detector_that_writes_jobs : named {
    detection_note detect(job_view&, detector_scratch&, suspects&);
};
struct detector_into_indices : named {
    detection_note detect(job_view const&, detector_scratch&, std::vector<std::uint32_t>&);
};
struct detector_that_cannot_move : named {
    detector_that_cannot_move(detector_that_cannot_move&&) = delete;
    detection_note detect(job_view const&, detector_scratch&, suspects&);
};

static_assert(straggler_detector<minimal_detector> && straggler_detector<detector_with_inherited_name>);
static_assert(!straggler_detector<detector_without_name> &&
              !straggler_detector<detector_with_number_for_name> &&
              !straggler_detector<detector_without_note> &&
              !straggler_detector<detector_with_truth_for_note> &&
              !straggler_detector<detector_without_scratch> &&
              !straggler_detector<detector_that_writes_jobs> && !straggler_detector<detector_into_indices> &&
              !straggler_detector<detector_that_cannot_move> && !straggler_detector<int> &&
              !straggler_detector<named>);

// --- the rules, and rules around the least a rule can be ---------------------------------------------------
static_assert(straggler_detector<progress_gap> && straggler_detector<late> &&
              straggler_detector<late_eval_2019> && straggler_detector<late_with_caps> &&
              straggler_detector<average_time> && straggler_detector<over_median> &&
              straggler_detector<flink>);
static_assert(straggler_detector<hierarchical<minimal_detector>> &&
              straggler_detector<speculative_lag<minimal_detector>> &&
              straggler_detector<task_lag<minimal_detector>> &&
              straggler_detector<min_progress<minimal_detector>> &&
              straggler_detector<cap<minimal_detector>> &&
              straggler_detector<without_copies<minimal_detector>>);
template <template <class> class Rule, class Base>
concept wraps = requires { typename Rule<Base>; };
static_assert(wraps<hierarchical, late> && wraps<straggler_scan, minimal_detector>);
static_assert(!wraps<hierarchical, named> && !wraps<speculative_lag, int> && !wraps<task_lag, named> &&
              !wraps<min_progress, detector_without_note> && !wraps<cap, detector_without_name> &&
              !wraps<without_copies, detector_without_scratch> && !wraps<straggler_scan, named>);
static_assert(cap<hierarchical<minimal_detector>>::name == "cap(hierarchical(minimal))");

// --- how rules within rules are written --------------------------------------------------------------------
static_assert(std::same_as<decltype(hierarchical{progress_gap{}}), hierarchical<progress_gap>>);
static_assert(std::same_as<decltype(hierarchical{late{.alpha = 2}, 0.8}), hierarchical<late>>);
static_assert(std::same_as<decltype(speculative_lag{late{}, 60}), speculative_lag<late>>);
static_assert(std::same_as<decltype(task_lag{late{}}), task_lag<late>>);
static_assert(std::same_as<decltype(min_progress{late{}, 0.1, 0.9}), min_progress<late>>);
static_assert(std::same_as<decltype(cap{without_copies{late{}}, 5}), cap<without_copies<late>>>);
static_assert(std::same_as<decltype(straggler_scan{flink{}}), straggler_scan<flink>>);
static_assert(hierarchical{progress_gap{}}.share == 0.9 && speculative_lag{late{}}.lag == 60 &&
              cap{late{}}.least == 10 && cap{late{}}.of_tasks == 0.01 && cap{late{}}.of_running == 0.1);

// A detector without a default is given to the scan.
static_assert(std::constructible_from<straggler_scan<minimal_detector>, minimal_detector> &&
              !std::default_initializable<straggler_scan<minimal_detector>>);

} // namespace
