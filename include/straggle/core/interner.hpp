// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Gives each distinct identifier a small dense index in order of first appearance, so that everything after
/// the first look at a record works on plain arrays. Identifiers that are no longer needed can be erased; who
/// comes next takes over their places.
#pragma once

#include <straggle/core/contract.hpp>
#include <straggle/core/field.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace straggle {

namespace detail {

// Text is owned as std::string whatever view of it a projection yields: the records may go away.
template <class T>
struct owned_identifier {
    using type = T;
    using key = T const&;
};
template <text T>
struct owned_identifier<T> {
    using type = std::string;
    using key = std::string_view;
};

} // namespace detail

namespace detail {

// Spreads a hash over all bits: std::hash is the identity for integers in common libraries.
constexpr std::uint64_t spread(std::uint64_t h) noexcept {
    h = (h ^ (h >> 32)) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
}

// Eight bytes at a time; the one of the standard library costs as much as the rest of a look-up.
inline std::uint64_t hash_text(std::string_view text) noexcept {
    constexpr std::size_t step = sizeof(std::uint64_t);
    std::uint64_t h = text.size() * 0xD6E8FEB86659FD93u;
    auto const take = [&h](char const* p, std::size_t bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, bytes);
        h = (h ^ word) * 0xA0761D6478BD642Fu;
        h ^= (h >> 29) ^ (h >> 47); // other distances than those of spread: the same would undo each other
    };
    char const* p = text.data();
    std::size_t left = text.size();
    for (; left > step; p += step, left -= step) take(p, step);
    if (text.size() >= step)
        take(p + left - step, step); // overlaps what was taken before
    else if (left != 0)
        take(p, left);
    return spread(h);
}

} // namespace detail

/// The type in which an identifier is kept: `std::string` for text, itself for everything else.
template <identifier T>
using owned_identifier_t = typename detail::owned_identifier<T>::type;

/// A table of distinct identifiers: insert gives the index, the index gives the identifier.
///
/// @tparam Id an `owned_identifier_t`
/// @par Cost insert, find and erase O(1) expected (open addressing, linear probing, load at most 1/2; an
/// erased identifier leaves no trace, so look-ups cost the same after any number of erasures); 10 bytes per
/// slot beside the identifiers. `clear` and `erase` keep all memory, that of strings too: inserting others of
/// the same lengths allocates nothing.
/// @par Guarantees as long as nothing is erased, indices are 0, 1, 2... in order of first insertion, whatever
/// the hash; at most 2^31 identifiers; strong exception guarantee
template <identifier Id>
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
    /// Copies all identifiers with their indices.
    interner(interner const&) = default;
    /// Leaves the other one to be assigned to or destroyed.
    interner(interner&&) noexcept = default;
    /// Becomes a copy, or changes nothing should an allocation fail.
    interner& operator=(interner const& other) { return *this = interner(other); }
    /// Leaves the other one to be assigned to or destroyed.
    interner& operator=(interner&&) noexcept = default;
    ~interner() = default;

    /// The index of `id`, which is added if new: with the index erased last and not yet given away again, or
    /// else with `bound()`.
    index_type insert(key_type id) {
        if (2 * (bound_ + 1) > slots_.size() && free_ == none) grow();
        std::uint64_t const hash = hash_of(id);
        slot& s = probe(id, hash);
        if (s.index == none) s = slot{static_cast<std::uint32_t>(hash), add(id)};
        return s.index;
    }

    /// The index of `id`, or `none`.
    [[nodiscard]] index_type find(key_type id) const {
        return bound_ == 0 ? none : const_cast<interner*>(this)->probe(id, hash_of(id)).index;
    }

    /// Forgets one identifier; its index goes to the next new one. The other indices stay.
    /// @pre `contains(index)`
    /// @par Cost O(1) expected, allocates and frees nothing
    /// @par Guarantees noexcept but for the contract (and a `std::hash` that throws: then nothing changes)
    void erase(index_type index) {
        STRAGGLE_EXPECTS(contains(index));
        unlink(index);
        state_[index] = free_ + erased;
        free_ = index;
        ++erased_;
    }

    /// Forgets all identifiers from an index on, as if they had never been inserted.
    /// @pre `size() == bound()`: the index of every erased identifier has been given to another
    /// @par Cost O(identifiers forgotten) expected, allocates and frees nothing
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

    // States of an index: in_use, or what `erased` added to the index erased before it, modulo 2^32, makes.
    static constexpr index_type in_use = 0, erased = 2;

    static std::uint64_t hash_of(key_type id) {
        if constexpr (detail::text<Id>)
            return detail::hash_text(id);
        else
            return detail::spread(std::hash<Id>{}(id));
    }

    // Takes an identifier out of the slots.
    void unlink(index_type index) {
        std::size_t const mask = slots_.size() - 1;
        std::size_t hole = static_cast<std::size_t>(hash_of(ids_[index])) & mask;
        while (slots_[hole].index != index) hole = (hole + 1) & mask;
        // What was pushed past the hole moves back, as if the erased one had never been there.
        for (std::size_t i = (hole + 1) & mask; slots_[i].index != none; i = (i + 1) & mask) {
            std::size_t const pushed = (i - slots_[i].hash) & mask;
            if (pushed >= ((i - hole) & mask)) {
                slots_[hole] = slots_[i];
                hole = i;
            }
        }
        slots_[hole].index = none;
    }

    slot& probe(key_type id, std::uint64_t hash) {
        std::size_t const mask = slots_.size() - 1;
        for (std::size_t i = static_cast<std::size_t>(hash) & mask;; i = (i + 1) & mask) {
            slot& s = slots_[i];
            if (s.index == none || (s.hash == static_cast<std::uint32_t>(hash) && ids_[s.index] == id))
                return s;
        }
    }

    index_type add(key_type id) {
        if (free_ != none) return add_in_place(id);
        if (bound_ < ids_.size())
            ids_[bound_] = id;
        else
            ids_.emplace_back(id);
        return static_cast<index_type>(bound_++);
    }

    // Apart, so that a loop of look-ups keeps its registers.
    STRAGGLE_NEVER_INLINE index_type add_in_place(key_type id) {
        index_type const index = free_;
        ids_[index] = id;
        free_ = state_[index] - erased;
        state_[index] = in_use;
        --erased_;
        return index;
    }

    // Only when no index is free: all below bound_ are in use.
    void grow() {
        // More slots than a slot's hash can tell apart would be of no use.
        STRAGGLE_EXPECTS(slots_.size() <= (std::size_t{1} << 31));
        std::vector<slot> bigger(slots_.empty() ? 16 : 2 * slots_.size());
        std::vector<index_type> states(bigger.size() / 2, in_use);
        std::size_t const mask = bigger.size() - 1;
        for (std::size_t k = 0; k < bound_; ++k) {
            std::uint64_t const hash = hash_of(ids_[k]);
            std::size_t i = static_cast<std::size_t>(hash) & mask;
            while (bigger[i].index != none) i = (i + 1) & mask;
            bigger[i] = slot{static_cast<std::uint32_t>(hash), static_cast<index_type>(k)};
        }
        slots_.swap(bigger);
        state_.swap(states);
    }

    std::vector<Id> ids_; // those below bound_ are alive or erased, the rest keep their memory for reuse
    std::vector<slot> slots_;
    // By index, the erased ones as a list. Half as long as slots_, so that erasing has nothing to allocate
    // and inserting nothing to write.
    std::vector<index_type> state_;
    std::size_t bound_ = 0;
    std::size_t erased_ = 0;
    index_type free_ = none;
};

} // namespace straggle
