// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How likely is an example to be of class 1? Gradient-boosted trees trained by `boosted_trees_trainer`:
/// small, easy to copy and store, fast to evaluate. Prediction needs nothing from the training.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/learn/detail/boosted_trees_bytes.hpp>
#include <straggle/learn/detail/logistic.hpp>
#include <straggle/learn/feature_matrix.hpp>
#include <straggle/learn/tree_node.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// How often a feature is used, and what that gained in training.
struct feature_use {
    std::uint64_t splits = 0; ///< nodes that split on the feature
    double gain = 0;          ///< their total reduction of the loss, in XGBoost's unit: twice the loss
    friend constexpr bool operator==(feature_use const&, feature_use const&) = default;
};

/// Gradient-boosted trees for two classes: the probability of class 1 is the logistic function of a base
/// margin plus one leaf from each tree.
///
/// Source: T. Chen and C. Guestrin, XGBoost: A Scalable Tree Boosting System (2016),
/// doi:10.1145/2939672.2939785; the sum and the function are computed in single precision in XGBoost's order,
/// so the probabilities are identical to those of XGBoost (1.7.4, `binary:logistic`).
///
/// Without trees, as after construction, it accepts rows of any length and returns 0.5.
/// @par Cost
/// 16 bytes per node, 8 per tree. Prediction allocates nothing
/// @par Guarantees
/// any number of threads may predict at once; the same trees give the same probabilities on every machine, up
/// to the last place of the platform's `exp`
class boosted_trees {
  public:
    /// Without trees.
    boosted_trees() = default;
    boosted_trees(boosted_trees const&) = default;
    boosted_trees(boosted_trees&&) = default;
    /// Copies the other object, or changes nothing if an allocation fails.
    boosted_trees& operator=(boosted_trees const& other) { return *this = boosted_trees(other); }
    boosted_trees& operator=(boosted_trees&&) = default;
    ~boosted_trees() = default;

    /// Number of features in a row.
    [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
    /// Number of trees: one per round of training kept.
    [[nodiscard]] std::size_t trees() const noexcept { return ends_.size(); }
    /// Total number of nodes.
    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_.size(); }
    /// One tree, its root first, level by level: no node before its parent, siblings adjacent.
    /// @pre `i < trees()`
    [[nodiscard]] std::span<tree_node const> tree(std::size_t i) const {
        STRAGGLE_EXPECTS(i < ends_.size());
        return detail::span_of(nodes_.data() + begin_of(i), ends_[i].node - begin_of(i));
    }

    /// The probability that a row is of class 1.
    /// @param row its features, NaN where missing; doubles are rounded to float first, as in training.
    /// Infinite values are above or below all others.
    /// @pre `row.size() == columns()`, if there are trees
    /// @return a float in [0, 1]
    /// @par Cost
    /// O(trees * depth), a few ns a tree; allocates nothing; noexcept but for the contract
    [[nodiscard]] double predict(std::span<double const> row) const { return predict_row(row); }
    /// The same for floats.
    [[nodiscard]] double predict(std::span<float const> row) const { return predict_row(row); }

    /// The probabilities of all rows, bit-identical to predicting them one by one.
    /// @param rows as for a single row
    /// @param out one per row
    /// @pre `rows.columns() == columns()`, if there are trees; `out.size() == rows.rows()`
    /// @par Cost
    /// O(rows * trees * depth), the walks of eight rows overlapping; allocates nothing; noexcept
    /// but for the contracts
    void predict(feature_matrix<double> const& rows, std::span<double> out) const { predict_all(rows, out); }
    /// The same for floats.
    void predict(feature_matrix<float> const& rows, std::span<double> out) const { predict_all(rows, out); }

    /// The total gain of all splits by feature; divided by `splits` it is XGBoost's importance of type
    /// "gain".
    /// @param out one per column, overwritten
    /// @pre `out.size() == columns()`
    /// @par Cost
    /// O(nodes); allocates nothing
    void importances(std::span<feature_use> out) const {
        STRAGGLE_EXPECTS(out.size() == columns_);
        for (feature_use& f : out) f = {};
        for (tree_node const& n : nodes_) {
            if (n.is_leaf()) continue;
            ++out[n.column()].splits;
            out[n.column()].gain += static_cast<double>(n.gain());
        }
    }

    /// Serializes the trees: the same bytes on every machine, in a frame of kind "tree" and version 1.
    /// @par Cost
    /// O(nodes): 5 bytes per leaf, 9 or more per other node, and the frame
    [[nodiscard]] std::vector<std::byte> serialize() const {
        return detail::boosted_trees_bytes::write(*this);
    }
    /// Restores trees from bytes, which may be arbitrary.
    /// @return `status::ok`, or an error with nothing changed: see `open_frame`; `status::corrupt` for
    /// numbers that no training can produce
    /// @par Cost
    /// O(bytes); allocates at most a fixed multiple of the bytes
    /// @par Guarantees
    /// restored trees have no loops and use no feature beyond `columns()`: predicting with them is safe and
    /// gives a probability, even for malicious bytes
    [[nodiscard]] status restore(std::span<std::byte const> bytes) {
        boosted_trees read;
        status const s = detail::boosted_trees_bytes::read(bytes, read);
        if (s == status::ok) *this = std::move(read);
        return s;
    }

    friend bool operator==(boosted_trees const&, boosted_trees const&) = default;

  private:
    friend class boosted_trees_trainer;
    friend struct detail::boosted_trees_bytes;

    // The end of a tree among the nodes, and the number of steps to its deepest leaf.
    struct tree_end {
        std::uint32_t node = 0;
        std::uint32_t depth = 0;
        friend bool operator==(tree_end const&, tree_end const&) = default;
    };

    [[nodiscard]] std::size_t begin_of(std::size_t tree) const noexcept {
        return tree == 0 ? 0 : ends_[tree - 1].node;
    }
    [[nodiscard]] detail::rooted_tree rooted(std::size_t tree) const noexcept {
        return {nodes_.data() + begin_of(tree), ends_[tree].depth};
    }

    template <class Real>
    [[nodiscard]] double predict_row(std::span<Real const> row) const {
        STRAGGLE_EXPECTS(row.size() == columns_ || ends_.empty());
        float const margin =
            detail::all_finite(row) ? margin_of<true>(row.data()) : margin_of<false>(row.data());
        return static_cast<double>(detail::probability_of(margin));
    }

    template <bool Finite, class Real>
    [[nodiscard]] float margin_of(Real const* row) const noexcept {
        float margin = base_margin_;
        std::size_t t = 0;
        for (; t + detail::tree_lanes <= ends_.size(); t += detail::tree_lanes) {
            std::array<detail::rooted_tree, detail::tree_lanes> trees{};
            for (std::size_t k = 0; k < trees.size(); ++k) trees[k] = rooted(t + k);
            for (float const leaf : detail::leaves_of<Finite>(trees, row)) margin += leaf;
        }
        for (; t < ends_.size(); ++t) margin += detail::leaf_of(rooted(t), row);
        return margin;
    }

    template <class Real>
    void predict_all(feature_matrix<Real> const& rows, std::span<double> out) const {
        STRAGGLE_EXPECTS(rows.columns() == columns_ || ends_.empty());
        STRAGGLE_EXPECTS(out.size() == rows.rows());
        constexpr std::size_t block =
            64; // rows that stay in the first-level cache while all trees process them
        for (std::size_t first = 0; first < out.size(); first += block) {
            std::size_t const count = (std::min)(block, out.size() - first);
            feature_matrix<Real> const some = rows.between(first, count);
            std::array<float, block> margins{};
            margins.fill(base_margin_);
            bool const finite = detail::all_finite(some.values());
            for (std::size_t t = 0; t < ends_.size(); ++t)
                if (finite)
                    detail::add_leaves<true>(rooted(t), some, margins);
                else
                    detail::add_leaves<false>(rooted(t), some, margins);
            for (std::size_t i = 0; i < count; ++i)
                out[first + i] = static_cast<double>(detail::probability_of(margins[i]));
        }
    }

    std::vector<tree_node> nodes_;
    std::vector<tree_end> ends_;
    std::size_t columns_ = 0;
    float base_margin_ = 0;
};

} // namespace straggle::learn
