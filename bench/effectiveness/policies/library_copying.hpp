// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library's copies by themselves, as its guide puts them together: `node_aware` finds stragglers, the
/// `assigner` says which copies are worth it and where, both with their defaults.
#pragma once

#include "../cluster/policy.hpp"
#include "make_policy.hpp"

#include <straggle/assign/assigner.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/node_aware.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/predict/progress.hpp>
#include <straggle/record/node_state.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace lab {

class library_copying {
  public:
    explicit library_copying(setup const& where)
        : scan_(straggle::detect::node_aware<>{.report_interval = 2 * where.heartbeat}),
          assigner_(straggle::assign::expected_gain{},
                    straggle::assign::assigner_options{.launch = where.launch}) {}

    void ended(attempt_record const& a) {
        if (a.how == ending::finished)
            (void)jobs_[a.job].observe(a.node, a.took(), a.input > 0 ? a.input : 1);
    }
    void finish(std::uint32_t job) { jobs_.erase(job); }

    /// @param state of a node
    template <class State>
    void copies(cluster_view const& view, State state, decisions& out) {
        free_.clear();
        std::uint64_t free = 0;
        for (node_view const& n : view.nodes) {
            free_.push_back(n.free());
            free += n.free();
        }
        for (job_view const& job : view.jobs)
            if (job.count > 0 && free > 0) copies(view, job, state, out);
    }

  private:
    using progress = straggle::detect::job_progress<std::uint32_t, double>;

    struct task { // the attempt that is furthest
        std::uint32_t number, node, attempts;
        double start, input;
        std::optional<double> progress;
        std::vector<std::uint32_t> nodes; // of all its attempts
    };
    struct straggler {
        task const* what;
        double remaining, usual, next_slowest;
    };
    struct place {
        std::uint32_t node, free;
        straggle::node_state state;
        double slowdown;
    };
    static constexpr straggle::running_fields running_fields{.node = &task::node,
                                                             .start = &task::start,
                                                             .progress = &task::progress,
                                                             .input = &task::input,
                                                             .copies = &task::attempts};
    static constexpr straggle::assign::straggler_fields straggler_fields{
        .runs_on = [](straggler const& s) -> auto const& { return s.what->nodes; },
        .remaining = &straggler::remaining,
        .attempts = [](straggler const& s) { return s.what->attempts; },
        .next_slowest = &straggler::next_slowest};
    static constexpr straggle::assign::backup_node_fields place_fields{
        .node = &place::node, .free = &place::free, .state = &place::state};

    void read_tasks(std::span<running_attempt const> running) {
        tasks_.clear();
        for (std::size_t i = 0; i < running.size(); ++i) {
            running_attempt const& a = running[i];
            if (i == 0 || a.task != running[i - 1].task)
                tasks_.push_back(
                    {a.task, a.node, a.attempts, a.start, a.input > 0 ? a.input : 1, a.progress, {}});
            task& t = tasks_.back();
            t.nodes.push_back(a.node);
            if (!(a.progress.value_or(0) > t.progress.value_or(0))) continue;
            t.node = a.node;
            t.start = a.start;
            t.progress = a.progress;
        }
    }

    // The slowest of the tasks that nobody suspects: the job is over no sooner.
    double next_slowest(double now, straggle::detect::suspect_list<task> const& suspects) {
        named_.assign(tasks_.size(), false);
        for (auto const& s : suspects) named_[static_cast<std::size_t>(s.row - tasks_.data())] = true;
        double longest = 0;
        for (std::size_t i = 0; i < tasks_.size(); ++i)
            if (!named_[i] && tasks_[i].progress.value_or(0) >= 0.05)
                longest = std::max(longest, straggle::predict::average_rate_remaining(now - tasks_[i].start,
                                                                                      *tasks_[i].progress)
                                                .value_or(0));
        return longest;
    }

    template <class State>
    void copies(cluster_view const& view, job_view const& job, State const& state, decisions& out) {
        progress& p = jobs_[job.job];
        read_tasks(view.running.subspan(job.first, job.count));
        p.set_tasks(job.tasks);
        p.set_begin(job.arrival);
        p.running(tasks_, running_fields, view.now);
        auto const seen = p.view();
        auto const suspects = scan_(seen, tasks_);
        double const others = next_slowest(view.now, suspects);
        stragglers_.clear();
        for (auto const& s : suspects) {
            task const& t = *s.row;
            if (t.attempts == 1)
                stragglers_.push_back(
                    {&t, std::max(0.0, s.why.value - (view.now - t.start)), s.why.usual, others});
        }
        if (stragglers_.empty()) return;
        places_.clear();
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n) places_.push_back({n, free_[n], state(n), 1});
        for (std::uint32_t i = 0; i < seen.nodes.size(); ++i)
            if (seen.nodes[i].finished > 0)
                places_[p.node(i)].slowdown = seen.nodes[i].total_time /
                                              static_cast<double>(seen.nodes[i].finished) /
                                              seen.mean_finished;
        straggle::cluster_load load;
        load.now = view.now;
        load.running = tasks_.size();
        load.suspects = stragglers_.size();
        load.waiting = view.waiting;
        for (node_view const& n : view.nodes) {
            load.slots += n.away ? 0 : n.slots;
            load.busy += n.busy;
            load.copies += n.copies;
        }
        auto const& plan = assigner_.choose(
            stragglers_, straggler_fields, places_, place_fields,
            [](straggler const& s, place const& at) { return s.usual * at.slowdown; }, load);
        for (auto const& choice : plan.choices) {
            if (!choice.copy) continue;
            std::uint32_t const node = places_[choice.copy->node].node;
            --free_[node];
            out.copies.push_back({job.job, stragglers_[choice.straggler].what->number, node});
        }
    }

    straggle::detect::straggler_scan<straggle::detect::node_aware<>> scan_;
    straggle::assign::assigner<> assigner_;
    std::map<std::uint32_t, progress> jobs_;
    std::vector<std::uint32_t> free_; // by node
    std::vector<task> tasks_;
    std::vector<bool> named_; // by row
    std::vector<straggler> stragglers_;
    std::vector<place> places_;
};

} // namespace lab
