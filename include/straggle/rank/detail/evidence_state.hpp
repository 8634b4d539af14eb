// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: its state and its queries.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/rank/detail/batch_trust.hpp>
#include <straggle/rank/detail/group_builder.hpp>
#include <straggle/rank/detail/input_slopes.hpp>
#include <straggle/rank/detail/job_memory.hpp>
#include <straggle/rank/detail/node_effects.hpp>
#include <straggle/rank/detail/onset_watch.hpp>
#include <straggle/rank/detail/slow_detector.hpp>
#include <straggle/rank/detail/tail_index.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class evidence_state {
  public:
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

  protected:
    explicit evidence_state(double least_slowdown) : least_(std::log(least_slowdown)) {
        builder_.tolerated = least_;
    }

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
        std::uint32_t node;
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
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            bool& known = nodes_[i].is_slow_now;
            bool const is_slow = chance_slow_now(nodes_[i]) > (known ? 0.5 : 0.9);
            if (is_slow && !known) onsets += 1;
            known = is_slow;
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
};

} // namespace straggle::detail
