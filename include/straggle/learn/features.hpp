// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The daily performance of a node as features to learn from: three per day, each computed over all days so
/// far.
///
/// Source: X. Ouyang, C. Wang, R. Yang, G. Yang, P. Townend, J. Xu, ML-NA: a machine learning based node
/// performance analyzer utilizing straggler statistics (ICPADS 2017), section III.A.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/learn/feature_matrix.hpp>
#include <straggle/rank/normalize.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/stats/moments.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// What represents a day on which a node ran nothing.
enum class idle_days : std::uint8_t {
    carried, ///< the previous day's values; missing only before the first task
    missing, ///< NaN on every idle day, even between active days
};

/// How the features of a day are computed.
struct feature_options {
    idle_days idle = idle_days::carried; ///< what represents a day without attempts of the node
    /// Number of days that a feature covers, up to and including its own; 0: all of the period, as in ML-NA.
    /// A month of 30 days describes the past of a node, its last week the present: a better basis for a
    /// forecast.
    std::size_t look_back = 0;
    friend constexpr bool operator==(feature_options const&, feature_options const&) = default;
};

/// The kind of a column in a feature table.
enum class day_feature : std::uint8_t {
    mean_score, ///< mean score of all attempts up to this day; above 0: slow
    sd_score,   ///< their population standard deviation
    attempts,   ///< their number, standardized over the nodes of the table
};
/// How many features a day has.
inline constexpr std::size_t features_per_day = 3;

/// The kind of column `c` of a feature table.
[[nodiscard]] constexpr day_feature feature_of_column(std::size_t c) noexcept {
    return static_cast<day_feature>(c % features_per_day);
}
/// The day of column `c` of a feature table, from 0.
[[nodiscard]] constexpr std::size_t day_of_column(std::size_t c) noexcept {
    return c / features_per_day;
}

/// The scores of nodes in a period of several days, added one attempt or one batch of jobs at a time, and the
/// resulting features.
///
/// Source: ML-NA section III.A: 3 D features for D days, day by day (mean, sd, number), each over day 1 to d.
/// The paper does not say how numbers of tasks are normalized; here they are standardized over the nodes,
/// like scores.
///
/// @tparam NodeId type of node names: `std::string` for text
/// @par Example
/// `node_days<std::string> month(30);  month.observe_attempts(attempts, fields, day_of);  month.table(rows);`
/// @par Cost
/// `observe` O(1); `table` O(nodes days), times the number of days covered. 40 bytes per node and day.
/// Observing allocates for new nodes, `table` only until its memory is large enough
/// @par Guarantees
/// deterministic; nodes in order of first appearance; the order of attempts changes results by rounding only;
/// strong exception guarantee
template <base::identifier NodeId>
class node_days {
  public:
    /// Type of node names as arguments.
    using node_key = typename interner<NodeId>::key_type;

    /// @param days length of the period
    /// @pre `days > 0`
    explicit node_days(std::size_t days) : days_(days) { STRAGGLE_EXPECTS(days > 0); }
    node_days(node_days const&) = default;
    node_days(node_days&&) = default;
    /// Copies the other object, or changes nothing if an allocation fails.
    node_days& operator=(node_days const& other) { return *this = node_days(other); }
    node_days& operator=(node_days&&) = default;
    ~node_days() = default;

    /// Number of days in the period.
    [[nodiscard]] std::size_t days() const noexcept { return days_; }
    /// Number of columns of the table.
    [[nodiscard]] std::size_t columns() const noexcept { return features_per_day * days_; }
    /// Number of rows of the table: nodes with at least one attempt.
    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
    /// The node of a row. @pre `row < size()`
    [[nodiscard]] NodeId const& node(std::size_t row) const { return ids_[static_cast<std::uint32_t>(row)]; }
    /// The row of a node, or `size()` if it had no attempt.
    [[nodiscard]] std::size_t row_of(node_key node) const {
        std::uint32_t const row = ids_.find(node);
        return row == ids_.none ? size() : row;
    }

    /// Adds the score of one attempt.
    /// @param node where it ran
    /// @param day on which its job was submitted, from 0
    /// @param score above 0: slower than its siblings
    /// @return false, with no effect, for a score that is not a number or a day outside the period
    bool observe(node_key node, std::size_t day, double score) {
        if (!detail::is_finite(score) || day >= days_) return false;
        at(node, day).add(score);
        return true;
    }
    /// Adds the scores of several attempts of a node, for example the sums of a shard.
    /// @return as `observe`; false without scores
    bool merge(node_key node, std::size_t day, stats::moments const& scores) {
        if (scores.count() == 0 || !detail::is_finite(scores.mean()) ||
            !detail::is_finite(scores.sum_of_squared_deviations()) || day >= days_)
            return false;
        at(node, day).merge(scores);
        return true;
    }

    /// Scores a range of records (`normalize`) and adds the scores: pass whole jobs, since an attempt is
    /// scored against its siblings.
    /// @param attempts a random access range of records
    /// @param fields an `attempt_fields`
    /// @param day_of day of a record, from 0: in the paper, the day its job was submitted. An unsigned
    /// number; any value outside the period excludes the record
    /// @param options as for `rank_nodes`
    /// @return what became of the records
    template <std::ranges::random_access_range Attempts, class Fields, class Day,
              class Options = rank_options<>>
        requires record::attempt_fields_for<Fields, std::ranges::range_value_t<Attempts>> &&
                 base::projection_of<Day, std::ranges::range_value_t<Attempts>>
    attempt_counts observe_attempts(Attempts const& attempts, Fields const& fields, Day const& day_of,
                                    Options const& options = {}) {
        auto const scored = rank::normalize(attempts, fields, options);
        auto const for_each_score = [&](auto use) {
            for (auto const& a : scored.attempts) {
                auto const& record = std::ranges::begin(
                    attempts)[static_cast<std::ranges::range_difference_t<Attempts>>(a.row)];
                auto const day = detail::project(day_of, record);
                static_assert(std::unsigned_integral<std::remove_cvref_t<decltype(day)>>,
                              "a day is unsigned");
                if (detail::is_finite(a.score) && day < days_)
                    use(at(scored.nodes[a.node], static_cast<std::size_t>(day)), a.score);
            }
        };
        {
            new_nodes rows{*this, size()}; // create all rows first: nothing may throw between two scores
            for_each_score([](stats::moments&, double) {});
            rows.before = size();
        }
        for_each_score([](stats::moments& cell, double score) { cell.add(score); });
        return scored.counts;
    }

    /// Writes the features: a row per node, in order of first appearance, a column per day and feature.
    ///
    /// The mean and the deviation are NaN before a node's first attempt; its number of attempts is then known
    /// to be 0. If all nodes have equally many attempts, that feature is 0.
    /// @param values receives the values
    /// @param options days covered, and the treatment of idle days
    /// @return a view of `values`
    feature_matrix<double> table(std::vector<double>& values, feature_options const& options = {}) const {
        bool const carried = options.idle == idle_days::carried;
        values.resize(size() * columns());
        for (std::size_t row = 0; row < size(); ++row) {
            stats::moments sofar;
            double mean = missing, sd = missing;
            for (std::size_t day = 0; day < days_; ++day) {
                stats::moments const* const cells = &cells_[row * days_];
                if (options.look_back == 0) {
                    sofar.merge(cells[day]);
                } else {
                    sofar = {};
                    std::size_t const first = day < options.look_back ? 0 : day + 1 - options.look_back;
                    for (std::size_t d = first; d <= day; ++d) sofar.merge(cells[d]);
                }
                if (sofar.count() > 0) {
                    mean = sofar.mean();
                    sd = std::sqrt(sofar.population_variance());
                }
                bool const known = carried || cells[day].count() > 0;
                double* const out = &values[row * columns() + features_per_day * day];
                out[0] = known ? mean : missing;
                out[1] = known ? sd : missing;
                out[2] = known ? static_cast<double>(sofar.count()) : missing;
            }
        }
        for (std::size_t day = 0; day < days_; ++day)
            standardize(values, features_per_day * day + static_cast<std::size_t>(day_feature::attempts));
        return feature_matrix<double>(values, columns());
    }

    /// Forgets everything but keeps the memory, for the next period.
    void clear() noexcept {
        ids_.clear();
        cells_.clear();
    }

  private:
    static constexpr double missing = std::numeric_limits<double>::quiet_NaN();

    // On destruction, rolls back to `before` rows.
    struct new_nodes {
        node_days& of;
        std::size_t before;
        ~new_nodes() {
            of.ids_.truncate(before);
            of.cells_.resize(before * of.days_);
        }
    };

    stats::moments& at(node_key node, std::size_t day) {
        if (cells_.capacity() - cells_.size() < days_) cells_.reserve(2 * cells_.size() + 8 * days_);
        std::size_t const row = ids_.insert(node);
        if (row * days_ == cells_.size()) cells_.resize(cells_.size() + days_);
        return cells_[row * days_ + day];
    }

    void standardize(std::vector<double>& values, std::size_t column) const {
        stats::moments all;
        for (std::size_t at = column; at < values.size(); at += columns())
            if (detail::is_finite(values[at])) all.add(values[at]);
        if (all.count() == 0) return;
        double const mean = all.mean(), sd = std::sqrt(all.population_variance());
        for (std::size_t at = column; at < values.size(); at += columns())
            if (detail::is_finite(values[at])) values[at] = sd > 0 ? (values[at] - mean) / sd : 0.0;
    }

    std::size_t days_;
    interner<NodeId> ids_;
    std::vector<stats::moments> cells_; // by row and day
};

/// A feature table without missing values, for learners such as k-means that accept none.
struct complete_features {
    std::vector<double> values;         ///< all rows, one after another
    std::vector<std::uint32_t> columns; ///< index of each column in the original table

    /// The values as a table. @pre made by `complete`
    [[nodiscard]] feature_matrix<double> matrix() const {
        return feature_matrix<double>(detail::span_of(values), columns.size());
    }
};

/// Fills the gaps of a feature table. Drops columns that are missing in all rows; in other columns, missing
/// values become the mean of the others: unknown is neither bad nor good.
/// @param table any table with NaN for missing values
/// @param out replaced
/// @return `status::insufficient_evidence` if no column is left, `status::out_of_domain` for infinite values
/// @par Cost
/// O(rows columns); allocates when `out` is too small
/// @par Guarantees
/// deterministic
inline status complete(feature_matrix<double> const& table, complete_features& out) {
    out.values.clear();
    out.columns.clear();
    for (std::uint32_t c = 0; c < table.columns(); ++c)
        for (std::size_t row = 0; row < table.rows(); ++row)
            if (!detail::is_nan(table.row(row)[c])) {
                out.columns.push_back(c);
                break;
            }
    if (out.columns.empty()) return status::insufficient_evidence;
    out.values.resize(table.rows() * out.columns.size());
    for (std::size_t k = 0; k < out.columns.size(); ++k) {
        stats::moments known;
        for (std::size_t row = 0; row < table.rows(); ++row) {
            double const x = table.row(row)[out.columns[k]];
            if (!detail::is_nan(x) && !detail::is_finite(x)) return status::out_of_domain;
            if (!detail::is_nan(x)) known.add(x);
        }
        for (std::size_t row = 0; row < table.rows(); ++row) {
            double const x = table.row(row)[out.columns[k]];
            out.values[row * out.columns.size() + k] = detail::is_nan(x) ? known.mean() : x;
        }
    }
    return status::ok;
}

} // namespace straggle::learn
