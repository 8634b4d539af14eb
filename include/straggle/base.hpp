// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `base/`: no scheduling word: results, contracts, bytes, identifiers, publishing.
/// Begin with `outcome`, `interner`, `published`.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/frame.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/idle_order.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/leading_count.hpp>
#include <straggle/base/library_version.hpp>
#include <straggle/base/no_index.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/prefetch.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/base/published.hpp>
#include <straggle/base/random.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/base/rare_ids.hpp>
#include <straggle/base/row_sort.hpp>
#include <straggle/base/rule_name.hpp>
#include <straggle/base/simd.hpp>
#include <straggle/base/size.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/spread_sort.hpp>
#include <straggle/base/storable.hpp>
#include <straggle/base/token_bucket.hpp>
