// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: the records in order of age, independent of their slots.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Entries, oldest first, with gaps where records were evicted. Finds the i-th record by counting marks: per
// 4096 entries, then per word.
class profile_ages {
    static constexpr std::size_t word = 64, page = word * word;

  public:
    // Number of records.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t entries() const noexcept { return slots_.size(); }
    [[nodiscard]] bool is_held(std::size_t entry) const noexcept {
        return (held_[entry / word] >> entry % word & 1) != 0;
    }
    [[nodiscard]] std::uint32_t slot(std::size_t entry) const noexcept { return slots_[entry]; }
    void set_slot(std::size_t entry, std::uint32_t slot) noexcept { slots_[entry] = slot; }

    // The entry of the i-th oldest record. @pre i < size()
    [[nodiscard]] std::size_t find(std::size_t i) const noexcept {
        if (size_ == entries() - first_) return first_ + i;
        std::size_t p = first_ / page;
        while (i >= held_in_page_[p]) i -= held_in_page_[p++];
        std::size_t w = p * (page / word);
        for (;; ++w) {
            auto const marks = static_cast<std::size_t>(std::popcount(held_[w]));
            if (i < marks) break;
            i -= marks;
        }
        std::uint64_t marks = held_[w];
        for (; i != 0; --i) marks &= marks - 1;
        return w * word + static_cast<std::size_t>(std::countr_zero(marks));
    }

    void reserve(std::size_t entries) {
        slots_.reserve(entries);
        held_.reserve((entries + word - 1) / word);
        held_in_page_.reserve((entries + page - 1) / page);
    }
    // Does not allocate if there is room.
    void append(std::uint32_t slot) {
        std::size_t const entry = entries();
        if (entry % word == 0) held_.push_back(0);
        if (entry % page == 0) held_in_page_.push_back(0);
        slots_.push_back(slot);
        held_[entry / word] |= std::uint64_t{1} << entry % word;
        ++held_in_page_[entry / page];
        ++size_;
    }
    void erase(std::size_t entry) noexcept {
        held_[entry / word] &= ~(std::uint64_t{1} << entry % word);
        --held_in_page_[entry / page];
        --size_;
        while (first_ < entries() && !is_held(first_)) ++first_;
    }
    // Removes the gaps.
    void compact() noexcept {
        std::size_t n = 0;
        for (std::size_t e = first_; e < entries(); ++e)
            if (is_held(e)) slots_[n++] = slots_[e];
        slots_.resize(n);
        held_.resize((n + word - 1) / word);
        held_in_page_.resize((n + page - 1) / page);
        std::fill(held_.begin(), held_.end(), ~std::uint64_t{0});
        if (n % word != 0) held_.back() = (std::uint64_t{1} << n % word) - 1;
        std::fill(held_in_page_.begin(), held_in_page_.end(), std::uint16_t{page});
        if (n % page != 0) held_in_page_.back() = static_cast<std::uint16_t>(n % page);
        first_ = 0;
    }
    void clear() noexcept {
        slots_.clear();
        held_.clear();
        held_in_page_.clear();
        first_ = size_ = 0;
    }

  private:
    std::vector<std::uint32_t> slots_;
    std::vector<std::uint64_t> held_; // a bit per entry
    std::vector<std::uint16_t> held_in_page_;
    std::size_t first_ = 0; // all entries before this one are gaps
    std::size_t size_ = 0;
};
} // namespace straggle::detail
