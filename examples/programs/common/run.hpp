// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How a program ends: with what its work returns, or with one line on standard error.
#pragma once

#include "failure.hpp"
#include "text.hpp"

#include <cstdio>
#include <iostream>
#include <new>

#include <fcntl.h>

namespace program {

/// A closed standard stream would be the next file that is opened. Replaces it with a stream that fails as
/// soon as it is read or written.
inline void occupy_closed_streams() {
    for (int const stream : {0, 1, 2})
        if (::fcntl(stream, F_GETFD) < 0)
            static_cast<void>(::open("/dev/null", stream == 1 ? O_RDONLY : O_WRONLY));
}

/// Runs `work()`, which returns an exit status.
template <class Work>
int run(char const* name, Work&& work) {
    occupy_closed_streams();
    std::ios::sync_with_stdio(false);
    try {
        return work();
    } catch (failure const& e) {
        std::fprintf(stderr, "%s: %s\n", name, printable(e.what()).c_str());
        return static_cast<int>(e.status());
    } catch (std::bad_alloc const&) {
        std::fprintf(stderr, "%s: not enough memory\n", name);
        return static_cast<int>(exit_status::bad_input);
    }
}

/// Flushes the output; a `failure` if it cannot be written.
inline void flush_output() {
    if (!std::cout.flush()) throw failure(exit_status::cannot_write, "standard output: cannot be written");
}

} // namespace program
