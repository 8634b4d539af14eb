// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The checksum of stored bytes, CRC-64/XZ; a private part of base/frame.hpp. In software a 64-bit CRC is as
/// fast as a 32-bit one, and its probability to miss damage, 2^-64 instead of 2^-32, is negligible for any
/// amount of stored data. Any damage within 64 adjacent bits is always detected.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/size.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// The loops are portable; a plain copy is faster on little-endian machines.
template <class Unsigned>
constexpr Unsigned load_little(std::byte const* from) noexcept {
    Unsigned value = 0;
    if (std::endian::native == std::endian::little && !std::is_constant_evaluated())
        std::memcpy(&value, from, sizeof(value));
    else
        for (std::size_t i = 0; i < sizeof(value); ++i) value |= static_cast<Unsigned>(from[i]) << (8 * i);
    return value;
}
template <class Unsigned>
constexpr void store_little(std::byte* to, Unsigned value) noexcept {
    if (std::endian::native == std::endian::little && !std::is_constant_evaluated())
        std::memcpy(to, &value, sizeof(value));
    else
        for (std::size_t i = 0; i < sizeof(value); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

using crc64_tables_type = std::array<std::array<std::uint64_t, 256>, 8>;

// Table k holds the remainders of a byte followed by k zero bytes.
template <class>
constexpr crc64_tables_type make_crc64_tables() noexcept {
    constexpr std::uint64_t polynomial = 0xC96C5795D7870F42u; // of ECMA-182, lowest bit first
    crc64_tables_type tables{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
        std::uint64_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
        tables[0][byte] = crc;
    }
    for (std::size_t k = 1; k < tables.size(); ++k)
        for (std::size_t byte = 0; byte < 256; ++byte)
            tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 255];
    return tables;
}

// A template, so that compilers compute these 2048 numbers only where a checksum is used, not in every
// translation unit: that would cost an eighth of reading <regex>.
template <class When>
inline constexpr crc64_tables_type crc64_tables = make_crc64_tables<When>();

// Eight bytes per step (Kounavis and Berry, "A Systematic Approach to Building High Performance
// Software-based CRC Generators", 2005): their eight lookups are independent.
template <class When = void>
constexpr std::uint64_t crc64(std::span<std::byte const> bytes) noexcept {
    crc64_tables_type const& t = crc64_tables<When>;
    std::uint64_t crc = ~std::uint64_t{0};
    std::byte const* p = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; p += 8, left -= 8) {
        crc ^= load_little<std::uint64_t>(p);
        crc = t[7][crc & 255] ^ t[6][(crc >> 8) & 255] ^ t[5][(crc >> 16) & 255] ^ t[4][(crc >> 24) & 255] ^
              t[3][(crc >> 32) & 255] ^ t[2][(crc >> 40) & 255] ^ t[1][(crc >> 48) & 255] ^
              t[0][detail::to_size(crc >> 56)];
    }
    for (; left != 0; ++p, --left) crc = (crc >> 8) ^ t[0][(crc ^ static_cast<std::uint64_t>(*p)) & 255];
    return ~crc;
}

} // namespace straggle::detail
