// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What every consumer builds: the headers are the ones meant, and they compute.
#include <straggle/straggle.hpp>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
    constexpr auto version = straggle::library_version;
    char text[64];
    std::snprintf(text, sizeof text, "%d.%d.%d", version.major_number, version.minor_number,
                  version.patch_number);
    if (argc != 2 || std::strcmp(argv[1], text) != 0) {
        std::printf("these headers are version %s\n", text);
        return 1;
    }
    constexpr straggle::confidence_level level{0.5};
    return level.tail() == 0.25 && !straggle::confidence_level::from(1.5) ? 0 : 1;
}
