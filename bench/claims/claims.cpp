// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whether claims about running tasks come true, for docs/reference/claims.md (bench/claims.sh writes it): how
// much time they have left, on real and simulated histories; whether copies win, for all pairs priced and for
// those launched, also where nodes are slow for a while; which tasks are late, with each kind of progress and
// without any.
//
//   claims FOLDER left|wins|nodes|late      FOLDER has the shared histories

#include "reliability.hpp"

#include <string>

int main(int argc, char** argv) {
    std::string const folder = argc > 1 ? argv[1] : "../shared/data", what = argc > 2 ? argv[2] : "";
    int bad = 0;
    if (what.empty() || what == "left") bad += claims::print_left(folder);
    if (what.empty() || what == "wins") bad += claims::print_wins();
    if (what.empty() || what == "nodes") bad += claims::print_nodes();
    if (what.empty() || what == "late") bad += claims::print_late();
    return bad;
}
