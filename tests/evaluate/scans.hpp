// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Detectors for the tests of replays: one of each, in a list.
#pragma once

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/cap.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/mantri.hpp>
#include <straggle/detect/min_progress.hpp>
#include <straggle/detect/node_aware.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/without_copies.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle_test {

using namespace straggle;

/// Names what has run longer than that.
struct over {
    static constexpr std::string_view name = "over";
    double limit = 0;
    detection_note detect(job_view const& job, detector_scratch&, std::vector<suspect>& out) const {
        for (std::uint32_t i = 0; i < job.running.size(); ++i)
            if (job.running[i].elapsed > limit) out.push_back({i, job.running[i].elapsed, limit, 0});
        return detection_note::none;
    }
};

/// Any detector, in a list with others.
struct any_scan {
    std::string name;
    std::function<std::span<suspect const>(job_view const&)> look;
    template <class Detector>
    explicit any_scan(Detector detector)
        : name(Detector::name),
          look([scan = straggler_scan(std::move(detector))](job_view const& job) mutable {
              return scan(job);
          }) {}
    std::span<suspect const> operator()(job_view const& job) { return look(job); }
};

/// One of each rule and wrapper; `second` is the unit of time.
inline std::vector<any_scan> every_rule(double second) {
    std::vector<any_scan> all;
    all.emplace_back(progress_gap{});
    all.emplace_back(late{});
    all.emplace_back(late_eval_2019{});
    all.emplace_back(late_with_caps{.lag = 5 * second});
    all.emplace_back(average_time{});
    all.emplace_back(over_median{});
    all.emplace_back(flink{.ratio = 0.5, .lower_bound = second});
    all.emplace_back(largest_gain<>{});
    all.emplace_back(mantri<>{.min_finished = 2});
    all.emplace_back(node_aware<>{});
    all.emplace_back(node_aware<>{.usual_time = 20 * second});
    all.emplace_back(hierarchical<progress_gap>{});
    all.emplace_back(speculative_lag{late{}, 10 * second});
    all.emplace_back(task_lag{progress_gap{}, 10 * second});
    all.emplace_back(min_progress{late{}});
    all.emplace_back(without_copies{average_time{}});
    all.emplace_back(cap{average_time{}, 1, 0, 0});
    return all;
}

/// The value of a metric that must be there.
inline double number(outcome<double> const& o) {
    REQUIRE(o);
    return *o;
}

} // namespace straggle_test
