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
    std::vector<task> tasks; // yours; here ten jobs of eight tasks on four nodes, n3 slow
    std::string const names[] = {"n0", "n1", "n2", "n3"};
    for (int i = 0; i < 80; ++i) {
        int const node = i * 7 % 4;
        tasks.push_back({i / 8, names[node], 10.0 + i * 37 % 11 / 10.0 + (node == 3 ? 6.0 : 0.0)});
    }

    auto const ranking = straggle::rank_nodes(
        tasks, straggle::attempt_fields{.job = &task::job, .node = &task::node, .duration = &task::seconds});
    for (auto const& node : ranking.nodes())
        std::cout << node.id << ": level " << node.level << ", mean score " << node.mean << '\n';
    auto const decision =
        straggle::blacklister{straggle::blacklist::dominated{}, straggle::blacklist::at_most{1}}.decide(
            ranking);
    for (auto const& verdict : decision.blacklisted()) std::cout << "avoid " << verdict.id << '\n';
}
//! [program]
