// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/detail/mitigation_loop.hpp`: what was decided about each node, and whether the
/// scheduler followed it.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

struct node_memory {
    bool is_allowed = false; // its exclusion passed the limits
    bool is_charged = false; // and the scheduler followed it
    double since = 0;        // when the exclusion was allowed
    double newest_start = -1e300;
    std::uint64_t verdict = 0;                        // last round with a verdict on it
    std::size_t shown = static_cast<std::size_t>(-1); // index in the last plan
};

inline void write_memory(byte_writer& out, std::span<node_memory const> nodes) {
    out.count(nodes.size());
    for (node_memory const& m : nodes) {
        out.u8(static_cast<std::uint8_t>((m.is_allowed ? 1 : 0) | (m.is_charged ? 2 : 0)));
        out.real(m.since);
        out.real(m.newest_start);
    }
}
template <class Nodes>
void read_memory(byte_reader& in, Nodes& nodes) {
    nodes.resize(in.count(17));
    for (node_memory& m : nodes) {
        std::uint8_t const bits = in.u8();
        in.expect(bits <= 3);
        m.is_allowed = (bits & 1) != 0;
        m.is_charged = (bits & 2) != 0;
        m.since = in.real();
        m.newest_start = in.real();
        in.expect(is_finite(m.since) && is_finite(m.newest_start));
    }
}

} // namespace straggle::detail
