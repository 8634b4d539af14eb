// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the decisions: indices of identifiers, 0, 1, 2... in order of insertion, for lookups that
/// nearly always fail. A small bit filter rejects most of them: 32 to 64 bits per stored identifier, one of
/// them set, which stays in the nearest cache where an `interner` would not. At most one unknown identifier
/// in 32 passes the filter.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/detail/owned_identifier.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/size.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Id>
class rare_ids {
  public:
    using key_type = typename interner<Id>::key_type;
    static constexpr std::size_t none = interner<Id>::none;

    void insert(key_type id) {
        std::size_t const ids = places_.bound() + 1;
        if (ids * bits_per_id > word_bits * words_.size()) grow(ids);
        std::size_t const bit = bit_of(id, shift_); // a user's hash may throw
        places_.insert(id);
        mark(words_, bit);
    }
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE std::size_t find(key_type id) const {
        if (words_.empty()) return none;
        std::size_t const bit = bit_of(id, shift_);
        if ((words_[bit / word_bits] >> (bit % word_bits) & 1) == 0) [[likely]]
            return none;
        return look_up(id);
    }
    // Removes everything but keeps the memory.
    void clear() noexcept {
        places_.clear();
        for (std::uint64_t& word : words_) word = 0;
    }

  private:
    static constexpr std::size_t word_bits = 64, bits_per_id = 32, fewest_words = 8;

    // The highest bits are the best mixed, as in the table of indices.
    STRAGGLE_ALWAYS_INLINE static std::size_t bit_of(key_type id, int shift) {
        return to_size(owned_identifier<Id>::hash(id, 0) >> shift);
    }
    static void mark(std::vector<std::uint64_t>& words, std::size_t bit) noexcept {
        words[bit / word_bits] |= std::uint64_t{1} << (bit % word_bits);
    }
    [[nodiscard]] STRAGGLE_NEVER_INLINE std::size_t look_up(key_type id) const { return places_.find(id); }

    STRAGGLE_NEVER_INLINE void grow(std::size_t ids) {
        std::size_t const least = (ids * bits_per_id + word_bits - 1) / word_bits;
        std::vector<std::uint64_t> words(std::bit_ceil(least > fewest_words ? least : fewest_words));
        int const shift = 64 - std::countr_zero(words.size() * word_bits);
        for (Id const& id : places_.ids()) mark(words, bit_of(id, shift));
        words_.swap(words);
        shift_ = shift;
    }

    interner<Id> places_;
    std::vector<std::uint64_t> words_;
    int shift_ = 0;
};

} // namespace straggle::detail
