// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: estimates the steepness of the tail of siblings' times.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>

namespace straggle::inline STRAGGLE_ABI::detail {

// The index of a Pareto tail, learned from spacings of the longest times: in logarithms they are exponential
// with mean 1/index (Renyi 1953). A mixture has the index of its heaviest component; hence the ratio of the
// third to the second moment.
class tail_index {
  public:
    static constexpr double least = 1.5, most = 8;

    void learn(double spacing) noexcept {
        constexpr double remembered = 512;
        squares_ += spacing * spacing - squares_ / remembered;
        cubes_ += spacing * spacing * spacing - cubes_ / remembered;
    }
    // Until something is known, assume the heaviest plausible tail.
    [[nodiscard]] double value() const noexcept {
        constexpr double assumed = 2; // weight of the prior in spacings
        double const squares = squares_ + assumed * 2 / (least * least);
        double const cubes = cubes_ + assumed * 6 / (least * least * least);
        return std::clamp(3 * squares / cubes, least, most);
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.squares_, self.cubes_);
        for (double const x : {self.squares_, self.cubes_}) a.expect(x >= 0 && x < 1e300);
    }

  private:
    double squares_ = 0, cubes_ = 0;
};

} // namespace straggle::detail
