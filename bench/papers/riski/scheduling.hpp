// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The schedulers that are compared: LATE as Hadoop has it, and those that predict and expect a profit. All
/// copy tasks of a job once none of it waits, before later jobs get their slots, as Hadoop's FIFO does.
#pragma once

#include "../cluster/draw.hpp"
#include "../cluster/policy.hpp"
#include "../policies/free_places.hpp"
#include "../policies/phase_watch.hpp"
#include "../policies/told_usual_time.hpp"
#include "history.hpp"

#include <straggle/assign/assigner.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/predict/progress.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace riski {

/// LATE in the form of the Hadoop that the paper ran. A copy goes to any machine that is not slow.
class late_scheduler final : public cluster::policy {
  public:
    explicit late_scheduler(std::uint64_t seed) : random_(seed, 88) {}

    void ended(cluster::attempt_record const& a, double) override { watch_.ended(a); }
    void phase_over(std::uint32_t phase) override { watch_.forget(phase); }
    bool copies_first() const override { return true; }
    void copies(cluster::cluster_view const& view, std::vector<cluster::copy_request>& out) override {
        policies::free_places all(view, [](std::uint32_t) { return true; });
        for (cluster::phase_view const& phase : view.phases) {
            if (phase.running.empty() || phase.waiting > 0) continue;
            straggle::detect::job_view const job = watch_.look(phase, view.now);
            slow_.clear();
            scan_.detector().slow_nodes(job, scratch_, slow_);
            for (std::uint32_t& n : slow_) n = watch_.node(phase.phase, n);
            for (auto const& s : scan_(job)) {
                auto task = phase.running[s.row];
                std::uint32_t const number = task.task;
                task.nodes.insert(task.nodes.end(), slow_.begin(), slow_.end());
                auto const node = all.any(task, random_);
                if (!node) continue;
                all.take(*node);
                out.push_back({phase.phase, number, *node});
            }
        }
    }

  private:
    policies::phase_watch watch_;
    straggle::detect::straggler_scan<straggle::detect::late_with_caps> scan_{
        straggle::detect::late_with_caps::mr1()};
    straggle::detect::detector_scratch scratch_;
    std::vector<std::uint32_t> slow_;
    cluster::draw random_;
};

/// What predicts the remaining time of a straggler: similar tasks, or its own progress. If one has no answer,
/// the other is used.
enum class remaining_by : std::uint8_t { similar_tasks, progress };

/// Predicts the times of a straggler and of its copy by what is remembered.
template <class History>
class estimates {
  public:
    estimates(std::vector<std::string> kinds, remaining_by how) : past(std::move(kinds)), how_(how) {}

    straggle::outcome<straggle::stats::empirical_view> left(execution const& what, double elapsed,
                                                            double progress) {
        straggle::outcome<straggle::stats::empirical_view> const alike =
            past.tasks.remaining(what, elapsed, own_);
        straggle::outcome<double> const own = straggle::predict::average_rate_remaining(elapsed, progress);
        bool const telling = own && progress >= 0.2;
        if (alike && (how_ == remaining_by::similar_tasks || !telling)) return alike;
        if (!own) return own.reason();
        by_progress_.assign(std::array{*own});
        return by_progress_.view();
    }
    /// @param beside attempts on the machine, the copy among them
    straggle::outcome<straggle::stats::empirical_view> copy(execution what, std::uint32_t node,
                                                            double beside) {
        what.beside = beside;
        return past.tasks.predict(what, node, copy_);
    }
    double usual(execution const& what) { return past.tasks.usual(what, own_); }

    History past;

  private:
    remaining_by how_;
    straggle::predict::prediction_scratch own_, copy_;
    straggle::stats::empirical by_progress_;
};

/// A task that could be copied, and a machine that could run the copy, as the assigner reads them.
template <class Estimates>
struct straggler {
    Estimates* by;
    execution what;
    std::vector<std::uint32_t> const* nodes;
    double elapsed, progress, next_slowest;
    std::uint32_t attempts;
};
struct place {
    std::uint32_t node, free, used;
};
inline constexpr straggle::assign::straggler_fields straggler_fields{
    .runs_on = [](auto const& s) -> auto const& { return *s.nodes; },
    .remaining = [](auto const& s) { return s.by->left(s.what, s.elapsed, s.progress); },
    .attempts = [](auto const& s) { return s.attempts; },
    .next_slowest = [](auto const& s) { return s.next_slowest; }};
inline constexpr straggle::assign::backup_node_fields place_fields{.node = &place::node,
                                                                   .free = &place::free};

/// Names stragglers, predicts how long they and their copies would take, and copies what pays.
template <class Detector, class Assigner, class Estimates = estimates<history>>
class risk_aware final : public cluster::policy {
  public:
    /// @param usually what a copy is worth @param when_tasks_wait the same, while a task has no slot
    risk_aware(Estimates known, Detector rule, Assigner usually, Assigner when_tasks_wait)
        : estimates_(std::move(known)),
          scan_(std::move(rule)),
          assigner_(std::move(usually)),
          assigner_when_tasks_wait_(std::move(when_tasks_wait)) {
        if constexpr (asks_for_usual_times) scan_.detector().usual_time_of.by_row = &usual_of_row_;
    }

    void ended(cluster::attempt_record const& a, double) override {
        watch_.ended(a);
        estimates_.past.ended(a);
    }
    void phase_over(std::uint32_t phase) override { watch_.forget(phase); }
    bool copies_first() const override { return true; }
    void copies(cluster::cluster_view const& view, std::vector<cluster::copy_request>& out) override {
        estimates_.past.note(view);
        places_.clear();
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n)
            places_.push_back({n, view.nodes[n].free(), view.nodes[n].used});
        for (cluster::phase_view const& phase : view.phases) {
            if (phase.running.empty() || phase.waiting > 0) continue;
            name_stragglers(phase, view.now);
            if (stragglers_.empty()) continue;
            straggle::cluster_load load;
            load.now = view.now;
            load.running = phase.running.size();
            load.suspects = stragglers_.size();
            load.waiting = view.waiting;
            for (straggle::assign::backup_choice const& choice : decide(load).choices) {
                if (!choice.copy) continue;
                place& p = places_[choice.copy->node];
                --p.free;
                ++p.used;
                out.push_back({phase.phase, tasks_[choice.straggler], p.node, choice.copy->kill});
            }
        }
    }

  private:
    static constexpr bool asks_for_usual_times = requires(Detector& d) { d.usual_time_of.by_row; };

    void tell_usual_times(cluster::phase_view const& phase, double now)
        requires asks_for_usual_times
    {
        usual_of_row_.clear();
        for (auto const& task : phase.running)
            usual_of_row_.push_back(
                estimates_.usual(estimates_.past.describe(phase.job, phase.phase, task, now)));
    }

    void name_stragglers(cluster::phase_view const& phase, double now) {
        if constexpr (asks_for_usual_times) tell_usual_times(phase, now);
        auto const suspects = scan_(watch_.look(phase, now));
        double const others = watch_.rest_of_the_others(phase, suspects, now);
        stragglers_.clear();
        tasks_.clear();
        for (auto const& s : suspects) {
            auto const& task = phase.running[s.row];
            stragglers_.push_back({&estimates_, estimates_.past.describe(phase.job, phase.phase, task, now),
                                   &task.nodes, now - task.start, task.progress, others, task.attempts});
            tasks_.push_back(task.task);
        }
    }

    straggle::assign::backup_plan const& decide(straggle::cluster_load const& load) {
        Assigner& decides = load.waiting > 0 ? assigner_when_tasks_wait_ : assigner_;
        return decides.choose(
            stragglers_, straggler_fields, places_, place_fields,
            [this](straggler<Estimates> const& s, place const& p) {
                return estimates_.copy(s.what, p.node, p.used + 1.0);
            },
            load);
    }

    Estimates estimates_;
    policies::phase_watch watch_;
    straggle::detect::straggler_scan<Detector> scan_;
    Assigner assigner_, assigner_when_tasks_wait_;
    std::vector<double> usual_of_row_;
    std::vector<straggler<Estimates>> stragglers_;
    std::vector<std::uint32_t> tasks_;
    std::vector<place> places_;
};

} // namespace riski
