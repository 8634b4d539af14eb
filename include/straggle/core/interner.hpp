// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Gives each distinct identifier a small dense index in order of first appearance, so that everything after
/// the first look at a record works on plain arrays.
#pragma once

#include <straggle/core/contract.hpp>
#include <straggle/core/field.hpp>

#include <cstring>
#include <limits>
#include <span>
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
/// @par Cost insert and find O(1) expected (open addressing, linear probing, load at most 1/2); 8 bytes per
/// slot beside the identifiers. `clear` keeps all memory, that of strings too: refilling with identifiers of
/// the same lengths allocates nothing.
/// @par Guarantees indices are 0, 1, 2... in order of first insertion, whatever the hash; at most 2^32 - 2
/// identifiers; strong exception guarantee
template <identifier Id>
class interner {
  public:
    /// 0, 1, 2... in order of first insertion.
    using index_type = std::uint32_t;
    /// What identifiers are looked up by: `std::string_view` for text.
    using key_type = typename detail::owned_identifier<Id>::key;

    /// What `find` returns for an identifier that is not there.
    static constexpr index_type none = (std::numeric_limits<index_type>::max)();

    /// The index of `id`, which is added if new.
    index_type insert(key_type id) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        std::uint64_t const hash = hash_of(id);
        slot& s = probe(id, hash);
        if (s.index == none) {
            STRAGGLE_EXPECTS(size_ < none - 1);
            if (size_ < ids_.size())
                ids_[size_] = id;
            else
                ids_.emplace_back(id);
            s = slot{static_cast<std::uint32_t>(hash), static_cast<index_type>(size_)};
            ++size_;
        }
        return s.index;
    }

    /// The index of `id`, or `none`.
    [[nodiscard]] index_type find(key_type id) const {
        return size_ == 0 ? none : const_cast<interner*>(this)->probe(id, hash_of(id)).index;
    }

    /// The identifier with an index. @pre `index < size()`
    [[nodiscard]] Id const& operator[](index_type index) const {
        STRAGGLE_EXPECTS(index < size_);
        return ids_[index];
    }

    /// All identifiers, in order of first insertion.
    [[nodiscard]] std::span<Id const> ids() const noexcept { return {ids_.data(), size_}; }
    /// How many distinct identifiers there are.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Forgets all identifiers and keeps the memory.
    void clear() noexcept {
        for (slot& s : slots_) s.index = none;
        size_ = 0;
    }

  private:
    struct slot {
        std::uint32_t hash = 0;
        index_type index = none;
    };

    static std::uint64_t hash_of(key_type id) {
        if constexpr (detail::text<Id>)
            return detail::hash_text(id);
        else
            return detail::spread(std::hash<Id>{}(id));
    }

    slot& probe(key_type id, std::uint64_t hash) {
        std::size_t const mask = slots_.size() - 1;
        for (std::size_t i = static_cast<std::size_t>(hash) & mask;; i = (i + 1) & mask) {
            slot& s = slots_[i];
            if (s.index == none || (s.hash == static_cast<std::uint32_t>(hash) && ids_[s.index] == id))
                return s;
        }
    }

    void grow() {
        std::vector<slot> bigger(slots_.empty() ? 16 : 2 * slots_.size());
        std::size_t const mask = bigger.size() - 1;
        for (std::size_t k = 0; k < size_; ++k) {
            std::uint64_t const hash = hash_of(ids_[k]);
            std::size_t i = static_cast<std::size_t>(hash) & mask;
            while (bigger[i].index != none) i = (i + 1) & mask;
            bigger[i] = slot{static_cast<std::uint32_t>(hash), static_cast<index_type>(k)};
        }
        slots_.swap(bigger);
    }

    std::vector<Id> ids_; // the first size_ are alive, the rest keep their memory for reuse
    std::vector<slot> slots_;
    std::size_t size_ = 0;
};

} // namespace straggle
