// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The first minute: records in, which nodes to avoid out.

//! [program]
#include <straggle/straggle.hpp>

#include <iostream>
#include <string>
#include <vector>

struct task {
    int job;
    std::string node;
    double seconds;
};

int main() {
    std::string const names[] = {"n0", "n1", "n2", "n3"};
    std::vector<task> tasks; // yours; here five jobs of eight tasks, n3 slow
    for (int i = 0; i < 40; ++i)
        tasks.push_back({i / 8, names[i % 4], 10.0 + i * 7 % 3 + (i % 4 == 3 ? 6 : 0)});

    auto const ranking = straggle::rank_nodes(
        tasks, straggle::attempt_fields{.job = &task::job, .node = &task::node, .duration = &task::seconds});
    for (auto const& node : ranking.nodes())
        std::cout << node.id << ": level " << node.level << ", " << node.slow.value << " times as long ("
                  << node.slow.low << " to " << node.slow.high << ")\n";
    auto const decision = straggle::blacklister{}.decide(ranking);
    for (auto const& verdict : decision.blacklisted()) std::cout << "avoid " << verdict.id << '\n';
}
//! [program]
