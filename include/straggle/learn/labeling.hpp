// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which group of nodes is the weak one? Labels nodes automatically: groups them by their performance, and
/// ranks the groups by two criteria.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/learn/features.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// The evidence that a group of nodes is weak.
struct group_profile {
    std::uint32_t group = 0;     ///< its number
    std::uint32_t nodes = 0;     ///< number of nodes
    std::uint32_t slow_days = 0; ///< C1: days on which the mean score of its center is above 0
    double mean_sd = 0;          ///< C2: mean over the days of the deviation at its center
    double mean_score = 0;       ///< mean over the days of the mean score at its center
    friend constexpr bool operator==(group_profile const&, group_profile const&) = default;
};

/// The groups of a fleet, the weakest first.
///
/// Source: ML-NA algorithm 1. C1: the weakest group has the most days with a positive mean score; C2: ties go
/// to the smallest average deviation (its weakness is then the most certain). Ours: further ties go to the
/// higher mean score, then the lower number; empty groups come last.
/// @param features one row per node, complete; its columns are `columns` of a table of `node_days`
/// @param columns their indices in that table, see `complete_features`
/// @param label group of each row
/// @param groups number of groups
/// @param out replaced
/// @return `status::insufficient_evidence` without rows or if `columns` has no mean score,
/// `status::out_of_domain` for an invalid label or values that are not numbers
/// @pre `columns.size() == features.columns()` and `label.size() == features.rows()`
/// @par Cost
/// O(rows columns); allocates when `out` is too small and a row of centers
/// @par Guarantees
/// deterministic
inline status weakest_groups_first(feature_matrix<double> const& features,
                                   std::span<std::uint32_t const> columns,
                                   std::span<std::uint32_t const> label, std::size_t groups,
                                   std::vector<group_profile>& out) {
    STRAGGLE_EXPECTS(columns.size() == features.columns() && label.size() == features.rows());
    out.clear();
    if (features.empty() || groups == 0) return status::insufficient_evidence;
    out.resize(groups);
    for (std::uint32_t g = 0; g < groups; ++g) out[g].group = g;
    for (std::uint32_t const g : label) {
        if (g >= groups) return status::out_of_domain;
        ++out[g].nodes;
    }
    std::vector<double> center(groups);
    std::size_t days = 0, deviations = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        day_feature const kind = feature_of_column(columns[c]);
        if (kind == day_feature::attempts) continue;
        std::fill(center.begin(), center.end(), 0.0);
        for (std::size_t row = 0; row < label.size(); ++row) center[label[row]] += features.row(row)[c];
        ++(kind == day_feature::mean_score ? days : deviations);
        for (group_profile& g : out) {
            if (g.nodes == 0) continue;
            double const x = center[g.group] / g.nodes;
            if (!detail::is_finite(x)) return status::out_of_domain;
            if (kind == day_feature::sd_score) {
                g.mean_sd += x;
                continue;
            }
            g.slow_days += x > 0;
            g.mean_score += x;
        }
    }
    if (days == 0) return status::insufficient_evidence;
    for (group_profile& g : out) {
        g.mean_score /= static_cast<double>(days);
        if (deviations > 0) g.mean_sd /= static_cast<double>(deviations);
    }
    std::sort(out.begin(), out.end(), [](group_profile const& a, group_profile const& b) {
        if ((a.nodes == 0) != (b.nodes == 0)) return b.nodes == 0;
        if (a.slow_days != b.slow_days) return a.slow_days > b.slow_days;
        if (a.mean_sd != b.mean_sd) return a.mean_sd < b.mean_sd;
        if (a.mean_score != b.mean_score) return a.mean_score > b.mean_score;
        return a.group < b.group;
    });
    return status::ok;
}

/// Binary labels for a classifier: 1 for nodes of the weakest group, 0 for all others.
///
/// Source: ML-NA algorithm 1.
/// @param weakest_first from `weakest_groups_first`
/// @param label group of each node
/// @param out replaced
/// @par Cost
/// O(nodes); allocates when `out` is too small
inline void label_weak(std::span<group_profile const> weakest_first, std::span<std::uint32_t const> label,
                       std::vector<std::uint8_t>& out) {
    out.clear();
    for (std::uint32_t const g : label)
        out.push_back(!weakest_first.empty() && g == weakest_first.front().group ? 1 : 0);
}

/// Performance classes, 0 for the weakest: nodes of the group at index p of `weakest_first` are of class p;
/// groups beyond the last class belong to it.
///
/// Source: ML-NA section III.B ("a set of labels corresponds to multiple performance levels can be adopted").
/// @param weakest_first from `weakest_groups_first`
/// @param label group of each node, each one of `weakest_first`
/// @param classes number of classes
/// @param out replaced
/// @pre `classes > 0`
/// @par Cost
/// O(nodes + groups); allocates when `out` is too small and a row of groups
inline void label_classes(std::span<group_profile const> weakest_first, std::span<std::uint32_t const> label,
                          std::uint32_t classes, std::vector<std::uint32_t>& out) {
    STRAGGLE_EXPECTS(classes > 0);
    std::vector<std::uint32_t> place(weakest_first.size(), classes - 1);
    for (std::uint32_t p = 0; p < weakest_first.size(); ++p) {
        STRAGGLE_EXPECTS(weakest_first[p].group < place.size());
        place[weakest_first[p].group] = (std::min)(p, classes - 1);
    }
    out.clear();
    for (std::uint32_t const g : label) {
        STRAGGLE_EXPECTS(g < place.size());
        out.push_back(place[g]);
    }
}

} // namespace straggle::learn
