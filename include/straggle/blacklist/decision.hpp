// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which nodes to avoid, as plain data with the reasons: what was measured, what it was compared with, which
/// limit spared which node, and until when.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/rare_ids.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/slowdown.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI {

/// One node with evidence against it, and everything needed to explain it to an operator. A node avoided for
/// several windows keeps the evidence of the last window that found it weak.
///
/// Read the slowdown first: "takes 1.31 times as long as elsewhere (1.24 to 1.39), 116 tasks". The scores
/// behind it are filled in only from a ranking.
/// @tparam Text type that holds the names of policy and limit; `logged_verdict` owns them
template <class NodeId, class Text = std::string_view>
struct verdict {
    NodeId id{};                            ///< as the records name it
    node_state state = node_state::healthy; ///< the node's state
    slowdown slow{};                        ///< how many times as long its tasks take
    std::uint8_t causes = 0;                ///< reasons against it: set of `cause`
    std::uint64_t n = 0;                    ///< scores; tasks from a `dynamic_blacklist`
    double mean = 0;                        ///< of the scores
    double sd = 0;                          ///< of the scores
    stats::interval ci{};                   ///< of the mean
    std::uint32_t level = 0;                ///< in the ranking, 0 weakest
    std::size_t provably_faster = 0;        ///< nodes whose whole interval lies below this one's
    std::size_t provably_slower = 0;        ///< nodes whose whole interval lies above
    double value = 0;                       ///< the quantity that the policy compared
    double threshold = 0;                   ///< the bound it was compared with
    Text rule{};                            ///< name of the policy, or of its part, that named the node
    Text spared_by{};          ///< name of the limit that kept the node in service; empty: none did
    std::uint32_t strikes = 0; ///< exclusions not yet worked off; 0 from a blacklister
    /// Window that excluded the node; from a `dynamic_blacklist`, the time it entered its state, on the
    /// caller's clock (in seconds for a clock of std::chrono); 0 from a blacklister, or if spared.
    double since = 0;
    /// First window that may end the exclusion, or the time when it ends; 0 from a blacklister, or if spared.
    double until = 0;
    std::uint32_t probe_slots = 0; ///< on probation: how many attempts it may run at a time; 0: unknown

    friend bool operator==(verdict const&, verdict const&) = default;
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::detail {
struct decision_access;
} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// The answer of a `dynamic_blacklist`, `rolling_blacklister` or `blacklister`: nodes to avoid, nodes on
/// probation, and weak nodes that stay in service.
template <class NodeId>
class blacklist_decision {
  public:
    /// An empty decision.
    blacklist_decision() = default;
    /// Copies a decision.
    blacklist_decision(blacklist_decision const&) = default;
    /// Moves a decision; the source may only be assigned to or destroyed.
    blacklist_decision(blacklist_decision&&) noexcept = default;
    /// Copies into the existing memory; empty if an allocation fails.
    blacklist_decision& operator=(blacklist_decision const& other) {
        if (this == &other) return *this;
        blacklisted_ = on_probation_ = spared_ = away_ = 0;
        verdicts_ = other.verdicts_;
        places_.clear();
        std::size_t const named = other.blacklisted_ + other.on_probation_ + other.spared_ + other.away_;
        for (std::size_t i = 0; i < named; ++i) places_.insert(verdicts_[i].id);
        rule_ = other.rule_;
        exclusion_rule_ = other.exclusion_rule_;
        window_ = other.window_;
        note_ = other.note_;
        blacklisted_ = other.blacklisted_;
        on_probation_ = other.on_probation_;
        spared_ = other.spared_;
        away_ = other.away_;
        return *this;
    }
    /// Moves a decision; the source may only be assigned to or destroyed.
    blacklist_decision& operator=(blacklist_decision&&) noexcept = default;
    ~blacklist_decision() = default;

    /// Nodes that should get no more work, worst first. May be empty.
    [[nodiscard]] std::span<verdict<NodeId> const> blacklisted() const& noexcept {
        return std::span(verdicts_).first(blacklisted_);
    }
    /// Nodes whose exclusion has ended but that still have to prove themselves: give each a few tasks,
    /// ideally backup copies, never the only copy. Worst first; always empty from a blacklister.
    [[nodiscard]] std::span<verdict<NodeId> const> on_probation() const& noexcept {
        return std::span(verdicts_).subspan(blacklisted_, on_probation_);
    }
    /// Weak nodes kept in service, or returned to it, by load or a limit, worst first.
    [[nodiscard]] std::span<verdict<NodeId> const> spared() const& noexcept {
        return std::span(verdicts_).subspan(blacklisted_ + on_probation_, spared_);
    }
    /// Nodes that the caller reported as away.
    [[nodiscard]] std::span<verdict<NodeId> const> away() const& noexcept {
        return std::span(verdicts_).subspan(blacklisted_ + on_probation_ + spared_, away_);
    }
    // A span into a temporary decision would dangle: name the decision first.
    void blacklisted() const&& = delete;  // keep the decision in a variable first
    void on_probation() const&& = delete; // keep the decision in a variable first
    void spared() const&& = delete;       // keep the decision in a variable first
    void away() const&& = delete;         // keep the decision in a variable first

    /// The state of a node: `excluded`, `on_probation`, `last_resort` for a weak node that was spared,
    /// `away`, and `healthy` for all others, including unknown nodes. A node spared because too many look
    /// weak at once is healthy: that measurement is not trusted.
    /// @par Cost
    /// O(1) expected, regardless of the number of nodes
    [[nodiscard]] node_state state(typename interner<NodeId>::key_type id) const {
        verdict<NodeId> const* const v = find(id);
        return v == nullptr ? node_state::healthy : v->state;
    }
    /// The verdict on a node; null if there is nothing against it. Valid as long as the decision.
    /// @par Cost
    /// same as `state`
    [[nodiscard]] verdict<NodeId> const* find(typename interner<NodeId>::key_type id) const {
        std::size_t const place = places_.find(id);
        return place < blacklisted_ + on_probation_ + spared_ + away_ ? &verdicts_[place] : nullptr;
    }
    /// True for an excluded node; false for one on probation.
    /// @par Cost
    /// same as `state`
    [[nodiscard]] bool avoids(typename interner<NodeId>::key_type id) const {
        return state(id) == node_state::excluded;
    }
    /// True for a node on probation: give it a copy, but no task of its own.
    /// @par Cost
    /// same as `state`
    [[nodiscard]] bool tries(typename interner<NodeId>::key_type id) const {
        return state(id) == node_state::on_probation;
    }
    /// Name of the policy that decided.
    [[nodiscard]] std::string_view rule() const noexcept { return rule_; }
    /// The policy's remark on the fleet as a whole.
    [[nodiscard]] blacklist::selection_note note() const noexcept { return note_; }
    /// Name of the policy that sets the length; empty from a blacklister or a `dynamic_blacklist`.
    [[nodiscard]] std::string_view excluding() const noexcept { return exclusion_rule_; }
    /// The window decided on; 0 from a blacklister or a `dynamic_blacklist`.
    [[nodiscard]] std::int64_t window() const noexcept { return window_; }

  private:
    friend detail::decision_access;

    // First the blacklisted, then those on probation, then the spared; the rest is memory kept for reuse.
    std::vector<verdict<NodeId>> verdicts_;
    detail::rare_ids<NodeId> places_; // of the verdicts
    std::size_t blacklisted_ = 0;
    std::size_t on_probation_ = 0;
    std::size_t spared_ = 0;
    std::size_t away_ = 0;
    std::string_view rule_;
    std::string_view exclusion_rule_;
    std::int64_t window_ = 0;
    blacklist::selection_note note_ = blacklist::selection_note::none;
};

} // namespace straggle
