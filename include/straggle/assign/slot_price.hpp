// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What does the slot of a copy cost the others? Almost nothing while slots idle, everything while tasks
/// wait.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <straggle/base/config.hpp>

namespace straggle::inline STRAGGLE_ABI::assign {

/// How the price of a slot follows the load.
struct slot_price_options {
    double least = 0.05;   ///< in an idle cluster: a copy takes power and memory, if nobody's slot
    double memory = 20;    ///< the load of so many usual task times counts
    double reserve = 0.02; ///< less than this share of the slots idle: as good as none
};

/// Learns at run time how likely a slot that a copy takes is missed by a task, and prices slot time with it.
///
/// w is the share of recent time in which tasks waited, or hardly a slot was idle. A copy displaces a task
/// with about that probability; then every job that comes until the crowd is over ends later by the slot time
/// taken, divided by the slots. How many jobs these are for a slot goes with how long it has been crowded, in
/// usual task times, and with 1 / (tasks of a job). The price is w / (1 - w) times `memory` / (tasks of a
/// job): with jobs of 20 tasks 1 where half of the time is crowded (a copy then has to give its job as much
/// as it takes from others), and beyond all bounds where tasks always wait: then only copies that save slot
/// time are left, as with Mantri.
///
/// Source: Ananthanarayanan et al., Mantri (2010), GRASS (2014); Ren et al., Hopper (2015): speculation at
/// the capacity left over. Ours: the price.
/// @par Cost
/// O(1), 48 bytes
/// @par Guarantees
/// noexcept, deterministic; times of another unit give the same prices
class slot_price {
  public:
    /// @param options shares and times of tasks, no times of a clock
    explicit constexpr slot_price(slot_price_options const& options = {}) noexcept : options_(options) {}

    /// What the load is now.
    /// @param now of the caller's clock; a step back counts as none
    /// @param waiting tasks that are ready and have no slot
    /// @param slots all that are in service
    /// @param idle of those
    /// @param usual time of a task; 0: not known, then only the present counts
    /// @param tasks of a usual job; what is not above 0 counts as `memory`
    void observe(double now, std::uint64_t waiting, std::uint64_t slots, std::uint64_t idle, double usual,
                 double tasks = 0) noexcept {
        jobs_ = tasks > 0 ? options_.memory / tasks : 1.0;
        double const spare = options_.reserve * static_cast<double>(slots);
        double const crowded = waiting > 0 || !(static_cast<double>(idle) > spare) ? 1.0 : 0.0;
        double const passed = begun_ ? now - time_ : 0.0;
        if (!begun_ || !(usual > 0)) {
            share_ = crowded;
        } else if (passed > 0) {
            // What was seen at both ends holds for the time between them.
            double const fade = std::exp(-passed / (options_.memory * usual));
            share_ = fade * share_ + (1 - fade) * (crowded + last_) / 2;
        }
        last_ = crowded;
        if (!begun_ || passed > 0) time_ = now;
        begun_ = true;
    }
    /// Share of recent time in which a slot was missed.
    [[nodiscard]] double crowded() const noexcept { return share_; }
    /// Of the slot time of a copy, in time of jobs; at least `least`, infinite when a slot is always missed.
    [[nodiscard]] double price() const noexcept {
        double const w = (std::min)(share_, 1.0);
        return options_.least + (w < 0.999 ? (std::min)(jobs_ * w / (1 - w), 1000.0) : 1000.0);
    }

  private:
    slot_price_options options_;
    double share_ = 0, last_ = 0, time_ = 0, jobs_ = 1;
    bool begun_ = false;
};

} // namespace straggle::assign
