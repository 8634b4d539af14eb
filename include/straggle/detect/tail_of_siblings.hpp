// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The rule of a mitigator: a task is late if, given that it still runs, it will more likely than not be in
/// the tail of its siblings' times.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/predict/sibling_times.hpp>
#include <straggle/predict/time_outlook.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// Suspects tasks that will more likely than not take longer than `threshold` times the usual time of their
/// job, and longer than the spread of the job explains; sorted by expected time relative to the threshold,
/// longest first.
///
/// The distribution of times is that of `predict::sibling_times`: ended tasks, running ones censored at their
/// age, and a heavy tail while few have ended. The modeled slowdown of a task's node is no excuse: the
/// threshold is that of a usual node. More input than usual is one.
///
/// A mitigator applies the same rule with additional knowledge: the kinds of jobs, how reliable progress has
/// proved, and how likely the node is slow right now.
///
/// Source: ours. Verdict: value = median of the predicted total time of the task, threshold, usual = usual
/// time of the job for its input.
/// @par Cost
/// O(finished + running + 384), plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees
/// deterministic; independent of the unit of time
class tail_of_siblings {
  public:
    static constexpr std::string_view name = "tail_of_siblings";

    double threshold = 1.5;    ///< of the usual time
    double deviations = 1.645; ///< of the logarithms of the job's times
    double chance = 0.5;       ///< a task is late if it exceeds both with at least this probability

    /// The age from which a task of a job is late, on a usual node and for factor 1.
    [[nodiscard]] double limit(predict::time_outlook const& job) const noexcept {
        return job.usual() * (std::max)(threshold, std::exp(deviations * job.spread()));
    }
    /// Whether a task is late.
    /// @param chance_to_be probability that it takes longer than its limit
    [[nodiscard]] constexpr bool is_late(double chance_to_be) const noexcept {
        return chance_to_be >= chance;
    }

    /// Examines a job.
    detection_note detect(job_view const& job, detector_scratch&, std::vector<finding>& out) {
        if (job.running.empty()) return detection_note::too_few_running;
        times_.forget(0);
        for (double const time : job.finished) times_.observe(0, no_kind, time);
        running_.clear();
        for (running_task const& t : job.running) running_.push_back({t.elapsed, slow_of(job, t), {}});
        if (!times_.outlook(0, no_kind, std::span<predict::sized_task const>(running_), outlook_))
            return detection_note::too_few_finished;
        double const most = limit(outlook_);
        double const finished = static_cast<double>(job.finished.size());
        std::size_t const first = out.size();
        for (std::uint32_t i = 0; i < job.running.size(); ++i) {
            running_task const& t = job.running[i];
            bool const has_more = job.finished_input > 0 && t.input * finished > job.finished_input;
            double const input = has_more ? t.input * finished / job.finished_input : 1.0;
            double const factor = slow_of(job, t) * input, late = most * input;
            if (!is_late(t.elapsed >= late ? 1.0
                                           : outlook_.survival_after(t.elapsed / factor, late / factor)))
                continue;
            double const time = outlook_.median_after(t.elapsed / factor) * factor;
            out.push_back({.task = i, .value = time, .threshold = late, .usual = outlook_.usual() * input});
        }
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                  [](finding const& a, finding const& b) {
                      double const x = a.value * b.threshold, y = b.value * a.threshold;
                      return x != y ? x > y : a.task < b.task;
                  });
        return detection_note::none;
    }

  private:
    static constexpr std::uint32_t no_kind = 0xffff'ffffu;

    [[nodiscard]] static double slow_of(job_view const& job, running_task const& t) noexcept {
        if (t.node >= job.nodes.size() || !job.nodes[t.node].modelled) return 1;
        double const slow = job.nodes[t.node].slowdown;
        return slow > 1 ? slow : 1.0;
    }

    predict::sibling_times times_{};
    predict::time_outlook outlook_{};
    std::vector<predict::sized_task> running_;
};

} // namespace straggle::detect
