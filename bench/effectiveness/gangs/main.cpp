// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What the library gains for gangs, against doing nothing and against an oracle.
///
///     gangs TABLE.csv tuning|reporting
#include "../run/measurement.hpp"
#include "../run/options.hpp"
#include "gang.hpp"

#include <cstdio>
#include <exception>

namespace {

using namespace lab;

void print_row(gang_scenario const& what, std::uint64_t first_seed) {
    std::vector<double> nothing, library, oracle;
    std::uint64_t named = 0, replaced = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + what.gangs; ++seed) {
        gang_plan const plan = make_gang(what, seed);
        gang_result const watched = run_gang(plan, "library");
        nothing.push_back(run_gang(plan, "nothing").time);
        library.push_back(watched.time);
        oracle.push_back(run_gang(plan, "oracle").time);
        named += watched.named ? 1 : 0;
        replaced += watched.replaced;
    }
    comparison const ours = compare(library, nothing), best = compare(oracle, nothing);
    std::printf("| `%s` | %llu | %u | %.1f (%.1f to %.1f) | %.1f | ", what.name.c_str(),
                static_cast<unsigned long long>(what.gangs), what.ranks, 100 * ours.point,
                100 * (ours.point - ours.half_width), 100 * (ours.point + ours.half_width), 100 * best.point);
    if (best.point < -0.01)
        std::printf("%.0f", 100 * ours.point / best.point);
    else
        std::fputs("-", stdout);
    std::printf(" | %.2f | %llu |\n", static_cast<double>(replaced) / static_cast<double>(what.gangs),
                static_cast<unsigned long long>(named));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const seeds = argc == 3 ? argv[2] : "";
    if (seeds != "tuning" && seeds != "reporting") {
        std::fputs("usage: gangs TABLE.csv tuning|reporting\n", stderr);
        return 2;
    }
    try {
        std::vector<gang_scenario> const all = read_gangs(argv[1]);
        std::puts(
            "| scenario | gangs | ranks | time % | oracle % | of its gain % | replaced per gang | gangs "
            "with a rank named |\n|---|---:|---:|---:|---:|---:|---:|---:|");
        for (gang_scenario const& what : all)
            print_row(what, seeds == "tuning" ? first_tuning_seed : first_reporting_seed);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "gangs: %s\n", e.what());
        return 1;
    }
    return 0;
}
