// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Turns state into bytes and back: the same bytes on every machine, in a frame that says what they are,
/// which version wrote them and whether they are complete (base/frame.hpp). The reader accepts arbitrary
/// bytes: from a short read to a hostile file, the worst result is a status.
///
/// A writer collects the payload and seals it:
///
///     byte_writer out;
///     out.count(names.size());
///     for (std::string const& name : names) out.identifier(name);
///     std::vector<std::byte> const file = std::move(out).seal(frame_kind("nams"), 1);
///
/// and `open_frame` hands it to a reader, whose failures stick, so that one check at the end suffices:
///
///     auto const frame = open_frame(file, frame_kind("nams"), 1);
///     if (!frame) return frame.reason();
///     byte_reader in = frame->payload;
///     std::vector<std::string> names(in.count(1));
///     for (std::string& name : names) in.identifier(name);
///     if (status const end = in.finish(); end != status::ok) return end;
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/detail/crc64.hpp>
#include <straggle/base/frame.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/storable.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::base {

/// Appends values to a payload, then puts the frame around it.
///
/// @par Cost
/// each append O(bytes), amortized; sealing takes one pass over the payload (at least 1 GB/s), without a
/// copy. One allocation at construction plus those of a growing vector; none if it gets the memory of an
/// earlier frame of at least the same size
/// @par Guarantees
/// deterministic: the same calls give the same bytes on every machine; strong exception
/// guarantee
class byte_writer {
  public:
    /// Starts an empty payload.
    byte_writer() : byte_writer(std::vector<std::byte>{}) {}

    /// Starts an empty payload in the memory of `spare`, typically an earlier frame that is no longer needed.
    explicit byte_writer(std::vector<std::byte> spare) : bytes_(std::move(spare)) { clear(); }

    /// One byte.
    void u8(std::uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
    /// Four bytes.
    void u32(std::uint32_t value) { append(value); }
    /// Eight bytes.
    void u64(std::uint64_t value) { append(value); }
    /// Eight bytes, two's complement.
    void i64(std::int64_t value) { append(static_cast<std::uint64_t>(value)); }
    /// Eight bytes: the bits of an IEEE 754 double, including NaN and infinity.
    void real(double value) { append(std::bit_cast<std::uint64_t>(value)); }
    /// One byte.
    void flag(bool value) { u8(value ? 1 : 0); }
    /// Four bytes that the reader must find again: the type of what follows, or simply a landmark.
    void tag(std::uint32_t value) { append(value); }

    /// One byte per 7 bits, lowest first (LEB128): 1 to 10 bytes.
    void varint(std::uint64_t value) {
        std::array<std::byte, 10> encoded{};
        std::size_t length = 0;
        for (; value >= 0x80; value >>= 7) encoded[length++] = static_cast<std::byte>(value | 0x80);
        encoded[length++] = static_cast<std::byte>(value);
        put(encoded.data(), length);
    }
    /// Number of items that follow, as a `varint`.
    void count(std::uint64_t items) { varint(items); }

    /// The number of its bytes, then the bytes, which may be zero.
    /// @pre not a view into the payload of this writer
    void text(std::string_view value) {
        auto const* const from = reinterpret_cast<std::byte const*>(value.data());
        std::size_t const before = bytes_.size();
        bytes_.reserve(grown(before + value.size() + 10));
        varint(value.size());
        put(from, value.size());
    }

    /// Text like `text`; a whole number v as the `varint` of 2v, or of -2v - 1 if negative, computed in 65
    /// bits: the same bytes for every integer type that can hold it.
    template <base::storable_identifier Id>
    void identifier(Id const& id) {
        if constexpr (detail::text<Id>) {
            text(id);
        } else {
            auto const value = static_cast<typename detail::number_of<Id>::type>(id);
            bool const negative = value < 0;
            auto const bits = static_cast<std::uint64_t>(value);
            whole(negative ? ~bits : bits, negative);
        }
    }

    /// The payload so far.
    [[nodiscard]] std::span<std::byte const> payload() const noexcept {
        return detail::span_of(bytes_).subspan(bytes_.empty() ? 0
                                                              : detail::frame_head_size); // empty once sealed
    }

    /// Drops the payload but keeps the memory.
    void clear() {
        bytes_.clear();
        bytes_.resize(detail::frame_head_size);
    }

    /// Puts the frame around the payload and returns it. The writer may only be destroyed then, or reused
    /// after `clear`.
    /// @param kind type of the payload, chosen by the writer, see `frame_kind`
    /// @param version version of its format, from 1
    /// @pre `version != 0`; not sealed before
    [[nodiscard]] std::vector<std::byte> seal(std::uint32_t kind, std::uint32_t version) && {
        STRAGGLE_EXPECTS(version != 0);
        STRAGGLE_EXPECTS(!bytes_.empty());
        append(std::uint64_t{0}); // the tail
        detail::put_frame(detail::span_of(bytes_), kind, version);
        return std::exchange(bytes_, {});
    }

  private:
    template <class Unsigned>
    void append(Unsigned value) {
        std::array<std::byte, sizeof(Unsigned)> encoded{};
        detail::store_little(encoded.data(), value);
        put(encoded.data(), encoded.size());
    }
    void put(std::byte const* from, std::size_t n) { bytes_.insert(bytes_.end(), from, from + n); }

    // Reserving the exact size repeatedly would copy everything each time.
    [[nodiscard]] std::size_t grown(std::size_t wanted) const noexcept {
        std::size_t const held = bytes_.capacity();
        return wanted <= held ? held : wanted + held / 2;
    }

    // The varint of 2 * magnitude + sign, a 65-bit number.
    void whole(std::uint64_t magnitude, bool negative) {
        std::uint64_t const low = ((magnitude & 0x3F) << 1) | (negative ? 1 : 0);
        if (magnitude < 0x40) {
            u8(static_cast<std::uint8_t>(low));
            return;
        }
        bytes_.reserve(grown(bytes_.size() + 10));
        u8(static_cast<std::uint8_t>(low | 0x80));
        varint(magnitude >> 6);
    }

    std::vector<std::byte> bytes_; // starts with room for the head of the frame; empty once sealed
};

} // namespace straggle::base

namespace straggle::inline STRAGGLE_ABI {

using base::byte_writer;

/// Reads what a `byte_writer` appended, in the same order, from bytes that it does not own.
///
/// The first failure sticks: all later reads return zero or empty values, so loops terminate and a single
/// check of `ok()` or `at_end()` suffices before the result is used.
/// @par Cost
/// each read O(1), including text and identifiers: text is a view of the bytes. Allocates nothing (except for
/// `identifier(to)`, which copies text)
/// @par Guarantees
/// never reads outside the bytes, whatever they contain; constexpr except for text; noexcept except for
/// contracts
class byte_reader {
  public:
    /// Reads from nothing.
    constexpr byte_reader() noexcept = default;
    /// Reads from bytes that must outlive the reader and the text read from it.
    constexpr explicit byte_reader(std::span<std::byte const> bytes) noexcept : left_(bytes) {}

    /// Whether everything read so far existed and was valid.
    [[nodiscard]] constexpr bool ok() const noexcept { return reason_ == status::ok; }
    /// `status::ok`, or the first failure.
    [[nodiscard]] constexpr status reason() const noexcept { return reason_; }
    /// Whether everything has been read without a failure.
    [[nodiscard]] constexpr bool at_end() const noexcept { return ok() && left_.empty(); }
    /// Number of bytes left; 0 after a failure.
    [[nodiscard]] constexpr std::size_t left() const noexcept { return left_.size(); }
    /// Fails with `status::corrupt` if bytes are left: call it after the last read.
    /// @return `reason()`
    constexpr status finish() noexcept {
        if (!left_.empty()) stop(status::corrupt);
        return reason_;
    }

    /// Fails, unless it has already: for content that only the caller can recognize as invalid.
    /// @pre `reason != status::ok`
    constexpr void fail(status reason) {
        STRAGGLE_EXPECTS(reason != status::ok);
        stop(reason);
    }
    /// Fails with `otherwise` unless `holds`; returns `ok()`.
    /// @pre `otherwise != status::ok`
    constexpr bool expect(bool holds, status otherwise = status::corrupt) {
        if (!holds) fail(otherwise);
        return ok();
    }

    /// One byte, or 0.
    constexpr std::uint8_t u8() noexcept {
        std::byte const* const at = take(1);
        return at == nullptr ? std::uint8_t{0} : static_cast<std::uint8_t>(*at);
    }
    /// Four bytes, or 0.
    constexpr std::uint32_t u32() noexcept {
        std::byte const* const at = take(4);
        return at == nullptr ? 0 : detail::load_little<std::uint32_t>(at);
    }
    /// Eight bytes, or 0.
    constexpr std::uint64_t u64() noexcept {
        std::byte const* const at = take(8);
        return at == nullptr ? 0 : detail::load_little<std::uint64_t>(at);
    }
    /// Eight bytes, or 0.
    constexpr std::int64_t i64() noexcept { return static_cast<std::int64_t>(u64()); }
    /// A double with exactly the bits written, or 0. The caller must check for NaN and infinity.
    constexpr double real() noexcept { return std::bit_cast<double>(u64()); }
    /// A flag, or false; `status::corrupt` if it is neither 0 nor 1.
    constexpr bool flag() noexcept {
        std::uint8_t const value = u8();
        if (value > 1) stop(status::corrupt);
        return value == 1;
    }
    /// Fails with `status::wrong_kind` unless the next four bytes are this tag; returns `ok()`.
    constexpr bool tag(std::uint32_t expected) noexcept {
        if (u32() != expected) stop(status::wrong_kind); // no effect after truncation
        return ok();
    }

    /// A number of variable length, or 0; `status::corrupt` if it has more than 64 bits or is not in its
    /// shortest form.
    constexpr std::uint64_t varint() noexcept {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            std::uint64_t const byte = u8();
            if (!ok()) return 0;
            value |= (byte & 0x7F) << shift;
            // The tenth byte may use one bit, and a last byte of 0 is redundant.
            if ((shift == 63 && byte > 1) || (byte == 0 && shift != 0)) return stop(status::corrupt), 0;
            if (byte < 0x80) return value;
        }
    }

    /// Number of items that follow, or 0; `status::truncated` if the remaining bytes cannot hold that many.
    /// So a caller that allocates for them before reading uses at most a fixed multiple of the size of the
    /// input.
    /// @param min_bytes_per_item minimum size of a written item; @pre at least 1
    constexpr std::size_t count(std::size_t min_bytes_per_item) {
        STRAGGLE_EXPECTS(min_bytes_per_item >= 1);
        return items_of(min_bytes_per_item);
    }

    /// Text, as a view of the bytes, or an empty one.
    std::string_view text() noexcept {
        std::size_t const length = items_of(1);
        std::string_view const value(reinterpret_cast<char const*>(left_.data()), length);
        left_ = left_.subspan(length);
        return value;
    }

    /// An identifier, or an empty or zero one: text as a view of the bytes, as `interner::insert` takes it;
    /// `status::corrupt` if `Id` cannot hold the value. Unnamed values of enumerations are accepted.
    template <base::storable_identifier Id>
    [[nodiscard]] constexpr auto identifier() noexcept {
        if constexpr (detail::text<Id>) {
            return text();
        } else {
            using number = typename detail::number_of<Id>::type;
            std::uint64_t magnitude = 0;
            bool const negative = whole(magnitude);
            constexpr auto most = static_cast<std::uint64_t>((std::numeric_limits<number>::max)());
            if (magnitude > most || (negative && !std::numeric_limits<number>::is_signed)) {
                stop(status::corrupt);
                return Id{};
            }
            // Conversion is modulo 2^n: ~m is -m - 1.
            return static_cast<Id>(static_cast<number>(negative ? ~magnitude : magnitude));
        }
    }
    /// Reads into an existing identifier; a string keeps its memory.
    template <base::storable_identifier Id>
    constexpr void identifier(Id& to) {
        to = identifier<Id>();
    }

  private:
    constexpr void stop(status reason) noexcept {
        if (ok()) reason_ = reason;
        left_ = {};
    }

    // The next bytes, at least one, or null.
    constexpr std::byte const* take(std::size_t bytes) noexcept {
        if (left_.size() < bytes) return stop(status::truncated), nullptr;
        std::byte const* const at = left_.data();
        left_ = left_.subspan(bytes);
        return at;
    }

    constexpr std::size_t items_of(std::size_t bytes) noexcept {
        std::uint64_t const items = varint();
        if (items > left_.size() / bytes) return stop(status::truncated), 0;
        return static_cast<std::size_t>(items);
    }

    // The inverse of byte_writer::whole.
    constexpr bool whole(std::uint64_t& magnitude) noexcept {
        std::uint64_t const low = u8();
        std::uint64_t high = 0;
        if (low >= 0x80) {
            high = varint();
            if (ok() && (high == 0 || high >> 58 != 0)) stop(status::corrupt);
        }
        magnitude = ok() ? (high << 6) | ((low & 0x7F) >> 1) : 0;
        return ok() && (low & 1) != 0;
    }

    std::span<std::byte const> left_;
    status reason_ = status::ok;
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::base {

/// The contents of a frame.
struct opened_frame {
    std::uint32_t version = 0; ///< of the writer, from 1
    byte_reader payload;       ///< copy it and read from it; the bytes belong to the caller
};

} // namespace straggle::base

namespace straggle::inline STRAGGLE_ABI {

/// Opens a frame made by `byte_writer::seal`, after checking that it is complete.
/// @param bytes the frame and nothing else; must outlive the reader
/// @param kind expected type of the payload
/// @param newest_version latest version that the caller can read; @pre at least 1
/// @return the first that applies: `status::truncated` if too short for any frame, `status::wrong_kind` if it
/// is not a frame or of another kind, `status::truncated` if shorter than it says, `status::corrupt` if
/// longer or of version 0, `status::unknown_version` if newer than `newest_version`, `status::corrupt` if the
/// checksum is wrong
/// @par Cost
/// one pass over the bytes (at least 1 GB/s); allocates nothing
/// @par Guarantees
/// detects every change of up to 64 adjacent bits, and all but one in 2^64 of others; constexpr; noexcept
/// except for the contract. A checksum protects against accidents, not attacks: anyone who can write the
/// bytes can forge one.
[[nodiscard]] constexpr outcome<base::opened_frame>
open_frame(std::span<std::byte const> bytes, std::uint32_t kind, std::uint32_t newest_version) {
    STRAGGLE_EXPECTS(newest_version >= 1);
    auto const found = detail::find_framed(bytes, kind, newest_version);
    if (!found) return found.reason();
    return base::opened_frame{found->version, byte_reader(found->payload)};
}

} // namespace straggle
