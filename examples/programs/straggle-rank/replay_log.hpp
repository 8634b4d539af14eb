// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Reads a log of decisions and makes them again.
#pragma once

#include "options.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace straggle_rank {

/// What came out of making the decisions of a log again.
struct replay_result {
    std::uint64_t decisions = 0, different = 0;
    std::string first; ///< the first difference, in words
};

/// Makes the decisions of a log again. A `failure` names the line that is no line of a log.
[[nodiscard]] replay_result replay_log(std::string const& file);
/// The same of what has been opened. @param name what the file is called when something is wrong
[[nodiscard]] replay_result replay_log(std::istream& in, std::string const& name);

} // namespace straggle_rank
