// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which finished tasks are most similar to this one, and how long did they take? Stores a bounded number of
/// rows of factors with the time of each task, and finds the nearest by weighted Euclidean distance.
///
/// Weights belong to the query, not to the store: they may change with each query at no cost. So may the
/// scales of numeric factors, which follow the stored records: a difference of 1 is their whole range.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/random.hpp>
#include <straggle/predict/detail/profile_tree.hpp>
#include <straggle/predict/detail/similarity_terms.hpp>
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

/// Working memory of `profile_store::nearest`, for one call at a time. It does not affect answers.
class nearest_scratch {
    friend class profile_store;
    detail::profile_search search_;
    std::vector<double> row_;
};

/// Rows of factors with times, the most recent or a random choice, and the nearest among them.
///
/// Source: RiskI section 5, the profile of a node; algorithm 1 with the comparison corrected. Ours: scales,
/// categories, missing values, k neighbors, and the search, in a tree: similar records share leaves of
/// eight with a box around each, around every eight boxes, and so on. The result is exact. Boxes do not
/// depend on weights or scales.
///
/// @par Cost
/// With n records of q factors: `add` O((q + log n) log n) amortized, O(n (q + log n)) at once each time that
/// new records and gaps reach a quarter of all. `nearest` visits some dozen leaves if records
/// have any structure, a few times as many just before everything is rearranged; O(n q) at worst, for
/// unstructured data with many factors. At most 12.9 q + 60 bytes per record when full, up to twice that
/// while growing; allocates nothing once full.
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
          tree_(kinds, how.capacity),
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
        out.clear();
        if (!is_query(row, weights, within)) return status::out_of_domain;
        detail::profile_search& search = scratch.search_;
        search.terms.clear();
        search.terms.reserve(factors());
        for (std::size_t f = 0; f < row.size(); ++f)
            if (weights[f] > 0)
                search.terms.push_back(detail::make_term(f, kinds()[f] == factor_kind::numeric, row[f],
                                                         weights[f], per_range_[f], tree_.misses(f)));
        search.most = (std::min)(k, size());
        search.within = within;
        if (search.most == 0) return status::insufficient_evidence;
        tree_.search(search);
        out.reserve(search.hits.size());
        for (detail::profile_hit const& hit : search.hits)
            out.push_back({hit.distance, tree_.time(hit.slot), hit.number});
        return out.empty() ? status::insufficient_evidence : status::ok;
    }
    /// The same by another distance, which is called for every record.
    /// @param distance of the query and a record; records at a distance of NaN are left out
    /// @par Cost
    /// n distances; O(n log k)
    template <predict::distance Distance>
    status nearest_by(Distance const& distance, std::span<double const> row, std::span<double const> weights,
                      std::size_t k, double within, nearest_scratch& scratch,
                      std::vector<neighbor>& out) const {
        out.clear();
        if (!is_query(row, weights, within)) return status::out_of_domain;
        auto const is_nearer = [](neighbor const& a, neighbor const& b) {
            return a.distance < b.distance || (!(b.distance < a.distance) && a.number > b.number);
        };
        scratch.row_.resize(factors());
        tree_.for_each([&](std::size_t slot) {
            profile_record const record = read(slot, scratch.row_);
            neighbor const n{distance(kinds(), row, std::span<double const>(scratch.row_), ranges(), weights),
                             record.time, record.number};
            if (k == 0 || !(n.distance <= within)) return;
            if (out.size() == k) { // the farthest is in front
                if (!is_nearer(n, out.front())) return;
                std::pop_heap(out.begin(), out.end(), is_nearer);
                out.back() = n;
            } else {
                out.push_back(n);
            }
            std::push_heap(out.begin(), out.end(), is_nearer);
        });
        std::sort_heap(out.begin(), out.end(), is_nearer);
        return out.empty() ? status::insufficient_evidence : status::ok;
    }

    /// Number of records.
    [[nodiscard]] std::size_t size() const noexcept { return tree_.size(); }
    /// Whether there are no records.
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Maximum number of records.
    [[nodiscard]] std::size_t capacity() const noexcept { return options_.capacity; }
    /// Number of values in a row.
    [[nodiscard]] std::size_t factors() const noexcept { return tree_.factors(); }
    /// Kinds of the factors.
    [[nodiscard]] std::span<factor_kind const> kinds() const noexcept { return tree_.kinds(); }
    /// For each numeric factor, the largest minus the smallest known value of the current records, 0 without
    /// any; for a categorical one 1.
    /// @par Cost
    /// O(1), maintained by `add`: the box of the tree's root
    [[nodiscard]] std::span<double const> ranges() const noexcept { return ranges_; }
    /// What became of all records so far.
    [[nodiscard]] profile_counts const& counts() const noexcept { return counts_; }

    /// The i-th oldest record.
    /// @param i from 0
    /// @param row receives its values
    /// @pre `i < size()`, `row.size() == factors()`
    /// @par Cost
    /// O(factors); plus O(log n) in a store that has evicted at random. Allocates nothing
    profile_record sample(std::size_t i, std::span<double> row) const {
        STRAGGLE_EXPECTS(i < size() && row.size() == factors());
        return read(tree_.slot(i), row);
    }

    /// Calls `f(std::span<double const> row, double time, std::uint64_t number)` for every record, oldest
    /// first.
    /// @par Cost
    /// O(n q); allocates one row
    template <class F>
    void for_each(F&& f) const {
        std::vector<double> row(factors());
        tree_.for_each([&](std::size_t slot) {
            profile_record const record = read(slot, row);
            f(std::span<double const>(row), record.time, record.number);
        });
    }

    /// Rearranges all records now, as `add` does from time to time, for faster queries. Does not change any
    /// answer.
    /// @par Cost
    /// O(n q log n); allocates nothing
    void arrange() noexcept { tree_.arrange(); }
    /// Reserves memory so that the next `add` allocates nothing; `add` does this itself.
    void make_room() { tree_.make_room(1); }

    /// All records and counts, as bytes that `restore` reads on any machine.
    /// @param spare a vector whose memory is reused
    [[nodiscard]] std::vector<std::byte> serialize(std::vector<std::byte> spare = {}) const {
        byte_writer out(std::move(spare));
        out.count(factors());
        for (factor_kind const k : kinds()) out.u8(static_cast<std::uint8_t>(k));
        for (std::uint64_t const n : {counts_.added, counts_.evicted, counts_.bad_rows, counts_.bad_times})
            out.varint(n);
        out.count(size());
        std::uint64_t next = 0;
        tree_.for_each([&](std::size_t slot) {
            out.varint(tree_.number(slot) - next);
            next = tree_.number(slot) + 1;
            for (std::size_t k = 0; k < factors(); ++k) out.real(known_value(slot, k));
            out.real(tree_.time(slot));
        });
        return std::move(out).seal(frame, version);
    }
    /// Restores serialized state, with its own capacity; on failure nothing changes. All queries give the
    /// same answers as before, and all evictions remove the same records.
    /// @return `status::ok`; `truncated`, `corrupt` or `unknown_version` for bytes that are incomplete or
    /// from a newer library; `wrong_kind` for bytes of another type, or with other factors; `out_of_range`
    /// for more records than `capacity()`
    /// @par Guarantees
    /// arbitrary bytes give a status; never allocates more than a multiple of their size
    [[nodiscard]] status restore(std::span<std::byte const> bytes) {
        auto const opened = open_frame(bytes, frame, version);
        if (!opened) return opened.reason();
        byte_reader in = opened->payload;
        bool same = in.count(1) == factors();
        for (std::size_t k = 0; same && k < factors(); ++k)
            same = in.u8() == static_cast<std::uint8_t>(kinds()[k]);
        if (!in.ok()) return in.reason();
        if (!same) return status::wrong_kind;

        profile_store read(kinds(), options_);
        profile_counts& counts = read.counts_;
        for (std::uint64_t* const n : {&counts.added, &counts.evicted, &counts.bad_rows, &counts.bad_times})
            *n = in.varint();
        std::size_t const records = in.count(9 + 8 * factors());
        if (!in.ok()) return in.reason();
        if (counts.evicted > counts.added || counts.added - counts.evicted != records) return status::corrupt;
        if (records > capacity()) return status::out_of_range;
        read.tree_.make_room(records);
        std::uint64_t next = 0;
        for (std::size_t i = 0; i < records; ++i) {
            std::uint64_t const skipped = in.varint();
            bool good = in.ok() && next < counts.added && skipped < counts.added - next;
            for (double& x : read.row_) {
                x = in.real();
                good = good && is_factor_value(x);
                x = detail::encode_factor(x);
            }
            double const time = in.real();
            if (!in.expect(good && is_time(time))) return in.reason();
            read.tree_.append(read.row_, time, next + skipped);
            next += skipped + 1;
        }
        if (status const s = in.finish(); s != status::ok) return s;
        read.arrange();
        read.update_ranges();
        *this = std::move(read);
        return status::ok;
    }

    /// Forgets all records and counts, but keeps the memory.
    void clear() noexcept {
        tree_.clear();
        counts_ = {};
        update_ranges();
    }

  private:
    static constexpr std::uint32_t frame = frame_kind("prof");
    static constexpr std::uint32_t version = 1;

    [[nodiscard]] static profile_store_options checked(profile_store_options const& how) {
        STRAGGLE_EXPECTS(how.capacity >= 1 && how.capacity <= std::size_t{1} << 31);
        return how;
    }
    [[nodiscard]] bool is_query(std::span<double const> row, std::span<double const> weights,
                                double within) const {
        STRAGGLE_EXPECTS(row.size() == factors() && weights.size() == factors());
        for (std::size_t f = 0; f < row.size(); ++f)
            if (!is_factor_value(row[f]) || !(weights[f] >= 0) || !detail::is_finite(weights[f]))
                return false;
        return !detail::is_nan(within) && within >= 0;
    }
    [[nodiscard]] static bool is_time(double time) noexcept { return time >= 0 && detail::is_finite(time); }
    [[nodiscard]] double known_value(std::size_t slot, std::size_t k) const noexcept {
        double const x = tree_.value(slot, k);
        return x == detail::encoded_missing ? missing_factor : x;
    }
    [[nodiscard]] profile_record read(std::size_t slot, std::span<double> row) const noexcept {
        for (std::size_t k = 0; k < factors(); ++k) row[k] = known_value(slot, k);
        return {tree_.time(slot), tree_.number(slot)};
    }

    template <class Choose>
    status add_if_good(std::span<double const> row, double time, Choose choose) {
        STRAGGLE_EXPECTS(row.size() == factors());
        for (double const x : row)
            if (!is_factor_value(x)) {
                ++counts_.bad_rows;
                return status::out_of_domain;
            }
        if (!is_time(time)) {
            ++counts_.bad_times;
            return status::out_of_domain;
        }
        tree_.make_room(1);
        if (size() == capacity()) {
            tree_.evict(choose());
            ++counts_.evicted;
        }
        for (std::size_t k = 0; k < factors(); ++k) row_[k] = detail::encode_factor(row[k]);
        tree_.append(row_, time, counts_.added++);
        tree_.tidy();
        update_ranges();
        return status::ok;
    }

    void update_ranges() noexcept {
        for (std::size_t k = 0; k < factors(); ++k) {
            double const range = kinds()[k] == factor_kind::numeric ? tree_.range(k) : 1.0;
            if (range == ranges_[k]) continue; // the usual case; saves a slow division
            ranges_[k] = range;
            per_range_[k] = detail::per_range_of(range);
        }
    }

    profile_store_options options_;
    detail::profile_tree tree_;
    std::vector<double> row_; // the row being added
    std::vector<double> ranges_;
    std::vector<double> per_range_; // 1 / range, or 0
    profile_counts counts_;
};

} // namespace straggle::predict
