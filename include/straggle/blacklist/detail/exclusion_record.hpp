// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_stage.hpp`: the decision state of one node.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/blacklist/node_verdict.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::detail {

// Names of rules that a comparison may contain.
inline constexpr std::array<std::string_view, 8> node_rules{"",         "slowdown", "running_time", "hung",
                                                            "failures", "denied",   "killed",       "races"};

struct exclusion_record {
    static constexpr std::size_t stored_bytes = 4 + 8 + 9 * 8 + 8 + 1 + 4;

    node_state state = node_state::healthy;
    std::uint8_t causes = 0;
    blacklist::spared spared_by = blacklist::spared::no;
    bool present = false; // it was in the cluster
    bool struck = false;  // the current evidence has led to an exclusion
    bool relapse = false; // it failed its trial
    bool batch = false;   // the verdict rests on attempts that started together
    std::uint32_t strikes = 0;
    std::uint32_t stage = 0; // of probation: 2^stage slots
    slowdown guilty_of{};
    comparison why{};
    double since = 0;       // when it entered its state
    double excluded_at = 0; // start of its last exclusion
    double until = 0;       // and its end
    double seen = 0;
    double stage_since = 0, stage_tasks = 0;

    // Gets no work, or only probes.
    [[nodiscard]] bool is_out() const noexcept {
        return state == node_state::excluded || state == node_state::on_probation;
    }
    void enter(node_state next, double now) noexcept {
        state = next;
        since = now;
    }
    void acquit(blacklist::cause c) noexcept {
        causes = static_cast<std::uint8_t>(causes & ~static_cast<unsigned>(c));
    }

    void write(byte_writer& out) const {
        for (std::uint8_t const x :
             {static_cast<std::uint8_t>(state), causes, static_cast<std::uint8_t>(spared_by),
              static_cast<std::uint8_t>(std::find(node_rules.begin(), node_rules.end(), why.rule) -
                                        node_rules.begin())})
            out.u8(x);
        out.u32(strikes);
        out.u32(stage);
        for (double const x : {guilty_of.value, guilty_of.low, guilty_of.high, why.value, why.threshold,
                               why.usual, since, excluded_at, until, seen, stage_since, stage_tasks})
            out.real(x);
        out.u64(guilty_of.tasks);
        for (bool const x : {present, struck, relapse, batch}) out.flag(x);
    }
    void read(byte_reader& in) {
        std::uint8_t const s = in.u8();
        causes = in.u8();
        std::uint8_t const by = in.u8(), rule = in.u8();
        if (!in.expect(s < record::node_state_count && causes < 16 && by < 8 && rule < node_rules.size()))
            return;
        state = static_cast<node_state>(s);
        spared_by = static_cast<blacklist::spared>(by);
        why.rule = node_rules[rule];
        strikes = in.u32();
        stage = in.u32();
        for (double* const x : {&guilty_of.value, &guilty_of.low}) *x = in.real();
        guilty_of.high = in.real();
        for (double* const x : {&why.value, &why.threshold, &why.usual, &since, &excluded_at, &until, &seen,
                                &stage_since, &stage_tasks}) {
            *x = in.real();
            in.expect(is_finite(*x));
        }
        in.expect(is_finite(guilty_of.value) && guilty_of.value > 0 && guilty_of.low >= 0 &&
                  guilty_of.low <= guilty_of.value && guilty_of.high >= guilty_of.value);
        in.expect(strikes <= 32 && stage <= 32 && stage_tasks >= 0 && until >= excluded_at);
        guilty_of.tasks = in.u64();
        present = in.flag();
        struck = in.flag();
        relapse = in.flag();
        batch = in.flag();
    }
};

} // namespace straggle::detail
