// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "records.hpp"

#include <cstdio>

template <class Part>
concept is_parsed = requires { sizeof(Part); };
static_assert(!is_parsed<straggle::node_stage>, "a thin unit parses the core");

int main() {
    straggle::mitigator m{ended_fields, running_fields, host_fields};
    std::string const compiled = decide_rounds(m), headers = decided_by_headers();
    if (compiled != headers || compiled.find('>') == std::string::npos) {
        std::printf("compiled %s\nheaders  %s\n", compiled.c_str(), headers.c_str());
        return 1;
    }
    if (decided_by_own_stage().size() < 100 || copies_of(m.plan()) != m.plan().copies().size()) return 2;

    straggle::mitigator restored{ended_fields, running_fields, host_fields};
    if (restored.restore(m.serialize()) != straggle::status::ok) return 3;
    return restored.serialize() == m.serialize() ? 0 : 4;
}
