// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which tasks get copies, and where: none, as in YARN, or as in the library.
#pragma once

#include "../../../examples/programs/common/node_aware.hpp"
#include "free_places.hpp"
#include "phase_watch.hpp"

#include <straggle/assign/assigner.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/straggler_scan.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace policies {

struct no_copies {
    void ended(cluster::attempt_record const&) {}
    void phase_over(std::uint32_t) {}
    template <class State>
    void copies(cluster::cluster_view const&, free_places&, State const&,
                std::vector<cluster::copy_request>&) {}
};

/// YARN's speculator: once a second the task whose copy would gain most, at most one in fifteen seconds and
/// phase, within its limits; the copy goes to any machine that has a slot.
class yarn_speculation {
  public:
    explicit yarn_speculation(std::uint64_t seed) : random_(seed, 88) {}

    void ended(cluster::attempt_record const& a) { watch_.ended(a); }
    void phase_over(std::uint32_t phase) {
        watch_.forget(phase);
        not_before_.erase(phase);
    }
    template <class State>
    void copies(cluster::cluster_view const& view, free_places& free, State const&,
                std::vector<cluster::copy_request>& out) {
        for (cluster::phase_view const& phase : view.phases) {
            double& earliest = not_before_[phase.phase];
            if (view.now < earliest || phase.running.empty()) continue;
            straggle::detect::job_view const job = watch_.look(phase, view.now);
            if (!may_copy(job)) continue;
            for (auto const& s : scan_(job)) {
                auto const& task = phase.running[s.row];
                auto const node = free.any(task, random_);
                if (!node) continue;
                free.take(*node);
                out.push_back({phase.phase, task.task, *node});
                earliest = view.now + 15;
            }
        }
    }

  private:
    // Its limit on running copies, rounded down as there.
    static bool may_copy(straggle::detect::job_view const& job) {
        double const running = static_cast<double>(job.running.size());
        double const tasks =
            std::max(static_cast<double>(job.tasks), running + static_cast<double>(job.finished.size()));
        double copies = 0;
        for (auto const& task : job.running) copies += task.copies > 1 ? task.copies - 1.0 : 0.0;
        return copies < std::max({10.0, std::floor(0.01 * tasks), std::floor(0.1 * running)});
    }

    phase_watch watch_;
    straggle::detect::straggler_scan<straggle::detect::largest_gain<>> scan_;
    std::map<std::uint32_t, double> not_before_;
    cluster::draw random_;
};

/// A task that could be copied, and a machine that could run the copy, as the assigner reads them.
struct straggler {
    std::vector<std::uint32_t> const* nodes;
    double remaining, usual, next_slowest;
    std::uint32_t attempts;
};
struct place {
    std::uint32_t node, free;
    straggle::node_state state;
    double slowdown;
};
inline constexpr straggle::assign::straggler_fields straggler_fields{
    .runs_on = [](straggler const& s) -> auto const& { return *s.nodes; },
    .remaining = &straggler::remaining,
    .attempts = &straggler::attempts,
    .next_slowest = &straggler::next_slowest};
inline constexpr straggle::assign::backup_node_fields place_fields{
    .node = &place::node, .free = &place::free, .state = &place::state};

/// The library's own: `node_aware` finds the stragglers, the assigner says which copies are worth it, and on
/// which machine.
class straggle_speculation {
  public:
    void ended(cluster::attempt_record const& a) { watch_.ended(a); }
    void phase_over(std::uint32_t phase) { watch_.forget(phase); }
    /// @param state says of a machine whether it is healthy, on probation or avoided
    template <class State>
    void copies(cluster::cluster_view const& view, free_places& free, State const& state,
                std::vector<cluster::copy_request>& out) {
        for (cluster::phase_view const& phase : view.phases) {
            if (phase.running.empty() || free.total() == 0) continue;
            stragglers_.clear();
            tasks_.clear();
            auto const suspects = scan_(watch_.look(phase, view.now));
            double const others = watch_.rest_of_the_others(phase, suspects, view.now);
            for (auto const& s : suspects) {
                auto const& task = phase.running[s.row];
                if (task.attempts > 1) continue;
                double const left = s.why.value - (view.now - task.start);
                stragglers_.push_back({&task.nodes, left > 0 ? left : 0, s.why.usual, others, task.attempts});
                tasks_.push_back(task.task);
            }
            if (stragglers_.empty()) continue;
            places_.clear();
            for (std::uint32_t n = 0; n < view.nodes.size(); ++n)
                places_.push_back({n, free.on(n), state(n), watch_.slowdown(phase.phase, n)});
            straggle::cluster_load load;
            load.now = view.now;
            load.running = phase.running.size();
            load.suspects = stragglers_.size();
            load.waiting = view.waiting;
            auto const& plan = assigner_.choose(
                stragglers_, straggler_fields, places_, place_fields,
                [](straggler const& s, place const& p) { return s.usual * p.slowdown; }, load);
            for (straggle::assign::backup_choice const& choice : plan.choices) {
                if (!choice.copy) continue;
                std::uint32_t const node = places_[choice.copy->node].node;
                free.take(node);
                out.push_back({phase.phase, tasks_[choice.straggler], node});
            }
        }
    }

  private:
    phase_watch watch_;
    straggle::detect::straggler_scan<program::node_aware<>> scan_{
        program::node_aware<>{.report_interval = 3}};
    straggle::assign::assigner<> assigner_{straggle::assign::expected_gain{},
                                           straggle::assign::assigner_options{.launch = 1.5}};
    std::vector<straggler> stragglers_;
    std::vector<std::uint32_t> tasks_;
    std::vector<place> places_;
};

} // namespace policies
