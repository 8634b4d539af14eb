// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The rule of another system as a configuration of the mitigator.
#pragma once

#include "../cluster/policy.hpp"

namespace lab {

class configuration : public policy {
  public:
    /// Whether the guard of the mitigator's loop withheld the last decision: no rule alone has one.
    virtual bool is_held_back() const = 0;
};

} // namespace lab
