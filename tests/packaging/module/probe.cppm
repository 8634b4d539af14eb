// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A small module made the way straggle's is; probe_main.cpp uses it.
module;
#include "probe.hpp"
export module probe;

export namespace probe {
using probe::answer;
using probe::count;
using probe::fields;
using probe::number;
using probe::order;
using probe::read;
using probe::sums;
using probe::to_string;
} // namespace probe
