// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What `straggle::compiled` compiles once: the loop and the ranking with the default parts, and tables of
/// names, so that a unit has only the templates on its own records to compile.

#include <straggle/base/interner.hpp>
#include <straggle/mitigate/detail/mitigation_loop.hpp>
#include <straggle/mitigate/mitigator.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/record/id_table.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace straggle::inline STRAGGLE_ABI {

template class interner<std::string>;

} // namespace straggle
namespace straggle::inline STRAGGLE_ABI::detail {

template class id_table<std::string>;

template class loop_handle<node_stage, default_copies>;
template class batch_scorer<std::int64_t, rank::z_score>;
template class batch_scorer<double, rank::z_score>;
template void estimate_nodes(rank::mean_interval<> const&, ranking_rows&);
template void find_levels(rank::p_cores&, ranking_rows&, std::vector<std::size_t>&);

} // namespace straggle::detail
