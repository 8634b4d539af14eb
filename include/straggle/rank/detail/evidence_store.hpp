// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: all that it remembers, how that is updated, and what it
/// says.
///
/// Length: one class, whose parts share their state.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/spread_sort.hpp>
#include <straggle/rank/detail/batch_trust.hpp>
#include <straggle/rank/detail/group_builder.hpp>
#include <straggle/rank/detail/input_slopes.hpp>
#include <straggle/rank/detail/job_memory.hpp>
#include <straggle/rank/detail/live_cells.hpp>
#include <straggle/rank/detail/node_effects.hpp>
#include <straggle/rank/detail/onset_watch.hpp>
#include <straggle/rank/detail/slow_detector.hpp>
#include <straggle/rank/detail/tail_index.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class evidence_store {
  public:
    explicit evidence_store(double least_slowdown) : least_(std::log(least_slowdown)) {
        builder_.tolerated = least_;
    }

    [[nodiscard]] job_memory const& jobs() const noexcept { return jobs_; }
    [[nodiscard]] slowdown slowdown_of(std::uint32_t node) const noexcept {
        slowdown s = estimate_of(node);
        if (node < effects_.size() && effects_[node].is_enough()) return s;
        return {.tasks = s.tasks};
    }
    // From all remembered jobs, even if the node's speed has changed.
    [[nodiscard]] slowdown whole_slowdown_of(std::uint32_t node) const noexcept {
        if (node >= effects_.size() || !effects_[node].is_enough()) return {};
        node_effect const& e = effects_[node];
        return slowdown_from(e.whole, e.whole_variance, e.whole_freedom, e.whole_tasks);
    }
    // The same without a minimum of evidence.
    [[nodiscard]] slowdown estimate_of(std::uint32_t node) const noexcept {
        if (node >= effects_.size() || effects_[node].groups == 0) return {};
        return effects_[node].estimate;
    }
    [[nodiscard]] double evidence(std::uint32_t node) const noexcept {
        if (node >= nodes_.size()) return 0;
        node_watch const& n = nodes_[node];
        return n.slow.log_evidence(n.live.slow, n.live.tasks, up_);
    }
    // Whether evidence(node) is above a threshold; rarely needs a logarithm.
    [[nodiscard]] bool is_slow(std::uint32_t node, double threshold) const noexcept {
        if (node >= nodes_.size()) return 0 > threshold;
        node_watch const& n = nodes_[node];
        return n.slow.is_above(threshold, n.live.slow, n.live.tasks, up_);
    }
    [[nodiscard]] record::slow_guess slow_now(std::uint32_t node) const noexcept {
        if (node >= nodes_.size()) return {};
        double const chance = chance_slow_now(nodes_[node]);
        return {chance, chance > 0 ? extent_.value() : 1.0};
    }
    [[nodiscard]] double restored_evidence(std::uint32_t node) const noexcept {
        if (node >= nodes_.size()) return 0;
        node_watch const& n = nodes_[node];
        return n.restored.log_evidence(n.live.restored, n.live.tasks, down_);
    }
    [[nodiscard]] bool is_hung(std::uint32_t node, double threshold) const noexcept {
        if (node >= nodes_.size()) return 0 > threshold;
        return nodes_[node].survived > threshold || nodes_[node].hung.is_above(threshold);
    }
    [[nodiscard]] double hung_evidence(std::uint32_t node) const noexcept {
        if (node >= nodes_.size()) return 0;
        node_watch const& n = nodes_[node];
        return (std::max)(n.hung.log_evidence(), n.survived);
    }
    // Whether all attempts running there, at least two, started together.
    [[nodiscard]] bool is_one_batch(std::uint32_t node) const noexcept {
        return node < nodes_.size() && nodes_[node].batches == 1 && nodes_[node].running > 1;
    }
    // The evidence from finished jobs only.
    [[nodiscard]] double closed_evidence(std::uint32_t node) const noexcept {
        return node < nodes_.size() ? nodes_[node].slow.log_evidence(0, 0, up_) : 0.0;
    }
    // Whether, since the last call, a copy elsewhere took at most half as long as an unfinished attempt
    // there.
    [[nodiscard]] bool take_outrun(std::uint32_t node) noexcept {
        return node < nodes_.size() && std::exchange(nodes_[node].outrun, false);
    }
    // How many times as long its attempts ran as their winning copies took, if lately at least two more
    // attempts were outrun in this way than ended; otherwise 0.
    [[nodiscard]] double outrun_by(std::uint32_t node) const noexcept {
        return node < nodes_.size() && nodes_[node].outruns >= 2 ? std::exp(nodes_[node].outrun_log) : 0.0;
    }
    void learn_batch(bool was_right) noexcept {
        batches_.learn(was_right);
        builder_.batch_counts_once = !batches_.holds();
    }
    // For a node on trial: log evidence that its copies lose.
    [[nodiscard]] double race_evidence(std::uint32_t node) const noexcept {
        return node < nodes_.size() ? nodes_[node].races + nodes_[node].live_races : 0.0;
    }
    [[nodiscard]] double stuck_for(std::uint32_t node) const noexcept {
        if (node >= nodes_.size()) return 0;
        node_watch const& n = nodes_[node];
        return n.given_up >= 2 ? (std::max)(n.stuck, std::exp(n.given_up_log)) : n.stuck;
    }
    // Log evidence that attempts are killed there while siblings elsewhere end.
    [[nodiscard]] double killed_evidence(std::uint32_t node) const noexcept {
        return node < nodes_.size() ? nodes_[node].killed_now : 0.0;
    }
    // Attempts killed there since the last one that ended.
    [[nodiscard]] double killed_in_a_row(std::uint32_t node) const noexcept {
        return node < nodes_.size() ? nodes_[node].in_a_row_now : 0.0;
    }
    [[nodiscard]] std::uint32_t running_on(std::uint32_t node) const noexcept {
        return node < nodes_.size() ? nodes_[node].running : 0;
    }
    // Proven pace of recently ended attempts relative to their siblings; at least 1.
    [[nodiscard]] double pace_of(std::uint32_t node) const noexcept {
        if (node >= beliefs_.size()) return 1;
        double const pace = builder_.proved_pace(beliefs_[node]);
        return pace > 0 ? std::exp(pace) : 1.0;
    }
    [[nodiscard]] std::uint32_t groups_of(std::uint32_t node) const noexcept {
        return node < effects_.size() ? effects_[node].groups : 0;
    }
    [[nodiscard]] double tasks_of(std::uint32_t node) const noexcept {
        return node < nodes_.size() ? nodes_[node].booked + nodes_[node].live.tasks : 0.0;
    }

    void charge(std::uint32_t node, double guilty_of) {
        room_for_node(node);
        beliefs_[node].charge = guilty_of > 1 ? std::log(guilty_of) : 0.0;
        nodes_[node].restored.reset();
    }
    // Evidence that it is faster than the lower charge counts against the higher one, too.
    void raise_charge(std::uint32_t node, double guilty_of) noexcept {
        if (node < beliefs_.size())
            beliefs_[node].charge = (std::max)(beliefs_[node].charge, std::log(guilty_of));
    }
    void charge_hung(std::uint32_t node) noexcept {
        // Cap the evidence, so that about six attempts that end there suffice to acquit it.
        constexpr double as_sure = 12;
        if (node < nodes_.size()) nodes_[node].hung.settle((std::min)(hung_evidence(node), as_sure));
    }
    void begin_trial(std::uint32_t node, double now, bool probing) {
        room_for_node(node);
        beliefs_[node].since = now;
        beliefs_[node].probing = probing;
        beliefs_[node].log_slowdown = beliefs_[node].proved = beliefs_[node].usual;
        if (!probing) beliefs_[node].charge = beliefs_[node].pace = beliefs_[node].paced = 0;
        wipe(node);
    }
    void tolerate(std::uint32_t node, double usual) {
        room_for_node(node);
        double const log_usual = std::log(usual);
        if (log_usual == beliefs_[node].usual) return;
        beliefs_[node].usual = log_usual;
        nodes_[node].slow.reset();
        nodes_[node].now.reset();
        nodes_[node].hung.reset();
    }
    void forget_node(std::uint32_t node) {
        if (node >= nodes_.size()) return;
        beliefs_[node] = {};
        beliefs_[node].since = updated_;
        inputs_.forget(node);
        wipe(node);
    }

    [[nodiscard]] double usual_duration() const noexcept {
        return usual_count_ > 0 ? std::exp(usual_log_) : 0;
    }
    [[nodiscard]] double usual_tasks() const noexcept { return usual_tasks_; }
    [[nodiscard]] std::uint64_t windows() const noexcept { return windows_; }
    [[nodiscard]] double window_length() const noexcept { return window_length_; }
    [[nodiscard]] double updated() const noexcept { return updated_; }
    // Length of the period without any activity before the last update.
    [[nodiscard]] double idle() const noexcept { return idle_; }
    [[nodiscard]] double tolerated() const noexcept { return std::exp(builder_.tolerated); }
    [[nodiscard]] std::uint32_t node_bound() const noexcept {
        return static_cast<std::uint32_t>(nodes_.size());
    }
    [[nodiscard]] std::span<node_effect const> effects() const noexcept { return span_of(effects_); }

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
        empty_void_cells();
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
               std::uint32_t max_nodes, std::size_t max_attempts, std::size_t max_jobs) {
        solver_.forget();
        empty_void_cells();
        auto const here = [&](std::uint32_t node) {
            return node < node_of.size() && node_of[node] < max_nodes ? node_of[node] : no_node;
        };
        for (std::uint32_t i = 0; i < other.nodes_.size(); ++i) {
            if (here(i) == no_node) continue;
            room_for_node(here(i));
            nodes_[here(i)].slow.merge(other.nodes_[i].slow);
            nodes_[here(i)].now.merge(other.nodes_[i].now);
            nodes_[here(i)].booked += other.nodes_[i].booked;
        }
        onsets_.merge(other.onsets_);
        extent_.merge(other.extent_);
        inputs_.merge(other.inputs_);
        std::size_t c = 0;
        for (effect_group g : other.groups_) {
            std::size_t const end = c + g.cells;
            g.cells = 0;
            g.tasks = 0;
            for (; c < end; ++c) {
                effect_cell cell = other.cells_[c];
                if (other.is_void(c)) cell.tasks = 0;
                cell.node = here(cell.node);
                if (cell.node == no_node) continue;
                g.tasks += cell.tasks;
                cells_.push_back(cell);
                ++g.cells;
            }
            correct_inputs({&g, 1}, span_of(cells_).last(g.cells), g.kind,
                           inputs_.slope(g.kind) - other.inputs_.slope(g.kind));
            // Keep its age in windows.
            std::uint64_t const age = other.windows_ - g.window;
            g.window = windows_ > age ? windows_ - age : 0;
            g.closed += later;
            closed_.insert(g.job);
            groups_.push_back(g);
        }
        inputs_.settle_all([this](std::uint64_t kind, double more) {
            if (more != 0) correct_inputs(groups_, cells_, kind, more);
        });
        for (std::uint32_t j = 0; j < other.jobs_.bound(); ++j) {
            if (!other.jobs_.contains(j)) continue;
            live_job const& theirs = other.jobs_[j];
            if (jobs_.size() >= max_jobs && jobs_.find(other.jobs_.key(j)) == job_memory::none) continue;
            std::uint32_t const mine = jobs_.insert(other.jobs_.key(j), theirs.opened + later);
            for (timed_attempt a : theirs.attempts) {
                a.node = here(a.node);
                a.end += later;
                if (a.node != no_node && jobs_.attempts() < max_attempts) jobs_.add(mine, a);
            }
            jobs_[mine].last_seen = (std::max)(jobs_[mine].last_seen, theirs.last_seen + later);
            jobs_[mine].longest = (std::max)(jobs_[mine].longest, theirs.longest);
            jobs_[mine].weighed = (std::max)(jobs_[mine].weighed, theirs.weighed + later);
            jobs_[mine].fresh = true;
            if (theirs.over) jobs_.end(mine);
        }
        if (usual_count_ < other.usual_count_) {
            usual_log_ = other.usual_log_;
            usual_count_ = other.usual_count_;
        }
        if (jobs_closed_ < other.jobs_closed_) {
            usual_tasks_ = other.usual_tasks_;
            jobs_closed_ = other.jobs_closed_;
        }
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.usual_log_, self.usual_count_, self.usual_tasks_, self.jobs_closed_, self.variance_weight_);
        a.expect(std::fabs(self.usual_log_) < most_log && self.usual_count_ >= 0 && self.usual_count_ <= 256);
        a.expect(self.usual_tasks_ >= 0 && self.usual_tasks_ < most_tasks && self.jobs_closed_ >= 0 &&
                 self.jobs_closed_ <= 64 && self.variance_weight_ >= 0 && self.variance_weight_ <= 1024);
        a(self.window_began_, self.window_length_, self.updated_);
        a.expect(are_finite(self.window_began_, self.window_length_, self.updated_) &&
                 self.window_length_ >= 0);
        a(self.windows_, self.started_, self.seen_, self.seen_in_window_);
        auto& builder = self.builder_;
        a(builder.usual_variance, builder.tolerated, builder.pool);
        a.expect(builder.usual_variance >= 0 && builder.usual_variance < most_log && builder.tolerated >= 0 &&
                 builder.tolerated < most_log);
        a(self.batches_, self.far_tail_, self.near_tail_, self.prices_, self.onsets_, self.extent_,
          self.inputs_);
        a.items(self.beliefs_, 7 * 8 + 1);
        a.items(self.nodes_, (9 + 6 + 3 + 6 + 2) * 8 + 2);
        if (!a.expect(self.beliefs_.size() == self.nodes_.size())) return;
        group_fields(self, a);
        double spread = self.solver_.known_spread();
        a(spread, self.solver_);
        a.expect(spread >= 0 && spread < most_log * most_log);
        job_fields(self, a);
        if constexpr (Archive::reads) {
            self.effects_.resize(self.nodes_.size());
            self.solver_.set_spread(spread);
            self.use_tails();
            self.take_prices();
            builder.batch_counts_once = !self.batches_.holds();
            if (a.ok())
                a.expect(self.solver_.resume(self.nodes_.size(), self.groups_, self.cells_, self.windows_));
        }
    }
    [[nodiscard]] std::size_t cells() const noexcept { return cells_.size(); }

    // Ended attempts without any comparison.
    [[nodiscard]] std::uint64_t uncompared() const noexcept { return uncompared_; }

  private:
    static constexpr double no_evidence = -50; // lower bound of log evidence
    static constexpr double ln2 =
        0.6931471805599453; // of two kinds of evidence, half of the larger one is valid
    struct node_watch {
        slow_detector slow, restored;
        onset_filter now;
        hung_detector hung;
        cell_score live;                  // of unfinished jobs
        double booked = 0;                // tasks of finished jobs
        double races = 0, live_races = 0; // log evidence from races of its copies
        double stuck = 0;
        double exposed = 0, ended = 0;        // since the last update
        double job_killed = 0, job_ended = 0; // of the job being examined
        double outruns = 0;      // how many more attempts were outrun by a copy than ended, lately
        double outrun_log = 0;   // mean log ratio of these
        double given_up = 0;     // how many more attempts were killed than ended, lately
        double given_up_log = 0; // mean log of their age relative to the usual time
        double killed = 0;       // log evidence that all attempts are killed there, from finished jobs
        double killed_in_a_row = 0;
        double killed_now = 0, in_a_row_now = 0; // the same with unfinished jobs
        double survived = no_evidence;           // log evidence that the latest attempts do not end
        double last_ended = -1e300;              // latest start among the attempts that ended
        std::uint32_t running = 0;               // comparable attempts that are not copies
        std::uint32_t company = 0;               // all running attempts
        std::uint32_t ages = 0, aged = 0;        // where theirs begin, and how many there are
        std::uint32_t batches = 0;
        std::size_t void_cells = 0; // its cells before this index are void
        bool outrun = false;        // lost to a copy
        bool is_slow_now = false;   // as counted by count_onsets

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.booked, self.races, self.last_ended, self.outruns, self.outrun_log, self.given_up);
            a(self.given_up_log, self.killed, self.killed_in_a_row, self.outrun, self.is_slow_now);
            a(self.slow, self.now, self.restored, self.hung);
            a.expect(are_finite(self.last_ended, self.killed, self.killed_in_a_row) && self.killed >= 0 &&
                     self.killed_in_a_row >= 0);
            a.expect(self.booked >= 0 && self.booked < most_tasks && std::fabs(self.races) < most_tasks);
            a.expect(self.outruns >= 0 && self.outruns <= most_outruns && std::fabs(self.outrun_log) <= 100);
            a.expect(self.given_up >= 0 && self.given_up <= most_outruns &&
                     std::fabs(self.given_up_log) <= 100);
        }
        // An attempt was killed at this multiple of the usual time.
        void give_up(double log_times) noexcept {
            given_up += 1;
            given_up_log += (log_times - given_up_log) / given_up;
        }
        // An unfinished attempt ran this many times as long as its copy, which ended.
        void lose(double log_times) noexcept {
            if (!(log_times > ln2)) return;
            outrun = true;
            outruns += 1;
            outrun_log += (log_times - outrun_log) / outruns;
        }
    };
    static constexpr double most_outruns = 8;

    // Killed attempts of a job are evidence if siblings elsewhere ended: a usual node kills the same share.
    // One job is weak evidence, however many tasks it has. Adds to what `evidence` and `in_a_row` point at.
    void weigh_killed(live_job const& job, double node_watch::* evidence, double node_watch::* in_a_row) {
        constexpr double killed_there = 0.95, most = 4.6; // for a node that finishes nothing; ln 100
        double ended = 0, killed = 0;
        for (timed_attempt const& a : job.attempts) {
            if ((a.censored && !a.killed) || group_builder::began_before(a, beliefs_[a.node].since)) continue;
            ++(a.killed ? killed : ended);
            ++(a.killed ? nodes_[a.node].job_killed : nodes_[a.node].job_ended);
        }
        for (timed_attempt const& a : job.attempts) {
            node_watch& n = nodes_[a.node];
            double const k = std::exchange(n.job_killed, 0.0), e = std::exchange(n.job_ended, 0.0);
            double const others = ended + killed - k - e;
            if (!(k + e > 0) || !(others > 0)) continue;
            // If others are killed as well, the job is the cause.
            double const usual = (killed - k + 1) / (others + 2), ends = ended - e;
            double const by =
                k * std::log(killed_there / usual) + e * std::log((1 - killed_there) / (1 - usual));
            if (by > 0 && !(ends > others / 2)) continue;
            n.*evidence = (std::max)(0.0, n.*evidence + std::clamp(by, -most, most));
            n.*in_a_row = e > 0 ? 0.0 : n.*in_a_row + k;
        }
    }
    [[nodiscard]] double chance_slow_now(node_watch const& n) const noexcept {
        return n.now.chance(n.live.now, n.live.tasks, up_, onsets_);
    }
    void room_for_node(std::uint32_t node) {
        if (node < nodes_.size()) return;
        std::size_t const size = std::size_t{node} + 1;
        make_room_for(nodes_, size - nodes_.size());
        beliefs_.reserve(nodes_.capacity());
        effects_.reserve(nodes_.capacity());
        nodes_.resize(size);
        beliefs_.resize(size);
        effects_.resize(size);
    }
    void wipe(std::uint32_t node) {
        nodes_[node] = {};
        nodes_[node].void_cells = cells_.size();
        effects_[node] = {};
        solver_.forget();
        has_void_cells_ = true;
    }
    // Whether a cell dates from before its node was wiped.
    [[nodiscard]] bool is_void(std::size_t cell) const noexcept {
        return has_void_cells_ && cell < nodes_[cells_[cell].node].void_cells;
    }
    // Clears the cells of all wiped nodes in one pass, before cells are read or moved.
    void empty_void_cells() noexcept {
        if (!has_void_cells_) return;
        std::size_t c = 0;
        for (effect_group& g : groups_)
            for (std::size_t const end = c + g.cells; c < end; ++c) {
                if (!is_void(c)) continue;
                g.tasks = (std::max)(g.tasks - cells_[c].tasks, 0.0);
                cells_[c].tasks = 0;
            }
        for (node_watch& n : nodes_) n.void_cells = 0;
        has_void_cells_ = false;
    }

    // Mean over the last few hundred attempts.
    void learn_usual(double log_length) noexcept {
        if (usual_count_ < 256) ++usual_count_;
        usual_log_ += (log_length - usual_log_) / usual_count_;
    }
    void learn_tasks(double tasks) noexcept {
        if (jobs_closed_ < 64) ++jobs_closed_;
        usual_tasks_ += (tasks - usual_tasks_) / jobs_closed_;
    }
    // Mean over the last few dozen attempts that ended there, starting from one usual attempt.
    void learn_pace(std::uint32_t node, double log_ratio) noexcept {
        log_ratio = std::clamp(log_ratio, -group_builder::widest, group_builder::widest);
        if (nodes_[node].is_slow_now) extent_.learn(log_ratio);
        node_belief& b = beliefs_[node];
        if (b.paced < 32) ++b.paced;
        b.pace += (log_ratio - b.pace) / (1 + b.paced);
    }
    // Learns the steepness of the tail from the last job.
    void learn_tail() {
        if (builder_.lead() >= 0) far_tail_.learn((std::min)(builder_.lead(), group_builder::widest));
        builder_.for_each_spacing([this](double spacing) { near_tail_.learn(spacing); });
        use_tails();
    }
    void use_tails() noexcept {
        builder_.far_tail = far_tail_.value();
        builder_.near_tail = near_tail_.value();
    }
    void learn_variance() noexcept {
        double const free = (std::min)(builder_.own_freedom(), 64.0);
        variance_weight_ = (std::min)(variance_weight_ + free, 1024.0);
        double& usual = builder_.usual_variance;
        usual += ((std::min)(builder_.own_variance(), 4.0) - usual) * free / variance_weight_;
    }

    struct aged_attempt {
        double log_ratio;
        double start;
        double hazard; // up to now; 0 if it is no evidence
    };
    // Log evidence that the node began to hang at some time after the start of its latest attempt that ended:
    // all attempts started since then have survived. This uses present knowledge throughout, while
    // `hung_detector` accumulates what was known at each time; either may be stronger.
    void weigh_ages(node_watch& n, std::span<aged_attempt> ages) const {
        std::sort(ages.begin(), ages.end(),
                  [](aged_attempt const& a, aged_attempt const& b) { return a.start > b.start; });
        double survived = 0;
        for (std::size_t i = 0; i < ages.size() && ages[i].start > n.last_ended; ++i) {
            survived += (1 - hung_detector::ratio_of_hung) * ages[i].hazard;
            double const older = (std::max)(i + 1 < ages.size() ? ages[i + 1].start : -1e300, n.last_ended);
            double const windows = (ages[i].start - older) / (window_length_ > 0 ? window_length_ : 1.0);
            if (windows > 1e-9)
                n.survived = log_sum(n.survived, survived + std::log((std::min)(windows, 1.0)));
        }
        n.survived -= ln2;
    }

    void take_prices() noexcept {
        up_ = prices_.upward();
        down_ = prices_.downward();
    }
    // Weight of a score, given that nodes differ between jobs anyway.
    [[nodiscard]] double shrink(double tasks, double variance) const noexcept {
        return 1 / (1 + tasks * solver_.known_spread() / variance);
    }
    void book(cell_score const& s, double variance) noexcept {
        double const kept = shrink(s.tasks, variance);
        node_watch& n = nodes_[s.node];
        n.slow.add(kept * s.slow, kept * s.tasks, up_);
        n.now.add(kept * s.now, kept * s.tasks, up_);
        if (beliefs_[s.node].charge > 0) n.restored.add(kept * s.restored, kept * s.tasks, down_);
        n.booked += s.tasks;
    }

    // Once per window: counts nodes that became slow. A high bar, so that nodes that only seem slow (at most
    // one in ten) do not raise the prior for others.
    void count_onsets() noexcept {
        double onsets = 0;
        for (auto& node : nodes_) {
            bool const is_slow = chance_slow_now(node) > (node.is_slow_now ? 0.5 : 0.9);
            if (is_slow && !node.is_slow_now) onsets += 1;
            node.is_slow_now = is_slow;
        }
        onsets_.next_window(static_cast<double>(nodes_.size()), onsets);
    }

    // Computed once for all queries.
    void write_slowdowns() noexcept {
        for (node_effect& e : effects_)
            if (e.groups != 0) e.estimate = slowdown_from(e.log_slowdown, e.variance, e.freedom, e.tasks);
    }
    // Tolerates more in a fleet whose nodes differ anyway.
    void measure_scatter() {
        scatter_.clear();
        variances_.clear();
        for (std::size_t i = 0; i < effects_.size(); ++i) {
            node_effect const& e = effects_[i];
            if (!e.is_enough()) continue;
            scatter_.push_back(std::fabs(e.log_slowdown - beliefs_[i].usual));
            variances_.push_back(e.variance);
        }
        double spread = 0;
        if (scatter_.size() >= 5) {
            auto const n = static_cast<double>(scatter_.size());
            double const deviation = 1.4826 * median(scatter_);
            double const chance = median(variances_) * (1 + 3 * std::sqrt(2.7 / n));
            spread = std::sqrt((std::max)(0.0, deviation * deviation - chance));
        }
        builder_.tolerated = least_ + 2 * (std::min)(spread, 0.25);
    }
    static double median(std::vector<double>& values) {
        auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    }

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

    // Groups, each followed by its cells; those of wiped nodes are empty.
    template <class Self, class Archive>
    static void group_fields(Self& self, Archive& a) {
        std::size_t groups = self.groups_.size(), c = 0;
        a.count(groups, 3 * 8 + 9 * 8 + 8 + 3);
        for (std::size_t k = 0; k < groups && a.ok(); ++k) {
            effect_group g;
            bool is_closed = false;
            if constexpr (!Archive::reads) {
                g = self.groups_[k];
                is_closed = self.closed_.find(g.job) != interner<std::uint64_t>::none;
                for (std::size_t cell = c; cell < c + g.cells; ++cell)
                    if (self.is_void(cell)) g.tasks = (std::max)(g.tasks - self.cells_[cell].tasks, 0.0);
            }
            a(g, is_closed);
            a.expect(g.window <= self.windows_);
            double tasks = 0;
            for (std::uint32_t left = g.cells; left > 0 && a.ok(); --left, ++c) {
                effect_cell cell;
                if constexpr (!Archive::reads) {
                    cell = self.cells_[c];
                    if (self.is_void(c)) cell.tasks = 0;
                }
                a(cell);
                a.expect(cell.node < self.nodes_.size());
                if constexpr (Archive::reads) self.cells_.push_back(cell);
                tasks += cell.tasks;
            }
            a.expect(std::fabs(g.tasks - tasks) <= 1e-6 * (1 + tasks));
            if constexpr (Archive::reads) {
                if (is_closed) self.closed_.insert(g.job);
                self.groups_.push_back(g);
            }
        }
    }

    // Unfinished jobs, such that each regains its index, and new jobs get those they would have had.
    template <class Self, class Archive>
    static void job_fields(Self& self, Archive& a) {
        std::vector<std::uint32_t> unused;
        if constexpr (!Archive::reads) unused = self.jobs_.unused();
        a.items(unused, 4);
        std::size_t jobs = self.jobs_.size();
        a.count(jobs, 8 + 8 + 32 + 3);
        if constexpr (Archive::reads) {
            std::vector<unsigned char> is_unused(unused.size() + jobs);
            for (std::uint32_t const j : unused) {
                if (!a.expect(j < is_unused.size() && is_unused[j] == 0)) return;
                is_unused[j] = 1;
            }
            self.jobs_.lay_out(is_unused.size(), span_of(unused));
            live_job job;
            for (std::uint64_t key = 0; jobs > 0 && a.ok(); --jobs) {
                a(key, job);
                for (timed_attempt const& t : job.attempts) a.expect(t.node < self.nodes_.size());
                if (a.expect(self.jobs_.find(key) == job_memory::none)) self.jobs_.insert(key, job);
            }
        } else {
            for (std::uint32_t j = 0; j < self.jobs_.bound(); ++j)
                if (self.jobs_.contains(j)) a(self.jobs_.key(j), self.jobs_[j]);
        }
    }

    double least_;
    std::vector<double> scatter_, variances_; // scratch
    batch_trust batches_;
    onset_rate onsets_;
    onset_extent extent_;
    input_slopes inputs_;
    tail_index far_tail_,
        near_tail_; // from the leads of the longest attempts, and from the spacings of the longest tenth
    job_memory jobs_;
    std::vector<node_watch> nodes_;
    bool has_void_cells_ = false;
    std::vector<node_belief> beliefs_;
    std::vector<node_effect> effects_;
    std::vector<effect_group> groups_; // of finished jobs, oldest first
    std::vector<effect_cell> cells_;   // of these groups, one group after the other
    effect_solver solver_;
    double usual_log_ = 0, usual_count_ = 0, usual_tasks_ = 0, jobs_closed_ = 0, variance_weight_ = 0;
    std::uint64_t windows_ = 0;
    bool started_ = false;
    double window_began_ = 0, window_length_ = 0, updated_ = 0, idle_ = 0;
    bool seen_ = false, seen_in_window_ = false; // an attempt was seen: since the last update, in this window
    group_builder builder_;
    score_prices prices_;
    score_rates up_ = prices_.upward(), down_ = prices_.downward(); // latest prices
    interner<std::uint64_t> closed_;                                // jobs that have a group
    std::uint64_t uncompared_ = 0;

    // Scratch.
    std::vector<running_place> running_; // in the order of `running_of_`
    spread_sort_scratch<running_place> dealt_;
    std::vector<running_time> running_of_;
    live_cells live_;
    std::vector<belief_change> changes_; // by node
    std::vector<aged_attempt> ages_;     // of running attempts, by node
};

} // namespace straggle::detail
