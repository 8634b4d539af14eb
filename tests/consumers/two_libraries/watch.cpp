// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The second library: the same attempts, shown one at a time. Compiled as servers are, and with the headers
// in another order.
#include <straggle/papers/dsb_2019.hpp>

#include <straggle/base/library_version.hpp>
#include <straggle/blacklist/blacklister.hpp>
#include <straggle/rank/monitor.hpp>

#include "libraries.hpp"

#ifndef __cpp_exceptions
#error "this library is to be compiled with exceptions"
#endif

namespace watch {

account judge(std::vector<attempt> const& attempts) {
    auto monitor = straggle::monitor_of<attempt>(fields);
    for (auto const& a : attempts) monitor.observe(a);
    auto const& ranking = monitor.rank();
    account a{&straggle::library_version, {}, {}};
    for (auto const& node : ranking.nodes()) a.means.push_back(node.mean);
    auto const decision =
        straggle::blacklister{straggle::blacklist::dominated{}, straggle::blacklist::at_most{1}}.decide(
            ranking);
    for (auto const& verdict : decision.blacklisted()) a.avoided.push_back(verdict.id);
    return a;
}

straggle::base::contract_handler install(straggle::base::contract_handler handler) {
    return straggle::base::set_contract_handler(handler);
}

} // namespace watch
