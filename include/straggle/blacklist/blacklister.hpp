// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Combines a selection policy with any number of capacity limits: a ranking goes in, a decision comes out.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/detail/verdicts.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/limits.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/blacklist/slower_by.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI {

/// Decides which nodes to avoid, from one ranking and without memory; `dynamic_blacklist` remembers, and uses
/// more evidence.
///
/// @par Example
/// `blacklister{}.decide(ranking)` uses the defaults a production scheduler can trust: `slower_by`, and at
/// most a fifth of the slots or one node (`share_of_slots`). `blacklister{weakest_level{}, at_most{3},
/// one_per_domain{rack_of}}` names a policy and limits; naming limits replaces the default one, `unlimited{}`
/// removes it.
///
/// of `decide`: the policy's, plus O(nodes log nodes) when a node is weak; allocates nothing in the steady
/// state when it fills a decision passed to it
/// @par Guarantees
/// deterministic (except for a random fill). Only allocation can throw; a decision being filled is then
/// empty, and deciding again gives the same result (except for a random fill, whose draws are lost).
template <class Selection = blacklist::slower_by, class... Limits>
class blacklister {
    static_assert(detail::explain_selection<Selection>());
    static_assert((detail::explain_limit_name<Limits>() && ...));

  public:
    /// A policy with the default limits.
    explicit constexpr blacklister(Selection selection = {})
        requires(std::default_initializable<Limits> && ...)
        : selection_(std::move(selection)) {}

    /// A policy with its limits.
    constexpr blacklister(Selection selection, Limits... limits)
        requires(sizeof...(Limits) > 0)
        : selection_(std::move(selection)), limits_(std::move(limits)...) {}

    /// Decides on a ranking.
    template <class NodeId, class JobId>
        requires(blacklist::node_limit<Limits, NodeId> && ...)
    [[nodiscard]] blacklist_decision<NodeId> decide(node_ranking<NodeId, JobId> const& ranking) {
        blacklist_decision<NodeId> decision;
        decide(ranking, decision);
        return decision;
    }

    /// Not a valid call: makes the compiler say in one line what a limit lacks.
    template <class NodeId, class JobId, class... Out>
        requires(!(blacklist::node_limit<Limits, NodeId> && ...))
    auto decide(node_ranking<NodeId, JobId> const&, Out&...) {
        return (detail::explain_limit<Limits, blacklist::fleet_view<NodeId>, NodeId>() && ...);
    }

    /// Decides on a ranking into an existing decision, reusing its memory.
    template <class NodeId, class JobId>
        requires(blacklist::node_limit<Limits, NodeId> && ...)
    void decide(node_ranking<NodeId, JobId> const& ranking, blacklist_decision<NodeId>& decision) {
        candidates_.clear();
        blacklist::selection_note const note = selection_.select(ranking.nodes(), scratch_, candidates_);
        detail::decision_access::begin(decision, Selection::name, note, candidates_.size());
        limits_.begin(blacklist::fleet_view<NodeId>(ranking, calls_ + 1), candidates_.size());
        if (!candidates_.empty()) write(ranking, decision);
        ++calls_; // only now: after a failed allocation, limits must see the same call again
    }

  private:
    template <class NodeId, class JobId>
    void write(node_ranking<NodeId, JobId> const& ranking, blacklist_decision<NodeId>& decision) {
        census_.take(ranking.nodes(), ranking.edges());

        // The verdicts list the blacklisted nodes first, then the spared, each worst first.
        spared_by_.assign(candidates_.size(), {});
        std::size_t blacklisted = 0;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            spared_by_[i] = limits_.grant(ranking.nodes()[candidates_[i].node].id, true);
            if (spared_by_[i].empty()) ++blacklisted;
        }
        std::size_t next_blacklisted = 0, next_spared = blacklisted;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            auto const& node = ranking.nodes()[candidates_[i].node];
            std::size_t& place = spared_by_[i].empty() ? next_blacklisted : next_spared;
            detail::decision_access::write(decision, place++, node.id,
                                           detail::charge_of(node, candidates_[i], census_, Selection::name),
                                           spared_by_[i]);
        }
        detail::decision_access::end_of_lists(decision, blacklisted, 0, candidates_.size() - blacklisted);
    }

    [[no_unique_address]] Selection selection_;
    [[no_unique_address]] detail::limits_or_default<Limits...> limits_;
    std::int64_t calls_ = 0;
    std::vector<blacklist::candidate> candidates_;
    std::vector<std::string_view> spared_by_;
    blacklist::selection_scratch scratch_;
    detail::interval_census census_;
};

blacklister() -> blacklister<>;
template <class Selection>
blacklister(Selection) -> blacklister<Selection>;

} // namespace straggle
