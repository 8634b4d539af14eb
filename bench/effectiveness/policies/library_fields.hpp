// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How the library reads what the cluster shows: attempts that ended, and tasks that run.
#pragma once

#include "../cluster/policy.hpp"

#include <straggle/record/attempt.hpp>

namespace lab {

inline straggle::attempt_status status_of(attempt_record const& a) {
    switch (a.how) {
    case ending::finished:
        return straggle::attempt_status::success;
    case ending::failed:
        return straggle::attempt_status::failed;
    case ending::killed:
    case ending::lost:
        break;
    }
    return straggle::attempt_status::killed;
}

/// Siblings are the tasks of one job.
inline constexpr straggle::attempt_fields attempt_fields{.job = &attempt_record::job,
                                                         .task = &attempt_record::task,
                                                         .node = &attempt_record::node,
                                                         .start = &attempt_record::start,
                                                         .end = &attempt_record::end,
                                                         .status = status_of};

} // namespace lab
