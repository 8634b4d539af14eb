// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: checks a query and converts it to one term per factor. A
/// query with the same weights as the last one, the usual case, needs neither square roots nor divisions.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/predict/detail/profile_leaves.hpp>
#include <straggle/predict/detail/similarity_lanes.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Caches only: earlier queries do not affect an answer.
class query_terms {
  public:
    // In the order of the factors, except those with weight 0.
    [[nodiscard]] std::span<factor_term const> terms() const noexcept { return {terms_.data(), used_}; }

    // @param per_range 1 / range of each factor, or 0
    // @return false if no record could have a value, or a weight is negative or not finite
    // @pre one value and one weight per factor
    bool assign(profile_leaves const& leaves, std::span<double const> per_range, std::span<double const> row,
                std::span<double const> weights) {
        if (leaves.all_known_numbers() && are_numbers_ && used_ == row.size() &&
            renew(per_range.data(), row.data(), weights.data()))
            return true;
        return make(leaves, per_range, row, weights);
    }

  private:
    // For numbers known for all records, with the same weights as before. On failure the terms are unusable.
    bool renew(double const* per_range, double const* row, double const* weights) noexcept {
        constexpr auto largest = std::bit_cast<std::uint64_t>(predict::largest_factor);
        std::uint64_t other_weights = 0;
        for (std::size_t k = 0; k < used_; ++k) {
            factor_term& term = terms_[k];
            other_weights |=
                std::bit_cast<std::uint64_t>(weights[k]) ^ std::bit_cast<std::uint64_t>(term.weight);
            if ((std::bit_cast<std::uint64_t>(row[k]) << 1) > largest << 1) return false; // or missing
            term.value = row[k];
            term.scale = scale_of(roots_[k], per_range[k]);
        }
        return other_weights == 0;
    }

    STRAGGLE_NEVER_INLINE bool make(profile_leaves const& leaves, std::span<double const> per_range,
                                    std::span<double const> row, std::span<double const> weights) {
        terms_.resize(row.size());
        roots_.resize(row.size());
        used_ = 0;
        are_numbers_ = true;
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (!predict::is_factor_value(row[k]) || !(weights[k] >= 0) || !is_finite(weights[k])) {
                are_numbers_ = false;
                return false;
            }
            roots_[k] = std::sqrt(weights[k]);
            factor_term const term =
                make_term(k, leaves.is_numeric(k), row[k], scale_of(roots_[k], per_range[k]), weights[k],
                          leaves.missing()[k] != 0);
            bool const counts = weights[k] > 0;
            if (counts) terms_[used_++] = term;
            are_numbers_ = are_numbers_ && counts && term.form == term_form::number;
        }
        return true;
    }

    std::vector<factor_term> terms_;
    std::vector<double> roots_; // of the weights
    std::size_t used_ = 0;
    bool are_numbers_ = false; // all terms are numbers, one per factor
};

} // namespace straggle::detail
