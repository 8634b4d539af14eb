// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Only stragglers on slow nodes: rechecks the suspects of another rule, for precision.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {
inline constexpr char hierarchical_name[] = "hierarchical";
} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::detect {

/// Keeps the suspects of another rule on slow nodes: those whose tasks advance, on average, at less than
/// `share` of the usual speed of the nodes.
///
/// Source: Phan et al., the *Hierarchical* mechanism of the evaluation framework (2019), section 5.5: speed
/// of a task = progress * input / elapsed, of a node the mean over its running tasks, of the cluster the mean
/// over the nodes that run any. The paper applies it to `progress_gap`. A task that has just started (elapsed
/// 0) has no speed and is excluded from its node's mean; on a node without any speed no task is suspected. It
/// only removes suspects of the base, and keeps their order.
///
/// Verdict: the base's.
/// @par Cost
/// the base's, plus O(tasks + nodes); allocates nothing in the steady state
template <straggler_detector Base>
struct hierarchical {
    static constexpr std::string_view name = detail::nested_name<detail::hierarchical_name, Base>;

    Base base{};        ///< the rule whose suspects are rechecked
    double share = 0.9; ///< a node is slow below this share of the nodes' mean speed; the paper's value

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) {
        std::size_t const first = out.size();
        detection_note const note = base.detect(job, scratch, out);
        if (out.size() == first) return note;

        std::vector<double>& speed = scratch.node_values;
        std::vector<std::uint32_t>& tasks = scratch.order;
        speed.assign(job.nodes.size(), 0.0);
        tasks.assign(job.nodes.size(), 0);
        for (running_task const& t : job.running) {
            if (t.node >= speed.size()) { // a manually built view may not list them
                speed.resize(t.node + std::size_t{1});
                tasks.resize(t.node + std::size_t{1});
            }
            double const s = t.progress * t.input / t.elapsed;
            if (!(t.elapsed > 0) || !(s >= 0)) continue;
            speed[t.node] += s;
            ++tasks[t.node];
        }
        double sum = 0, known = 0;
        for (std::size_t n = 0; n < speed.size(); ++n) {
            if (tasks[n] == 0) continue;
            speed[n] /= static_cast<double>(tasks[n]);
            sum += speed[n];
            known += 1.0;
        }
        // If no node has a speed, this is NaN, and no node is below it.
        double const slow = share * (sum / known);
        detail::keep_suspects(out, first, [&](finding const& s) {
            std::uint32_t const node = job.running[s.task].node;
            return tasks[node] > 0 && speed[node] < slow;
        });
        return note;
    }
};

template <class Base>
hierarchical(Base) -> hierarchical<Base>;
template <class Base>
hierarchical(Base, double) -> hierarchical<Base>;

} // namespace straggle::detect
