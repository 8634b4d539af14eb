// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Finds out which of some names a member of a JSON object has, in the text as it stands there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace program {

/// The names of members that somebody wants.
template <std::size_t N>
class member_names {
  public:
    /// @pre each name has from 2 to 32 bytes, and outlives this
    explicit member_names(std::array<std::string_view, N> const& names) {
        for (std::size_t i = N; i-- > 0;) {
            std::string_view const front = names[i].substr(0, 16);
            std::array<char, 17> text{}, mask{};
            std::memcpy(text.data(), front.data(), front.size());
            text[front.size()] = '"'; // so that no longer name begins with it
            std::memset(mask.data(), 0xff, front.size() + 1);
            std::uint8_t& first = first_[slot_of(text.data())];
            names_[i] = {words_at(text.data()), words_at(mask.data()), names[i], first};
            first = static_cast<std::uint8_t>(i + 1);
        }
    }

    /// Which of them stands there up to its quote; N for none.
    [[nodiscard]] std::size_t index_of(char const* key) const {
        std::size_t i = first_[slot_of(key)];
        if (i == 0) return N;
        words const w = words_at(key); // behind every text there is room for more than that
        while (i > 0 && !names_[i - 1].is(key, w)) i = names_[i - 1].next;
        return i > 0 ? i - 1 : N;
    }

  private:
    struct words {
        std::uint64_t low, high;
    };
    struct name {
        words text, mask; // with the quote, if that is among the first 16 bytes
        std::string_view whole{};
        std::uint8_t next = 0; // of those in the same slot, counted from 1
        [[nodiscard]] bool is(char const* key, words const& w) const {
            if ((((w.low & mask.low) ^ text.low) | ((w.high & mask.high) ^ text.high)) != 0) return false;
            return whole.size() < 16 ||
                   (key[whole.size()] == '"' && whole == std::string_view(key, whole.size()));
        }
    };
    static words words_at(char const* from) {
        words w{};
        std::memcpy(&w.low, from, 8);
        std::memcpy(&w.high, from + 8, 8);
        return w;
    }
    // By the first two bytes.
    static std::size_t slot_of(char const* key) {
        return (static_cast<unsigned char>(key[0]) * 3U + static_cast<unsigned char>(key[1]) * 11U) % slots;
    }
    static constexpr std::size_t slots = 64;

    std::array<name, N> names_{};
    std::array<std::uint8_t, slots> first_{}; // counted from 1
};
template <std::size_t N>
member_names(std::array<std::string_view, N> const&) -> member_names<N>;

} // namespace program
