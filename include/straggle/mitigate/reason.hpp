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
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::detail {

// A number with a fixed number of decimals.
template <int Decimals>
struct fixed {
    double value;
};
// A time with three significant digits.
struct brief {
    double value;
};

// Not inlined: a reason is a dozen of these.
template <class... Format>
STRAGGLE_NEVER_INLINE void append_digits(std::string& out, Format... format) {
    std::array<char, 400> text{};
    out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), format...).ptr);
}
STRAGGLE_NEVER_INLINE inline void append(std::string& out, std::string_view text) {
    out += text;
}
inline void append(std::string& out, std::uint64_t n) {
    append_digits(out, n);
}
inline void append(std::string& out, brief t) {
    append_digits(out, t.value, std::chars_format::general, 3);
}
template <int Decimals>
void append(std::string& out, fixed<Decimals> x) {
    append_digits(out, x.value, std::chars_format::fixed, Decimals);
}
template <class... Parts>
    requires(sizeof...(Parts) > 1)
void append(std::string& out, Parts const&... parts) {
    (append(out, parts), ...);
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// Appends how slow a node is: "takes 1.31 times as long as elsewhere (1.24 to 1.39), 116 tasks"; if only a
/// lower bound is known, "at least 2.00 times as long as elsewhere; 3 attempts still running", or "; its
/// attempts were stopped before they ended".
/// @par Cost
/// allocates only if the text lacks capacity
inline void append_reason(std::string& out, slowdown const& s) {
    using two = detail::fixed<2>;
    if (!s.is_known() && s.value > 1) {
        detail::append(out, "at least ", two{s.value}, " times as long as elsewhere; ");
        if (s.tasks == 0) return detail::append(out, "its attempts were stopped before they ended");
        return detail::append(out, s.tasks, s.tasks == 1 ? " attempt" : " attempts", " still running");
    }
    if (!s.is_known())
        detail::append(out, "not known well enough, ");
    else
        detail::append(out, "takes ", two{s.value}, " times as long as elsewhere (", two{s.low}, " to ",
                       two{s.high}, "), ");
    detail::append(out, s.tasks, s.tasks == 1 ? " task" : " tasks");
}

/// Why a node is in service despite evidence against it: "too many slots would be out"; empty if it is not.
[[nodiscard]] constexpr std::string_view reason(blacklist::spared by) noexcept {
    constexpr std::array<std::string_view, 8> words{"",
                                                    "too many slots would be out",
                                                    "the others could not carry its tasks",
                                                    "it is the last of its failure domain",
                                                    "the operator pins it",
                                                    "too many nodes were excluded lately",
                                                    "so many nodes look bad that the measurement is in doubt",
                                                    "no new exclusions were requested"};
    return words[static_cast<std::size_t>(by)];
}

/// Appends a node's state and the reason.
inline void append_reason(std::string& out, planned_node const& n) {
    using two = detail::fixed<2>;
    detail::append(out, to_string(n.state), ": ");
    bool said = false;
    auto const say = [&](blacklist::cause c, std::string_view text) {
        if ((n.causes & static_cast<std::uint8_t>(c)) == 0) return;
        detail::append(out, said ? "; " : "", text);
        said = true;
    };
    say(blacklist::cause::denied, "the operator denies it");
    say(blacklist::cause::hung, "its tasks do not end");
    say(blacklist::cause::failing, "its tasks fail");
    if ((n.causes & static_cast<std::uint8_t>(blacklist::cause::slow)) != 0 || !said) {
        if (said) detail::append(out, "; ");
        if (n.why.rule == "races")
            detail::append(out, "its copies end later than their originals");
        else if (n.causes == 0 && n.why.rule == "failures") // in service all the same
            detail::append(out, "its tasks fail");
        else if (n.causes == 0 && (n.why.rule == "killed" || n.why.rule == "hung"))
            detail::append(out, "its tasks do not end");
        else if (n.slow.is_known() || n.causes != 0)
            append_reason(out, n.slow);
        else
            detail::append(out, "no evidence against it");
    }
    if (!n.why.rule.empty())
        detail::append(out, " (", n.why.rule, ": ", two{n.why.value}, " against ", two{n.why.threshold}, ")");
    if (n.spared_by != blacklist::spared::no)
        detail::append(out, "; in service, since ", reason(n.spared_by));
}

/// Appends what makes a task late: "late because of its node (93 %), 2.10 times as long by it", and the next
/// most probable cause if it has at least one chance in ten: "; or of itself (12 %)".
inline void append_reason(std::string& out, detect::late_cause const& c) {
    using percent = detail::fixed<0>;
    if (!c.is_known()) return detail::append(out, "late, cause unknown");
    constexpr std::array<std::string_view, detect::late_by_count> words{
        "its node", "its input", "the crowd on its node", "its whole job", "itself"};
    auto const first = c.likeliest();
    detect::late_cause rest = c;
    rest.probability[static_cast<std::size_t>(first)] = 0;
    auto const second = rest.likeliest();
    detail::append(out, "late because of ", words[static_cast<std::size_t>(first)], " (",
                   percent{100 * c.probability_of(first)}, " %), ", detail::fixed<2>{c.times_by(first)},
                   " times as long by it");
    if (c.probability_of(second) >= 0.1)
        detail::append(out, "; or of ", words[static_cast<std::size_t>(second)], " (",
                       percent{100 * c.probability_of(second)}, " %)");
}

/// Appends why a task is late, and how much time it still needs.
inline void append_reason(std::string& out, planned_suspect const& s) {
    using time = detail::brief;
    append_reason(out, s.cause);
    detail::append(out, "; what is left takes ", time{s.left.middle}, " (", time{s.left.low}, " to ",
                   time{s.left.high}, ")");
}

/// Appends why a task should get a copy.
inline void append_reason(std::string& out, planned_copy const& c) {
    using time = detail::brief;
    detail::append(out, c.is_probe ? "probe: " : "copy: ", "what is left takes ", time{c.left.middle}, " (",
                   time{c.left.low}, " to ", time{c.left.high}, "), there ", time{c.there.middle}, " (",
                   time{c.there.low}, " to ", time{c.there.high}, "); ",
                   detail::fixed<0>{100 * c.win_probability}, " % likely to win, gains ", time{c.gain},
                   " for ", time{c.cost});
    if (!c.why.rule.empty())
        detail::append(out, " (", c.why.rule, ": ", time{c.why.value}, " against ", time{c.why.threshold},
                       ", usual ", time{c.why.usual}, ")");
    if (!c.cause.is_known()) return;
    detail::append(out, "; ");
    append_reason(out, c.cause);
}

/// Appends why a task should be restarted elsewhere.
inline void append_reason(std::string& out, planned_move const& m) {
    using time = detail::brief;
    detail::append(out, "move: what is left takes ", time{m.left.middle}, " (", time{m.left.low}, " to ",
                   time{m.left.high}, "), a whole run there ", time{m.there.middle}, " (", time{m.there.low},
                   " to ", time{m.there.high}, "); ", detail::fixed<0>{100 * m.win_probability},
                   " % likely to end sooner, gains ", time{m.gain});
    if (!m.cause.is_known()) return;
    detail::append(out, "; ");
    append_reason(out, m.cause);
}

/// Appends when a job with a deadline ends, and what is done: "deadline in 30: ends in 42 (33 to 61), 96 %
/// likely to miss it, at least 12 % with copies; 1 copy runs, 2 planned".
inline void append_reason(std::string& out, planned_job const& j) {
    using time = detail::brief;
    using percent = detail::fixed<0>;
    if (j.deadline > 0)
        detail::append(out, "deadline in ", time{j.deadline});
    else
        detail::append(out, "deadline missed by ", time{-j.deadline});
    if (!j.is_known) return detail::append(out, ": its times are not known yet");
    detail::append(out, ": ends in ", time{j.end.middle}, " (", time{j.end.low}, " to ", time{j.end.high},
                   ")");
    if (!(j.deadline > 0)) return;
    detail::append(out, ", ", percent{100 * j.miss_probability}, " % likely to miss it, at least ",
                   percent{100 * j.least_probability}, " % with copies; ");
    if (j.is_lost()) return detail::append(out, "nothing can help");
    detail::append(out, std::uint64_t{j.copies}, j.copies == 1 ? " copy runs, " : " copies run, ",
                   std::uint64_t{j.planned}, " planned");
}

/// Appends why an attempt should be killed.
inline void append_reason(std::string& out, planned_kill const&) {
    detail::append(out, "its node hangs, and a copy of it runs");
}

/// Appends the effect of a kind of action: "copy: 0.91 times as long (0.84 to 0.98), 812 treated, 19 left
/// alone".
inline void append_reason(std::string& out, action_kind kind, effect const& e) {
    using two = detail::fixed<2>;
    detail::append(out, to_string(kind), ": ");
    if (e.is_known())
        detail::append(out, two{e.value}, " times as long (", two{e.low}, " to ", two{e.high}, "), ");
    else
        detail::append(out, "not known yet, ");
    detail::append(out, e.treated, " treated, ", e.alone, " left alone", e.is_stopped ? ", stopped" : "");
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
    case plan_note::node_clock_ahead:
        return "attempts ended in the future: the clock of their node is ahead, and they are not used";
    case plan_note::stale_feed:
        return "nothing was reported for long although tasks run: nothing new is decided, exclusions expire";
    case plan_note::old_state:
        return "what was restored is old: nothing new is decided yet";
    case plan_note::names_disagree:
        return "nothing that runs was ever seen to end: are jobs named alike where they run and where they "
               "end?";
    case plan_note::action_limit:
        return "the cap on actions is reached";
    case plan_note::storm:
        return "so many tasks look like stragglers that the measurement is in doubt, not the tasks";
    case plan_note::fail_open:
        return "so many nodes look slow that the measurement is in doubt, not the nodes";
    case plan_note::progress_not_trusted:
        return "the progress that tasks report does not say when they end";
    case plan_note::exclusion_stopped:
        return "exclusions are stopped: jobs that were left alone did better";
    case plan_note::copy_stopped:
        return "copies are stopped: tasks that were left alone did better";
    case plan_note::placement_stopped:
        return "placement is stopped: jobs that were left alone did better";
    case plan_note::ends_coincide:
        return "the tasks of each job end together: if they wait for each other, no slow node can be seen "
               "until it is reported how long each waited";
    }
    return "unknown";
}

/// The reason of anything that `append_reason` accepts, as a new string.
template <class Planned>
    requires requires(std::string& out, Planned const& p) { append_reason(out, p); }
[[nodiscard]] std::string reason(Planned const& planned) {
    std::string out;
    append_reason(out, planned);
    return out;
}

} // namespace straggle::mitigate
