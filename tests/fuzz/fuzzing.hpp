// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What the fuzz targets share.
#pragma once

#include <straggle/base/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

namespace fuzzing {

// An abort is what a fuzzer takes for a finding.
inline void demand(bool holds) {
    if (!holds) std::abort();
}

inline std::vector<std::byte> bytes_of(std::uint8_t const* data, std::size_t size) {
    auto const* const from = reinterpret_cast<std::byte const*>(data);
    return std::vector<std::byte>(from, from + size);
}

// Shows stored bytes as they are, and then, if they can be a frame, with a length and a checksum that let the
// rest of it be seen.
template <class Look>
void as_is_and_mended(std::vector<std::byte> bytes, Look const& look) {
    look(std::span<std::byte const>(bytes));
    constexpr std::size_t around = straggle::detail::frame_head_size + straggle::detail::frame_tail_size;
    if (bytes.size() < around) return;
    std::size_t const end = bytes.size() - straggle::detail::frame_tail_size;
    straggle::detail::store_little(bytes.data() + 16, std::uint64_t{bytes.size() - around});
    straggle::detail::store_little(bytes.data() + end,
                                   straggle::detail::crc64(std::span<std::byte const>(bytes).first(end)));
    look(std::span<std::byte const>(bytes));
}

// A stored frame but for a few bytes: place and value, three bytes an edit. Bytes at random never come by the
// first length.
inline std::vector<std::byte> edited(std::vector<std::byte> bytes, std::uint8_t const* data,
                                     std::size_t size) {
    std::size_t const body = bytes.size() - straggle::detail::frame_tail_size;
    for (; size >= 3; data += 3, size -= 3)
        bytes[(std::size_t{data[0]} * 256 + data[1]) % body] = static_cast<std::byte>(data[2]);
    straggle::detail::store_little(bytes.data() + body,
                                   straggle::detail::crc64(std::span<std::byte const>(bytes).first(body)));
    return bytes;
}

// Draws that are the same on every machine.
struct engine {
    using result_type = std::uint64_t;
    std::uint64_t state = 1;
    static constexpr std::uint64_t min() { return 0; }
    static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }
    std::uint64_t operator()() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state ^ (state >> 29);
    }
};

// What is made either says why it cannot become what the bytes describe and stays as it was, or what it
// stores reads back as the same bytes, and `use` gets both. `begin` gives it something to lose.
template <class Make, class Begin, class Use>
void restore(std::span<std::byte const> bytes, Make const& make, Begin const& begin, Use const& use) {
    auto one = make();
    begin(one);
    std::vector<std::byte> const before = one.serialize();
    if (one.restore(bytes) != straggle::status::ok) {
        demand(one.serialize() == before);
        return;
    }
    std::vector<std::byte> const stored = one.serialize();
    auto again = make();
    demand(again.restore(stored) == straggle::status::ok && again.serialize() == stored);
    use(one, again);
}

// The same, and it works, merged into another one or not. `work` is the rest of its life.
template <class Make, class Begin, class Work>
void become(std::span<std::byte const> bytes, Make const& make, Begin const& begin, Work const& work) {
    restore(bytes, make, begin, [&](auto& one, auto&) {
        auto other = make();
        other.merge(one);
        work(other);
        work(one);
    });
}

} // namespace fuzzing
