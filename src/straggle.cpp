// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What `straggle::compiled` compiles once: the loop with the default parts, so that a unit that includes
/// `mitigate/mitigator.hpp` has only the templates on its own records to compile.

#include <straggle/mitigate/detail/mitigation_loop.hpp>
#include <straggle/mitigate/mitigator.hpp>

namespace straggle::inline STRAGGLE_ABI::detail {

template class loop_handle<node_stage, default_copies>;

} // namespace straggle::detail
