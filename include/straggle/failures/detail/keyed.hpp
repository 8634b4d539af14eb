// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `failures/`: tables of values by up to four keys, and by node, with limits.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

struct failure_key {
    std::uint64_t a = 0, b = 0, c = 0, d = 0;
    // As text, whose hash is keyed: collisions cannot be provoked.
    [[nodiscard]] std::string_view bytes() const noexcept {
        return {reinterpret_cast<char const*>(this), sizeof *this};
    }
};

// Values by key. Memory of erased values is reused.
template <class Value>
class keyed {
  public:
    explicit keyed(std::size_t most) noexcept : most_(most) {}

    [[nodiscard]] Value* find(failure_key const& key) {
        std::uint32_t const at = ids_.find(key.bytes());
        return at == interner<std::string>::none ? nullptr : &values_[at];
    }
    [[nodiscard]] Value const* find(failure_key const& key) const {
        std::uint32_t const at = ids_.find(key.bytes());
        return at == interner<std::string>::none ? nullptr : &values_[at];
    }
    // The value, created if needed; null if the table is full.
    [[nodiscard]] Value* insert(failure_key const& key) {
        if (Value* const known = find(key)) return known;
        if (ids_.size() >= most_) {
            ++refused_;
            return nullptr;
        }
        if (values_.size() <= ids_.bound()) values_.resize(ids_.bound() + 1);
        return &values_[ids_.insert(key.bytes())];
    }
    void erase(failure_key const& key) {
        std::uint32_t const at = ids_.find(key.bytes());
        if (at == interner<std::string>::none) return;
        values_[at] = Value{};
        ids_.erase(at);
    }
    template <class Each>
    void for_each(Each const& each) {
        for (std::uint32_t i = 0; i < ids_.bound(); ++i)
            if (ids_.contains(i)) each(values_[i]);
    }
    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

  private:
    interner<std::string> ids_;
    std::vector<Value> values_; // by index
    std::size_t most_;
    std::uint64_t refused_ = 0;
};

// Values by node.
template <class Value>
class by_node {
  public:
    explicit by_node(std::uint32_t most) noexcept : most_(most) {}

    [[nodiscard]] Value* at(std::uint32_t node) {
        if (node >= most_) {
            ++refused_;
            return nullptr;
        }
        if (node >= values_.size()) values_.resize(std::size_t{node} + 1);
        return &values_[node];
    }
    [[nodiscard]] Value const* find(std::uint32_t node) const noexcept {
        return node < values_.size() ? &values_[node] : nullptr;
    }
    [[nodiscard]] std::vector<Value>& all() noexcept { return values_; }
    [[nodiscard]] std::vector<Value> const& all() const noexcept { return values_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

  private:
    std::vector<Value> values_;
    std::uint32_t most_;
    std::uint64_t refused_ = 0;
};

} // namespace straggle::detail
