// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `mitigate/`: all of it in one object.
/// Begin with `cluster_watch`.
#pragma once

#include <straggle/mitigate/cluster_watch.hpp>
