// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/rank_nodes.hpp` and `rank/normalize.hpp`: from plain columns to scores and to
/// comparisons within jobs. Both look at the attempts of one job together.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/rank/detail/attempt_columns.hpp>
#include <straggle/rank/detail/job_effects.hpp>
#include <straggle/rank/detail/job_memory.hpp>
#include <straggle/rank/detail/log_ticks.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Unwraps the normalizer that computes the scores.
template <class N>
constexpr decltype(auto) core_normalizer(N const& n) noexcept {
    if constexpr (rank::input_normalizer<N>)
        return n.per_input();
    else
        return (n);
}

// The number type of durations: exact ticks if `Reading` has them and they are not divided.
template <class Reading, class Normalizer>
using scored_t = std::conditional_t<rank::input_normalizer<Normalizer>, double, Reading>;

// Keeps all its tables between runs.
template <class Value, class Normalizer>
class batch_scorer {
    static constexpr bool per_input = rank::input_normalizer<Normalizer>;
    using core_type = std::remove_cvref_t<decltype(core_normalizer(std::declval<Normalizer const&>()))>;
    static constexpr bool by_moments = rank::moment_normalizer<core_type>;
    // Scores exact ticks by (node, job), so that the result depends only on the sums; see score_moments.
    static constexpr bool by_pairs = by_moments && std::integral<Value>;

  public:
    using scores_type = score_moments_of<Value>;

    // Sums the scores of each node. With `slowdowns`, also compares the nodes within each job.
    void score(attempt_columns<Value>& attempts, Normalizer const& how, bool slowdowns);
    // The score of each row; NaN if it has none.
    void score_rows(attempt_columns<Value>& attempts, Normalizer const& how, std::vector<double>& out);

    std::vector<std::uint32_t> used_nodes; // with a used attempt, in order of first appearance
    std::vector<scores_type> scores;       // by node
    job_effects effects;
    std::vector<scoreless_job> scoreless;
    std::uint64_t scored = 0;
    std::size_t usable_jobs = 0;

  private:
    // An attempt, sorted by job.
    struct sibling {
        Value value;
        std::uint32_t node, row;
    };
    // The attempts of one job on one node.
    struct cell {
        Value first;
        std::uint32_t node, sums; // `sums`: index of its sums, if it has several attempts
    };
    struct cell_sums {
        stats::tick_moments ticks;
        log_times times;
    };
    static constexpr std::uint32_t alone = 0xffffffffu;

    void group(attempt_columns<Value>& attempts);
    void divide_by_input(attempt_columns<Value>& attempts);
    void find_cells(std::span<sibling const> siblings, bool timed);
    void compare_cells();
    void list_attempts(attempt_columns<Value> const& attempts, std::size_t job, bool by_input);
    status score_job(core_type const& how, std::span<sibling const> siblings);
    template <class Use>
    status score_each(core_type const& how, std::span<sibling const> siblings, Use&& use);
    void account(std::size_t job, std::size_t attempts, status s);
    [[nodiscard]] std::span<sibling const> siblings_of(std::size_t job) const noexcept {
        std::size_t const first = job == 0 ? 0 : ends_[job - 1];
        return span_of(siblings_.data() + first, ends_[job] - first);
    }

    std::vector<sibling> siblings_;      // may be longer
    std::vector<std::uint32_t> ends_;    // of jobs
    std::vector<std::uint32_t> cell_of_; // by node: `cells_before_` + index of its cell, less if it has none
    std::uint32_t cells_before_ = 0;     // of the current job
    std::size_t used_cells_ = 0;
    std::vector<cell> cells_; // of the current job, like the members below; may be longer
    std::vector<cell_sums> sums_;
    std::vector<double> values_, scratch_;
    std::vector<timed_attempt> timed_;
    std::size_t next_other_ = 0; // first of the current job or later
};

template <class Value, class Normalizer>
void batch_scorer<Value, Normalizer>::score(attempt_columns<Value>& attempts, Normalizer const& how,
                                            bool slowdowns) {
    group(attempts);
    effects.clear();
    scores.assign(attempts.nodes, {});
    cell_of_.assign(attempts.nodes, 0);
    cells_before_ = 1;
    used_cells_ = 0;
    bool const by_input =
        slowdowns && !per_input &&
        std::any_of(attempts.inputs.begin(), attempts.inputs.end(), [](double input) { return input > 0; });
    if (by_input)
        for (std::size_t job = 0; job < attempts.jobs; ++job) {
            list_attempts(attempts, job, true);
            effects.inputs().learn(attempts.kinds[job], span_of(timed_));
        }
    next_other_ = 0;
    for (std::size_t job = 0; job < attempts.jobs; ++job) {
        auto const siblings = siblings_of(job);
        bool const listed =
            by_input || (next_other_ < attempts.others.size() && attempts.others[next_other_].job == job);
        bool const timed = slowdowns && !listed;
        if (by_pairs || timed) find_cells(siblings, timed);
        account(job, siblings.size(), score_job(core_normalizer(how), siblings));
        if (!slowdowns) continue;
        if (listed) {
            list_attempts(attempts, job, by_input);
            std::uint64_t const kind = by_input ? attempts.kinds[job] : 0;
            if (by_input) effects.inputs().settle(kind);
            effects.add_job(span_of(timed_), attempts.nodes, kind);
        } else {
            compare_cells();
        }
    }
    if (slowdowns) effects.solve(attempts.nodes);
}

template <class Value, class Normalizer>
void batch_scorer<Value, Normalizer>::score_rows(attempt_columns<Value>& attempts, Normalizer const& how,
                                                 std::vector<double>& out) {
    group(attempts);
    out.assign(attempts.rows.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t job = 0; job < attempts.jobs; ++job) {
        auto const siblings = siblings_of(job);
        account(job, siblings.size(),
                score_each(core_normalizer(how), siblings,
                           [&out](sibling const& s, double score) { out[s.row] = score; }));
    }
}

template <class Value, class Normalizer>
void batch_scorer<Value, Normalizer>::account(std::size_t job, std::size_t attempts, status s) {
    if (s == status::ok)
        ++usable_jobs;
    else
        scoreless.push_back({job, attempts, s});
}

// Sorts the attempts by job; those of a job stay in order.
template <class Value, class Normalizer>
void batch_scorer<Value, Normalizer>::group(attempt_columns<Value>& attempts) {
    STRAGGLE_EXPECTS(attempts.rows.size() < alone);
    scoreless.clear();
    scored = 0;
    usable_jobs = 0;
    next_other_ = 0;
    std::sort(attempts.others.begin(), attempts.others.end(), [](auto const& a, auto const& b) {
        if (a.job != b.job) return a.job < b.job;
        if (a.node != b.node) return a.node < b.node;
        return a.value != b.value ? a.value < b.value : a.censored < b.censored;
    });
    // All nodes of rows are used, except that one may have lost its only row to a faster attempt.
    bool const are_all = attempts.counts.superseded == 0;
    cell_of_.assign(attempts.nodes, are_all ? 1 : 0);
    if (!are_all)
        for (auto const& row : attempts.rows) cell_of_[row.node] = 1;
    used_nodes.clear();
    for (std::uint32_t node = 0; node < attempts.row_nodes; ++node)
        if (cell_of_[node] != 0) used_nodes.push_back(node);
    if constexpr (per_input) divide_by_input(attempts);
    ends_.assign(attempts.jobs + 1, 0);
    std::uint32_t *const ends = ends_.data(), i = 0;
    for (auto const& row : attempts.rows) ++ends[row.job + std::size_t{1}];
    for (std::size_t job = 0; job < attempts.jobs; ++job) ends[job + 1] += ends[job];
    if (siblings_.size() < attempts.rows.size()) siblings_.resize(attempts.rows.size());
    sibling* const to = siblings_.data();
    for (auto const& row : attempts.rows) to[ends[row.job]++] = {row.value, row.node, i++};
}

// Divides each duration by its input in jobs where every attempt has one.
template <class Value, class Normalizer>
void batch_scorer<Value, Normalizer>::divide_by_input(attempt_columns<Value>& attempts) {
    auto& rows = attempts.rows;
    auto& inputs = attempts.inputs;
    inputs.resize(rows.size());
    auto const rate = [&](std::size_t i) { return static_cast<double>(rows[i].value) / inputs[i]; };
    scratch_.assign(attempts.jobs, 1);
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!(inputs[i] > 0) || !is_finite(rate(i))) scratch_[rows[i].job] = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (scratch_[rows[i].job] > 0) rows[i].value = static_cast<Value>(rate(i));
}

template <class Value, class Normalizer>
void batch_scorer<Value, Normalizer>::find_cells(std::span<sibling const> siblings, bool timed) {
    if (cells_.size() < siblings.size()) cells_.resize(siblings.size());
    cell* const cells = cells_.data();
    std::uint32_t* const cell_of = cell_of_.data();
    cells_before_ += static_cast<std::uint32_t>(used_cells_);
    std::uint32_t const before = cells_before_;
    std::uint32_t used = 0;
    sums_.clear();
    for (sibling const& s : siblings) {
        std::uint32_t const at = cell_of[s.node] - before; // not below `used` if it has none
        if (at >= used) {
            cell_of[s.node] = before + used;
            cells[used++] = {s.value, s.node, alone};
            continue;
        }
        cell& c = cells[at];
        auto const add = [this, &c, timed](Value value) {
            if constexpr (by_pairs) sums_[c.sums].ticks.add(value);
            if (timed) sums_[c.sums].times.add(static_cast<double>(value));
        };
        if (c.sums == alone) {
            c.sums = static_cast<std::uint32_t>(sums_.size());
            sums_.emplace_back();
            add(c.first);
        }
        add(s.value);
    }
    used_cells_ = used;
}

template <class Value, class Normalizer>
void batch_scorer<Value, Normalizer>::compare_cells() {
    for (cell const& c : span_of(cells_.data(), used_cells_))
        if (c.sums == alone)
            effects.add(c.node, static_cast<double>(c.first));
        else
            effects.add(c.node, sums_[c.sums].times);
    effects.close_job();
}

// All that is known of the times of a job.
template <class Value, class Normalizer>
void batch_scorer<Value, Normalizer>::list_attempts(attempt_columns<Value> const& attempts, std::size_t job,
                                                    bool by_input) {
    timed_.clear();
    auto const add = [this](std::uint32_t node, Value value, float input, bool censored) {
        auto const duration = static_cast<double>(value);
        if (duration > 1e-300)
            timed_.push_back(
                {.node = node, .ticks = log_ticks(duration), .input = input, .censored = censored});
    };
    for (sibling const& s : siblings_of(job))
        add(s.node, s.value, by_input ? log_input(attempts.inputs[s.row]) : unknown_input, false);
    auto const& others = attempts.others;
    for (; next_other_ < others.size() && others[next_other_].job == job; ++next_other_) {
        auto const& o = others[next_other_];
        add(o.node, o.value, by_input ? o.input : unknown_input, o.censored);
    }
}

template <class Value, class Normalizer>
status batch_scorer<Value, Normalizer>::score_job(core_type const& how, std::span<sibling const> siblings) {
    if constexpr (by_pairs) {
        stats::tick_moments durations;
        durations.add_all(siblings, [](sibling const& s, std::size_t) { return s.value; });
        auto const fitted = how.fit(durations);
        if (!fitted) return fitted.reason();
        for (cell const& c : span_of(cells_.data(), used_cells_))
            if (c.sums == alone)
                scores[c.node].add((*fitted)(c.first));
            else
                scores[c.node].add_group(sums_[c.sums].ticks, *fitted);
        scored += siblings.size();
        return status::ok;
    } else {
        return score_each(how, siblings, [this](sibling const& s, double score) {
            scores[s.node].add(score);
            ++scored;
        });
    }
}

// Calls use(sibling, score) for each attempt of a job that has a score.
template <class Value, class Normalizer>
template <class Use>
status batch_scorer<Value, Normalizer>::score_each(core_type const& how, std::span<sibling const> siblings,
                                                   Use&& use) {
    if constexpr (by_moments) {
        std::conditional_t<std::integral<Value>, stats::tick_moments, stats::moments> durations;
        durations.add_all(siblings, [](sibling const& s, std::size_t) { return s.value; });
        auto const fitted = how.fit(durations);
        if (!fitted) return fitted.reason();
        for (sibling const& s : siblings) use(s, (*fitted)(s.value));
    } else {
        values_.clear();
        for (sibling const& s : siblings) values_.push_back(static_cast<double>(s.value));
        scratch_.resize(values_.size());
        status const s = how.normalize(span_of(values_), span_of(scratch_));
        if (s != status::ok) return s;
        for (std::size_t k = 0; k < siblings.size(); ++k)
            if (is_finite(values_[k])) use(siblings[k], values_[k]);
    }
    return status::ok;
}

#ifdef STRAGGLE_COMPILED
extern template class batch_scorer<std::int64_t, rank::z_score>;
extern template class batch_scorer<double, rank::z_score>;
#endif

} // namespace straggle::detail
