// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/assigner.hpp`: the current price of a slot, from observed loads and predicted
/// times.
#pragma once

#include <straggle/assign/slot_price.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/record/cluster_load.hpp>
#include <straggle/stats/empirical.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

class load_price {
  public:
    // The load of this plan. Without a clock, its duration is unknown.
    void begin(cluster_load const& load, bool by_load) noexcept {
        total_ = 0;
        predicted_ = 0;
        price_ = 0;
        if (!by_load || load.slots == 0) return;
        bool const timed = is_finite(load.now) && load.now != 0;
        std::uint64_t const idle = load.slots > load.busy ? load.slots - load.busy : 0;
        by_load_.observe(timed ? load.now : 0.0, load.waiting, load.slots, idle, timed ? usual_ : 0.0);
        price_ = by_load_.price();
    }
    // 0: not known.
    [[nodiscard]] double price() const noexcept { return price_; }
    // The predicted time of a copy on one node stands for the time of such tasks.
    void predicted(stats::empirical_view const& times) noexcept {
        total_ += times.mean().value_or(0);
        ++predicted_;
    }
    // The plan is complete.
    void end() noexcept {
        if (predicted_ > 0 && is_finite(total_)) usual_ = total_ / static_cast<double>(predicted_);
    }

  private:
    assign::slot_price by_load_;
    double price_ = 0, usual_ = 0, total_ = 0;
    std::uint64_t predicted_ = 0;
};

} // namespace straggle::detail
