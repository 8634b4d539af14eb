// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Compares claims with what came true, and draws the luck of tasks.
#pragma once

#include <straggle/mitigate/speculator_options.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>

namespace claims {

using engine = std::mt19937_64;

// Claims in tenths against what came true. Claims about one job err together: intervals are clustered by job.
class reliability {
  public:
    void add(std::uint64_t job, double claim, bool came) {
        auto const tenth = (std::min)(static_cast<std::size_t>(claim * 10), std::size_t{9});
        cell& c = cells_[tenth];
        double const is = came ? 1 : 0;
        c.claimed += claim;
        c.came += is;
        c.count += 1;
        c.by_job[job] += claim - is;
        all_ += 1;
        sum_ += claim;
        squares_ += claim * claim;
        came_ += is;
        error_ += (claim - is) * (claim - is);
    }
    // Whether the tenths hold: a tenth is off by at most 0.1, or 0.1 lies within the interval of its error.
    bool print(std::string const& name) const {
        bool all_hold = true;
        std::string line;
        for (cell const& c : cells_) {
            double const jobs = static_cast<double>(c.by_job.size());
            if (jobs < 5) { // too few for an interval
                line += " |";
                continue;
            }
            double const off = (c.claimed - c.came) / c.count;
            double sum = 0;
            for (auto const& [job, d] : c.by_job) sum += d * d;
            double const half = 1.96 * std::sqrt(sum * jobs / (jobs - 1)) / c.count;
            bool const holds = std::abs(off) <= 0.1 || std::abs(off) - half <= 0.1;
            all_hold = all_hold && holds;
            char text[96];
            std::snprintf(text, sizeof text, " %+.2f ± %.2f%s |", off, half, holds ? "" : " **off**");
            line += text;
        }
        double const mean = sum_ / all_, base = came_ / all_;
        std::printf("| %s | %.0f |%s %.3f | %.3f | %.3f |\n", name.c_str(), all_, line.c_str(), error_ / all_,
                    base * (1 - base), squares_ / all_ - mean * mean);
        std::fflush(stdout);
        return all_hold;
    }
    static void head(char const* what) {
        std::printf("| %s | claims |", what);
        for (int i = 0; i < 10; ++i) std::printf(" 0.%d |", i);
        std::printf(" Brier | of the mean | sharpness |\n|---|---:|");
        for (int i = 0; i < 13; ++i) std::printf("---:|");
        std::printf("\n");
    }

  private:
    struct cell {
        double claimed = 0, came = 0, count = 0;
        std::map<std::uint64_t, double> by_job;
    };
    std::array<cell, 10> cells_{};
    double all_ = 0, sum_ = 0, squares_ = 0, came_ = 0, error_ = 0;
};

inline double normal(engine& g) {
    return std::normal_distribution<>()(g);
}
inline double uniform(engine& g) {
    return std::uniform_real_distribution<>()(g);
}
inline double even(engine&) {
    return 1;
}
inline double lognormal(engine& g) {
    return std::exp(0.3 * normal(g));
}
inline double pareto(engine& g) {
    return std::pow(1 - uniform(g), -1 / 1.8);
}
inline double bimodal(engine& g) {
    return (uniform(g) < 0.1 ? 4 : 1) * std::exp(0.1 * normal(g));
}

// For a planner that prices every late task, at no cost.
inline straggle::mitigate::speculator_options all_priced() {
    return {.least_win = 0, .slot_price = 0, .most_copies = 1, .storm = 1, .copies_per_task = 1};
}

// Each prints a table, and returns 0 if all its claims hold.
int print_left(std::string const& folder);
int print_wins();
int print_nodes();
int print_late();

} // namespace claims
