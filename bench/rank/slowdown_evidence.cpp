// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How often the intervals of `slowdown_evidence` contain the truth, and how soon and how often wrongly
/// `node_stage` names nodes: prints the Markdown tables for docs/reference. An argument multiplies the number
/// of runs (default 1: about a minute).
#include <straggle/blacklist/node_stage.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace straggle;
using engine = std::mt19937_64;

struct durations {
    char const* name;
    double cv; // lognormal and gamma
};
durations const kinds[] = {{"lognormal", 0.1}, {"lognormal", 0.6}, {"lognormal", 1.0}, {"gamma", 0.3},
                           {"gamma", 1.0},     {"Pareto 1.8", 0},  {"two sizes", 0}};

double draw(durations const& kind, engine& random) {
    std::string const name = kind.name;
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    if (name == "lognormal") return std::exp(std::sqrt(std::log1p(kind.cv * kind.cv)) * normal(random));
    if (name == "gamma") {
        double const shape = 1 / (kind.cv * kind.cv);
        return std::gamma_distribution<double>(shape, 1 / shape)(random) + 1e-9;
    }
    if (name == "Pareto 1.8") return std::pow(1 - uniform(random), -1 / 1.8);
    return (uniform(random) < 0.2 ? 3.0 : 0.5) * std::exp(0.2 * normal(random));
}

void coverage(unsigned scale) {
    std::printf(
        "| nodes | tasks per node and job | durations | cv | intervals | hold the truth | width (ratio) |\n"
        "|---|---|---|---|---|---|---|\n");
    for (unsigned const nodes : {2u, 3u, 5u, 10u, 100u, 500u})
        for (unsigned const tasks : {1u, 3u, 20u})
            for (durations const& kind : kinds) {
                unsigned held = 0, all = 0;
                double width = 0;
                for (unsigned run = 0; run * nodes < 1500 * scale; ++run) {
                    engine random(run * 7919u + nodes * 31u + tasks);
                    std::vector<double> factors(nodes, 1.0);
                    if (nodes >= 5) factors[3] = 1.8;
                    slowdown_evidence evidence;
                    double now = 0;
                    for (std::uint64_t job = 0; job < (tasks == 1 ? 16u : 6u); ++job) {
                        for (std::uint32_t n = 0; n < nodes; ++n)
                            for (unsigned k = 0; k < tasks; ++k)
                                evidence.observe({n, job, n * 100u + k, now,
                                                  now + factors[n] * draw(kind, random) *
                                                            (1.0 + static_cast<double>(job % 3))});
                        now += 10;
                        evidence.finish_job(job);
                        evidence.update(now, {}, {});
                    }
                    for (std::uint32_t n = 0; n < nodes; ++n) {
                        slowdown const s = evidence.slowdown_of(n);
                        if (!s.is_known()) continue;
                        ++all;
                        if (s.low <= factors[n] && factors[n] <= s.high) ++held;
                        width += std::log(s.high / s.low);
                    }
                }
                std::printf("| %u | %u | %s | %.1f | %u | %.3f | %.2f |\n", nodes, tasks, kind.name, kind.cv,
                            all, static_cast<double>(held) / all, std::exp(width / all));
                std::fflush(stdout);
            }
}

} // namespace

int main(int count, char** values) {
    coverage(count > 1 ? static_cast<unsigned>(std::max(1, std::atoi(values[1]))) : 1);
}
