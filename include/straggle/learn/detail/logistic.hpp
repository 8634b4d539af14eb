// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `learn/boosted_trees.hpp` and `learn/boosted_trees_trainer.hpp`: the logistic loss. In
/// single precision throughout, each operation rounded as in XGBoost: trees follow from these very numbers.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// The bits of a number without its sign: they compare like the magnitudes, infinity and NaN above all others.
// -ffast-math assumes that neither exists, and that no conversion makes one.
template <class Real>
constexpr auto magnitude_bits(Real x) noexcept {
    using bits = std::conditional_t<sizeof(Real) == sizeof(float), std::uint32_t, std::uint64_t>;
    return std::bit_cast<bits>(x) & static_cast<bits>(~bits{0} >> 1);
}

template <class Real>
inline constexpr std::uint64_t magnitude_of_infinity =
    sizeof(Real) == sizeof(float) ? 0x7f800000u : infinity_bits;

template <class Real>
constexpr bool is_missing(Real x) noexcept {
    return magnitude_bits(x) > magnitude_of_infinity<Real>;
}

// The probability for a margin.
inline float probability_of(float margin) noexcept {
    // e^88.7 is just finite. The last term is lost to rounding; it is kept because XGBoost has it.
    return 1.0F / (std::exp((std::min)(-margin, 88.7F)) + 1.0F + 1e-16F);
}

// The margin for a probability within (0, 1).
inline float margin_of(float probability) noexcept {
    return -std::log(1.0F / probability - 1.0F);
}

// First and second derivative of the loss with respect to the margin.
struct loss_slope {
    float first = 0;
    float second = 0;
};

inline loss_slope slope_of(float margin, float label) noexcept {
    float const p = probability_of(margin);
    return {p - label, (std::max)(p * (1.0F - p), 1e-16F)};
}

// The loss itself: -log of the probability of the actual label.
inline float log_loss(float probability, bool label) noexcept {
    return -std::log((std::max)(label ? probability : 1.0F - probability, 1e-16F));
}

} // namespace straggle::detail
