// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Truth against prediction: the four counts of a binary classification, and the ratios derived from them.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::stats {

/// Cases by truth and prediction, for example tasks (a straggler? detected?) or nodes (weak? forecast as
/// weak?).
///
/// A ratio with an empty denominator is `status::insufficient_evidence`, never 0 or 1.
/// @par Cost
/// 32 bytes, everything O(1); allocates nothing
/// @par Accuracy
/// counts are exact, ratios are rounded once
/// @par Guarantees
/// usable in constant expressions
struct confusion_matrix {
    std::uint64_t true_positives = 0;  ///< true, and predicted
    std::uint64_t false_positives = 0; ///< false, but predicted
    std::uint64_t false_negatives = 0; ///< true, but not predicted
    std::uint64_t true_negatives = 0;  ///< false, and not predicted

    /// Adds one case.
    /// @param so the truth @param said the prediction
    /// @return true: a case is never rejected
    constexpr bool observe(bool so, bool said) noexcept {
        ++(so ? (said ? true_positives : false_negatives) : (said ? false_positives : true_negatives));
        return true;
    }
    /// Adds another matrix.
    constexpr confusion_matrix& operator+=(confusion_matrix const& other) noexcept {
        true_positives += other.true_positives;
        false_positives += other.false_positives;
        false_negatives += other.false_negatives;
        true_negatives += other.true_negatives;
        return *this;
    }
    /// Number of cases.
    [[nodiscard]] constexpr std::uint64_t total() const noexcept { return positives() + negatives(); }
    /// Number of cases that are true.
    [[nodiscard]] constexpr std::uint64_t positives() const noexcept {
        return true_positives + false_negatives;
    }
    /// Number of cases that are false.
    [[nodiscard]] constexpr std::uint64_t negatives() const noexcept {
        return false_positives + true_negatives;
    }
    /// Number of cases predicted as true.
    [[nodiscard]] constexpr std::uint64_t said() const noexcept { return true_positives + false_positives; }

    /// Share of correct predictions (ML-NA equation 3).
    [[nodiscard]] constexpr outcome<double> accuracy() const {
        return share(true_positives + true_negatives, total());
    }
    /// Share of predicted cases that are true (evaluation framework, equation 1).
    [[nodiscard]] constexpr outcome<double> precision() const { return share(true_positives, said()); }
    /// Share of true cases that were predicted (evaluation framework, equation 2).
    [[nodiscard]] constexpr outcome<double> recall() const { return share(true_positives, positives()); }
    /// Harmonic mean of precision and recall, as 2 TP / (2 TP + FP + FN): undefined only without any true or
    /// predicted case, 0 if all predictions were wrong.
    [[nodiscard]] constexpr outcome<double> f1() const {
        return share(2 * true_positives, positives() + said());
    }
    friend constexpr bool operator==(confusion_matrix const&, confusion_matrix const&) = default;

  private:
    [[nodiscard]] static constexpr outcome<double> share(std::uint64_t part, std::uint64_t whole) {
        if (whole == 0) return status::insufficient_evidence;
        return static_cast<double>(part) / static_cast<double>(whole);
    }
};

} // namespace straggle::stats
