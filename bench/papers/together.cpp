// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The whole library with its defaults, against doing nothing and against what others do, on the same jobs of
/// a shared cluster: job time, slot time, energy. The policies are those of the laboratory.
#include "cluster/isolated.hpp"
#include "report/report.hpp"
#include "together/observe.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace together;
using runs = std::vector<std::vector<double>>; // by seed

// Doing nothing, which all are compared with, comes first.
constexpr std::array<char const*, 10> policies{"nothing",
                                               "library",
                                               "library_copies_only",
                                               "library_nodes_only",
                                               "library_places_only",
                                               "flink",
                                               "flink_limited",
                                               "spark",
                                               "hadoop",
                                               "late"};

// Other seeds than those of a smoke run, which may be looked at during development.
std::uint64_t seed_of(report::options const& how, std::size_t run) {
    return (how.smoke ? 1 : 1001) + run;
}

// The median of what `value` makes of a run and the reference's with the same seed.
template <class Value>
report::estimate of(runs const& r, runs const& reference, Value value) {
    std::vector<double> values;
    for (std::size_t i = 0; i < r.size(); ++i) values.push_back(value(r[i], reference[i]));
    return report::median_of(std::move(values));
}

void compare(report::table& out, report::options const& how, scenario const& where) {
    std::vector<runs> const all = cluster::run_grid(
        policies.size(), how.repetitions(),
        [&](std::size_t who, std::size_t run) { return observe(where, policies[who], seed_of(how, run)); },
        how.workers);
    for (std::size_t s = 0; s < all.size(); ++s) {
        for (auto const& [name, m] :
             {std::pair{"mean time", mean}, {"p99 time", p99}, {"slot time", used}, {"energy", joules}})
            out.row(where.name, policies[s], std::string(name) + " over nothing's",
                    of(all[s], all[0], [m](auto const& a, auto const& b) { return a[m] / b[m] - 1; }));
        for (auto const& [name, m] : {std::pair{"mean seconds", mean},
                                      {"p99 seconds", p99},
                                      {"wasted slot-seconds", wasted},
                                      {"joules", joules},
                                      {"copies", copies},
                                      {"won", won},
                                      {"trials", trials},
                                      {"healthy machine-hours out", healthy_out},
                                      {"weak machine-hours out", weak_out},
                                      {"weak machine-hours", weak},
                                      {"load", load}})
            out.row(where.name, policies[s], name,
                    of(all[s], all[s], [m](auto const& a, auto const&) { return a[m]; }));
    }
}

} // namespace

int main(int argc, char** argv) {
    return report::run(argc, argv, [](report::options const& how) {
        report::table out(how, "together");
        for (scenario const& where : scenarios) compare(out, how, where);
    });
}
