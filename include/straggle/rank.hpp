// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `rank/`: how well does each node run tasks?
/// Begin with `rank_nodes`, `node_ranker`.
#pragma once

#include <straggle/rank/monitor.hpp>
#include <straggle/rank/monitor_counts.hpp>
#include <straggle/rank/monitor_options.hpp>
#include <straggle/rank/normalize.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/p_cores.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/rank/sibling_normalizers.hpp>
#include <straggle/rank/slowdown_evidence.hpp>
#include <straggle/rank/slowdown_evidence_options.hpp>
