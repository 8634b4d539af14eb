// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: from the evidence in a window to ranked nodes. Each job is scaled
/// by its own sums, and each of its pairs scored as one; see `score_moments`.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/prefetch.hpp>
#include <straggle/monitor/detail/window_store.hpp>
#include <straggle/rank/job_groups.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/rank/relative_times.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Evidence, class Ranking>
class evidence_ranker {
    using pair = typename Evidence::pair_type;
    using scores_type = typename Evidence::scores_type;
    static constexpr bool exact = std::integral<typename Evidence::value_type>;

  public:
    using ranking_type = node_ranking<typename Evidence::node_id, typename Evidence::job_id>;

    explicit evidence_ranker(rank::edge_rule edges) : scratch_(edges) {}

    [[nodiscard]] ranking_type const& ranking() const noexcept { return ranking_; }

    // Ranks over the buckets `first` to `last`.
    ranking_type const& rank(Evidence const& evidence, Ranking const& rules, std::int64_t first,
                             std::int64_t last) {
        std::size_t const nodes = evidence.nodes().bound();
        scores_.assign(nodes, {});
        present_.assign(nodes, 0);
        joiner_.prepare(nodes);
        distinct_ = evidence.ring() == 1;
        scoreless_.clear();
        attempt_counts counts;
        std::uint64_t scored = 0;
        std::size_t usable_jobs = 0;
        bool whole = true; // the window is all that is held
        slots_.assign(evidence.ring(), 0);
        if (!evidence.empty()) {
            for (std::int64_t number = evidence.oldest(); number <= evidence.head(); ++number) {
                if (number < first || number > last) {
                    whole = false;
                    continue;
                }
                auto const& bucket = evidence.at(number);
                slots_[evidence.slot(number)] = 1;
                counts += bucket.counts;
                scored += bucket.finished.scored;
                usable_jobs += bucket.finished.jobs;
                bucket.finished.for_each([this](std::uint32_t node, scores_type const& scores) {
                    scores_[node].merge(scores);
                    present_[node] = 1;
                });
            }
        }
        for (std::uint32_t job = 0; job < evidence.jobs().bound(); ++job) {
            std::span<pair const> pairs = evidence.pairs_of(job).all();
            if (!whole) pairs = those_in_window(pairs);
            if (pairs.empty()) continue;
            next_pairs_ =
                job + 1 < evidence.jobs().bound() ? evidence.pairs_of(job + 1).all().data() : nullptr;
            if (!whole)
                for (pair const& p : pairs) present_[p.node] = 1;
            if (outcome<std::uint64_t> const n = score_job(evidence, rules, pairs, scores_.data())) {
                scored += *n;
                ++usable_jobs;
            } else {
                scoreless_.push_back({job, total_, n.reason()});
            }
        }
        finish(evidence, rules, whole, counts, scored, usable_jobs);
        return ranking_;
    }

    // Adds what a finished job says to the finished scores of the bucket its pairs are in. Strong guarantee.
    void fold(Evidence& evidence, Ranking const& rules, std::span<pair const> pairs) {
        auto& bucket = evidence.at(evidence.number_of(pairs.front().slot()));
        std::size_t const nodes = evidence.nodes().bound();
        if (scores_.size() < nodes) scores_.resize(nodes);
        joiner_.prepare(nodes);
        for (pair const& p : pairs) bucket.finished.make_place(p.node);

        distinct_ = true;
        next_pairs_ = nullptr;
        for (pair const& p : pairs) scores_[p.node] = {};
        outcome<std::uint64_t> const scored = score_job(evidence, rules, pairs, scores_.data());
        if (!scored) return;
        for (pair const& p : pairs) evidence.add_finished(p.node, bucket, scores_[p.node]);
        bucket.finished.scored += *scored;
        ++bucket.finished.jobs;
    }

  private:
    [[nodiscard]] std::span<pair const> those_in_window(std::span<pair const> pairs) {
        in_window_.clear();
        for (pair const& p : pairs)
            if (slots_[p.slot()] != 0) in_window_.push_back(p);
        return in_window_;
    }

    // `whole`: every node that is known has evidence in the window.
    void finish(Evidence const& evidence, Ranking const& rules, bool whole, attempt_counts const& counts,
                std::uint64_t scored, std::size_t usable_jobs) {
        order_.clear();
        for (std::uint32_t const node : evidence.order())
            if (whole || present_[node] != 0) order_.push_back(node);
        std::sort(scoreless_.begin(), scoreless_.end(), [&](auto const& a, auto const& b) {
            return evidence.pairs_of(static_cast<std::uint32_t>(a.slot)).seen <
                   evidence.pairs_of(static_cast<std::uint32_t>(b.slot)).seen;
        });
        // Built beside the last answer, which stays whole should an allocation fail.
        ranking_access::write_degenerate(next_, scoreless_, [&](std::size_t job) -> auto const& {
            return evidence.jobs()[static_cast<std::uint32_t>(job)];
        });
        ranking_access::rank(
            next_, scratch_, order_.size(), rules.interval_of_mean,
            [&](std::size_t i) -> auto const& { return scores_[order_[i]]; },
            [&](std::size_t i) -> decltype(auto) { return evidence.nodes()[order_[i]]; });
        ranking_access::write_slowdowns(next_, scratch_, [&](std::uint32_t seen) -> auto const& {
            return scores_[order_[seen]].times();
        });
        ranking_access::account(next_, counts, scored, usable_jobs, rules.edges);
        std::swap(ranking_, next_);
    }

    // Adds what a job says of its nodes to `scores`; how many scores that were, or why there are none, and
    // then total_ attempts. @pre some pairs, and the joiner is prepared
    [[nodiscard]] outcome<std::uint64_t> score_job(Evidence const& evidence, Ranking const& rules,
                                                   std::span<pair const> pairs, scores_type* scores) {
        auto const& wide = evidence.wide();
        auto const& norm = rules.normalizer;
        if constexpr (exact) {
            stats::tick_moments const job =
                distinct_ ? pair::together(pairs, wide, [](pair const&, std::size_t) {})
                          : pair::together(pairs, wide,
                                           [this](pair const& p, std::size_t i)
                                               STRAGGLE_INLINE_LAMBDA { joiner_.note(p.node, i); });
            total_ = job.count();
            auto const fitted = norm.fit(job);
            if (!fitted) return fitted.reason();
            double const unit = relative_unit(*fitted);
            auto const alone = [&, scale = *fitted](pair const& p) STRAGGLE_INLINE_LAMBDA {
                if (p.is_single())
                    scores[p.node].add(scale(p.single()), unit);
                else
                    scores[p.node].add_group(p.moments(wide), *fitted, unit);
            };
            if (distinct_) {
                for_each_prefetched(pairs, scores, alone);
                return total_;
            }
            joiner_.join(
                pairs, [](pair const& p) STRAGGLE_INLINE_LAMBDA -> pair const& { return p; },
                [&](stats::tick_moments& together, pair const& p) { together.merge(p.moments(wide)); }, alone,
                [&](std::size_t node, stats::tick_moments const& together) {
                    scores[node].add_group(together, *fitted, unit);
                });
        } else {
            stats::moments const job = moments_of_groups(pairs);
            total_ = job.count();
            auto const scale = norm.fit(job);
            if (!scale) return scale.reason();
            double const unit = relative_unit(*scale);
            for_each_prefetched(pairs, scores, [&, by = *scale](pair const& p) STRAGGLE_INLINE_LAMBDA {
                scores[p.node].add_group(p.count(), by(p.mean()),
                                         p.sum_of_squared_deviations() * by.factor * by.factor, unit);
            });
        }
        return total_;
    }

    // Work on a pair takes long enough for what comes later to arrive: the scores of nodes further down, and
    // the pairs of the next job, which no hardware can foresee.
    template <class Use>
    STRAGGLE_ALWAYS_INLINE void for_each_prefetched(std::span<pair const> pairs, scores_type* scores,
                                                    Use&& use) {
        pair const* const next = next_pairs_;
        std::size_t const size = pairs.size(), settled = size > 16 ? size - 16 : 0;
        for (std::size_t i = 0; i < settled; ++i) {
            prefetch_row(next, i);
            prefetch_row(scores, pairs[i + 16].node);
            use(pairs[i]);
        }
        for (std::size_t i = settled; i < size; ++i) {
            prefetch_row(next, i);
            use(pairs[i]);
        }
    }

    node_joiner joiner_;
    std::vector<scores_type> scores_;    // by node
    std::vector<unsigned char> present_; // by node: has evidence in the window
    std::vector<unsigned char> slots_;   // by slot: the bucket is in the window
    std::vector<std::uint32_t> order_;   // nodes in the window, by first appearance
    std::vector<pair> in_window_;        // of one job
    std::vector<scoreless_job> scoreless_;
    bool distinct_ = false;            // no job has two pairs with one node
    pair const* next_pairs_ = nullptr; // of the job after this one
    std::uint64_t total_ = 0;          // attempts of the job that was scored last
    ranking_scratch scratch_;
    ranking_type ranking_, next_;
};

} // namespace straggle::detail
