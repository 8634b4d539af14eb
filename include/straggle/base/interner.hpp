// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Gives each distinct identifier a small dense index in order of first appearance, so that everything after
/// the first look at a record works on plain arrays. Identifiers that are no longer needed can be erased; who
/// comes next takes over their places.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/projection.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

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

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::detail {

// Spreads a hash over all bits: std::hash is the identity for integers in common libraries.
constexpr std::uint64_t spread(std::uint64_t h) noexcept {
    h = (h ^ (h >> 32)) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
}

template <class Word>
STRAGGLE_ALWAYS_INLINE std::uint64_t load_word(char const* p) noexcept {
    Word word;
    std::memcpy(&word, p, sizeof word);
    return word;
}

// Both halves of a product.
STRAGGLE_ALWAYS_INLINE std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
#if STRAGGLE_HAS_INT128
    __extension__ typedef unsigned __int128 wide;
    wide const product = wide{a} * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
    std::uint64_t const cross = (a >> 32) * (b & 0xffffffffu) + (a & 0xffffffffu) * (b >> 32);
    return (a * b) ^ ((a >> 32) * (b >> 32)) ^ ((cross << 32) | (cross >> 32));
#endif
}

// Sixteen bytes at a time, the last ones overlapping those before: what is left over costs no loop. The one
// of the standard library costs as much as the rest of a look-up.
STRAGGLE_ALWAYS_INLINE std::uint64_t hash_text(std::string_view text) noexcept {
    using word = std::uint64_t;
    constexpr word k0 = 0xA0761D6478BD642Fu, k1 = 0xE7037ED1A0B428DBu;
    constexpr word k2 = 0x8EBC6AF09C88C6E3u, k3 = 0x589965CC75374CC3u;
    char const* p = text.data();
    std::size_t left = text.size();
    word h = left;
    if (left > 16) {
        for (; left > 32; p += 16, left -= 16)
            h = folded_product(load_word<word>(p) ^ k2 ^ h, load_word<word>(p + 8) ^ k3);
        char const* const last = p + left - 16;
        h = folded_product(load_word<word>(p) ^ k0 ^ h, load_word<word>(p + 8) ^ k1) ^
            folded_product(load_word<word>(last) ^ k2, load_word<word>(last + 8) ^ k3);
    } else if (left >= 8) {
        h = folded_product(load_word<word>(p) ^ k0 ^ h, load_word<word>(p + left - 8) ^ k1);
    } else if (left >= 4) {
        h = folded_product(load_word<std::uint32_t>(p) ^ k0 ^ h, load_word<std::uint32_t>(p + left - 4) ^ k1);
    } else if (left != 0) {
        word const bytes = load_word<std::uint8_t>(p) | (load_word<std::uint8_t>(p + left / 2) << 8) |
                           (load_word<std::uint8_t>(p + left - 1) << 16);
        h = folded_product(bytes ^ k0 ^ h, k1);
    }
    return h ^ (h >> 32);
}

// Whether two texts are the same: short ones by words that overlap, with no call and no loop.
STRAGGLE_ALWAYS_INLINE bool same_text(std::string_view a, std::string_view b) noexcept {
    using word = std::uint64_t;
    std::size_t const size = a.size();
    if (size != b.size()) return false;
    char const *const p = a.data(), *const q = b.data();
    auto const differ = [p, q]<class Word>(Word, std::size_t at) {
        return load_word<Word>(p + at) ^ load_word<Word>(q + at);
    };
    if (size > 32) return std::memcmp(p, q, size) == 0;
    if (size > 16)
        return (differ(word{}, 0) | differ(word{}, 8) | differ(word{}, size - 16) |
                differ(word{}, size - 8)) == 0;
    if (size >= 8) return (differ(word{}, 0) | differ(word{}, size - 8)) == 0;
    if (size >= 4) return (differ(std::uint32_t{}, 0) | differ(std::uint32_t{}, size - 4)) == 0;
    if (size == 0) return true;
    return (differ(std::uint8_t{}, 0) | differ(std::uint8_t{}, size / 2) |
            differ(std::uint8_t{}, size - 1)) == 0;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// The type in which an identifier is kept: `std::string` for text, itself for everything else.
template <base::identifier T>
using owned_identifier_t = typename detail::owned_identifier<T>::type;

/// A table of distinct identifiers: insert gives the index, the index gives the identifier.
///
/// @tparam Id an `owned_identifier_t`
/// @par Cost insert, find and erase O(1) expected (open addressing, linear probing, load at most 1/2, for
/// text 1/4; an erased identifier leaves no trace, so look-ups cost the same after any number of erasures);
/// 10 bytes per slot beside the identifiers, for text 9. The hash has no secret: who may choose identifiers
/// freely can choose some that collide. `clear` and `erase` keep all memory, that of strings too: inserting
/// others of the same lengths allocates nothing.
/// @par Guarantees as long as nothing is erased, indices are 0, 1, 2... in order of first insertion, whatever
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
        std::uint64_t const hash = hash_of(id);
        if (!slots_.empty()) [[likely]]
            if (index_type const known = glance(id, hash); known != none) [[likely]]
                return known;
        return insert_further(id, hash);
    }

    /// The index of `id`, or `none`.
    [[nodiscard]] index_type find(key_type id) const {
        if (bound_ == 0) return none;
        std::uint64_t const hash = hash_of(id);
        if constexpr (detail::text<Id>)
            if (index_type const known = glance(id, hash); known != none) return known;
        return const_cast<interner*>(this)->probe(id, hash).index;
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

    // Slots per identifier, at least. More of them pay where comparing is dear.
    static constexpr std::size_t per_id = detail::text<Id> ? 4 : 2;
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

    static bool same(Id const& a, key_type b) {
        if constexpr (detail::text<Id>)
            return detail::same_text(a, b);
        else
            return a == b;
    }

    // The index if the identifier is in one of the first two slots where it may be, as nearly all are. Which
    // of them is reckoned without a branch: one that depends on the hash would often be taken by surprise,
    // and that would come out only after several trips to memory. A slot whose hash fits but that is empty
    // says `none`.
    [[nodiscard]] index_type glance(key_type id, std::uint64_t hash) const {
        if constexpr (!detail::text<Id>) return const_cast<interner*>(this)->probe(id, hash).index;
        slot const* const slots = slots_.data();
        std::size_t const mask = slots_.size() - 1;
        std::uint32_t const tag = static_cast<std::uint32_t>(hash);
        std::size_t i = static_cast<std::size_t>(hash) & mask;
        i = (i + static_cast<std::size_t>(slots[i].hash != tag)) & mask;
        slot const s = slots[i];
        return s.hash == tag && s.index != none && same(ids_[s.index], id) ? s.index : none;
    }

    slot& probe(key_type id, std::uint64_t hash) {
        slot* const slots = slots_.data();
        std::size_t const mask = slots_.size() - 1;
        for (std::size_t i = static_cast<std::size_t>(hash) & mask;; i = (i + 1) & mask) {
            slot& s = slots[i];
            if (s.index == none || (s.hash == static_cast<std::uint32_t>(hash) && same(ids_[s.index], id)))
                return s;
        }
    }

    // Apart, so that a loop of look-ups stays short. What is not seen at a glance: far from home, or new.
    STRAGGLE_NEVER_INLINE index_type insert_further(key_type id, std::uint64_t hash) {
        if constexpr (detail::text<Id>) // for others a glance sees it all
            if (!slots_.empty())
                if (index_type const known = probe(id, hash).index; known != none) return known;
        if (per_id * (bound_ + 1) > slots_.size() && free_ == none) grow();
        slot& s = probe(id, hash);
        index_type const index = add(id);
        s = slot{static_cast<std::uint32_t>(hash), index};
        return index;
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

    // Only when no index is free: all below bound_ are in use.
    void grow() {
        // More slots than a slot's hash can tell apart would be of no use.
        STRAGGLE_EXPECTS(slots_.size() <= (std::size_t{1} << 31));
        std::vector<slot> bigger(slots_.empty() ? 16 : 2 * slots_.size());
        std::vector<index_type> states(bigger.size() / per_id, in_use);
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
