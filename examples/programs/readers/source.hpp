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

/// Writes up to `size` bytes to `to` and returns their number; 0 at the end.
using raw_source = std::function<std::size_t(char* to, std::size_t size)>;

/// The packing of a stream.
enum class packing : std::uint8_t { none, gzip, zstd, foreign };

/// Detected by the first bytes. `foreign` is a compression that is not supported (bzip2, xz, lz4, snappy).
[[nodiscard]] packing packing_of(std::string_view head);

/// The program that unpacks a `foreign` stream, empty for others.
[[nodiscard]] std::string_view unpacker_of(std::string_view head);

/// A stream that unpacks itself. Several members (gzip) or frames (zstd) in sequence are one stream.
///
/// A truncated or damaged stream ends where it can no longer be read, and `damage` says why: everything
/// before that is returned.
class unpacked_source {
  public:
    explicit unpacked_source(raw_source raw);
    unpacked_source(unpacked_source&&) noexcept;
    unpacked_source& operator=(unpacked_source&&) noexcept;
    ~unpacked_source();

    /// Writes up to `size` bytes, returns their number; 0 at the end.
    std::size_t operator()(char* to, std::size_t size);

    /// What is wrong with the packing; empty if nothing.
    [[nodiscard]] std::string const& damage() const;
    /// Bytes taken from the raw source, for a progress bar.
    [[nodiscard]] std::uint64_t packed_bytes() const;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Reads a file; `-` is standard input. A `program::failure` says what is wrong with it.
[[nodiscard]] raw_source open_file(std::string const& file);

/// Reads from text in memory, which must outlive it.
[[nodiscard]] raw_source text_source(std::string_view text);

} // namespace readers
