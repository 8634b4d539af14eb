// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Gives each distinct identifier a small dense index in order of first appearance, so that everything after
/// the first look at a record works on plain arrays. Identifiers that are no longer needed can be erased; new
/// ones take over their places.
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

namespace straggle::inline STRAGGLE_ABI {

/// The type in which an identifier is kept: `std::string` for text, itself for everything else.
template <base::identifier T>
using owned_identifier_t = typename detail::owned_identifier<T>::type;

/// A table of distinct identifiers: insert gives the index, the index gives the identifier.
///
/// @tparam Id an `owned_identifier_t`
/// @par Cost
/// insert, find and erase O(1) expected (open addressing, linear probing, load at most 1/2, for
/// text 1/4; an erased identifier leaves no trace, so look-ups cost the same after any number of erasures);
/// 10 bytes per slot beside the identifiers, for text 9, where the hash is the user's 12. Text, integers and
/// enumerations chosen so that they collide cost O(log n): a table whose probes get long takes another key,
/// once per size, and what is still too long a way from home goes to an ordered index. Identifiers of other
/// types are as good as their `std::hash`. `clear` and `erase` keep all memory, that of strings too:
/// inserting others of the same lengths allocates nothing.
/// @par Guarantees
/// as long as nothing is erased, indices are 0, 1, 2... in order of first insertion, whatever
/// the hash; at most 2^31 identifiers; strong exception guarantee
template <base::identifier Id>
class interner {
  public:
    /// 0, 1, 2... in order of first insertion, then those of erased identifiers, last erased first.
    using index_type = std::uint32_t;
    /// What identifiers are looked up by: `std::string_view` for text.
    using key_type = typename detail::owned_identifier<Id>::key;

    /// What `find` returns for an identifier that is not there.
    static constexpr index_type none = (std::numeric_limits<index_type>::max)();

    /// Nothing in it.
    interner() = default;
    /// Nothing in it; identifiers are hashed with a key. With a secret one nobody can choose identifiers that
    /// collide. No index and no order depends on it.
    explicit interner(std::uint64_t key) noexcept : key_(key) {}
    /// Copies all identifiers with their indices.
    interner(interner const&) = default;
    /// Leaves the other one empty.
    interner(interner&& other) noexcept { swap(other); }
    /// Becomes a copy, or changes nothing should an allocation fail.
    interner& operator=(interner const& other) { return *this = interner(other); }
    /// Leaves the other one empty.
    interner& operator=(interner&& other) noexcept {
        interner taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~interner() = default;

    /// Exchanges all identifiers with another one.
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

    /// The index of `id`, which is added if new: with the index erased last and not yet given away again, or
    /// else with `bound()`.
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

    /// Forgets one identifier; its index goes to the next new one. The other indices stay.
    /// @pre `contains(index)`
    /// @par Cost
    /// O(1) expected, allocates and frees nothing
    /// @par Guarantees
    /// noexcept but for the contract, even where a hash or a comparison may throw
    void erase(index_type index) {
        STRAGGLE_EXPECTS(contains(index));
        unlink(index);
        state_[index] = free_ + erased;
        free_ = index;
        ++erased_;
    }

    /// Forgets all identifiers from an index on, as if they had never been inserted.
    /// @pre `size() == bound()`: the index of every erased identifier has been given to another
    /// @par Cost
    /// O(identifiers forgotten) expected, allocates and frees nothing
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
    /// @pre `size() == bound()`: the index of every erased identifier has been given to another
    [[nodiscard]] std::span<Id const> ids() const {
        STRAGGLE_EXPECTS(erased_ == 0);
        return {ids_.data(), bound_};
    }
    /// How many distinct identifiers there are.
    [[nodiscard]] std::size_t size() const noexcept { return bound_ - erased_; }
    /// Every index in use is below: the length of an array with a place for each. The most identifiers there
    /// have been at a time since the last `clear`; erasing does not lower it.
    [[nodiscard]] std::size_t bound() const noexcept { return bound_; }

    /// Forgets all identifiers and keeps the memory.
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

    // Slots per identifier, at least. More of them pay where comparing is dear.
    static constexpr std::size_t per_id = detail::text<Id> ? 4 : 2;
    // States of an index: in_use, or what `erased` added to the index erased before it, modulo 2^32, makes.
    static constexpr index_type in_use = 0, erased = 2;

    using identifiers = detail::owned_identifier<Id>;
    static constexpr bool is_ordered = identifiers::is_ordered;
    static constexpr bool remembers_hashes = identifiers::remembers_hashes;
    // Steps from home that are too many: among random hashes one in 10^8 identifiers takes as many.
    static constexpr std::size_t longest_run = detail::text<Id> ? 31 : 127;

    STRAGGLE_ALWAYS_INLINE std::uint32_t hash_of(key_type id) const { return hash_by(id, key_); }
    // The upper half: of the product that spreads numbers, the highest bits spread best.
    STRAGGLE_ALWAYS_INLINE static std::uint32_t hash_by(key_type id, std::uint64_t key) {
        return static_cast<std::uint32_t>(identifiers::hash(id, key) >> 32);
    }
    // The slot where identifiers with a hash belong. Its highest bits: numbers in a row, or at equal steps,
    // hardly ever share one (Knuth 1973, section 6.4, Fibonacci hashing).
    [[nodiscard]] std::size_t home_of(std::uint32_t hash) const noexcept { return hash >> shift_; }

    // How an identifier compares with that of an index.
    struct comparing {
        std::vector<Id> const& ids;
        key_type id;
        int operator()(index_type index) const noexcept { return identifiers::compare(id, ids[index]); }
    };

    // The hash of an identifier that is there, as far as slots know it: without asking anything that may
    // throw.
    [[nodiscard]] std::uint32_t known_hash(index_type index) const {
        if constexpr (remembers_hashes)
            return hashes_[index];
        else
            return hash_of(ids_[index]);
    }

    // Takes an identifier out of the slots.
    void unlink(index_type index) {
        std::size_t const mask = slots_.size() - 1;
        std::size_t hole = home_of(known_hash(index));
        for (std::size_t run = 0; slots_[hole].index != index; hole = (hole + 1) & mask)
            if (is_ordered && run++ == longest_run) return displaced_.erase(comparing{ids_, ids_[index]});
        // What was pushed past the hole moves back, as if the erased one had never been there.
        for (std::size_t i = (hole + 1) & mask; slots_[i].index != none; i = (i + 1) & mask) {
            std::size_t const pushed = (i - home_of(slots_[i].hash)) & mask;
            if (pushed >= ((i - hole) & mask)) {
                slots_[hole] = slots_[i];
                hole = i;
            }
        }
        slots_[hole].index = none;
    }

    // The index if the identifier is where nearly all are: in its first slot, text in one of the first two.
    // Which of these is reckoned without a branch: one that depends on the hash would often be taken by
    // surprise, and that would come out only after several trips to memory. A slot whose hash fits but that
    // is empty says `none`.
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE index_type glance(key_type id, std::uint32_t hash) const {
        slot const* const slots = slots_.data();
        std::size_t i = home_of(hash);
        if constexpr (detail::text<Id>)
            i = (i + static_cast<std::size_t>(slots[i].hash != hash)) & (slots_.size() - 1);
        slot const s = slots[i];
        return s.hash == hash && s.index != none && identifiers::same(ids_[s.index], id) ? s.index : none;
    }

    // The slot of an identifier, or the empty one where it would be; nothing if that is too long a way.
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

    // Apart, so that a loop of look-ups stays short. What is not seen at a glance: not near home, or new.
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

    // Where some are too long a way from home, or this one would be. @pre it is in none of the slots
    index_type insert_crowded(key_type id) {
        auto place = displaced_.descend(comparing{ids_, id});
        if (place.at != 0) return displaced_[place.at];
        std::size_t const size = slots_.size();
        if (per_id * (bound_ + 1) > size && free_ == none) rebuild(2 * size, key_);
        std::uint32_t hash = hash_of(id);
        slot* s = probe(id, hash);
        if (is_crowded(s, hash) && rekeyed_at_ != slots_.size()) {
            // Once per size, so that it costs no more than growing does.
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

    // Whether an identifier would be too long a way from home.
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

    // All identifiers into new slots.
    void rebuild(std::size_t size, std::uint64_t key) {
        // More slots than a slot's hash can tell apart would be of no use.
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

    std::vector<Id> ids_; // those below bound_ are alive or erased, the rest keep their memory for reuse
    std::vector<slot> slots_;
    // By index, the erased ones as a list. Half as long as slots_, so that erasing has nothing to allocate
    // and inserting nothing to write.
    std::vector<index_type> state_;
    std::vector<std::uint32_t> hashes_; // by index, where they are remembered
    detail::ordered_index displaced_;   // those too long a way from home
    std::uint64_t key_ = 0;
    std::size_t rekeyed_at_ = 0; // how many slots there were
    unsigned shift_ = 32;        // what is left of a hash says where it belongs
    std::size_t bound_ = 0;
    std::size_t erased_ = 0;
    index_type free_ = none;
};

} // namespace straggle
