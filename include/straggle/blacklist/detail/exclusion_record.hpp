// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_stage.hpp`: the decision state of one node.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/blacklist/node_verdict.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::detail {

// Names of rules that a comparison may contain.
inline constexpr std::array<std::string_view, 8> node_rules{"",         "slowdown", "running_time", "hung",
                                                            "failures", "denied",   "killed",       "races"};

struct exclusion_record {
    static constexpr std::size_t stored_bytes = 4 + 2 * 4 + 12 * 8 + 8 + 4;

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
    double excluded_at = 0; // start of its last exclusion, or of the time a hung last resort gets no work
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

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        auto rule = static_cast<std::uint8_t>(std::find(node_rules.begin(), node_rules.end(), self.why.rule) -
                                              node_rules.begin());
        a.code(self.state, record::node_state_count);
        a.code(self.spared_by, blacklist::spared_count);
        a(self.causes, rule);
        if (!a.expect(self.causes < 16 && rule < node_rules.size())) return;
        if constexpr (Archive::reads) self.why.rule = node_rules[rule];
        a(self.strikes, self.stage, self.present, self.struck, self.relapse, self.batch);
        a(self.guilty_of.value, self.guilty_of.low, self.guilty_of.high, self.guilty_of.tasks);
        a(self.why.value, self.why.threshold, self.why.usual, self.since, self.excluded_at, self.until);
        a(self.seen, self.stage_since, self.stage_tasks);
        a.expect(are_finite(self.why.value, self.why.threshold, self.why.usual, self.since, self.excluded_at,
                            self.until, self.seen, self.stage_since, self.stage_tasks));
        a.expect(is_finite(self.guilty_of.value) && self.guilty_of.value > 0 && self.guilty_of.low >= 0 &&
                 self.guilty_of.low <= self.guilty_of.value && self.guilty_of.high >= self.guilty_of.value);
        a.expect(self.strikes <= 32 && self.stage <= 32 && self.stage_tasks >= 0 &&
                 self.until >= self.excluded_at);
    }
};

} // namespace straggle::detail
