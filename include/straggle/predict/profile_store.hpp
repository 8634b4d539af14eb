// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which finished tasks are most similar to this one, and how long did they take? Stores a bounded number of
/// rows of factors with the time of each task, and finds the nearest by weighted Euclidean distance.
///
/// Weights belong to the query, not to the store: they may change with each query at no cost. So may the
/// scales of numeric factors, which follow the stored records: a difference of 1 is their whole range.
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

/// Options of a store.
struct profile_store_options {
    std::size_t capacity = 100'000; ///< maximum number of records. @pre from 1 to 2^31
};

/// A record found by a query.
struct neighbor {
    double distance;      ///< `weighted_distance` from the row of the query
    double time;          ///< time of the task, in the caller's unit
    std::uint64_t number; ///< number of records added before it: larger is younger
    friend constexpr bool operator==(neighbor const&, neighbor const&) = default;
};

/// The data of a record besides its row.
struct profile_record {
    double time;          ///< time of the task, in the caller's unit
    std::uint64_t number; ///< number of records added before it: larger is younger
    friend constexpr bool operator==(profile_record const&, profile_record const&) = default;
};

/// What became of all records passed to a store.
/// @par Guarantees
/// `size() == added - evicted`
struct profile_counts {
    std::uint64_t added = 0;     ///< stored
    std::uint64_t evicted = 0;   ///< stored ones that were removed to make room
    std::uint64_t bad_rows = 0;  ///< rejected: a value was infinite or beyond `largest_factor`
    std::uint64_t bad_times = 0; ///< rejected: the time was NaN, infinite or negative
    friend constexpr bool operator==(profile_counts const&, profile_counts const&) = default;
};

/// Working memory of `profile_store::nearest`, for one call at a time. It does not affect answers; repeating
/// a query's weights with the same scratch saves checking them and a square root each.
class nearest_scratch {
    friend class profile_store;
    detail::query_terms terms_;
    detail::cell_query cells_;
    std::vector<detail::profile_hit> hits_;
};

/// Rows of factors with times, the most recent or a random choice, and the nearest among them.
///
/// Source: RiskI section 5, the profile of a node; algorithm 1 with the comparison corrected. Ours: scales,
/// categories, missing values, k neighbors, and the search: similar records share leaves of eight with a box
/// around each, around every eight boxes, and so on; a query visits boxes, nearest first, until they are too
/// far away. Sketches of boxes and records, two bytes per number, decide most of these tests. The result is
/// exact. Boxes and sketches do not depend on weights or scales.
///
/// @par Cost
/// With n records of q factors: `add` O((q + log n) log n) amortized, O(n (q + log n)) at once each time that
/// new records and gaps reach a quarter of all; 2 to 5 us at n = 100 000, q = 8. `nearest` takes 2 to 5 us
/// there for one and 10 to 30 us for 32 (clustered data, uniform data), two to three times as much just
/// before everything is rearranged; O(n q) at worst, for unstructured data with many factors. From some
/// hundred records on 16.2 q + 47 bytes per record when full (12.9 q + 3.3 (q + 1) + 47 for an odd q), up to
/// twice that while growing; allocates nothing once full.
/// @par Guarantees
/// deterministic: contents and results depend only on what was added, and in which order; strong exception
/// guarantee, only allocation can throw. Any number of threads may query while none adds, each with its own
/// scratch.
class profile_store {
  public:
    /// An empty store.
    /// @param kinds of the factors, in the order of the rows
    /// @param how its capacity
    /// @pre there is at least one factor
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
    /// Copies the other store, or changes nothing if an allocation fails.
    profile_store& operator=(profile_store const& other) { return *this = profile_store(other); }
    profile_store& operator=(profile_store&&) = default;
    ~profile_store() = default;

    /// Adds a record; if there is no room, removes the oldest.
    /// @param row a value per factor, or `missing_factor`
    /// @param time time of the task, in any unit
    /// @return `status::out_of_domain`, counted, if a value is infinite or beyond `largest_factor`, or the
    /// time NaN, infinite or negative: then nothing else changes
    /// @pre `row.size() == factors()`
    status add(std::span<double const> row, double time) {
        return add_if_good(row, time, [] { return std::size_t{0}; });
    }
    /// Adds a record; if there is no room, removes a random one. So old times fade gradually.
    /// @copydetails add
    /// @param engine one draw if there is no room
    template <base::random_engine Engine>
    status add(std::span<double const> row, double time, Engine& engine) {
        return add_if_good(row, time, [&] {
            return static_cast<std::size_t>(base::uniform_below(engine, std::uint64_t{size()}));
        });
    }

    /// The k nearest records, nearest first; ties youngest first.
    /// @param row the query; values may be missing, or outside the ranges of the store
    /// @param weights one per factor, in any unit; all 0: all records are equally near
    /// @param k maximum number of records
    /// @param within the largest distance of interest, inclusive; may be infinite
    /// @param scratch and `out`: memory; `out` is replaced
    /// @return `status::insufficient_evidence` if none is found, `status::out_of_domain` if no record could
    /// have a value, a weight is negative or not finite, or `within` is NaN or negative
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

    /// Number of records.
    [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }
    /// Whether there are no records.
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Maximum number of records.
    [[nodiscard]] std::size_t capacity() const noexcept { return options_.capacity; }
    /// Number of values in a row.
    [[nodiscard]] std::size_t factors() const noexcept { return leaves().factors(); }
    /// Kinds of the factors.
    [[nodiscard]] std::span<factor_kind const> kinds() const noexcept { return leaves().kinds(); }
    /// For each numeric factor, the largest minus the smallest known value of the current records, 0 without
    /// any; for a categorical one 1.
    /// @par Cost
    /// O(1). Maintained by `add`: the boxes form an eight-way tree, and removing a record changes only those
    /// boxes that it touches from inside.
    [[nodiscard]] std::span<double const> ranges() const noexcept { return detail::span_of(ranges_); }
    /// What became of all records so far.
    [[nodiscard]] profile_counts const& counts() const noexcept { return counts_; }

    /// The i-th oldest record.
    /// @param i from 0
    /// @param row receives its values
    /// @pre `i < size()`, `row.size() == factors()`
    /// @par Cost
    /// O(factors); plus O(n / 4096) in a store that has evicted at random. Allocates nothing
    profile_record sample(std::size_t i, std::span<double> row) const {
        STRAGGLE_EXPECTS(i < size() && row.size() == factors());
        return read(index_.slot(i), row);
    }

    /// Calls `f(std::span<double const> row, double time, std::uint64_t number)` for every record, oldest
    /// first.
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

    /// Rearranges all records now, as `add` does from time to time, for faster queries. Does not change any
    /// answer.
    /// @par Cost
    /// O(n q log n); allocates nothing
    void arrange() {
        index_.make_room(0);
        index_.arrange();
    }
    /// Reserves memory so that the next `add` allocates nothing; `add` does this itself.
    void make_room() { index_.make_room(1); }

    /// All records and counts, as bytes that `restore` reads on any machine.
    /// @param spare a vector whose memory is reused
    [[nodiscard]] std::vector<std::byte> serialize(std::vector<std::byte> spare = {}) const {
        return detail::profile_bytes::write(index_, counts_, std::move(spare));
    }
    /// Restores serialized state, with its own capacity; on failure nothing changes. All queries give the
    /// same answers as before, and all evictions remove the same records.
    /// @return `status::ok`; `truncated`, `corrupt` or `unknown_version` for bytes that are incomplete or
    /// from a newer library; `wrong_kind` for bytes of another type, or with other factors; `out_of_range`
    /// for more records than `capacity()`
    /// @par Guarantees
    /// arbitrary bytes give a status; never allocates more than a multiple of their size
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

    /// Forgets all records and counts, but keeps the memory.
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
            if (range == ranges_[k]) continue; // the usual case; saves a slow division
            ranges_[k] = range;
            per_range_[k] = detail::per_range_of(range);
        }
    }

    profile_store_options options_;
    detail::profile_index index_;
    std::vector<double> row_; // the row being added
    std::vector<double> ranges_;
    std::vector<double> per_range_; // 1 / range, or 0
    profile_counts counts_;
};

} // namespace straggle::predict
