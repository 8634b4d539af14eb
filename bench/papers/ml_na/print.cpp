// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "study.hpp"

#include <cmath>
#include <cstdio>
#include <string>

namespace ml_na {

namespace {

void cell(char const* format, double share) {
    if (std::isnan(share))
        std::printf(" |");
    else
        std::printf(format, 100 * share);
}

void print(char const* title, grid const& g) {
    std::printf("%s: accuracy in %%\n\n| months learned from |", title);
    for (std::size_t m = 2; m <= nine_months::months; ++m) std::printf(" %zu |", m);
    std::printf(" all | precision | recall |\n|---|");
    for (std::size_t c = 0; c < grid::columns; ++c) std::printf("---|");
    for (std::size_t row = 0; row < grid::rows; ++row) {
        auto const& share = g.share[row];
        if (std::isnan(share[grid::accuracy])) continue; // one month is not enough to learn from
        std::string const name = row == grid::any        ? "any number"
                                 : row == grid::majority ? "all are what most were"
                                 : row == grid::repeat   ? "as in the month before"
                                                         : std::to_string(row + 1);
        std::printf("\n| %s |", name.c_str());
        for (std::size_t c = 0; c < grid::precision; ++c) cell(" %.1f |", share[c]);
        cell(" %.0f |", share[grid::precision]);
        cell(" %.0f |", share[grid::recall]);
    }
    std::printf("\n\n");
}

} // namespace

void print(study const& s, grid const& judged, grid const& expected) {
    auto const& c = s.stragglers;
    std::printf(
        "history: %zu tasks, %zu jobs; %.1f %% of the tasks are stragglers, %.0f %% of the jobs have one\n\n",
        c.tasks, c.jobs, 100.0 * static_cast<double>(c.stragglers) / static_cast<double>(c.tasks),
        100.0 * static_cast<double>(c.jobs_hit) / static_cast<double>(c.jobs));
    for (std::size_t m = 0; m < s.months.size(); ++m) {
        auto const& [found, carried, blank, three_features] = s.by_paper[m];
        std::printf("month %zu: %zu nodes;", m + 1, carried.nodes.size());
        for (auto const& t : found.tried) std::printf(" %zu:%.2f", t.groups, t.score);
        double const weak = found.groups.empty() ? 0 : static_cast<double>(found.groups[0].nodes);
        std::printf("; %zu groups, %.1f %% weak\n", found.groups.size(),
                    100 * weak / static_cast<double>(carried.nodes.size()));
    }
    std::printf("\n");
    print("by the features of the month itself (ML-NA table III)", judged);
    print("by the features of the month before", forecast(s.carried()));
    print("by the features of the month before, each of three days", expected);
    std::fflush(stdout);
}

} // namespace ml_na
