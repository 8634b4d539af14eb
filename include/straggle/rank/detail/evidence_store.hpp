// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: updates its state.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/spread_sort.hpp>
#include <straggle/rank/detail/evidence_state.hpp>
#include <straggle/rank/detail/group_builder.hpp>
#include <straggle/rank/detail/job_memory.hpp>
#include <straggle/rank/detail/live_cells.hpp>
#include <straggle/rank/detail/node_effects.hpp>
#include <straggle/rank/detail/slow_detector.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class evidence_store : public evidence_state {
  public:
    explicit evidence_store(double least_slowdown) : evidence_state(least_slowdown) {}
    // Reserves cells up front: growing would briefly hold both the old and the new block.
    void reserve_cells(std::size_t cells) { cells_.reserve(cells); }
    [[nodiscard]] std::size_t attempts_of(std::uint64_t key) const {
        auto const j = jobs_.find(key);
        return j == job_memory::none ? 0 : jobs_[j].attempts.size();
    }
    // Adds an attempt with a length above 0. Strong guarantee.
    void add(ended_attempt const& a, double length) {
        room_for_node(a.node);
        if (jobs_.is_any_over())
            if (std::uint32_t const j = jobs_.find(a.job); j != job_memory::none && jobs_[j].over)
                close(j, true);
        seen_ = seen_in_window_ = true;
        std::int32_t const ticks = log_ticks(length);
        bool const censored = a.as != attempt_status::success;
        if (add_late(a, ticks * nats_per_tick, log_input(a.input), censored)) return;
        std::uint32_t const j = jobs_.insert(a.job, a.end);
        jobs_.add(j, {a.task, a.end, a.node, ticks, log_input(a.input), censored, a.copy,
                      a.as == attempt_status::killed && !a.copy});
        live_job& job = jobs_[j];
        if (a.kind != 0) job.kind = a.kind;
        job.last_seen = (std::max)(job.last_seen, a.end);
        job.longest = (std::max)(job.longest, a.end - a.start);
        job.fresh = true;
        if (!censored && !a.copy) learn_usual(ticks * nats_per_tick);
    }

    // Closes a job at the next update.
    void finish(std::uint64_t key) {
        if (std::uint32_t const j = jobs_.find(key); j != job_memory::none) jobs_.end(j);
    }
    // Finishes the job not seen for longest. @pre there is one
    void close_idlest() { close(jobs_.idlest(), true); }
    // Makes the comparisons of a job final and drops its attempts; drops the job as well if it is over.
    void close(std::uint32_t j, bool over) {
        live_job& job = jobs_[j];
        if (job.fresh) see_races(job, {});
        weigh_killed(job, &node_watch::killed, &node_watch::killed_in_a_row);
        inputs_.learn(job.kind, span_of(job.attempts));
        if (build(j, {})) {
            cells_.insert(cells_.end(), builder_.cells().begin(), builder_.cells().end());
            groups_.push_back(builder_.group());
            groups_.back().job = jobs_.key(j);
            groups_.back().kind = job.kind;
            groups_.back().window = windows_;
            groups_.back().closed = job.last_seen;
            groups_.back().shift = builder_.center();
            closed_.insert(jobs_.key(j));
            for (cell_score const& s : builder_.scores()) book(s, builder_.group().variance);
            learn_variance();
            builder_.teach(prices_);
            if (over && builder_.has_tail()) learn_tail();
            take_prices();
        } else if (over) {
            for (timed_attempt const& a : job.attempts) uncompared_ += a.censored ? 0u : 1u;
        }
        for (race_score const& r : builder_.races()) nodes_[r.node].races += r.log_evidence;
        if (over) {
            if (!job.attempts.empty()) learn_tasks(static_cast<double>(job.attempts.size()));
            jobs_.erase(j);
        } else {
            jobs_.empty(j, job.last_seen);
        }
    }

    void update(double now, std::span<running_attempt const> running, std::span<std::uint32_t const> slots,
                std::uint32_t max_nodes) {
        sort_running(now, running, max_nodes);
        begin_watch();
        this->empty_void_cells();
        settle_inputs(now);
        close_old(now);
        if (!running.empty()) {
            seen_ = seen_in_window_ = true;
            solver_.see_running();
        }
        idle_ = !seen_ && now > updated_ ? now - updated_ : 0.0;
        seen_ = false;
        std::uint64_t const before = windows_;
        step_windows(now);
        look_at_live();
        solve(slots);
        if (look_again()) solve(slots);
        write_slowdowns();
        sum_scores();
        if (windows_ != before) count_onsets();
        watch_hung(now);
        measure_scatter();
        updated_ = now;
    }

    // Drops comparisons that are too old or too many; returns how many of the latter still counted.
    std::uint64_t forget_old(std::size_t max_cells) {
        std::size_t groups = 0, cells = 0;
        std::uint64_t early = 0;
        while (groups < groups_.size()) {
            effect_group const& g = groups_[groups];
            bool const old = windows_ - g.window > effect_solver::remembered_windows;
            // Drop a sixteenth at a time, because each drop forces a full solution.
            bool const many = cells_.size() > max_cells && cells_.size() - cells > max_cells - max_cells / 16;
            if (!old && !many) break;
            if (!old && windows_ - g.window < 64) ++early;
            cells += g.cells;
            ++groups;
        }
        if (4 * cells > cells_.size() || early != 0) {
            solver_.forget();
            for (std::size_t g = 0; g < groups; ++g)
                if (auto const at = closed_.find(groups_[g].job); at != interner<std::uint64_t>::none)
                    closed_.erase(at);
            groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(groups));
            cells_.erase(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(cells));
        }
        return early;
    }

    // Merges another's evidence. `node_of[i]`: this object's number for its node i, or an invalid number.
    // `later`: this object's time minus the other's at the same moment.
    void merge(evidence_store const& other, std::span<std::uint32_t const> node_of, double later,
               std::uint32_t max_nodes, std::size_t max_attempts, std::size_t max_jobs);

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a);
    [[nodiscard]] std::size_t cells() const noexcept { return cells_.size(); }

    // Ended attempts without any comparison.
    [[nodiscard]] std::uint64_t uncompared() const noexcept { return uncompared_; }

  private:
    // An attempt that was running when its job was closed is compared with the final result of the job. False
    // if it is not such an attempt. A job that continues after a pause is a new one.
    bool add_late(ended_attempt const& a, double time, float input, bool censored) {
        if (a.copy || closed_.find(a.job) == interner<std::uint64_t>::none ||
            jobs_.find(a.job) != job_memory::none || a.start < beliefs_[a.node].since)
            return false;
        empty_void_cells();
        std::size_t g = groups_.size(), end = cells_.size();
        while (g > 0 && groups_[g - 1].job != a.job) end -= groups_[--g].cells;
        if (g == 0 || !(a.start <= groups_[g - 1].closed)) return false;
        effect_group& group = groups_[g - 1];
        node_belief const& b = beliefs_[a.node];
        double const more = input_beyond(input, group.input);
        double const at = time - inputs_.slope(group.kind) * more, off = at - group.shift;
        // A censored attempt is no evidence while its length is still plausible.
        if (censored && !(off > builder_.plain(b))) return true;
        double const deviation = std::sqrt(group.variance), share = 1 / (group.tasks + 1);
        auto const score = [&](double null) {
            return std::clamp((off - share * (b.log_slowdown - null) - null) / deviation, -widest_score,
                              widest_score);
        };
        double const tolerated = builder_.tolerated + b.usual;
        book({.node = a.node,
              .slow = score(tolerated),
              .now = score(builder_.plain(b)),
              .restored = b.charge > 0 ? -score(b.usual + b.charge) : 0.0,
              .tasks = 1 - share},
             group.variance);
        if (censored) return true;
        learn_usual(at);
        std::size_t c = end - group.cells;
        while (c < end && cells_[c].node != a.node) ++c;
        if (c == end) {
            cells_.insert(cells_.begin() + static_cast<std::ptrdiff_t>(end), effect_cell{.node = a.node});
            ++group.cells;
        }
        effect_cell& cell = cells_[c];
        double const from = at - cell.mean, from_input = more - static_cast<double>(cell.input);
        if (cell.tasks > 0) {
            double const kept = cell.tasks / (cell.tasks + 1);
            group.squares += from * from * kept;
            group.inputs += from_input * from_input * kept;
            group.products += from * from_input * kept;
            group.freedom += 1;
        }
        cell.tasks += 1;
        cell.mean += from / cell.tasks;
        cell.input += static_cast<float>(from_input / cell.tasks);
        group.tasks += 1;
        solver_.forget();
        return true;
    }

    bool build(std::uint32_t j, std::span<running_time const> running) {
        builder_.input_slope = inputs_.slope(jobs_[j].kind);
        return builder_.build(span_of(jobs_[j].attempts), running, span_of(beliefs_));
    }
    // Decides by all jobs, finished or not, how times depend on input. Where the exponent changes, corrects
    // all stored comparisons and resets the detectors: their sums cannot be corrected.
    void settle_inputs(double now) {
        auto const for_each_with_input = [this](auto&& visit) {
            for (std::uint32_t j = 0; j < jobs_.bound(); ++j)
                if (jobs_.contains(j) && jobs_[j].with_input >= 2) visit(jobs_[j]);
        };
        bool is_any_new = false;
        for_each_with_input(
            [&](live_job const& job) { is_any_new = is_any_new || job.fresh || is_old(job, now); });
        if (!is_any_new) return;
        inputs_.keep();
        for_each_with_input([this](live_job const& job) { inputs_.learn(job.kind, span_of(job.attempts)); });
        for_each_with_input([this](live_job const& job) { use_slope(job.kind, inputs_.settle(job.kind)); });
        inputs_.restore();
    }
    void use_slope(std::uint64_t kind, double more) {
        if (more == 0) return;
        correct_inputs(groups_, cells_, kind, more);
        solver_.forget();
        constexpr double plain = 0.1; // in units of the exponent
        if (std::fabs(more) > plain)
            for (node_watch& w : nodes_) {
                w.slow.reset();
                w.now.reset();
                w.hung.reset();
            }
    }

    static constexpr std::uint32_t no_node = ~std::uint32_t{0};
    using stale = live_cells::stale;

    struct running_place {
        std::uint32_t job, node, at; // index among the running attempts
    };

    // Puts the running attempts of unfinished jobs in order of job and node.
    void sort_running(double now, std::span<running_attempt const> running, std::uint32_t max_nodes) {
        running_.clear();
        reserve_for(running_, running.size());
        std::uint64_t key = 0;
        std::uint32_t j = job_memory::none; // of the last key: attempts of a job are often adjacent
        for (std::size_t i = 0; i < running.size(); ++i) {
            running_attempt const& r = running[i];
            if (r.node >= max_nodes || !is_finite(r.start)) continue;
            room_for_node(r.node);
            if (r.job != key || j == job_memory::none) j = jobs_.find(key = r.job);
            if (j == job_memory::none || jobs_[j].over) continue;
            live_job& job = jobs_[j];
            job.last_seen = (std::max)(job.last_seen, now);
            job.longest = (std::max)(job.longest, now - r.start);
            running_.push_back({j, r.node, static_cast<std::uint32_t>(i)});
        }
        // Sorts places, which are small, and moves each attempt once.
        spread_sort(
            running_, dealt_, [](running_place const& p) { return std::uint64_t{p.job}; },
            [](running_place const& p) { return std::uint64_t{p.node}; },
            [&](running_place const& a, running_place const& b) {
                if (a.job != b.job) return a.job < b.job;
                if (a.node != b.node) return a.node < b.node;
                running_attempt const &x = running[a.at], &y = running[b.at];
                if (x.start != y.start) return x.start < y.start;
                return x.task < y.task;
            });
        running_of_.clear();
        reserve_for(running_of_, running_.size());
        for (running_place const& p : running_) {
            running_attempt const& r = running[p.at];
            double const age = now - r.start - r.waited;
            running_of_.push_back({.task = r.task,
                                   .age = age,
                                   .start = r.start,
                                   .node = r.node,
                                   .ticks = age > 0 ? log_ticks(age) : std::int32_t{0},
                                   .input = log_input(r.input),
                                   .copy = r.copy});
        }
    }
    // Calls visit(job, its running attempts) for every unfinished job.
    template <class Visit>
    void for_each_live(Visit&& visit) {
        std::size_t r = 0;
        for (std::uint32_t j = 0; j < jobs_.bound(); ++j) {
            if (!jobs_.contains(j)) continue;
            std::size_t const first = r;
            while (r < running_.size() && running_[r].job == j) ++r;
            visit(j, std::span<running_time const>(running_of_).subspan(first, r - first));
        }
    }

    static bool is_old(live_job const& job, double now) noexcept {
        return job.over || now - job.last_seen > 3 * job.longest;
    }
    // For endless jobs. Not a multiple of the longest attempt: a single long one would make all later
    // stretches too long to show a change. Several windows, so that a brief slowdown counts only once.
    [[nodiscard]] double shortest_stretch(live_job const& job) const noexcept {
        return (std::max)(8 * job.usual(), 4 * window_length_);
    }
    void close_old(double now) {
        for_each_live([&](std::uint32_t j, std::span<running_time const> running) {
            live_job const& job = jobs_[j];
            if (is_old(job, now)) {
                close(j, true);
            } else if (job.attempts.size() >= 64 && now - job.opened > shortest_stretch(job)) {
                watch_job(now, j, running); // while its siblings are still here
                close(j, false);
            }
        });
    }
    void step_windows(double now) {
        double const usual = usual_duration();
        if (!(usual > 0)) return;
        if (!started_) {
            started_ = true;
            window_began_ = updated_ = now;
            window_length_ = usual;
            return;
        }
        if (!(now - window_began_ >= usual)) return;
        // A period without any activity is not a window: it could not have brought evidence.
        if (!seen_in_window_) {
            window_began_ = now;
            return;
        }
        seen_in_window_ = false;
        window_length_ = now - window_began_;
        window_began_ = now;
        ++windows_;
        batches_.next_window();
        builder_.batch_counts_once = !batches_.holds();
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            if (beliefs_[i].probing) continue;
            nodes_[i].slow.next_window();
            nodes_[i].now.begin_window(onsets_);
            nodes_[i].restored.next_window();
            nodes_[i].hung.next_window();
        }
    }

    // Compares nodes within unfinished jobs, using current beliefs.
    void look_at_live() {
        live_.clear();
        bool is_any_suspected = false; // only then do ended attempts matter
        for (node_watch& n : nodes_) {
            n.live_races = 0;
            n.killed_now = n.killed;
            n.in_a_row_now = n.killed_in_a_row;
            is_any_suspected = is_any_suspected || n.killed > 0;
        }
        for_each_live([&](std::uint32_t j, std::span<running_time const> running) {
            if (is_any_suspected || jobs_[j].killed > 0)
                weigh_killed(jobs_[j], &node_watch::killed_now, &node_watch::in_a_row_now);
            bool const tells = build(j, running);
            for (race_score const& r : builder_.races()) nodes_[r.node].live_races += r.log_evidence;
            if (tells) shrink_all(live_.add(live_group(j), builder_.cells(), builder_.scores()));
        });
    }
    // Repeats this for jobs whose result would now differ. True if any cells changed, not just scores.
    bool look_again() {
        bool are_cells_other = false;
        std::size_t at = 0, first = 0;
        for_each_live([&](std::uint32_t j, std::span<running_time const> running) {
            if (at == live_.groups().size() || live_.groups()[at].job != jobs_.key(j))
                return; // it has no comparison
            stale const what = live_.stale_of(live_.groups()[at], first, span_of(changes_));
            are_cells_other = are_cells_other || what == stale::cells;
            if (what != stale::nothing && build(j, running))
                shrink_all(live_.replace(at, first, live_group(j), builder_.cells(), builder_.scores()));
            first += live_.groups()[at++].cells;
        });
        return are_cells_other;
    }
    // The group that the builder made last.
    [[nodiscard]] effect_group live_group(std::uint32_t j) const {
        effect_group group = builder_.group();
        group.window = windows_;
        group.job = jobs_.key(j);
        group.kind = jobs_[j].kind;
        return group;
    }
    void shrink_all(std::span<cell_score> scores) const noexcept {
        for (cell_score& s : scores) s.scale(shrink(s.tasks, builder_.group().variance));
    }
    void solve(std::span<std::uint32_t const> slots) {
        changes_.resize(effects_.size());
        solver_.solve({groups_, span_of(cells_)}, live_.jobs(), windows_, slots, effects_);
        double const deviation = std::sqrt((std::max)(builder_.usual_variance, 1e-4));
        for (std::size_t i = 0; i < effects_.size(); ++i) {
            node_belief& b = beliefs_[i];
            double const value = effects_[i].groups != 0 ? effects_[i].log_slowdown : b.usual;
            double const off = value - b.log_slowdown, plain = builder_.plain(b);
            b.log_slowdown = value;
            b.proved = value * (std::max)(0.0, 1 - effects_[i].variance / (std::max)(value * value, 1e-12));
            double const now = builder_.plain(b);
            changes_[i] = {.slowdown = 4 * off * off > effects_[i].variance ? off * off : 0.0,
                           .plain = (now - plain) * (now - plain)};
            nodes_[i].now.count_beyond(now, deviation);
        }
    }
    void sum_scores() {
        for (node_watch& n : nodes_) n.live = {};
        for (cell_score const& s : live_.scores()) {
            cell_score& all = nodes_[s.node].live;
            all.slow += s.slow;
            all.now += s.now;
            all.restored += beliefs_[s.node].charge > 0 ? s.restored : 0.0;
            all.tasks += s.tasks;
        }
    }

    // For copies that ended since the last update: blames the nodes of originals that took more than twice as
    // long.
    void see_races(live_job const& job, std::span<running_time const> running) noexcept {
        for (timed_attempt const& copy : job.attempts) {
            if (!copy.copy || copy.censored || copy.task == no_task || !(copy.end > updated_)) continue;
            double const took = copy.ticks * nats_per_tick;
            for (timed_attempt const& a : job.attempts)
                if (a.task == copy.task && !a.copy && a.censored && a.node != copy.node)
                    nodes_[a.node].lose(a.ticks * nats_per_tick - took);
            for (running_time const& r : running)
                if (r.task == copy.task && !r.copy && r.node != copy.node && r.age > 0)
                    nodes_[r.node].lose(r.ticks * nats_per_tick - took);
        }
    }

    // Checks how long attempts have run, to find nodes that hang: `watch_job` before a job is closed,
    // `watch_hung` for all jobs that remain.
    void begin_watch();
    void watch_job(double now, std::uint32_t j, std::span<running_time const> running);
    void watch_hung(double now);

    template <class Self, class Archive>
    static void group_fields(Self& self, Archive& a);
    template <class Self, class Archive>
    static void job_fields(Self& self, Archive& a);

    interner<std::uint64_t> closed_; // jobs that have a group
    std::uint64_t uncompared_ = 0;

    // Scratch.
    std::vector<running_place> running_; // in the order of `running_of_`
    spread_sort_scratch<running_place> dealt_;
    std::vector<running_time> running_of_;
    live_cells live_;
    std::vector<belief_change> changes_; // by node
    std::vector<aged_attempt> ages_;
    spread_sort_scratch<aged_attempt> dealt_ages_;
};

} // namespace straggle::detail
