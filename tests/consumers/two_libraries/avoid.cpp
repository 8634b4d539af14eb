// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The first library: which nodes to avoid. Compiled as embedded programs are, and with the headers in one
// order.
#include "libraries.hpp"

#include <straggle/base/contract.hpp>
#include <straggle/straggle.hpp>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this library is to be compiled without exceptions and RTTI"
#endif

namespace avoid {

account judge(std::vector<attempt> const& attempts) {
    auto const ranking = straggle::rank_nodes(attempts, fields);
    account a{&straggle::library_version, {}, {}};
    for (auto const& node : ranking.nodes()) a.means.push_back(node.mean);
    auto const decision =
        straggle::blacklister{straggle::blacklist::dominated{}, straggle::blacklist::at_most{1}}.decide(
            ranking);
    for (auto const& verdict : decision.blacklisted()) a.avoided.push_back(verdict.id);
    return a;
}

void break_a_contract() {
    STRAGGLE_EXPECTS(1 + 1 == 3);
}

} // namespace avoid
