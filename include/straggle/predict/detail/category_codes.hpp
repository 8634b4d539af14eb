// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/factors.hpp`: assigns codes to categories that come and go.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/storable.hpp>
#include <straggle/record/field.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// In a row: an unknown category. No category has this code.
inline constexpr double unknown_category_code = -1;

// Codes are never reused, not even those of forgotten categories: rows that still hold one would become
// similar to rows of another category.
template <class Category>
class category_codes {
    using id = owned_identifier_t<Category>;
    using key = typename interner<id>::key_type;

  public:
    category_codes() = default;
    category_codes(category_codes const&) = default;
    category_codes(category_codes&&) noexcept = default;
    // Copies the other object, or changes nothing if an allocation fails.
    category_codes& operator=(category_codes const& other) { return *this = category_codes(other); }
    category_codes& operator=(category_codes&&) noexcept = default;
    ~category_codes() = default;

    void set_memory(std::uint64_t insertions) noexcept { memory_ = insertions; }
    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }

    // Inserts in two steps, so that several tables each insert a category or none does. First: everything
    // that may throw; then settle() or withdraw().
    void announce(key category) {
        make_room_for_one(entries_);
        std::size_t const before = ids_.size();
        announced_ = ids_.insert(category);
        is_new_ = ids_.size() != before;
        if (announced_ == entries_.size()) entries_.emplace_back();
    }
    void withdraw() noexcept {
        if (is_new_) ids_.erase(announced_);
        is_new_ = false;
    }
    [[nodiscard]] double settle() noexcept {
        entry& e = entries_[announced_];
        e.last = ++insertions_;
        if (is_new_) {
            if (memory_ != 0 && ids_.size() > limit_) forget();
            e.code = next_++;
        }
        is_new_ = false;
        return static_cast<double>(e.code);
    }
    [[nodiscard]] double insert(key category) {
        announce(category);
        return settle();
    }
    [[nodiscard]] double find(key category) const {
        std::uint32_t const index = ids_.find(category);
        return index == interner<id>::none ? unknown_category_code
                                           : static_cast<double>(entries_[index].code);
    }
    // How many insertions ago it was last inserted, that one included; 0: never.
    [[nodiscard]] std::uint64_t age(key category) const {
        std::uint32_t const index = ids_.find(category);
        return index == interner<id>::none ? 0 : insertions_ - entries_[index].last + 1;
    }
    void clear() noexcept {
        ids_.clear();
        entries_.clear(); // do not reset codes: old rows may still exist
        limit_ = least_limit;
    }

    void write(byte_writer& out) const
        requires base::storable_identifier<Category>
    {
        out.tag(base::identifier_form<Category>);
        out.varint(next_);
        out.varint(insertions_);
        out.count(ids_.size());
        for (std::uint32_t i = 0; i < ids_.bound(); ++i) {
            if (!ids_.contains(i)) continue;
            out.identifier(ids_[i]);
            out.varint(entries_[i].code);
            out.varint(entries_[i].last);
        }
    }
    // The state is unspecified after a failure.
    void read(byte_reader& in)
        requires base::storable_identifier<Category>
    {
        clear();
        in.tag(base::identifier_form<Category>);
        next_ = in.varint();
        insertions_ = in.varint();
        in.expect(next_ <= most_codes && next_ <= insertions_);
        std::vector<std::uint64_t> codes;
        for (std::size_t left = in.count(3); left != 0 && in.ok(); --left) {
            id category{};
            in.identifier(category);
            entry e{in.varint(), in.varint()};
            make_room_for_one(entries_);
            bool const first = ids_.find(category) == interner<id>::none;
            if (!in.expect(first && e.code < next_ && e.last <= insertions_)) return;
            ids_.insert(category);
            entries_.push_back(e);
            codes.push_back(e.code);
        }
        std::sort(codes.begin(), codes.end());
        in.expect(std::adjacent_find(codes.begin(), codes.end()) == codes.end());
        set_limit(ids_.size());
    }

  private:
    struct entry {
        std::uint64_t code = 0;
        std::uint64_t last = 0; // number of its latest insertion
    };
    static constexpr std::size_t least_limit = 64;
    static constexpr std::uint64_t most_codes = std::uint64_t{1} << 53; // exact as doubles

    // A scan of all categories is paid for by as many new ones since.
    void set_limit(std::size_t known) noexcept { limit_ = 2 * known + least_limit; }
    void forget() noexcept {
        for (std::uint32_t i = 0; i < ids_.bound(); ++i)
            if (ids_.contains(i) && insertions_ - entries_[i].last > memory_) ids_.erase(i);
        set_limit(ids_.size() - 1); // except the new one
    }

    interner<id> ids_;
    std::vector<entry> entries_;  // by index
    std::uint32_t announced_ = 0; // an index
    bool is_new_ = false;         // announced and not settled
    std::uint64_t memory_ = 0;
    std::uint64_t insertions_ = 0;
    std::uint64_t next_ = 0;
    std::size_t limit_ = least_limit;
};

// Needs no table, since there are only two.
template <>
class category_codes<bool> {
  public:
    void set_memory(std::uint64_t) const noexcept {}
    [[nodiscard]] std::size_t size() const noexcept { return 0; }
    void announce(bool category) noexcept { announced_ = category; }
    void withdraw() const noexcept {}
    [[nodiscard]] double settle() const noexcept { return announced_ ? 1 : 0; }
    [[nodiscard]] double insert(bool category) const noexcept { return category ? 1 : 0; }
    [[nodiscard]] double find(bool category) const noexcept { return category ? 1 : 0; }
    [[nodiscard]] std::uint64_t age(bool) const noexcept { return 0; }
    void clear() const noexcept {}
    void write(byte_writer& out) const { out.tag(bool_form); }
    void read(byte_reader& in) const { in.tag(bool_form); }

  private:
    static constexpr std::uint32_t bool_form = 3; // in addition to the `identifier_form`s

    bool announced_ = false;
};

} // namespace straggle::detail
