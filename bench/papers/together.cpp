// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// All parts together against each alone and against what Hadoop, Spark and Flink do, on the same jobs of a
/// shared cluster: job time, slot time wasted, energy.
#include "cluster/isolated.hpp"
#include "report/report.hpp"
#include "together/observe.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace together;
using runs = std::vector<std::vector<double>>; // by seed

// What others do, each part alone, all of them.
constexpr std::array<char const*, 10> schedulers{"Hadoop",      "Spark",    "Flink",     "detector",
                                                 "predictor",   "assigner", "blacklist", "forecast",
                                                 "brief block", "together"};
// All parts but one, where it matters which.
constexpr std::array<char const*, 6> less{"without forecast",  "without blacklist",   "without brief block",
                                          "without predictor", "without recent_rate", "with Flink's rule"};

std::vector<runs> observe_all(report::options const& how, scenario const& where,
                              std::vector<char const*> const& names) {
    return cluster::run_grid(
        names.size(), how.repetitions(),
        [&](std::size_t who, std::size_t run) { return observe(where, names[who], run + 1); }, how.workers);
}

// The median of what `value` makes of a run and the reference's with the same seed.
template <class Value>
report::estimate of(runs const& r, runs const& reference, Value value) {
    std::vector<double> values;
    for (std::size_t i = 0; i < r.size(); ++i) values.push_back(value(r[i], reference[i]));
    return report::median_of(std::move(values));
}

void compare(report::table& out, report::options const& how, scenario const& where) {
    std::vector<char const*> names(schedulers.begin(), schedulers.end());
    if (where.come_and_go) names.insert(names.end(), less.begin(), less.end());
    std::vector<runs> const all = observe_all(how, where, names);
    for (std::size_t s = 0; s < all.size(); ++s) {
        for (auto const& [name, m] :
             {std::pair{"mean time", mean}, {"p99 time", p99}, {"wasted", wasted}, {"energy", joules}})
            out.row(where.name, names[s], std::string(name) + " over Hadoop's",
                    of(all[s], all[0], [m](auto const& a, auto const& b) { return a[m] / b[m] - 1; }));
        for (auto const& [name, m] : {std::pair{"mean seconds", mean},
                                      {"p99 seconds", p99},
                                      {"wasted", wasted},
                                      {"joules", joules},
                                      {"copies", copies},
                                      {"won", won},
                                      {"weak ones avoided", found},
                                      {"healthy ones avoided", healthy_out}})
            out.row(where.name, names[s], name,
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
