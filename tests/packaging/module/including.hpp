// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
#pragma once

// In a unit that includes the library: the first host it would avoid.
unsigned avoided_by_the_including_unit(straggle::node_ranking<unsigned, unsigned> const& ranking);
