// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What goes wrong in a scenario.
#pragma once

#include "scenario.hpp"

namespace lab {

/// Gives nodes their faults and absences. The words of the table:
///
/// | fault | what |
/// |---|---|
/// | none | nothing |
/// | few_2x, tenth_13 | 5 % of the nodes take 2 times as long, 10 % take 1.3 times, for good |
/// | episodes | each node takes 3 times as long for 10 to 40 minutes now and then, a tenth of its time |
/// | gradual | 10 % of the nodes get slower, step by step, up to 3 times |
/// | hung | 5 % of the nodes take 20 times as long from some time on |
/// | rack | all nodes of a rack take 2 times as long |
/// | slow_40 | 40 % of the nodes take 1.5 times as long |
/// | attempts | 1 % of the attempts take 5 times as long, wherever they run |
/// | peaks | a fifth of the nodes take 2.5 times as long at the peak of each hour, for a third of it |
/// | hole | on 1 % of the nodes all attempts fail, soon |
///
/// Permanent faults begin within the first quarter of the time in which jobs arrive.
void make_faults(scenario const& what, double time, draw& d, plan& out);

} // namespace lab
