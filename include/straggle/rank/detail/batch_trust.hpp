// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: whether tasks that started together are independent
/// evidence.
#pragma once

#include <straggle/base/config.hpp>

namespace straggle::inline STRAGGLE_ABI::detail {

// Neighboring tasks of a job are often similar: if they go to one node together, a node with four hard tasks
// looks hung. Whether this happens here is learned from the outcome of verdicts based on a single batch:
// after one that proved wrong, tasks that started together count as one until the memory of it fades.
class batch_trust {
  public:
    [[nodiscard]] bool holds() const noexcept { return wrong_ <= right_ + 0.5; }
    void learn(bool was_right) noexcept { (was_right ? right_ : wrong_) += 1; }
    void next_window() noexcept {
        right_ *= kept;
        wrong_ *= kept;
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.right_, self.wrong_);
        for (double const x : {self.right_, self.wrong_}) a.expect(x >= 0 && x < 1e300);
    }

  private:
    static constexpr double kept = 0.998647; // half-life of 512 windows

    double right_ = 0, wrong_ = 0;
};

} // namespace straggle::detail
