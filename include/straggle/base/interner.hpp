// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Assigns each distinct identifier a small dense index in order of first appearance, so that everything
/// after the first lookup works on plain arrays. Identifiers that are no longer needed can be erased; new
/// ones reuse their indices.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/detail/ordered_index.hpp>
#include <straggle/base/detail/owned_identifier.hpp>
#include <straggle/base/detail/text_hash.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/base/size.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>
#ifdef STRAGGLE_COMPILED
#include <string>
#endif

namespace straggle::inline STRAGGLE_ABI {

/// The type that stores an identifier: `std::string` for text, the type itself otherwise.
template <base::identifier T>
using owned_identifier_t = typename detail::owned_identifier<T>::type;

/// A table of distinct identifiers: insert returns the index, operator[] the identifier.
///
/// @tparam Id an `owned_identifier_t`
/// @par Cost
/// insert, find and erase O(1) expected (open addressing, linear probing, load at most 1/2, for text 1/4; an
/// erased identifier leaves no trace, so lookups cost the same after any number of erasures); 10 bytes per
/// slot besides the identifiers, 9 for text, 12 with a user's hash. Text, integers and enumerations chosen to
/// collide cost O(log n): a table with long probes changes its key, once per size, and identifiers still too
/// far from home go to an ordered index. For other types, the quality of `std::hash` decides. `clear` and
/// `erase` keep all memory, including that of strings: inserting others of the same lengths allocates
/// nothing.
/// @par Guarantees
/// as long as nothing is erased, indices are 0, 1, 2... in order of first insertion, independent of the hash;
/// at most 2^31 identifiers; strong exception guarantee
template <base::identifier Id>
class interner {
  public:
    /// 0, 1, 2... in order of first insertion, then those of erased identifiers, last erased first.
    using index_type = std::uint32_t;
    /// The type of lookup keys: `std::string_view` for text.
    using key_type = typename detail::owned_identifier<Id>::key;

    /// Returned by `find` for an unknown identifier.
    static constexpr index_type none = (std::numeric_limits<index_type>::max)();

    /// Creates an empty table.
    interner() = default;
    /// Creates an empty table that hashes identifiers with a key. With a secret key, attackers cannot choose
    /// identifiers that collide. No index and no order depends on the key.
    explicit interner(std::uint64_t key) noexcept : key_(key) {}
    /// Copies all identifiers with their indices.
    interner(interner const&) = default;
    /// Leaves the source empty.
    interner(interner&& other) noexcept { swap(other); }
    /// Copies the other table, or changes nothing if an allocation fails.
    interner& operator=(interner const& other) { return *this = interner(other); }
    /// Leaves the source empty.
    interner& operator=(interner&& other) noexcept {
        interner taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~interner() = default;

    /// Exchanges all identifiers with another table.
    void swap(interner& other) noexcept {
        ids_.swap(other.ids_);
        slots_.swap(other.slots_);
        state_.swap(other.state_);
        hashes_.swap(other.hashes_);
        displaced_.swap(other.displaced_);
        std::swap(key_, other.key_);
        std::swap(rekeyed_at_, other.rekeyed_at_);
        std::swap(shift_, other.shift_);
        std::swap(bound_, other.bound_);
        std::swap(erased_, other.erased_);
        std::swap(free_, other.free_);
    }

    /// The index of `id`, which is added if new: with the most recently erased index that is still unused,
    /// otherwise with `bound()`.
    index_type insert(key_type id) {
        std::uint32_t const hash = hash_of(id);
        if (!slots_.empty()) [[likely]]
            if (index_type const known = glance(id, hash); known != none) [[likely]]
                return known;
        return insert_further(id, hash);
    }

    /// The index of `id`, or `none`.
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE index_type find(key_type id) const {
        if (slots_.empty()) [[unlikely]]
            return none;
        std::uint32_t const hash = hash_of(id);
        if (index_type const known = glance(id, hash); known != none) [[likely]]
            return known;
        return further(id, hash);
    }

    /// Erases one identifier; its index goes to the next new one. Other indices stay.
    /// @pre `contains(index)`
    /// @par Cost
    /// O(1) expected, allocates and frees nothing
    /// @par Guarantees
    /// noexcept except for the contract, even if a hash or a comparison may throw
    void erase(index_type index) {
        STRAGGLE_EXPECTS(contains(index));
        unlink(index);
        state_[index] = free_ + erased;
        free_ = index;
        ++erased_;
    }

    /// Calls `visit(index)` for every erased index, in the order in which new identifiers get them.
    template <class Visit>
    void for_each_erased(Visit&& visit) const {
        for (index_type at = free_; at != none; at = state_[at] - erased) visit(at);
    }

    /// Erases all identifiers from an index on, as if they had never been inserted.
    /// @pre `size() == bound()`: every erased index has been reused
    /// @par Cost
    /// O(identifiers erased) expected, allocates and frees nothing
    void truncate(std::size_t size) {
        STRAGGLE_EXPECTS(erased_ == 0);
        while (bound_ > size) {
            unlink(static_cast<index_type>(bound_ - 1));
            --bound_;
        }
    }

    /// Whether an identifier has this index.
    [[nodiscard]] bool contains(index_type index) const noexcept {
        return index < bound_ && (erased_ == 0 || state_[index] == in_use);
    }

    /// The identifier with an index. @pre `contains(index)`
    [[nodiscard]] Id const& operator[](index_type index) const {
        STRAGGLE_EXPECTS(contains(index));
        return ids_[index];
    }

    /// All identifiers by index: in order of first insertion if none was ever erased.
    /// @pre `size() == bound()`: every erased index has been reused
    [[nodiscard]] std::span<Id const> ids() const {
        STRAGGLE_EXPECTS(erased_ == 0);
        return {ids_.data(), bound_};
    }
    /// Number of distinct identifiers.
    [[nodiscard]] std::size_t size() const noexcept { return bound_ - erased_; }
    /// Every index in use is below this: the length of an array with an entry for each. The maximum number of
    /// identifiers since the last `clear`; erasing does not lower it.
    [[nodiscard]] std::size_t bound() const noexcept { return bound_; }

    /// Erases all identifiers but keeps the memory.
    void clear() noexcept {
        for (slot& s : slots_) s.index = none;
        displaced_.clear();
        if (erased_ != 0)
            for (index_type& s : state_) s = in_use;
        bound_ = 0;
        erased_ = 0;
        free_ = none;
    }

  private:
    struct slot {
        std::uint32_t hash = 0;
        index_type index = none;
    };

    // Minimum number of slots per identifier. More of them pay if comparisons are expensive.
    static constexpr std::size_t per_id = detail::text<Id> ? 4 : 2;
    // States of an index: in_use, or `erased` plus the index erased before it, modulo 2^32.
    static constexpr index_type in_use = 0, erased = 2;

    using identifiers = detail::owned_identifier<Id>;
    static constexpr bool is_ordered = identifiers::is_ordered;
    static constexpr bool remembers_hashes = identifiers::remembers_hashes;
    // Longest tolerated distance from home: with random hashes, one in 10^8 identifiers exceeds it.
    static constexpr std::size_t longest_run = detail::text<Id> ? 31 : 127;

    STRAGGLE_ALWAYS_INLINE std::uint32_t hash_of(key_type id) const { return hash_by(id, key_); }
    // The upper half: the highest bits of the product that spreads numbers are the best mixed.
    STRAGGLE_ALWAYS_INLINE static std::uint32_t hash_by(key_type id, std::uint64_t key) {
        return static_cast<std::uint32_t>(identifiers::hash(id, key) >> 32);
    }
    // The home slot of a hash. Uses its highest bits: consecutive numbers, or equal steps, hardly ever share
    // one (Knuth 1973, section 6.4, Fibonacci hashing).
    [[nodiscard]] std::size_t home_of(std::uint32_t hash) const noexcept { return hash >> shift_; }

    // Compares an identifier with that of an index.
    struct comparing {
        std::vector<Id> const& ids;
        key_type id;
        int operator()(index_type index) const noexcept { return identifiers::compare(id, ids[index]); }
    };

    // The hash of a stored identifier, as far as slots keep it: calls nothing that may throw.
    [[nodiscard]] std::uint32_t known_hash(index_type index) const {
        if constexpr (remembers_hashes)
            return hashes_[index];
        else
            return hash_of(ids_[index]);
    }

    // Removes an identifier from the slots.
    void unlink(index_type index) {
        std::size_t const mask = slots_.size() - 1;
        std::size_t hole = home_of(known_hash(index));
        for (std::size_t run = 0; slots_[hole].index != index; hole = (hole + 1) & mask)
            if (is_ordered && run++ == longest_run) return displaced_.erase(comparing{ids_, ids_[index]});
        // Entries pushed past the hole move back, as if the erased one had never existed.
        for (std::size_t i = (hole + 1) & mask; slots_[i].index != none; i = (i + 1) & mask) {
            std::size_t const pushed = (i - home_of(slots_[i].hash)) & mask;
            if (pushed >= ((i - hole) & mask)) {
                slots_[hole] = slots_[i];
                hole = i;
            }
        }
        slots_[hole].index = none;
    }

    // The index if the identifier is where nearly all are: in its first slot, for text in one of the first
    // two. Chooses between these without a branch: one that depends on the hash is often mispredicted, and
    // that would be noticed only after several memory accesses. A slot whose hash matches but that is empty
    // returns `none`.
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE index_type glance(key_type id, std::uint32_t hash) const {
        slot const* const slots = slots_.data();
        std::size_t i = home_of(hash);
        if constexpr (detail::text<Id>)
            i = (i + static_cast<std::size_t>(slots[i].hash != hash)) & (slots_.size() - 1);
        slot const s = slots[i];
        return s.hash == hash && s.index != none && identifiers::same(ids_[s.index], id) ? s.index : none;
    }

    // The slot of an identifier, or the empty one for it; null if it is too far from home.
    slot* probe(key_type id, std::uint32_t hash) {
        slot* const slots = slots_.data();
        std::size_t const mask = slots_.size() - 1;
        for (std::size_t i = home_of(hash), run = 0;; i = (i + 1) & mask) {
            slot& s = slots[i];
            if (s.index == none || (s.hash == hash && identifiers::same(ids_[s.index], id))) return &s;
            if (is_ordered && run++ == longest_run) return nullptr;
        }
    }

    // The index, wherever the identifier is.
    [[nodiscard]] STRAGGLE_NEVER_INLINE index_type further(key_type id, std::uint32_t hash) const {
        slot const* const s = const_cast<interner*>(this)->probe(id, hash);
        if (s != nullptr && s->index != none) return s->index;
        if constexpr (is_ordered)
            if (!displaced_.empty()) [[unlikely]]
                return displaced_.find(comparing{ids_, id});
        return none;
    }

    // Separate, so that a loop of lookups stays short. For identifiers away from home, or new.
    STRAGGLE_NEVER_INLINE index_type insert_further(key_type id, std::uint32_t hash) {
        slot* s = slots_.empty() ? nullptr : probe(id, hash);
        if (s != nullptr && s->index != none) return s->index;
        bool const is_full = per_id * (bound_ + 1) > slots_.size() && free_ == none;
        if (!displaced_.empty() || (s == nullptr && !is_full)) [[unlikely]]
            return insert_crowded(id);
        if (is_full) {
            rebuild(slots_.empty() ? 16 : 2 * slots_.size(), key_);
            s = probe(id, hash);
        }
        if (is_crowded(s, hash)) [[unlikely]]
            return insert_crowded(id);
        index_type const index = add(id);
        *s = slot{hash, index};
        if constexpr (remembers_hashes) hashes_[index] = hash;
        return index;
    }

    // For when some are too far from home, or this one would be. @pre it is in none of the slots
    index_type insert_crowded(key_type id) {
        auto place = displaced_.descend(comparing{ids_, id});
        if (place.at != 0) return displaced_[place.at];
        std::size_t const size = slots_.size();
        if (per_id * (bound_ + 1) > size && free_ == none) rebuild(2 * size, key_);
        std::uint32_t hash = hash_of(id);
        slot* s = probe(id, hash);
        if (is_crowded(s, hash) && rekeyed_at_ != slots_.size()) {
            // Once per size, so that it costs no more than growing.
            rebuild(slots_.size(), detail::spread(key_ + 0x9E3779B97F4A7C15u));
            rekeyed_at_ = slots_.size();
            hash = hash_of(id);
            s = probe(id, hash);
            place = displaced_.descend(comparing{ids_, id});
        } else if (s == nullptr && slots_.size() != size) {
            place = displaced_.descend(comparing{ids_, id});
        }
        if (s == nullptr) displaced_.make_room();
        index_type const index = add(id);
        if (s != nullptr)
            *s = slot{hash, index};
        else
            displaced_.attach(place, index);
        return index;
    }

    // Whether an identifier would be too far from home.
    [[nodiscard]] bool is_crowded(slot const* s, std::uint32_t hash) const noexcept {
        if (s == nullptr) return true;
        std::size_t const at = static_cast<std::size_t>(s - slots_.data());
        return ((at - home_of(hash)) & (slots_.size() - 1)) > longest_run;
    }

    index_type add(key_type id) {
        if (free_ != none) return add_in_place(id);
        if (bound_ < ids_.size())
            ids_[bound_] = id;
        else
            ids_.emplace_back(id);
        return static_cast<index_type>(bound_++);
    }

    index_type add_in_place(key_type id) {
        index_type const index = free_;
        ids_[index] = id;
        free_ = state_[index] - erased;
        state_[index] = in_use;
        --erased_;
        return index;
    }

    // Moves all identifiers into new slots.
    void rebuild(std::size_t size, std::uint64_t key) {
        // More slots than a slot's hash can address would be useless.
        STRAGGLE_EXPECTS(((size - 1) >> 31 >> 1) == 0);
        std::vector<slot> slots(size);
        std::vector<index_type> states(size / per_id, in_use);
        std::vector<std::uint32_t> hashes(remembers_hashes ? size / per_id : 0);
        decltype(displaced_) displaced;
        std::size_t const mask = size - 1;
        unsigned const shift = 33 - static_cast<unsigned>(std::bit_width(size));
        for (index_type k = 0; k < bound_; ++k) {
            if (!contains(k)) {
                states[k] = state_[k];
                continue;
            }
            std::uint32_t const hash = hash_by(ids_[k], key);
            if constexpr (remembers_hashes) hashes[k] = hash;
            std::size_t i = std::size_t{hash} >> shift, run = 0;
            while (slots[i].index != none && (!is_ordered || run <= longest_run)) {
                i = (i + 1) & mask;
                ++run;
            }
            if (is_ordered && run > longest_run) {
                displaced.make_room();
                displaced.attach(displaced.descend(comparing{ids_, ids_[k]}), k);
            } else {
                slots[i] = slot{hash, k};
            }
        }
        slots_.swap(slots);
        state_.swap(states);
        hashes_.swap(hashes);
        displaced_.swap(displaced);
        key_ = key;
        shift_ = shift;
    }

    std::vector<Id> ids_; // those below bound_ are alive or erased; the rest is memory kept for reuse
    std::vector<slot> slots_;
    // By index, the erased ones as a list. Half as long as slots_, so that erasing never allocates and
    // inserting writes nothing.
    std::vector<index_type> state_;
    std::vector<std::uint32_t> hashes_; // by index, if stored
    detail::ordered_index displaced_;   // those too far from home
    std::uint64_t key_ = 0;
    std::size_t rekeyed_at_ = 0; // number of slots at the last change of key
    unsigned shift_ = 32;        // the remaining bits of a hash give its home slot
    std::size_t bound_ = 0;
    std::size_t erased_ = 0;
    index_type free_ = none;
};

#ifdef STRAGGLE_COMPILED
extern template class interner<std::string>;
#endif

} // namespace straggle
