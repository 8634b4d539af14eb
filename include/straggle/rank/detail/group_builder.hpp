// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: compares nodes within one job.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/spread_sort.hpp>
#include <straggle/rank/detail/censored_times.hpp>
#include <straggle/rank/detail/group_rows.hpp>
#include <straggle/rank/detail/job_memory.hpp>
#include <straggle/rank/detail/node_effects.hpp>
#include <straggle/rank/detail/pooled_times.hpp>
#include <straggle/rank/detail/slow_detector.hpp>
#include <straggle/rank/detail/tail_index.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class group_builder {
  public:
    // Log of the tolerated slowdown.
    double tolerated = 0.09531017980432493;
    // Usual variance of the log time of a task within a job, and its weight in tasks.
    double usual_variance = 0.25;
    static constexpr double variance_tasks = 4;
    // Steepness of the tail of times: at its far end, and in the longest tenth. A single attempt is compared
    // with the far end, since one task may be larger than any before; all attempts of a node at once are not.
    double far_tail = tail_index::least, near_tail = tail_index::least;
    static constexpr double widest = 4.1588830833596715; // ln 64: larger deviations are clamped

    // Distribution of other jobs' times about their median.
    pooled_times pool;

    // The power of input by which times grow: times are corrected to the usual input.
    double input_slope = 0;

    // Attempts that started together on a node count as one.
    bool batch_counts_once = false;

    // Examines a job. False if it yields no comparison: fewer than two ended attempts, or only one node.
    bool build(std::span<timed_attempt const> ended, std::span<running_time const> running,
               std::span<node_belief const> beliefs) {
        gather(ended, running, beliefs);
        if (events_ < 2) return false;
        find_origin();
        siblings_.fit();
        mean_ = siblings_.mean();
        find_plain_times();
        find_variance();
        make_cells(beliefs);
        return cells_.size() >= 2;
    }
    // The same for hazards only.
    bool build_times(std::span<timed_attempt const> ended, std::span<running_time const> running,
                     std::span<node_belief const> beliefs) {
        if (!is_on_two(ended, beliefs) && !build(ended, running, beliefs)) return false;
        gather(ended, running, beliefs);
        if (events_ < 2) return false;
        find_origin();
        siblings_.fit_hazards(pool, std::sqrt(usual_variance));
        return true;
    }
    [[nodiscard]] effect_group const& group() const noexcept { return group_; }
    [[nodiscard]] std::span<effect_cell const> cells() const noexcept { return span_of(cells_); }
    [[nodiscard]] std::span<cell_score const> scores() const noexcept { return span_of(scores_); }
    [[nodiscard]] std::span<race_score const> races() const noexcept { return span_of(races_); }
    [[nodiscard]] std::size_t events() const noexcept { return events_; }

    // Log of the slowdown a node may have without counting as hung: the tolerated one, or its pace in
    // recently ended attempts.
    [[nodiscard]] double slowest(node_belief const& b) const noexcept {
        return (std::max)(tolerated + b.usual, proved_pace(b));
    }
    // Log of the slowdown that needs no new explanation: the tolerated or the proven one.
    [[nodiscard]] double plain(node_belief const& b) const noexcept {
        return (std::max)(tolerated + b.usual, b.proved);
    }
    // An age, scaled to the usual input of its job.
    [[nodiscard]] double usual_age(double age, float input) const noexcept {
        double const more = input_beyond(input, group_.input);
        return input_slope > 0 && (more > 0 || more < 0) ? age * std::exp(-input_slope * more) : age;
    }
    // The same for a log time.
    [[nodiscard]] double usual_time(double at, float input) const noexcept {
        return at - input_slope * input_beyond(input, group_.input);
    }
    // The log of an age, relative to the origin of the job.
    [[nodiscard]] double log_ratio(double age) const noexcept {
        return std::log(age > 0 ? age : 1e-300) - origin_;
    }
    // The hazard to which an attempt was exposed up to an age, on a node of that slowdown, as estimated from
    // its siblings. @pre build_times() returned true
    [[nodiscard]] double exposure(double age, double log_ratio, std::uint32_t node, double slow,
                                  bool alone) const noexcept {
        return age > 0 ? siblings_.hazard(log_ratio - slow, node, alone ? far_tail : near_tail) : 0.0;
    }
    [[nodiscard]] double exposure(double age, std::uint32_t node, double slow, bool alone) const noexcept {
        return age > 0 ? exposure(age, log_ratio(age), node, slow, alone) : 0.0;
    }
    // Lower bound for the log pace of recently ended attempts.
    [[nodiscard]] double proved_pace(node_belief const& b) const noexcept {
        return b.pace - 2 * std::sqrt(usual_variance / (1 + b.paced));
    }
    static bool began_before(timed_attempt const& a, double since) noexcept {
        return a.end < since || (since > -1e299 && a.end - std::exp(a.ticks * nats_per_tick) < since);
    }
    // Whether there are enough siblings to judge a single attempt by.
    [[nodiscard]] bool has_tail() const noexcept { return siblings_.events() >= 8; }
    [[nodiscard]] double origin() const noexcept { return origin_; }
    // The mean log time, as if all nodes were equal.
    [[nodiscard]] double center() const noexcept { return origin_ + mean_; }
    // Attempts on a node that start within this time are a batch.
    [[nodiscard]] double together() const noexcept { return 0.1 * std::exp(origin_); }
    // By how much the longest attempt of the job exceeds the longest on another node, in logarithms; negative
    // if it did not end.
    [[nodiscard]] double lead() const noexcept { return siblings_.lead(); }
    // Calls visit(spacing) for the spacings of the longest attempts.
    template <class Visit>
    void for_each_spacing(Visit&& visit) const {
        siblings_.for_each_spacing(std::forward<Visit>(visit));
    }

  private:
    struct entry {
        std::uint32_t node;
        double at;    // log time, corrected to the usual input
        double input; // log input relative to the job's mean
        double adjusted;
        bool ended;
        bool killed; // or outrun
        bool copy;
        double reference; // for a copy: log age of its original
        double start;     // if batches are needed
    };

    // Whether usable attempts ended on two nodes: then there are two cells.
    static bool is_on_two(std::span<timed_attempt const> ended,
                          std::span<node_belief const> beliefs) noexcept {
        std::uint32_t first = 0;
        bool any = false;
        for (timed_attempt const& a : ended) {
            if (a.censored || a.copy || (any && a.node == first) || began_before(a, beliefs[a.node].since))
                continue;
            if (any) return true;
            first = a.node;
            any = true;
        }
        return false;
    }
    void gather(std::span<timed_attempt const> ended, std::span<running_time const> running,
                std::span<node_belief const> beliefs) {
        entries_.resize(ended.size() + running.size());
        auto next = entries_.begin();
        races_.clear();
        events_ = 0;
        find_input(ended);
        for (timed_attempt const& a : ended) {
            node_belief const& b = beliefs[a.node];
            double const input = input_beyond(a.input, group_.input);
            double const at = a.ticks * nats_per_tick - input_slope * input;
            if (began_before(a, b.since)) continue;
            if (a.copy && b.probing) run_race(ended, a);
            double reference = 0;
            if (a.copy && !(b.probing && !a.censored && original(ended, running, a.task, reference)))
                continue;
            *next++ = {a.node,
                       at,
                       input,
                       at - b.log_slowdown,
                       !a.censored,
                       a.censored,
                       a.copy,
                       reference,
                       batch_counts_once ? a.end - std::exp(a.ticks * nats_per_tick) : 0.0};
            if (!a.censored && !a.copy) ++events_;
        }
        for (running_time const& r : running) {
            node_belief const& b = beliefs[r.node];
            if (r.copy || r.start < b.since || !(r.age > 0)) continue;
            double const input = input_beyond(r.input, group_.input);
            double const at = r.ticks * nats_per_tick - input_slope * input;
            *next++ = {r.node, at, input, at - b.log_slowdown, false, false, false, 0, r.start};
        }
        entries_.erase(next, entries_.end());
    }
    void find_input(std::span<timed_attempt const> ended) noexcept {
        double sum = 0, n = 0;
        for (timed_attempt const& a : ended) {
            if (a.censored || a.copy || is_nan(static_cast<double>(a.input))) continue;
            sum += static_cast<double>(a.input);
            ++n;
        }
        group_.input = n > 0 ? static_cast<float>(sum / n) : unknown_input;
    }
    // The race of a copy that started soon after its original. On a node as fast as others it loses slightly
    // more often than not, in proportion to the head start; the alternative is losing nine in ten.
    void run_race(std::span<timed_attempt const> ended, timed_attempt const& copy) {
        if (copy.task == no_task) return;
        for (timed_attempt const& a : ended) {
            if (a.task != copy.task || a.copy || a.censored == copy.censored) continue;
            double const length = std::exp(a.ticks * nats_per_tick),
                         own = std::exp(copy.ticks * nats_per_tick);
            double const ahead = ((copy.end - own) - (a.end - length)) / length;
            double const loses =
                0.5 + 0.3 * ahead / std::sqrt(usual_variance > 0.0025 ? usual_variance : 0.0025);
            if (!(ahead >= 0) || !(loses < 0.8)) return;
            races_.push_back(
                {copy.node, copy.censored ? std::log(0.9 / loses) : std::log(0.1 / (1 - loses))});
            return;
        }
    }
    // How long the original of a copy took, or has run so far.
    bool original(std::span<timed_attempt const> ended, std::span<running_time const> running,
                  std::uint64_t task, double& at) const {
        if (task == no_task) return false;
        for (timed_attempt const& a : ended)
            if (a.task == task && !a.copy) {
                at = usual_time(a.ticks * nats_per_tick, a.input);
                return true;
            }
        for (running_time const& r : running)
            if (r.task == task && !r.copy && r.age > 0) {
                at = usual_time(std::log(r.age), r.input);
                return true;
            }
        return false;
    }

    void find_origin() {
        siblings_.clear();
        for (entry const& e : entries_)
            if (!e.copy) siblings_.add(e.adjusted, e.ended, e.node);
        siblings_.sort();
        origin_ = siblings_.median_of_ended();
        siblings_.count_from(origin_, widest);
    }

    // Uncorrected times: what is known about killed attempts must not depend on beliefs.
    void find_plain_times() {
        bool any = false;
        for (entry const& e : entries_) any = any || (e.killed && !e.copy);
        plain_.clear();
        if (!any) return;
        for (entry const& e : entries_)
            if (!e.copy && (e.ended || e.killed)) plain_.add(e.at, e.ended, e.node);
        plain_.sort();
        plain_origin_ = plain_.median_of_ended();
        plain_.count_from(plain_origin_, widest);
        plain_.fit();
    }
    void find_variance() {
        // Sort by node: differences within a node say nothing about nodes.
        spread_sort(
            entries_, sorted_, [](entry const& e) { return std::uint64_t{e.node}; },
            [](entry const& a, entry const& b) {
                if (a.node != b.node) return a.node < b.node;
                if (a.at != b.at) return a.at < b.at;
                return a.ended && !b.ended;
            });
        double squares = 0, within = 0, censored = 0;
        group_.squares = group_.freedom = group_.inputs = group_.products = 0;
        for (std::size_t i = 0; i < entries_.size();) {
            double sum = 0, square = 0, n = 0, input = 0, inputs = 0, products = 0;
            double const first = entries_[i].at, first_input = entries_[i].input;
            std::uint32_t const node = entries_[i].node;
            for (; i < entries_.size() && entries_[i].node == node; ++i) {
                if (entries_[i].copy) continue;
                if (!entries_[i].ended) {
                    ++censored;
                    continue;
                }
                double const x = entries_[i].at - first;
                double const more = entries_[i].input - first_input;
                sum += x;
                square += x * x;
                input += more;
                inputs += more * more;
                products += more * x;
                ++n;
            }
            if (n < 2) continue;
            group_.inputs += (std::max)(0.0, inputs - input * input / n);
            group_.products += products - input * sum / n;
            squares += (std::max)(0.0, square - sum * sum / n);
            within += n - 1;
        }
        group_.squares = squares;
        group_.freedom = within;
        auto const events = static_cast<double>(events_);
        double free = events - 1, variance = siblings_.variance() * events / free;
        if (censored <= events / 8) {
            // With few tasks per node, add the spread between all, measured so that one slow node does not
            // inflate it.
            double const rest = within >= 10 ? 0.0 : free - within;
            if (rest > 0) squares += rest * (std::min)(variance, typical_square());
            free = within + rest;
            variance = squares / free;
        }
        group_.variance = (variance_tasks * usual_variance + free * variance) / (variance_tasks + free);
        group_.variance = (std::max)(group_.variance, 1e-6);
        free_ = free;
        own_variance_ = variance;
    }

    // From the median deviation, assuming a normal distribution.
    double typical_square() {
        from_origin_.clear();
        for (entry const& e : entries_)
            if (e.ended && !e.copy) from_origin_.push_back(std::fabs(e.adjusted - origin_));
        auto const half = from_origin_.begin() + static_cast<std::ptrdiff_t>(from_origin_.size() / 2);
        std::nth_element(from_origin_.begin(), half, from_origin_.end());
        return 1.4826 * 1.4826 * *half * *half;
    }

  public:
    // Learns score prices and the distribution of times from the last job examined.
    void teach(score_prices& prices) {
        double const deviation = std::sqrt(group_.variance);
        from_origin_.clear();
        for (entry const& e : entries_) {
            if (!e.ended || e.copy) continue;
            prices.learn((e.adjusted - origin_ - mean_) / deviation);
            from_origin_.push_back(e.adjusted - origin_);
        }
        pool.learn(span_of(from_origin_));
    }
    // Variance from this job alone, and its degrees of freedom.
    [[nodiscard]] double own_variance() const noexcept { return own_variance_; }
    [[nodiscard]] double own_freedom() const noexcept { return free_; }

  private:
    void make_cells(std::span<node_belief const> beliefs) {
        cells_.clear();
        scores_.clear();
        double all = 0;
        for (std::size_t i = 0; i < entries_.size();) {
            std::size_t const first = i;
            std::uint32_t const node = entries_[i].node;
            for (; i < entries_.size() && entries_[i].node == node; ++i) {
            }
            effect_cell cell{.node = node};
            double const null = tolerated + beliefs[node].usual;
            double sum = 0;
            double input = 0;
            for (std::size_t k = first; k < i; ++k) {
                sum += count(entries_[k], null, cell.tasks);
                if (entries_[k].ended) input += entries_[k].input;
            }
            if (!(cell.tasks > 1e-3)) continue;
            cell.mean = sum / cell.tasks;
            cell.input = static_cast<float>(input / cell.tasks);
            cells_.push_back(cell);
            scores_.push_back({.node = node, .tasks = cell.tasks});
            all += cell.tasks;
        }
        group_.cells = static_cast<std::uint32_t>(cells_.size());
        group_.tasks = all;
        double const deviation = std::sqrt(group_.variance);
        std::size_t i = 0;
        for (cell_score& s : scores_) {
            node_belief const& b = beliefs[s.node];
            double const share = all > 0 ? s.tasks / all : 1.0;
            for (; i < entries_.size() && entries_[i].node < s.node; ++i) {
            }
            std::size_t const first = i;
            for (; i < entries_.size() && entries_[i].node == s.node; ++i) {
            }
            // Relative to the mean as it would be if the node had the slowdown under test.
            s.slow = score(first, i, b, tolerated + b.usual, share, deviation);
            double const known = plain(b);
            s.now = known > tolerated + b.usual ? score(first, i, b, known, share, deviation) : s.slow;
            s.restored = b.charge > 0 ? -score(first, i, b, b.usual + b.charge, share, deviation) : 0.0;
            s.tasks *= 1 - share;
            if (!batch_counts_once) continue;
            s.scale(share_of_batches(first, i));
        }
    }
    // Share of attempts that start a new batch.
    double share_of_batches(std::size_t first, std::size_t last) {
        starts_.clear();
        for (std::size_t k = first; k < last; ++k) starts_.push_back(entries_[k].start);
        std::sort(starts_.begin(), starts_.end());
        std::size_t batches = 1;
        double lead = starts_.front();
        for (double const start : starts_)
            if (start - lead > together()) {
                lead = start;
                ++batches;
            }
        return static_cast<double>(batches) / static_cast<double>(starts_.size());
    }
    // An attempt's contribution to its node's sum of times; adds its weight to `tasks`.
    double count(entry const& e, double null, double& tasks) const noexcept {
        if (e.copy) {
            // Copied tasks are hard ones: compare the copy with its original.
            tasks += 1;
            double const usual = (std::max)(origin_ + mean_, e.reference);
            return std::clamp(e.at - usual, -widest, widest) + mean_ + origin_;
        }
        if (e.ended) {
            tasks += 1;
            return e.at;
        }
        // Impute an unfinished time by the mean of the siblings that took longer.
        censored_times const& siblings = e.killed ? plain_ : siblings_;
        double const origin = e.killed ? plain_origin_ : origin_, tested = e.killed ? 0.0 : null;
        double const at = std::clamp(e.at - tested - origin, -widest, widest);
        auto const longer = siblings.beyond(at);
        double const known = 1 - longer.share, mean = siblings.mean();
        tasks += known;
        return known * (origin + mean + tested) + longer.mean - mean;
    }
    [[nodiscard]] double score(std::size_t first, std::size_t last, node_belief const& b, double null,
                               double share, double deviation) const noexcept {
        double const mean = mean_ + share * (b.log_slowdown - null);
        double sum = 0;
        for (std::size_t k = first; k < last; ++k) {
            entry const& e = entries_[k];
            double off;
            if (e.copy)
                off = e.at - (std::max)(origin_ + mean, e.reference) - null;
            else if (e.ended)
                off = e.at - origin_ - mean - null;
            else
                off = siblings_.mean_beyond(e.at - origin_ - null) - mean;
            sum += std::clamp(off / deviation, -widest_score, widest_score);
        }
        return sum;
    }

    effect_group group_;
    std::vector<entry> entries_;
    spread_sort_scratch<entry> sorted_;
    std::vector<double> from_origin_, starts_;
    std::vector<race_score> races_;
    std::vector<effect_cell> cells_;
    std::vector<cell_score> scores_;
    censored_times siblings_, plain_;
    std::size_t events_ = 0;
    double origin_ = 0, plain_origin_ = 0, mean_ = 0, free_ = 1, own_variance_ = 0;
};

} // namespace straggle::detail
