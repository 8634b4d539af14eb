// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which tasks get copies, and where, with any detector; with or without the predictor and the assigner.
#pragma once

#include "../policies/free_places.hpp"
#include "../policies/phase_watch.hpp"
#include "../policies/speculation.hpp"
#include "../policies/told_usual_time.hpp"
#include "memory.hpp"

#include <straggle/assign/assigner.hpp>
#include <straggle/assign/copy_limits.hpp>
#include <straggle/blacklist/cooldown.hpp>
#include <straggle/detect/remaining_time.hpp>
#include <straggle/detect/straggler_scan.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace together {

/// What a task usually takes, for `largest_gain`, which goes by the mean of the phase where it is unknown.
struct told_replacement {
    policies::told_usual_time usual{};
    straggle::outcome<double> operator()(straggle::detect::running_task const& t,
                                         straggle::detect::job_view const& v) const {
        auto const known = usual(t, v);
        return known ? known : straggle::detect::mean_replacement{}(t, v);
    }
};

/// What a detector's value tells of the time a suspect still takes.
enum class remaining_by : std::uint8_t {
    total,         ///< the value is the time it takes in all
    value,         ///< the value is the time left
    as_long_again, ///< nothing: as long as it has run, a guess that no other task is measured by
};

/// What helps.
struct parts {
    bool predicts = false;  ///< usual times, and the times of copies, come from similar tasks
    bool assigns = false;   ///< the assigner says which copies are worth it; else any machine, at once
    double pause = 0;       ///< seconds without a further copy in a phase that has just got one
    double slot_price = .1; ///< of the assigner
    remaining_by left = remaining_by::total;
    policies::progress_as progress = policies::progress_as::told;
    /// Machines that get nothing for a minute: those of suspects, or, where copies are assigned, of suspects
    /// that got one. Null: none.
    std::shared_ptr<straggle::blacklist::cooldown<std::uint32_t>> blocked{};
};

template <class Detector>
class helping {
  public:
    /// @param give_rows gives the detector the usual times of the rows it is shown, if it can use them
    template <class GiveRows>
    helping(Detector rule, parts const& with, std::vector<std::uint32_t> const& kinds, std::uint64_t seed,
            GiveRows give_rows)
        : with_(with),
          memory_(kinds),
          watch_(with.progress),
          scan_(std::move(rule)),
          assigner_(straggle::assign::expected_gain{.slot_price = with.slot_price},
                    straggle::assign::assigner_options{.launch = 1.5}, straggle::assign::copies_per_task{},
                    straggle::assign::suspect_share_limit{}),
          random_(seed, 88) {
        give_rows(scan_.detector(), *rows_);
    }

    void ended(cluster::attempt_record const& a) {
        watch_.ended(a, with_.predicts ? memory_.usual(a.job, a.phase, a.task, a.input) : 0);
        if (with_.predicts) memory_.learn(a);
    }
    void phase_over(std::uint32_t phase) {
        watch_.forget(phase);
        memory_.forget(phase);
        not_before_.erase(phase);
    }
    template <class State>
    void copies(cluster::cluster_view const& view, policies::free_places& free, State const& state,
                std::vector<cluster::copy_request>& out) {
        for (cluster::phase_view const& phase : view.phases) {
            if (phase.running.empty() || view.now < not_before_[phase.phase]) continue;
            rows_->clear();
            if (with_.predicts)
                for (cluster::running_view const& t : phase.running)
                    rows_->push_back(memory_.usual(phase.job, phase.phase, t.task, t.input));
            auto const& suspects = scan_(watch_.look(phase, view.now));
            if (with_.blocked && !with_.assigns)
                for (straggle::detect::suspect const& s : suspects)
                    block(phase.running[watch_.row(s)].node, view);
            std::size_t const before = out.size();
            if (with_.assigns)
                assign(view, phase, free, state, out);
            else
                copy_at_once(phase, free, out);
            if (out.size() > before) not_before_[phase.phase] = view.now + with_.pause;
        }
    }

  private:
    struct straggler {
        cluster::running_view const* task;
        double remaining, usual, next_slowest;
        std::uint32_t kind;
    };
    static constexpr straggle::assign::straggler_fields straggler_fields{
        .runs_on = [](straggler const& s) -> auto const& { return s.task->nodes; },
        .remaining = &straggler::remaining,
        .attempts = [](straggler const& s) { return s.task->attempts; },
        .next_slowest = &straggler::next_slowest};

    void copy_at_once(cluster::phase_view const& phase, policies::free_places& free,
                      std::vector<cluster::copy_request>& out) {
        for (straggle::detect::suspect const& s : scan_.suspects()) {
            auto const& task = phase.running[watch_.row(s)];
            if (task.attempts > 1) continue;
            auto const node = free.any(task, random_);
            if (!node) continue;
            free.take(*node);
            out.push_back({phase.phase, task.task, *node});
        }
    }

    template <class State>
    void assign(cluster::cluster_view const& view, cluster::phase_view const& phase,
                policies::free_places& free, State const& state, std::vector<cluster::copy_request>& out) {
        stragglers_.clear();
        bool const guesses = with_.left == remaining_by::as_long_again;
        double const others = guesses ? 0 : watch_.rest_of_the_others(phase, scan_.suspects(), view.now);
        for (straggle::detect::suspect const& s : scan_.suspects()) {
            auto const& task = phase.running[watch_.row(s)];
            double const run = view.now - task.start;
            double const left = guesses ? run : with_.left == remaining_by::value ? s.value : s.value - run;
            stragglers_.push_back(
                {&task, std::max(0.0, left), s.baseline, others, memory_.kind(phase.job, phase.phase)});
        }
        if (stragglers_.empty() || free.total() == 0) return;
        places_.clear();
        straggle::cluster_load load;
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n) {
            places_.push_back({n, free.on(n), state(n), watch_.slowness(phase.phase, n)});
            load.slots += view.nodes[n].slots;
            load.copies += view.nodes[n].copies;
        }
        if (with_.blocked) // no suspect is helped by the machine of another
            for (straggler const& s : stragglers_)
                if (s.task->attempts == 1) places_[s.task->node].state = straggle::node_state::excluded;
        load.now = view.now;
        load.running = phase.tasks; // at the end of a phase its stragglers are all that runs
        load.suspects = stragglers_.size();
        load.waiting = view.waiting;
        auto const choose = [&](auto const& predict) -> straggle::assign::backup_plan const& {
            return assigner_.choose(stragglers_, straggler_fields, places_, policies::place_fields, predict,
                                    load);
        };
        auto const by_phase = [](straggler const& s, policies::place const& p) {
            return s.usual * p.slowness;
        };
        auto const by_memory = [this](straggler const& s, policies::place const& p) {
            return memory_.there(s.kind, s.task->input, p.node);
        };
        auto const& plan = with_.predicts ? choose(by_memory) : choose(by_phase);
        for (straggle::assign::backup_choice const& choice : plan.choices) {
            if (!choice.copy) continue;
            std::uint32_t const node = places_[choice.copy->node].node;
            free.take(node);
            out.push_back({phase.phase, stragglers_[choice.straggler].task->task, node});
            if (with_.blocked) block(stragglers_[choice.straggler].task->node, view);
        }
    }

    void block(std::uint32_t node, cluster::cluster_view const& view) {
        with_.blocked->observe(node, view.now, 60, view.nodes.size()); // a minute, as Flink has it
    }

    parts with_;
    memory memory_;
    policies::phase_watch watch_;
    straggle::detect::straggler_scan<Detector> scan_;
    straggle::assign::assigner<straggle::assign::expected_gain, straggle::assign::copies_per_task,
                               straggle::assign::suspect_share_limit>
        assigner_;
    cluster::draw random_;
    // Of the phase that is looked at; the detector knows where they are.
    std::unique_ptr<std::vector<double>> rows_ = std::make_unique<std::vector<double>>();
    std::map<std::uint32_t, double> not_before_;
    std::vector<straggler> stragglers_;
    std::vector<policies::place> places_;
};

} // namespace together
