// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How the program is called.
#pragma once

#include <cstdint>
#include <string>

namespace straggle_mpi {

enum class output_format : std::uint8_t { text, json, csv };

struct options {
    std::string text; ///< what to print instead of ranking: help or the version
    std::string file;
    output_format format = output_format::text;
    bool csv_safe = false; ///< no cell is a formula
};

/// Reads the command line; a `failure` says what is wrong with it.
[[nodiscard]] options parse_command_line(int argc, char const* const* argv);

} // namespace straggle_mpi
