// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How good would a straggler detector have been on what has already happened? Plays a recorded history
/// again, shows every job to any number of detectors as a scheduler would have seen it then, and measures
/// what they said.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/evaluate/detail/replay_stage.hpp>
#include <straggle/evaluate/detection_metrics.hpp>
#include <straggle/evaluate/recording.hpp>
#include <straggle/evaluate/usual_time.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::evaluate {

/// Something that names suspects when shown a job: a `straggler_scan`, or a callable like it.
template <class Scan>
concept job_scan = requires(Scan& scan, detect::job_view const& job) {
    { scan(job) } -> std::ranges::input_range;
    requires requires(std::ranges::range_reference_t<decltype(scan(job))> found) {
        { found.row } -> std::convertible_to<std::uint32_t>;
    };
};

/// One `job_scan`, or a range of them.
template <class Scans>
concept job_scans =
    job_scan<Scans> || (std::ranges::forward_range<Scans> &&
                        job_scan<std::remove_reference_t<std::ranges::range_reference_t<Scans>>>);

/// A job that begins while a history is replayed: the moment to say what is known of the nodes by then.
template <base::identifier JobId, base::identifier NodeId, detail::replayable_time Time>
class starting_job {
  public:
    /// How the job is called.
    [[nodiscard]] JobId const& job() const noexcept { return *job_; }
    /// When its first attempt begins: now.
    [[nodiscard]] Time const& now() const noexcept { return *now_; }
    /// Says how much longer tasks take on a node than elsewhere, as `job_progress::set_slowdown`.
    /// @return whether the history knows the node
    /// @pre `factor > 0`
    bool set_slowdown(typename interner<NodeId>::key_type node, double factor) {
        std::uint32_t const n = nodes_->find(node);
        if (n == interner<NodeId>::none) return false;
        progress_->set_slowdown(n, factor);
        return true;
    }
    /// Says how many tasks of this kind the cluster can run at once, as `job_progress::set_slots`.
    void set_slots(std::uint64_t slots) noexcept { progress_->set_slots(slots); }

  private:
    friend struct detail::replay_access;
    starting_job(JobId const& job, interner<NodeId> const& nodes, Time const& now,
                 detect::job_progress<std::uint32_t, Time>& progress)
        : job_(&job), nodes_(&nodes), now_(&now), progress_(&progress) {}

    JobId const* job_;
    interner<NodeId> const* nodes_;
    Time const* now_;
    detect::job_progress<std::uint32_t, Time>* progress_;
};

/// What the scheduler has learned by itself while the history goes on: `begins(job)` is called with a
/// `starting_job`, `finished(row)` with the place of an attempt in the user's range that has finished its
/// task just now. Calls come in order of time, so whatever is learned is of the past.
template <class Knowledge, class JobId, class NodeId, class Time>
concept replay_knowledge = requires(Knowledge& k, starting_job<JobId, NodeId, Time>& job, std::size_t row) {
    k.begins(job);
    k.finished(row);
};

/// What was replayed, once for all detectors.
/// @par Guarantees
/// `tasks == judged + never_finished + original_failed + usual_unknown`
struct replay_counts {
    std::uint64_t looks = 0;           ///< times that a job was shown to each detector
    std::uint64_t tasks = 0;           ///< tasks of the history
    std::uint64_t judged = 0;          ///< of those: shown to the metrics
    std::uint64_t never_finished = 0;  ///< of those: see `task_fate`
    std::uint64_t original_failed = 0; ///< of those: see `task_fate`
    std::uint64_t usual_unknown = 0;   ///< of those: finished, in a job with too few times to compare with
    friend bool operator==(replay_counts const&, replay_counts const&) = default;
};

/// Plays a recording to detectors.
///
/// **What they see.** At every look each job with running tasks: those that have begun and not ended, each
/// with its last reading not later than now (nothing done before the first), of several attempts the one that
/// is furthest; the times of the tasks that have finished; how many tasks the job has. Attempts that will
/// fail or be killed run like others until they do. Of the future nothing is shown but that number of tasks,
/// which schedulers know. `running_task::row` is the place of the attempt in the user's range of attempts, so
/// that tables by row (`by_row`, the predictor of `node_aware`) work.
///
/// **When they look.** Every `interval`, reckoned from the first start of the history, at all jobs; or, with
/// an interval of zero, at a job whenever an attempt of it begins or ends or reports. When nothing has begun,
/// ended or reported for 1000 intervals, looks are further apart, by a thousandth of the time for which that
/// has been so: one wrong start of 0 does not make the replay as long as the time since 1970.
///
/// **What is judged.** The run of each task that decided (see `recording`), as a `task_outcome`: the time of
/// its original, when that was first named while it ran, the copies of it, and whether one won. An original
/// that was killed after a copy won is judged by its last reading (`killed_attempts`). Naming a task in an
/// earlier run of it, or a copy when the original is gone, counts for nothing. The usual time is that of the
/// record (`recorded_fields::usual`), else that of the options, else the quantile of the times in which the
/// tasks of its job finished.
///
/// What detectors name changes nothing: no copy is launched. What they would have saved is not known, only
/// which tasks they would have named.
///
/// @par Example
/// `straggle::evaluate::replayer player(history, {.interval = 1s});  auto metrics = player.run(late,
/// mantri);`
/// @par Cost
/// O(attempts + readings), for each look O(running tasks of the job) and what the detectors take,
/// for each moment of looking O(jobs that run then); at most 1000 + 1000 ln(length of the quiet time by 1000
/// intervals) looks between two records. 16 bytes per attempt, 16 per task, 16 per task and
/// detector, and a `job_progress` for each of the jobs that run at one time. Allocates nothing per look once
/// the largest job has been seen, and nothing at all in a second run with as many detectors.
/// @par Guarantees
/// deterministic; detectors do not influence one another; only allocation can throw
template <base::identifier JobId, base::identifier NodeId, detail::replayable_time Time>
class replayer {
  public:
    /// Lengths of time.
    using span_type = std::remove_cvref_t<decltype(std::declval<Time>() - std::declval<Time>())>;

    /// How to replay.
    struct options {
        /// Between two looks; zero: whenever something happens to the job.
        /// @pre not negative, and so large that adding it makes a later time
        span_type interval{};
        double quantile = 0.5;       ///< of the times in a job: what is usual, see `find_usual_time`
        double usual = 0;            ///< above 0: that is usual instead, in seconds or as the times
        std::uint64_t min_tasks = 2; ///< jobs in which fewer finished have no usual time
        judging_options how{};       ///< what a straggler is, and what is in time
    };

    /// @param history outlives this
    /// @param how see `options` @pre `how.how.valid()`, the quantile is in [0, 1]
    explicit replayer(recording<JobId, NodeId, Time> const& history, options how = {})
        : history_(&history), options_(std::move(how)) {
        STRAGGLE_EXPECTS(options_.how.valid() && options_.quantile >= 0 && options_.quantile <= 1);
        STRAGGLE_EXPECTS(options_.interval >= span_type{} && detail::is_length(options_.usual));
        find_usual_times();
    }
    replayer(recording<JobId, NodeId, Time> const&&, options = {}) = delete;

    /// Plays the history from the beginning to the end.
    /// @param scans a `job_scan` each, or a range of them; what they have kept from earlier is theirs
    /// @return what each of them was worth, in their order; valid until the next run
    template <job_scans... Scans>
    std::span<detection_metrics const> run(Scans&&... scans) {
        struct {
            void begins(starting_job<JobId, NodeId, Time>&) noexcept {}
            void finished(std::size_t) noexcept {}
        } nothing;
        return play(nothing, scans...);
    }
    /// The same with knowledge of the nodes; all detectors are shown it.
    template <replay_knowledge<JobId, NodeId, Time> Knowledge, job_scans... Scans>
    std::span<detection_metrics const> run(Knowledge&& knowledge, Scans&&... scans) {
        return play(knowledge, scans...);
    }

    /// What each detector was worth in the last run.
    [[nodiscard]] std::span<detection_metrics const> metrics() const noexcept {
        return detail::span_of(metrics_);
    }
    /// What was replayed.
    [[nodiscard]] replay_counts const& counts() const noexcept { return counts_; }

    /// What one task was to one detector in the last run, to measure something else, or by job.
    /// @pre `task < recording::tasks()`, `scan < metrics().size()`
    /// @return `status::insufficient_evidence` for tasks that are not judged
    [[nodiscard]] outcome<task_outcome> result_of(std::size_t task, std::size_t scan) const {
        STRAGGLE_EXPECTS(task < usual_.size() && scan < metrics_.size());
        if (history_->fate_of(task) != task_fate::finished || !(usual_[task] > 0))
            return status::insufficient_evidence;
        task_outcome o = outcome_of(tape().tasks[task]);
        o.usual = usual_[task];
        o.detected = named_[scan * usual_.size() + task];
        return o;
    }

  private:
    using attempt = detail::taped_attempt<Time>;
    using ticks = decltype(detail::moment_of(std::declval<span_type const&>()));
    static constexpr std::uint32_t none = detail::no_attempt;
    static constexpr ticks quiet_steps = 1000; // so long nothing has to happen before looks are further apart

    [[nodiscard]] detail::tape<Time> const& tape() const noexcept {
        return detail::replay_access::tape(*history_);
    }

    void find_usual_times() {
        auto const& t = tape();
        usual_.assign(t.tasks.size(), 0.0);
        // The times of each job side by side.
        std::vector<std::uint32_t> end(t.jobs.size() + 1);
        for (detail::taped_task const& task : t.tasks)
            if (task.winner != none) ++end[task.job + 1];
        for (std::size_t j = 1; j < end.size(); ++j) end[j] += end[j - 1];
        std::vector<std::uint32_t> next(end.begin(), end.end() - 1);
        std::vector<double> times(end.back()), of_job(t.jobs.size());
        for (detail::taped_task const& task : t.tasks)
            if (task.winner != none) times[next[task.job]++] = t.attempts[task.winner].time();
        for (std::size_t j = 0; j < of_job.size(); ++j) {
            std::span<double> const siblings(times.data() + end[j], end[j + 1] - end[j]);
            if (siblings.size() < options_.min_tasks) continue;
            if (auto const usual = find_usual_time(siblings, options_.quantile)) of_job[j] = usual->time;
        }
        for (std::size_t i = 0; i < usual_.size(); ++i) {
            double const told = t.attempts[t.tasks[i].original].usual;
            usual_[i] = told > 0 ? told : options_.usual > 0 ? options_.usual : of_job[t.tasks[i].job];
        }
    }

    [[nodiscard]] task_outcome outcome_of(detail::taped_task const& task) const {
        auto const& t = tape();
        attempt const &original = t.attempts[task.original], &winner = t.attempts[task.winner];
        task_outcome o{.execution = original.time()};
        for (std::uint32_t place = task.run_first + 1; place < task.run_end; ++place) {
            attempt const& copy = t.attempts[t.of_tasks[place]];
            if (&copy != &winner && !(copy.start < winner.end)) continue; // of something that had finished
            ++o.copies;
            o.copies_time += copy.time();
        }
        if (task.winner == task.original) return o;
        o.winner_time = winner.time();
        if (original.status == attempt_status::success)
            o.progress = 1.0; // late, but it did finish
        else if (original.reported)
            o.progress = original.last_progress;
        return o;
    }

    template <class Knowledge, class... Scans>
    std::span<detection_metrics const> play(Knowledge& knowledge, Scans&... scans) {
        std::size_t number = 0;
        (for_each(scans, [&](auto&) { ++number; }), ...);
        rewind(number);
        auto const show = [&](Time const& now) {
            std::size_t scan = 0;
            (for_each(scans, [&](auto& s) { look(s, scan++, now); }), ...);
        };
        announcer<Knowledge> const announce{*history_, knowledge};
        if (options_.interval > span_type{})
            play_in_steps(announce, show);
        else
            play_events(announce, show);
        measure();
        return detail::span_of(metrics_);
    }

    template <class Scans, class Visit>
    static void for_each(Scans& scans, Visit visit) {
        if constexpr (job_scan<Scans>)
            visit(scans);
        else
            for (auto& scan : scans) visit(scan);
    }

    void rewind(std::size_t scans) {
        counts_ = {.tasks = usual_.size()};
        metrics_.assign(scans, detection_metrics(options_.how));
        named_.assign(scans * usual_.size(), std::nullopt);
        stage_.rewind(tape());
    }

    // Lets the stage tell of jobs and attempts by their names.
    template <class Knowledge>
    struct announcer {
        recording<JobId, NodeId, Time> const& history;
        Knowledge& knowledge;

        void begins(std::uint32_t job, Time const& now, detect::job_progress<std::uint32_t, Time>& progress) {
            auto starting = detail::replay_access::starting<starting_job<JobId, NodeId, Time>>(
                history.job(job), detail::replay_access::nodes(history), now, progress);
            knowledge.begins(starting);
        }
        void finished(std::uint32_t row) { knowledge.finished(row); }
    };

    template <class Announcer, class Show>
    void play_events(Announcer announce, Show show) {
        while (!stage_.is_over()) {
            Time const now = stage_.next_time();
            stage_.advance(announce, now);
            counts_.looks += stage_.present_touched(now, show);
        }
    }

    template <class Announcer, class Show>
    void play_in_steps(Announcer announce, Show show) {
        if (tape().attempts.empty()) return;
        Time const origin = tape().attempts.front().start;
        span_type const length = tape().attempts[tape().by_end.back()].end - origin;
        ticks const last = whole_steps(length); // later ones would see no task
        ticks quiet_since = 0;
        for (ticks step = 0;;) {
            Time const now = after(origin, step);
            if (!(now < stage_.next_time())) quiet_since = step;
            stage_.advance(announce, now);
            counts_.looks += stage_.present_all(now, show);
            if (stage_.is_over()) return;
            // With nothing running, on to the next start.
            ticks next = static_cast<ticks>(step + 1);
            ticks const quiet = static_cast<ticks>(step - quiet_since);
            if (quiet >= quiet_steps) {
                ticks more = static_cast<ticks>(quiet / quiet_steps);
                if constexpr (std::is_floating_point_v<ticks>) more = std::floor(more);
                auto const further = static_cast<ticks>(step + more);
                next = (std::max)(next, (std::min)(further, step_at(stage_.next_time() - origin)));
            }
            if (stage_.is_idle()) next = (std::max)(next, step_at(stage_.next_start() - origin));
            if (next > last) break;
            STRAGGLE_EXPECTS(now < after(origin, next));
            step = next;
        }
        stage_.advance(announce, static_cast<Time>(origin + length)); // what finishes after the last look
    }
    [[nodiscard]] ticks whole_steps(span_type const& length) const {
        ticks const all = detail::moment_of(length), interval = detail::moment_of(options_.interval);
        if constexpr (std::is_floating_point_v<ticks>)
            return std::floor(all / interval);
        else
            return static_cast<ticks>(all / interval);
    }
    // The step at that time, or the next one after it.
    [[nodiscard]] ticks step_at(span_type const& length) const {
        ticks const steps = whole_steps(length);
        bool const between = detail::moment_of(options_.interval) * steps < detail::moment_of(length);
        return static_cast<ticks>(between ? steps + 1 : steps);
    }
    [[nodiscard]] Time after(Time const& origin, ticks steps) const {
        if constexpr (std::is_arithmetic_v<span_type>)
            return static_cast<Time>(origin + static_cast<span_type>(options_.interval * steps));
        else
            return static_cast<Time>(origin + options_.interval * steps);
    }

    template <class Scan>
    void look(Scan& scan, std::size_t number, Time const& now) {
        for (auto const& s : scan(stage_.view())) {
            std::uint32_t const task = stage_.task_of(s.row);
            attempt const& original = tape().attempts[tape().tasks[task].original];
            std::optional<double>& named = named_[number * usual_.size() + task];
            if (!named && !(now < original.start) && now < original.end)
                named = detail::to_time(now - original.start);
        }
    }

    void measure() {
        for (std::size_t task = 0; task < usual_.size(); ++task) {
            task_fate const fate = history_->fate_of(task);
            counts_.never_finished += fate == task_fate::never_finished ? 1 : 0;
            counts_.original_failed += fate == task_fate::original_failed ? 1 : 0;
            if (fate != task_fate::finished) continue;
            if (!(usual_[task] > 0)) {
                ++counts_.usual_unknown;
                continue;
            }
            ++counts_.judged;
            for (std::size_t scan = 0; scan < metrics_.size(); ++scan)
                static_cast<void>(metrics_[scan].observe(*result_of(task, scan)));
        }
    }

    recording<JobId, NodeId, Time> const* history_;
    options options_;
    std::vector<double> usual_; // by task; 0 where it is not known
    std::vector<detection_metrics> metrics_;
    replay_counts counts_;

    std::vector<std::optional<double>> named_; // by detector and task: when first
    detail::replay_stage<Time> stage_;
};

} // namespace straggle::evaluate
