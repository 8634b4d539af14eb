// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `blacklist/dynamic_blacklist.hpp` and `mitigate/mitigator.hpp`: maps the user's names to
/// small numbers that stay the same until they are forgotten, even across a restart, with the time each was
/// last seen and a limit on their number.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/no_index.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>
#ifdef STRAGGLE_COMPILED
#include <string>
#endif

namespace straggle::inline STRAGGLE_ABI::detail {

// Maps names to indices. An index is reused only after `erase`.
template <class Id>
class id_table {
  public:
    using key_type = typename interner<Id>::key_type;

    explicit id_table(std::size_t most = std::size_t{1} << 20) noexcept : most_(most) {}

    // The index of a name, or `no_index` if it is new.
    std::uint32_t see(key_type id, double now) {
        std::uint32_t const slot = find(id);
        if (slot != no_index && seen_[slot] < now) seen_[slot] = now;
        return slot;
    }
    // The index of a name, created if needed; `no_index` if the table is full, which is counted.
    std::uint32_t insert(key_type id, double now) {
        if (std::uint32_t const known = see(id, now); known != no_index) return known;
        if (ids_.size() >= most_) {
            ++refused_;
            return no_index;
        }
        // Allocate first, so that a failure leaves nothing half done.
        make_room_for_one(slot_of_);
        make_room_for_one(place_of_);
        make_room_for_one(seen_);
        if (free_.capacity() < place_of_.size() + 1) free_.reserve(2 * (place_of_.size() + 4));
        std::uint32_t const place = ids_.insert(id);
        if (place == slot_of_.size()) slot_of_.push_back(no_index);
        std::uint32_t slot = static_cast<std::uint32_t>(place_of_.size());
        if (free_.empty()) {
            place_of_.push_back(place);
            seen_.push_back(now);
        } else {
            slot = free_.back();
            free_.pop_back();
            place_of_[slot] = place;
            seen_[slot] = now;
        }
        slot_of_[place] = slot;
        return slot;
    }

    // Takes over the names of another table, whose clock is behind by `later`. Returns this table's index for
    // each index there.
    [[nodiscard]] std::vector<std::uint32_t> take_in(id_table const& other, double later) {
        std::vector<std::uint32_t> map(other.bound(), no_index);
        for (std::uint32_t i = 0; i < map.size(); ++i)
            if (other.contains(i)) map[i] = insert(other[i], other.seen_[i] + later);
        return map;
    }

    // The index of a name, or `no_index`.
    [[nodiscard]] std::uint32_t find(key_type id) const {
        std::uint32_t const known = ids_.find(id);
        return known == interner<Id>::none ? no_index : slot_of_[known];
    }

    // Forgets a name; its index may be reused.
    void erase(std::uint32_t slot) {
        std::uint32_t const place = place_of_[slot];
        ids_.erase(place);
        slot_of_[place] = no_index;
        place_of_[slot] = no_index;
        free_.push_back(slot); // insert reserved the room
    }

    [[nodiscard]] bool contains(std::uint32_t slot) const noexcept {
        return slot < place_of_.size() && place_of_[slot] != no_index;
    }
    [[nodiscard]] Id const& operator[](std::uint32_t slot) const { return ids_[place_of_[slot]]; }
    [[nodiscard]] double last_seen(std::uint32_t slot) const { return seen_[slot]; }
    void touch(std::uint32_t slot, double now) {
        if (seen_[slot] < now) seen_[slot] = now;
    }

    // One more than the largest index in use.
    [[nodiscard]] std::size_t bound() const noexcept { return place_of_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
    // Names rejected for lack of room so far.
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

    void write(byte_writer& out) const
        requires base::storable_identifier<Id>
    {
        out.tag(base::identifier_form<Id>);
        out.varint(refused_);
        out.count(place_of_.size());
        for (std::uint32_t slot = 0; slot < place_of_.size(); ++slot) {
            out.flag(place_of_[slot] != no_index);
            if (place_of_[slot] == no_index) continue;
            out.real(seen_[slot]);
            out.identifier((*this)[slot]);
        }
        for (std::uint32_t const slot : free_) out.varint(slot); // their order decides who gets which index
    }
    // @pre the table is empty
    void read(byte_reader& in)
        requires base::storable_identifier<Id>
    {
        in.tag(base::identifier_form<Id>);
        refused_ = in.varint();
        std::size_t const bound = in.count(1);
        if (!in.expect(bound <= most_, status::out_of_range)) return;
        place_of_.assign(bound, no_index);
        seen_.assign(bound, 0.0);
        free_.reserve(bound + 1);
        for (std::size_t slot = 0; slot < bound && in.ok(); ++slot) {
            if (!in.flag()) continue;
            double const seen = in.real();
            auto const id = in.identifier<Id>();
            if (!in.expect(is_finite(seen) && ids_.find(id) == interner<Id>::none)) return;
            place_of_[slot] = ids_.insert(id);
            seen_[slot] = seen;
            slot_of_.push_back(static_cast<std::uint32_t>(slot));
        }
        constexpr double listed = 1; // marks a free index; overwritten when it is used
        for (std::size_t holes = bound - ids_.size(); holes > 0 && in.ok(); --holes) {
            std::uint64_t const slot = in.varint();
            if (!in.expect(slot < bound && place_of_[to_size(slot)] == no_index &&
                           seen_[to_size(slot)] != listed))
                return;
            seen_[to_size(slot)] = listed;
            free_.push_back(static_cast<std::uint32_t>(slot));
        }
    }

  private:
    interner<Id> ids_;
    std::vector<std::uint32_t> slot_of_;  // by place in `ids_`
    std::vector<std::uint32_t> place_of_; // by index
    std::vector<double> seen_;            // by index
    std::vector<std::uint32_t> free_;     // free indices; the last one is reused first
    std::size_t most_;
    std::uint64_t refused_ = 0;
};

// Stands in for a table when the records lack the name.
struct no_id_table {
    template <class Id>
    static constexpr std::uint32_t insert(Id const&, double) noexcept {
        return no_index;
    }
};

#ifdef STRAGGLE_COMPILED
extern template class id_table<std::string>;
#endif

} // namespace straggle::detail
