// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Reads a log of decisions and repeats them.
#pragma once

#include "options.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace straggle_rank {

/// The result of repeating the decisions of a log.
struct replay_result {
    std::uint64_t decisions = 0, different = 0;
    std::string first; ///< the first difference, in words
};

/// Repeats the decisions of a log. A `failure` names an invalid line.
[[nodiscard]] replay_result replay_log(std::string const& file);
/// The same for an open stream. @param name of the file in messages
[[nodiscard]] replay_result replay_log(std::istream& in, std::string const& name);

} // namespace straggle_rank
