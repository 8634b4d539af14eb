// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The laboratory: what policies do to job times on a simulated cluster that obeys them.
#include "policies/make_policy.hpp"
#include "run/options.hpp"
#include "run/study.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace lab;

std::vector<scenario> all_scenarios(options const& how) {
    std::vector<scenario> all;
    if (how.edges) all = edge_scenarios();
    for (std::size_t i = 0; i < how.drawn; ++i) all.push_back(draw_scenario(how.draw_seed, i));
    return all.empty() ? read_scenarios(how.table) : all;
}

std::vector<scenario> chosen(options const& how, bool have_histories) {
    std::vector<scenario> all;
    for (scenario& s : all_scenarios(how)) {
        bool const fit = how.scenarios.empty() ||
                         std::any_of(how.scenarios.begin(), how.scenarios.end(),
                                     [&](std::string const& pattern) { return fits(s.name, pattern); });
        if (!fit || s.is_held_out != how.held_out) continue;
        if (s.needs_histories() && !have_histories) {
            std::fprintf(stderr, "%s is left out: there are no histories here\n", s.name.c_str());
            continue;
        }
        all.push_back(std::move(s));
    }
    if (all.empty()) throw std::runtime_error("no scenario fits");
    return all;
}

std::vector<std::string> policies(options const& how) {
    std::vector<std::string> names{"nothing"};
    auto const add = [&](std::string const& name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    if (how.policies.empty())
        for (policy_entry const& e : all_policies())
            if (!e.on_request) add(std::string(e.name));
    for (std::string const& name : how.policies) add(std::string(find_policy(name).name));
    return names;
}

void list(options const& how) {
    for (scenario const& s : all_scenarios(how))
        std::printf("%-26s %s\n", s.name.c_str(), describe(s).c_str());
    std::puts("");
    for (policy_entry const& e : all_policies())
        std::printf("%-26s %s\n", std::string(e.name).c_str(), std::string(e.what).c_str());
}

} // namespace

int main(int argc, char** argv) {
    options const how = parse(argc, argv);
    try {
        if (how.list) {
            list(how);
            return 0;
        }
        histories const seen = read_histories(how.histories);
        study s(how, chosen(how, !seen.empty()), policies(how), seen);
        s.run();
        s.print();
        s.print_deadlines();
    } catch (std::exception const& e) {
        std::fprintf(stderr, "effectiveness: %s\n", e.what());
        return 1;
    }
    return 0;
}
