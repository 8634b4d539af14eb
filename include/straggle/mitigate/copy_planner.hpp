// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which running tasks are late, how long have they left, and which of them is worth a copy, where?
#pragma once

#include <straggle/assign/copy_worth.hpp>
#include <straggle/assign/race_record.hpp>
#include <straggle/assign/rank_places.hpp>
#include <straggle/assign/slot_price.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/mitigate/detail/task_book.hpp>
#include <straggle/predict/progress_trust.hpp>
#include <straggle/predict/sibling_times.hpp>
#include <straggle/record/cluster_load.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace straggle::mitigate {

/// How copies are planned. Shares and factors, no times.
struct copy_planner_options {
    double straggler_threshold = 1.5;  ///< late is what takes longer than this times the usual time,
    double deviations = 1.645;         ///< and longer than so many deviations of its siblings
    double least_win = 0.25;           ///< a copy that is less likely to be first is not launched
    double most_copies = 0.15;         ///< share of the slots that copies may take
    double storm = 0.3;                ///< more than this share of the running tasks is late: copy nothing
    std::uint32_t copies_per_task = 2; ///< launched one after the other; one at a time
    bool use_progress = true;
    bool kill_hung = false; ///< stop an original on a hung node once its copy runs
    predict::sibling_times_options times{};
    assign::slot_price_options price{};
    assign::race_record_options races{};
};

/// Can run any task anywhere.
struct runs_anywhere {
    /// @param task_row, node_row the caller's
    constexpr bool operator()(std::uint32_t task_row, std::uint32_t node_row) const noexcept {
        return static_cast<void>(task_row), static_cast<void>(node_row), true;
    }
};

/// Plans copies, round by round, and learns from what became of them.
///
/// **Late** is a task that, by its siblings' times given that it still runs, and by its progress as far as
/// that has proved to be trusted, will more likely than not take longer than `straggler_threshold` times the
/// usual time and longer than the spread of its job explains.
///
/// **A copy** is launched where what the job can be expected to gain exceeds the slot time that others lose,
/// at the price of slot time: see `assign::worth_of`, `assign::slot_price`, `assign::race_record`. It goes to
/// the free healthy node where it ends first, never where the task runs.
///
/// **A probe** is a copy on a node on probation. It costs nobody a slot and needs no gain.
///
/// State follows what is seen, not what was advised: a plan nobody obeys changes nothing.
///
/// Source: ours.
/// @par Cost `plan` O(n log n) in rows, some 5 us per job and 1 us per late task; allocates nothing once it
/// has grown
/// @par Guarantees deterministic; times of another unit, or another origin, give the same plans
class copy_planner {
  public:
    explicit copy_planner(copy_planner_options options = {})
        : options_(options),
          siblings_(options.times),
          progress_(options.times.most_kinds),
          price_(options.price),
          races_(options.races) {}

    /// An attempt ended. In any order.
    /// @return false for what is no time: nothing is learnt
    bool observe_ended(ended_row const& e) {
        detail::task_note* const n = e.task == unnamed_task ? nullptr : book_.find(e.job, e.task);
        bool const over = e.how == attempt_end::success;
        if (n && !n->over && over && n->racing)
            races_.observe(n->kind, n->by_place, n->by_task, n->claimed, e.is_copy);
        if (n && over) n->over = true;
        double const took = e.end - e.start;
        if (!(took > 0)) return false;
        if (e.is_copy || e.how == attempt_end::failed) return true; // a copy is one of a hard task
        double const slow = slow_of(e.node);
        if (!over) return siblings_.observe_censored(e.job, e.kind, took, slow, e.input);
        if (n) progress_.observe_ended(e.kind, n->track, e.end);
        if (!siblings_.observe(e.job, e.kind, took, slow, e.input)) return false;
        just_ended_ += 1;
        ended_ = (std::min)(ended_ + 1, 200.0);
        usual_ += (took - usual_) / ended_;
        return true;
    }

    /// Plans a round. The answers are valid until the next one.
    /// @param now of the caller's clock
    /// @param running all attempts that run
    /// @param places all nodes
    /// @param load of the cluster: the tasks that wait make the price
    /// @param can_run `(task_row, node_row) -> bool`, asked only for what would be launched
    template <class CanRun = runs_anywhere>
    void plan(double now, std::span<running_row const> running, std::span<place_row const> places,
              cluster_load const& load, CanRun&& can_run = {}) {
        begin(now, places, load);
        sort_tasks(running);
        book_.begin();
        for (std::size_t first = 0; first < order_.size();) {
            std::size_t last = first + 1;
            while (last < order_.size() && order_[last].job == order_[first].job) ++last;
            look_at_job(now, running, std::span(order_).subspan(first, last - first));
            first = last;
        }
        book_.end();
        end_idle_jobs(now);
        std::sort(suspects_.begin(), suspects_.end(), [](late_row const& a, late_row const& b) {
            double const x = a.left.middle, y = b.left.middle;
            return x > y || (!(y > x) && a.task_row < b.task_row);
        });
        notes_.late = static_cast<std::uint32_t>(suspects_.size());
        // Where little else runs, those that are late are many of few: the ones that ended count as well.
        notes_.storm = notes_.tasks >= 10 &&
                       static_cast<double>(notes_.late - hung_) >
                           options_.storm * (static_cast<double>(notes_.tasks - hung_) + recent_);
        if (!notes_.storm) launch(running, places, can_run);
        probe(running, places, can_run);
    }

    /// Copies to launch, best first; probes behind.
    [[nodiscard]] std::span<copy_row const> copies() const noexcept { return copies_; }
    /// Attempts to stop.
    [[nodiscard]] std::span<kill_row const> kills() const noexcept { return kills_; }
    /// Late tasks, those with the most time left first.
    [[nodiscard]] std::span<late_row const> suspects() const noexcept { return suspects_; }
    /// What the round was like.
    [[nodiscard]] copy_notes const& notes() const noexcept { return notes_; }

    /// A new task: where does it run best? Between two plans.
    /// @param job, kind, input of the task
    /// @param places all nodes, with what is free now
    /// @param load `waiting` tasks come before this one
    /// @param out written, best first; see `assign::rank_places`
    void rank_places(std::uint64_t job, std::uint32_t kind, double input, std::span<place_row const> places,
                     cluster_load const& load, std::vector<assign::ranked_place>& out) {
        double usual = usual_;
        if (siblings_.outlook(job, kind, {}, outlook_))
            usual = outlook_.usual() * siblings_.factor(job, kind, {0, 1, input});
        free_.clear();
        double busy = 0;
        for (place_row const& p : places) {
            free_.push_back({p.row, p.hung ? 0 : p.free, p.slots, p.state, believed(p.slow)});
            if (p.state == node_state::healthy && !p.hung && p.slots > p.free) busy += p.slots - p.free;
        }
        // Busy healthy slots come free once in usual / busy.
        double const wait = busy > 0 ? usual_ * (static_cast<double>(load.waiting) + 1) / busy
                                     : std::numeric_limits<double>::infinity();
        assign::rank_places(free_, usual, wait, turn_++, out);
    }

    /// The job is over: what it has shown goes to its kind. Not needed: jobs of which nothing is seen for
    /// longer than their longest task are over by themselves.
    void finish_job(std::uint64_t job) { siblings_.finish(job); }

    /// What is known of the times of tasks.
    [[nodiscard]] predict::sibling_times const& times() const noexcept { return siblings_; }
    /// What races have shown.
    [[nodiscard]] assign::race_record const& races() const noexcept { return races_; }
    /// The options it was made with.
    [[nodiscard]] copy_planner_options const& options() const noexcept { return options_; }

    /// A slowdown as far as it is proved: 1 where the interval is too wide to tell.
    [[nodiscard]] static double believed(slowdown const& s) noexcept {
        if (!s.is_known() || !(s.value > 0) || !(s.low > 0)) return 1;
        double const log = std::log(s.value), error = std::log(s.high / s.low) / 3.92;
        double const square = log * log, keep = square > 0 ? 1 - error * error / square : 0.0;
        return keep > 0 ? std::exp(log * keep) : 1.0;
    }

  private:
    struct sorted_row {
        std::uint64_t job, task;
        std::uint32_t at; // among the running
        bool is_copy;
    };
    struct candidate {
        predict::time_points left;
        std::size_t fresh; // times of a new task of the job, where the factor is 1
        std::size_t note;
        double age, input_factor, slow;
        double saves, share; // slot time on a usual node, and the gain of the job for each unit of it
        double expected;     // net gain on the best node
        comparison reason;
        std::uint32_t at;
    };
    struct job_note {
        std::uint64_t job;
        double seen, longest;
    };
    struct probe_note {
        double age;
        std::uint32_t at;
    };
    static constexpr std::size_t no_note = (std::numeric_limits<std::size_t>::max)();

    [[nodiscard]] double slow_of(std::uint32_t node) const noexcept {
        return node < slow_.size() ? slow_[node] : 1.0;
    }
    [[nodiscard]] bool hangs(std::uint32_t node) const noexcept {
        return node < hung_nodes_.size() && hung_nodes_[node] != 0;
    }

    void begin(double now, std::span<place_row const> places, cluster_load const& load) {
        copies_.clear();
        kills_.clear();
        suspects_.clear();
        candidates_.clear();
        fresh_.clear();
        probes_.clear();
        notes_ = {};
        hung_ = 0;
        copies_running_ = 0;
        std::uint64_t slots = 0, idle = 0;
        slow_.assign(slow_.size(), 1.0);
        hung_nodes_.assign(hung_nodes_.size(), 0);
        for (place_row const& p : places) {
            if (p.node < 0xffffffu && p.node >= slow_.size()) {
                slow_.resize(p.node + std::size_t{1}, 1.0);
                hung_nodes_.resize(p.node + std::size_t{1}, 0);
            }
            if (p.node < slow_.size()) {
                slow_[p.node] = believed(p.slow);
                hung_nodes_[p.node] = p.hung ? 1 : 0;
            }
            if (p.state != node_state::away) slots += p.slots;
            if (p.state == node_state::healthy && !p.hung) idle += p.free;
        }
        slots_ = slots;
        // Slots that those who wait are about to take are for copies that save more than they take.
        idle_ = idle > load.waiting ? idle - load.waiting : 0;
        free_slots_ = idle;
        double const passed = begun_ && now > now_ ? now - now_ : 0.0;
        recent_ = (usual_ > 0 ? recent_ * std::exp(-passed / usual_) : 0.0) + just_ended_;
        just_ended_ = 0;
        if (!begun_ || now > now_) now_ = now;
        begun_ = true;
        price_.observe(now, load.waiting, slots, idle, usual_);
        notes_.price = price_.price();
    }

    void sort_tasks(std::span<running_row const> running) {
        order_.clear();
        for (std::size_t i = 0; i < running.size(); ++i)
            order_.push_back(
                {running[i].job, running[i].task, static_cast<std::uint32_t>(i), running[i].is_copy});
        std::sort(order_.begin(), order_.end(), [&](sorted_row const& a, sorted_row const& b) {
            if (a.job != b.job) return a.job < b.job;
            if (a.task != b.task) return a.task < b.task;
            if (a.is_copy != b.is_copy) return b.is_copy;
            return a.at < b.at;
        });
    }

    // All tasks of one job.
    void look_at_job(double now, std::span<running_row const> running, std::span<sorted_row const> rows) {
        running_row const& any = running[rows.front().at];
        sized_.clear();
        double longest = 0;
        for (sorted_row const& r : rows) {
            running_row const& t = running[r.at];
            longest = (std::max)(longest, now - t.start);
            if (r.is_copy || hangs(t.node)) continue;
            sized_.push_back({now - t.start, slow_of(t.node), t.input});
        }
        seen(any.job, now, longest);
        bool const known = siblings_.outlook(any.job, any.kind, sized_, outlook_);
        std::size_t const first_candidate = candidates_.size();
        double next = 0, threshold = 0;
        if (known)
            threshold = outlook_.usual() * (std::max)(options_.straggler_threshold,
                                                      std::exp(options_.deviations * outlook_.spread()));
        for (std::size_t i = 0; i < rows.size();) {
            std::size_t end = i + 1;
            while (end < rows.size() && rows[end].task == rows[i].task && rows[i].task != unnamed_task) ++end;
            look_at_task(now, running, rows.subspan(i, end - i), known, threshold, next);
            i = end;
        }
        double const late = static_cast<double>(candidates_.size() - first_candidate);
        if (!(late > 0)) return;
        fresh_.push_back(outlook_.times_after(0));
        predict::time_points const& fresh = fresh_.back();
        cases_.clear();
        there_.resize((std::max)(there_.size(), candidates_.size() - first_candidate));
        for (std::size_t c = first_candidate; c < candidates_.size(); ++c) {
            candidate const& of = candidates_[c];
            predict::time_points& there = there_[c - first_candidate];
            for (std::size_t i = 0; i < there.at.size(); ++i) there.at[i] = fresh.at[i] * of.input_factor;
            cases_.push_back({of.left.at, there.at, of.age, 1 / of.slow, races_.of_task(any.kind)});
        }
        // What the job gains by all of them is shared by what each of them saves.
        double const gain = assign::job_gain(cases_, next);
        double saved = 0;
        for (std::size_t c = first_candidate; c < candidates_.size(); ++c) {
            candidates_[c].fresh = fresh_.size() - 1;
            candidates_[c].saves = assign::worth_of(cases_[c - first_candidate]).saved;
            saved += candidates_[c].saves;
        }
        for (std::size_t c = first_candidate; c < candidates_.size(); ++c)
            candidates_[c].share = saved > 0 ? gain / saved : 0.0;
    }

    // One task: its original, or what is left of it, and its copies. `next` is what the rest of the job
    // takes.
    void look_at_task(double now, std::span<running_row const> running, std::span<sorted_row const> rows,
                      bool known, double threshold, double& next) {
        running_row const& t = running[rows.front().at];
        std::size_t const copies = rows.size() - (rows.front().is_copy ? 0 : 1);
        copies_running_ += copies;
        ++notes_.tasks;
        detail::task_note* note = nullptr;
        if (t.task != unnamed_task) {
            note = &book_.turn_to(t.job, t.task);
            read_note(*note, now, t, running, rows);
        }
        if (!known) {
            ++notes_.no_estimate;
            return;
        }
        double const age = (std::max)(now - t.start, 0.0), slow = slow_of(t.node);
        double const factor = siblings_.factor(t.job, t.kind, {age, slow, t.input});
        double const limit = threshold * factor / slow, usual = outlook_.usual() * factor / slow;
        bool const hung = hangs(t.node);
        bool const one = rows.size() == 1 && t.attempts <= 1;
        predict::progress_worth worth;
        bool const by_progress = options_.use_progress && note && note->track.left() > 0 &&
                                 (worth = progress_.worth(t.kind, note->track.part())).tasks >= 3;
        double chance = hung || age >= limit ? 1.0 : outlook_.survival_after(age / factor, limit / factor);
        predict::time_points left;
        bool asked = false;
        if (by_progress && !hung) {
            left = predict::left_by_both(outlook_, factor, age, note->track, now - note->track.time, worth);
            asked = true;
            if (age < limit) {
                double later = 0;
                for (double const l : left.at) later += age + l > limit ? 1 : 0;
                chance = later / static_cast<double>(predict::time_points::count);
            }
        }
        if (!(chance >= 0.5)) {
            next = (std::max)(next, asked ? left.quantile(0.5)
                                          : outlook_.median_after(age / factor) * factor - age);
            if (one && t.may_copy && !t.is_copy) probes_.push_back({age, rows.front().at});
            return;
        }
        if (hung) {
            ++hung_;
            left.at.fill(100 * outlook_.usual() * factor + age); // as good as never
        } else if (!asked) {
            left = outlook_.times_after(age / factor);
            for (double& x : left.at) x = (std::max)(x * factor - age, 0.0);
        }
        comparison const reason{age + left.quantile(0.5), limit, usual, "late for its siblings"};
        suspects_.push_back({t.row, range(left, 1), reason});
        bool const again = note && note->launched >= options_.copies_per_task;
        if (!one || !t.may_copy || t.is_copy || again) {
            double rest = left.quantile(0.5);
            if (copies > 0) { // the copy may be there first
                running_row const& c = running[rows.back().at];
                double const f = factor / slow * slow_of(c.node), a = (std::max)(now - c.start, 0.0);
                rest = (std::min)(rest, outlook_.median_after(a / f) * f - a);
                if (options_.kill_hung && hung && !t.is_copy && !hangs(c.node)) kills_.push_back({t.row});
            }
            next = (std::max)(next, rest);
            return;
        }
        candidates_.push_back({left, 0, note ? book_.last() : no_note, age, factor / slow, slow, 0, 0, 0,
                               reason, rows.front().at});
    }

    void read_note(detail::task_note& n, double now, running_row const& t,
                   std::span<running_row const> running, std::span<sorted_row const> rows) {
        if (!rows.front().is_copy &&
            (n.start < t.start || t.start < n.start)) { // another attempt, or the first
            n.track = {};
            n.start = t.start;
        }
        n.kind = t.kind;
        if (options_.use_progress && !t.is_copy)
            n.track.observe(t.progress, t.reported <= now ? t.reported : now);
        n.racing = rows.size() > 1 && n.advised;
        if (rows.back().is_copy) {
            double const began = running[rows.back().at].start;
            if (n.launched == 0 || n.copy_start < began || began < n.copy_start) ++n.launched;
            n.copy_start = began;
        }
    }

    void seen(std::uint64_t job, double now, double longest) {
        auto at = std::lower_bound(jobs_.begin(), jobs_.end(), job,
                                   [](job_note const& n, std::uint64_t id) { return n.job < id; });
        if (at == jobs_.end() || at->job != job) at = jobs_.insert(at, {job, now, longest});
        at->seen = now;
        at->longest = (std::max)(at->longest, longest);
    }
    void end_idle_jobs(double now) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            if (now - jobs_[i].seen > 2 * (std::max)(jobs_[i].longest, usual_))
                siblings_.finish(jobs_[i].job);
            else
                jobs_[kept++] = jobs_[i];
        }
        jobs_.resize(kept);
    }

    [[nodiscard]] static time_range range(predict::time_points const& t, double scale) noexcept {
        return {t.quantile(0.1) * scale, t.quantile(0.5) * scale, t.quantile(0.9) * scale};
    }

    struct offer {
        double gain, cost, win;
        assign::copy_worth worth;
    };
    [[nodiscard]] offer price(candidate const& c, std::uint32_t kind, double slow) const noexcept {
        predict::time_points there = fresh_[c.fresh];
        for (double& x : there.at) x *= c.input_factor * slow;
        assign::copy_worth const w = assign::worth_of(
            {c.left.at, there.at, c.age, slow / c.slow, races_.of_task(kind)});
        double const win = races_.corrected(w.win_probability);
        double const trust = w.win_probability > 0 ? (std::min)(win / w.win_probability, 1.0) : 0.0;
        return {c.share * w.saved * trust, notes_.price * (w.taken - w.saved * trust), win, w};
    }
    [[nodiscard]] bool is_worth(offer const& o) const noexcept {
        return o.win >= options_.least_win && o.gain > o.cost;
    }

    void sort_places(std::span<place_row const> places) {
        free_.clear();
        for (place_row const& p : places)
            free_.push_back({p.row, p.hung || p.state != node_state::healthy ? 0 : p.free, p.slots, p.state,
                             believed(p.slow)});
        assign::rank_places(free_, 1, 0, turn_++, ranked_);
        // From the caller's rows to places: ranked in the same order.
        at_place_.clear();
        for (std::size_t i = 0; i < free_.size(); ++i) free_[i].row = static_cast<std::uint32_t>(i);
        assign::rank_places(free_, 1, 0, turn_ - 1, ranked_);
        for (assign::ranked_place const& r : ranked_) at_place_.push_back(r.row);
    }

    template <class CanRun>
    void launch(std::span<running_row const> running, std::span<place_row const> places, CanRun& can_run) {
        if (candidates_.empty()) return;
        double const most = options_.most_copies * static_cast<double>(slots_);
        std::uint64_t room = idle_;
        sort_places(places);
        double const best = at_place_.empty() ? 1.0 : free_[at_place_.front()].slowdown;
        for (candidate& c : candidates_) {
            ++notes_.priced;
            if (free_slots_ == 0 || at_place_.empty()) {
                ++notes_.no_place;
                c.expected = -1;
                continue;
            }
            offer const o = price(c, running[c.at].kind, best);
            c.expected = is_worth(o) && (room > 0 || o.worth.saves()) ? o.gain - o.cost : -1;
            if (c.expected < 0) ++notes_.not_worth;
        }
        std::sort(candidates_.begin(), candidates_.end(), [](candidate const& a, candidate const& b) {
            return a.expected > b.expected || (!(b.expected > a.expected) && a.at < b.at);
        });
        std::size_t first_free = 0;
        double running_copies = static_cast<double>(copies_running_);
        for (candidate const& c : candidates_) {
            if (!(c.expected >= 0)) break;
            running_row const& t = running[c.at];
            if (!(running_copies + 1 <= (std::max)(most, 1.0))) {
                ++notes_.over_limit;
                continue;
            }
            while (first_free < at_place_.size() && free_[at_place_[first_free]].free == 0) ++first_free;
            bool found = false;
            std::size_t tries = 0;
            for (std::size_t i = first_free; i < at_place_.size() && tries < 64; ++i) {
                assign::free_place& f = free_[at_place_[i]];
                place_row const& p = places[at_place_[i]];
                if (f.free == 0 || p.node == t.node) continue;
                ++tries;
                if (!can_run(t.row, p.row)) continue;
                offer const o = price(c, t.kind, f.slowdown);
                // Slower nodes are not worth it either.
                if (!is_worth(o) || (room == 0 && !o.worth.saves())) break;
                --f.free;
                if (room > 0) --room;
                running_copies += 1;
                write(c, t, p, o, f.slowdown, false);
                // Of nodes that are equal the next copy takes another.
                std::rotate(at_place_.begin() + static_cast<std::ptrdiff_t>(i),
                            at_place_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                            at_place_.begin() + static_cast<std::ptrdiff_t>(equal_from(i)));
                found = true;
                break;
            }
            if (!found) ++notes_.no_place;
        }
    }
    // Behind the last place that is as fast as this one.
    [[nodiscard]] std::size_t equal_from(std::size_t i) const noexcept {
        double const most = free_[at_place_[i]].slowdown * 1.03;
        std::size_t end = i + 1;
        while (end < at_place_.size() && end < i + 64 && free_[at_place_[end]].slowdown <= most) ++end;
        return end;
    }

    void write(candidate const& c, running_row const& t, place_row const& p, offer const& o, double slow,
               bool probe) {
        copies_.push_back({t.row, p.row, range(c.left, 1), range(fresh_[c.fresh], c.input_factor * slow),
                           o.win, o.gain, o.cost, c.reason, probe});
        if (c.note == no_note) return;
        detail::task_note& n = book_[c.note];
        n.advised = true;
        n.by_place = o.worth.by_place;
        n.by_task = o.worth.by_task;
        n.claimed = o.worth.win_probability;
    }

    // Young tasks try the nodes on probation.
    template <class CanRun>
    void probe(std::span<running_row const> running, std::span<place_row const> places, CanRun& can_run) {
        std::size_t next = 0;
        bool sorted = false;
        for (place_row const& p : places) {
            if (p.state != node_state::on_probation || p.hung) continue;
            std::uint32_t const busy = p.slots > p.free ? p.slots - p.free : 0;
            std::uint32_t room = p.probe_slots > busy ? (std::min)(p.probe_slots - busy, p.free) : 0;
            if (room > 0 && !sorted) {
                std::sort(probes_.begin(), probes_.end(), [](probe_note const& a, probe_note const& b) {
                    return a.age < b.age || (!(b.age < a.age) && a.at < b.at);
                });
                sorted = true;
            }
            for (; room > 0 && next < probes_.size(); ++next) {
                running_row const& t = running[probes_[next].at];
                if (t.node == p.node || !can_run(t.row, p.row)) continue;
                copies_.push_back({t.row, p.row, {}, {}, 0, 0, 0, {}, true});
                --room;
            }
        }
    }

    copy_planner_options options_;
    predict::sibling_times siblings_;
    predict::progress_trust progress_;
    assign::slot_price price_;
    assign::race_record races_;
    detail::task_book book_{};
    double usual_ = 0, ended_ = 0; // time of a task of the cluster
    double recent_ = 0, just_ended_ = 0, now_ = 0; // tasks that ended, older ones fade within a usual time
    bool begun_ = false;
    std::uint64_t slots_ = 0, idle_ = 0, free_slots_ = 0, turn_ = 0;
    std::size_t copies_running_ = 0;
    std::uint32_t hung_ = 0;
    predict::time_outlook outlook_{};
    std::vector<double> slow_{};
    std::vector<unsigned char> hung_nodes_{};
    std::vector<sorted_row> order_{};
    std::vector<predict::sized_task> sized_{};
    std::vector<candidate> candidates_{};
    std::vector<predict::time_points> fresh_{}, there_{};
    std::vector<assign::copy_case> cases_{};
    std::vector<probe_note> probes_{};
    std::vector<job_note> jobs_{};
    std::vector<assign::free_place> free_{};
    std::vector<assign::ranked_place> ranked_{};
    std::vector<std::uint32_t> at_place_{};
    std::vector<copy_row> copies_{};
    std::vector<kill_row> kills_{};
    std::vector<late_row> suspects_{};
    copy_notes notes_{};
};

} // namespace straggle::mitigate
