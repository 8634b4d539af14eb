// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: ranks nodes from the evidence in a window. Each job is scaled by
/// everything known about it, and each of its pairs in the window is scored as a unit; see `score_moments`.
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

    explicit evidence_ranker(decltype(Ranking::ranker) const& ranker) : scratch_(ranker) {}

    [[nodiscard]] ranking_type const& ranking() const noexcept { return ranking_; }

    // Ranks over the buckets `first` to `last`, against job data up to bucket `known_by`, or against the data
    // in the window only.
    ranking_type const& rank(Evidence const& evidence, Ranking const& rules, std::int64_t first,
                             std::int64_t last, std::int64_t known_by, bool window_alone) {
        auto const& held = evidence.held();
        std::size_t const nodes = held.nodes().bound();
        scores_.assign(nodes, {});
        present_.assign(nodes, 0);
        joiner_.prepare(nodes);
        tell_times_ = rules.slowdowns;
        links().reset(nodes);
        scoreless_.clear();
        attempt_counts counts;
        std::uint64_t scored = 0;
        std::size_t usable_jobs = 0;
        bool whole = true; // the window covers the whole ring
        slots_.assign(evidence.ring(), outside);
        if (!evidence.empty()) {
            for (std::int64_t number = evidence.oldest(); number <= evidence.head(); ++number) {
                if (number < first || number > last) {
                    whole = false;
                    if (number <= known_by && !window_alone) slots_[evidence.slot(number)] = as_baseline;
                    continue;
                }
                auto const& bucket = evidence.at(number);
                slots_[evidence.slot(number)] = inside;
                counts += bucket.counts;
                scored += bucket.finished.scored;
                usable_jobs += bucket.finished.jobs;
                bucket.finished.for_each([this](std::uint32_t node, scores_type const& scores) {
                    scores_[node].merge(scores);
                    present_[node] = 1;
                });
                bucket.finished.for_each_link(
                    [this](std::uint32_t a, std::uint32_t b) { links().join(a, b); });
            }
        }
        std::uint32_t const jobs = static_cast<std::uint32_t>(held.jobs().bound());
        for (std::uint32_t job = 0; job < jobs; ++job) {
            if (!held.is_in_ring(job)) continue;
            next_pairs_ = job + 1 < jobs ? held.row(job + 1).first.table.all().data() : nullptr;
            job_evidence const e = gather(held, job, window_alone);
            if (e.pairs.empty()) continue;
            if (!whole)
                for (pair const& p : e.pairs) present_[p.node] = 1;
            if (outcome<std::uint64_t> const n = score_job(held, job, rules, e, scores_.data())) {
                if (tell_times_) {
                    std::uint32_t const with = total_ > *n ? node_links::somewhere : e.pairs[0].node;
                    for (pair const& p : e.pairs) links().join(p.node, with);
                }
                scored += *n;
                ++usable_jobs;
            } else {
                scoreless_.push_back({job, total_, n.reason()});
            }
        }
        finish(held, rules, whole, counts, scored, usable_jobs);
        return ranking_;
    }

    // Adds the scores of a finished job to the finished scores of the single bucket of its pairs. False if a
    // limit is exceeded. Strong guarantee.
    [[nodiscard]] bool fold(Evidence& evidence, Ranking const& rules, std::uint32_t job, std::size_t most,
                            bool window_alone) {
        auto const& held = evidence.held();
        auto const& table = held.row(job).first.table;
        std::span<pair const> const pairs = table.all();
        auto& bucket = evidence.at(evidence.number_of(table.slot));
        std::size_t const nodes = held.nodes().bound();
        if (scores_.size() < nodes) scores_.resize(nodes);
        joiner_.prepare(nodes);
        std::size_t added = 0;
        for (pair const& p : pairs) added += bucket.finished.find(p.node) == nullptr ? 1u : 0u;
        if (evidence.finished() + added > most) return false;
        for (pair const& p : pairs) bucket.finished.make_place(p.node);

        next_pairs_ = nullptr;
        slots_.assign(evidence.ring(), outside);
        slots_[table.slot] = inside;
        for (pair const& p : pairs) scores_[p.node] = {};
        tell_times_ = true;
        outcome<std::uint64_t> const scored =
            score_job(held, job, rules, gather(held, job, window_alone), scores_.data());
        if (!scored) return true;
        for (pair const& p : pairs) evidence.add_finished(p.node, bucket, scores_[p.node]);
        for (pair const& p : pairs) bucket.finished.link(p.node, pairs[0].node);
        if (total_ > *scored) bucket.finished.link(pairs[0].node, node_links::somewhere);
        bucket.finished.scored += *scored;
        ++bucket.finished.jobs;
        return true;
    }

  private:
    enum use_of_slot : unsigned char { outside, as_baseline, inside };
    // The evidence of a job: its pairs in the window, and the rest of its baseline.
    struct job_evidence {
        std::span<pair const> pairs;
        bool distinct = true; // no node has two pairs
        bool has_rest = false;
    };

    template <class Held>
    [[nodiscard]] job_evidence gather(Held const& held, std::uint32_t job, bool window_alone) {
        auto const& span = held.row(job).first;
        job_evidence e;
        // Most jobs are in one step; without steps, all are.
        if (held.after(span) == nullptr && slots_[span.table.slot] == inside) {
            e.pairs = span.table.all();
        } else {
            in_window_.clear();
            rest_ = {};
            std::size_t spans = 0;
            for (auto const* s = &span; s != nullptr; s = held.after(*s)) {
                use_of_slot const use = slots_[s->table.slot];
                if (use == inside) {
                    in_window_.insert(in_window_.end(), s->table.all().begin(), s->table.all().end());
                    ++spans;
                }
                if (use != as_baseline) continue;
                for (pair const& p : s->table.all()) rest_.merge(p.moments(held.wide()));
                e.has_rest = true;
            }
            e.pairs = in_window_;
            e.distinct = spans < 2;
        }
        if (held.slots() > 1 && !window_alone && !e.pairs.empty()) {
            if (auto const& gone = held.past(job).gone; gone.count() != 0) {
                if (!e.has_rest) rest_ = {};
                rest_.merge(gone);
                e.has_rest = true;
            }
        }
        return e;
    }

    // `whole`: every known node has evidence in the window.
    template <class Held>
    void finish(Held const& held, Ranking const& rules, bool whole, attempt_counts const& counts,
                std::uint64_t scored, std::size_t usable_jobs) {
        order_.clear();
        for (std::uint32_t const node : held.order())
            if (whole || present_[node] != 0) order_.push_back(node);
        std::sort(scoreless_.begin(), scoreless_.end(), [&](auto const& a, auto const& b) {
            return held.past(static_cast<std::uint32_t>(a.slot)).seen <
                   held.past(static_cast<std::uint32_t>(b.slot)).seen;
        });
        // Built beside the last answer, which survives if an allocation fails.
        ranking_access::write_degenerate(next_, scoreless_, [&](std::size_t job) -> auto const& {
            return held.jobs()[static_cast<std::uint32_t>(job)];
        });
        ranking_access::rank(
            next_, scratch_, order_.size(), rules,
            [&](std::size_t i) -> auto const& { return scores_[order_[i]]; },
            [&](std::size_t i) -> decltype(auto) { return held.nodes()[order_[i]]; },
            [&](std::uint32_t seen) -> auto const& { return scores_[order_[seen]].times(); },
            [&](std::uint32_t seen) { return links().component(order_[seen]); });
        ranking_access::account(next_, counts, scored, usable_jobs, edges_of(rules.ranker));
        std::swap(ranking_, next_);
    }

    // Adds a job's scores of its nodes to `scores`; returns their number, or why there are none, in which
    // case total_ is the number of attempts. @pre there are pairs, and the joiner is prepared
    template <class Held>
    [[nodiscard]] outcome<std::uint64_t> score_job(Held const& held, std::uint32_t job, Ranking const& rules,
                                                   job_evidence const& e, scores_type* scores) {
        auto const& wide = held.wide();
        auto const& norm = rules.normalizer;
        if constexpr (exact) {
            stats::tick_moments whole =
                e.distinct ? pair::together(e.pairs, wide, [](pair const&, std::size_t) {})
                           : pair::together(e.pairs, wide,
                                            [this](pair const& p, std::size_t i)
                                                STRAGGLE_INLINE_LAMBDA { joiner_.note(p.node, i); });
            std::uint64_t const scored = whole.count();
            if (e.has_rest) whole.merge(rest_);
            total_ = whole.count();
            auto const fitted = norm.fit(whole);
            if (!fitted) return fitted.reason();
            auto const by = job_yardstick::of(tell_times_ ? total_ : 0, whole.mean());
            bool const compares = by.compares();
            auto const lone = compares ? lone_yardstick::of(by) : lone_yardstick{};
            auto const alone = [&, scale = *fitted](pair const& p) STRAGGLE_INLINE_LAMBDA {
                scores_type& to = scores[p.node];
                if (p.is_single()) {
                    to.add(scale(p.single()));
                    if (compares) to.times().add(lone, static_cast<double>(p.single()));
                } else {
                    add_group(to, p.moments(wide), *fitted, by);
                }
            };
            if (e.distinct) {
                for_each_prefetched(e.pairs, scores, alone);
                return scored;
            }
            auto const itself = [](pair const& p) STRAGGLE_INLINE_LAMBDA -> pair const& { return p; };
            for (std::uint32_t const i : joiner_.alone(e.pairs, itself)) alone(e.pairs[i]);
            joiner_.join(
                e.pairs, itself,
                [&](stats::tick_moments& together, pair const& p) { together.merge(p.moments(wide)); },
                [&](std::size_t node, stats::tick_moments const& together) {
                    add_group(scores[node], together, *fitted, by);
                });
            return scored;
        } else {
            double const origin = held.row(job).origin.value;
            real_total whole = sum_of(e, real_total());
            if (whole.is_skewed()) [[unlikely]]
                whole = sum_of(e, whole.nearer(origin));
            total_ = whole.count();
            stats::moments const all = whole.moments(origin);
            auto const scale = norm.fit(all);
            if (!scale) return scale.reason();
            auto const by = job_yardstick::of(tell_times_ ? total_ : 0, all.mean());
            auto const lone = by.compares() ? lone_yardstick::of(by) : lone_yardstick{};
            // For durations relative to the origin.
            double const shift = (scale->origin - origin) + scale->shift, factor = scale->factor;
            std::uint64_t scored = 0;
            for_each_prefetched(e.pairs, scores, [&](pair const& p) STRAGGLE_INLINE_LAMBDA {
                scored += p.count();
                scores_type& to = scores[p.node];
                double const squares = p.sum_of_squared_deviations();
                to.add_group(p.count(), (p.mean() - shift) * factor, squares * factor * factor);
                if (p.count() != 1)
                    to.times().add(by, p.count(), origin + p.mean(), squares);
                else if (by.compares())
                    to.times().add(lone, origin + p.mean());
            });
            return scored;
        }
    }

    STRAGGLE_ALWAYS_INLINE static void add_group(scores_type& to, stats::tick_moments const& durations,
                                                 rank::affine_scale<std::int64_t> const& scale,
                                                 job_yardstick const& by)
        requires exact
    {
        to.add_group(durations, scale);
        if (by.per_mean > 0 && by.tasks != 0)
            to.times().add(by, durations.count(), durations.mean(), durations.sum_of_squared_deviations());
    }

    [[nodiscard]] real_total sum_of(job_evidence const& e, real_total total) const
        requires(!exact)
    {
        for (pair const& p : e.pairs) total.add(p.count(), p.mean(), p.sum_of_squared_deviations());
        if (e.has_rest) total.add(rest_);
        return total;
    }

    [[nodiscard]] node_links& links() noexcept { return scratch_.slowdowns.links; }

    // Processing a pair takes long enough to prefetch later data: the scores of nodes further down, and the
    // pairs of the next job, which no hardware can predict.
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

    node_joiner<stats::tick_moments> joiner_;
    std::vector<scores_type> scores_;    // by node
    std::vector<unsigned char> present_; // by node: has evidence in the window
    std::vector<use_of_slot> slots_;     // by slot: the role of its bucket
    std::vector<std::uint32_t> order_;   // nodes in the window, by first appearance
    std::vector<pair> in_window_;        // of the current job
    std::vector<scoreless_job> scoreless_;
    typename pair::moments_type rest_{}; // baseline of the job outside the window
    pair const* next_pairs_ = nullptr;   // of the next job
    std::uint64_t total_ = 0;            // attempts in the baseline of the last job scored
    bool tell_times_ = true;
    ranking_scratch<decltype(Ranking::ranker)> scratch_;
    ranking_type ranking_, next_;
};

} // namespace straggle::detail
