// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A unit that includes the library: the first host it would avoid, by a ranking that another unit has made,
// which imports it.
#include <straggle/straggle.hpp>

unsigned avoided_by_the_including_unit(straggle::node_ranking<unsigned, unsigned> const& ranking);

unsigned avoided_by_the_including_unit(straggle::node_ranking<unsigned, unsigned> const& ranking) {
    auto const decision = straggle::blacklister{}.decide(ranking);
    return decision.blacklisted().empty() ? ~0u : decision.blacklisted().front().id;
}
