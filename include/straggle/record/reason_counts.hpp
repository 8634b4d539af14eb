// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How often each reason was given: what every part that rejects a record, and says why, counts with.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::record {

/// An enumeration of reasons, numbered from 0 on, of which `reason_count(r)` says how many there are. It is
/// found beside the enumeration.
template <class Reason>
concept countable_reason = std::is_enum_v<Reason> && requires(Reason r) {
    { reason_count(r) } noexcept -> std::same_as<std::size_t>;
};

/// A tally by reason, all 0 at first.
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
    /// How many reasons there are.
    static constexpr std::size_t reasons = reason_count(Reason{});

    std::array<Number, reasons> by_reason{}; ///< in the order of the enumeration

    /// How often a reason was given. @pre one of the enumeration
    [[nodiscard]] constexpr Number& operator[](Reason r) noexcept {
        return by_reason[static_cast<std::size_t>(r)];
    }
    /// How often a reason was given. @pre one of the enumeration
    [[nodiscard]] constexpr Number const& operator[](Reason r) const noexcept {
        return by_reason[static_cast<std::size_t>(r)];
    }
    /// The same by its number. @pre `i < reasons`
    [[nodiscard]] constexpr Number& operator[](std::size_t i) noexcept { return by_reason[i]; }
    /// The same by its number. @pre `i < reasons`
    [[nodiscard]] constexpr Number const& operator[](std::size_t i) const noexcept { return by_reason[i]; }

    /// How often any reason was given.
    [[nodiscard]] constexpr Number total() const noexcept {
        Number sum = 0;
        for (Number const n : by_reason) sum += n;
        return sum;
    }
    /// Takes in another tally.
    constexpr reason_counts& operator+=(reason_counts const& other) noexcept {
        for (std::size_t i = 0; i < reasons; ++i) by_reason[i] += other.by_reason[i];
        return *this;
    }

    /// How many reasons there are, as of any range.
    [[nodiscard]] static constexpr std::size_t size() noexcept { return reasons; }
    /// The numbers, in the order of the enumeration.
    [[nodiscard]] constexpr auto begin() const noexcept { return by_reason.begin(); }
    /// The end of them.
    [[nodiscard]] constexpr auto end() const noexcept { return by_reason.end(); }

    friend constexpr bool operator==(reason_counts const&, reason_counts const&) = default;
};

} // namespace straggle::record
