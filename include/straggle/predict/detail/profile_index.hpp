// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: keeps similar records in the same leaves, so that a query can
/// exclude most boxes.
///
/// New records are appended unsorted. Each full run of 64 is sorted, together with earlier runs as a binary
/// counter carries; when new records and gaps exceed a quarter of all, everything is sorted. The order only
/// affects the boxes, never the answers.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/detail/profile_ages.hpp>
#include <straggle/predict/detail/profile_leaves.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class profile_index {
  public:
    profile_index(std::span<predict::factor_kind const> kinds, std::size_t capacity)
        : leaves_(kinds, most_slots(capacity)), most_slots_(most_slots(capacity)) {}
    profile_index(profile_index const&) = default;
    profile_index(profile_index&&) = default;
    // Copies the other object, or changes nothing if an allocation fails.
    profile_index& operator=(profile_index const& other) { return *this = profile_index(other); }
    profile_index& operator=(profile_index&&) = default;
    ~profile_index() = default;

    [[nodiscard]] profile_leaves const& leaves() const noexcept { return leaves_; }
    [[nodiscard]] std::size_t size() const noexcept { return ages_.size(); }
    // The slot of the i-th oldest record. @pre i < size()
    [[nodiscard]] std::size_t slot(std::size_t i) const noexcept { return ages_.slot(ages_.find(i)); }

    // Calls f(slot) for every record, oldest first.
    template <class F>
    void for_each(F f) const {
        for (std::size_t e = 0; e < ages_.entries(); ++e)
            if (ages_.is_held(e)) f(std::size_t{ages_.slot(e)});
    }

    // Reserves memory for adding this many records. On failure nothing changes.
    void make_room(std::size_t records) {
        std::size_t const wanted = leaves_.slots() + records;
        // Empty between calls, so a copy starts without it, as it may for everything else.
        if (wanted <= items_.capacity()) return;
        std::size_t const slots = (std::max)(wanted, (std::min)(2 * leaves_.slots(), most_slots_));
        std::size_t const room = groups_of(slots) * leaf_size;
        leaves_.reserve(room);
        ages_.reserve(room);
        items_.reserve(room);
    }

    // @pre there is room; `number` is larger than all before
    void append(std::span<double const> encoded, double time, std::uint64_t number) noexcept {
        ages_.append(static_cast<std::uint32_t>(leaves_.slots()));
        leaves_.append(encoded, time, number);
    }
    // Call after each append, or call `arrange` at the end.
    void tidy() noexcept {
        std::size_t const fresh = leaves_.slots() - arranged_, gaps = leaves_.slots() - size();
        if (fresh + gaps > most_untidy(size())) return arrange();
        if (leaves_.slots() % run != 0) return;
        // As many runs as the largest power of two that divides the last one's number, so that they align
        // with boxes. But only new ones.
        std::size_t const last = leaves_.slots() / run, first_new = (arranged_ + run - 1) / run;
        std::size_t runs = last & (0 - last);
        while (runs > last - first_new) runs /= 2;
        if (runs != 0) arrange_runs(last - runs, last);
    }
    // Removes the i-th oldest record. @pre i < size()
    void evict(std::size_t i) noexcept {
        std::size_t const entry = ages_.find(i);
        leaves_.kill(ages_.slot(entry));
        ages_.erase(entry);
    }

    // Sorts everything and removes the gaps.
    void arrange() noexcept {
        ages_.compact();
        leaves_.lay_grids();
        arrange_entries(0, ages_.entries(), 0);
        leaves_.resize(size());
        leaves_.fit(0, size(), size());
        arranged_ = size();
    }

    void clear() noexcept {
        leaves_.clear();
        ages_.clear();
        arranged_ = 0;
    }

  private:
    // Sorted: a record with its value of the current factor. Ties by age.
    struct item {
        double key;
        std::uint32_t entry;
        std::uint32_t slot;
        friend bool operator<(item const& a, item const& b) noexcept {
            return a.key != b.key ? a.key < b.key : a.entry < b.entry;
        }
    };

    static constexpr std::size_t run = leaf_size * leaf_size;

    // Limit on new records and gaps for this many records.
    [[nodiscard]] static std::size_t most_untidy(std::size_t held) noexcept {
        return (std::max)(held / 4, run);
    }
    [[nodiscard]] static std::size_t most_slots(std::size_t capacity) noexcept {
        return capacity + most_untidy(capacity) + 1;
    }

    // Since the last full arrangement, the slots of a whole run hold the entries of the same numbers, in some
    // order.
    void arrange_runs(std::size_t first, std::size_t last) noexcept {
        std::size_t const used = arrange_entries(first * run, last * run, first * run);
        leaves_.fit(first * run, last * run, used);
    }

    // Moves the records of entries [first, last) to the slots from `to` on; returns their number.
    std::size_t arrange_entries(std::size_t first, std::size_t last, std::size_t to) noexcept {
        items_.clear();
        for (std::size_t e = first; e < last; ++e)
            if (ages_.is_held(e)) items_.push_back({0.0, static_cast<std::uint32_t>(e), ages_.slot(e)});
        std::size_t const n = items_.size();
        split(items_);
        // One column at a time: gather from the old places, then write to the new ones.
        for (std::size_t k = 0; k < leaves_.factors(); ++k) {
            for (item& i : items_) i.key = leaves_.value(i.slot, k);
            for (std::size_t s = 0; s < n; ++s) leaves_.set_value(to + s, k, items_[s].key);
        }
        for (item& i : items_) i.key = leaves_.time(i.slot);
        for (std::size_t s = 0; s < n; ++s) leaves_.set_time(to + s, items_[s].key);
        for (item& i : items_) i.key = std::bit_cast<double>(leaves_.number(i.slot));
        for (std::size_t s = 0; s < n; ++s)
            leaves_.set_number(to + s, std::bit_cast<std::uint64_t>(items_[s].key));
        for (std::size_t s = 0; s < n; ++s)
            ages_.set_slot(items_[s].entry, static_cast<std::uint32_t>(to + s));
        items_.clear();
        return n;
    }

    // Splits at the median of the factor in which records differ most, at the edge of a leaf, or of the
    // largest box that divides the items.
    void split(std::span<item> items) noexcept {
        while (items.size() > leaf_size) {
            std::size_t box = leaf_size;
            while (box * leaf_size < items.size()) box *= leaf_size;
            std::size_t const half = (items.size() + box - 1) / box / 2 * box;
            std::size_t const k = most_different(items);
            for (item& i : items) i.key = leaves_.value(i.slot, k);
            std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(half), items.end());
            split(items.first(half));
            items = items.subspan(half);
        }
    }

    // The factor with the largest mean squared difference in a sample of pairs. Codes are treated as numbers,
    // so that a factor with many codes does not get all the splits.
    [[nodiscard]] std::size_t most_different(std::span<item const> items) const noexcept {
        constexpr std::size_t pairs = 32;
        std::size_t const step = (items.size() + pairs - 1) / pairs;
        std::size_t best = 0;
        double most = 0;
        for (std::size_t k = 0; k < leaves_.factors(); ++k) {
            double const scale = leaves_.range(k) >= least_range ? 1 / leaves_.range(k) : 0.0;
            double sum = 0, before = leaves_.value(items.back().slot, k);
            for (std::size_t i = 0; i < items.size(); i += step) {
                double const x = leaves_.value(items[i].slot, k);
                double const d = (x - before) * scale;
                if (x != before) sum += (x == encoded_missing || before == encoded_missing) ? 1.0 : d * d;
                before = x;
            }
            if (sum > most) {
                most = sum;
                best = k;
            }
        }
        return best;
    }

    profile_leaves leaves_;
    profile_ages ages_;
    std::vector<item> items_;
    std::size_t most_slots_;
    std::size_t arranged_ = 0; // slots before this one were arranged in one go
};
} // namespace straggle::detail
