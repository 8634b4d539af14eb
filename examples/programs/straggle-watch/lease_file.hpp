// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The lease of a cluster in a file that its deciders share: its holder decides, the others learn.
#pragma once

#include "posix.hpp"

#include <cstdint>
#include <string>

namespace straggle_watch {

class lease_file {
  public:
    /// @param length in seconds
    lease_file(std::string file, std::uint64_t who, double length);
    /// Takes or renews the lease, when it is due. @return whether it is held
    bool hold(double wall);
    /// Returns it.
    void release();

  private:
    template <class Change>
    bool change(Change&& change);

    std::string file_;
    descriptor fd_;
    std::uint64_t who_;
    double length_, asked_ = -1e300, until_ = -1e300;
};

} // namespace straggle_watch
