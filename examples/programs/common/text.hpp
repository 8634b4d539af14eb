// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Numbers and foreign names in a form for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace program {

/// Valid UTF-8: every byte that is not part of a character becomes U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// Makes names valid UTF-8 such that different names stay different.
[[nodiscard]] std::vector<std::string> distinct_names(std::span<std::string const> names);

/// Fit for a terminal: valid UTF-8 with blanks for tabs, without other control characters and without
/// characters that turn the direction of writing.
[[nodiscard]] std::string printable(std::string_view text);

/// Characters of valid UTF-8, which is nearly the columns it takes.
[[nodiscard]] std::size_t width(std::string_view text);

/// At most `most` columns: cut in the middle, since hosts differ at both ends.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most, std::string_view ellipsis);

/// As short as possible, such that it reads back as the same number.
[[nodiscard]] std::string exact(double x);

[[nodiscard]] std::string grouped(std::uint64_t n);                        ///< 1 234 567
[[nodiscard]] std::string fixed(double x, int digits);                     ///< 0.123
[[nodiscard]] std::string signed_number(double x);                         ///< +0.12
[[nodiscard]] std::string short_number(double x);                          ///< 0.05, 1.2e-09
[[nodiscard]] std::string percent(double share);                           ///< 20 %
[[nodiscard]] std::string counted(std::uint64_t n, std::string_view noun); ///< 1 node, 2 nodes

/// " (line 2)", " (lines 2, 5, ...)" where there are more than these; empty for none.
[[nodiscard]] std::string in_lines(std::span<std::size_t const> first, std::uint64_t all);

} // namespace program
