// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The metrics of the program in Prometheus' text format.
#pragma once

#include "watch.hpp"

#include <cstdint>
#include <string>

namespace straggle_watch {

/// What the watch itself does not know.
struct process_numbers {
    bool is_decider = true;
    std::uint64_t connections = 0, refused = 0, dropped = 0, write_faults = 0, journal_bytes = 0;
    double wall = 0;
};

[[nodiscard]] std::string metrics_text(watch const& of, process_numbers const& process);

} // namespace straggle_watch
