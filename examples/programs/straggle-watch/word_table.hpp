// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Recognizes the words of the protocol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace straggle_watch {

/// A few words known at compile time, each in its own place: at most one of them is compared, as two numbers.
template <std::size_t Count>
class word_table {
  public:
    consteval explicit word_table(std::array<std::string_view, Count> const& words) : words_(words) {
        std::array<letters, Count> all{};
        for (std::size_t i = 0; i < Count; ++i) all[i] = letters_of(words[i]);
        while (!have_own_places(all)) factor_ += 2;
        for (std::size_t i = 0; i < Count; ++i) at_[place(all[i])] = {all[i], static_cast<std::uint32_t>(i)};
    }

    [[nodiscard]] constexpr std::string_view operator[](std::size_t i) const { return words_[i]; }
    /// Its number; `Count` if it is none of them.
    [[nodiscard]] constexpr std::size_t find(std::string_view text) const {
        if (text.empty() || text.size() > longest) return Count;
        letters const all = letters_of(text);
        entry const& here = at_[place(all)];
        return here.text == all ? here.word : Count;
    }

  private:
    static constexpr unsigned bits = 7;
    static constexpr std::size_t longest = 16;

    // The letters of a text and its length: different for any two texts.
    struct letters {
        std::uint64_t first = 0, last = 0;
        std::uint32_t size = 0;
        [[nodiscard]] constexpr bool operator==(letters const&) const = default;
    };
    struct entry {
        letters text{};
        std::uint32_t word = Count;
    };

    template <std::size_t N>
    static constexpr std::uint64_t load(char const* at) {
        return [at]<std::size_t... I>(std::index_sequence<I...>) {
            return ((std::uint64_t{static_cast<unsigned char>(at[I])} << (8 * I)) | ...); // one instruction
        }(std::make_index_sequence<N>());
    }
    static constexpr letters letters_of(std::string_view text) {
        char const* const begin = text.data();
        std::size_t const size = text.size();
        auto const length = static_cast<std::uint32_t>(size);
        if (size >= 8) return {load<8>(begin), load<8>(begin + size - 8), length};
        if (size >= 4) return {load<4>(begin), load<4>(begin + size - 4), length};
        return {load<1>(begin) | load<1>(begin + size / 2) << 8 | load<1>(begin + size - 1) << 16, 0, length};
    }
    [[nodiscard]] constexpr std::size_t place(letters const& all) const {
        return static_cast<std::size_t>((all.first ^ all.last << 20 ^ all.size) * factor_ >> (64 - bits));
    }
    // Most factors fail, and compilers bound the number of steps: so it compares only bits.
    [[nodiscard]] constexpr bool have_own_places(std::array<letters, Count> const& all) const {
        std::uint64_t taken[(std::size_t{1} << bits) / 64] = {};
        for (letters const& text : all) {
            std::size_t const at = place(text);
            std::uint64_t const bit = std::uint64_t{1} << at % 64;
            if ((taken[at / 64] & bit) != 0) return false;
            taken[at / 64] |= bit;
        }
        return true;
    }

    std::array<std::string_view, Count> words_;
    std::array<entry, std::size_t{1} << bits> at_{};
    std::uint64_t factor_ = 0x9E3779B97F4A7C15u;
};

} // namespace straggle_watch
