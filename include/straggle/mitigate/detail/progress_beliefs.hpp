// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/detail/task_stage.hpp`: how far progress is believed, worked out once in a round
/// for each part of the way.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/progress_trust.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

class progress_beliefs {
  public:
    struct belief {
        predict::progress_worth worth{};
        double shrunk = 0, stretched = 0; // factors for what was promised: without its bias, with doubt
        bool is_known = false;
    };

    // Forgets all: the trust may have changed.
    void clear() noexcept { parts_.fill({}); }
    [[nodiscard]] belief const& of(predict::progress_trust const& trust, std::uint32_t kind,
                                   std::size_t part) noexcept {
        if (kind != kind_) clear();
        kind_ = kind;
        belief& b = parts_[part];
        if (!b.is_known) {
            b.worth = trust.worth(kind, part);
            b.shrunk = std::exp(-b.worth.bias);
            b.stretched = std::exp(2 * std::sqrt(b.worth.variance));
            b.is_known = true;
        }
        return b;
    }

  private:
    std::array<belief, predict::progress_track::parts> parts_{};
    std::uint32_t kind_ = 0;
};

} // namespace straggle::detail
