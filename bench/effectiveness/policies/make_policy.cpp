// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "make_policy.hpp"

#include <algorithm>
#include <stdexcept>

namespace lab {

namespace {

std::vector<policy_entry>& entries() {
    static std::vector<policy_entry> all;
    return all;
}

} // namespace

std::vector<policy_entry> const& all_policies() {
    return entries();
}

policy_entry const& find_policy(std::string_view name) {
    for (policy_entry const& e : entries())
        if (e.name == name) return e;
    throw std::runtime_error("no policy is called " + std::string(name));
}

add_policy::add_policy(policy_entry const& entry) {
    auto const by_name = [](policy_entry const& a, policy_entry const& b) { return a.name < b.name; };
    entries().insert(std::upper_bound(entries().begin(), entries().end(), entry, by_name), entry);
}

} // namespace lab
