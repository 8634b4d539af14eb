// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `base/interner.hpp`: keyed hashes of text and numbers, and equality of text.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::detail {

// Spreads a hash over all bits: std::hash is the identity for integers in common libraries. The factor is
// 2^64 over the golden ratio (Fibonacci hashing, Knuth, TAOCP 6.4).
constexpr std::uint64_t spread(std::uint64_t h) noexcept {
    h = (h ^ (h >> 32)) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
}

template <class Word>
STRAGGLE_ALWAYS_INLINE std::uint64_t load_word(char const* p) noexcept {
    Word word;
    std::memcpy(&word, p, sizeof word);
    return word;
}

// Both halves of the product, combined, as in wyhash (Wang Yi, public domain), whose default secrets are the
// four constants below.
STRAGGLE_ALWAYS_INLINE std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
#if STRAGGLE_HAS_INT128
    __extension__ typedef unsigned __int128 wide;
    wide const product = wide{a} * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
    std::uint64_t const cross = (a >> 32) * (b & 0xffffffffu) + (a & 0xffffffffu) * (b >> 32);
    return (a * b) ^ ((a >> 32) * (b >> 32)) ^ ((cross << 32) | (cross >> 32));
#endif
}

// A different key separates hashes that were equal. The key is in every factor: a factor that can be forced
// to 0 would allow everything multiplied by it to be chosen freely.
STRAGGLE_ALWAYS_INLINE std::uint64_t hash_number(std::uint64_t h, std::uint64_t key) noexcept {
    if (key == 0) [[likely]]
        return spread(h);
    return spread(folded_product(h ^ key, 0xE7037ED1A0B428DBu ^ ((key << 32) | (key >> 32))));
}

// Sixteen bytes at a time, the last ones overlapping the previous: the remainder needs no loop. The standard
// library's hash costs as much as the rest of a lookup.
STRAGGLE_ALWAYS_INLINE std::uint64_t hash_text(std::string_view text, std::uint64_t key) noexcept {
    using word = std::uint64_t;
    word const turned = (key << 32) | (key >> 32);
    word const k0 = 0xA0761D6478BD642Fu ^ key, k1 = 0xE7037ED1A0B428DBu ^ turned;
    word const k2 = 0x8EBC6AF09C88C6E3u ^ key, k3 = 0x589965CC75374CC3u ^ turned;
    char const* p = text.data();
    std::size_t left = text.size();
    word h = left;
    if (left > 16) {
        for (; left > 32; p += 16, left -= 16)
            h = folded_product(load_word<word>(p) ^ k2 ^ h, load_word<word>(p + 8) ^ k3);
        char const* const last = p + left - 16;
        h = folded_product(load_word<word>(p) ^ k0 ^ h, load_word<word>(p + 8) ^ k1) ^
            folded_product(load_word<word>(last) ^ k2, load_word<word>(last + 8) ^ k3);
    } else if (left >= 8) {
        h = folded_product(load_word<word>(p) ^ k0 ^ h, load_word<word>(p + left - 8) ^ k1);
    } else if (left >= 4) {
        h = folded_product(load_word<std::uint32_t>(p) ^ k0 ^ h, load_word<std::uint32_t>(p + left - 4) ^ k1);
    } else if (left != 0) {
        word const bytes = load_word<std::uint8_t>(p) | (load_word<std::uint8_t>(p + left / 2) << 8) |
                           (load_word<std::uint8_t>(p + left - 1) << 16);
        h = folded_product(bytes ^ k0 ^ h, k1);
    }
    return h ^ (h >> 32);
}

// Whether two texts are equal: short ones by overlapping words, without a call or a loop.
STRAGGLE_ALWAYS_INLINE bool same_text(std::string_view a, std::string_view b) noexcept {
    using word = std::uint64_t;
    std::size_t const size = a.size();
    if (size != b.size()) return false;
    char const *const p = a.data(), *const q = b.data();
    auto const differ = [p, q]<class Word>(Word, std::size_t at) {
        return load_word<Word>(p + at) ^ load_word<Word>(q + at);
    };
    if (size > 32) return std::memcmp(p, q, size) == 0;
    if (size > 16)
        return (differ(word{}, 0) | differ(word{}, 8) | differ(word{}, size - 16) |
                differ(word{}, size - 8)) == 0;
    if (size >= 8) return (differ(word{}, 0) | differ(word{}, size - 8)) == 0;
    if (size >= 4) return (differ(std::uint32_t{}, 0) | differ(std::uint32_t{}, size - 4)) == 0;
    if (size == 0) return true;
    return (differ(std::uint8_t{}, 0) | differ(std::uint8_t{}, size / 2) |
            differ(std::uint8_t{}, size - 1)) == 0;
}

} // namespace straggle::detail
