// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a `race_record` believes before the first race.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::assign {

/// Prior beliefs before the first race.
struct race_record_options {
    double of_task = 0.5;          ///< share of late tasks that are late because of themselves
    double as_many = 6;            ///< weight of this prior in races
    double remembered = 100;       ///< races; beyond, older ones fade
    std::size_t most_kinds = 1024; ///< kinds kept apart; further ones share the record of all
};

} // namespace straggle::assign
