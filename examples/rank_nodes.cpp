// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The first minute: from a scheduler's own records to a blacklist. The README shows the marked parts.

//! [records]
#include <straggle/blacklist/blacklister.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

// A record as a scheduler has it; the library reads it in place.
struct attempt {
    std::string job, host;
    std::chrono::milliseconds took;
    bool ok;
};

// Which member is what, named once.
constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::host, .duration = &attempt::took, .status = &attempt::ok};
//! [records]

// Six nodes, thirty jobs of twelve tasks; host-4 needs about twice as long as the others.
std::vector<attempt> a_day_of_work() {
    std::vector<attempt> attempts;
    unsigned noise = 1;
    for (int job = 0; job < 30; ++job) {
        for (int task = 0; task < 12; ++task) {
            noise = noise * 1664525u + 1013904223u;
            int const host = static_cast<int>((noise >> 16) % 6);
            int const usual = 1000 * (1 + job % 5);
            int const took = (usual + static_cast<int>((noise >> 8) % 300)) * (host == 4 ? 2 : 1);
            attempts.push_back({"job-" + std::to_string(job), "host-" + std::to_string(host),
                                std::chrono::milliseconds(took), task != 7});
        }
    }
    return attempts;
}

int main() {
    std::vector<attempt> const attempts = a_day_of_work();

    //! [rank]
    auto const ranking = straggle::rank_nodes(attempts, fields); // eq. 1 -> algorithm 2 -> algorithm 3
    for (auto const& node : ranking.level(0))                    // the weakest: none is provably slower
        std::cout << node.id << ": " << node.n << " tasks, mean " << node.mean << ", 95 % sure it is in ["
                  << node.ci.low << ", " << node.ci.high << "]\n";
    //! [rank]

    //! [decide]
    auto const decision = straggle::blacklister{}.decide(ranking); // which to avoid, each with its reason
    for (auto const& verdict : decision.blacklisted())
        std::cout << "avoid " << verdict.id << ": takes " << verdict.slow.value
                  << " times as long as elsewhere (" << verdict.slow.low << " to " << verdict.slow.high
                  << "), " << verdict.n << " tasks\n";
    for (auto const& verdict : decision.spared())
        std::cout << verdict.id << " is weak too, but " << verdict.spared_by << " keeps it in service\n";
    //! [decide]

    auto const& counts = ranking.attempts();
    std::cout << counts.used << " of " << counts.seen << " attempts used, " << counts.failed << " failed, "
              << counts.total_rejected() << " rejected\n";
}
