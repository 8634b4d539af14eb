// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/monitor.hpp`: ranks nodes from the evidence in a window.
/// Each job is scaled by everything known about it, and its attempts on each node are scored as a unit; see
/// `score_moments`.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/rank/detail/relative_times.hpp>
#include <straggle/rank/detail/window_store.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/record/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Store, class Ranking>
class window_ranker {
    using cell = typename Store::cell;
    using moments_type = typename Store::moments_type;
    using scores_type = typename Store::scores_type;
    static constexpr std::uint32_t none = Store::none;

  public:
    using ranking_type = node_ranking<typename Store::node_id, typename Store::job_id>;

    explicit window_ranker(decltype(Ranking::ranker) const& ranker) : scratch_(ranker) {}

    [[nodiscard]] ranking_type& ranking() noexcept { return ranking_; }
    [[nodiscard]] ranking_type const& ranking() const noexcept { return ranking_; }

    // Ranks over the steps `first` to `last`, against what is known of jobs up to step `known_by`, or against
    // the window alone.
    ranking_type const& rank(Store const& store, Ranking const& rules, std::int64_t first, std::int64_t last,
                             std::int64_t known_by, bool window_alone) {
        begin(store, window_alone);
        std::uint64_t const before = gathered_++;
        scores_.assign(store.nodes().bound(), {});
        links().reset(store.nodes().bound());
        scoreless_.clear();
        attempt_counts counts;
        std::uint64_t scored = 0;
        std::size_t usable = 0;
        if (!store.empty())
            for (std::int64_t number = store.oldest(); number <= store.head(); ++number) {
                if (number < first || number > last) {
                    if (number <= known_by && !window_alone) uses_[store.slot(number)] = as_baseline;
                    continue;
                }
                auto const& step = store.at(number);
                uses_[store.slot(number)] = inside;
                counts += step.counts;
                scored += step.finished.scored;
                usable += step.finished.jobs;
                step.finished.for_each([this](std::uint32_t node, scores_type const& scores) {
                    scores_[node].merge(scores);
                    places_[node].job = gathered_;
                });
                step.finished.for_each_link([this](std::uint32_t a, std::uint32_t b) { links().join(a, b); });
            }
        for (std::uint32_t j = 0; j < store.jobs().bound(); ++j) {
            if (store.job(j).first == none) continue;
            gather(store, j);
            if (groups_.empty()) continue;
            if (status const s = score(rules); s != status::ok) {
                scoreless_.push_back({j, whole_.count(), s});
                continue;
            }
            links().join_all(groups_, [](group const& g) -> group const& { return g; });
            if (has_rest()) links().join(groups_[0].node, node_links::somewhere);
            scored += attempts_;
            ++usable;
        }
        order_.clear();
        for (std::uint32_t node = 0; node < store.nodes().bound(); ++node)
            if (places_[node].job > before) order_.push_back(node);
        write(store, rules, counts, scored, usable);
        return ranking_;
    }

    // Adds the scores of a job whose cells are all in one step to the finished scores of that step. False if
    // a limit is exceeded. Strong guarantee.
    [[nodiscard]] bool fold(Store& store, Ranking const& rules, std::uint32_t j, std::size_t most,
                            bool window_alone) {
        begin(store, window_alone);
        std::uint32_t its_slot = 0;
        store.for_each_cell(j, [&](cell const& c) { its_slot = c.slot(); });
        uses_[its_slot] = inside;
        gather(store, j);
        auto& step = store.at(store.number_of(its_slot));
        std::size_t added = 0;
        for (group const& g : groups_) added += step.finished.has(g.node) ? 0u : 1u;
        if (store.finished() + added > most) return false;
        for (group const& g : groups_) step.finished.make_place(g.node);
        if (scores_.size() < store.nodes().bound()) scores_.resize(store.nodes().bound());
        for (group const& g : groups_) scores_[g.node] = {};
        if (score(rules) != status::ok) return true;
        for (group const& g : groups_) {
            store.add_finished(g.node, step, scores_[g.node]);
            step.finished.link(g.node, has_rest() ? node_links::somewhere : groups_[0].node);
        }
        step.finished.scored += attempts_;
        ++step.finished.jobs;
        return true;
    }

  private:
    enum use_of_slot : unsigned char { outside, as_baseline, inside };
    // The attempts of the current job on a node, in the window.
    struct group {
        std::uint32_t node;
        std::uint32_t joined; // place of their sum, if they are in several cells
        moments_type const* first;
    };
    struct place {
        std::uint64_t job = 0; // number of the last job with evidence of the node in the window
        std::uint32_t group = 0;
    };

    [[nodiscard]] node_links& links() noexcept { return scratch_.slowdowns.links; }

    void begin(Store const& store, bool window_alone) {
        uses_.assign(store.ring(), outside);
        window_alone_ = window_alone;
        if (places_.size() < store.nodes().bound()) places_.resize(store.nodes().bound());
    }

    // Collects the groups of a job, and all that is known about it.
    void gather(Store const& store, std::uint32_t j) {
        groups_.clear();
        joined_.clear();
        whole_ = {};
        attempts_ = 0;
        ++gathered_;
        store.for_each_cell(j, [this](cell const& c) {
            if (uses_[c.slot()] == outside) return;
            bool const is_cheaper = !Store::exact && c.sums.count() == 1; // to add than to merge
            if (is_cheaper)
                whole_.add(single(c.sums));
            else
                whole_.merge(c.sums);
            if (uses_[c.slot()] != inside) return;
            attempts_ += c.sums.count();
            place& at = places_[c.node()];
            if (at.job == gathered_) {
                join(groups_[at.group], c.sums);
            } else {
                at = {gathered_, static_cast<std::uint32_t>(groups_.size())};
                groups_.push_back({c.node(), none, &c.sums});
            }
        });
        if (!window_alone_) whole_.merge(store.job(j).gone);
    }
    void join(group& g, moments_type const& sums) {
        if (g.joined == none) {
            g.joined = static_cast<std::uint32_t>(joined_.size());
            joined_.push_back(*g.first);
        }
        joined_[g.joined].merge(sums);
    }
    // Whether attempts outside the window are known.
    [[nodiscard]] bool has_rest() const noexcept { return whole_.count() > attempts_; }

    // The value of sums of a single attempt.
    [[nodiscard]] static auto single(moments_type const& sums) noexcept {
        if constexpr (Store::exact)
            return static_cast<std::int64_t>(sums.sums().sum.lo);
        else
            return sums.origin();
    }

    // Adds the scores of the groups, or says why there are none.
    [[nodiscard]] status score(Ranking const& rules) {
        auto const scale = rules.normalizer.fit(whole_);
        if (!scale) return scale.reason();
        auto const by = job_yardstick::of(rules.slowdowns ? whole_.count() : 0, whole_.mean());
        auto const lone = by.compares() ? lone_yardstick::of(by) : lone_yardstick{};
        for (group const& g : groups_) {
            scores_type& to = scores_[g.node];
            moments_type const& sums = g.joined == none ? *g.first : joined_[g.joined];
            std::uint64_t const n = sums.count();
            if constexpr (Store::exact) {
                if (n != 1)
                    to.add_group(sums, *scale);
                else
                    to.add((*scale)(single(sums)));
            } else {
                double const distance = (sums.origin() - scale->origin) + (sums.mean_offset() - scale->shift);
                to.add_group(n, distance * scale->factor,
                             sums.sum_of_squared_deviations() * scale->factor * scale->factor);
            }
            if (!by.compares()) continue;
            if (n != 1)
                to.times().add(by, n, sums.mean(), sums.sum_of_squared_deviations());
            else
                to.times().add(lone, static_cast<double>(single(sums)));
        }
        return status::ok;
    }

    void write(Store const& store, Ranking const& rules, attempt_counts const& counts, std::uint64_t scored,
               std::size_t usable) {
        std::sort(order_.begin(), order_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return store.seen(a) < store.seen(b); });
        std::sort(scoreless_.begin(), scoreless_.end(), [&](auto const& a, auto const& b) {
            return store.job(static_cast<std::uint32_t>(a.slot)).seen <
                   store.job(static_cast<std::uint32_t>(b.slot)).seen;
        });
        // Built beside the last answer, which survives if an allocation fails.
        ranking_access::write_degenerate(next_, scoreless_, [&](std::size_t job) -> auto const& {
            return store.jobs()[static_cast<std::uint32_t>(job)];
        });
        ranking_access::rank(
            next_, scratch_, order_.size(), rules,
            [&](std::size_t i) -> auto const& { return scores_[order_[i]]; },
            [&](std::size_t i) -> auto const& { return store.nodes()[order_[i]]; },
            [&](std::uint32_t i) -> auto const& { return scores_[order_[i]].times(); },
            [&](std::uint32_t i) { return links().component(order_[i]); });
        ranking_access::account(next_, counts, scored, usable, edges_of(rules.ranker));
        std::swap(ranking_, next_);
    }

    std::vector<scores_type> scores_;  // by node
    std::vector<place> places_;        // by node
    std::vector<use_of_slot> uses_;    // by slot
    std::vector<std::uint32_t> order_; // nodes in the window, by first appearance
    std::vector<scoreless_job> scoreless_;
    std::vector<group> groups_; // of the current job
    std::vector<moments_type> joined_;
    moments_type whole_{};       // of all that is known about it
    std::uint64_t attempts_ = 0; // of it in the window
    std::uint64_t gathered_ = 0; // jobs
    bool window_alone_ = false;
    ranking_scratch<decltype(Ranking::ranker)> scratch_;
    ranking_type ranking_, next_;
};

} // namespace straggle::detail
