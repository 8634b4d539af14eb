// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The command line.
#pragma once

#include "watch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace straggle_watch {

struct options {
    watch_options watch{};
    std::string socket, follow; ///< neither: standard input
    std::string state, metrics, log, lease;
    double lease_length = 30, timer = 0, snapshot_every = 600; ///< seconds; a timer of 0: none
    std::uint64_t snapshot_bytes = std::uint64_t{64} << 20;
    std::size_t most_connections = 64;
    std::uint64_t waiting_output = std::uint64_t{16} << 20; ///< most bytes that a connection may leave unread
};

/// Empty if help or the version was requested.
[[nodiscard]] std::optional<options> parse_command_line(int argc, char const* const* argv);

} // namespace straggle_watch
