// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The reasons of a plan in words, for logs and for people.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/mitigate/effect.hpp>
#include <straggle/mitigate/plan.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::detail {

inline void append_number(std::string& out, double x, int decimals) {
    std::array<char, 400> text{};
    auto const end =
        std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::fixed, decimals);
    out.append(text.data(), end.ptr);
}
inline void append_number(std::string& out, std::uint64_t n) {
    std::array<char, 24> text{};
    out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), n).ptr);
}
// A time with three digits that count.
inline void append_time(std::string& out, double t) {
    std::array<char, 40> text{};
    auto const end = std::to_chars(text.data(), text.data() + text.size(), t, std::chars_format::general, 3);
    out.append(text.data(), end.ptr);
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// Appends how slow a node is: "takes 1.31 times as long as elsewhere (1.24 to 1.39), 116 tasks".
/// @par Cost allocates only where the text has no room
inline void append_reason(std::string& out, slowdown const& s) {
    if (!s.is_known()) {
        out += "not known well enough, ";
    } else {
        out += "takes ";
        detail::append_number(out, s.value, 2);
        out += " times as long as elsewhere (";
        detail::append_number(out, s.low, 2);
        out += " to ";
        detail::append_number(out, s.high, 2);
        out += "), ";
    }
    detail::append_number(out, s.tasks);
    out += s.tasks == 1 ? " task" : " tasks";
}

/// Appends where a node stands and why.
inline void append_reason(std::string& out, planned_node const& n) {
    out += to_string(n.state);
    out += ": ";
    bool said = false;
    auto const say = [&](blacklist::cause c, std::string_view text) {
        if ((n.causes & static_cast<std::uint8_t>(c)) == 0) return;
        if (said) out += "; ";
        out += text;
        said = true;
    };
    say(blacklist::cause::denied, "the operator denies it");
    say(blacklist::cause::hung, "its tasks do not end");
    say(blacklist::cause::failing, "its tasks fail");
    if ((n.causes & static_cast<std::uint8_t>(blacklist::cause::slow)) != 0 || !said) {
        if (said) out += "; ";
        append_reason(out, n.slow);
    }
    if (!n.why.rule.empty()) {
        out += " (";
        out += n.why.rule;
        out += ": ";
        detail::append_number(out, n.why.value, 2);
        out += " against ";
        detail::append_number(out, n.why.threshold, 2);
        out += ')';
    }
}

/// Appends why a task is to have a copy.
inline void append_reason(std::string& out, planned_copy const& c) {
    out += c.is_probe ? "probe: " : "copy: ";
    out += "what is left takes ";
    detail::append_time(out, c.left.middle);
    out += " (";
    detail::append_time(out, c.left.low);
    out += " to ";
    detail::append_time(out, c.left.high);
    out += "), there ";
    detail::append_time(out, c.there.middle);
    out += " (";
    detail::append_time(out, c.there.low);
    out += " to ";
    detail::append_time(out, c.there.high);
    out += "); wins with ";
    detail::append_number(out, 100 * c.win_probability, 0);
    out += " %, gains ";
    detail::append_time(out, c.gain);
    out += " for ";
    detail::append_time(out, c.cost);
    if (!c.why.rule.empty()) {
        out += " (";
        out += c.why.rule;
        out += ": ";
        detail::append_time(out, c.why.value);
        out += " against ";
        detail::append_time(out, c.why.threshold);
        out += ", usual ";
        detail::append_time(out, c.why.usual);
        out += ')';
    }
}

/// Appends what a kind of action does: "copy: 0.91 times as long (0.84 to 0.98), 812 treated, 19 left alone".
inline void append_reason(std::string& out, action_kind kind, effect const& e) {
    out += to_string(kind);
    out += ": ";
    if (e.is_known()) {
        detail::append_number(out, e.value, 2);
        out += " times as long (";
        detail::append_number(out, e.low, 2);
        out += " to ";
        detail::append_number(out, e.high, 2);
        out += "), ";
    } else {
        out += "not known yet, ";
    }
    detail::append_number(out, e.treated);
    out += " treated, ";
    detail::append_number(out, e.alone);
    out += " left alone";
    if (e.is_stopped) out += ", stopped";
}

/// A note in words.
[[nodiscard]] constexpr std::string_view reason(plan_note note) noexcept {
    switch (note) {
    case plan_note::switched_off:
        return "switched off: nothing is decided";
    case plan_note::not_the_decider:
        return "another decider holds the lease: nothing is decided here";
    case plan_note::empty_fleet:
        return "there is no node with a slot";
    case plan_note::clock_went_back:
        return "the clock went back: attempts from before are not used, nothing new is decided yet";
    case plan_note::clock_jumped:
        return "the clock jumped ahead: attempts from before are not used, nothing new is decided yet";
    case plan_note::stale_feed:
        return "no news for long although tasks run: nothing new is decided, exclusions expire";
    case plan_note::old_state:
        return "what was restored is old: nothing new is decided yet";
    case plan_note::action_limit:
        return "the cap of actions is reached";
    case plan_note::storm:
        return "so many tasks look like stragglers that the measure is suspected, not the tasks";
    case plan_note::fail_open:
        return "so many nodes look slow that the measure is suspected, not the nodes";
    case plan_note::progress_not_trusted:
        return "what tasks report as progress does not say when they end";
    case plan_note::exclusion_stopped:
        return "exclusions are stopped: jobs that were left alone did better";
    case plan_note::copy_stopped:
        return "copies are stopped: tasks that were left alone did better";
    case plan_note::cooldown_stopped:
        return "cooldowns are stopped: jobs that were left alone did better";
    case plan_note::placement_stopped:
        return "placement is stopped: jobs that were left alone did better";
    }
    return "unknown";
}

/// The reason of anything that `append_reason` knows, as a text of its own.
template <class Planned>
    requires requires(std::string& out, Planned const& p) { append_reason(out, p); }
[[nodiscard]] std::string reason(Planned const& planned) {
    std::string out;
    append_reason(out, planned);
    return out;
}

} // namespace straggle::mitigate
