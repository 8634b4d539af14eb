// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What is too old for the library says so in one line.
// expect: .*straggle needs (g\+\+ 11|clang 17)

#ifndef STRAGGLE_CONTROL
#ifdef __clang__
#undef __clang_major__
#define __clang_major__ 16
#else
#undef __GNUC__
#define __GNUC__ 10
#endif
#endif
#include <straggle/version.hpp>

#include <straggle/base/config.hpp>
