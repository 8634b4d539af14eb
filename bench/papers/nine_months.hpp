// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Nine months of a cluster of 116 equal nodes, made up: task records to learn from where the recorded ones
/// (OpenCloud) are not at hand. Calibrated to what the papers print about those: 5 % of the tasks take more
/// than 1.5 times the mean of their job, almost half of the jobs have such a task, nodes are weak for some
/// weeks and then recover, some are switched on in some months only, month 7 begins with three idle days.
#pragma once

#include "cluster/draw.hpp"

#include <straggle/record/attempt.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace nine_months {

inline constexpr std::size_t nodes = 116, months = 9, days_per_month = 30;

/// One task that was successful.
struct record {
    std::uint32_t job, node;
    std::uint32_t day; ///< on which the job was submitted, from 0 to 269
    double took;       ///< seconds
};

/// Which members of a record are what.
inline constexpr straggle::attempt_fields fields{
    .job = &record::job, .node = &record::node, .duration = &record::took};

/// What the months are drawn from.
using dice = cluster::draws<std::mt19937_64>;

/// How slow a node is day by day: the logarithm of the factor on the times of its tasks. Now and then it
/// becomes weak, within some days (an aging disk, a noisy neighbor), stays so for some weeks, and recovers on
/// the day it is repaired.
inline std::vector<double> slowdown(dice& d) {
    std::size_t const days = months * days_per_month;
    std::vector<double> log(days);
    double const own = 0.03 * d.normal();
    double until_weak = d.exponential(240), weak_days = 0, grown = 0, depth = 0, growth = 0;
    for (std::size_t day = 0; day < days; ++day) {
        if (weak_days > 0) {
            grown = std::min(1.0, grown + growth);
            if ((weak_days -= 1) <= 0) until_weak = d.exponential(240);
        } else if ((until_weak -= 1) <= 0) {
            weak_days = 15 + d.exponential(40);
            depth = 0.25 + d.exponential(0.2);
            growth = 1 / (1 + d.exponential(8));
            grown = 0;
        }
        log[day] = own + 0.02 * d.normal() + (weak_days > 0 ? grown * depth : 0.0);
    }
    return log;
}

/// The records of all months, in order of time.
/// @param seed each gives a cluster of its own
/// @param jobs_per_day mean
inline std::vector<record> make(std::uint64_t seed, double jobs_per_day = 60) {
    dice d(seed);
    std::vector<std::vector<double>> log;
    for (std::size_t k = 0; k < nodes; ++k) log.push_back(slowdown(d));
    std::vector<record> all;
    std::uint32_t job = 0;
    for (std::size_t day = 0; day < months * days_per_month; ++day) {
        std::size_t const month = day / days_per_month;
        if (month == 6 && day % days_per_month < 3) continue; // no job is submitted
        std::vector<std::uint32_t> on;
        for (std::size_t k = 0; k < nodes; ++k) {
            if (k >= 80 && k < 100 && month != 4) continue; // these twenty are rented for month 5
            if (d.uniform() < 0.04) continue;               // down, or nothing to do
            on.push_back(static_cast<std::uint32_t>(k));
        }
        auto const jobs = static_cast<std::size_t>(jobs_per_day * (0.4 + 1.2 * d.uniform()));
        for (std::size_t j = 0; j < jobs; ++j, ++job) {
            double const usual = std::exp(3.5 + 1.1 * d.normal()); // 10 s to 5 min
            auto const tasks = static_cast<std::size_t>(4 + std::exp(2.1 + 1.2 * d.normal()));
            double const spread = 0.08 + 0.1 * d.uniform(), skew = d.uniform() < 0.2 ? 0.11 : 0.007;
            for (std::size_t t = 0; t < tasks; ++t) {
                std::uint32_t const node = on[d.below(on.size())];
                double logarithm = log[node][day] + spread * d.normal();
                if (d.uniform() < skew) logarithm += 0.4 + d.exponential(0.45); // contention, skewed input
                all.push_back({job, node, static_cast<std::uint32_t>(day), usual * std::exp(logarithm)});
            }
        }
    }
    return all;
}

/// What the papers count of a history: tasks that take more than 1.5 times the mean of their job.
struct straggler_counts {
    std::size_t tasks = 0, stragglers = 0, jobs = 0;
    std::size_t jobs_hit = 0; ///< with one straggler at least
};

/// Counts them.
/// @param all records; those of a job are consecutive
inline straggler_counts count_stragglers(std::vector<record> const& all) {
    straggler_counts c{.tasks = all.size()};
    for (std::size_t first = 0; first < all.size();) {
        std::size_t last = first, slow = 0;
        double sum = 0;
        for (; last < all.size() && all[last].job == all[first].job; ++last) sum += all[last].took;
        for (std::size_t i = first; i < last; ++i)
            slow += all[i].took > 1.5 * sum / static_cast<double>(last - first);
        c.stragglers += slow;
        c.jobs_hit += slow > 0;
        ++c.jobs;
        first = last;
    }
    return c;
}

} // namespace nine_months
