// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `detect/node_aware.hpp`: the reports of a job's running tasks, how reliable they are, and
/// how crowded their nodes will be.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/detect/detector.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

inline constexpr double sqrt_12 = 3.4641016151377545871; // 1 / deviation of a uniform number in [0, 1]
inline constexpr double no_log = -(std::numeric_limits<double>::max)(); // stands for an unknown logarithm

// A number with its uncertainty.
struct log_estimate {
    double log = 0, precision = 0; // 1 / variance
    void add(double other, double weight) noexcept {
        precision += weight;
        log += (other - log) * (weight / precision);
    }
};

// Sums over running tasks: of p u, w, w^2, u^2 and the deviations of w, in the notation of `node_aware`.
struct progress_sums {
    double done = 0, time = 0, time2 = 0, usual2 = 0, stale = 0;
};

// Reliability of reports: parameters of `node_aware`.
struct report_trust {
    double resolution, drift;
    double start_up = 0; // before an attempt starts to work

    // The time in which the attempt made its progress: excludes the part of its start-up that the remaining
    // work must still be charged with, so that time / progress is the time of the whole attempt.
    [[nodiscard]] double at_work(detect::running_task const& t) const noexcept {
        return t.elapsed - (1 - t.progress) * start_up;
    }
    // The time in which the last reported progress was made, averaged over the age of the report.
    [[nodiscard]] double worked(detect::running_task const& t, double age) const noexcept {
        double const time = (std::max)(at_work(t), 0.0);
        return time < age ? time * (time / age) / 2 : time - age / 2;
    }
    // Lower bound for the work done; the resolution permits no better.
    [[nodiscard]] double done_at_least(progress_sums const& s) const noexcept {
        return (std::max)(s.done, resolution * std::sqrt(s.usual2));
    }
    // Variance of the logarithm of time / done. Reports of one node are equally old: their errors add up.
    [[nodiscard]] double variance_of(progress_sums const& s, double variance) const noexcept {
        double const done = done_at_least(s);
        return resolution * resolution * s.usual2 / (done * done) +
               (variance * s.time2 + s.stale * s.stale) / (s.time * s.time);
    }
    // Variance of the estimate from a task's own progress.
    [[nodiscard]] double doubt(detect::running_task const& t, double age) const noexcept {
        double const p = (std::max)(t.progress, resolution), reading = resolution / p;
        double const rest = drift * (1 - p), stale = age / sqrt_12 / worked(t, age);
        return reading * reading + rest * rest + stale * stale;
    }
};
// The data of a job, stored in the detector's scratch memory.
struct node_facts {
    detect::job_view const& job;
    report_trust trust;
    double report_interval; // 0: a twentieth of the usual time
    std::span<double> usual{}, own{},
        others{}; // by task: time or factor, 0 if the numbers are invalid; logarithms
    std::span<double> done{}, time{}, time2{}, usual2{}, stale{}; // by node: `progress_sums`
    std::span<double> left{};                                     // by node: remaining work
    std::span<double> log{}, precision{}, order{};                // by node: `log_estimate`; scratch
    double rough = 1;                                             // rough factor to convert `usual` to time
    double log_scale = 0;                                         // and the precise one, as a logarithm
    double scale_variance = 0;                                    // of log_scale
    double variance = 0;       // of the logarithm of a task's time on a known node
    double log_usual_time = 0; // of a finished task
    double last_refill = 0;    // until then, a waiting task takes each place that becomes free
    bool predicted = false, reported = false;

    node_facts(detect::job_view const& view, detect::detector_scratch& scratch, report_trust const& t,
               double interval)
        : job(view), trust(t), report_interval(interval) {
        std::size_t const tasks = job.running.size();
        std::size_t nodes = job.nodes.size(); // a manually built view may not list them
        for (detect::running_task const& r : job.running) nodes = (std::max)(nodes, r.node + std::size_t{1});
        lay_out(scratch.values, tasks, {&usual, &own, &others});
        lay_out(scratch.node_values, nodes,
                {&done, &time, &time2, &usual2, &stale, &left, &log, &precision, &order});
    }
    node_facts(node_facts const&) = delete;
    node_facts& operator=(node_facts const&) = delete;

    [[nodiscard]] bool finished_on(std::size_t node) const noexcept {
        return node < job.nodes.size() && job.nodes[node].compared > 0 && predicted == job.usual_told &&
               is_finite(job.nodes[node].log_mean);
    }
    [[nodiscard]] double finished_log(std::size_t node) const noexcept {
        return job.nodes[node].log_mean - log_usual_time;
    }
    [[nodiscard]] double tasks_finished_on(std::size_t node) const noexcept {
        return static_cast<double>(job.nodes[node].compared);
    }

    // Possible age of a task's report.
    [[nodiscard]] double age_of_report(std::size_t i) const noexcept {
        return report_interval > 0 ? report_interval : 0.05 * rough * usual[i];
    }
    // How much longer tasks take on the node, as far as known without the running ones; else 0.
    [[nodiscard]] double known_slowdown(std::size_t node) const noexcept {
        if (node >= job.nodes.size()) return 0;
        if (job.nodes[node].modelled) return job.nodes[node].slowdown;
        return finished_on(node) ? std::exp(finished_log(node)) : 0.0;
    }
    // Start-up: the median over the nodes (at least half of which are hardly slower than before) of how late
    // young tasks are, relative to their progress and to what is known about their node. Shrunk toward 0 by
    // its uncertainty. Call before `add_up`, as it uses the same memory.
    // @param spread, model_doubt of `node_aware`
    void learn_start_up(double spread, double model_doubt) {
        constexpr double young = 0.3;   // of the usual time
        constexpr double likely = 0.03; // of the usual time: plausible length of a start-up
        double total = 0, tasks = 0;
        for (std::size_t i = 0; i < usual.size(); ++i) {
            detect::running_task const& t = job.running[i];
            if (!(usual[i] > 0)) continue;
            total += usual[i];
            tasks += 1;
            if (!(t.elapsed <= young * usual[i]) || !(t.progress > 0)) continue;
            double const expected = t.progress * usual[i] * known_slowdown(t.node);
            if (!(expected > 0) || !is_finite(expected)) continue;
            time[t.node] += trust.worked(t, age_of_report(i)) - expected;
            done[t.node] += 1 - t.progress;
            usual2[t.node] += expected;
            time2[t.node] += 1;
        }
        double const typical = total / tasks, reading = trust.resolution * typical;
        double variances = 0, nodes = 0;
        for (std::size_t k = 0; k < done.size(); ++k) {
            if (done[k] > 0) {
                double const n = time2[k], expected = usual2[k] / n;
                double const doubt = job.nodes[k].modelled
                                         ? model_doubt * model_doubt
                                         : spread * spread / tasks_finished_on(k) + trust.drift * trust.drift;
                variances += expected * expected * (doubt + spread * spread / n) + reading * reading / n;
                order[static_cast<std::size_t>(nodes)] = time[k] / done[k];
                nodes += 1;
            }
            done[k] = time[k] = time2[k] = usual2[k] = 0;
        }
        if (!(nodes > 0)) return;
        auto const known = order.first(static_cast<std::size_t>(nodes));
        auto const middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
        std::nth_element(known.begin(), middle, known.end());
        constexpr double of_median = 1.5707963267948966; // variance of a median, relative to that of a mean
        double const vague = of_median * variances / (nodes * nodes);
        double const before = likely * typical * likely * typical;
        double const late = *middle * (before / (before + vague));
        if (late > 0 && is_finite(late)) trust.start_up = late;
    }

    // Remaining time of the task at its present pace.
    [[nodiscard]] double time_left(std::size_t i) const noexcept {
        detect::running_task const& t = job.running[i];
        double const p = (std::max)(t.progress, trust.resolution);
        return (1 - p) * (std::max)(trust.worked(t, age_of_report(i)) / p, rough * usual[i]);
    }

    [[nodiscard]] progress_sums of(std::size_t node) const noexcept {
        return {done[node], time[node], time2[node], usual2[node], stale[node]};
    }
    [[nodiscard]] progress_sums part_of(std::size_t i) const noexcept {
        detect::running_task const& t = job.running[i];
        double const u = usual[i], age = age_of_report(i), w = trust.worked(t, age);
        return {t.progress * u, w, w * w, u * u, (std::min)(age, t.elapsed) / sqrt_12};
    }
    // The other tasks on the node of a task; no time if there are none.
    [[nodiscard]] progress_sums siblings(std::size_t i) const noexcept {
        progress_sums const all = of(job.running[i].node), mine = part_of(i);
        progress_sums const rest{(std::max)(all.done - mine.done, 0.0), all.time - mine.time,
                                 all.time2 - mine.time2, all.usual2 - mine.usual2,
                                 (std::max)(all.stale - mine.stale, 0.0)};
        bool const any = rest.usual2 > 1e-9 * all.usual2 && rest.time > 1e-9 * all.time && rest.time2 > 0;
        return any ? rest : progress_sums{}; // more than rounding error
    }
    void add_up() {
        find_last_refill();
        for (std::size_t i = 0; i < usual.size(); ++i) {
            if (!(usual[i] > 0)) continue;
            std::uint32_t const k = job.running[i].node;
            progress_sums const s = part_of(i);
            done[k] += s.done;
            time[k] += s.time;
            time2[k] += s.time2;
            usual2[k] += s.usual2;
            stale[k] += s.stale;
            // Its own work, or that of the task that will take its place.
            left[k] += usual[i] * (time_left(i) > last_refill ? 1 - job.running[i].progress : 1.0);
        }
    }

    // How much emptier its node will be for the rest of a task than at its fullest: the logarithm of the
    // factor. Once no task waits for the places of the others, this task shares a resource with them only for
    // as long as they still run.
    [[nodiscard]] double emptying(std::size_t i) const noexcept {
        std::uint32_t const k = job.running[i].node;
        if (k >= job.nodes.size()) return 0;
        double const rest = (1 - job.running[i].progress) * usual[i];
        double const full = rest * job.nodes[k].most_running, ahead = (std::max)(left[k], rest);
        if (!(rest > 0) || !(ahead < full)) return 0;
        double const needs = time_left(i), crowded = last_refill < needs ? last_refill / needs : 1.0;
        return -std::log(crowded + (1 - crowded) * ahead / full);
    }

  private:
    static void lay_out(std::vector<double>& memory, std::size_t size,
                        std::initializer_list<std::span<double>*> parts) {
        memory.assign(parts.size() * size, 0.0);
        std::size_t at = 0;
        for (std::span<double>* const part : parts) *part = std::span(memory).subspan(size * at++, size);
    }

    // Finds the time until as many tasks have ended as are waiting now.
    void find_last_refill() noexcept {
        std::size_t const started = job.running.size() + job.finished.size();
        if (job.tasks <= started) return;
        last_refill = (std::numeric_limits<double>::max)();
        std::uint64_t const waiting = job.tasks - started;
        if (waiting > usual.size()) return;
        std::size_t known = 0;
        for (std::size_t i = 0; i < usual.size(); ++i)
            if (usual[i] > 0) others[known++] = time_left(i); // `others` is filled later
        if (waiting > known) return;
        auto const last = others.begin() + static_cast<std::ptrdiff_t>(waiting - 1);
        std::nth_element(others.begin(), last, others.begin() + static_cast<std::ptrdiff_t>(known));
        last_refill = *last;
    }
};
} // namespace straggle::detail
