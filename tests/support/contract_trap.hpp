// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Turns a broken contract into an exception while it lives, so that a test can go on after one.
#pragma once

#include <straggle/base/contract.hpp>

namespace straggle_test {

/// What is thrown in the place of `std::abort`.
struct broken_contract {
    straggle::base::contract_violation violation;
};

class contract_trap {
  public:
    contract_trap() : before_(straggle::base::set_contract_handler(&leave)) {}
    ~contract_trap() { straggle::base::set_contract_handler(before_); }
    contract_trap(contract_trap const&) = delete;
    contract_trap& operator=(contract_trap const&) = delete;

  private:
    static void leave(straggle::base::contract_violation const& v) { throw broken_contract{v}; }
    straggle::base::contract_handler before_;
};

} // namespace straggle_test
