// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Distinguishes the wanted names of JSON's members.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace readers {

/// The names of the wanted members.
template <std::size_t N>
class member_names {
  public:
    /// @pre each name has from 2 to 32 bytes, and outlives this
    explicit member_names(std::array<std::string_view, N> const& names) : names_(names) {
        for (std::size_t i = N; i-- > 0;) {
            std::string_view const begin = names[i].substr(0, 16);
            std::array<char, 16> text{}, mask{};
            std::memcpy(text.data(), begin.data(), begin.size());
            std::memset(mask.data(), 0xff, begin.size());
            std::uint8_t& first = first_[slot_of(names[i])];
            fronts_[i] = {words_at(text.data()), words_at(mask.data())};
            next_[i] = first;
            first = static_cast<std::uint8_t>(i + 1);
        }
    }

    /// Its index; N for none. @pre it is followed by 16 readable bytes
    [[nodiscard]] std::size_t index_of(std::string_view key) const {
        std::size_t i = first_[slot_of(key)];
        while (i > 0 && !is(i - 1, key)) i = next_[i - 1];
        return i > 0 ? i - 1 : N;
    }

  private:
    struct words {
        std::uint64_t low, high;
    };
    struct front {
        words text, mask; // of the first 16 bytes
    };
    [[nodiscard]] bool is(std::size_t i, std::string_view key) const {
        if (key.size() != names_[i].size()) return false;
        words const w = words_at(key.data());
        auto const& [text, mask] = fronts_[i];
        if ((((w.low & mask.low) ^ text.low) | ((w.high & mask.high) ^ text.high)) != 0) return false;
        return key.size() <= 16 || key.substr(16) == names_[i].substr(16);
    }
    static words words_at(char const* from) {
        words w{};
        std::memcpy(&w.low, from, 8);
        std::memcpy(&w.high, from + 8, 8);
        return w;
    }
    // By the length and the first two bytes: few unwanted names share a slot with a wanted one.
    static std::size_t slot_of(std::string_view key) {
        std::uint16_t front = 0;
        std::memcpy(&front, key.data(), 2);
        return (front * std::size_t{0x8B} + key.size() * 25) >> 2 & (slots - 1);
    }
    static constexpr std::size_t slots = 64;

    std::array<front, N> fronts_{};
    std::array<std::string_view, N> names_;
    std::array<std::uint8_t, N> next_{};      // of those in the same slot, counted from 1
    std::array<std::uint8_t, slots> first_{}; // counted from 1
};
template <std::size_t N>
member_names(std::array<std::string_view, N> const&) -> member_names<N>;

} // namespace readers
