// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which finished tasks are most like this one, and how long did they take? Remembers rows of factors with
/// the time each task took, a bounded number of them, and finds the nearest by weighted Euclidean distance.
///
/// Weights belong to the question, not to the store: they may be others each time and cost nothing. So do the
/// scales of numeric factors, which follow what is held: a difference of 1 is the whole range of the records.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/random.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/predict/detail/profile_bytes.hpp>
#include <straggle/predict/detail/profile_index.hpp>
#include <straggle/predict/detail/profile_nearest_one.hpp>
#include <straggle/predict/detail/profile_search.hpp>
#include <straggle/predict/detail/query_terms.hpp>
#include <straggle/predict/similarity.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::predict {

/// How to remember.
struct profile_store_options {
    std::size_t capacity = 100'000; ///< most records held. @pre from 1 to 2^31
};

/// A record that was found.
struct neighbor {
    double distance;      ///< `weighted_distance` from the row looked for
    double time;          ///< the task took, in the caller's unit
    std::uint64_t number; ///< records added before it: the larger, the younger
    friend constexpr bool operator==(neighbor const&, neighbor const&) = default;
};

/// What is known of a record beside its row.
struct profile_record {
    double time;          ///< the task took, in the caller's unit
    std::uint64_t number; ///< records added before it: the larger, the younger
    friend constexpr bool operator==(profile_record const&, profile_record const&) = default;
};

/// What became of all records a store was ever given.
/// @par Guarantees
/// `size() == added - evicted`
struct profile_counts {
    std::uint64_t added = 0;     ///< stored
    std::uint64_t evicted = 0;   ///< of those, had to make room
    std::uint64_t bad_rows = 0;  ///< not stored: a value was infinite or beyond `largest_factor`
    std::uint64_t bad_times = 0; ///< not stored: the time was NaN, infinite or negative
    friend constexpr bool operator==(profile_counts const&, profile_counts const&) = default;
};

/// Working memory of `profile_store::nearest`: any will do, for one call at a time. It changes no answer;
/// that of a question with the same weights saves checking them and a square root for each.
class nearest_scratch {
    friend class profile_store;
    detail::query_terms terms_;
    detail::cell_query cells_;
    std::vector<detail::profile_hit> hits_;
};

/// Rows of factors with times, the most recent or a random choice, and the nearest of them.
///
/// Source: RiskI section 5, the profile of a node; algorithm 1 with the comparison the right way round. Ours:
/// scales, categories, missing values, k of them, and how they are found: records that are alike share leaves
/// of eight with a box around each, around every eight boxes, and so on; a query looks at boxes, nearest
/// first, until they are too far away. Which are so is mostly told by sketches of boxes and records, two
/// bytes for a number. The result is exact. Boxes and sketches know neither weights nor scales.
///
/// @par Cost
/// With n records of q factors: `add` O((q + log n) log n) amortised, O(n (q + log n)) at once each
/// time that new records and gaps are a quarter of all; 2 to 5 us at n = 100 000, q = 8. `nearest` 2 to 5 us
/// there for one and 10 to 30 us for 32 (data in clusters, uniform data), two to three times as much just
/// before everything is put in order again; O(n q) at worst, for data without structure in many factors. From
/// some hundred records on 16.2 q + 47 bytes per record when full (12.9 q + 3.3 (q + 1) + 47 for an odd q),
/// up to twice that while growing; allocates nothing any more once full.
/// @par Guarantees
/// deterministic: what is held and found depends on nothing but what was added, in which
/// order; strong exception guarantee, only allocation can throw. Any number of threads may ask while none
/// adds, each with its own scratch.
class profile_store {
  public:
    /// An empty store.
    /// @param kinds of the factors, in the order in which rows have them
    /// @param how its size
    /// @pre there is a factor
    explicit profile_store(std::span<factor_kind const> kinds, profile_store_options how = {})
        : options_(checked(how)),
          index_(kinds, how.capacity),
          row_(kinds.size()),
          ranges_(kinds.size()),
          per_range_(kinds.size()) {
        STRAGGLE_EXPECTS(!kinds.empty());
        update_ranges();
    }
    profile_store(profile_store const&) = default;
    profile_store(profile_store&&) = default;
    /// Becomes a copy, or changes nothing should an allocation fail.
    profile_store& operator=(profile_store const& other) { return *this = profile_store(other); }
    profile_store& operator=(profile_store&&) = default;
    ~profile_store() = default;

    /// Takes in a record; where there is no room, the oldest goes.
    /// @param row a value per factor, or `missing_factor`
    /// @param time the task took, in any unit
    /// @return `status::out_of_domain`, counted, where a value is infinite or beyond `largest_factor`, or the
    /// time NaN, infinite or negative: then nothing else changes
    /// @pre `row.size() == factors()`
    status add(std::span<double const> row, double time) {
        return add_if_good(row, time, [] { return std::size_t{0}; });
    }
    /// Takes in a record; where there is no room, one goes at random. So old times fade, but are not gone all
    /// at once.
    /// @copydetails add
    /// @param engine one draw where there is no room
    template <base::random_engine Engine>
    status add(std::span<double const> row, double time, Engine& engine) {
        return add_if_good(row, time, [&] {
            return static_cast<std::size_t>(base::uniform_below(engine, std::uint64_t{size()}));
        });
    }

    /// The k nearest records, nearest first; of equally near ones the youngest first.
    /// @param row to be near to; values may be missing, and outside the ranges of the store
    /// @param weights one per factor, in any unit; all 0: every record is equally near
    /// @param k how many at most
    /// @param within the largest distance of interest, inclusive; may be infinite
    /// @param scratch and `out`: memory; `out` is replaced
    /// @return `status::insufficient_evidence` if none is found, `status::out_of_domain` for a value that no
    /// record could have, a weight that is negative or not finite, or a `within` that is NaN or negative
    /// @pre `row` and `weights` have `factors()` values
    /// @par Cost
    /// see the class; allocates nothing once scratch and `out` have held k records
    /// @par Guarantees
    /// exact: the same records and the same bits as `weighted_distance` with `ranges()` for
    /// every record, sorted
    status nearest(std::span<double const> row, std::span<double const> weights, std::size_t k, double within,
                   nearest_scratch& scratch, std::vector<neighbor>& out) const {
        STRAGGLE_EXPECTS(row.size() == factors() && weights.size() == factors());
        out.clear();
        if (detail::is_nan(within) || !(within >= 0) ||
            !scratch.terms_.assign(leaves(), detail::span_of(per_range_), row, weights))
            return status::out_of_domain;
        k = (std::min)(k, size());
        if (k == 0) return status::insufficient_evidence;
        auto const terms = scratch.terms_.terms();
        if (k == 1 && leaves().slots() < detail::few_slots) {
            auto const hit = detail::profile_nearest_one(leaves(), terms, within).find();
            if (hit.slot == detail::profile_nearest_one::none) return status::insufficient_evidence;
            out.push_back({hit.distance, leaves().time(hit.slot), leaves().number(hit.slot)});
            return status::ok;
        }
        scratch.hits_.reserve(k);
        detail::make_cells(leaves(), terms, scratch.cells_);
        detail::profile_search(leaves(), terms, k, within, scratch.cells_, scratch.hits_).run();
        out.reserve(scratch.hits_.size());
        for (detail::profile_hit const& hit : scratch.hits_)
            out.push_back({hit.distance, leaves().time(hit.slot), leaves().number(hit.slot)});
        return out.empty() ? status::insufficient_evidence : status::ok;
    }

    /// Records held.
    [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }
    /// Whether there is none.
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Most records held.
    [[nodiscard]] std::size_t capacity() const noexcept { return options_.capacity; }
    /// Values in a row.
    [[nodiscard]] std::size_t factors() const noexcept { return leaves().factors(); }
    /// Kinds of the factors.
    [[nodiscard]] std::span<factor_kind const> kinds() const noexcept { return leaves().kinds(); }
    /// For each numeric factor the largest less the smallest known value of the records held now, 0 for none;
    /// for a categorical one 1.
    /// @par Cost
    /// O(1). Kept by `add`: the boxes are in a tree of eight at each place, and only those that a
    /// record touches from inside change when it goes.
    [[nodiscard]] std::span<double const> ranges() const noexcept { return detail::span_of(ranges_); }
    /// What became of all records there ever were.
    [[nodiscard]] profile_counts const& counts() const noexcept { return counts_; }

    /// The i-th oldest record held.
    /// @param i from 0
    /// @param row where its values go
    /// @pre `i < size()`, `row.size() == factors()`
    /// @par Cost
    /// O(factors); in a store that has evicted at random O(n / 4096) more. Allocates nothing
    profile_record sample(std::size_t i, std::span<double> row) const {
        STRAGGLE_EXPECTS(i < size() && row.size() == factors());
        return read(index_.slot(i), row);
    }

    /// Calls `f(std::span<double const> row, double time, std::uint64_t number)` for every record held,
    /// oldest first.
    /// @par Cost
    /// O(n q); allocates one row
    template <class F>
    void for_each(F&& f) const {
        std::vector<double> row(factors());
        index_.for_each([&](std::size_t slot) {
            profile_record const record = read(slot, row);
            f(std::span<double const>(row), record.time, record.number);
        });
    }

    /// Does now what `add` does from time to time: puts all records in order, for faster queries. Changes
    /// no answer.
    /// @par Cost
    /// O(n q log n); allocates nothing
    void arrange() {
        index_.make_room(0);
        index_.arrange();
    }
    /// Makes sure that the next `add` allocates nothing; it does so by itself.
    void make_room() { index_.make_room(1); }

    /// All records and counts, as bytes that `restore` reads on any machine.
    /// @param spare bytes that are no longer needed, whose memory is used
    [[nodiscard]] std::vector<std::byte> serialize(std::vector<std::byte> spare = {}) const {
        return detail::profile_bytes::write(index_, counts_, std::move(spare));
    }
    /// Becomes what was serialized, with its own capacity; nothing changes when that fails. Every question is
    /// answered as before, and every eviction hits the same record.
    /// @return `status::ok`; `truncated`, `corrupt` or `unknown_version` for bytes that are not whole or from
    /// a newer library; `wrong_kind` for bytes of something else, or of other factors; `out_of_range` for
    /// more records than `capacity()`
    /// @par Guarantees
    /// any bytes whatever give a status; never allocates more than a multiple of their size
    [[nodiscard]] status restore(std::span<std::byte const> bytes) {
        detail::profile_index read(kinds(), capacity());
        profile_counts counts;
        status const s = detail::profile_bytes::read(bytes, read, counts, capacity());
        if (s != status::ok) return s;
        index_ = std::move(read);
        counts_ = counts;
        update_ranges();
        return status::ok;
    }

    /// Forgets all records and counts, and keeps the memory.
    void clear() noexcept {
        index_.clear();
        counts_ = {};
        update_ranges();
    }

  private:
    [[nodiscard]] static profile_store_options checked(profile_store_options const& how) {
        STRAGGLE_EXPECTS(how.capacity >= 1 && how.capacity <= std::size_t{1} << 31);
        return how;
    }
    [[nodiscard]] detail::profile_leaves const& leaves() const noexcept { return index_.leaves(); }

    [[nodiscard]] profile_record read(std::size_t slot, std::span<double> row) const noexcept {
        for (std::size_t k = 0; k < factors(); ++k) row[k] = leaves().known_value(slot, k);
        return {leaves().time(slot), leaves().number(slot)};
    }

    template <class Choose>
    status add_if_good(std::span<double const> row, double time, Choose choose) {
        STRAGGLE_EXPECTS(row.size() == factors());
        for (double const x : row)
            if (!is_factor_value(x)) {
                ++counts_.bad_rows;
                return status::out_of_domain;
            }
        if (!detail::is_task_time(time)) {
            ++counts_.bad_times;
            return status::out_of_domain;
        }
        index_.make_room(1);
        if (size() == capacity()) {
            index_.evict(choose());
            ++counts_.evicted;
        }
        for (std::size_t k = 0; k < factors(); ++k) row_[k] = detail::encode_factor(row[k]);
        index_.append(detail::span_of(row_), time, counts_.added++);
        index_.tidy();
        update_ranges();
        return status::ok;
    }

    void update_ranges() noexcept {
        for (std::size_t k = 0; k < factors(); ++k) {
            double const range = leaves().is_numeric(k) ? leaves().range(k) : 1.0;
            if (range == ranges_[k]) continue; // most often, and a division takes long
            ranges_[k] = range;
            per_range_[k] = detail::per_range_of(range);
        }
    }

    profile_store_options options_;
    detail::profile_index index_;
    std::vector<double> row_; // the one being added
    std::vector<double> ranges_;
    std::vector<double> per_range_; // 1 / range, or 0
    profile_counts counts_;
};

} // namespace straggle::predict
