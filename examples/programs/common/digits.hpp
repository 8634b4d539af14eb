// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Digits eight at a time, without checking each.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace program {

/// Eight characters in one number, the first in its lowest byte.
class eight_characters {
  public:
    /// Elsewhere they have to be checked one by one.
    static constexpr bool works_here = std::endian::native == std::endian::little;
    static constexpr std::uint64_t ones = 0x0101010101010101u, tops = ones << 7;

    /// @param from with eight readable bytes
    explicit eight_characters(char const* from) { std::memcpy(&word_, from, sizeof word_); }

    /// The number of leading digits.
    [[nodiscard]] std::size_t digits() const {
        std::uint64_t const found = others();
        return found == 0 ? 8 : static_cast<std::size_t>(std::countr_zero(found)) / 8;
    }
    /// Whether the last n are digits. @pre there is one
    [[nodiscard]] bool ends_in_digits(std::size_t n) const {
        return ((others() >> (64 - 8 * n)) & tops) == 0;
    }
    /// The number in the first n. @pre they are digits, and there is one
    [[nodiscard]] std::uint64_t first(std::size_t n) const {
        return number((word_ ^ ones * '0') << (64 - 8 * n)); // zeros in front
    }
    /// The number in the last n. @pre they are digits, and there is one
    [[nodiscard]] std::uint64_t last(std::size_t n) const {
        std::size_t const gone = 64 - 8 * n;
        return number((word_ ^ ones * '0') >> gone << gone);
    }

  private:
    // The top bit of each byte that is not a digit.
    [[nodiscard]] std::uint64_t others() const {
        std::uint64_t const values = word_ ^ ones * '0'; // a digit becomes its value
        // No byte carries into the next one.
        return (((values & ~tops) + ones * (127 - 9)) | values) & tops;
    }
    static std::uint64_t number(std::uint64_t values) {
        values = (values * 10 + (values >> 8)) & 0x00FF00FF00FF00FFu;
        values = (values * 100 + (values >> 16)) & 0x0000FFFF0000FFFFu;
        return (values * 10000 + (values >> 32)) & 0x00000000FFFFFFFFu;
    }

    std::uint64_t word_;
};

/// By exponent, all that a signed 64-bit number can hold.
inline constexpr std::array<std::int64_t, 19> powers_of_ten = [] {
    std::array<std::int64_t, 19> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
    return powers;
}();

} // namespace program
