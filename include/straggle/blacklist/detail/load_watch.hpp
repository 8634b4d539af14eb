// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_stage.hpp`: whether the others can carry what an excluded node did.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <cmath>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

// The load of the cluster, smoothed over some tens of tasks. All of it is measured in a way that does not
// change when a slow node is excluded: busy slots in units of what a usual node does with them.
class load_watch {
  public:
    // busy: slots, each divided by the slowdown of its node; busy_slots: the same undivided
    void observe(double now, double usual_duration, double busy, double busy_slots, double waiting) noexcept {
        if (!seen_) {
            seen_ = true;
            busy_ = busy;
            slots_ = busy_slots;
            waiting_ = waiting;
            weight_ = 0;
            last_ = now;
            return;
        }
        double const step = now - last_;
        bool const counts = step > 0 && usual_duration > 0;
        // The first ones are averaged, later ones forgotten.
        double const share = counts ? 1 - std::exp(-step / (memory * usual_duration)) : 0.0;
        if (counts && !(share > 0)) return; // too short to be seen: such steps add up
        last_ = now;
        if (!counts) return;
        weight_ += share * (1 - weight_);
        double const by = share / weight_;
        busy_ += by * (busy - busy_);
        slots_ += by * (busy_slots - slots_);
        waiting_ += by * (waiting - waiting_);
    }

    // How much longer a task waits, in usual durations, if capacity goes from `all` to `all - out`, while it
    // is `all - out_now`: waiting times go with 1 / (1 - utilization). Infinite if the rest could hardly
    // carry the work at all.
    [[nodiscard]] double wait_added(double all, double out, double out_now) const noexcept {
        if (!(busy_ > 0)) return 0;
        double const before = busy_ / all, after = busy_ / (all - out), today = busy_ / (all - out_now);
        if (!(after < 0.95)) return 1e300;
        double const wait = waiting_ / (slots_ > 0 ? slots_ : 1.0);
        double const spare = 1 - today > 0.02 ? 1 - today : 0.02;
        return wait * spare / (1 - before) * (after - before) / (1 - after);
    }
    // How many times its cost an exclusion has to gain: once, if the node is out; twice, if it is not, and
    // twice as much again for every time that the load has brought nodes back. With them in service too
    // little is seen of the queue that there is without: it grows faster than by the formula above, and at
    // some load nodes would go and come for ever.
    [[nodiscard]] double asked(bool was_out) const noexcept {
        return was_out ? 1 : std::ldexp(2.0, static_cast<int>(brought_back_));
    }
    void bring_back() noexcept {
        if (brought_back_ < most_brought_back) ++brought_back_;
    }
    // So much gain says that it is not the load of then.
    [[nodiscard]] static bool is_plain(double gain, double cost) noexcept {
        return gain > std::ldexp(2.0, static_cast<int>(most_brought_back)) * cost;
    }
    void let_go_plainly() noexcept {
        if (brought_back_ > 0) --brought_back_;
    }
    [[nodiscard]] double busy() const noexcept { return busy_; }
    [[nodiscard]] double waiting() const noexcept { return waiting_; }

    void write(byte_writer& out) const {
        for (double const x : {busy_, slots_, waiting_, weight_, last_}) out.real(x);
        out.flag(seen_);
        out.u8(brought_back_);
    }
    status read(byte_reader& in) {
        for (double* const x : {&busy_, &slots_, &waiting_, &weight_, &last_}) {
            *x = in.real();
            in.expect(is_finite(*x));
        }
        seen_ = in.flag();
        brought_back_ = in.u8();
        in.expect(brought_back_ <= most_brought_back);
        return in.reason();
    }

  private:
    static constexpr double memory = 32;                 // usual durations
    static constexpr std::uint8_t most_brought_back = 5; // times that are remembered

    double busy_ = 0, slots_ = 0, waiting_ = 0, weight_ = 0, last_ = 0;
    bool seen_ = false;
    std::uint8_t brought_back_ = 0;
};

} // namespace straggle::detail
