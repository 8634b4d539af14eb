// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What `sibling_times` remembers, and how fast it learns.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::predict {

/// Bounds of `sibling_times`, and how fast it learns.
struct sibling_times_options {
    std::size_t most_jobs = 4096;  ///< jobs remembered; the least recently seen is dropped first
    std::size_t most_kinds = 1024; ///< kinds remembered, likewise
    double job_weight = 4;         ///< weight of the kind's data, in ended siblings
    double kind_weight = 30;       ///< weight of the cluster's data, in tasks of the kind
    double cluster_weight = 30;    ///< weight of the prior, in tasks of the cluster
    double kind_memory = 2000;     ///< tasks of a kind after which half is forgotten
};

} // namespace straggle::predict
