// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: the pairs of one job with nodes in one time step, in order of
/// arrival, with an index small enough for the caches.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/prefetch.hpp>
#include <straggle/base/size.hpp>
#include <straggle/monitor/detail/block_arena.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
// IWYU pragma: begin_keep
#include <new>
// IWYU pragma: end_keep
#include <span>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// Does not own its memory: the owner returns it to the arena. Up to eight pairs are scanned; more have an
// index of twice as many places, at most half of them used, each with the number of a pair and some bits of a
// hash, so that hardly any pair is examined in vain. Up to 128 pairs, a place takes two bytes, and four
// places are examined as one word, without unpredictable branches: if the index is not cached, a
// misprediction would delay the prefetching of what comes next.
template <class Pair>
class pair_table {
    using arena_type = block_arena;
    static_assert(std::is_trivially_copyable_v<Pair> && sizeof(Pair) == 32);

  public:
    static constexpr std::size_t most = (std::size_t{1} << 24) - 1;
    static constexpr std::uint32_t none = 0xffffffff; // stands for no pair

    std::uint8_t slot = 0; // for the owner: which time step it belongs to

    [[nodiscard]] std::span<Pair const> all() const noexcept { return {pairs_, size_}; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // The pair with a node, or null.
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE Pair* find(std::uint32_t node) const noexcept {
        if (index_ == nullptr) {
            // Latest first: attempts on one node tend to end together.
            for (std::size_t i = size_; i-- > 0;)
                if (pairs_[i].node == node) return pairs_ + i;
            return nullptr;
        }
        return order_ <= narrow ? find_in_buckets(node) : find_in_places(node);
    }

    // Prefetches the first data that `find` reads.
    STRAGGLE_ALWAYS_INLINE void prefetch_index(std::uint32_t node) const noexcept {
        if (index_ == nullptr) {
            STRAGGLE_PREFETCH(pairs_);
            return;
        }
        std::uint64_t const hash = hash_of(node);
        if (order_ <= narrow)
            STRAGGLE_PREFETCH(static_cast<std::uint64_t const*>(index_) + bucket_of(hash));
        else
            STRAGGLE_PREFETCH(static_cast<std::uint32_t const*>(index_) + place_of(hash));
    }
    // Prefetches the likely pair and returns its number. Call once the index is cached.
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE std::uint32_t prefetch_pair(std::uint32_t node) const noexcept {
        if (index_ == nullptr) return none;
        std::uint64_t const hash = hash_of(node);
        std::uint32_t number = 0;
        if (order_ <= narrow) {
            std::uint64_t const bucket = static_cast<std::uint64_t const*>(index_)[bucket_of(hash)];
            if (std::uint64_t const found = lanes_with(bucket, hash); found != 0)
                number = static_cast<std::uint32_t>(bucket >> lane_of(found)) & 0xff;
        } else {
            number = static_cast<std::uint32_t const*>(index_)[place_of(hash)] & wide_number;
        }
        --number;
        if (number != none) STRAGGLE_PREFETCH(pairs_ + number);
        return number;
    }
    // The pair with a node, or null. Checks the guessed position first.
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE Pair* find(std::uint32_t node, std::uint32_t guess) const noexcept {
        if (guess < size_ && pairs_[guess].node == node) [[likely]]
            return pairs_ + guess;
        return find(node);
    }

    // A new pair. Strong guarantee: allocates before anything changes.
    // @pre it does not exist, and there are fewer than `most`
    Pair& insert(std::uint32_t node, arena_type& arena) {
        if (size_ == capacity()) grow(arena);
        Pair* const pair = ::new (static_cast<void*>(pairs_ + size_)) Pair(node);
        ++size_;
        if (index_ != nullptr) enter(size_ - 1);
        return *pair;
    }

    // Returns all memory.
    void release(arena_type& arena) noexcept {
        if (index_ != nullptr) arena.give_back(index_, index_bytes(order_));
        if (pairs_ != nullptr) arena.give_back(pairs_, pair_bytes(order_));
        *this = {};
    }

    // A copy in another arena's memory. Strong guarantee.
    [[nodiscard]] pair_table copy(arena_type& arena) const {
        pair_table other = *this;
        if (pairs_ == nullptr) return other;
        other.allocate(order_, arena);
        std::memcpy(static_cast<void*>(other.pairs_), pairs_, size_ * sizeof(Pair));
        if (index_ != nullptr) std::memcpy(other.index_, index_, index_bytes(order_));
        return other;
    }

  private:
    static constexpr unsigned searched = 3; // log2 of the number of pairs without an index
    static constexpr unsigned narrow = 7;   // log2 of the number of pairs with one-byte numbers
    static constexpr std::uint64_t top_place = std::uint64_t{0xffff} << 48;
    static constexpr std::uint32_t wide_number = 0xffffff;

    [[nodiscard]] std::size_t capacity() const noexcept {
        return pairs_ == nullptr ? 0 : std::size_t{1} << order_;
    }
    static constexpr std::size_t pair_bytes(unsigned order) noexcept { return sizeof(Pair) << order; }
    static constexpr std::size_t index_bytes(unsigned order) noexcept {
        return std::size_t{order <= narrow ? 2u : 4u} << (order + 1);
    }
    static std::uint64_t hash_of(std::uint32_t node) noexcept { return node * 0x9E3779B97F4A7C15u; }

    // Small tables: buckets of four 16-bit places, each 0 or the number of a pair below eight bits of a hash,
    // the highest of which is set.
    [[nodiscard]] std::size_t bucket_of(std::uint64_t hash) const noexcept {
        return to_size(hash >> (65 - order_));
    }
    static std::uint64_t narrow_tag(std::uint64_t hash) noexcept { return ((hash >> 16) & 0x7f00) | 0x8000; }
    // The highest bit of every 16-bit lane that has the tag of a hash.
    static std::uint64_t lanes_with(std::uint64_t bucket, std::uint64_t hash) noexcept {
        constexpr std::uint64_t ones = 0x0001000100010001u;
        // Lanes are 0 or at least 256: no borrow between lanes is visible.
        std::uint64_t const other = (bucket ^ narrow_tag(hash) * ones) & 0xff00 * ones;
        return (other - ones) & ~other & 0x8000 * ones;
    }
    // Number of bits of the nonzero lanes. Branchless, as whether there are any is unpredictable: sums all
    // lanes in the highest one.
    static unsigned bits_taken(std::uint64_t bucket) noexcept {
        constexpr std::uint64_t ones = 0x0001000100010001u;
        return static_cast<unsigned>((bucket >> 15 & ones) * ones >> 48) * 16;
    }
    static unsigned lane_of(std::uint64_t lanes) noexcept {
        return static_cast<unsigned>(std::countr_zero(lanes)) & ~15u;
    }
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE Pair* find_in_buckets(std::uint32_t node) const noexcept {
        std::uint64_t const* const index = static_cast<std::uint64_t const*>(index_);
        std::uint64_t const hash = hash_of(node);
        std::size_t const mask = (std::size_t{1} << (order_ - 1)) - 1;
        for (std::size_t i = bucket_of(hash);; i = (i + 1) & mask) {
            std::uint64_t const bucket = index[i];
            for (std::uint64_t found = lanes_with(bucket, hash); found != 0; found &= found - 1) {
                Pair* const pair = pairs_ + (((bucket >> lane_of(found)) & 0xff) - 1);
                if (pair->node == node) [[likely]]
                    return pair;
            }
            if ((bucket & top_place) == 0) return nullptr; // places are filled from the lowest lane up
        }
    }

    // Large tables: open addressing, 32-bit places.
    [[nodiscard]] std::size_t place_of(std::uint64_t hash) const noexcept {
        return to_size(hash >> (63 - order_));
    }
    static std::uint32_t wide_tag(std::uint64_t hash) noexcept {
        return static_cast<std::uint32_t>((hash >> 24) & 0xff) << 24;
    }
    [[nodiscard]] Pair* find_in_places(std::uint32_t node) const noexcept {
        std::uint32_t const* const index = static_cast<std::uint32_t const*>(index_);
        std::uint64_t const hash = hash_of(node);
        std::size_t const mask = (std::size_t{2} << order_) - 1;
        std::uint32_t const wanted = wide_tag(hash);
        for (std::size_t i = place_of(hash);; i = (i + 1) & mask) {
            std::uint32_t const entry = index[i];
            if (entry == 0) return nullptr;
            if (((entry ^ wanted) & ~wide_number) != 0) continue;
            Pair* const pair = pairs_ + ((entry & wide_number) - 1);
            if (pair->node == node) return pair;
        }
    }

    void enter(std::size_t at) noexcept {
        std::uint64_t const hash = hash_of(pairs_[at].node);
        if (order_ <= narrow) {
            std::uint64_t* const index = static_cast<std::uint64_t*>(index_);
            std::size_t const mask = (std::size_t{1} << (order_ - 1)) - 1;
            std::size_t i = bucket_of(hash);
            while ((index[i] & top_place) != 0) i = (i + 1) & mask;
            index[i] |= (narrow_tag(hash) | (at + 1)) << bits_taken(index[i]);
        } else {
            std::uint32_t* const index = static_cast<std::uint32_t*>(index_);
            std::size_t const mask = (std::size_t{2} << order_) - 1;
            std::size_t i = place_of(hash);
            while (index[i] != 0) i = (i + 1) & mask;
            index[i] = wide_tag(hash) | static_cast<std::uint32_t>(at + 1);
        }
    }

    // Memory for 2^order pairs and an empty index. Strong guarantee.
    void allocate(unsigned order, arena_type& arena) {
        struct guard {
            arena_type& arena;
            void* block;
            std::size_t bytes;
            ~guard() {
                if (block != nullptr) arena.give_back(block, bytes);
            }
        } pairs{arena, arena.take(pair_bytes(order)), pair_bytes(order)};
        void* const index = order > searched ? arena.take(index_bytes(order)) : nullptr;
        pairs_ = static_cast<Pair*>(pairs.block);
        pairs.block = nullptr;
        index_ = index;
        order_ = static_cast<std::uint8_t>(order);
    }

    STRAGGLE_NEVER_INLINE void grow(arena_type& arena) {
        pair_table larger = *this;
        larger.allocate(pairs_ == nullptr ? 2u : order_ + 1u, arena);
        if (size_ != 0) std::memcpy(static_cast<void*>(larger.pairs_), pairs_, size_ * sizeof(Pair));
        if (larger.index_ != nullptr) {
            std::memset(larger.index_, 0, index_bytes(larger.order_));
            for (std::size_t place = 0; place < size_; ++place) larger.enter(place);
        }
        release(arena);
        *this = larger;
    }

    std::uint8_t order_ = 0; // log2 of the capacity in pairs
    std::uint32_t size_ = 0;
    Pair* pairs_ = nullptr;
    void* index_ = nullptr; // buckets or places, depending on the order
};

} // namespace straggle::detail
