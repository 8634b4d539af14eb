// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "records.hpp"

#include <straggle/detect/late.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/mitigate/stages.hpp>

std::string decided_by_own_stage() {
    straggle::mitigator m{
        ended_fields,
        running_fields,
        host_fields,
        {},
        straggle::mitigate::stages{.tasks = straggle::detect::straggler_scan{straggle::detect::late{}}}};
    return decide_rounds(m);
}
