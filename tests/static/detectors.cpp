// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth table of the concept of detectors.
#include <straggle/detect/average_time.hpp>
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
#include <straggle/papers/evaluation_2019.hpp>

#include <concepts>

namespace {

using namespace straggle;
using suspects = std::vector<detect::finding>;

// Can do what the concept asks for and nothing else.
struct minimal_detector {
    static constexpr char const* name = "minimal";
    minimal_detector() = delete;
    minimal_detector(minimal_detector&&) = default;
    minimal_detector& operator=(minimal_detector&&) = default;
    detect::detection_note detect(detect::job_view const&, detect::detector_scratch&, suspects&) {
        return {};
    }
};
struct named {
    static constexpr std::string_view name = "named";
};
struct detector_with_inherited_name : named {
    detect::detection_note detect(detect::job_view const&, detect::detector_scratch&, suspects&) const {
        return {};
    }
};
struct detector_without_name {
    detect::detection_note detect(detect::job_view const&, detect::detector_scratch&, suspects&);
};
struct detector_with_number_for_name {
    static constexpr int name = 7;
    detect::detection_note detect(detect::job_view const&, detect::detector_scratch&, suspects&);
};
struct detector_without_note : named {
    void detect(detect::job_view const&, detect::detector_scratch&, suspects&);
};
struct detector_with_truth_for_note : named {
    bool detect(detect::job_view const&, detect::detector_scratch&, suspects&);
};
struct detector_without_scratch : named {
    detect::detection_note detect(detect::job_view const&, suspects&);
};
struct detector_that_writes_jobs : named {
    detect::detection_note detect(detect::job_view&, detect::detector_scratch&, suspects&);
};
struct detector_into_indices : named {
    detect::detection_note detect(detect::job_view const&, detect::detector_scratch&,
                                  std::vector<std::uint32_t>&);
};
struct detector_that_cannot_move : named {
    detector_that_cannot_move(detector_that_cannot_move&&) = delete;
    detect::detection_note detect(detect::job_view const&, detect::detector_scratch&, suspects&);
};

static_assert(detect::straggler_detector<minimal_detector> &&
              detect::straggler_detector<detector_with_inherited_name>);
static_assert(!detect::straggler_detector<detector_without_name> &&
              !detect::straggler_detector<detector_with_number_for_name> &&
              !detect::straggler_detector<detector_without_note> &&
              !detect::straggler_detector<detector_with_truth_for_note> &&
              !detect::straggler_detector<detector_without_scratch> &&
              !detect::straggler_detector<detector_that_writes_jobs> &&
              !detect::straggler_detector<detector_into_indices> &&
              !detect::straggler_detector<detector_that_cannot_move> && !detect::straggler_detector<int> &&
              !detect::straggler_detector<named>);

// --- the rules, and rules around the least a rule can be ---------------------------------------------------
static_assert(detect::straggler_detector<detect::progress_gap> && detect::straggler_detector<detect::late> &&
              detect::straggler_detector<papers::evaluation_2019::late_as_printed> &&
              detect::straggler_detector<detect::late_with_caps> &&
              detect::straggler_detector<detect::average_time> &&
              detect::straggler_detector<detect::over_median> && detect::straggler_detector<detect::flink>);
static_assert(detect::straggler_detector<detect::hierarchical<minimal_detector>> &&
              detect::straggler_detector<detect::speculative_lag<minimal_detector>> &&
              detect::straggler_detector<detect::task_lag<minimal_detector>> &&
              detect::straggler_detector<detect::min_progress<minimal_detector>> &&
              detect::straggler_detector<detect::without_copies<minimal_detector>>);
template <template <class> class Rule, class Base>
concept wraps = requires { typename Rule<Base>; };
static_assert(wraps<detect::hierarchical, detect::late> && wraps<detect::straggler_scan, minimal_detector>);
static_assert(!wraps<detect::hierarchical, named> && !wraps<detect::speculative_lag, int> &&
              !wraps<detect::task_lag, named> && !wraps<detect::min_progress, detector_without_note> &&
              !wraps<detect::without_copies, detector_without_name> &&
              !wraps<detect::without_copies, detector_without_scratch>);
// straggler_scan says in words what a detector misses: tests/compile_fail.
static_assert(detect::without_copies<detect::hierarchical<minimal_detector>>::name ==
              "without_copies(hierarchical(minimal))");

// --- how rules within rules are written --------------------------------------------------------------------
static_assert(std::same_as<decltype(detect::hierarchical{detect::progress_gap{}}),
                           detect::hierarchical<detect::progress_gap>>);
static_assert(std::same_as<decltype(detect::hierarchical{detect::late{.alpha = 2}, 0.8}),
                           detect::hierarchical<detect::late>>);
static_assert(std::same_as<decltype(detect::speculative_lag{detect::late{}, 60}),
                           detect::speculative_lag<detect::late>>);
static_assert(std::same_as<decltype(detect::task_lag{detect::late{}}), detect::task_lag<detect::late>>);
static_assert(std::same_as<decltype(detect::min_progress{detect::late{}, 0.1, 0.9}),
                           detect::min_progress<detect::late>>);
static_assert(std::same_as<decltype(detect::task_lag{detect::without_copies{detect::late{}}, 5}),
                           detect::task_lag<detect::without_copies<detect::late>>>);
static_assert(
    std::same_as<decltype(detect::straggler_scan{detect::flink{}}), detect::straggler_scan<detect::flink>>);
static_assert(detect::hierarchical{detect::progress_gap{}}.share == 0.9 &&
              detect::speculative_lag{detect::late{}}.lag == 60);

// A detector without a default is given to the scan.
static_assert(std::constructible_from<detect::straggler_scan<minimal_detector>, minimal_detector> &&
              !std::default_initializable<detect::straggler_scan<minimal_detector>>);

} // namespace
