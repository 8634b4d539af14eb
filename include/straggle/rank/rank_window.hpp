// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Ranks one window of time in one call, from all records: scores the attempts that ended in the window
/// against everything known about their jobs, as a `monitor` does.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/rank/relative_times.hpp>
#include <straggle/record/attempt.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::rank {

/// A stretch of time.
template <class Time>
struct time_window {
    Time from{};  ///< the first time inside
    Time until{}; ///< the first time after it
};

} // namespace straggle::rank

namespace straggle::inline STRAGGLE_ABI::detail {

// Deliberately simple: two passes over the records, and a sort.
template <class Record, class Fields, class Options>
class window_scorer {
    using reading = reading_t<Fields, Record>;
    using moments = std::conditional_t<std::integral<reading>, stats::tick_moments, stats::moments>;
    using scores_type = timed_scores<score_moments_of<reading>, std::integral<reading>>;

  public:
    using job_id = owned_identifier_t<field_value_t<decltype(Fields::job), Record>>;
    using node_id = owned_identifier_t<field_value_t<decltype(Fields::node), Record>>;
    using ranking_type = node_ranking<node_id, job_id>;

    template <class Attempts, class Time>
    [[nodiscard]] static ranking_type rank(Attempts const& attempts, rank::time_window<Time> const& window,
                                           Fields const& fields, Options const& options) {
        window_scorer s;
        for (Record const& a : attempts) s.take(a, window, fields);
        return s.result(options);
    }

  private:
    struct row {
        std::uint32_t job, node;
        reading value;
        std::size_t at; // arrival index: floating-point sums follow that order
    };

    template <class Time>
    void take(Record const& attempt, rank::time_window<Time> const& window, Fields const& fields) {
        auto const& end = project(fields.end, attempt);
        bool const inside = is_present(end) && !(unwrap(end) < window.from) && unwrap(end) < window.until;
        attempt_counts tally;
        read_attempt(fields, attempt, tally, [&](auto const& job, auto const& node, reading value) {
            std::uint32_t const j = jobs_.insert(job);
            if (j == baselines_.size()) {
                baselines_.emplace_back();
                in_window_.push_back(false);
            }
            baselines_[j].add(value);
            if (!inside) return;
            if (!in_window_[j]) jobs_in_order_.push_back(j);
            in_window_[j] = true;
            rows_.push_back({j, nodes_.insert(node), value, rows_.size()});
        });
        if (inside) counts_ += tally;
    }

    [[nodiscard]] ranking_type result(Options const& options) {
        std::sort(rows_.begin(), rows_.end(), [](row const& a, row const& b) {
            if (a.job != b.job) return a.job < b.job;
            return a.node != b.node ? a.node < b.node : a.at < b.at;
        });
        std::vector<scores_type> scores(nodes_.size());
        std::vector<std::size_t> begin(jobs_.size() + 1);
        for (row const& r : rows_) ++begin[r.job + 1];
        for (std::size_t j = 0; j < jobs_.size(); ++j) begin[j + 1] += begin[j];
        std::vector<scoreless_job> scoreless;
        ranking_scratch scratch(options.ranker);
        node_links& links = scratch.slowdowns.links;
        links.reset(nodes_.size());
        std::uint64_t scored = 0;
        std::size_t usable = 0;
        for (std::uint32_t const j : jobs_in_order_) {
            auto const scale = options.normalizer.fit(baselines_[j]);
            if (!scale) {
                scoreless.push_back({j, baselines_[j].count(), scale.reason()});
                continue;
            }
            ++usable;
            scored += begin[j + 1] - begin[j];
            auto const by = job_yardstick::of(baselines_[j].count(), baselines_[j].mean());
            std::uint32_t const first = baselines_[j].count() > begin[j + 1] - begin[j]
                                            ? node_links::somewhere
                                            : rows_[begin[j]].node;
            for (std::size_t i = begin[j]; i < begin[j + 1];) {
                links.join(first, rows_[i].node);
                i = score(i, begin[j + 1], *scale, by, scores);
            }
        }
        ranking_type ranking;
        ranking_access::write_degenerate(ranking, scoreless, [&](std::size_t job) -> auto const& {
            return jobs_[static_cast<std::uint32_t>(job)];
        });
        ranking_access::rank(
            ranking, scratch, nodes_.size(), options, [&](std::size_t i) -> auto const& { return scores[i]; },
            [&](std::size_t i) -> auto const& { return nodes_[static_cast<std::uint32_t>(i)]; },
            [&](std::uint32_t seen) -> auto const& { return scores[seen].times(); },
            [&](std::uint32_t seen) { return links.component(seen); });
        ranking_access::account(ranking, counts_, scored, usable, edges_of(options.ranker));
        return ranking;
    }

    // Scores the rows from `i` on that share one job and node; returns the end of those rows.
    [[nodiscard]] std::size_t score(std::size_t i, std::size_t end, rank::affine_scale<reading> const& scale,
                                    job_yardstick const& by, std::vector<scores_type>& scores) const {
        std::uint32_t const node = rows_[i].node;
        std::size_t const first = i;
        moments together;
        for (; i < end && rows_[i].node == node; ++i) together.add(rows_[i].value);
        if constexpr (std::integral<reading>) {
            if (i - first == 1)
                scores[node].add(scale(rows_[first].value));
            else
                scores[node].add_group(together, scale);
        } else {
            for (std::size_t k = first; k < i; ++k) scores[node].add(scale(rows_[k].value));
        }
        scores[node].times().add(by, together.count(), together.mean(), together.sum_of_squared_deviations());
        return i;
    }

    interner<job_id> jobs_;
    interner<node_id> nodes_;                  // with attempts in the window
    std::vector<moments> baselines_;           // by job
    std::vector<bool> in_window_;              // by job
    std::vector<std::uint32_t> jobs_in_order_; // by their first attempt in the window
    std::vector<row> rows_;                    // in the window
    attempt_counts counts_;
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// Ranks the nodes over the attempts that ended in a window, each scored against all given attempts of its
/// job, whenever those ended.
///
/// Source: ours; DSB algorithm 1 scores a window against itself, and so cannot see a node whose tasks end
/// after their siblings have left the window. The batch counterpart of `monitor::rank`: given the records
/// known by then, the result is the same, bit for bit with integer durations.
///
/// @param attempts all records known
/// @param window which of them are scored, by their `end`
/// @param fields an `attempt_fields` that names the members of an element, `end` among them
/// @param options normalizer, estimator, ranker; every success counts, as in a monitor
/// @return like `rank_nodes`; accounts for the attempts of the window. Nodes and degenerate jobs are in order
/// of their first attempt in it.
/// @par Cost
/// O(records log records); allocates
/// @par Guarantees
/// deterministic; for integer durations the same bits for any order of the records, except for the order of
/// first appearance. Only allocation can throw.
template <class Attempts, class Time, class Fields, class Options = rank_options<>>
    requires record::attempt_fields_for<
                 Fields, std::remove_cvref_t<decltype(*std::begin(std::declval<Attempts const&>()))>> &&
             detail::given<decltype(Fields::end)> && detail::is_rank_options<Options> &&
             rank::moment_normalizer<decltype(Options::normalizer)>
[[nodiscard]] auto rank_window(Attempts const& attempts, rank::time_window<Time> const& window,
                               Fields const& fields, Options const& options = {}) {
    using record = std::remove_cvref_t<decltype(*std::begin(attempts))>;
    return detail::window_scorer<record, Fields, Options>::rank(attempts, window, fields, options);
}

} // namespace straggle
