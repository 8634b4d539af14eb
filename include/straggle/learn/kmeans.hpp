// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Clusters rows of numbers (k-means), and measures how well the clusters are separated (Calinski-Harabasz).
///
/// Source: S. Lloyd (1982), doi:10.1109/TIT.1982.1056489; seeding: D. Arthur, S. Vassilvitskii, k-means++
/// (SODA 2007), in its greedy form; bounds: C. Elkan, Using the triangle inequality to accelerate k-means
/// (ICML 2003); score: T. Calinski, J. Harabasz (1974), doi:10.1080/03610927408827101.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/random.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/learn/detail/kmeans_lloyd.hpp>
#include <straggle/learn/detail/kmeans_rows.hpp>
#include <straggle/learn/feature_matrix.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// How rows are grouped.
struct kmeans_options {
    std::size_t restarts = 10;     ///< seedings tried; the one with the smallest inertia is kept
    std::size_t most_rounds = 300; ///< maximum number of rounds per attempt
    /// An attempt ends when the centers' total squared movement is at most this share of the mean variance of
    /// a column.
    double tolerance = 1e-4;
};

/// The result: rows in groups.
struct clustering {
    std::size_t columns = 0;          ///< per row
    std::vector<std::uint32_t> label; ///< group of each row
    std::vector<std::uint32_t> size;  ///< rows per group; 0 if there are fewer distinct rows
    std::vector<double> centers;      ///< mean of each group, one after another
    double inertia = 0;               ///< sum of squared distances from the rows to their centers
    double total = 0;                 ///< the same to the mean of all rows
    std::size_t rounds = 0;           ///< over all attempts

    /// The center of a group; all zero for an empty one. @pre `group < size.size()`
    [[nodiscard]] std::span<double const> center(std::size_t group) const {
        STRAGGLE_EXPECTS(group < size.size());
        return detail::span_of(centers).subspan(group * columns, columns);
    }
    /// Number of groups with rows.
    [[nodiscard]] std::size_t groups() const noexcept {
        std::size_t n = 0;
        for (std::uint32_t const s : size) n += s != 0;
        return n;
    }
    /// The Calinski-Harabasz score: variance between the groups over variance within, each per degree of
    /// freedom. Larger means better separated.
    /// @return `status::insufficient_evidence` for less than two groups, or one group per row;
    /// `status::no_spread` if the rows within each group are equal
    [[nodiscard]] outcome<double> score() const noexcept {
        std::size_t const k = groups(), n = label.size();
        if (k < 2 || k >= n) return status::insufficient_evidence;
        if (!(inertia > 0)) return status::no_spread;
        return ((total - inertia) / static_cast<double>(k - 1)) / (inertia / static_cast<double>(n - k));
    }
};

/// Groups the rows of one table into a given number of groups, repeatedly.
///
/// @par Example
/// `kmeans groups;  groups.fit(table);  for (k = 2; k <= 10; ++k) groups.group(k, engine, result);`
/// @par Cost
/// `fit` copies the table (12 bytes per value, which include a copy in single precision: where that
/// decides the nearest center with certainty, no other distance is computed), and for up to 2048 rows takes
/// the distances of all pairs, which then serve all seedings (8 bytes per pair, at most 34 MB); `group`
/// O(restarts rounds rows clusters columns) at most, the bounds save most of it for many rows. Allocates
/// nothing once tables as large have been fitted
/// @par Guarantees
/// the same engine gives the same groups; on other machines up to rounding. Ties go to the
/// first center. An empty group takes the row that is farthest from its center; with fewer distinct rows than
/// groups the surplus groups are empty. Only allocation can throw: then there are no rows until a `fit`
/// succeeds, and what `group` was to replace is of no use
class kmeans {
  public:
    /// @pre `restarts > 0`, `most_rounds > 0`, `tolerance >= 0`
    explicit kmeans(kmeans_options options = {}) : options_(options) {
        STRAGGLE_EXPECTS(options.restarts > 0 && options.most_rounds > 0 && options.tolerance >= 0);
    }

    /// Copies the rows.
    /// @return `status::insufficient_evidence` without rows or columns; `status::out_of_domain` for NaN and
    /// infinite values, `status::out_of_range` if squares overflow; there are then no rows
    status fit(feature_matrix<double> const& table) { return tries_.fit(table); }

    /// Groups the rows.
    /// @param clusters number of groups
    /// @param engine for the seeds
    /// @param out replaced
    /// @return `status::insufficient_evidence` for fewer rows than groups, `status::out_of_domain` for 0
    /// groups
    template <base::random_engine Engine>
    status group(std::size_t clusters, Engine& engine, clustering& out) {
        if (clusters == 0) return status::out_of_domain;
        if (clusters > tries_.rows()) return status::insufficient_evidence;
        out.inertia = -1;
        out.rounds = 0;
        double const enough =
            options_.tolerance * tries_.total() / static_cast<double>(tries_.rows() * tries_.columns());
        for (std::size_t t = 0; t < options_.restarts; ++t) {
            std::size_t const used = tries_.seed(clusters, engine);
            out.rounds += tries_.run(used, options_.most_rounds, enough);
            double const inertia = tries_.inertia();
            if (out.inertia >= 0 && !(inertia < out.inertia)) continue;
            out.inertia = inertia;
            out.label.assign(tries_.labels().begin(), tries_.labels().end());
            if (used < clusters) break; // further attempts would find the same
        }
        out.columns = tries_.columns();
        out.total = tries_.total();
        tries_.describe(detail::span_of(out.label), clusters, out.size, out.centers);
        return status::ok;
    }

  private:
    kmeans_options options_;
    detail::kmeans_tries tries_;
};

/// The Calinski-Harabasz score of any grouping.
/// @param table one row per point
/// @param label group of each row, any numbers
/// @return as `clustering::score`; `status::out_of_domain` for NaN and infinite values
/// @pre `label.size() == table.rows()`
/// @par Cost
/// O(rows columns) and memory for a center per group
/// @par Accuracy
/// relative error below 1e-12 for up to 1e6 rows: columns are shifted by their means first
[[nodiscard]] inline outcome<double> calinski_harabasz(feature_matrix<double> const& table,
                                                       std::span<std::uint32_t const> label) {
    STRAGGLE_EXPECTS(label.size() == table.rows());
    detail::kmeans_tries tries;
    if (status const s = tries.fit(table, false); s != status::ok) return s;
    interner<std::uint32_t> groups;
    clustering c;
    c.columns = table.columns();
    for (std::uint32_t const l : label) c.label.push_back(groups.insert(l));
    tries.describe(detail::span_of(c.label), groups.size(), c.size, c.centers);
    c.inertia = tries.inertia_of(detail::span_of(c.label));
    c.total = tries.total();
    return c.score();
}

} // namespace straggle::learn
