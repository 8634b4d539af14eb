// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Storm's blacklist scheduler.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/failures/attempt.hpp>
#include <straggle/failures/detail/keyed.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::failures {

/// Storm's settings, in seconds.
struct storm_blacklist_options {
    std::uint32_t tolerance_time_secs = 300; ///< `blacklist.scheduler.tolerance.time.secs`
    std::uint32_t tolerance_count = 3;       ///< `blacklist.scheduler.tolerance.count`
    std::uint32_t resume_time_secs = 1800;   ///< `blacklist.scheduler.resume.time.secs`
    std::uint32_t monitor_freq_secs = 10;    ///< `nimbus.monitor.freq.secs`: time between two rounds
    std::uint32_t max_nodes = 1 << 20;       ///< limit on nodes remembered
};

/// A supervisor at the time of a round.
struct storm_supervisor {
    std::uint32_t node = 0;       ///< dense index
    std::uint32_t free_slots = 0; ///< idle slots
};

/// A supervisor that was missing, or did not accept work, in too many recent rounds is out for a fixed time.
/// If slots are short, supervisors are released early and used last.
///
/// Source: Storm 2.6, `BlacklistScheduler` and `DefaultBlacklistStrategy`. Not included: single bad slots on
/// good supervisors. A failed attempt stands for an assignment that could not be sent.
///
/// Time is counted in rounds. `schedule` is a round; so is `advance`, in a cluster without missing
/// supervisors or scarce slots.
/// @par Cost
/// `schedule` O(nodes known)
/// @pre `monitor_freq_secs >= 1`
class storm_blacklist {
  public:
    static constexpr std::string_view name = "storm_blacklist";

    /// @param options settings
    explicit storm_blacklist(storm_blacklist_options options = {})
        : options_(options), nodes_(options.max_nodes) {
        STRAGGLE_EXPECTS(options.monitor_freq_secs >= 1);
        rounds_ = (std::max)(options.tolerance_time_secs / options.monitor_freq_secs, 1u);
    }

    /// Adds an attempt: a failure counts against its node in this round.
    void observe(attempt const& a) {
        if (a.as != attempt_status::failed) return;
        if (supervisor* const s = nodes_.at(a.node)) ++s->failed;
    }
    /// Performs a round.
    /// @param present the supervisors that report
    /// @param needed slots that waiting work needs
    void schedule(std::span<storm_supervisor const> present, std::size_t needed) {
        ++round_;
        resume();
        for (storm_supervisor const& p : present)
            if (supervisor* const s = nodes_.at(p.node)) {
                s->seen = round_;
                s->free_slots = p.free_slots;
                s->is_known = true;
            }
        for (supervisor& s : nodes_.all()) {
            bool const missing = s.is_known && s.seen != round_;
            std::uint32_t const bad = s.failed + static_cast<std::uint32_t>(missing);
            note(s, bad);
            s.failed = 0;
            s.is_grey = false;
            if (s.bad >= options_.tolerance_count && s.left == 0)
                s.left = (std::max)(options_.resume_time_secs / options_.monitor_freq_secs, 1u);
            // Drop it.
            if (missing && round_ - s.seen >= rounds_) s.is_known = false;
        }
        release(needed);
    }
    /// A round in which every known supervisor is present, with free slots.
    void advance(double = 0) {
        present_.clear();
        for (std::uint32_t i = 0; i < nodes_.all().size(); ++i)
            if (nodes_.all()[i].is_known || nodes_.all()[i].failed > 0)
                present_.push_back({i, nodes_.all()[i].free_slots});
        schedule(present_, 0);
    }
    /// Whether a supervisor gets no work.
    [[nodiscard]] bool is_out(std::uint32_t node) const noexcept {
        supervisor const* const s = nodes_.find(node);
        return s != nullptr && s->left > 0;
    }
    /// Whether it was released because slots are short: use it last.
    [[nodiscard]] bool is_last_resort(std::uint32_t node) const noexcept {
        supervisor const* const s = nodes_.find(node);
        return s != nullptr && s->is_grey;
    }
    /// Number of observations dropped for lack of room.
    [[nodiscard]] std::uint64_t refused() const noexcept { return nodes_.refused(); }

  private:
    struct mark {
        std::uint64_t round;
        std::uint32_t times;
    };
    struct supervisor {
        std::uint64_t seen = 0;
        std::uint32_t free_slots = 0, failed = 0, bad = 0;
        std::uint32_t left = 0; // rounds until it returns
        bool is_known = false, is_grey = false;
        std::vector<mark> marks; // rounds in which it was bad
    };

    // Records a bad round for a supervisor, and drops old ones.
    void note(supervisor& s, std::uint32_t bad) {
        std::size_t old = 0;
        for (; old < s.marks.size() && s.marks[old].round + rounds_ <= round_; ++old)
            s.bad -= s.marks[old].times;
        s.marks.erase(s.marks.begin(), s.marks.begin() + static_cast<std::ptrdiff_t>(old));
        if (bad == 0) return;
        s.marks.push_back({round_, bad});
        s.bad += bad;
    }
    void resume() noexcept {
        for (supervisor& s : nodes_.all())
            if (s.left > 0) --s.left;
    }
    void release(std::size_t needed) noexcept {
        std::size_t available = 0;
        for (supervisor const& s : nodes_.all())
            if (s.left == 0 && s.is_known && s.seen == round_) available += s.free_slots;
        for (supervisor& s : nodes_.all()) {
            if (available >= needed) break;
            if (s.left == 0 || !s.is_known || s.seen != round_) continue;
            s.left = 0;
            s.is_grey = true;
            available += s.free_slots;
        }
    }

    storm_blacklist_options options_;
    detail::by_node<supervisor> nodes_;
    std::vector<storm_supervisor> present_;
    std::uint64_t round_ = 0;
    std::uint32_t rounds_ = 1; // length of the window in rounds
};

} // namespace straggle::failures
