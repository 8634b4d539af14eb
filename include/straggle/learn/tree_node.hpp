// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One node of a boosted tree: its question, and where a row goes from there.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/learn/detail/logistic.hpp>
#include <straggle/learn/feature_matrix.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace straggle::inline STRAGGLE_ABI::learn {

/// A node of a boosted tree: a question about one feature, or a leaf with its contribution to the margin.
/// @par Cost
/// 16 bytes, trivially copyable
/// @par Guarantees
/// noexcept; constexpr
class tree_node {
  public:
    /// Limit on the features of a row.
    static constexpr std::uint32_t most_columns = std::uint32_t{1} << 30;

    /// A leaf that adds 0, which is a complete tree.
    constexpr tree_node() noexcept = default;

    /// A leaf.
    /// @param index its index in the tree
    /// @param value its contribution to the margin
    [[nodiscard]] static constexpr tree_node leaf(std::uint32_t index, float value) noexcept {
        return tree_node(beyond_all, value, leaf_bit | default_left_bit, index);
    }
    /// A question: is the value of `column` less than `threshold`?
    /// @param left index of the child for yes; the one for no follows it
    /// @param column less than `most_columns`
    /// @param threshold what rows are compared with
    /// @param default_left where rows with a missing value go: to yes
    /// @param gain reduction of the loss by the question in training
    [[nodiscard]] static constexpr tree_node split(std::uint32_t left, std::uint32_t column, float threshold,
                                                   bool default_left, float gain) noexcept {
        return tree_node(threshold, gain, column | (default_left ? default_left_bit : 0), left);
    }

    /// Whether this is a leaf.
    [[nodiscard]] constexpr bool is_leaf() const noexcept { return (what_ & leaf_bit) != 0; }
    /// For a leaf: its contribution to the margin; 0 for a question.
    [[nodiscard]] constexpr float value() const noexcept { return is_leaf() ? worth_ : 0; }
    /// For a question: the feature; 0 for a leaf.
    [[nodiscard]] constexpr std::uint32_t column() const noexcept { return what_ & column_bits; }
    /// For a question: rows with smaller values go left.
    [[nodiscard]] constexpr float threshold() const noexcept { return threshold_; }
    /// For a question: where rows with a missing value go.
    [[nodiscard]] constexpr bool default_left() const noexcept { return (what_ & default_left_bit) != 0; }
    /// For a question: its reduction of the loss in training, doubled as in XGBoost; 0 for a leaf.
    [[nodiscard]] constexpr float gain() const noexcept { return is_leaf() ? 0 : worth_; }
    /// Index of the child for smaller values; a leaf returns its own.
    [[nodiscard]] constexpr std::uint32_t left() const noexcept { return next_; }
    /// Index of the other child; a leaf returns its own.
    [[nodiscard]] constexpr std::uint32_t right() const noexcept { return next_ + (is_leaf() ? 0 : 1); }

    /// Where a row with the value `x` in `column()` goes from here; NaN is missing. A row stays at a leaf.
    [[nodiscard]] constexpr std::uint32_t next(float x) const noexcept {
        return next(x, detail::is_missing(x));
    }
    /// The same if it is known whether the value is missing; then `x` is ignored.
    [[nodiscard]] constexpr std::uint32_t next(float x, bool is_missing) const noexcept {
        // Branchless: a branch would be mispredicted half of the time.
        auto const missing = static_cast<std::uint32_t>(is_missing);
        auto const not_less = static_cast<std::uint32_t>(!(x < threshold_));
        std::uint32_t const right = (missing & ~(what_ >> 31)) | (~missing & not_less);
        return next_ + (right & ~(what_ >> 30) & 1);
    }
    /// `next(x)` for a finite `x`, in a third of the instructions.
    [[nodiscard]] constexpr std::uint32_t next_if_finite(float x) const noexcept {
        return next_ + static_cast<std::uint32_t>(!(x < threshold_));
    }

    friend constexpr bool operator==(tree_node const&, tree_node const&) = default;

  private:
    static constexpr std::uint32_t default_left_bit = std::uint32_t{1} << 31;
    static constexpr std::uint32_t leaf_bit = std::uint32_t{1} << 30;
    static constexpr std::uint32_t column_bits = leaf_bit - 1;
    static_assert(most_columns == column_bits + 1);
    // Infinity, from its bits: clang warns about infinity() under -ffast-math.
    static constexpr float beyond_all = std::bit_cast<float>(std::uint32_t{0x7f800000});

    constexpr tree_node(float threshold, float worth, std::uint32_t what, std::uint32_t next) noexcept
        : threshold_(threshold), worth_(worth), what_(what), next_(next) {}

    // A leaf asks whether the value of column 0 is less than infinity, and is its own left child: a walk that
    // continues stays there.
    float threshold_ = beyond_all;
    float worth_ = 0; // gain, or value of a leaf
    std::uint32_t what_ = leaf_bit | default_left_bit;
    std::uint32_t next_ = 0;
};

} // namespace straggle::learn

namespace straggle::inline STRAGGLE_ABI::detail {

// Number of walks in parallel: each step waits for memory twice, and eight walks can wait at once.
inline constexpr std::size_t tree_lanes = 8;

// A tree, prepared for walking.
struct rooted_tree {
    learn::tree_node const* root = nullptr;
    std::uint32_t depth = 0; // steps to the deepest leaf
};

// Whether no value is missing, infinite or too large for a float.
template <class Real>
bool all_finite(std::span<Real const> values) noexcept {
    constexpr auto most = magnitude_bits(static_cast<Real>((std::numeric_limits<float>::max)()));
    auto found = magnitude_bits(Real{0});
    for (Real const x : values) found = (std::max)(found, magnitude_bits(x));
    return found <= most;
}

template <bool Finite, class Real>
std::uint32_t step(learn::tree_node const& node, Real const* row) noexcept {
    Real const x = row[node.column()];
    if constexpr (Finite)
        return node.next_if_finite(static_cast<float>(x));
    else
        return node.next(static_cast<float>(x), is_missing(x));
}

template <class Real>
float leaf_of(rooted_tree tree, Real const* row) noexcept {
    std::uint32_t at = 0;
    while (!tree.root[at].is_leaf()) at = step<false>(tree.root[at], row);
    return tree.root[at].value();
}

// The leaves that one row reaches in several trees; every walk takes as many steps as the deepest tree has.
template <bool Finite, class Real>
std::array<float, tree_lanes> leaves_of(std::array<rooted_tree, tree_lanes> const& trees,
                                        Real const* row) noexcept {
    std::uint32_t depth = 0;
    for (rooted_tree const& t : trees) depth = (std::max)(depth, t.depth);
    std::array<std::uint32_t, tree_lanes> at{};
    for (; depth > 0; --depth)
        for (std::size_t k = 0; k < tree_lanes; ++k) at[k] = step<Finite>(trees[k].root[at[k]], row);
    std::array<float, tree_lanes> values{};
    for (std::size_t k = 0; k < tree_lanes; ++k) values[k] = trees[k].root[at[k]].value();
    return values;
}

// Adds to each row's margin the value of the leaf it reaches in one tree.
template <bool Finite, class Real>
void add_leaves(rooted_tree tree, learn::feature_matrix<Real> const& rows,
                std::span<float> margins) noexcept {
    Real const* row = rows.values().data();
    std::size_t const columns = rows.columns();
    std::size_t i = 0;
    for (; i + tree_lanes <= rows.rows(); i += tree_lanes) {
        std::array<std::uint32_t, tree_lanes> at{};
        for (std::uint32_t depth = tree.depth; depth > 0; --depth)
            for (std::size_t k = 0; k < tree_lanes; ++k)
                at[k] = step<Finite>(tree.root[at[k]], row + k * columns);
        for (std::size_t k = 0; k < tree_lanes; ++k) margins[i + k] += tree.root[at[k]].value();
        row += tree_lanes * columns;
    }
    for (; i < rows.rows(); ++i, row += columns) margins[i] += leaf_of(tree, row);
}

} // namespace straggle::detail
