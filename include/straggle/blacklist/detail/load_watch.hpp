// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_stage.hpp`: whether the other nodes can carry the work of an excluded one.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <cmath>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

// The load of the cluster, smoothed over some tens of tasks. Measured so that excluding a slow node does not
// change it: busy slots in units of a usual node's work.
class load_watch {
  public:
    // busy: slots divided by the slowdown of their node; busy_slots: the plain number
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
        // Average the first observations; let later ones fade.
        double const share = counts ? 1 - std::exp(-step / (memory * usual_duration)) : 0.0;
        if (counts && !(share > 0)) return; // too short to register: let steps add up
        last_ = now;
        if (!counts) return;
        weight_ += share * (1 - weight_);
        double const by = share / weight_;
        busy_ += by * (busy - busy_);
        slots_ += by * (busy_slots - slots_);
        waiting_ += by * (waiting - waiting_);
    }

    // How much longer a task waits, in usual durations, if capacity drops from `all` to `all - out`, given
    // that it is `all - out_now` today: waiting times grow as 1 / (1 - utilization). Infinite if the rest
    // could hardly carry the work at all.
    [[nodiscard]] double wait_added(double all, double out, double out_now) const noexcept {
        if (!(busy_ > 0)) return 0;
        double const before = busy_ / all, after = busy_ / (all - out), today = busy_ / (all - out_now);
        if (!(after < 0.95)) return 1e300;
        double const wait = waiting_ / (slots_ > 0 ? slots_ : 1.0);
        double const spare = 1 - today > 0.02 ? 1 - today : 0.02;
        return wait * spare / (1 - before) * (after - before) / (1 - after);
    }
    // How many times its cost an exclusion must gain: once if the node is out; twice if it is in service,
    // doubled for every time the load has brought nodes back. With the nodes in service, the queue without
    // them cannot be observed: it grows faster than the formula above, and at some loads nodes would go out
    // and come back endlessly.
    [[nodiscard]] double asked(bool was_out) const noexcept {
        return was_out ? 1 : std::ldexp(2.0, static_cast<int>(brought_back_));
    }
    void bring_back() noexcept {
        if (brought_back_ < most_brought_back) ++brought_back_;
    }
    // A gain this large means that the load has changed since.
    [[nodiscard]] static bool is_plain(double gain, double cost) noexcept {
        return gain > std::ldexp(2.0, static_cast<int>(most_brought_back)) * cost;
    }
    void let_go_plainly() noexcept {
        if (brought_back_ > 0) --brought_back_;
    }
    [[nodiscard]] double busy() const noexcept { return busy_; }
    [[nodiscard]] double waiting() const noexcept { return waiting_; }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.busy_, self.slots_, self.waiting_, self.weight_, self.last_, self.seen_, self.brought_back_);
        a.expect(are_finite(self.busy_, self.slots_, self.waiting_, self.last_));
        a.expect(self.busy_ >= 0 && self.slots_ >= 0 && self.waiting_ >= 0 && self.weight_ >= 0 &&
                 self.weight_ <= 1 && self.brought_back_ <= most_brought_back);
    }

  private:
    static constexpr double memory = 32;                 // in usual durations
    static constexpr std::uint8_t most_brought_back = 5; // at most this many are remembered

    double busy_ = 0, slots_ = 0, waiting_ = 0, weight_ = 0, last_ = 0;
    bool seen_ = false;
    std::uint8_t brought_back_ = 0;
};

} // namespace straggle::detail
