// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What a `blacklister` and a `dynamic_blacklist` avoid by their defaults: a line of names for each. Reads
// attempts from standard input, one per line: job, node, start and end in milliseconds, in order of their
// ends.
#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/dynamic_blacklist.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

namespace {

struct attempt {
    std::string job, node;
    double start, end;
};
constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::node, .start = &attempt::start, .end = &attempt::end};

template <class Decision>
void print(Decision const& decision) {
    std::vector<std::string> names;
    for (auto const& v : decision.blacklisted()) names.push_back(v.id);
    std::ranges::sort(names);
    for (auto const& name : names) std::cout << name << ' ';
    std::cout << '\n';
}

} // namespace

int main() {
    std::vector<attempt> attempts;
    for (attempt a; std::cin >> a.job >> a.node >> a.start >> a.end;) attempts.push_back(a);
    if (attempts.empty()) return 1;
    print(straggle::blacklister{}.decide(straggle::rank_nodes(attempts, fields)));
    straggle::dynamic_blacklist list(fields);
    for (attempt const& a : attempts) list.observe(a);
    print(list.decide(attempts.back().end));
}
