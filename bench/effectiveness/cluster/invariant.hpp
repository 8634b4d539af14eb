// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What must hold in any run, whatever a policy does: checked in every build.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace lab {

[[noreturn]] inline void broken_invariant(char const* what, char const* file, int line) {
    std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    std::abort();
}

} // namespace lab

#define LAB_INVARIANT(condition)                                                                             \
    ((condition) ? static_cast<void>(0) : ::lab::broken_invariant(#condition, __FILE__, __LINE__))
