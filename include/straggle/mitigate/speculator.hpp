// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which running tasks are late, how much time do they have left, and which of them deserve a copy, and
/// where?
#pragma once

#include <straggle/assign/race_record.hpp>
#include <straggle/assign/rank_places.hpp>
#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/mitigate/detail/copy_stage.hpp>
#include <straggle/mitigate/detail/task_book.hpp>
#include <straggle/mitigate/detail/task_stage.hpp>
#include <straggle/mitigate/mitigator_options.hpp>
#include <straggle/mitigate/speculator_options.hpp>
#include <straggle/predict/sibling_times.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/cluster_load.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// Can run any task anywhere.
struct runs_anywhere {
    /// @param task_row and `node_row`: the caller's
    constexpr bool operator()(std::uint32_t task_row, std::uint32_t node_row) const noexcept {
        return static_cast<void>(task_row), static_cast<void>(node_row), true;
    }
};

/// Plans copies round by round, and learns from their outcomes.
///
/// **Late** is a task that will more likely than not take longer than `straggler_threshold` times the usual
/// time and longer than the spread of its job explains. The prediction uses the times of its siblings, given
/// that it still runs, and its progress as far as progress has proved reliable.
///
/// **A copy** is launched where the expected gain of the task exceeds the slot time that others lose, at the
/// price of slot time; while no slot idles, only if it saves more slot time than it takes: see
/// `assign::worth_of`, `assign::race_record`. It goes to the free healthy node where it ends first, never to
/// the task's own node.
///
/// **A job with a deadline** values time as `assign::job_goal` says, a missed deadline `missed` usual
/// times of its tasks. Tasks that may make it miss the deadline are considered for a copy before they are
/// late, and while no slot idles a copy may also be worth its slot time by the deadline.
///
/// **A move** stops a task and starts it elsewhere. With the option `moves`, copies are offers of moves: the
/// gain is the time left less a whole run elsewhere, and there are no probes.
///
/// **A probe** is a copy on a node on probation. It takes no slot that other work could use and needs no
/// gain.
///
/// State follows what is observed, not what was advised: ignoring a plan changes nothing.
///
/// Source: ours.
/// @par Cost
/// `plan` O(n log n) in rows; allocates nothing once it has grown
/// @par Guarantees
/// deterministic; times of another unit, or another origin, give the same plans
///
/// @tparam Tasks and `Copies`: as in `stages`
template <class Tasks = by_options, class Copies = by_options>
class speculator {
  public:
    /// @param options shares and factors; the defaults are meant to be used
    /// @param tasks and `copies`: custom stages
    explicit speculator(speculator_options options = {}, Tasks tasks = {}, Copies copies = {})
        : options_(options),
          scan_(options, scan_of(options, std::move(tasks))),
          offers_(options),
          assigner_(std::move(copies)),
          races_(options.races) {}

    /// An attempt ended. In any order.
    /// @return false if its time is unusable: nothing is learned
    bool observe_ended(ended_row const& e) {
        detail::task_note* const n = e.task == no_task ? nullptr : book_.find(e.job, e.task);
        bool const over = e.how == attempt_status::success;
        if (n) observe_race(*n, e);
        if (over) scan_.count_task();
        if (n && over) n->over = true;
        if (!(e.end > e.start)) return false;
        if (over) scan_.show_ended(e);
        if (e.is_copy || e.how == attempt_status::failed)
            return true; // copies belong to hard tasks: their times are biased
        if (over) just_ended_ += 1;
        return scan_.observe(e, n);
    }

    /// Plans a round. The results are valid until the next one.
    /// @param now on the caller's clock
    /// @param running all running attempts
    /// @param places all nodes
    /// @param load of the cluster; only `waiting` is read: slots that tasks wait for are not idle
    /// @param can_run `(task_row, node_row) -> bool`, called only for what would be launched
    /// @param goals of jobs that have a deadline or a weight, each job once, in ascending order of `job`
    template <class CanRun = runs_anywhere>
    void plan(double now, std::span<running_row const> running, std::span<place_row const> places,
              cluster_load const& load, CanRun&& can_run = {}, std::span<running_goal const> goals = {}) {
        copies_.clear();
        notes_ = {};
        detail::slot_supply supply = supply_of(places, load);
        scan_.look(now, running, places, goals, book_);
        supply.copies = static_cast<double>(scan_.copies_running_);
        std::uint64_t slots = 0;
        healthy_ = {};
        for (place_row const& p : places) {
            slots += p.state != node_state::away ? p.slots : 0;
            healthy_.add(p);
        }
        supply.price = options_.slot_price;
        supply.most_copies = options_.most_copies * static_cast<double>(slots);
        std::size_t const nodes =
            static_cast<std::size_t>(std::count_if(places.begin(), places.end(), [](place_row const& p) {
                return p.slots > 0 && !p.hung && p.state != node_state::away;
            }));
        note(now, nodes);
        if (!notes_.storm) {
            if constexpr (std::same_as<Copies, by_options>)
                offers_.launch(scan_, running, places, supply, races_, book_, can_run, copies_, notes_);
            else
                offers_.launch_by(assigner_, scan_, running, places, load, book_, can_run, copies_, notes_);
        }
        // A probe is compared with its original, and could only lose against one well underway.
        double const young = (std::max)(scan_.usual() / 8, now - planned_);
        planned_ = now;
        if (!options_.moves) offers_.probe(scan_.probes_, young, running, places, can_run, copies_);
    }

    /// Copies to launch, best first, then probes.
    [[nodiscard]] std::span<copy_row const> copies() const noexcept { return detail::span_of(copies_); }
    /// Attempts to stop.
    [[nodiscard]] std::span<kill_row const> kills() const noexcept { return detail::span_of(scan_.kills_); }
    /// Late tasks, those with the most time left first.
    [[nodiscard]] std::span<late_task const> suspects() const noexcept {
        return detail::span_of(scan_.late_);
    }
    /// Jobs with a deadline that have running tasks, by job.
    [[nodiscard]] std::span<job_row const> jobs() const noexcept { return detail::span_of(scan_.due_); }
    /// Summary of the round.
    [[nodiscard]] copy_notes const& notes() const noexcept { return notes_; }

    /// Where does a new task run best? Call between two plans.
    /// @param task what is known about it before it starts
    /// @param places all nodes, with their current free slots; nodes without a free slot may be omitted
    /// @param load of the cluster; `waiting` tasks come before this one
    /// @param out written, best first; see `assign::rank_places`
    void rank_places(new_task const& task, std::span<place_row const> places, cluster_load const& load,
                     std::vector<assign::ranked_place>& out) {
        double const wait = read_places(task, places, load);
        assign::rank_places(detail::span_of(free_), scan_.usual_of(task.job, task.kind, task.input), wait,
                            task.job, out);
        for (assign::ranked_place& p : out) p.row = places[p.row].row;
    }
    /// Places tasks of a job one after the other, each where `rank_places` would then put it first. Stops
    /// early when all nodes of that node's state are full; call again for the rest, until none is placed.
    /// @param task what is known about each of them
    /// @param places as above; `free` is reduced by the slots that are taken
    /// @param load of the cluster; `waiting` tasks come before all of these
    /// @param tasks how many
    /// @param out appended to: for each task that is placed, the row of its node
    /// @return how many are placed
    /// @par Cost
    /// O(n), and O(log n) for each task
    std::size_t fill_places(new_task const& task, std::span<place_row> places, cluster_load const& load,
                            std::size_t tasks, std::vector<assign::ranked_place>& out) {
        double const usual = scan_.usual_of(task.job, task.kind, task.input);
        double const wait = read_places(task, places, load);
        std::size_t const before = out.size();
        std::size_t const placed = assign::fill_places(free_, usual, wait, task.job, tasks, queue_, out);
        for (assign::ranked_place& p : std::span(out).subspan(before)) {
            place_row& at = places[p.row];
            --at.free;
            p.row = at.row;
        }
        return placed;
    }

    /// The job is over: its times go to its kind. Optional: jobs not seen for longer than their longest task
    /// end automatically.
    void finish_job(std::uint64_t job) { scan_.finish(job); }

    /// Appends all that was learned, including what is remembered of running tasks and jobs: a speculator
    /// that reads it plans the same. The state of custom stages is not stored.
    void write(byte_writer& out) const {
        scan_.write(out);
        book_.write(out);
        base::write_fields(out, *this);
    }
    /// Replaces what was learned with what `write` appended.
    /// @return the status of the reader; nothing has changed if it is not `ok`
    status read(byte_reader& in) {
        speculator next(options_, tasks_stage(), assigner_);
        next.scan_.read(in);
        next.book_.read(in);
        base::read_fields(in, next);
        if (in.ok()) *this = std::move(next);
        return in.reason();
    }
    /// The rest of the state, for archives.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.races_, self.recent_, self.just_ended_, self.now_, self.planned_, self.begun_);
        a(self.healthy_.free, self.healthy_.busy);
        a.expect(detail::are_finite(self.recent_, self.just_ended_, self.now_, self.planned_,
                                    self.healthy_.free, self.healthy_.busy));
        a.expect(self.recent_ >= 0 && self.just_ended_ >= 0 && self.healthy_.free >= 0 &&
                 self.healthy_.busy >= 0);
    }
    /// Merges what another speculator has learned, for example in another part of the cluster. Running jobs
    /// stay with their own speculator.
    void merge(speculator const& other) {
        scan_.merge(other.scan_);
        races_.merge(other.races_);
    }

    /// What was learned about the times of tasks.
    [[nodiscard]] predict::sibling_times const& times() const noexcept { return scan_.siblings(); }
    /// What was learned from races.
    [[nodiscard]] assign::race_record const& races() const noexcept { return races_; }
    /// The options it was made with.
    [[nodiscard]] speculator_options const& options() const noexcept { return options_; }

    /// The stage that finds late tasks.
    [[nodiscard]] auto const& tasks() const noexcept { return scan_.scan(); }
    /// The stage that decides on copies.
    [[nodiscard]] Copies const& copies_stage() const noexcept { return assigner_; }

  private:
    using tail_scan = detect::straggler_scan<detect::tail_of_siblings>;
    using scan_type =
        detail::task_stage<std::conditional_t<std::same_as<Tasks, by_options>, tail_scan, Tasks>>;

    static auto scan_of(speculator_options const& options, Tasks tasks) {
        if constexpr (std::same_as<Tasks, by_options>) {
            tail_scan scan;
            scan.detector().threshold = options.straggler_threshold;
            scan.detector().deviations = options.deviations;
            return scan;
        } else {
            return tasks;
        }
    }
    [[nodiscard]] Tasks tasks_stage() const {
        if constexpr (std::same_as<Tasks, by_options>)
            return {};
        else
            return scan_.scan();
    }
    // A race ends with its task. If the task ended so soon after its copy began that no round saw the race,
    // the copy's end reveals it: without these, quick losses would be missing.
    void observe_race(detail::task_note& n, ended_row const& e) {
        bool const over = e.how == attempt_status::success;
        bool const first = over && !n.over;
        bool const late_news = e.is_copy && record::was_stopped(e.how) && n.over;
        if (!n.advised || n.counted || !((first && (e.is_copy || n.racing)) || late_news)) return;
        double const took = e.end - (e.is_copy ? e.start : n.copy_start);
        if (!(took > 0)) return;
        races_.observe(n.kind, book_.claim_of(n), took, first && e.is_copy);
        n.counted = true;
    }
    struct healthy_slots {
        double free = 0, busy = 0;
        void add(place_row const& p) noexcept {
            if (!detail::is_open(p)) return;
            free += p.free;
            busy += p.slots > p.free ? p.slots - p.free : 0;
        }
        [[nodiscard]] double all() const noexcept { return free + busy; }
    };
    // Tasks ahead of a new one. If the caller does not pass the current queue, estimate it: slots taken since
    // the last plan beyond the tasks that waited then went to new jobs, whose other tasks follow.
    [[nodiscard]] double waiting_now(new_task const& task, cluster_load const& load, double taken) const {
        double const told = static_cast<double>(load.waiting);
        if (task.queue_is_now || task.only_here) return told;
        if (taken <= told) return told - taken;
        double const begun = taken - told, of_a_job = (std::max)(scan_.tasks_per_job(), 1.0);
        return std::ceil((begun + 1) / of_a_job) * of_a_job - begun - 1;
    }
    [[nodiscard]] detail::slot_supply supply_of(std::span<place_row const> places,
                                                cluster_load const& load) const noexcept {
        detail::slot_supply supply;
        for (place_row const& p : places)
            if (detail::is_open(p)) supply.free += p.free;
        // Slots that waiting tasks are about to take go to a copy only if it saves slot time.
        supply.idle = supply.free > load.waiting ? supply.free - load.waiting : 0;
        return supply;
    }

    // Fills `free_`, with the index of each place as its row; returns how long a task waits that is placed
    // nowhere.
    [[nodiscard]] double read_places(new_task const& task, std::span<place_row const> places,
                                     cluster_load const& load) {
        free_.clear();
        double const crowding = scan_.siblings().crowding();
        healthy_slots told;
        for (std::size_t i = 0; i < places.size(); ++i) {
            place_row const& p = places[i];
            free_.push_back({.row = static_cast<std::uint32_t>(i),
                             .free = p.hung ? 0 : p.free,
                             .slots = p.slots,
                             .state = p.state,
                             .slowdown = detail::believed(p.slow),
                             .fails = p.fails,
                             .number = p.node,
                             .crowding = crowding});
            told.add(p);
        }
        // Nodes without a free slot may be omitted: one present at the last plan and not passed now is full.
        double const busy = (std::max)(told.busy, task.only_here ? 0.0 : healthy_.all() - told.free);
        if (!(busy > 0)) return std::numeric_limits<double>::infinity();
        // Slots free up once per usual / busy for all that wait; slots filled since the last plan free up
        // together, after a whole task.
        double const taken = task.only_here ? 0.0 : (std::max)(busy - healthy_.busy, 0.0);
        double tasks = (waiting_now(task, load, taken) + 1) / busy;
        if (taken > 0) tasks += (std::ceil(tasks) - tasks) * taken / busy;
        return scan_.usual() * tasks;
    }

    void note(double now, std::size_t nodes) {
        double const passed = begun_ && now > now_ ? now - now_ : 0.0, usual = scan_.usual();
        recent_ = (usual > 0 ? recent_ * std::exp(-passed / usual) : 0.0) + just_ended_;
        just_ended_ = 0;
        if (!begun_ || now > now_) now_ = now;
        begun_ = true;
        notes_.tasks = scan_.tasks_;
        notes_.no_estimate = scan_.no_estimate_;
        notes_.late = static_cast<std::uint32_t>(scan_.late_.size());
        // Hung nodes are no storm. Where few tasks run, the late ones are a large share, so recently ended
        // tasks count as well.
        double const late = static_cast<double>(notes_.late - scan_.hung_);
        double const all = static_cast<double>(notes_.tasks - scan_.hung_) + recent_;
        // Late tasks on one node are one event, and copies handle it: a storm spans many nodes.
        constexpr double few = 10, few_nodes = 3;
        double const late_nodes = scan_.late_nodes_;
        notes_.storm = all >= few && late > options_.storm * all && late_nodes >= few_nodes &&
                       late_nodes > options_.storm * static_cast<double>(nodes);
    }

    speculator_options options_;
    scan_type scan_;
    detail::copy_stage offers_;
    [[no_unique_address]] Copies assigner_;
    assign::race_record races_;
    detail::task_book book_{};
    double recent_ = 0, just_ended_ = 0, now_ = 0; // recently ended tasks, fading within a usual time
    double planned_ = 1e300;                       // when it last planned
    healthy_slots healthy_;                        // at the last plan
    bool begun_ = false;
    std::vector<assign::free_place> free_{};
    std::vector<detail::queued_place> queue_{};
    std::vector<copy_row> copies_{};
    copy_notes notes_{};
};

} // namespace straggle::mitigate
