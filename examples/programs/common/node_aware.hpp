// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A detector that considers what the others omit: how slow the node is, how long such tasks usually take,
/// and how much this task's progress can reveal so far.
#pragma once

#include <straggle/base/contract.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/remaining_time.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace program {

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
    [[nodiscard]] double at_work(straggle::detect::running_task const& t) const noexcept {
        return t.elapsed - (1 - t.progress) * start_up;
    }
    // The time in which the last reported progress was made, averaged over the age of the report.
    [[nodiscard]] double worked(straggle::detect::running_task const& t, double age) const noexcept {
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
    [[nodiscard]] double doubt(straggle::detect::running_task const& t, double age) const noexcept {
        double const p = (std::max)(t.progress, resolution), reading = resolution / p;
        double const rest = drift * (1 - p), stale = age / sqrt_12 / worked(t, age);
        return reading * reading + rest * rest + stale * stale;
    }
};
// The data of a job, stored in the detector's scratch memory.
struct node_facts {
    straggle::detect::job_view const& job;
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

    node_facts(straggle::detect::job_view const& view, straggle::detect::detector_scratch& scratch,
               report_trust const& t, double interval)
        : job(view), trust(t), report_interval(interval) {
        std::size_t const tasks = job.running.size();
        std::size_t nodes = job.nodes.size(); // a manually built view may not list them
        for (straggle::detect::running_task const& r : job.running)
            nodes = (std::max)(nodes, r.node + std::size_t{1});
        lay_out(scratch.values, tasks, {&usual, &own, &others});
        lay_out(scratch.node_values, nodes,
                {&done, &time, &time2, &usual2, &stale, &left, &log, &precision, &order});
    }
    node_facts(node_facts const&) = delete;
    node_facts& operator=(node_facts const&) = delete;

    [[nodiscard]] bool finished_on(std::size_t node) const noexcept {
        return node < job.nodes.size() && job.nodes[node].compared > 0 && predicted == job.usual_told &&
               std::isfinite(job.nodes[node].log_mean);
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
            straggle::detect::running_task const& t = job.running[i];
            if (!(usual[i] > 0)) continue;
            total += usual[i];
            tasks += 1;
            if (!(t.elapsed <= young * usual[i]) || !(t.progress > 0)) continue;
            double const expected = t.progress * usual[i] * known_slowdown(t.node);
            if (!(expected > 0) || !std::isfinite(expected)) continue;
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
        if (late > 0 && std::isfinite(late)) trust.start_up = late;
    }

    // Remaining time of the task at its present pace.
    [[nodiscard]] double time_left(std::size_t i) const noexcept {
        straggle::detect::running_task const& t = job.running[i];
        double const p = (std::max)(t.progress, trust.resolution);
        return (1 - p) * (std::max)(trust.worked(t, age_of_report(i)) / p, rough * usual[i]);
    }

    [[nodiscard]] progress_sums of(std::size_t node) const noexcept {
        return {done[node], time[node], time2[node], usual2[node], stale[node]};
    }
    [[nodiscard]] progress_sums part_of(std::size_t i) const noexcept {
        straggle::detect::running_task const& t = job.running[i];
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

/// Predicts nothing: the default predictor of `node_aware`.
struct no_prediction {
    /// Always `straggle::status::insufficient_evidence`.
    /// @par Cost
    /// O(1)
    constexpr straggle::outcome<double> operator()(straggle::detect::running_task const&,
                                                   straggle::detect::job_view const&) const noexcept {
        return straggle::status::insufficient_evidence;
    }
};

/// Suspects tasks that will, with the required confidence, take longer than `straggler_threshold` times their
/// usual time, as long as a copy could still win; the longest remaining time first.
///
/// **Estimate.** On a logarithmic scale, as tasks are slower by factors, not by seconds. There are three
/// estimates of y = log(T / u) of a task, where u is its usual time on a good node, weighted by their
/// precision:
/// - its own progress p at time t: y = log(w(t) / (p u)), variance (resolution / p)^2 + (h / sqrt(12) /
///   w(t))^2 + (drift (1 - p))^2. A report is up to h = `report_interval` old, and an attempt works only
///   after its `start_up`, so that the progress was made in less than t: on average in w(t) = t' - h / 2
///   (t'^2 / 2h while t' < h), where t' = t - (1 - p) `start_up`. Taking t itself makes every young task look
///   slow;
/// - its node, through the other tasks of the job there: log(sum w(t) / sum(p u)) of the running ones, and
///   the mean logarithm of the finished ones. The ratio is one of sums: a mean of logarithms would believe
///   those most that look fast by mistake;
/// - the node's model, log(`slowdown`) with deviation `model_doubt`, if the caller has set it. Without a
/// model, a node is assumed to be good with probability 0.8 (deviation 0.08), else slow (0.6 +- 0.5, a factor
/// of 1.1 to 3), and the evidence on the node shifts these odds.
///
/// Tasks differ from what their node suggests by `spread` (a prior worth ten tasks, updated by how the
/// running siblings differ). With the weighted mean m and deviation s, the task is suspected if m -
/// `sureness` s > log(max(`straggler_threshold`, 1 + t / u)): with less than u remaining a copy would come
/// too late, which the evaluation framework calls a *fake positive* (`in_time` = false names those, too).
///
/// Two exceptions: for a task much later than its node explains (three deviations), only its own progress
/// counts: something has happened to it. A task that reports no progress and has outlived the expectation by
/// two deviations is assumed to take as long again.
///
/// **Nodes that empty.** A slow node is mostly slow because its tasks share a scarce resource. Once no task
/// waits anymore (`job_view::tasks`), tasks that end leave their share to the rest, which then takes less
/// time than predicted so far: by the factor by which the node will be emptier than at its fullest, to the
/// power of `sharing`, for the task's remaining work. How long freed places are still taken follows from the
/// number of waiting tasks and the remaining times of the running ones.
///
/// **Usual time.** u comes from the predictor (`usual_time_of`); if it returns a status, it is `usual_time`
/// times the input of the task; if that is 0, the input times a factor found from the faster nodes of the
/// job: starting from the `fast_share` quantile of the nodes' times, it moves to the middle of the nodes
/// close to it. The mean or median of all tasks, as in other rules, does not help when most nodes are slow.
///
/// **Start-up.** If it is not set, but the usual time is known, and how slow nodes are (by their model, or by
/// their finished tasks): the median over the nodes of how late their young tasks are. Lateness common to all
/// nodes is not a slowdown of any. If nothing is known about the nodes, a late start and a slow node look the
/// same in a single snapshot of a job: then set it.
///
/// Source: ours. Verdict: value = estimated time of the task, threshold = `straggler_threshold` x usual,
/// usual = its usual time.
///
/// **Limitations.** It cannot see future events, or whether all nodes are slow unless the usual time is
/// known. It mistakes size for slowdown unless inputs or a predictor show that a task has much to do. It does
/// not see tasks of other jobs on a node.
///
/// @tparam UsualTime a `time_estimate`: usual time of a task on a good node, from earlier runs or similar
/// tasks; a status if unknown. Pass the same times to `job_progress::finished`.
/// @par Example
/// `node_aware<>{}`, `node_aware<>{.usual_time = 60}`,
/// `node_aware{.usual_time_of = [&](straggle::detect::running_task const& t, straggle::detect::job_view
/// const&) { return usual[t.row]; }}`
/// @pre `straggler_threshold > 1`, `spread > 0`, `resolution > 0`, `model_doubt > 0`, `fast_share` and
/// `sharing` in [0, 1], the others not negative
/// @par Cost
/// O(tasks + nodes), plus sorting the suspects; up to eight logarithms or exponentials per task, about 0.1 us
/// in total; 24 bytes per task and 72 per node of scratch; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
template <straggle::detect::time_estimate UsualTime = no_prediction>
struct node_aware {
    static constexpr std::string_view name = "node_aware";

    double straggler_threshold = 1.2; ///< a straggler takes longer than this times its usual time
    /// The estimate must exceed the threshold by this many deviations: 0.3 means 62 % confidence. 0 finds
    /// more, 1 is more often right; F1 is flat between 0 and 0.5 in the experiments' scenarios, since a task
    /// is examined many times.
    double sureness = 0.3;
    /// Usual time of a task of input 1 on a good node, in the unit of the view; 0: found from the job.
    double usual_time = 0;
    /// Prior deviation of the logarithm of the times of equal tasks on equal nodes. Twice that of the
    /// experiments' platform: 0.66 % of its tasks take 1.2 times the median, which makes 0.074.
    double spread = 0.15;
    /// How much, as a factor, speed changes over time: for the rest of a task relative to its beginning, and
    /// for a node relative to what its tasks have shown. Increase it if contention fluctuates.
    double drift = 0.1;
    /// Error of reported progress: whole percents, and data read but not yet processed.
    double resolution = 0.02;
    /// The time between two reports of a task, which is how old a report may be: the cluster's heartbeat. 0:
    /// unknown, assumed to be a twentieth of the usual time, Hadoop's 3 seconds for tasks of a minute.
    double report_interval = 0;
    /// Share of nodes assumed to be good without better information. In the hardest of the experiments'
    /// scenarios it is 25 %.
    double fast_share = 0.2;
    /// How much a node speeds up when it empties: 1 if all its tasks share one resource, 0 if emptying does
    /// not help.
    double sharing = 0.75;
    double model_doubt = 0.15; ///< deviation of the logarithm of a node's `slowdown`, from job to job
    /// The time before an attempt starts to work, which its progress does not show: starting a process or a
    /// container, fetching the first input. Unset: learned if usual times and nodes are known, otherwise 0,
    /// since the usual time then includes it.
    std::optional<double> start_up{};
    /// Only tasks that a copy could still overtake. If false, every straggler is named, for analysis rather
    /// than for copies: with history, in the experiments' scenarios, recall is then 0.99 to 1 instead of 0.94
    /// to 0.98, and precision 0.89 to 0.97 instead of 0.96 to 1.
    bool in_time = true;
    [[no_unique_address]] UsualTime usual_time_of{}; ///< predicts the usual time of a task

    straggle::detect::detection_note detect(straggle::detect::job_view const& job,
                                            straggle::detect::detector_scratch& scratch,
                                            std::vector<straggle::detect::finding>& out) const {
        STRAGGLE_EXPECTS(straggler_threshold > 1 && spread > 0 && resolution > 0 && model_doubt > 0);
        STRAGGLE_EXPECTS(sureness >= 0 && usual_time >= 0 && drift >= 0 && report_interval >= 0);
        STRAGGLE_EXPECTS(!start_up || (*start_up >= 0 && std::isfinite(*start_up)));
        STRAGGLE_EXPECTS(fast_share >= 0 && fast_share <= 1 && sharing >= 0 && sharing <= 1);
        if (job.running.empty()) return straggle::detect::detection_note::too_few_running;
        facts f(job, scratch, {.resolution = resolution, .drift = drift}, report_interval);
        bool const known = read_usual_times(f);
        if (!known && !guess_usual_time(f)) return straggle::detect::detection_note::too_early;
        if (start_up)
            f.trust.start_up = *start_up;
        else if (known)
            f.learn_start_up(spread, model_doubt);
        f.add_up();
        compare_siblings(f);
        if (!known && !find_usual_time(f)) return straggle::detect::detection_note::too_early;
        std::size_t const first = out.size();
        judge(f, out);
        auto const key = [&job](straggle::detect::finding const& s) {
            return job.running[s.task].elapsed - s.value;
        };
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                  [&key](straggle::detect::finding const& a, straggle::detect::finding const& b) {
                      return std::pair(key(a), a.task) < std::pair(key(b), b.task);
                  });
        return straggle::detect::detection_note::none;
    }

  private:
    using facts = node_facts;
    using estimate = log_estimate;
    using sums = progress_sums;

    static constexpr double good_nodes = 0.8, good_sd = 0.08; // assumptions about a node without a model
    static constexpr double slow_log = 0.6, slow_sd = 0.5;
    static constexpr double prior_tasks = 10; // weight of the prior `spread` in tasks

    // Whether they are times; otherwise they are factors, and a scale must be found.
    [[nodiscard]] bool read_usual_times(facts& f) const {
        double logs = 0, n = 0;
        for (std::size_t i = 0; i < f.usual.size(); ++i) {
            straggle::detect::running_task const& t = f.job.running[i];
            if (!(t.progress >= 0 && t.progress <= 1) || !(t.elapsed >= 0) || !std::isfinite(t.elapsed))
                continue;
            f.usual[i] = -1;
            f.reported = f.reported || t.progress > 0;
            straggle::outcome<double> const u = usual_time_of(t, f.job);
            if (!u || !(*u > 0) || !std::isfinite(*u)) continue;
            f.usual[i] = *u;
            logs += std::log(*u);
            n += 1;
        }
        f.predicted = n > 0;
        // If a predictor knows only some of the tasks, scale the others by these.
        bool const like_others = f.predicted && !(usual_time > 0);
        double const usual = like_others ? std::exp(logs / n) : usual_time > 0 ? usual_time : 1.0;
        if (!f.predicted && usual_time > 0) f.log_usual_time = std::log(usual_time);
        for (std::size_t i = 0; i < f.usual.size(); ++i) {
            if (!(f.usual[i] < 0)) continue;
            double const input = f.job.running[i].input;
            f.usual[i] = usual * (!like_others && input > 0 && std::isfinite(input) ? input : 1.0);
        }
        return f.predicted || usual_time > 0;
    }

    // A rough value, to tell a young task from one that has had time to report.
    [[nodiscard]] bool guess_usual_time(facts& f) const {
        for (std::size_t i = 0; i < f.usual.size(); ++i) {
            straggle::detect::running_task const& t = f.job.running[i];
            if (!(f.usual[i] > 0)) continue;
            f.done[t.node] += t.progress * f.usual[i];
            f.time[t.node] += t.elapsed;
        }
        std::size_t known = 0;
        for (std::size_t k = 0; k < f.done.size(); ++k) {
            if (f.finished_on(k)) {
                double const n = f.tasks_finished_on(k);
                f.done[k] += n;
                f.time[k] += n * std::exp(f.finished_log(k));
            }
            double const time = f.time[k] / f.done[k];
            if (f.done[k] > 0 && time > 0 && std::isfinite(time)) f.order[known++] = time;
            f.done[k] = f.time[k] = 0;
        }
        if (known == 0) return false;
        f.rough = fast_one(f.order.first(known));
        return true;
    }
    [[nodiscard]] double fast_one(std::span<double> values) const {
        double const place = fast_share * static_cast<double>(values.size());
        auto const at = values.begin() + static_cast<std::ptrdiff_t>(
                                             (std::min)(static_cast<std::size_t>(place), values.size() - 1));
        std::nth_element(values.begin(), at, values.end());
        return *at;
    }

    // Estimates from each task and its siblings, and how much they differ.
    void compare_siblings(facts& f) const {
        double const assumed = spread * spread;
        double squares = prior_tasks * assumed, freedom = prior_tasks;
        for (std::size_t i = 0; i < f.usual.size(); ++i) {
            straggle::detect::running_task const& t = f.job.running[i];
            f.own[i] = f.others[i] = no_log;
            if (!(f.usual[i] > 0) || !f.reported) continue;
            double const age = f.age_of_report(i);
            if (f.trust.at_work(t) > age)
                f.own[i] =
                    std::log(f.trust.worked(t, age) / ((std::max)(t.progress, resolution) * f.usual[i]));
            sums const rest = f.siblings(i);
            if (!(rest.time > 0)) continue;
            f.others[i] = std::log(rest.time / f.trust.done_at_least(rest));
            if (!(f.own[i] > no_log)) continue;
            // A task informs about the spread as far as its reading is not blurred; a hung one does not.
            double const blur = f.trust.doubt(t, age) + f.trust.variance_of(rest, assumed);
            double const apart = f.own[i] - f.others[i], share = assumed / (assumed + blur);
            double const bound = 9 * (assumed + blur);
            squares += share * share * ((std::min)(apart * apart, bound) - blur);
            freedom += share * share;
        }
        f.variance = (std::max)(squares / freedom, assumed / 25);
    }

    // The usual time on the faster nodes: starts at a fast node and moves to the middle of those within
    // reach.
    [[nodiscard]] bool find_usual_time(facts& f) const {
        constexpr double least = 4; // minimum precision of a usable node: a deviation of 0.5
        std::size_t known = 0;
        for (std::size_t k = 0; k < f.log.size(); ++k) {
            estimate e;
            sums const s = f.of(k);
            if (f.reported && s.time > 0 && s.usual2 > 0)
                e.add(std::log(s.time / f.trust.done_at_least(s)), 1 / f.trust.variance_of(s, f.variance));
            if (f.finished_on(k)) e.add(f.finished_log(k), f.tasks_finished_on(k) / f.variance);
            f.log[k] = e.log;
            f.precision[k] = std::isfinite(e.log) ? e.precision : 0;
            if (f.precision[k] > least) f.order[known++] = e.log;
        }
        if (known == 0) return false;
        double scale = fast_one(f.order.first(known));
        for (int round = 0; round < 8; ++round) {
            double weights = 0, sum = 0;
            for (std::size_t k = 0; k < f.log.size(); ++k) {
                if (!(f.precision[k] > least)) continue;
                double const reach = 0.75 * std::log(straggler_threshold) + 2 / std::sqrt(f.precision[k]);
                if (!(std::fabs(f.log[k] - scale) <= reach)) continue;
                double const weight = 1 / (1 / f.precision[k] + good_sd * good_sd);
                weights += weight;
                sum += weight * f.log[k];
            }
            if (!(weights > 0)) break;
            double const before = scale;
            scale = sum / weights;
            f.scale_variance = 1 / weights;
            if (std::fabs(scale - before) < 0.001) break;
        }
        f.log_scale = scale;
        return true;
    }

    // Expected time of a task on its node. What all tasks of a node share may change.
    [[nodiscard]] estimate expected(facts const& f, std::size_t i) const {
        std::uint32_t const k = f.job.running[i].node;
        double const change = drift * drift;
        estimate e;
        if (f.others[i] > no_log)
            e.add(f.others[i] - f.log_scale, 1 / (f.trust.variance_of(f.siblings(i), f.variance) + change));
        if (f.finished_on(k))
            e.add(f.finished_log(k) - f.log_scale, 1 / (f.variance / f.tasks_finished_on(k) + change));
        if (k < f.job.nodes.size() && f.job.nodes[k].modelled) {
            double const told = std::log(f.job.nodes[k].slowdown);
            if (std::isfinite(told)) {
                e.add(told, 1 / (model_doubt * model_doubt));
                return {e.log, 1 / (f.variance + 1 / e.precision)};
            }
        }
        // Good or slow? The odds come from the likelihood under each; then both are merged into one
        // distribution.
        constexpr double good_precision = 1 / (good_sd * good_sd), slow_precision = 1 / (slow_sd * slow_sd);
        double const from_good = 1 / (e.precision + good_precision);
        double const from_slow = 1 / (e.precision + slow_precision);
        double const if_good = from_good * e.precision * e.log;
        double const if_slow = from_slow * (e.precision * e.log + slow_precision * slow_log);
        double const gain = if_slow * if_slow / from_slow - if_good * if_good / from_good -
                            slow_log * slow_log * slow_precision;
        double const odds = std::exp(-gain / 2) * good_nodes / (1 - good_nodes) *
                            std::sqrt(from_good * good_precision / (from_slow * slow_precision));
        double const slow = 1 / (1 + odds), good = 1 - slow, apart = if_slow - if_good;
        return {slow * if_slow + good * if_good,
                1 / (f.variance + slow * from_slow + good * from_good + slow * good * apart * apart)};
    }

    void judge(facts const& f, std::vector<straggle::detect::finding>& out) const {
        double const scale = std::exp(f.log_scale), log_threshold = std::log(straggler_threshold);
        for (std::uint32_t i = 0; i < f.usual.size(); ++i) {
            straggle::detect::running_task const& t = f.job.running[i];
            double const usual = f.usual[i] * scale;
            if (!(usual > 0)) continue;
            estimate const e = expected(f, i);
            double log = e.log, variance = 1 / e.precision;
            if (f.own[i] > no_log) {
                double const own = f.own[i] - f.log_scale, blur = f.trust.doubt(t, f.age_of_report(i));
                if (own - log > 3 * std::sqrt(variance + blur)) {
                    log = own;
                    variance = blur;
                } else {
                    log = (own * variance + log * blur) / (blur + variance);
                    variance *= blur / (blur + variance);
                }
            } else if (t.elapsed > usual && std::log(t.elapsed / usual) > log + 2 * std::sqrt(variance)) {
                log = std::log(2 * t.elapsed / usual);
                variance = 0;
            }
            auto const is_late = [&] {
                double const sure = log - sureness * std::sqrt(variance + f.scale_variance);
                return sure > log_threshold && (!in_time || sure > std::log(1 + t.elapsed / usual));
            };
            // An emptier node only makes it less likely, so most tasks need no further check.
            if (!is_late()) continue;
            double const emptier = (1 - t.progress) * f.emptying(i);
            double const vague = (std::min)(sharing, 1 - sharing) * 2 / sqrt_12 * emptier;
            log -= sharing * emptier;
            variance += vague * vague;
            if (!is_late()) continue;
            double const time = usual * std::exp(log);
            if (std::isfinite(time)) out.push_back({i, time, straggler_threshold * usual, usual});
        }
    }
};

} // namespace program
