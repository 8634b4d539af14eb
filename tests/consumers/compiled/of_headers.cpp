// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "records.hpp"

#ifdef STRAGGLE_COMPILED
#error "straggle::straggle hands on the macro of straggle::compiled"
#endif

std::string decided_by_headers() {
    straggle::mitigator m{ended_fields, running_fields, host_fields};
    return decide_rounds(m);
}
std::size_t copies_of(straggle::mitigation_plan const& plan) {
    return plan.copies().size();
}
