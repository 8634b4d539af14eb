// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The input of learners: a table of numbers owned by the caller, one row per example (a node in a month),
/// one column per feature. NaN marks missing values.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/span_of.hpp>

#include <concepts>
#include <cstddef>
#include <span>

namespace straggle::inline STRAGGLE_ABI::learn {

/// A view of a table in row-major order: the features of the first example, then those of the second, and so
/// on. NaN marks missing values; learners must reject infinite values.
///
/// @tparam Real `float` or `double`
/// @par Example
/// `std::vector<double> table(116 * 90);  learner.fit(feature_matrix(table, 90), labels);`
/// @par Cost
/// two words and a number; copies in registers. Allocates nothing
/// @par Guarantees
/// noexcept except for the contracts; constexpr
template <std::floating_point Real>
    requires std::same_as<Real, float> || std::same_as<Real, double>
class feature_matrix {
  public:
    /// The type of the values.
    using value_type = Real;

    /// No rows and no columns.
    constexpr feature_matrix() noexcept = default;

    /// @param values all rows, one after another; must outlive the view
    /// @param columns features per row
    /// @pre `values.size()` is a multiple of `columns`; 0 columns have no values
    constexpr feature_matrix(std::span<Real const> values, std::size_t columns)
        : values_(values.data()), rows_(columns == 0 ? 0 : values.size() / columns), columns_(columns) {
        STRAGGLE_EXPECTS(rows_ * columns == values.size());
    }

    /// Number of examples.
    [[nodiscard]] constexpr std::size_t rows() const noexcept { return rows_; }
    /// Number of features per example.
    [[nodiscard]] constexpr std::size_t columns() const noexcept { return columns_; }
    /// Whether there are no examples.
    [[nodiscard]] constexpr bool empty() const noexcept { return rows_ == 0; }
    /// All values, row after row.
    [[nodiscard]] constexpr std::span<Real const> values() const noexcept {
        return detail::span_of(values_, rows_ * columns_);
    }
    /// One example. @pre `i < rows()`
    [[nodiscard]] constexpr std::span<Real const> row(std::size_t i) const {
        STRAGGLE_EXPECTS(i < rows_);
        return detail::span_of(values_ + i * columns_, columns_);
    }
    /// Consecutive examples, such as those of the last months. @pre `first + count <= rows()`
    [[nodiscard]] constexpr feature_matrix between(std::size_t first, std::size_t count) const {
        STRAGGLE_EXPECTS(first <= rows_ && count <= rows_ - first);
        return feature_matrix(detail::span_of(values_ + first * columns_, count * columns_), columns_);
    }

  private:
    Real const* values_ = nullptr;
    std::size_t rows_ = 0;
    std::size_t columns_ = 0;
};

/// The values of a vector, an array or a span.
template <class Values>
feature_matrix(Values const&, std::size_t) -> feature_matrix<typename Values::value_type>;

} // namespace straggle::learn
