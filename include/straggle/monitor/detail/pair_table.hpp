// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: the pairs that one job has with nodes in one step of time, in the
/// order in which they came, and an index that is small enough to stay near.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/prefetch.hpp>
#include <straggle/monitor/detail/block_arena.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// Owns no memory: whoever has it gives it back to its arena. Up to eight pairs are searched; more have an
// index of twice as many places, at most half of them taken, two bytes each up to 128 pairs and then four:
// the number of a pair and eight bits of a hash, so that hardly any pair is looked at in vain.
template <class Pair>
class pair_table {
    static_assert(std::is_trivially_copyable_v<Pair> && sizeof(Pair) == 32);

  public:
    static constexpr std::size_t most = (std::size_t{1} << 24) - 1;

    std::uint8_t slot = 0; // for whoever has the table: of which step of time it is

    [[nodiscard]] std::span<Pair const> all() const noexcept { return {pairs_, size_}; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // The pair with a node, or nothing.
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE Pair* find(std::uint32_t node) const noexcept {
        if (index_ == nullptr) {
            // The latest come first: attempts on one node tend to end together.
            for (std::size_t i = size_; i-- > 0;)
                if (pairs_[i].node == node) return pairs_ + i;
            return nullptr;
        }
        return order_ <= narrow ? find_by<std::uint16_t>(node) : find_by<std::uint32_t>(node);
    }

    // Asks for what `find` looks at first.
    STRAGGLE_ALWAYS_INLINE void prefetch_index(std::uint32_t node) const noexcept {
        if (index_ == nullptr) {
            STRAGGLE_PREFETCH(pairs_);
            return;
        }
        std::size_t const at = home(hash_of(node));
        STRAGGLE_PREFETCH(static_cast<std::byte const*>(index_) + (at << (order_ <= narrow ? 1 : 2)));
    }
    // Asks for the pair, or one that looks like it. To be called when the index is there.
    STRAGGLE_ALWAYS_INLINE void prefetch_pair(std::uint32_t node) const noexcept {
        if (index_ == nullptr) return;
        if (order_ <= narrow)
            prefetch_by<std::uint16_t>(node);
        else
            prefetch_by<std::uint32_t>(node);
    }

    // A new pair. Strong guarantee: all memory is there before anything changes.
    // @pre it is not there, and there are fewer than `most`
    Pair& insert(std::uint32_t node, block_arena& arena) {
        if (size_ == capacity()) grow(arena);
        Pair* const pair = ::new (static_cast<void*>(pairs_ + size_)) Pair(node);
        ++size_;
        if (index_ != nullptr) enter(size_ - 1);
        return *pair;
    }

    // Gives all memory back.
    void release(block_arena& arena) noexcept {
        if (index_ != nullptr) arena.give_back(index_, index_bytes(order_));
        if (pairs_ != nullptr) arena.give_back(pairs_, pair_bytes(order_));
        *this = {};
    }

    // The same in memory of another arena. Strong guarantee.
    [[nodiscard]] pair_table copy(block_arena& arena) const {
        pair_table other = *this;
        if (pairs_ == nullptr) return other;
        other.allocate(order_, arena);
        std::memcpy(static_cast<void*>(other.pairs_), pairs_, size_ * sizeof(Pair));
        if (index_ != nullptr) std::memcpy(other.index_, index_, index_bytes(order_));
        return other;
    }

  private:
    static constexpr unsigned searched = 3; // log2 of the pairs that need no index
    static constexpr unsigned narrow = 7;   // and of those whose numbers fit one byte

    [[nodiscard]] std::size_t capacity() const noexcept {
        return pairs_ == nullptr ? 0 : std::size_t{1} << order_;
    }
    static constexpr std::size_t pair_bytes(unsigned order) noexcept { return sizeof(Pair) << order; }
    static constexpr std::size_t index_bytes(unsigned order) noexcept {
        return std::size_t{order <= narrow ? 2u : 4u} << (order + 1);
    }
    static std::uint64_t hash_of(std::uint32_t node) noexcept { return node * 0x9E3779B97F4A7C15u; }
    [[nodiscard]] std::size_t home(std::uint64_t hash) const noexcept {
        return static_cast<std::size_t>(hash >> (63 - order_));
    }
    // Eight bits that `home` does not use, above the number of a pair.
    template <class Word>
    static std::uint32_t tag(std::uint64_t hash) noexcept {
        return static_cast<std::uint32_t>((hash >> 24) & 0xff) << (sizeof(Word) == 2 ? 8 : 24);
    }

    template <class Word>
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE Pair* find_by(std::uint32_t node) const noexcept {
        constexpr std::uint32_t number = sizeof(Word) == 2 ? 0xff : 0xffffff;
        Word const* const index = static_cast<Word const*>(index_);
        std::uint64_t const hash = hash_of(node);
        std::size_t const mask = (std::size_t{2} << order_) - 1;
        std::uint32_t const wanted = tag<Word>(hash);
        for (std::size_t i = home(hash);; i = (i + 1) & mask) {
            std::uint32_t const entry = index[i];
            if (entry == 0) return nullptr;
            if (((entry ^ wanted) & ~number) != 0) continue;
            Pair* const pair = pairs_ + ((entry & number) - 1);
            if (pair->node == node) return pair;
        }
    }
    template <class Word>
    STRAGGLE_ALWAYS_INLINE void prefetch_by(std::uint32_t node) const noexcept {
        constexpr std::uint32_t number = sizeof(Word) == 2 ? 0xff : 0xffffff;
        Word const* const index = static_cast<Word const*>(index_);
        std::uint64_t const hash = hash_of(node);
        std::size_t const mask = (std::size_t{2} << order_) - 1;
        std::uint32_t const wanted = tag<Word>(hash);
        std::size_t i = home(hash);
        for (; index[i] != 0; i = (i + 1) & mask) {
            if (((index[i] ^ wanted) & ~number) != 0) continue;
            STRAGGLE_PREFETCH(pairs_ + ((index[i] & number) - 1));
            return;
        }
    }

    void enter(std::size_t place) noexcept {
        if (order_ <= narrow)
            enter_by<std::uint16_t>(place);
        else
            enter_by<std::uint32_t>(place);
    }
    template <class Word>
    void enter_by(std::size_t place) noexcept {
        Word* const index = static_cast<Word*>(index_);
        std::uint64_t const hash = hash_of(pairs_[place].node);
        std::size_t const mask = (std::size_t{2} << order_) - 1;
        std::size_t i = home(hash);
        while (index[i] != 0) i = (i + 1) & mask;
        index[i] = static_cast<Word>(tag<Word>(hash) | (place + 1));
    }

    // Memory for 2^order pairs and their index, in which nothing is. Strong guarantee.
    void allocate(unsigned order, block_arena& arena) {
        struct guard {
            block_arena& arena;
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

    STRAGGLE_NEVER_INLINE void grow(block_arena& arena) {
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

    std::uint8_t order_ = 0; // log2 of the room for pairs
    std::uint32_t size_ = 0;
    Pair* pairs_ = nullptr;
    void* index_ = nullptr; // of u16 or u32, by order
};

} // namespace straggle::detail
