// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `monitor/monitor.hpp`: the live jobs, and for each the pairs it has with nodes.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/size.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The pairs of one job, found by node and slot. Small jobs are searched, larger ones have an index.
template <class Pair>
class job_pairs {
  public:
    static constexpr std::int64_t nowhere = (std::numeric_limits<std::int64_t>::min)();

    std::uint64_t seen = 0;        // when the job first appeared, counted in jobs
    std::int64_t listed = nowhere; // the bucket that last noted the job

    [[nodiscard]] std::span<Pair const> all() const noexcept { return pairs_; }
    [[nodiscard]] bool empty() const noexcept { return pairs_.empty(); }

    // The pair, or nothing.
    [[nodiscard]] Pair* find(std::uint32_t node, std::uint32_t slot) noexcept {
        if (index_.empty()) {
            // The latest come first: attempts on one node tend to end together.
            for (std::size_t i = pairs_.size(); i-- > 0;)
                if (pairs_[i].node == node && pairs_[i].slot() == slot) return &pairs_[i];
            return nullptr;
        }
        std::uint32_t const mask = static_cast<std::uint32_t>(index_.size() - 1);
        std::uint64_t const hash = hash_of(node, slot);
        for (std::size_t i = start(hash) & mask; index_[i] != 0; i = (i + 1) & mask) {
            if (((index_[i] ^ tag(hash)) & ~mask) != 0) continue;
            Pair& pair = pairs_[(index_[i] & mask) - 1];
            if (pair.node == node && pair.slot() == slot) return &pair;
        }
        return nullptr;
    }

    // A new pair. Strong guarantee: all memory is there before anything changes. @pre it is not there
    Pair& insert(std::uint32_t node, std::uint32_t slot) {
        std::size_t const size = pairs_.size() + 1;
        if (size > pairs_.capacity()) pairs_.reserve(size < 4 ? 4 : size + size / 2);
        if (size > searched && 2 * size > index_.size()) {
            std::vector<std::uint32_t> bigger(std::bit_ceil(3 * size));
            index_.swap(bigger);
            reindex();
        }
        pairs_.emplace_back(node, slot);
        if (!index_.empty()) enter(size - 1);
        return pairs_.back();
    }

    // Takes out the pairs of a slot; tells `leave` of each.
    template <class Leave>
    void remove(std::uint32_t slot, Leave&& leave) {
        std::size_t kept = 0;
        for (Pair const& pair : pairs_) {
            if (pair.slot() == slot)
                leave(pair);
            else
                pairs_[kept++] = pair;
        }
        pairs_.resize(kept);
        reindex();
    }

    // Forgets all pairs, and their memory if it is more than a small job needs.
    void clear() noexcept {
        if (pairs_.capacity() > kept_capacity) {
            std::vector<Pair>().swap(pairs_);
            std::vector<std::uint32_t>().swap(index_);
        }
        pairs_.clear();
        index_.clear();
    }

  private:
    static constexpr std::size_t searched = 8;
    static constexpr std::size_t kept_capacity = 64;

    static std::uint64_t hash_of(std::uint32_t node, std::uint32_t slot) noexcept {
        return spread((std::uint64_t{slot} << 32) | node);
    }
    static std::size_t start(std::uint64_t hash) noexcept { return detail::to_size(hash >> 32); }
    static std::uint32_t tag(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash); }
    void enter(std::size_t place) noexcept {
        std::uint32_t const mask = static_cast<std::uint32_t>(index_.size() - 1);
        std::uint64_t const hash = hash_of(pairs_[place].node, pairs_[place].slot());
        std::size_t i = start(hash) & mask;
        while (index_[i] != 0) i = (i + 1) & mask;
        index_[i] = (tag(hash) & ~mask) | static_cast<std::uint32_t>(place + 1);
    }
    void reindex() noexcept {
        for (std::uint32_t& i : index_) i = 0;
        if (!index_.empty())
            for (std::size_t place = 0; place < pairs_.size(); ++place) enter(place);
    }

    std::vector<Pair> pairs_;
    // Open addressing, at most half full: 0, or one more than the place in the low bits, which it needs, and
    // a part of the hash in the others, so that nearly no pair is looked at in vain.
    std::vector<std::uint32_t> index_;
};

} // namespace straggle::detail
