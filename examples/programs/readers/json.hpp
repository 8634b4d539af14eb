// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Fields of JSON as simdjson reads it: each is there and of the right kind, or it is nothing.
#pragma once

#include <simdjson.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace readers {

using json_value = simdjson::dom::element;

[[nodiscard]] inline std::optional<json_value> member(json_value of, std::string_view key) {
    json_value value;
    if (of[key].get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
}
[[nodiscard]] inline std::optional<json_value> member(std::optional<json_value> of, std::string_view key) {
    return of ? member(*of, key) : std::nullopt;
}

/// The members of an object that somebody wants, found in one pass over it. Of those of the same name the
/// first counts.
/// @par Cost O(members of the object)
template <std::size_t N>
class wanted_members {
  public:
    using found = std::array<std::optional<json_value>, N>;

    /// @pre no key is empty or longer than 16 bytes
    constexpr explicit wanted_members(std::array<std::string_view, N> const& keys) {
        static_assert(N < slots / 2);
        for (std::size_t i = 0; i < N; ++i) {
            for (std::size_t at = 0; at < keys[i].size(); ++at)
                (at < 8 ? keys_[i].low : keys_[i].high) |=
                    std::uint64_t{static_cast<unsigned char>(keys[i][at])} << (8 * (at % 8));
            keys_[i].size = keys[i].size();
            std::size_t slot = slot_of(keys_[i]);
            while (table_[slot] != 0) slot = (slot + 1) % slots;
            table_[slot] = static_cast<std::uint8_t>(i + 1);
        }
    }

    /// Those that are there, in the order of the keys; nothing if it is no object.
    [[nodiscard]] found in(std::optional<json_value> of) const {
        found all{};
        simdjson::dom::object object;
        if (!of || of->get(object) != simdjson::SUCCESS) return all;
        for (auto const [key, value] : object)
            if (std::size_t const i = index_of(key); i < N && !all[i]) all[i] = value;
        return all;
    }

  private:
    static constexpr std::size_t slots = 64;

    // A key in two words, the first byte the lowest.
    struct words {
        std::uint64_t low = 0, high = 0;
        std::size_t size = 0;
        friend constexpr bool operator==(words const&, words const&) = default;
    };

    static constexpr std::size_t slot_of(words const& key) {
        return static_cast<std::size_t>(((key.low ^ key.high) + key.size) * 0x9E3779B97F4A7C15u >> 58U);
    }
    static std::uint64_t word_at(char const* from, std::size_t size) {
        std::uint64_t word = 0;
        if constexpr (std::endian::native == std::endian::little) {
            // Behind every text of simdjson there is room for more than a word.
            std::memcpy(&word, from, 8);
            if (size < 8) word &= (std::uint64_t{1} << (8 * size)) - 1;
        } else {
            for (std::size_t at = 0; at < size && at < 8; ++at)
                word |= std::uint64_t{static_cast<unsigned char>(from[at])} << (8 * at);
        }
        return word;
    }
    std::size_t index_of(std::string_view key) const {
        if (key.empty() || key.size() > 16) return N;
        words const w{word_at(key.data(), key.size()),
                      key.size() > 8 ? word_at(key.data() + 8, key.size() - 8) : 0, key.size()};
        for (std::size_t slot = slot_of(w); table_[slot] != 0; slot = (slot + 1) % slots)
            if (keys_[table_[slot] - std::size_t{1}] == w) return table_[slot] - std::size_t{1};
        return N;
    }

    std::array<words, N> keys_{};
    std::array<std::uint8_t, slots> table_{};
};
template <std::size_t N>
wanted_members(std::array<std::string_view, N> const&) -> wanted_members<N>;

/// Empty if it is no text.
[[nodiscard]] inline std::string_view text_of(std::optional<json_value> value) {
    std::string_view text;
    if (!value || value->get(text) != simdjson::SUCCESS) return {};
    return text;
}
/// Empty if there is no such text.
template <class Value>
[[nodiscard]] std::string_view text_in(Value of, std::string_view key) {
    return text_of(member(of, key));
}

[[nodiscard]] inline std::optional<std::int64_t> whole(std::optional<json_value> value) {
    if (!value) return std::nullopt;
    std::int64_t n = 0;
    if (value->get(n) == simdjson::SUCCESS) return n;
    double x = 0; // 1.5e12, as some write their times
    if (value->get(x) == simdjson::SUCCESS && std::fabs(x) < 9e18 && std::floor(x) == x)
        return static_cast<std::int64_t>(x);
    return std::nullopt;
}
template <class Value>
[[nodiscard]] std::optional<std::int64_t> whole_in(Value of, std::string_view key) {
    return whole(member(of, key));
}

[[nodiscard]] inline std::optional<double> real(std::optional<json_value> value) {
    double x = 0;
    if (!value || value->get(x) != simdjson::SUCCESS || !std::isfinite(x)) return std::nullopt;
    return x;
}
template <class Value>
[[nodiscard]] std::optional<double> real_in(Value of, std::string_view key) {
    return real(member(of, key));
}

[[nodiscard]] inline std::optional<bool> flag(std::optional<json_value> value) {
    bool yes = false;
    if (!value || value->get(yes) != simdjson::SUCCESS) return std::nullopt;
    return yes;
}
template <class Value>
[[nodiscard]] std::optional<bool> flag_in(Value of, std::string_view key) {
    return flag(member(of, key));
}

/// Parses text behind which there are as many bytes as simdjson wants to read.
[[nodiscard]] inline std::optional<json_value> parse_json(simdjson::dom::parser& parser,
                                                          std::string_view text) {
    json_value value;
    if (parser.parse(text.data(), text.size(), false).get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
}

} // namespace readers
