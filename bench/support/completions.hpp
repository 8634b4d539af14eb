// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Jobs that overlap in time, as a log of completions has them.
#pragma once

#include "lcg.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace straggle_bench {

/// A task that ended.
struct completion {
    double at;
    std::uint32_t job, node;
    double took;
};

enum class order { by_time, random };

/// @param size how many
/// @param tasks of a job
/// @param nodes of which one in 50 is 1.8 times as slow
inline std::vector<completion> completions(std::size_t size, std::size_t tasks, std::uint32_t nodes,
                                           order how) {
    lcg random;
    std::vector<completion> log;
    log.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        auto const job = static_cast<std::uint32_t>(i / tasks);
        std::uint32_t const node = random() % nodes;
        double const slow = node % 50 == 7 ? 1.8 : 1.0;
        double const took = (900.0 + 200.0 * (random.uniform() + random.uniform())) * (1 + job % 17) * slow;
        log.push_back({job * 300.0 + took, job, node, took});
    }
    if (how == order::by_time)
        std::sort(log.begin(), log.end(),
                  [](completion const& a, completion const& b) { return a.at < b.at; });
    else
        for (std::size_t i = size; i > 1; --i) std::swap(log[i - 1], log[random() % i]);
    return log;
}

} // namespace straggle_bench
