// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a scheduler is advised to do: plain structs, each with what was compared and a reason in words. Rows
/// index the ranges passed to `mitigator::decide`.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/detect/late_cause.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/record/comparison.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/slowdown.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// The state of a node, and why.
struct planned_node {
    std::size_t row = 0;                    ///< in the range of nodes
    node_state state = node_state::healthy; ///< what to do with it: see `node_state`
    slowdown slow{};                        ///< how many times as long tasks take there as elsewhere
    comparison why{};                       ///< the comparison behind the state; empty if healthy
    std::uint8_t causes = 0;                ///< reasons against it, as bits: `blacklist::cause`
    std::uint32_t strikes = 0;              ///< recent exclusions
    std::uint32_t probe_slots = 0;          ///< attempts that may run there at a time; 0 if out of service
    double lasted = 0;                      ///< how long the state has lasted, in the unit of the times
    double left = 0;                        ///< how much longer it lasts at most, unless new evidence arrives
    blacklist::spared spared_by = blacklist::spared::no; ///< why it stays in service despite evidence
};

/// A task that takes longer than the spread within its job explains, and why. It need not get a copy: a task
/// that only has more to do gains nothing by one.
struct planned_suspect {
    std::size_t row = 0;        ///< in the range of running attempts: one attempt of the task
    time_range left{};          ///< time it still needs
    comparison why{};           ///< the task against its siblings
    detect::late_cause cause{}; ///< what makes it late
};

/// A second attempt that is worth launching.
struct planned_copy {
    std::size_t row = 0;        ///< in the range of running attempts: the original
    std::size_t node_row = 0;   ///< in the range of nodes: where it goes
    time_range left{};          ///< time the original still needs
    time_range there{};         ///< time the copy needs
    double win_probability = 0; ///< probability that the copy ends first
    double gain = 0;            ///< expected time the job saves
    double cost = 0;            ///< its cost, in the same unit
    comparison why{};           ///< the task against its siblings
    detect::late_cause cause{}; ///< what makes the task late; unknown if it is not
    bool is_probe = false;      ///< goes to a node on probation, to try the node
};

/// A task to stop and to start elsewhere: what it has done is lost.
struct planned_move {
    std::size_t row = 0;        ///< in the range of running attempts
    std::size_t node_row = 0;   ///< in the range of nodes: where it goes
    time_range left{};          ///< time it still needs where it runs
    time_range there{};         ///< time of a whole run there
    double win_probability = 0; ///< probability that it ends sooner
    double gain = 0;            ///< expected time it saves, what is lost included
    detect::late_cause cause{}; ///< what makes it late
};

/// An attempt that may be killed.
struct planned_kill {
    std::size_t row = 0; ///< in the range of running attempts
};

/// A job with a deadline, of which tasks run. Tasks that have not started are not considered.
struct planned_job {
    std::size_t row = 0;         ///< in the range of running attempts: one of its attempts
    time_range end{};            ///< time until its running tasks have ended, with the copies that run now
    double deadline = 0;         ///< time left until its deadline; negative: missed
    double weight = 1;           ///< as passed
    double miss_probability = 0; ///< probability that one of its running tasks ends after the deadline
    /// the same if each of its tasks had a copy on a usual node from now on: what copies could still achieve
    double least_probability = 0;
    std::uint32_t copies = 0;  ///< of its tasks, that run now
    std::uint32_t planned = 0; ///< further ones in this plan
    bool is_known = false; ///< false: too little is known about its times; `end` and probabilities are 0, or
                           ///< the latter 1 after the deadline

    /// Whether it misses its deadline even with copies, nineteen times in twenty.
    [[nodiscard]] constexpr bool is_lost() const noexcept { return least_probability >= 0.95; }
};

/// A node where a new task can run.
struct planned_place {
    std::size_t row = 0; ///< in the range of nodes
    double time = 0;     ///< expected time of the task there; 0 if unknown
};

/// Further remarks on a decision.
enum class plan_note : std::uint8_t {
    switched_off,     ///< the options say so: nothing is decided
    not_the_decider,  ///< another decider holds the lease: nothing is decided
    empty_fleet,      ///< there is no node, or no slot
    clock_went_back,  ///< the clock jumped back: attempts from before it are not used
    clock_jumped,     ///< the clock jumped ahead: attempts from before it are not used
    node_clock_ahead, ///< attempts ended in the future: their node's clock is ahead, and they are not used
    stale_feed,       ///< nothing was reported for long although tasks run: nothing new is decided
    old_state,        ///< the restored state is old: nothing new is decided yet
    names_disagree,   ///< no running job was ever seen to end: check the job names
    action_limit,     ///< the limit on actions is reached
    storm,            ///< too many tasks on too many nodes look late: the cause is elsewhere
    fail_open,        ///< too many nodes look slow: the cause is elsewhere
    progress_not_trusted, ///< progress does not predict when tasks end
    exclusion_stopped,    ///< exclusions did not help: they are stopped
    copy_stopped,         ///< copies did not help: they are stopped
    placement_stopped,    ///< placing by predicted time did not help: it is stopped
    ends_coincide,        ///< the tasks of jobs end together, as if they waited for each other: see `waited`
};
/// Number of notes.
inline constexpr std::size_t plan_note_count = 17;

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(plan_note note) noexcept {
    constexpr std::array<std::string_view, plan_note_count> names{
        "switched_off",         "not_the_decider",   "empty_fleet",  "clock_went_back",
        "clock_jumped",         "node_clock_ahead",  "stale_feed",   "old_state",
        "names_disagree",       "action_limit",      "storm",        "fail_open",
        "progress_not_trusted", "exclusion_stopped", "copy_stopped", "placement_stopped",
        "ends_coincide"};
    return names[static_cast<std::size_t>(note)];
}

} // namespace straggle::mitigate

namespace straggle::inline STRAGGLE_ABI::detail {
class plan_writer;
} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// The result of `mitigator::decide`.
///
/// A plan is advice: an ignored item costs nothing, and the next decision may repeat it.
/// @par Guarantees
/// unchanged until the next `decide`; a copy stays valid
class mitigation_plan {
  public:
    /// All nodes, in the order of their range.
    [[nodiscard]] std::span<mitigate::planned_node const> nodes() const noexcept {
        return detail::span_of(nodes_);
    }
    /// Late tasks, those with the most time left first.
    [[nodiscard]] std::span<mitigate::planned_suspect const> suspects() const noexcept {
        return detail::span_of(suspects_);
    }
    /// Copies to launch, best first.
    [[nodiscard]] std::span<mitigate::planned_copy const> copies() const noexcept {
        return detail::span_of(copies_);
    }
    /// Tasks to stop and to start elsewhere, best first; only with `speculator_options::moves`, instead of
    /// copies.
    [[nodiscard]] std::span<mitigate::planned_move const> moves() const noexcept {
        return detail::span_of(moves_);
    }
    /// Attempts that may be killed: a copy runs and will end before them.
    [[nodiscard]] std::span<mitigate::planned_kill const> kills() const noexcept {
        return detail::span_of(kills_);
    }
    /// Jobs with a deadline that have running tasks; in no particular order.
    [[nodiscard]] std::span<mitigate::planned_job const> jobs() const noexcept {
        return detail::span_of(jobs_);
    }
    /// The notes, each once.
    [[nodiscard]] std::span<mitigate::plan_note const> notes() const noexcept {
        return detail::span_of(notes_.data(), noted_);
    }
    /// Whether the plan has a note.
    [[nodiscard]] bool has(mitigate::plan_note note) const noexcept {
        for (std::size_t i = 0; i < noted_; ++i)
            if (notes_[i] == note) return true;
        return false;
    }
    /// The state of a node. O(1).
    /// @param row in the range of nodes; unknown rows are healthy
    [[nodiscard]] node_state state(std::size_t row) const noexcept {
        return row < nodes_.size() ? nodes_[row].state : node_state::healthy;
    }

  private:
    friend class detail::plan_writer;
    std::vector<mitigate::planned_node> nodes_;
    std::vector<mitigate::planned_suspect> suspects_;
    std::vector<mitigate::planned_copy> copies_;
    std::vector<mitigate::planned_move> moves_;
    std::vector<mitigate::planned_kill> kills_;
    std::vector<mitigate::planned_job> jobs_;
    std::array<mitigate::plan_note, mitigate::plan_note_count> notes_{};
    std::size_t noted_ = 0;
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::detail {

// The writer of a plan.
class plan_writer {
  public:
    explicit plan_writer(mitigation_plan& plan) noexcept : plan_(plan) {}
    void clear() noexcept {
        plan_.nodes_.clear();
        plan_.suspects_.clear();
        plan_.copies_.clear();
        plan_.moves_.clear();
        plan_.kills_.clear();
        plan_.jobs_.clear();
        plan_.noted_ = 0;
    }
    [[nodiscard]] std::vector<mitigate::planned_node>& nodes() noexcept { return plan_.nodes_; }
    [[nodiscard]] std::vector<mitigate::planned_suspect>& suspects() noexcept { return plan_.suspects_; }
    [[nodiscard]] std::vector<mitigate::planned_copy>& copies() noexcept { return plan_.copies_; }
    [[nodiscard]] std::vector<mitigate::planned_move>& moves() noexcept { return plan_.moves_; }
    [[nodiscard]] std::vector<mitigate::planned_kill>& kills() noexcept { return plan_.kills_; }
    [[nodiscard]] std::vector<mitigate::planned_job>& jobs() noexcept { return plan_.jobs_; }
    void note(mitigate::plan_note note) noexcept {
        if (!plan_.has(note)) plan_.notes_[plan_.noted_++] = note;
    }

  private:
    mitigation_plan& plan_;
};

} // namespace straggle::detail
