// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What does the slot of a copy cost other work? Almost nothing while slots idle, everything while tasks
/// wait.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <straggle/base/config.hpp>

namespace straggle::inline STRAGGLE_ABI::assign {

/// How the price of a slot follows the load.
struct slot_price_options {
    double least =
        0.05;           ///< in an idle cluster: a copy takes power and memory even if no task misses the slot
    double memory = 20; ///< length of memory, in usual task times
    double reserve = 0.02; ///< with a smaller share of idle slots, the cluster counts as full
};

/// Learns at run time how likely a task misses a slot that a copy takes, and prices slot time accordingly.
///
/// w is the share of recent time in which tasks waited, or hardly a slot was idle. A copy displaces a task
/// with about that probability; then every job that arrives during the congestion ends later by the slot time
/// taken, divided by the slots. The number of such jobs per slot grows with the length of the congestion, in
/// usual task times, and with 1 / (tasks of a job). The price is w / (1 - w) times `memory` / (tasks of a
/// job): for jobs of 20 tasks it is 1 if half of the time is congested (a copy then must give its job as much
/// as it takes from others), and unbounded if tasks always wait: then only copies that save slot time remain,
/// as in Mantri.
///
/// Source: Ananthanarayanan et al., Mantri (2010), GRASS (2014); Ren et al., Hopper (2015): speculation with
/// spare capacity. Ours: the price.
/// @par Cost
/// O(1), 48 bytes
/// @par Guarantees
/// noexcept, deterministic; independent of the unit of time
class slot_price {
  public:
    /// @param options shares and task times; no absolute times
    explicit constexpr slot_price(slot_price_options const& options = {}) noexcept : options_(options) {}

    /// Records the current load.
    /// @param now on the caller's clock; a step back counts as 0
    /// @param waiting tasks ready to run without a slot
    /// @param slots all in service
    /// @param idle idle ones among them
    /// @param usual time of a task; 0: unknown, then only the present counts
    /// @param tasks of a usual job; a value not above 0 counts as `memory`
    void observe(double now, std::uint64_t waiting, std::uint64_t slots, std::uint64_t idle, double usual,
                 double tasks = 0) noexcept {
        jobs_ = tasks > 0 ? options_.memory / tasks : 1.0;
        double const spare = options_.reserve * static_cast<double>(slots);
        double const crowded = waiting > 0 || !(static_cast<double>(idle) > spare) ? 1.0 : 0.0;
        double const passed = begun_ ? now - time_ : 0.0;
        if (!begun_ || !(usual > 0)) {
            share_ = crowded;
        } else if (passed > 0) {
            // Interpolate: the state seen at both ends holds in between.
            double const fade = std::exp(-passed / (options_.memory * usual));
            share_ = fade * share_ + (1 - fade) * (crowded + last_) / 2;
        }
        last_ = crowded;
        if (!begun_ || passed > 0) time_ = now;
        begun_ = true;
    }
    /// Share of recent time in which a slot was missed.
    [[nodiscard]] double crowded() const noexcept { return share_; }
    /// Price of a copy's slot time, in time of jobs; at least `least`, infinite if a slot is always missed.
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
