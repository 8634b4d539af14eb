// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: records in leaves of eight, with one column per factor, and a
/// box around every leaf, around every eight of these boxes, and so on. The owner decides on the order; this
/// class only keeps the boxes correct.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/predict/detail/profile_cells.hpp>
#include <straggle/predict/similarity.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

constexpr std::size_t groups_of(std::size_t things) noexcept {
    return (things + leaf_size - 1) / leaf_size;
}

// Lowest and highest known value of one factor; reversed if there is none.
struct factor_extent {
    double low = encoded_missing;
    double high = -encoded_missing;

    // Returns whether it had to grow.
    bool include(factor_extent const& inner) noexcept {
        bool const grows = inner.low < low || inner.high > high;
        low = inner.low < low ? inner.low : low;
        high = inner.high > high ? inner.high : high;
        return grows;
    }
    [[nodiscard]] double range() const noexcept { return high > low ? high - low : 0.0; }
    [[nodiscard]] bool touched_by(factor_extent const& inner) const noexcept {
        return inner.low == low || inner.high == high;
    }
    friend bool operator==(factor_extent const&, factor_extent const&) = default;
};

// Boxes in groups of eight, whose distances are computed in parallel.
class profile_boxes {
  public:
    explicit profile_boxes(std::size_t factors) : factors_(factors) {}

    [[nodiscard]] std::size_t size() const noexcept { return youngest_.size(); }
    void reserve(std::size_t boxes) {
        edges_.reserve(groups_of(boxes) * group_length());
        cells_.reserve(groups_of(boxes) * cells_length());
        youngest_.reserve(boxes);
    }
    // New boxes are empty. Does not allocate if there is room.
    void resize(std::size_t boxes) {
        std::size_t const before = size();
        edges_.resize(groups_of(boxes) * group_length());
        cells_.resize(groups_of(boxes) * cells_length());
        youngest_.resize(boxes);
        for (std::size_t b = before; b < groups_of(boxes) * leaf_size; ++b)
            for (std::size_t k = 0; k < factors_; ++k) set(b, k, {}, {});
    }

    // For each factor, eight low edges and eight high ones.
    [[nodiscard]] double const* group(std::size_t g) const noexcept {
        return edges_.data() + g * group_length();
    }
    // Their cells: for each pair of factors, the low edges (both of the first box, both of the next, ...),
    // then the high ones.
    [[nodiscard]] profile_cell const* cells(std::size_t g) const noexcept {
        return cells_.data() + g * cells_length();
    }
    [[nodiscard]] std::size_t cells_length() const noexcept { return (factors_ + 1) / 2 * 4 * leaf_size; }
    [[nodiscard]] std::size_t first_of(std::size_t g) const noexcept { return g * leaf_size; }
    [[nodiscard]] std::size_t end_of(std::size_t g) const noexcept {
        return (std::min)((g + 1) * leaf_size, size());
    }
    [[nodiscard]] factor_extent get(std::size_t box, std::size_t factor) const noexcept {
        std::size_t const at = place(box, factor);
        return {edges_[at], edges_[at + leaf_size]};
    }
    void set(std::size_t box, std::size_t factor, factor_extent const& e, factor_grid const& grid) noexcept {
        std::size_t const at = place(box, factor);
        edges_[at] = e.low;
        edges_[at + leaf_size] = e.high;
        std::size_t const c =
            box / leaf_size * cells_length() + factor / 2 * 4 * leaf_size + box % leaf_size * 2 + factor % 2;
        cells_[c] = grid.of(e.low);
        cells_[c + 2 * leaf_size] = grid.of(e.high);
    }
    // The extent of all boxes of a group.
    [[nodiscard]] factor_extent around(std::size_t g, std::size_t factor) const noexcept {
        factor_extent all;
        for (std::size_t b = first_of(g); b < end_of(g); ++b) all.include(get(b, factor));
        return all;
    }
    // Upper bound for the numbers of the records inside.
    [[nodiscard]] std::uint64_t youngest(std::size_t box) const noexcept { return youngest_[box]; }
    void set_youngest(std::size_t box, std::uint64_t number) noexcept { youngest_[box] = number; }
    [[nodiscard]] std::uint64_t youngest_of(std::size_t g) const noexcept {
        return *std::max_element(youngest_.begin() + static_cast<std::ptrdiff_t>(first_of(g)),
                                 youngest_.begin() + static_cast<std::ptrdiff_t>(end_of(g)));
    }

  private:
    [[nodiscard]] std::size_t group_length() const noexcept { return factors_ * 2 * leaf_size; }
    [[nodiscard]] std::size_t place(std::size_t box, std::size_t factor) const noexcept {
        return box / leaf_size * group_length() + factor * 2 * leaf_size + box % leaf_size;
    }

    std::size_t factors_;
    std::vector<double> edges_;
    std::vector<profile_cell> cells_;
    std::vector<std::uint64_t> youngest_;
};
class profile_leaves {
  public:
    // @param most_slots maximum number of slots
    profile_leaves(std::span<predict::factor_kind const> kinds, std::size_t most_slots)
        : kinds_(kinds.begin(), kinds.end()),
          all_(kinds.size()),
          grids_(kinds.size()),
          missing_(kinds.size(), 0),
          all_numeric_(std::find(kinds.begin(), kinds.end(), predict::factor_kind::categorical) ==
                       kinds.end()) {
        for (std::size_t n = groups_of(most_slots); boxes_.empty() || n > 1; n = groups_of(n))
            boxes_.emplace_back(kinds.size());
    }

    [[nodiscard]] std::size_t factors() const noexcept { return kinds_.size(); }
    [[nodiscard]] std::span<predict::factor_kind const> kinds() const noexcept { return span_of(kinds_); }
    [[nodiscard]] std::size_t slots() const noexcept { return times_.size(); }
    [[nodiscard]] std::size_t leaves() const noexcept { return alive_.size(); }
    [[nodiscard]] bool is_numeric(std::size_t factor) const noexcept {
        return kinds_[factor] == predict::factor_kind::numeric;
    }
    // Over all records that are alive.
    [[nodiscard]] double range(std::size_t factor) const noexcept { return all_[factor].range(); }
    // How many records lack each factor.
    [[nodiscard]] std::span<std::size_t const> missing() const noexcept { return span_of(missing_); }
    // Whether every factor is numeric and known for all records.
    [[nodiscard]] bool all_known_numbers() const noexcept { return all_numeric_ && gaps_ == 0; }

    // Level 0 surrounds leaves; every other level surrounds the groups of the level below.
    [[nodiscard]] profile_boxes const& boxes(std::size_t level) const noexcept { return boxes_[level]; }
    // The lowest level with a single group. @pre there are records
    [[nodiscard]] std::size_t top() const noexcept {
        std::size_t level = 0;
        while (boxes_[level].size() > leaf_size) ++level;
        return level;
    }

    // Eight values per factor.
    [[nodiscard]] double const* leaf(std::size_t l) const noexcept {
        return values_.data() + l * factors() * leaf_size;
    }
    // Their cells: for each pair of factors, both of the first record, both of the next, ...
    [[nodiscard]] profile_cell const* cells(std::size_t l) const noexcept {
        return cells_.data() + l * cells_length();
    }
    [[nodiscard]] std::size_t cells_length() const noexcept { return (factors() + 1) / 2 * 2 * leaf_size; }
    [[nodiscard]] std::span<factor_grid const> grids() const noexcept { return span_of(grids_); }
    [[nodiscard]] double value(std::size_t slot, std::size_t factor) const noexcept {
        return values_[place(slot, factor)];
    }
    // In its original form.
    [[nodiscard]] double known_value(std::size_t slot, std::size_t factor) const noexcept {
        double const x = value(slot, factor);
        return x == encoded_missing ? predict::missing_factor : x;
    }
    [[nodiscard]] double time(std::size_t slot) const noexcept { return times_[slot]; }
    [[nodiscard]] std::uint64_t number(std::size_t slot) const noexcept { return numbers_[slot]; }
    // Whether the slot holds a record that was not removed.
    [[nodiscard]] bool is_alive(std::size_t slot) const noexcept {
        return (alive_[slot / leaf_size] >> slot % leaf_size & 1) != 0;
    }

    // One bit per slot of a leaf: whether it holds a record.
    [[nodiscard]] unsigned alive(std::size_t l) const noexcept { return alive_[l]; }

    void reserve(std::size_t slots) {
        std::size_t n = groups_of(slots);
        values_.reserve(n * factors() * leaf_size);
        cells_.reserve(n * cells_length());
        times_.reserve(slots);
        numbers_.reserve(slots);
        alive_.reserve(n);
        for (profile_boxes& boxes : boxes_) {
            boxes.reserve(n);
            n = groups_of(n);
        }
    }
    // Does not allocate if there is room. New slots are empty.
    void resize(std::size_t slots) {
        std::size_t n = groups_of(slots);
        times_.resize(slots);
        numbers_.resize(slots);
        if (n == leaves()) return;
        values_.resize(n * factors() * leaf_size);
        cells_.resize(n * cells_length());
        alive_.resize(n);
        for (profile_boxes& boxes : boxes_) {
            boxes.resize(n);
            n = groups_of(n);
        }
    }
    void clear() noexcept {
        resize(0);
        std::fill(all_.begin(), all_.end(), factor_extent{});
        std::fill(grids_.begin(), grids_.end(), factor_grid{});
        std::fill(missing_.begin(), missing_.end(), std::size_t{0});
        gaps_ = 0;
    }

    // Appends the record with the largest number so far. Does not allocate if there is room.
    void append(std::span<double const> encoded, double time, std::uint64_t number) {
        std::size_t const slot = slots();
        resize(slot + 1);
        times_[slot] = time;
        numbers_[slot] = number;
        alive_[slot / leaf_size] |= mark(slot);
        std::size_t box = slot;
        for (profile_boxes& boxes : boxes_) boxes.set_youngest(box /= leaf_size, number);
        for (std::size_t k = 0; k < factors(); ++k) {
            set_value(slot, k, encoded[k]);
            if (encoded[k] == encoded_missing) {
                ++missing_[k];
                ++gaps_;
            } else {
                extend(slot, k, encoded[k]);
            }
        }
    }

    // Removes a record; its slot stays empty.
    void kill(std::size_t slot) noexcept {
        alive_[slot / leaf_size] = static_cast<std::uint8_t>(alive_[slot / leaf_size] & ~mark(slot));
        for (std::size_t k = 0; k < factors(); ++k) {
            if (value(slot, k) == encoded_missing) {
                --missing_[k];
                --gaps_;
            } else {
                shrink(slot, k, value(slot, k));
            }
        }
    }

    // Chooses the grids for the present records; afterwards all values must be set again.
    void lay_grids() noexcept {
        for (std::size_t k = 0; k < factors(); ++k)
            grids_[k] = factor_grid::around(all_[k].low, all_[k].high);
    }
    // For moving records; in the end all live records must have been set.
    void set_value(std::size_t slot, std::size_t factor, double value) noexcept {
        values_[place(slot, factor)] = value;
        cells_[slot / leaf_size * cells_length() + factor / 2 * 2 * leaf_size + slot % leaf_size * 2 +
               factor % 2] = grids_[factor].of(value);
    }
    void set_time(std::size_t slot, double time) noexcept { times_[slot] = time; }
    void set_number(std::size_t slot, std::uint64_t number) noexcept { numbers_[slot] = number; }
    // Then recomputes the boxes: of slots [first, last) the first `used` hold a record.
    // @pre `first` is a multiple of 8; so is `last`, or it is the end
    void fit(std::size_t first, std::size_t last, std::size_t used) noexcept {
        std::size_t from = first / leaf_size, to = groups_of(last);
        for (std::size_t l = from; l < to; ++l) {
            std::size_t const n = (std::min)(used, leaf_size);
            used -= n;
            alive_[l] = static_cast<std::uint8_t>((1u << n) - 1);
            std::uint64_t youngest = 0;
            for (std::size_t i = 0; i < n; ++i) youngest = (std::max)(youngest, numbers_[l * leaf_size + i]);
            boxes_[0].set_youngest(l, youngest);
            for (std::size_t k = 0; k < factors(); ++k) boxes_[0].set(l, k, around_leaf(l, k), grids_[k]);
        }
        for (std::size_t level = 1; level < boxes_.size(); ++level) {
            profile_boxes const& below = boxes_[level - 1];
            from /= leaf_size;
            to = groups_of(to);
            for (std::size_t b = from; b < to; ++b) {
                boxes_[level].set_youngest(b, below.youngest_of(b));
                for (std::size_t k = 0; k < factors(); ++k)
                    boxes_[level].set(b, k, below.around(b, k), grids_[k]);
            }
        }
    }

  private:
    [[nodiscard]] std::size_t place(std::size_t slot, std::size_t factor) const noexcept {
        return (slot / leaf_size * factors() + factor) * leaf_size + slot % leaf_size;
    }
    [[nodiscard]] static std::uint8_t mark(std::size_t slot) noexcept {
        return static_cast<std::uint8_t>(1u << slot % leaf_size);
    }
    // A value that does not grow a box does not grow those around it.
    void extend(std::size_t slot, std::size_t factor, double x) noexcept {
        std::size_t box = slot;
        for (profile_boxes& boxes : boxes_) {
            factor_extent e = boxes.get(box /= leaf_size, factor);
            if (!e.include({x, x})) return;
            boxes.set(box, factor, e, grids_[factor]);
        }
        (void)all_[factor].include({x, x});
    }
    // A value that does not touch a box from inside does not touch those around it.
    void shrink(std::size_t slot, std::size_t factor, double x) noexcept {
        std::size_t box = slot / leaf_size;
        factor_extent inner{x, x};
        for (std::size_t level = 0; level < boxes_.size(); ++level, box /= leaf_size) {
            factor_extent const before = boxes_[level].get(box, factor);
            if (!before.touched_by(inner)) return;
            factor_extent const after =
                level == 0 ? around_leaf(box, factor) : boxes_[level - 1].around(box, factor);
            if (after == before) return;
            boxes_[level].set(box, factor, after, grids_[factor]);
            inner = before;
        }
        all_[factor] = boxes_.back().around(0, factor);
    }
    [[nodiscard]] factor_extent around_leaf(std::size_t l, std::size_t factor) const noexcept {
        factor_extent e;
        for (std::size_t slot = l * leaf_size; slot < (l + 1) * leaf_size; ++slot)
            if (is_alive(slot) && value(slot, factor) != encoded_missing)
                (void)e.include({value(slot, factor), value(slot, factor)});
        return e;
    }

    std::vector<predict::factor_kind> kinds_;
    std::vector<double> values_;      // by leaf, factor, slot; encoded
    std::vector<profile_cell> cells_; // by leaf, pair of factors, slot, factor
    std::vector<double> times_;
    std::vector<std::uint64_t> numbers_;
    std::vector<std::uint8_t> alive_; // by leaf, a bit per slot
    std::vector<factor_extent> all_;
    std::vector<factor_grid> grids_;
    std::vector<std::size_t> missing_;
    std::size_t gaps_ = 0; // sum over the factors
    bool all_numeric_;
    std::vector<profile_boxes> boxes_; // by level
};
} // namespace straggle::detail
