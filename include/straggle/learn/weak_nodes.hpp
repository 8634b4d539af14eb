// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which nodes were weak in a period: groups them by performance, into the number of groups that fits best,
/// and labels the weakest group. Forecasts learn from these labels.
///
/// Source: X. Ouyang et al., ML-NA (ICPADS 2017), section III.B, algorithm 1 and table I.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/kmeans.hpp>
#include <straggle/learn/labeling.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// How well the nodes separate into a number of groups.
struct group_count_score {
    std::size_t groups = 0; ///< number of groups
    double score = 0;       ///< Calinski-Harabasz: larger is better separated
    double weak_share = 0;  ///< share of the nodes in the weakest group
    friend constexpr bool operator==(group_count_score const&, group_count_score const&) = default;
};

/// The best number of groups: the one with the best score; if its weakest group has more than `most_weak` of
/// the nodes, the next best score with a larger number, and so on.
///
/// Source: ML-NA section III.B.1 and table I: the paper takes one such step, this as many as necessary. Ties
/// go to the smaller number.
/// @param scores for any numbers of groups, in any order
/// @param most_weak largest share of nodes that may be weak
/// @return `status::insufficient_evidence` if no number is suitable
/// @par Cost
/// O(n^2) for n numbers, which are nine by default; allocates nothing
[[nodiscard]] inline outcome<std::size_t> choose_group_count(std::span<group_count_score const> scores,
                                                             double most_weak = 0.25) {
    std::size_t beyond = 0; // only larger numbers of groups remain
    for (;;) {
        group_count_score const* best = nullptr;
        for (group_count_score const& s : scores) {
            if (s.groups <= beyond) continue;
            if (best == nullptr || s.score > best->score ||
                (s.score == best->score && s.groups < best->groups))
                best = &s;
        }
        if (best == nullptr) return status::insufficient_evidence;
        if (best->weak_share <= most_weak) return best->groups;
        beyond = best->groups;
    }
}

/// How weak nodes are found.
struct weak_nodes_options {
    std::size_t least_groups = 2; ///< fewest groups tried
    std::size_t most_groups = 10; ///< maximum number of groups; always fewer than nodes
    double most_weak = 0.25;      ///< largest share of nodes that may be weak
    /// Limits the number of groups to the square root of the number of nodes (but at least two): a group then
    /// has on average as many nodes as there are groups, and none is accidental. Source: ours; the paper
    /// finds 9 groups of 65 nodes.
    bool up_to_square_root = true;
    kmeans_options grouping{}; ///< how nodes are grouped
};

/// The weak nodes of a period, with the evidence.
struct weak_nodes {
    std::vector<std::uint8_t> weak;       ///< by row: 1 for a node of the weakest group, else 0
    std::vector<group_profile> groups;    ///< the weakest first
    std::vector<std::uint32_t> label;     ///< group of each row
    std::vector<group_count_score> tried; ///< table I: by number of groups
};

/// Finds the weak nodes of periods, one after another.
///
/// @par Example
/// `weak_node_finder find;  find(month.table(values), engine, found);  period.weak = found.weak;`
/// @par Cost
/// nine runs of k-means; allocates nothing once it has seen a table as large
/// @par Guarantees
/// the same engine gives the same answer
class weak_node_finder {
  public:
    /// @pre `2 <= least_groups <= most_groups`, `most_weak` in [0, 1]
    explicit weak_node_finder(weak_nodes_options options = {})
        : options_(options), kmeans_(options.grouping) {
        STRAGGLE_EXPECTS(options.least_groups >= 2 && options.least_groups <= options.most_groups);
        STRAGGLE_EXPECTS(options.most_weak >= 0 && options.most_weak <= 1);
    }

    /// @param table of `node_days`, or with any columns in its order; NaN for unknown values
    /// @param engine for the seeds of the groups
    /// @param out replaced; marks no node as weak unless the status is ok
    /// @return `status::insufficient_evidence` for too few nodes, or if the weakest group is too large for
    /// every number of groups; `status::no_spread` if the nodes do not differ; `status::out_of_domain` for
    /// infinite values, `status::out_of_range` for values that are too large
    template <base::random_engine Engine>
    status operator()(feature_matrix<double> const& table, Engine& engine, weak_nodes& out) {
        out.weak.assign(table.rows(), 0);
        out.label.clear();
        out.groups.clear();
        out.tried.clear();
        if (status const s = complete(table, whole_); s != status::ok) return s;
        if (status const s = kmeans_.fit(whole_.matrix()); s != status::ok) return s;
        best_.resize((std::max)(best_.size(), options_.most_groups + 1));
        std::size_t const most = most_groups_of(table.rows());
        for (std::size_t k = options_.least_groups; k <= most; ++k) {
            clustering& c = best_[k];
            if (status const s = kmeans_.group(k, engine, c); s != status::ok) return s;
            outcome<double> const score = c.score();
            if (c.groups() < k || !score) break; // there are no more distinct nodes
            status const s = weakest_groups_first(whole_.matrix(), detail::span_of(whole_.columns),
                                                  detail::span_of(c.label), k, out.groups);
            if (s != status::ok) return s;
            out.tried.push_back(
                {k, *score,
                 static_cast<double>(out.groups.front().nodes) / static_cast<double>(table.rows())});
        }
        out.groups.clear();
        if (out.tried.empty())
            return table.rows() <= options_.least_groups ? status::insufficient_evidence : status::no_spread;
        outcome<std::size_t> const k = choose_group_count(detail::span_of(out.tried), options_.most_weak);
        if (!k) return k.reason();
        out.label = best_[*k].label;
        status const s = weakest_groups_first(whole_.matrix(), detail::span_of(whole_.columns),
                                              detail::span_of(out.label), *k, out.groups);
        if (s != status::ok) return s;
        label_weak(detail::span_of(out.groups), detail::span_of(out.label), out.weak);
        return status::ok;
    }

  private:
    // Fewer than there are nodes.
    [[nodiscard]] std::size_t most_groups_of(std::size_t nodes) const noexcept {
        std::size_t most = nodes > 0 ? (std::min)(options_.most_groups, nodes - 1) : 0;
        if (!options_.up_to_square_root) return most;
        while (most > options_.least_groups && most * most > nodes) --most;
        return most;
    }

    weak_nodes_options options_;
    kmeans kmeans_;
    complete_features whole_;
    std::vector<clustering> best_; // by number of groups
};

} // namespace straggle::learn
