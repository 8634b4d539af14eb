// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The frame around stored bytes: their kind, the version that wrote them, and a checksum. `byte_writer` and
/// `open_frame` in base/bytes.hpp add and remove it; this file defines its layout.
///
/// Layout, with all numbers little-endian: 8 bytes of magic, u32 kind, u32 version, u64 length of the
/// payload, the payload, u64 CRC-64/XZ of everything before.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/detail/crc64.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/span_of.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI {

/// Four characters as the kind of a frame, such as `frame_kind("node")`: readable in a dump.
consteval std::uint32_t frame_kind(char const (&characters)[5]) {
    std::uint32_t kind = 0;
    for (unsigned i = 0; i < 4; ++i)
        kind |= std::uint32_t{static_cast<unsigned char>(characters[i])} << (8 * i);
    return kind;
}

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::detail {

// As in PNG: a byte above 127 and a line end reveal transfers in text mode.
inline constexpr std::array<std::byte, 8> frame_magic = {std::byte{0x8E}, std::byte{'s'}, std::byte{'t'},
                                                         std::byte{'r'},  std::byte{'a'}, std::byte{'g'},
                                                         std::byte{'\r'}, std::byte{'\n'}};
inline constexpr std::size_t frame_head_size = 24;
inline constexpr std::size_t frame_tail_size = 8;

// Writes the head and tail of a frame around its payload. One pass over the bytes.
constexpr void put_frame(std::span<std::byte> frame, std::uint32_t kind, std::uint32_t version) noexcept {
    std::byte* const head = frame.data();
    std::size_t const end = frame.size() - frame_tail_size;
    for (std::size_t i = 0; i < frame_magic.size(); ++i) head[i] = frame_magic[i];
    store_little(head + 8, kind);
    store_little(head + 12, version);
    store_little(head + 16, std::uint64_t{end - frame_head_size});
    store_little(head + end, crc64(span_of(static_cast<std::byte const*>(head), end)));
}

// The contents of a frame.
struct framed {
    std::uint32_t version = 0;
    std::span<std::byte const> payload{};
};

// Finds the payload, or the first reason to reject the frame; `open_frame` documents them. One pass over the
// bytes.
[[nodiscard]] constexpr outcome<framed> find_framed(std::span<std::byte const> frame, std::uint32_t kind,
                                                    std::uint32_t newest_version) {
    constexpr std::size_t around = frame_head_size + frame_tail_size;
    if (frame.size() < around) return status::truncated;
    std::byte const* const head = frame.data();
    for (std::size_t i = 0; i < frame_magic.size(); ++i)
        if (head[i] != frame_magic[i]) return status::wrong_kind;
    if (load_little<std::uint32_t>(head + 8) != kind) return status::wrong_kind;
    std::uint32_t const version = load_little<std::uint32_t>(head + 12);
    std::uint64_t const length = load_little<std::uint64_t>(head + 16);
    std::uint64_t const present = frame.size() - around;
    if (length > present) return status::truncated;
    if (length < present || version == 0) return status::corrupt;
    if (version > newest_version) return status::unknown_version;
    std::size_t const end = frame.size() - frame_tail_size;
    if (crc64(frame.first(end)) != load_little<std::uint64_t>(head + end)) return status::corrupt;
    return framed{version, frame.first(end).subspan(frame_head_size)};
}

} // namespace straggle::detail
