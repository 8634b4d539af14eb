// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Detectors for the tests of replays: one of each, in a list.
#pragma once

#include "../../examples/programs/common/node_aware.hpp"

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/mantri.hpp>
#include <straggle/detect/min_progress.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/without_copies.hpp>
#include <straggle/papers/evaluation_2019.hpp>

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
    detect::detection_note detect(detect::job_view const& job, detect::detector_scratch&,
                                  std::vector<detect::finding>& out) const {
        for (std::uint32_t i = 0; i < job.running.size(); ++i)
            if (job.running[i].elapsed > limit) out.push_back({i, job.running[i].elapsed, limit, 0});
        return detect::detection_note::none;
    }
};

/// Any detector, in a list with others.
struct any_scan {
    std::string name;
    std::function<detect::suspect_list<>(detect::job_view const&)> look;
    template <class Detector>
    explicit any_scan(Detector detector)
        : name(Detector::name),
          look([scan = detect::straggler_scan(std::move(detector))](detect::job_view const& job) mutable {
              return scan(job);
          }) {}
    detect::suspect_list<> operator()(detect::job_view const& job) { return look(job); }
};

/// One of each rule and wrapper; `second` is the unit of time.
inline std::vector<any_scan> every_rule(double second) {
    std::vector<any_scan> all;
    all.emplace_back(detect::progress_gap{});
    all.emplace_back(detect::late{});
    all.emplace_back(papers::evaluation_2019::late_as_printed{});
    all.emplace_back(detect::late_with_caps{.lag = 5 * second});
    all.emplace_back(detect::average_time{});
    all.emplace_back(detect::over_median{});
    all.emplace_back(detect::flink{.ratio = 0.5, .lower_bound = second});
    all.emplace_back(detect::largest_gain<>{});
    all.emplace_back(detect::mantri<>{.min_finished = 2});
    all.emplace_back(program::node_aware<>{});
    all.emplace_back(program::node_aware<>{.usual_time = 20 * second});
    all.emplace_back(detect::hierarchical<detect::progress_gap>{});
    all.emplace_back(detect::speculative_lag{detect::late{}, 10 * second});
    all.emplace_back(detect::task_lag{detect::progress_gap{}, 10 * second});
    all.emplace_back(detect::min_progress{detect::late{}});
    all.emplace_back(detect::without_copies{detect::average_time{}});
    return all;
}

/// The value of a metric that must be there.
inline double number(outcome<double> const& o) {
    REQUIRE(o);
    return *o;
}

} // namespace straggle_test
