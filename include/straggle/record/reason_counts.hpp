// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Counts by reason: used by every part that rejects records and reports why.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::record {

/// An enumeration of reasons, numbered from 0, with a function `reason_count(r)` that returns their number.
/// The function is found by argument-dependent lookup.
template <class Reason>
concept countable_reason = std::is_enum_v<Reason> && requires(Reason r) {
    { reason_count(r) } noexcept -> std::same_as<std::size_t>;
};

/// A count per reason, initially 0.
/// @tparam Reason a `countable_reason`, such as `rejection`
/// @tparam Number an unsigned integer
/// @par Example
/// `record::reason_counts<rejection> rejected;  ++rejected[rejection::missing_job];`
/// @par Cost
/// one number for each reason; allocates nothing
/// @par Guarantees
/// noexcept, usable in constant expressions
template <countable_reason Reason, std::unsigned_integral Number = std::uint64_t>
struct reason_counts {
    /// Number of reasons.
    static constexpr std::size_t reasons = reason_count(Reason{});

    std::array<Number, reasons> by_reason{}; ///< in the order of the enumeration

    /// The count of a reason. @pre one of the enumeration
    [[nodiscard]] constexpr Number& operator[](Reason r) noexcept {
        return by_reason[static_cast<std::size_t>(r)];
    }
    /// The count of a reason. @pre one of the enumeration
    [[nodiscard]] constexpr Number const& operator[](Reason r) const noexcept {
        return by_reason[static_cast<std::size_t>(r)];
    }
    /// The count by the reason's number. @pre `i < reasons`
    [[nodiscard]] constexpr Number& operator[](std::size_t i) noexcept { return by_reason[i]; }
    /// The count by the reason's number. @pre `i < reasons`
    [[nodiscard]] constexpr Number const& operator[](std::size_t i) const noexcept { return by_reason[i]; }

    /// The sum over all reasons.
    [[nodiscard]] constexpr Number total() const noexcept {
        Number sum = 0;
        for (Number const n : by_reason) sum += n;
        return sum;
    }
    /// Adds another count.
    constexpr reason_counts& operator+=(reason_counts const& other) noexcept {
        for (std::size_t i = 0; i < reasons; ++i) by_reason[i] += other.by_reason[i];
        return *this;
    }

    /// Number of reasons, as for any range.
    [[nodiscard]] static constexpr std::size_t size() noexcept { return reasons; }
    /// The counts, in the order of the enumeration.
    [[nodiscard]] constexpr auto begin() const noexcept { return by_reason.begin(); }
    /// The end of the counts.
    [[nodiscard]] constexpr auto end() const noexcept { return by_reason.end(); }

    friend constexpr bool operator==(reason_counts const&, reason_counts const&) = default;
};

} // namespace straggle::record
