// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The first minute with the library, without an include of it. The standard headers stand above the import.
#include <cstdio>
#include <vector>

import straggle;

unsigned avoided_by_the_including_unit(straggle::node_ranking<unsigned, unsigned> const& ranking);

namespace {

struct attempt {
    unsigned job, host;
    double took;
    bool ok;
};

constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::host, .duration = &attempt::took, .status = &attempt::ok};

// Six nodes, thirty jobs of twelve tasks; host 4 needs about twice as long as the others.
std::vector<attempt> a_day_of_work() {
    std::vector<attempt> attempts;
    unsigned noise = 1;
    for (unsigned job = 0; job < 30; ++job) {
        for (unsigned task = 0; task < 12; ++task) {
            noise = noise * 1664525u + 1013904223u;
            unsigned const host = (noise >> 16) % 6;
            double const usual = 1000.0 * (1 + job % 5) + (noise >> 8) % 300;
            attempts.push_back({job, host, usual * (host == 4 ? 2 : 1), task != 7});
        }
    }
    return attempts;
}

} // namespace

int main() {
    constexpr straggle::version version = straggle::library_version;
    std::printf("straggle %d.%d.%d\n", version.major_number, version.minor_number, version.patch_number);

    std::vector<attempt> const attempts = a_day_of_work();
    auto const ranking = straggle::rank_nodes(attempts, fields);
    for (auto const& node : ranking.level(0)) std::printf("weakest: host %u\n", node.id);
    auto const decision = straggle::blacklister{}.decide(ranking);
    for (auto const& verdict : decision.blacklisted())
        std::printf("avoid host %u: slower than %zu others\n", verdict.id,
                    static_cast<std::size_t>(verdict.provably_faster));

    // What a unit with includes has made is what this one has imported.
    std::printf("the other unit avoids host %u\n", avoided_by_the_including_unit(ranking));
}
