// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Whom to avoid, as plain data that carries its reasons: what was measured, what it was compared with, who
/// spared whom.
#pragma once

#include <straggle/blacklist/selection.hpp>

namespace straggle {

/// One node a policy found weak, with everything needed to explain it to an operator.
template <class NodeId>
struct verdict {
    NodeId id{};                     ///< as in the ranking
    std::uint64_t n = 0;             ///< scores
    double mean = 0;                 ///< of the scores
    double sd = 0;                   ///< of the scores
    interval ci{};                   ///< of the mean
    std::uint32_t level = 0;         ///< in the ranking, 0 weakest
    std::size_t provably_faster = 0; ///< nodes whose whole interval lies below this one's
    std::size_t provably_slower = 0; ///< nodes whose whole interval lies above
    double value = 0;                ///< what the policy compared
    double threshold = 0;            ///< with what
    std::string_view rule;           ///< name of the policy
    std::string_view spared_by;      ///< name of the guard that kept the node in service; empty: none did
};

namespace detail {
struct decision_access;
}

/// The answer of a blacklister: the nodes to avoid and the weak ones it was not allowed to avoid.
template <class NodeId>
class blacklist_decision {
  public:
    /// Nodes to give no more work, worst first. Empty is an answer.
    [[nodiscard]] std::span<verdict<NodeId> const> blacklisted() const& noexcept {
        return std::span(verdicts_).first(blacklisted_);
    }
    /// Weak nodes a guard kept in service, worst first.
    [[nodiscard]] std::span<verdict<NodeId> const> spared() const& noexcept {
        return std::span(verdicts_).subspan(blacklisted_, weak_ - blacklisted_);
    }
    // A span of a decision that is about to go away: name the decision first.
    void blacklisted() const&& = delete;
    void spared() const&& = delete;

    /// True for a blacklisted node.
    /// @par Cost O(blacklisted)
    template <class Id>
    [[nodiscard]] bool avoids(Id const& id) const {
        for (auto const& v : blacklisted())
            if (v.id == id) return true;
        return false;
    }
    /// Name of the policy that decided.
    [[nodiscard]] std::string_view rule() const noexcept { return rule_; }
    /// What the policy has to say about the fleet as a whole.
    [[nodiscard]] selection_note note() const noexcept { return note_; }

  private:
    friend detail::decision_access;

    // The blacklisted, then the spared; those after the first weak_ only keep their memory for reuse.
    std::vector<verdict<NodeId>> verdicts_;
    std::size_t weak_ = 0;
    std::size_t blacklisted_ = 0;
    std::string_view rule_;
    selection_note note_ = selection_note::none;
};

} // namespace straggle
