// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Counts while a cluster runs, and checks that the accounts balance.
#pragma once

#include "engine.hpp"

#include <span>

namespace lab {

class accounts {
  public:
    /// @param out what is counted into
    accounts(plan const& what, result& out) : plan_(what), out_(out) {}

    /// An attempt has ended.
    void add(attempt_record const& r);
    /// Counts the nodes that are out of service from now until the next round.
    void count_out(std::span<node_view const> nodes, decisions const& wants, double now);
    /// Checks that every task was finished once, and that all slot time is accounted for.
    void check() const;

  private:
    bool is_weak(node_spec const& n, double now) const;

    plan const& plan_;
    result& out_;
    std::uint64_t finished_ = 0;
    double used_ = 0;
};

} // namespace lab
