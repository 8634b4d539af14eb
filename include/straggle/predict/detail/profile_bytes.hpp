// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: serializes records, and reads them from untrusted bytes.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/predict/detail/profile_index.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The store accepts exactly these times.
constexpr bool is_task_time(double time) noexcept {
    return time >= 0 && is_finite(time);
}

struct profile_bytes {
    static constexpr std::uint32_t kind = frame_kind("prof");
    static constexpr std::uint32_t version = 1;

    template <class Counts>
    [[nodiscard]] static std::vector<std::byte> write(profile_index const& index, Counts const& counts,
                                                      std::vector<std::byte> spare) {
        byte_writer out(std::move(spare));
        profile_leaves const& leaves = index.leaves();
        out.count(leaves.factors());
        for (predict::factor_kind const k : leaves.kinds()) out.u8(static_cast<std::uint8_t>(k));
        for (std::uint64_t const n : {counts.added, counts.evicted, counts.bad_rows, counts.bad_times})
            out.varint(n);
        out.count(index.size());
        std::uint64_t next = 0;
        index.for_each([&](std::size_t slot) {
            out.varint(leaves.number(slot) - next);
            next = leaves.number(slot) + 1;
            for (std::size_t k = 0; k < leaves.factors(); ++k) out.real(leaves.known_value(slot, k));
            out.real(leaves.time(slot));
        });
        return std::move(out).seal(kind, version);
    }

    // Reads into an empty index. After a failure, `index` and `counts` are unspecified.
    template <class Counts>
    [[nodiscard]] static status read(std::span<std::byte const> bytes, profile_index& index, Counts& counts,
                                     std::size_t capacity) {
        auto const frame = open_frame(bytes, kind, version);
        if (!frame) return frame.reason();
        byte_reader in = frame->payload;
        std::span<predict::factor_kind const> const kinds = index.leaves().kinds();
        bool same = in.count(1) == kinds.size();
        for (std::size_t k = 0; same && k < kinds.size(); ++k)
            same = in.u8() == static_cast<std::uint8_t>(kinds[k]);
        if (!in.ok()) return in.reason();
        if (!same) return status::wrong_kind;

        for (std::uint64_t* const n : {&counts.added, &counts.evicted, &counts.bad_rows, &counts.bad_times})
            *n = in.varint();
        std::size_t const records = in.count(9 + 8 * kinds.size());
        if (!in.ok()) return in.reason();
        if (counts.evicted > counts.added || counts.added - counts.evicted != records) return status::corrupt;
        if (records > capacity) return status::out_of_range;
        index.make_room(records);
        std::vector<double> row(kinds.size());
        std::uint64_t next = 0;
        for (std::size_t i = 0; i < records; ++i) {
            std::uint64_t const skipped = in.varint();
            if (next >= counts.added || skipped >= counts.added - next) return failed(in);
            bool good = true;
            for (double& x : row) {
                x = in.real();
                good = good && predict::is_factor_value(x);
                x = encode_factor(x);
            }
            double const time = in.real();
            if (!in.ok() || !good || !is_task_time(time)) return failed(in);
            index.append(span_of(row), time, next + skipped);
            next += skipped + 1;
        }
        if (status const s = in.finish(); s != status::ok) return s;
        index.arrange();
        return status::ok;
    }

  private:
    static status failed(byte_reader const& in) { return in.ok() ? status::corrupt : in.reason(); }
};
} // namespace straggle::detail
