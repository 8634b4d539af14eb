// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Trains gradient-boosted trees: the classifier of ML-NA. For the same parameters the trees are those of
/// XGBoost with exact greedy splits.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/learn/boosted_trees.hpp>
#include <straggle/learn/classifier.hpp>
#include <straggle/learn/detail/logistic.hpp>
#include <straggle/learn/detail/sorted_columns.hpp>
#include <straggle/learn/detail/tree_grower.hpp>
#include <straggle/learn/feature_matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// Training options; XGBoost's names are given where they differ. Real numbers are used as floats, as there.
struct boosted_trees_options {
    std::uint32_t rounds = 100;   ///< maximum number of trees (num_boost_round)
    double eta = 0.1;             ///< shrinkage of each leaf, in (0, 1]
    std::uint32_t max_depth = 12; ///< maximum depth of a leaf, 1 to 64
    double lambda = 1;            ///< added to each sum of curvatures, not negative
    double gamma = 0;             ///< minimum gain of a last split, not negative
    double min_child_weight = 1;  ///< minimum sum of curvatures of a child, not negative
    double base_score = 0.5;      ///< initial probability, within (0, 1)
    std::uint32_t patience = 0;   ///< rounds without a better validation loss before training ends; 0: never
                                  ///< ends early (early_stopping_rounds)
    friend constexpr bool operator==(boosted_trees_options const&, boosted_trees_options const&) = default;
};

/// Trains boosted trees, repeatedly in the same memory, and holds the latest ones.
///
/// Source: Chen and Guestrin 2016, algorithm 1 (exact greedy) with algorithm 3's default directions, as
/// XGBoost 1.7.4 does it with `tree_method=exact, objective=binary:logistic` in one thread: candidate splits,
/// tie-breaks, the float or double in which each number is held, default directions, pruning by gamma. All
/// splits have the same features, thresholds and directions; leaves are bit-identical if both use the same
/// `exp`. Two examples with the same value are added in the order of the rows, which XGBoost leaves
/// unspecified: it makes no difference as long as the double sums are exact, and they are while the number of
/// rows times the ratio of the largest to the smallest slope is below 2^29. The defaults are those of ML-NA
/// (eta 0.1, depth 12).
///
/// Rows with a missing value (NaN) go in the better direction; for a feature that no row lacks, they go left.
/// @par Cost
/// `fit` O(columns * rows * (log rows + rounds * depth)), a few ns per value, round and level;
/// memory of 16 bytes per value and about 40 per row, kept. Allocates nothing once it has twice fitted as
/// many examples with trees of as many nodes
/// @par Guarantees
/// deterministic; strong exception guarantee: only allocation can throw. One thread at a time
class boosted_trees_trainer {
  public:
    /// The name in reports.
    static constexpr std::string_view name = "boosted_trees";
    /// Training options.
    using options = boosted_trees_options;

    /// @param how training options
    /// @pre all within their bounds
    explicit boosted_trees_trainer(options const& how = {}) : options_(how) {
        STRAGGLE_EXPECTS(how.eta > 0 && how.eta <= 1);
        STRAGGLE_EXPECTS(how.max_depth >= 1 && how.max_depth <= 64);
        STRAGGLE_EXPECTS(not_negative(how.lambda) && not_negative(how.gamma) &&
                         not_negative(how.min_child_weight));
        STRAGGLE_EXPECTS(how.base_score > 0 && how.base_score < 1);
        base_margin_ = detail::margin_of(static_cast<float>(how.base_score));
        STRAGGLE_EXPECTS(
            detail::is_finite(static_cast<double>(base_margin_))); // no float is that close to 0 or 1
    }

    /// Trains on examples, for all rounds.
    /// @param rows one per example, NaN for missing values
    /// @param labels of each: 0 or 1
    /// @return `status::ok`, or an error with everything unchanged: `status::insufficient_evidence` without
    /// rows; `status::out_of_domain` for labels other than 0 and 1, a wrong number of labels, and infinite
    /// values; `status::out_of_range` for values that overflow a float, more than 2^30 rows or columns, and
    /// trees of more than 2^32 nodes
    [[nodiscard]] status fit(feature_matrix<double> const& rows, std::span<std::uint8_t const> labels) {
        return train(rows, labels, {}, {}, false);
    }
    /// The same for floats.
    [[nodiscard]] status fit(feature_matrix<float> const& rows, std::span<std::uint8_t const> labels) {
        return train(rows, labels, {}, {}, false);
    }

    /// Trains on examples and monitors the loss on others: `validation_losses`. With `options::patience`,
    /// training ends that many rounds after the best one, and in any case only the trees up to the best round
    /// are kept: those that XGBoost predicts with after early stopping on logloss.
    /// @param rows and `labels`: training examples
    /// @param validation and `validation_labels`: examples that are only monitored, in the same form
    /// @return as the other overload; the same errors of the validation examples count, and a different
    /// number of columns is `status::out_of_domain`
    [[nodiscard]] status fit(feature_matrix<double> const& rows, std::span<std::uint8_t const> labels,
                             feature_matrix<double> const& validation,
                             std::span<std::uint8_t const> validation_labels) {
        return train(rows, labels, validation, validation_labels, true);
    }
    /// The same for floats.
    [[nodiscard]] status fit(feature_matrix<float> const& rows, std::span<std::uint8_t const> labels,
                             feature_matrix<float> const& validation,
                             std::span<std::uint8_t const> validation_labels) {
        return train(rows, labels, validation, validation_labels, true);
    }

    /// The latest model; without trees before the first success.
    [[nodiscard]] boosted_trees const& model() const noexcept { return model_; }
    /// `model().predict(row)`.
    [[nodiscard]] double predict(std::span<double const> row) const { return model_.predict(row); }
    /// `model().predict(row)`.
    [[nodiscard]] double predict(std::span<float const> row) const { return model_.predict(row); }

    /// Mean logarithmic loss on the validation examples after each round, including those after the best one;
    /// empty without validation.
    [[nodiscard]] std::span<double const> validation_losses() const noexcept {
        return detail::span_of(losses_);
    }
    /// The first round with the smallest loss, from 0; 0 without validation.
    [[nodiscard]] std::size_t best_round() const noexcept { return best_round_; }

    /// Training options.
    [[nodiscard]] options const& how() const noexcept { return options_; }

  private:
    [[nodiscard]] static constexpr bool not_negative(double x) noexcept {
        return x >= 0 && x <= static_cast<double>((std::numeric_limits<float>::max)());
    }

    [[nodiscard]] static status status_of(std::span<std::uint8_t const> labels, std::size_t rows) noexcept {
        if (rows == 0) return status::insufficient_evidence;
        if (labels.size() != rows) return status::out_of_domain;
        for (std::uint8_t const label : labels)
            if (label > 1) return status::out_of_domain;
        return status::ok;
    }

    template <class Real>
    status train(feature_matrix<Real> const& rows, std::span<std::uint8_t const> labels,
                 feature_matrix<Real> const& validation, std::span<std::uint8_t const> validation_labels,
                 bool validated) {
        if (status const s = status_of(labels, rows.rows()); s != status::ok) return s;
        if (validated) {
            if (status const s = status_of(validation_labels, validation.rows()); s != status::ok) return s;
            if (validation.columns() != rows.columns()) return status::out_of_domain;
            if (status const s = detail::sorted_columns::status_of(validation); s != status::ok) return s;
        }
        if (status const s = columns_.assign(rows); s != status::ok) return s;
        begin(rows.rows(), rows.columns(), validation.rows());
        for (std::uint32_t round = 0; round < options_.rounds; ++round) {
            for (std::size_t i = 0; i < labels.size(); ++i)
                slopes_[i] = detail::slope_of(margins_[i], static_cast<float>(labels[i]));
            std::size_t const root = next_.nodes_.size();
            std::uint32_t const depth = grower_.grow(detail::span_of(slopes_), next_.nodes_);
            if (next_.nodes_.size() > (std::numeric_limits<std::uint32_t>::max)())
                return status::out_of_range;
            next_.ends_.push_back({static_cast<std::uint32_t>(next_.nodes_.size()), depth});
            grower_.add_leaves(detail::span_of(margins_));
            if (validated && !goes_on({next_.nodes_.data() + root, depth}, validation, validation_labels))
                break;
        }
        if (validated && options_.patience != 0 && !next_.ends_.empty()) keep_rounds(next_best_ + 1);
        // Nothing below can fail. The old model becomes memory for the next training.
        std::swap(model_, next_);
        std::swap(losses_, next_losses_);
        best_round_ = next_best_;
        return status::ok;
    }

    void begin(std::size_t rows, std::size_t columns, std::size_t validation_rows) {
        next_.nodes_.clear();
        next_.ends_.clear();
        next_.columns_ = columns;
        next_.base_margin_ = base_margin_;
        next_losses_.clear();
        next_best_ = 0;
        margins_.assign(rows, base_margin_);
        validation_margins_.assign(validation_rows, base_margin_);
        slopes_.resize(rows);
        grower_.begin(columns_, {static_cast<float>(options_.eta), static_cast<float>(options_.lambda),
                                 static_cast<float>(options_.gamma),
                                 static_cast<float>(options_.min_child_weight), options_.max_depth});
    }

    // Whether to continue after the latest tree.
    template <class Real>
    bool goes_on(detail::rooted_tree tree, feature_matrix<Real> const& rows,
                 std::span<std::uint8_t const> labels) {
        detail::add_leaves<false>(tree, rows, detail::span_of(validation_margins_));
        double sum = 0;
        for (std::size_t i = 0; i < labels.size(); ++i)
            sum += static_cast<double>(
                detail::log_loss(detail::probability_of(validation_margins_[i]), labels[i] != 0));
        next_losses_.push_back(sum / static_cast<double>(labels.size()));
        std::size_t const round = next_losses_.size() - 1;
        if (next_losses_[next_best_] > next_losses_[round]) next_best_ = round;
        return options_.patience == 0 || round - next_best_ < options_.patience;
    }

    void keep_rounds(std::size_t rounds) {
        next_.ends_.resize(rounds);
        next_.nodes_.resize(next_.ends_.back().node);
    }

    options options_;
    float base_margin_ = 0;
    boosted_trees model_;
    std::vector<double> losses_;
    std::size_t best_round_ = 0;

    boosted_trees next_; // in training
    std::vector<double> next_losses_;
    std::size_t next_best_ = 0;
    detail::sorted_columns columns_;
    detail::tree_grower grower_;
    std::vector<float> margins_, validation_margins_;
    std::vector<detail::loss_slope> slopes_;
};

} // namespace straggle::learn
