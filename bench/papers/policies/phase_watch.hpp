// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The phases that run, as the library's detectors see them.
#pragma once

#include "../cluster/policy.hpp"

#include <straggle/detect/job_progress.hpp>
#include <straggle/predict/progress.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace policies {

/// Keeps a `job_progress` for each phase that runs.
class phase_watch {
    using progress = straggle::detect::job_progress<std::uint32_t, double>;

  public:
    /// @param usual how long the task usually takes, if that is known
    void ended(cluster::attempt_record const& a, double usual = 0) {
        if (a.how == cluster::ending::finished) phases_[a.phase].observe(a.node, a.took(), a.input, usual);
    }
    void forget(std::uint32_t phase) { phases_.erase(phase); }

    /// The phase at this moment, valid until the next look at it.
    straggle::detect::job_view look(cluster::phase_view const& phase, double now) {
        constexpr straggle::running_fields fields{.node = &cluster::running_view::node,
                                                  .start = &cluster::running_view::start,
                                                  .progress = &cluster::running_view::progress,
                                                  .input = &cluster::running_view::input,
                                                  .copies = &cluster::running_view::attempts};
        progress& p = phases_[phase.phase];
        p.set_tasks(phase.tasks);
        p.set_begin(phase.began);
        p.running(phase.running, fields, now);
        return p.view();
    }

    /// How much longer the slowest of the other tasks takes: the phase is over no sooner, whatever happens to
    /// the suspects of that look.
    template <class Suspects>
    double rest_of_the_others(cluster::phase_view const& phase, Suspects const& suspects, double now) {
        named_.assign(phase.running.size(), false);
        for (auto const& s : suspects) named_[s.row] = true;
        double longest = 0;
        for (std::size_t i = 0; i < phase.running.size(); ++i) {
            auto const& task = phase.running[i];
            if (named_[i] || task.progress < 0.05) continue;
            longest = std::max(
                longest,
                straggle::predict::average_rate_remaining(now - task.start, task.progress).value_or(0));
        }
        return longest;
    }

    /// The machine with this index in a phase that has been examined.
    std::uint32_t node(std::uint32_t phase, std::uint32_t index) { return phases_[phase].node(index); }

    /// Sets how slow a machine is known to be.
    void set_slowdown(std::uint32_t phase, std::uint32_t node, double factor) {
        phases_[phase].set_slowdown(node, factor);
    }
    /// How much longer tasks of the phase took on a machine than elsewhere; 1 where none has finished there.
    double slowdown(std::uint32_t phase, std::uint32_t node) {
        progress& p = phases_[phase];
        auto const view = p.view();
        for (std::uint32_t i = 0; i < view.nodes.size(); ++i)
            if (p.node(i) == node && view.nodes[i].finished > 0)
                return view.nodes[i].total_time / static_cast<double>(view.nodes[i].finished) /
                       view.mean_finished;
        return 1;
    }

  private:
    std::map<std::uint32_t, progress> phases_;
    std::vector<bool> named_; // by row
};

} // namespace policies
