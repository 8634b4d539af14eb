// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which scheduler decides: of several that watch one cluster, only one may take nodes out of service. If two
/// each exclude a fifth, two fifths are gone, and neither sees why the cluster is full.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// The right to decide for a cluster until a point in time. A plain value that the deciders share by any
/// means: a row with compare-and-swap, a key in a store, a file under a lock.
///
/// Take it before each decision, store it where the others read it, and pass it to the mitigator (`hold`).
/// The library reads no clock: all deciders must read the same clock, or clocks that differ by less than the
/// length of the lease.
/// @par Example
/// `shared.take(my_id, now, 30); m.hold(shared); auto const& plan = m.decide(now, running, nodes, load);`
struct lease {
    std::uint64_t holder = 0; ///< the decider that holds it; 0: none
    std::uint64_t term = 0;   ///< grows by one with each new holder: anything from an older term is void
    double until = 0;         ///< when it ends, in the unit of the caller's clock

    /// Takes or extends the lease.
    /// @param who not 0
    /// @param now on the shared clock
    /// @param length how long it lasts, above 0
    /// @return false, with nothing changed, if another decider holds it or an argument is invalid
    constexpr bool take(std::uint64_t who, double now, double length) noexcept {
        if (who == 0 || !detail::is_finite(now) || !(length > 0) || !detail::is_finite(now + length))
            return false;
        if (holder != who && held_by_another(who, now)) return false;
        if (holder != who || !(now < until)) ++term;
        holder = who;
        until = now + length;
        return true;
    }
    /// Releases it early, so that the next decider need not wait; does nothing unless `who` holds it.
    constexpr void release(std::uint64_t who) noexcept {
        if (holder == who) holder = 0;
    }
    /// Whether another decider holds it at `now`.
    [[nodiscard]] constexpr bool held_by_another(std::uint64_t who, double now) const noexcept {
        return holder != 0 && holder != who && now < until;
    }
    friend constexpr bool operator==(lease const&, lease const&) = default;

    /// All fields, for archives.
    template <class Self, class Archive>
    static constexpr void fields(Self& self, Archive& a) {
        a(self.holder, self.term, self.until);
        a.expect(detail::is_finite(self.until));
    }
};

} // namespace straggle::mitigate
