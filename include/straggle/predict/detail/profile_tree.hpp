// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: a tree of records. Leaves are eight consecutive slots; there
/// is a box around each leaf, around every eight of these boxes, and so on, and a query skips what is too far
/// away.
///
/// New records are appended unsorted. Each full run of 64 is sorted, together with earlier runs as a binary
/// counter carries; when new records and gaps exceed a quarter of all, everything is sorted. The order only
/// affects the boxes, never the answers.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/simd.hpp>
#include <straggle/predict/detail/similarity_terms.hpp>
#include <straggle/predict/similarity.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

struct profile_hit {
    double distance;
    std::uint64_t number; // of additions before it: larger is younger
    std::size_t slot;
};
constexpr bool is_nearer(profile_hit const& a, profile_hit const& b) noexcept {
    return a.distance != b.distance ? a.distance < b.distance : a.number > b.number;
}

// Working memory of a search.
struct profile_search {
    std::vector<factor_term> terms;
    std::vector<profile_hit> hits;
    std::vector<double> nearest; // the points of eight boxes that are nearest to the query
    std::size_t most = 0;        // hits
    double within = 0;
    double limit = 0; // squares above are farther than wanted
};

// Entries are records by age, slots are records by place; each has gaps where records were removed.
class profile_tree {
  public:
    profile_tree(std::span<predict::factor_kind const> kinds, std::size_t capacity)
        : kinds_(kinds.begin(), kinds.end()),
          most_slots_(capacity + most_untidy(capacity) + 1),
          missing_(kinds.size()) {
        clear();
    }
    profile_tree(profile_tree const&) = default;
    profile_tree(profile_tree&&) = default;
    // Copies the other object, or changes nothing if an allocation fails.
    profile_tree& operator=(profile_tree const& other) { return *this = profile_tree(other); }
    profile_tree& operator=(profile_tree&&) = default;
    ~profile_tree() = default;

    [[nodiscard]] std::span<predict::factor_kind const> kinds() const noexcept { return kinds_; }
    [[nodiscard]] std::size_t factors() const noexcept { return kinds_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Largest minus smallest known value of a factor.
    [[nodiscard]] double range(std::size_t k) const noexcept {
        if (youngest_.empty()) return 0;
        double const least = low(root(), k), most = high(root(), k);
        return least < most ? most - least : 0.0;
    }
    // Whether some record misses a factor.
    [[nodiscard]] bool misses(std::size_t k) const noexcept { return missing_[k] != 0; }
    // The encoded value of a factor.
    [[nodiscard]] double value(std::size_t slot, std::size_t k) const noexcept { return rows_[at(slot, k)]; }
    [[nodiscard]] double time(std::size_t slot) const noexcept { return value(slot, factors()); }
    [[nodiscard]] std::uint64_t number(std::size_t slot) const noexcept {
        return std::bit_cast<std::uint64_t>(value(slot, factors() + 1));
    }

    // The slot of the i-th oldest record. @pre i < size()
    [[nodiscard]] std::size_t slot(std::size_t i) const noexcept { return entries_[find(i)]; }
    // Calls f(slot) for every record, oldest first.
    template <class F>
    void for_each(F f) const {
        for (std::size_t e = first_; e < slots_; ++e)
            if (entries_[e] != gap) f(std::size_t{entries_[e]});
    }

    // Reserves memory for adding this many records. On failure nothing changes.
    void make_room(std::size_t records) {
        std::size_t const wanted = slots_ + records;
        if (wanted <= entries_.size()) return;
        profile_tree larger(kinds_, most_slots_);
        std::size_t boxes = ((std::max)(wanted, (std::min)(2 * slots_, most_slots_)) + ways - 1) / ways;
        std::size_t const room = boxes * ways;
        for (std::size_t all = 0;; boxes = (boxes + ways - 1) / ways) {
            larger.levels_.push_back(all);
            all += (boxes + ways - 1) / ways * ways;
            if (boxes > 1) continue;
            larger.youngest_.resize(all, no_number);
            break;
        }
        larger.boxes_.resize(larger.youngest_.size() * 2 * factors());
        larger.rows_.resize(room * stride());
        larger.entries_.resize(room);
        larger.held_.resize(room + 1);
        larger.items_.resize(room);
        larger.most_slots_ = most_slots_;
        larger.missing_ = missing_;
        larger.slots_ = slots_;
        larger.size_ = size_;
        larger.first_ = first_;
        larger.arranged_ = arranged_;
        std::copy(rows_.begin(), rows_.end(), larger.rows_.begin());
        std::copy(entries_.begin(), entries_.end(), larger.entries_.begin());
        std::copy(held_.begin(), held_.end(), larger.held_.begin());
        larger.fit(0, room);
        *this = std::move(larger);
    }

    // @pre there is room; `number` is larger than all before
    void append(std::span<double const> encoded, double time, std::uint64_t number) noexcept {
        for (std::size_t k = 0; k < factors(); ++k) {
            rows_[at(slots_, k)] = encoded[k];
            if (encoded[k] == encoded_missing) ++missing_[k];
        }
        rows_[at(slots_, factors())] = time;
        set_number(slots_, number);
        entries_[slots_] = static_cast<std::uint32_t>(slots_);
        // Each number counts the entries since the one with the lowest bit of its index cleared.
        std::size_t const e = slots_ + 1, low = e & (0 - e);
        held_[e] = 1;
        for (std::size_t j = 1; j < low; j *= 2) held_[e] += held_[e - j];
        ++size_;
        std::size_t box = slots_;
        for (std::size_t const level : levels_) include_record(level + (box /= ways), slots_);
        ++slots_;
    }
    // Call after each append, or call `arrange` at the end.
    void tidy() noexcept {
        std::size_t const fresh = slots_ - arranged_, gaps = slots_ - size_;
        if (fresh + gaps > most_untidy(size_)) return arrange();
        if (slots_ % run != 0) return;
        // As many runs as the largest power of two that divides the last one's number, so that they align
        // with nodes. But only new ones.
        std::size_t const last = slots_ / run, first_new = (arranged_ + run - 1) / run;
        std::size_t runs = last & (0 - last);
        while (runs > last - first_new) runs /= 2;
        // Since everything was sorted, the slots of a whole run hold the entries of the same numbers.
        if (runs != 0) arrange_entries((last - runs) * run, slots_, (last - runs) * run);
    }
    // Removes the i-th oldest record. @pre i < size()
    void evict(std::size_t i) noexcept {
        std::size_t const entry = find(i), place = entries_[entry];
        entries_[entry] = gap;
        for (std::size_t e = entry + 1; e <= slots_; e += e & (0 - e)) --held_[e];
        --size_;
        while (first_ < slots_ && entries_[first_] == gap) ++first_;
        for (std::size_t k = 0; k < factors(); ++k)
            if (value(place, k) == encoded_missing) --missing_[k];
        set_number(place, no_number);
        fit(place, place + 1);
    }

    // Sorts everything and removes the gaps.
    void arrange() noexcept {
        std::size_t n = 0;
        for_each([&](std::size_t s) { entries_[n++] = static_cast<std::uint32_t>(s); });
        for (std::size_t e = 1; e <= n; ++e) held_[e] = static_cast<std::uint32_t>(e & (0 - e));
        first_ = 0;
        std::size_t const before = slots_;
        slots_ = arranged_ = n;
        arrange_entries(0, n, 0, before);
    }

    void clear() noexcept {
        slots_ = size_ = first_ = arranged_ = 0;
        std::fill(missing_.begin(), missing_.end(), std::size_t{0});
        fit(0, entries_.size());
    }

    // Finds the nearest records for the terms; nearest first.
    void search(profile_search& s) const {
        s.hits.clear();
        s.hits.reserve(s.most + 1);
        s.nearest.resize(factors() * ways);
        s.limit = above(s.within);
        if (size_ != 0) visit(levels_.size() - 1, 0, s);
        std::sort_heap(s.hits.begin(), s.hits.end(), is_nearer);
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

    static constexpr std::size_t ways = rows_at_once, run = ways * ways;
    static constexpr std::uint64_t no_number = ~std::uint64_t{0};
    static constexpr std::uint32_t gap = ~std::uint32_t{0};

    // Limit on new records and gaps for this many records.
    [[nodiscard]] static std::size_t most_untidy(std::size_t held) noexcept {
        return (std::max)(held / 4, run);
    }
    // Factors, time and number.
    [[nodiscard]] std::size_t stride() const noexcept { return factors() + 2; }
    [[nodiscard]] std::size_t at(std::size_t slot, std::size_t k) const noexcept {
        return (slot / ways * stride() + k) * ways + slot % ways;
    }
    [[nodiscard]] std::size_t root() const noexcept { return levels_.back(); }
    [[nodiscard]] double& low(std::size_t n, std::size_t k) noexcept {
        return boxes_[(n / ways * 2 * factors() + k) * ways + n % ways];
    }
    [[nodiscard]] double const& low(std::size_t n, std::size_t k) const noexcept {
        return boxes_[(n / ways * 2 * factors() + k) * ways + n % ways];
    }
    [[nodiscard]] double& high(std::size_t n, std::size_t k) noexcept { return low(n, factors() + k); }
    [[nodiscard]] double const& high(std::size_t n, std::size_t k) const noexcept {
        return low(n, factors() + k);
    }
    void set_number(std::size_t slot, std::uint64_t number) noexcept {
        rows_[at(slot, factors() + 1)] = std::bit_cast<double>(number);
    }

    // The entry of the i-th oldest record: a descent by powers of two.
    [[nodiscard]] std::size_t find(std::size_t i) const noexcept {
        if (size_ == slots_ - first_) return first_ + i;
        std::size_t e = 0;
        for (std::size_t step = std::bit_floor(slots_); step != 0; step /= 2)
            if (e + step <= slots_ && held_[e + step] <= i) {
                e += step;
                i -= held_[e];
            }
        return e;
    }

    // ------------------------------------------------------------------------------------------- boxes

    // A box without known values has its ends the wrong way round.
    void empty(std::size_t n) noexcept {
        youngest_[n] = no_number;
        for (std::size_t k = 0; k < factors(); ++k) {
            low(n, k) = encoded_missing;
            high(n, k) = -encoded_missing;
        }
    }
    void include(std::size_t n, std::uint64_t number) noexcept {
        if (youngest_[n] == no_number || number > youngest_[n]) youngest_[n] = number;
    }
    void include_record(std::size_t n, std::size_t slot) noexcept {
        for (std::size_t k = 0; k < factors(); ++k) {
            double const x = value(slot, k);
            if (x == encoded_missing) continue;
            low(n, k) = (std::min)(low(n, k), x);
            high(n, k) = (std::max)(high(n, k), x);
        }
        include(n, number(slot));
    }
    void include_box(std::size_t n, std::size_t child) noexcept {
        if (youngest_[child] == no_number) return;
        for (std::size_t k = 0; k < factors(); ++k) {
            low(n, k) = (std::min)(low(n, k), low(child, k));
            high(n, k) = (std::max)(high(n, k), high(child, k));
        }
        include(n, youngest_[child]);
    }
    // The boxes around these slots, on all levels.
    void fit(std::size_t first, std::size_t last) noexcept {
        for (std::size_t l = 0; l < levels_.size() && first < last; ++l) {
            first /= ways;
            last = (last + ways - 1) / ways;
            for (std::size_t b = first; b < last; ++b) {
                std::size_t const n = levels_[l] + b;
                empty(n);
                for (std::size_t i = b * ways; i < (b + 1) * ways; ++i) {
                    if (l != 0)
                        include_box(n, levels_[l - 1] + i);
                    else if (i < slots_ && number(i) != no_number)
                        include_record(n, i);
                }
            }
        }
    }

    // ----------------------------------------------------------------------------------------- sorting

    // Sorts the records of entries [first, last) into the slots from `to` on.
    // @param used slots up to which records may have been
    void arrange_entries(std::size_t first, std::size_t last, std::size_t to, std::size_t used = 0) noexcept {
        std::size_t n = 0;
        for (std::size_t e = first; e < last; ++e)
            if (entries_[e] != gap) items_[n++] = {0.0, static_cast<std::uint32_t>(e), entries_[e]};
        std::span<item> const items(items_.data(), n);
        split(items);
        // One column at a time: gather from the old places, then write to the new ones.
        for (std::size_t k = 0; k < stride(); ++k) {
            for (item& i : items) i.key = value(i.slot, k);
            for (std::size_t i = 0; i < n; ++i) rows_[at(to + i, k)] = items[i].key;
        }
        for (std::size_t i = 0; i < n; ++i) entries_[items[i].entry] = static_cast<std::uint32_t>(to + i);
        for (std::size_t s = to + n; s < last; ++s) set_number(s, no_number);
        fit(to, (std::max)(last, used));
    }

    // Splits at the median of the factor in which records differ most, at the edge of a leaf, or of the
    // largest box that divides the items.
    void split(std::span<item> items) noexcept {
        while (items.size() > ways) {
            std::size_t box = ways;
            while (box * ways < items.size()) box *= ways;
            std::size_t const half = (items.size() + box - 1) / box / 2 * box;
            std::size_t const k = most_different(items);
            for (item& i : items) i.key = value(i.slot, k);
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
        for (std::size_t k = 0; k < factors(); ++k) {
            double const scale = per_range_of(range(k));
            double sum = 0, before = value(items.back().slot, k);
            for (std::size_t i = 0; i < items.size(); i += step) {
                double const x = value(items[i].slot, k);
                double const d = (x - before) * scale;
                if (x != before) sum += x == encoded_missing || before == encoded_missing ? 1.0 : d * d;
                before = x;
            }
            if (sum > most) {
                most = sum;
                best = k;
            }
        }
        return best;
    }

    // ---------------------------------------------------------------------------------------- searching

    // No square above it has a root of at most `distance`.
    [[nodiscard]] static double above(double distance) noexcept {
        return distance * distance * (1 + 0x1p-50) + least_range;
    }
    [[nodiscard]] static bool is_wanted(profile_hit const& hit, profile_search const& s) noexcept {
        return hit.distance <= s.within && (s.hits.size() < s.most || is_nearer(hit, s.hits.front()));
    }

    // Squared distances of the query from eight boxes: from a point of each, computed as if it were a record.
    // Every step of that is monotonic, so no record in the box can be nearer, not even by rounding.
    void add_box_squares(std::size_t first, profile_search& s, double* squares) const noexcept {
        for (factor_term const& t : s.terms) {
            double const *const lows = &low(first, t.factor), *const highs = &high(first, t.factor);
            double* const x = &s.nearest[t.factor * ways];
            simd::lanes const value = simd::splat(t.value);
            for (std::size_t i = 0; i < ways; i += simd::lane_count) {
                using namespace simd;
                lanes point = larger(load(lows + i), smaller(load(highs + i), value));
                if (t.form == term_form::number_or_missing) {
                    // A record that misses the factor may be nearer than all that know it.
                    lanes const d = (point - value) * splat(t.scale);
                    point = choose(less(d * d, splat((1 - 0x1p-40) * t.weight)), point, value);
                } else if (t.value == encoded_missing && misses(t.factor)) {
                    point = value;
                }
                std::memcpy(x + i, &point, sizeof point);
            }
        }
        add_squares(squares, s.nearest.data(), s.terms);
    }

    void visit(std::size_t level, std::size_t box, profile_search& s) const noexcept {
        double squares[ways] = {};
        if (level == 0) {
            add_squares(squares, &rows_[box * ways * stride()], s.terms);
            for (std::size_t i = 0; i < ways; ++i) {
                std::size_t const slot = box * ways + i;
                if (squares[i] <= s.limit && slot < slots_ && number(slot) != no_number)
                    consider({std::sqrt(squares[i]), number(slot), slot}, s);
            }
            return;
        }
        std::size_t const first = levels_[level - 1] + box * ways;
        add_box_squares(first, s, squares);
        profile_hit order[ways]; // by square, nearest first
        std::size_t n = 0;
        for (std::size_t i = 0; i < ways; ++i) {
            if (!(squares[i] <= s.limit) || youngest_[first + i] == no_number) continue;
            profile_hit const next{squares[i], youngest_[first + i], i};
            std::size_t to = n++;
            for (; to > 0 && is_nearer(next, order[to - 1]); --to) order[to] = order[to - 1];
            order[to] = next;
        }
        for (profile_hit& best : std::span(order, n)) {
            if (!(best.distance <= s.limit)) return;
            best.distance = std::sqrt(best.distance);
            if (is_wanted(best, s)) visit(level - 1, box * ways + best.slot, s);
        }
    }
    static void consider(profile_hit const& hit, profile_search& s) noexcept {
        if (!is_wanted(hit, s)) return;
        s.hits.push_back(hit);
        std::push_heap(s.hits.begin(), s.hits.end(), is_nearer);
        if (s.hits.size() > s.most) {
            std::pop_heap(s.hits.begin(), s.hits.end(), is_nearer);
            s.hits.pop_back();
        }
        if (s.hits.size() == s.most) s.limit = above(s.hits.front().distance);
    }

    std::vector<predict::factor_kind> kinds_;
    std::size_t most_slots_;
    std::vector<std::size_t> missing_; // records that miss each factor
    std::vector<double> rows_;         // by slot, in groups
    std::vector<item> items_;          // of what is being sorted
    // Boxes around leaves, then the boxes around these, in groups; the root is the first of the last level.
    std::vector<std::size_t> levels_;     // the first box of each
    std::vector<std::uint64_t> youngest_; // of each box, the number of a record
    std::vector<double> boxes_;           // least and largest values
    // By age.
    std::vector<std::uint32_t> entries_; // slots
    std::vector<std::uint32_t> held_;    // a Fenwick tree of the entries that are no gaps, from 1 on
    std::size_t slots_ = 0;              // in use, gaps included; as many as entries
    std::size_t size_ = 0;
    std::size_t first_ = 0;    // entries before this one are gaps
    std::size_t arranged_ = 0; // slots before this one were sorted in one go
};

} // namespace straggle::detail
