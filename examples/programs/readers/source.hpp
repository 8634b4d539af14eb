// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A stream of bytes, unpacked on the way if it is gzip or zstd. Only a block is in memory at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace readers {

/// Writes up to `size` bytes to `to` and returns how many; 0 at the end.
using raw_source = std::function<std::size_t(char* to, std::size_t size)>;

/// How a stream is packed.
enum class packing : std::uint8_t { none, gzip, zstd, foreign };

/// Tells by the first bytes. `foreign` is a compression that is not read here (bzip2, xz, lz4, snappy).
[[nodiscard]] packing packing_of(std::string_view head);

/// The program that unpacks a `foreign` stream, empty if the stream is none.
[[nodiscard]] std::string_view unpacker_of(std::string_view head);

/// A stream that unpacks itself. Several members (gzip) or frames (zstd) one after the other are one stream.
///
/// A stream that is cut off or damaged ends where it can no longer be read, and `damage` says why: whatever
/// came before it is handed out.
class unpacked_source {
  public:
    explicit unpacked_source(raw_source raw);
    unpacked_source(unpacked_source&&) noexcept;
    unpacked_source& operator=(unpacked_source&&) noexcept;
    ~unpacked_source();

    /// Writes up to `size` bytes, returns how many; 0 at the end.
    std::size_t operator()(char* to, std::size_t size);

    /// What is wrong with the packing; empty if nothing is.
    [[nodiscard]] std::string const& damage() const;
    /// Bytes taken from the raw source, for a progress bar.
    [[nodiscard]] std::uint64_t packed_bytes() const;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Reads a file; `-` is standard input. A `program::failure` says what is wrong with it.
[[nodiscard]] raw_source open_file(std::string const& file);

/// Reads from text in memory, which has to outlive it.
[[nodiscard]] raw_source text_source(std::string_view text);

} // namespace readers
