// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The package holds the headers of the version that its name says, and they compute.
#include <straggle/straggle.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

struct attempt {
    int job, node, took;
};

int main(int argc, char** argv) {
    constexpr auto version = straggle::library_version;
    char text[64];
    std::snprintf(text, sizeof text, "%d.%d.%d", version.major_number, version.minor_number,
                  version.patch_number);
    if (argc != 2 || std::strcmp(argv[1], text) != 0) {
        std::printf("these headers are version %s\n", text);
        return 1;
    }
    std::vector<attempt> attempts;
    for (int i = 0; i < 400; ++i) attempts.push_back({i / 40, i % 4, 1000 + i % 7 + (i % 4 == 3 ? 500 : 0)});
    constexpr straggle::attempt_fields fields{
        .job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};
    auto const ranking = straggle::rank_nodes(attempts, fields);
    return ranking.level(0).size() == 1 && ranking.level(0)[0].id == 3 ? 0 : 1;
}
