// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What was so against what was said: the four counts of a yes-or-no question, and the shares made of them.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::stats {

/// Cases by what they were and what was said of them, such as tasks (a straggler? detected?) or nodes (weak?
/// forecast to be?).
///
/// Every share is nothing (`status::insufficient_evidence`) when its denominator is empty, never 0 or 1.
/// @par Cost
/// 32 bytes, everything O(1); allocates nothing
/// @par Accuracy
/// counts are exact, shares rounded once
/// @par Guarantees
/// usable in constant expressions
struct confusion_matrix {
    std::uint64_t true_positives = 0;  ///< it was so, and was said
    std::uint64_t false_positives = 0; ///< it was not so, but was said
    std::uint64_t false_negatives = 0; ///< it was so, but was not said
    std::uint64_t true_negatives = 0;  ///< it was not so, and was not said

    /// Takes in one case.
    /// @param so what it was @param said what was said of it
    /// @return true: there is nothing to reject
    constexpr bool observe(bool so, bool said) noexcept {
        ++(so ? (said ? true_positives : false_negatives) : (said ? false_positives : true_negatives));
        return true;
    }
    /// Takes in all of another one.
    constexpr confusion_matrix& operator+=(confusion_matrix const& other) noexcept {
        true_positives += other.true_positives;
        false_positives += other.false_positives;
        false_negatives += other.false_negatives;
        true_negatives += other.true_negatives;
        return *this;
    }
    /// How many cases.
    [[nodiscard]] constexpr std::uint64_t total() const noexcept { return positives() + negatives(); }
    /// Of how many it was so.
    [[nodiscard]] constexpr std::uint64_t positives() const noexcept {
        return true_positives + false_negatives;
    }
    /// Of how many it was not so.
    [[nodiscard]] constexpr std::uint64_t negatives() const noexcept {
        return false_positives + true_negatives;
    }
    /// Of how many it was said.
    [[nodiscard]] constexpr std::uint64_t said() const noexcept { return true_positives + false_positives; }

    /// Share of the cases of which the right thing was said (ML-NA equation 3).
    [[nodiscard]] constexpr outcome<double> accuracy() const {
        return share(true_positives + true_negatives, total());
    }
    /// Share of those said to be so that were (evaluation framework, equation 1).
    [[nodiscard]] constexpr outcome<double> precision() const { return share(true_positives, said()); }
    /// Share of those that were so that were said to be (evaluation framework, equation 2).
    [[nodiscard]] constexpr outcome<double> recall() const { return share(true_positives, positives()); }
    /// Harmonic mean of precision and recall, as 2 TP / (2 TP + FP + FN): nothing only when nothing was so
    /// nor said to be, 0 when all that was said was wrong.
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
