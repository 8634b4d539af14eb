// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How good would a straggler detector have been on the past? Replays a recorded history, shows every job to
/// any number of detectors as a scheduler would have seen it then, and evaluates what they named.
#pragma once

#include "looks.hpp"
#include "recording.hpp"

#include <straggle/base/contract.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/evaluate/detection_metrics.hpp>
#include <straggle/evaluate/usual_time.hpp>
#include <straggle/record/running.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace replaying {

using namespace straggle::evaluate;

template <class Time>
class replay_stage {
  public:
    // Moves to the time before the beginning. The tape must stay in place until the end.
    void rewind(tape<Time> const& t) {
        tape_ = &t;
        progress_.assign(t.attempts.size(), std::nullopt);
        done_.assign(t.tasks.size(), 0);
        place_.assign(t.tasks.size(), 0);
        task_of_row_.clear();
        for (taped_attempt<Time> const& a : t.attempts) {
            if (task_of_row_.size() <= a.row) task_of_row_.resize(a.row + std::size_t{1}, no_attempt);
            task_of_row_[a.row] = a.task;
        }
        slot_.assign(t.jobs.size(), no_attempt);
        live_.clear();
        free_.clear();
        for (std::size_t i = pool_.size(); i-- > 0;) free_.push_back(static_cast<std::uint32_t>(i));
        at_ = {};
    }

    [[nodiscard]] tape_position const& position() const noexcept { return at_; }

    // Everything up to now, in order of time; at one time attempts end before others begin.
    template <class Announcer>
    void advance(Announcer& announce, Time const& now) {
        tape<Time> const& t = *tape_;
        for (;;) {
            bool const may_start = at_.starts < t.attempts.size() && !(now < t.attempts[at_.starts].start);
            bool const may_end = at_.ends < t.by_end.size() && !(now < t.attempts[t.by_end[at_.ends]].end);
            if (!may_start && !may_end) break;
            std::uint32_t const ending = may_end ? t.by_end[at_.ends] : no_attempt;
            // An attempt of length 0 that has not begun: it ends as soon as it begins.
            bool const end_first = may_end && ending < at_.starts &&
                                   (!may_start || !(t.attempts[at_.starts].start < t.attempts[ending].end));
            if (end_first) {
                ++at_.ends;
                finish(announce, ending);
            } else {
                begin(announce, static_cast<std::uint32_t>(at_.starts++));
            }
        }
        for (; at_.reports < t.readings.size() && !(now < t.readings[at_.reports].time); ++at_.reports) {
            taped_reading<Time> const& r = t.readings[at_.reports];
            progress_[r.attempt] = r.progress;
            std::uint32_t const slot = slot_[t.tasks[t.attempts[r.attempt].task].job];
            if (slot != no_attempt) pool_[slot].touched = true;
        }
    }

    // Calls show(now) for each job with running tasks, in order of their beginning. Returns their number.
    template <class Show>
    std::uint64_t present_all(Time const& now, Show& show) {
        std::uint64_t looks = 0;
        for (std::uint32_t const slot : live_) looks += present(pool_[slot], now, show) ? 1u : 0u;
        retire();
        return looks;
    }
    // The same for jobs with an event since then.
    template <class Show>
    std::uint64_t present_touched(Time const& now, Show& show) {
        std::uint64_t looks = 0;
        for (std::uint32_t const slot : live_)
            if (std::exchange(pool_[slot].touched, false)) looks += present(pool_[slot], now, show) ? 1u : 0u;
        retire();
        return looks;
    }

    // The job being shown.
    [[nodiscard]] detect::job_view const& view() const noexcept { return view_; }
    // The task on the tape of a suspect, by its row.
    [[nodiscard]] std::uint32_t task_of(std::uint32_t row) const {
        STRAGGLE_EXPECTS(row < task_of_row_.size() && task_of_row_[row] != no_attempt);
        return task_of_row_[row];
    }

  private:
    // A running task, for `job_progress`.
    struct shown_task {
        Time start;
        std::optional<double> progress;
        double input;
        std::uint32_t node, copies, task, row;
    };
    struct live_job {
        detect::job_progress<std::uint32_t, Time> progress;
        std::vector<std::uint32_t> running; // attempts, and some that have ended since the last look
        std::uint32_t job = no_attempt, attempts_left = 0;
        bool touched = false;
    };

    template <class Announcer>
    void begin(Announcer& announce, std::uint32_t i) {
        taped_attempt<Time> const& a = tape_->attempts[i];
        std::uint32_t const j = tape_->tasks[a.task].job;
        if (slot_[j] == no_attempt) open(announce, j, a.start);
        live_job& job = pool_[slot_[j]];
        job.touched = true;
        job.running.push_back(i);
    }
    template <class Announcer>
    void finish(Announcer& announce, std::uint32_t i) {
        taped_attempt<Time> const& a = tape_->attempts[i];
        taped_task const& task = tape_->tasks[a.task];
        live_job& job = pool_[slot_[task.job]];
        job.touched = true;
        --job.attempts_left;
        if (task.winner != i) return;
        done_[a.task] = 1;
        bool const taken = job.progress.observe(a.node, a.end - a.start, a.input, a.predicted);
        STRAGGLE_EXPECTS(taken);
        announce.finished(a.row);
    }
    template <class Announcer>
    void open(Announcer& announce, std::uint32_t j, Time const& now) {
        if (free_.empty()) {
            pool_.emplace_back();
            free_.push_back(static_cast<std::uint32_t>(pool_.size() - 1));
        }
        std::uint32_t const slot = slot_[j] = free_.back();
        free_.pop_back();
        live_.push_back(slot);
        live_job& job = pool_[slot];
        job.progress.clear();
        job.progress.set_tasks(tape_->jobs[j].tasks);
        job.progress.set_begin(now);
        job.running.clear();
        job.job = j;
        job.attempts_left = tape_->jobs[j].attempts;
        announce.begins(j, now, job.progress);
    }
    // Jobs whose attempts have all ended pass on their memory.
    void retire() {
        std::erase_if(live_, [this](std::uint32_t slot) {
            if (pool_[slot].attempts_left > 0) return false;
            slot_[pool_[slot].job] = no_attempt;
            free_.push_back(slot);
            return true;
        });
    }

    template <class Show>
    bool present(live_job& job, Time const& now, Show& show) {
        gather(job, now);
        if (shown_.empty()) return false;
        constexpr running_fields fields{.node = &shown_task::node,
                                        .start = &shown_task::start,
                                        .progress = &shown_task::progress,
                                        .input = &shown_task::input,
                                        .copies = &shown_task::copies};
        job.progress.running(shown_, fields, now);
        view_ = job.progress.view();
        STRAGGLE_EXPECTS(view_.running.size() == shown_.size());
        running_.assign(view_.running.begin(), view_.running.end());
        for (std::size_t i = 0; i < running_.size(); ++i) running_[i].row = shown_[i].row;
        view_.running = running_;
        show(now);
        return true;
    }
    // One per running task: its most advanced attempt.
    void gather(live_job& job, Time const& now) {
        shown_.clear();
        std::erase_if(job.running, [&](std::uint32_t i) {
            taped_attempt<Time> const& a = tape_->attempts[i];
            if (done_[a.task] != 0 || !(now < a.end)) return true;
            std::uint32_t& place = place_[a.task];
            if (place < shown_.size() && shown_[place].task == a.task) {
                shown_task& s = shown_[place];
                ++s.copies;
                if (progress_[i].value_or(0.0) > s.progress.value_or(0.0))
                    s = {a.start, progress_[i], a.input, a.node, s.copies, a.task, a.row};
                return false;
            }
            place = static_cast<std::uint32_t>(shown_.size());
            shown_.push_back({a.start, progress_[i], a.input, a.node, 1, a.task, a.row});
            return false;
        });
    }

    tape<Time> const* tape_ = nullptr;
    tape_position at_;
    std::vector<std::optional<double>> progress_; // by attempt: the last reading
    std::vector<char> done_;                      // by task
    std::vector<std::uint32_t> place_;            // by task: in `shown_`, if it is there
    std::vector<std::uint32_t> task_of_row_;      // by row of the user's history
    std::vector<std::uint32_t> slot_;             // by job: in `pool_`
    std::vector<live_job> pool_;
    std::vector<std::uint32_t> live_, free_; // in `pool_`; the live ones in order of their beginning
    std::vector<shown_task> shown_;          // of the job that is shown
    std::vector<detect::running_task> running_;
    detect::job_view view_;
};

/// Names suspects when shown a job: a `straggler_scan`, or a callable like it.
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

/// A job that begins while a history is replayed: the moment to pass what is known about the nodes by then.
template <base::identifier JobId, base::identifier NodeId, replayable_time Time>
class starting_job {
  public:
    /// The name of the job.
    [[nodiscard]] JobId const& job() const noexcept { return *job_; }
    /// When its first attempt begins: now.
    [[nodiscard]] Time const& now() const noexcept { return *now_; }
    /// Sets how much longer tasks take on a node than elsewhere, like `job_progress::set_slowdown`.
    /// @return whether the history contains the node
    /// @pre `factor > 0`
    bool set_slowdown(typename interner<NodeId>::key_type node, double factor) {
        std::uint32_t const n = nodes_->find(node);
        if (n == interner<NodeId>::none) return false;
        progress_->set_slowdown(n, factor);
        return true;
    }
    /// Sets how many tasks of this kind the cluster can run at once, like `job_progress::set_slots`.
    void set_slots(std::uint64_t slots) noexcept { progress_->set_slots(slots); }

  private:
    friend struct replay_access;
    starting_job(JobId const& job, interner<NodeId> const& nodes, Time const& now,
                 detect::job_progress<std::uint32_t, Time>& progress)
        : job_(&job), nodes_(&nodes), now_(&now), progress_(&progress) {}

    JobId const* job_;
    interner<NodeId> const* nodes_;
    Time const* now_;
    detect::job_progress<std::uint32_t, Time>* progress_;
};

/// What the scheduler itself has learned in the course of the history: `begins(job)` is called with a
/// `starting_job`, `finished(row)` with the place in the user's range of an attempt that has just finished
/// its task. Calls come in order of time, so everything learned is from the past.
template <class Knowledge, class JobId, class NodeId, class Time>
concept replay_knowledge = requires(Knowledge& k, starting_job<JobId, NodeId, Time>& job, std::size_t row) {
    k.begins(job);
    k.finished(row);
};

/// The counts of a replay, the same for all detectors.
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
/// **What they see.** At every look, each job with running tasks: those that have begun and not ended, each
/// with its last reading up to now (0 before the first), and its most advanced attempt if there are several;
/// the times of the finished tasks; the number of tasks of the job. Attempts that will fail or be killed run
/// like others until they do. The only fact from the future is that number of tasks, which schedulers know.
/// `running_task::row` is the place of the attempt in the user's range of attempts, so that tables by row
/// (`by_row`, the predictor of `node_aware`) work.
///
/// **When they look.** At all jobs, every `interval` from the first start of the history; or, with an
/// interval of zero, at a job whenever one of its attempts begins, ends or reports. When nothing has begun,
/// ended or reported for 1000 intervals, looks are further apart, by a thousandth of the quiet time so far: a
/// single wrong start of 0 does not make the replay as long as the time since 1970.
///
/// **What is judged.** The deciding run of each task (see `recording`), as a `task_outcome`: the time of its
/// original, when that was first named while it ran, its copies, and whether one won. An original that was
/// killed after a copy won is judged by its last reading (`killed_attempts`). Naming a task in an earlier
/// run, or a copy when the original is gone, does not count. The usual time is that of the record
/// (`recorded_fields::usual`), else that of the options, else the quantile of the times in which the tasks of
/// its job finished.
///
/// What detectors name has no effect: no copy is launched. The result is which tasks they would have named,
/// not what that would have saved.
///
/// @par Example
/// `replaying::replayer player(history, {.interval = 1s});  auto metrics = player.run(late,
/// mantri);`
/// @par Cost
/// O(attempts + readings), for each look O(running tasks of the job) and what the detectors take,
/// for each moment of looking O(jobs that run then); at most 1000 + 1000 ln(length of the quiet time by 1000
/// intervals) looks between two records. 16 bytes per attempt, 16 per task, 16 per task and
/// detector, and a `job_progress` for each of the jobs that run at one time. Allocates nothing per look once
/// the largest job has been seen, and nothing at all in a second run with as many detectors.
/// @par Guarantees
/// deterministic; detectors do not influence one another; only allocation can throw
template <base::identifier JobId, base::identifier NodeId, replayable_time Time>
class replayer {
  public:
    /// Lengths of time.
    using span_type = std::remove_cvref_t<decltype(std::declval<Time>() - std::declval<Time>())>;

    /// How to replay.
    struct options {
        /// Time between two looks; zero: looks at every event of the job.
        /// @pre not negative, and large enough that adding it gives a later time
        span_type interval{};
        double quantile = 0.5;       ///< of the times in a job: the usual time, see `find_usual_time`
        double usual = 0;            ///< above 0: the usual time instead, in seconds or the unit of times
        std::uint64_t min_tasks = 2; ///< jobs in which fewer tasks finished have no usual time
        judging_options how{};       ///< the definitions of a straggler, and of being in time
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
    /// @param scans a `job_scan` each, or a range of them; they keep their earlier state
    /// @return the results of each of them, in their order; valid until the next run
    template <job_scans... Scans>
    std::span<detection_metrics const> run(Scans&&... scans) {
        struct {
            void begins(starting_job<JobId, NodeId, Time>&) noexcept {}
            void finished(std::size_t) noexcept {}
        } nothing;
        return play(nothing, scans...);
    }
    /// The same with knowledge about the nodes; all detectors receive it.
    template <replay_knowledge<JobId, NodeId, Time> Knowledge, job_scans... Scans>
    std::span<detection_metrics const> run(Knowledge&& knowledge, Scans&&... scans) {
        return play(knowledge, scans...);
    }

    /// The results of each detector in the last run.
    [[nodiscard]] std::span<detection_metrics const> metrics() const noexcept {
        return detail::span_of(metrics_);
    }
    /// The counts of the last replay.
    [[nodiscard]] replay_counts const& counts() const noexcept { return counts_; }

    /// The outcome of one task for one detector in the last run, for other metrics, or by job.
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
    using attempt = taped_attempt<Time>;
    static constexpr std::uint32_t none = no_attempt;

    [[nodiscard]] replaying::tape<Time> const& tape() const noexcept {
        return replay_access::tape(*history_);
    }

    void find_usual_times() {
        auto const& t = tape();
        usual_.assign(t.tasks.size(), 0.0);
        // The times of each job side by side.
        std::vector<std::uint32_t> end(t.jobs.size() + 1);
        for (taped_task const& task : t.tasks)
            if (task.winner != none) ++end[task.job + 1];
        for (std::size_t j = 1; j < end.size(); ++j) end[j] += end[j - 1];
        std::vector<std::uint32_t> next(end.begin(), end.end() - 1);
        std::vector<double> times(end.back()), of_job(t.jobs.size());
        for (taped_task const& task : t.tasks)
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

    [[nodiscard]] task_outcome outcome_of(taped_task const& task) const {
        auto const& t = tape();
        attempt const &original = t.attempts[task.original], &winner = t.attempts[task.winner];
        task_outcome o{.execution = original.time()};
        for (std::uint32_t place = task.run_first + 1; place < task.run_end; ++place) {
            attempt const& copy = t.attempts[t.of_tasks[place]];
            if (&copy != &winner && !(copy.start < winner.end)) continue; // the task had finished
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

    // Lets the stage announce jobs and attempts by their names.
    template <class Knowledge>
    struct announcer {
        recording<JobId, NodeId, Time> const& history;
        Knowledge& knowledge;

        void begins(std::uint32_t job, Time const& now, detect::job_progress<std::uint32_t, Time>& progress) {
            auto starting = replay_access::starting<starting_job<JobId, NodeId, Time>>(
                history.job(job), replay_access::nodes(history), now, progress);
            knowledge.begins(starting);
        }
        void finished(std::uint32_t row) { knowledge.finished(row); }
    };

    template <class Announcer, class Show>
    void play_events(Announcer announce, Show show) {
        while (!stage_.position().is_over(tape())) {
            Time const now = stage_.position().next_time(tape());
            stage_.advance(announce, now);
            counts_.looks += stage_.present_touched(now, show);
        }
    }

    template <class Announcer, class Show>
    void play_in_steps(Announcer announce, Show show) {
        if (tape().attempts.empty()) return;
        stepped_looks<Time> looks(tape(), options_.interval);
        tape_position const& at = stage_.position();
        do {
            Time const now = looks.now();
            looks.begin(at.next_time(tape()));
            stage_.advance(announce, now);
            counts_.looks += stage_.present_all(now, show);
            if (at.is_over(tape())) return;
        } while (looks.advance(at.next_time(tape()), at.end_of_pause(tape())));
        stage_.advance(announce, looks.end()); // what finishes after the last look
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
    std::vector<double> usual_; // by task; 0 if unknown
    std::vector<detection_metrics> metrics_;
    replay_counts counts_;

    std::vector<std::optional<double>> named_; // by detector and task: the time of the first
    replay_stage<Time> stage_;
};

} // namespace replaying
