// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Finds the characters of a table that are not plain text, sixty-four at a time: checking each character
/// would cost a branch that is often mispredicted.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace csv {

/// This many bytes behind a text may be read, and this many numbers behind the marks written.
inline constexpr std::size_t marks_padding = 64;

namespace detail {

// A comma, a quote, or a control character: the ends of lines are some of them.
constexpr bool is_mark(char c) {
    return c == ',' || c == '"' || static_cast<unsigned char>(c) <= '\r';
}

// By bit, which of 64 characters are marks.
inline std::uint64_t marks_plainly(char const* text) {
    std::uint64_t marks = 0;
    for (unsigned i = 0; i < 64; ++i) marks |= std::uint64_t{is_mark(text[i])} << i;
    return marks;
}

#if defined(__SSE2__)
inline std::uint64_t marks_among(char const* text) {
    __m128i const comma = _mm_set1_epi8(','), quote = _mm_set1_epi8('"'), control = _mm_set1_epi8('\r');
    auto const sixteen = [&](std::size_t at) {
        __m128i const c = _mm_loadu_si128(reinterpret_cast<__m128i const*>(text + at));
        __m128i const is = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(c, comma), _mm_cmpeq_epi8(c, quote)),
                                        _mm_cmpeq_epi8(_mm_min_epu8(c, control), c));
        return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(is))) << at;
    };
    return sixteen(0) | sixteen(16) | sixteen(32) | sixteen(48);
}
#else
inline std::uint64_t marks_among(char const* text) {
    return marks_plainly(text);
}
#endif

// How many bits are set. Without an instruction for it, compilers call a function.
constexpr unsigned bits_of(std::uint64_t word) {
    constexpr std::uint64_t ones = ~std::uint64_t{0};
    word -= word >> 1 & ones / 3;
    word = (word & ones / 5) + (word >> 2 & ones / 5);
    return static_cast<unsigned>(((word + (word >> 4)) & ones / 17) * (ones / 255) >> 56);
}

} // namespace detail

/// Writes where the marks of text[first, last) are, by their distance from `text`.
/// @pre text[last, last + marks_padding) may be read; `to` has room for last - first + marks_padding
/// @return the end of the marks
inline std::uint32_t* find_marks(char const* text, std::size_t first, std::size_t last, std::uint32_t* to) {
    for (; first < last; first += 64) {
        std::uint64_t marks = detail::marks_among(text + first);
        if (last - first < 64) marks &= (std::uint64_t{1} << (last - first)) - 1;
        auto const base = static_cast<std::uint32_t>(first);
        constexpr std::uint64_t some = std::uint64_t{1} << 63; // for what is written beyond the last one
        std::uint32_t* const end = to + detail::bits_of(marks);
        do { // always a few, without checking whether they exist
            for (int i = 0; i < 6; ++i, marks &= marks - 1)
                *to++ = base + static_cast<std::uint32_t>(std::countr_zero(marks | some));
        } while (marks != 0);
        to = end;
    }
    return to;
}

} // namespace csv
