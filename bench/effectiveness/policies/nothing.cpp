// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Does nothing: tasks go to any free node, and running tasks are not watched.
#include "make_policy.hpp"

namespace lab {

namespace {

class nothing final : public policy {
  public:
    bool is_due(double) override { return false; }
};

add_policy const added({"nothing", "no copies, no exclusions, any free node", false,
                        [](setup const&) -> std::unique_ptr<policy> { return std::make_unique<nothing>(); }});

} // namespace

} // namespace lab
