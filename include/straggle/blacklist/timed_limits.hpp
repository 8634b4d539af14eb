// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Capacity limits over time: how fast nodes may be taken out, and when they must return because they are
/// needed.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/token_bucket.hpp>
#include <straggle/blacklist/limits.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// Takes out newcomers at a limited rate, so that a wrong measurement is noticed before much is gone: a token
/// bucket, one token per newcomer, refilled with every window that passes.
///
/// A node that stays out, or relapses on probation, needs no token. With a blacklister, every call is a
/// window and every candidate a newcomer.
/// @par Guarantees
/// repeating a window starts from the tokens at its first call, so that a decision that failed for lack of
/// memory can be repeated
class rate_limit {
  public:
    static constexpr std::string_view name = "rate_limit";
    /// Nodes that are already out do not count.
    static constexpr bool newcomers_only = true;

    /// @param per_window tokens added per window, at least 0 and finite; 0.25 is one node in four windows
    /// @param burst capacity of the bucket, at least 1; it starts full
    explicit constexpr rate_limit(double per_window, double burst = 1)
        : per_window_(per_window), bucket_(burst), at_begin_(burst) {
        STRAGGLE_EXPECTS(per_window >= 0.0 && detail::is_finite(per_window) && burst >= 1.0);
    }

    template <class Fleet>
    void begin(Fleet const& fleet, std::size_t) noexcept {
        if (started_ && fleet.window() != window_) {
            at_begin_ = bucket_;
            at_begin_.fill((static_cast<double>(fleet.window()) - static_cast<double>(window_)) *
                           per_window_);
        }
        bucket_ = at_begin_;
        window_ = fleet.window();
        started_ = true;
    }
    template <class NodeId>
    bool admits(NodeId const&) const noexcept {
        return bucket_.has_one();
    }
    template <class NodeId>
    void take(NodeId const&) noexcept {
        bucket_.take_one();
    }

  private:
    double per_window_;
    detail::token_bucket bucket_;
    detail::token_bucket at_begin_; // of the current window
    std::int64_t window_ = 0;
    bool started_ = false;
};

/// A callable that returns how many slots are needed now.
template <class Needed>
concept slot_demand = requires(Needed& needed) {
    { needed() } -> std::convertible_to<double>;
};

/// Returns nodes when they are needed: keeps as many slots in service as the caller says are needed now. If
/// there are too few, the oldest exclusions end first, and no other node is taken out.
///
/// Once a node cannot be spared, all nodes after it stay in service even if they are smaller: they are older
/// exclusions or newcomers.
/// @tparam Needed a `slot_demand`, called once per decision; negative values and NaN count as 0
/// @tparam Slots projection from a node's identifier to its slots
template <slot_demand Needed, class Slots = one_slot>
class release_on_demand {
  public:
    static constexpr std::string_view name = "release_on_demand";

    /// @param needed callable that returns the slots needed now, in the unit of the projection
    /// @param slots projection from a node's identifier to its slots
    constexpr release_on_demand(Needed needed, Slots slots)
        : needed_(std::move(needed)), slots_(std::move(slots)) {}
    /// The same with the default projection.
    explicit constexpr release_on_demand(Needed needed)
        requires std::default_initializable<Slots>
        : release_on_demand(std::move(needed), Slots{}) {}

    template <class Fleet>
    void begin(Fleet const& fleet, std::size_t) {
        slots_.begin(fleet);
        double const now = static_cast<double>(needed_());
        keep_ = now > 0 ? now : 0;
        short_of_ = false;
    }
    template <class NodeId>
    bool admits(NodeId const& id) {
        short_of_ = short_of_ || !slots_.can_spare(id, keep_);
        return !short_of_;
    }
    template <class NodeId>
    void take(NodeId const& id) {
        slots_.take(id);
    }

  private:
    [[no_unique_address]] Needed needed_;
    [[no_unique_address]] detail::slots_in_service<Slots> slots_;
    double keep_ = 0;
    bool short_of_ = false;
};

} // namespace straggle::blacklist
