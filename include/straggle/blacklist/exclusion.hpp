// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long a node is avoided, and how it returns. An exclusion policy maps the evidence of each window to
/// the node's state. There is no clock: time is the window number, which may skip values and never goes back.
/// Policies are small types that compose: `hysteresis{probation{escalating{.base = 1, .max = 16}}}`.
///
/// | policy | after an exclusion a node | needs probes |
/// |---|---|---|
/// | `rerank_every_window` | is back at once | no |
/// | `escalating` | is back, and gets a longer exclusion if still weak | no |
/// | `probation<...>` | gets a few tasks to prove itself first | yes |
/// | `hysteresis<...>` | is on probation until `leave` good findings in a row | yes |
///
/// If probes are needed, a scheduler that gives a node on probation no tasks never learns whether the node
/// has recovered: it stays on probation until `rolling_blacklister` has seen no score of it for long enough.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/record/node_state.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// The evidence of one window on one node.
struct window_evidence {
    std::uint64_t n = 0; ///< scores
    double mean = 0;     ///< of the scores; 0 when there are none
    bool ranked = false; ///< has enough scores for an interval
    bool weak = false;   ///< named by the selection policy
    bool fresh = true;   ///< no score was counted for the node before; false if windows overlap
};

/// All that is remembered about a node: plain data that can be compared and stored. A value equal to `{}`
/// carries no information and need not be kept.
struct exclusion {
    node_state state = node_state::healthy; ///< the node's state
    std::uint32_t strikes = 0;     ///< exclusions not yet worked off: they set the length of the next one
    std::int64_t since = 0;        ///< window that excluded it; 0 while healthy
    std::int64_t until = 0;        ///< first window that may end the exclusion; 0 while healthy
    std::uint32_t weak_streak = 0; ///< consecutive windows with evidence that found it weak
    std::uint32_t good_streak = 0; ///< consecutive good findings while it is not healthy
    std::uint64_t probes = 0;      ///< scores since probation began
    double probe_sum = 0;          ///< sum of those scores

    friend bool operator==(exclusion const&, exclusion const&) = default;
};

/// A rule for how a window changes the state of a node: `advance(s, evidence, window)` is called once for
/// each window decided on, with increasing numbers. To be composable, a policy must treat a node on probation
/// as follows: exclude it when it is weak, make it healthy after evidence that it is not weak, and leave it
/// unchanged without evidence. It must not count evidence that is not fresh; a policy without memory may
/// still use it.
template <class Policy>
concept exclusion_policy =
    std::move_constructible<Policy> &&
    requires(Policy const& policy, exclusion& s, window_evidence const& evidence, std::int64_t window) {
        { policy.advance(s, evidence, window) } -> std::same_as<void>;
        { Policy::name } -> std::convertible_to<std::string_view>;
    };

} // namespace straggle::blacklist

namespace straggle::inline STRAGGLE_ABI::detail {

// The window `length >= 0` after another, capped at the largest number.
constexpr std::int64_t windows_after(std::int64_t window, std::int64_t length) noexcept {
    std::int64_t const last = (std::numeric_limits<std::int64_t>::max)();
    return window > last - length ? last : window + length;
}

// An infinite sum could be neither stored nor subtracted from.
constexpr double within_doubles(double sum) noexcept {
    using limits = std::numeric_limits<double>;
    return sum > (limits::max)() ? (limits::max)() : sum < limits::lowest() ? limits::lowest() : sum;
}

constexpr void count_up(std::uint32_t& n) noexcept {
    if (n < (std::numeric_limits<std::uint32_t>::max)()) ++n;
}

// Back in full service. Forgets why a node was excluded, but not how often.
constexpr void set_healthy(blacklist::exclusion& s) noexcept {
    s = {.strikes = s.strikes, .weak_streak = s.weak_streak};
}

constexpr void set_excluded(blacklist::exclusion& s, std::int64_t since, std::int64_t until) noexcept {
    s = {.state = node_state::excluded,
         .strikes = s.strikes,
         .since = since,
         .until = until,
         .weak_streak = s.weak_streak};
}

// Nothing is known about the node except that its exclusion is over.
constexpr void set_on_probation(blacklist::exclusion& s, std::int64_t since, std::int64_t until) noexcept {
    s = {.state = node_state::on_probation,
         .strikes = s.strikes,
         .since = since,
         .until = until,
         .weak_streak = s.weak_streak,
         .good_streak = s.good_streak};
}

// Whether a policy of this name is, or is nested in, another.
template <class Policy>
consteval bool has_policy(std::string_view name) {
    if (std::string_view(Policy::name) == name) return true;
    if constexpr (requires(Policy const& p) { p.inner; })
        return has_policy<std::remove_cv_t<decltype(Policy::inner)>>(name);
    else
        return false;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// A node is excluded only while it is weak: every window is ranked from scratch.
///
/// Source: DSB section 4.2.3, algorithm 1. Its flaw: an avoided node gets no tasks, so the next window has no
/// evidence against it; it is released and, if still slow, slows down the jobs of every second window
/// indefinitely. Hence the default `probation<escalating>`.
struct rerank_every_window {
    static constexpr std::string_view name = "rerank_every_window";

    constexpr void advance(exclusion& s, window_evidence const& evidence,
                           std::int64_t window) const noexcept {
        if (evidence.weak)
            detail::set_excluded(s, s.state == node_state::excluded ? s.since : window,
                                 detail::windows_after(window, 1));
        else if (evidence.ranked || s.state != node_state::on_probation)
            detail::set_healthy(s);
    }
};

/// Exclusions that double: base, 2 base, 4 base... windows, at most max. A window with evidence that the node
/// is not weak takes one doubling back; a window without evidence does not.
///
/// Source: the ejection times of Envoy and gRPC. Changed: doubled instead of added; the number of doublings
/// never exceeds what max needs, so that the way back is no longer than the way up (Envoy issue 37602); and
/// strikes decay by evidence only: if they decayed by time, a node that fails whenever it returns would
/// always count as a first offender (Envoy issue 21142).
///
/// Reports of an excluded node come from tasks started before its exclusion or finished despite it, and do
/// not count either way.
/// @pre `1 <= base <= max`
struct escalating {
    static constexpr std::string_view name = "escalating";

    std::int64_t base = 1; ///< windows of the first exclusion
    std::int64_t max = 16; ///< windows of the longest exclusion

    constexpr void advance(exclusion& s, window_evidence const& evidence, std::int64_t window) const {
        STRAGGLE_EXPECTS(base >= 1 && max >= base);
        if (s.state == node_state::excluded) {
            // A stored exclusion may be longer than this policy allows.
            std::int64_t const latest = detail::windows_after(window, max);
            if (s.until > latest) s.until = latest;
            if (window >= s.until) detail::set_healthy(s);
        } else if (!evidence.fresh) {
            return;
        } else if (evidence.weak) {
            detail::count_up(s.strikes);
            detail::set_excluded(s, window, detail::windows_after(window, cap(s.strikes)));
        } else if (evidence.ranked) {
            if (s.strikes > 0) --s.strikes;
            detail::set_healthy(s);
        }
    }

  private:
    // The windows for a number of strikes; drops strikes that add nothing.
    [[nodiscard]] constexpr std::int64_t cap(std::uint32_t& strikes) const noexcept {
        std::int64_t length = base;
        for (std::uint32_t doubled = 1; doubled < strikes; ++doubled) {
            if (length >= max) {
                strikes = doubled;
                break;
            }
            length = length > max / 2 ? max : 2 * length;
        }
        return length;
    }
};

/// An exclusion is followed by a trial: the node gets a few tasks, and is released if it does them as well as
/// others do. If not, it relapses: the inner policy sees a weak node. It stays on probation until there are
/// enough scores, over any number of windows; if a window finds it weak in the meantime, it relapses at once.
///
/// Source: the half-open state of circuit breakers; judging by scores is ours. Why three probes, not one:
/// scores of a healthy node are about standard normal; one of them exceeds 1 in 16 % of cases, the mean of
/// three in 4.2 %. A node slow by two deviations passes with the same 16 % and 4.2 %. (Scores of another
/// normalizer need another bound: for `ratio_to_median`, 1 is the healthy mean.)
/// @tparam Inner what decides on exclusion and release
/// @pre `probes >= 1`, `relapse_above` finite
template <exclusion_policy Inner = escalating>
struct probation {
    static constexpr std::string_view name = "probation";
    static_assert(!detail::has_policy<Inner>(name), "the probes of a node are counted once");

    [[no_unique_address]] Inner inner{}; ///< decides on exclusion and release
    std::uint64_t probes = 3;            ///< number of scores to judge by
    double relapse_above = 1.0; ///< mean score that counts as too slow, in the unit of the normalizer

    constexpr void advance(exclusion& s, window_evidence const& evidence, std::int64_t window) const {
        STRAGGLE_EXPECTS(probes >= 1 && detail::is_finite(relapse_above));
        if (s.state == node_state::on_probation) {
            if (!evidence.fresh) return;
            s.probes += evidence.n;
            s.probe_sum =
                detail::within_doubles(s.probe_sum + static_cast<double>(evidence.n) * evidence.mean);
            if (s.probes < probes && !evidence.weak) return;
            double const mean = s.probes > 0 ? s.probe_sum / static_cast<double>(s.probes) : 0.0;
            window_evidence const finding{
                .n = s.probes, .mean = mean, .ranked = true, .weak = evidence.weak || mean > relapse_above};
            detail::set_on_probation(s, s.since, s.until); // in case the inner policy needs more evidence
            inner.advance(s, finding, window);
        } else {
            exclusion const before = s;
            inner.advance(s, evidence, window);
            if (before.state == node_state::excluded && s.state == node_state::healthy)
                detail::set_on_probation(s, before.since, before.until);
        }
    }
};

/// Requires confirmation: the inner policy sees a node as weak only after `enter` consecutive windows that
/// found it weak, and a node that it releases is healthy only after `leave` consecutive good findings. A
/// finding is a window with an interval for the node, or a set of probes passed. Windows without evidence
/// neither break nor extend a streak; a window that finds the node weak too early in the streak counts for
/// nothing else.
///
/// Until then the node is on probation, even around a policy without probation: without tasks it could never
/// collect good findings and would be avoided indefinitely. Around such a policy a finding takes two tasks in
/// one window, since single scores give no interval.
/// @tparam Inner what decides on exclusion and release
/// @pre `enter >= 1`, `leave >= 1`
template <exclusion_policy Inner = probation<>>
struct hysteresis {
    static constexpr std::string_view name = "hysteresis";
    static_assert(!detail::has_policy<Inner>(name), "the findings on a node are counted once");

    [[no_unique_address]] Inner inner{}; ///< decides on exclusion and release
    std::uint32_t enter = 2;             ///< consecutive weak windows required
    std::uint32_t leave = 2;             ///< consecutive good findings required

    constexpr void advance(exclusion& s, window_evidence const& evidence, std::int64_t window) const {
        STRAGGLE_EXPECTS(enter >= 1 && leave >= 1);
        exclusion const before = s;
        std::uint32_t weak = s.weak_streak, good = s.good_streak;
        if (!evidence.fresh) {
            // Not fresh: neither streak grows or breaks.
        } else if (evidence.weak) {
            detail::count_up(weak);
            good = 0;
        } else if (evidence.ranked) {
            detail::count_up(good);
            weak = 0;
        }
        window_evidence believed = evidence;
        if (evidence.weak && weak < enter) believed.weak = believed.ranked = false;
        inner.advance(s, believed, window);

        if (before.state != node_state::healthy && s.state == node_state::healthy) {
            if (before.state == node_state::on_probation && !evidence.weak && !evidence.ranked) {
                detail::count_up(good); // released without an interval: by its probes
                weak = 0;
            }
            if (good < leave) {
                s.strikes = before.strikes; // strikes are worked off only once the findings confirm it
                detail::set_on_probation(s, before.since, before.until);
            }
        }
        s.weak_streak = weak;
        s.good_streak = s.state == node_state::on_probation ? good : 0;
    }
};

} // namespace straggle::blacklist
