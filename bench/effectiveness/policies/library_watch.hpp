// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library's blacklist by itself, as its guide puts it together: `cluster_watch` with all its defaults
/// and windows of ten usual tasks. A node on probation gets copies of tasks that have just begun. Or with
/// another keeper of the nodes.
#pragma once

#include "library_fields.hpp"
#include "make_policy.hpp"

#include <straggle/blacklist/ranked_blacklist.hpp>
#include <straggle/mitigate/cluster_watch.hpp>
#include <straggle/monitor/monitor.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace lab {

template <class Keeper = straggle::ranked_blacklist<std::uint32_t>>
class library_watch {
  public:
    explicit library_watch(setup const& where, Keeper keeper = Keeper{})
        : watch_(monitor(attempt_fields, {.window = 300 * where.heartbeat, .slide = 0, .ranking = {}}),
                 std::move(keeper)) {}

    void ended(attempt_record const& a, double now) {
        if (a.outrun && !a.copy)
            (void)watch_.observe_censored(a, now);
        else
            (void)watch_.observe(a, now);
    }
    void finish(std::uint32_t job) { watch_.monitor().finish(job); }

    void decide(cluster_view const& view, decisions& out) {
        fleet_.clear();
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n)
            if (!view.nodes[n].away) fleet_.push_back(n);
        if (watch_.monitor().window_number(view.now) < 0) return;
        watch_.decide(view.now, fleet_);
        for (std::uint32_t n = 0; n < out.nodes.size(); ++n)
            out.nodes[n] = avoids(n) ? service::none : tries(n) ? service::copies_only : service::normal;
    }
    bool avoids(std::uint32_t node) const { return watch_.decision().avoids(node); }
    bool tries(std::uint32_t node) const { return watch_.decision().tries(node); }

    /// One copy at a time, of the youngest task of a job.
    void probe(cluster_view const& view, decisions& out) const {
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n) {
            if (!tries(n) || view.nodes[n].busy > 0 || view.nodes[n].free() == 0) continue;
            for (job_view const& job : view.jobs) {
                auto const running = view.running.subspan(job.first, job.count);
                auto const youngest =
                    std::max_element(running.begin(), running.end(),
                                     [](auto const& a, auto const& b) { return a.start < b.start; });
                if (youngest == running.end() || youngest->attempts > 1) continue;
                out.copies.push_back({job.job, youngest->task, n});
                break;
            }
        }
    }

  private:
    using monitor = straggle::monitor<attempt_record, decltype(attempt_fields)>;

    straggle::cluster_watch<monitor, Keeper> watch_;
    std::vector<std::uint32_t> fleet_;
};

} // namespace lab
