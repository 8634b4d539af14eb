// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: memory for tables that come, grow and go continually. Memory freed
/// by one job is reused for the next.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/grow.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Blocks of 128, 256, 512... bytes, halved from chunks; two free halves merge again (Knowlton's buddy system,
// 1965), so that memory freed by many small tables can hold a large one.
class block_arena {
  public:
    static constexpr unsigned smallest = 7; // log2 of bytes
    static constexpr unsigned orders = 40;  // block sizes are 2^0, 2^1... times the smallest

    block_arena() = default;
    block_arena(block_arena const&) = delete;
    block_arena& operator=(block_arena const&) = delete;
    block_arena(block_arena&& other) noexcept { swap(other); }
    block_arena& operator=(block_arena&& other) noexcept {
        block_arena taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~block_arena() {
        for (chunk const& c : chunks_) ::operator delete(c.memory);
    }

    void swap(block_arena& other) noexcept {
        chunks_.swap(other.chunks_);
        units_.swap(other.units_);
        for (unsigned o = 0; o < orders; ++o) std::swap(free_[o], other.free_[o]);
    }

    // The order of the smallest block with that many bytes. @pre bytes > 0
    [[nodiscard]] static constexpr unsigned order_for(std::size_t bytes) noexcept {
        unsigned const width = static_cast<unsigned>(std::bit_width(bytes - 1));
        return width > smallest ? width - smallest : 0;
    }

    // An uninitialized block. Strong guarantee.
    [[nodiscard]] void* take(std::size_t bytes) {
        unsigned const order = order_for(bytes);
        unsigned o = order;
        while (o < orders && free_[o] == none) ++o;
        if (o == orders) o = add_chunk(order);
        std::uint32_t const first = free_[o];
        unlink(first, o);
        while (o > order) {
            --o;
            link(first + (1u << o), o);
        }
        chunk const& c = chunks_[chunk_of(first)];
        return c.memory + (std::size_t{first - c.first} << smallest);
    }

    // @pre it was taken with the same size
    void give_back(void* block, std::size_t bytes) noexcept {
        chunk const& c = chunk_at(block);
        std::size_t const offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - c.memory);
        std::uint32_t at = static_cast<std::uint32_t>(offset >> smallest); // unit within the chunk
        unsigned order = order_for(bytes);
        for (; order < c.order; ++order) {
            std::uint32_t const buddy = at ^ (1u << order);
            if (units_[c.first + buddy].free_order != order + 1) break;
            unlink(c.first + buddy, order);
            at &= ~(1u << order);
        }
        link(c.first + at, order);
    }

    // Total memory, in bytes.
    [[nodiscard]] std::size_t capacity() const noexcept { return units_.size() << smallest; }

  private:
    static constexpr std::uint32_t none = 0xffffffffu;

    struct chunk {
        std::byte* memory;
        std::uint32_t first; // first unit
        unsigned order;
    };
    // A block of the smallest size.
    struct unit {
        std::uint32_t before = none,
                      after = none;  // in the list of free blocks; valid for the first unit of a block
        std::uint8_t free_order = 0; // order + 1 if a free block starts here
    };

    void link(std::uint32_t first, unsigned order) noexcept {
        units_[first] = {none, free_[order], static_cast<std::uint8_t>(order + 1)};
        if (free_[order] != none) units_[free_[order]].before = first;
        free_[order] = first;
    }
    void unlink(std::uint32_t first, unsigned order) noexcept {
        unit const u = units_[first];
        units_[first].free_order = 0;
        (u.before == none ? free_[order] : units_[u.before].after) = u.after;
        if (u.after != none) units_[u.after].before = u.before;
    }

    // Adds a chunk with room for a block, at least a quarter of the present total. Returns its order.
    unsigned add_chunk(unsigned least) {
        unsigned const quarter = static_cast<unsigned>(std::bit_width(units_.size() / 4));
        unsigned const order = (std::max)(least, quarter > 2 ? quarter - 1 : 2u);
        std::size_t const size = std::size_t{1} << order;
        STRAGGLE_EXPECTS(order < 31 && units_.size() + size < none);
        make_room_for_one(chunks_);
        std::uint32_t const first = static_cast<std::uint32_t>(units_.size());
        if (units_.capacity() < first + size) units_.reserve(first + size + first / 4);
        chunks_.push_back({static_cast<std::byte*>(::operator new(size << smallest)), first, order});
        units_.resize(first + size);
        link(first, order);
        return order;
    }

    // Chunks are few, since each is at least a quarter of the earlier total, and most memory is in the last
    // ones.
    [[nodiscard]] std::size_t chunk_of(std::uint32_t first) const noexcept {
        std::size_t c = chunks_.size() - 1;
        while (chunks_[c].first > first) --c;
        return c;
    }
    [[nodiscard]] chunk const& chunk_at(void const* block) const noexcept {
        std::uintptr_t const address = reinterpret_cast<std::uintptr_t>(block);
        std::size_t c = chunks_.size() - 1;
        while (address - reinterpret_cast<std::uintptr_t>(chunks_[c].memory) >=
               (std::size_t{1} << (chunks_[c].order + smallest)))
            --c;
        return chunks_[c];
    }

    std::vector<chunk> chunks_;
    std::vector<unit> units_;
    std::uint32_t free_[orders] = {none, none, none, none, none, none, none, none, none, none,
                                   none, none, none, none, none, none, none, none, none, none,
                                   none, none, none, none, none, none, none, none, none, none,
                                   none, none, none, none, none, none, none, none, none, none};
};

} // namespace straggle::detail
