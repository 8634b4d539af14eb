// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Two libraries that know nothing of each other use straggle in one program: each definition is there once,
// whichever of them it is taken from, and both get the same answers.
#include "libraries.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int failed(char const* what) {
    std::printf("not as expected: %s\n", what);
    return 1;
}

// Set through one library, called by the other.
void expected_end(straggle::base::contract_violation const& violation) {
    std::_Exit(std::strcmp(violation.condition, "1 + 1 == 3") == 0 ? 0 : 1);
}

} // namespace

int main() {
    std::vector<attempt> attempts;
    for (int i = 0; i < 400; ++i) attempts.push_back({i / 40, i % 4, 1000 + i % 7 + (i % 4 == 3 ? 500 : 0)});

    account const one = avoid::judge(attempts), two = watch::judge(attempts);
    if (one.version != two.version || one.version != &straggle::library_version)
        return failed("one library_version in the program");
    if (one.means.size() != 4 || one.means != two.means) return failed("the same scores, to the bit");
    if (one.avoided != std::vector<int>{3} || two.avoided != one.avoided)
        return failed("node 3 is to be avoided");

    if (watch::install(expected_end) != nullptr) return failed("there was no handler");
    avoid::break_a_contract();
    return failed("a broken contract ends the program");
}
