// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Random differences between attempts of equal tasks on equal nodes.
#pragma once

#include "draw.hpp"

#include <cstdint>
#include <vector>

namespace lab {

enum class luck_kind : std::uint8_t { none, lognormal, pareto, exponential, resampled };

/// A factor with mean 1, except for the share of attempts that go wrong.
struct luck_model {
    luck_kind kind = luck_kind::none;
    double parameter = 0;       ///< sigma of the lognormal, exponent of the Pareto
    std::vector<double> seen{}; ///< with mean 1: the values to draw from
    double slow_share = 0;      ///< of attempts
    double slow_factor = 1;     ///< the slowdown of these

    double operator()(draw& d) const {
        double const usual = base(d);
        return slow_share > 0 && d.uniform() < slow_share ? usual * slow_factor : usual;
    }

  private:
    double base(draw& d) const {
        switch (kind) {
        case luck_kind::none:
            break;
        case luck_kind::lognormal:
            return d.lognormal(parameter);
        case luck_kind::pareto:
            return d.pareto(parameter);
        case luck_kind::exponential:
            return d.exponential(1);
        case luck_kind::resampled:
            return seen[d.below(seen.size())];
        }
        return 1;
    }
};

} // namespace lab
