// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A blacklister with memory and custom policies: window after window it excludes weak nodes, lets them prove
/// themselves, and takes them back.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/detail/exclusion_turns.hpp>
#include <straggle/blacklist/detail/verdicts.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/exclusion.hpp>
#include <straggle/blacklist/limits.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/blacklist/slower_by.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Adapts a selection that the caller did not name.
template <class Selection>
[[nodiscard]] constexpr Selection over_windows() {
    if constexpr (requires { Selection::over_windows(); })
        return Selection::over_windows();
    else
        return Selection{};
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// Decides which nodes to avoid, window after window, from rankings and with custom policies.
///
/// Use `dynamic_blacklist` if you can pass it attempts: it sees running and failed ones, accumulates
/// evidence, and weighs the cost of an exclusion. This class is for papers and custom rules.
///
/// In each window, the selection policy names the weak nodes, the exclusion policy sets the state of every
/// node, and the limits keep too many from being out: avoided or on probation. A node that they do not admit
/// is healthy, with the strikes it had before, and is reported as spared.
///
/// If there is room for some only, nodes already out take precedence over newcomers, and the oldest
/// exclusions yield first; but a newcomer takes the place of a node if it is provably slower: its whole
/// interval lies above the interval by which the other was last found weak. So the worst nodes are avoided,
/// and similar nodes do not alternate.
///
/// @par Example
/// `rolling_blacklister<std::string> list;` has the defaults: `slower_by`, `probation<escalating>`,
/// and at most a fifth of the slots or one node (`share_of_slots`).
/// `rolling_blacklister_of<std::string>(weakest_level{}, hysteresis{}, at_most{3})` names policies and
/// limits; naming limits replaces the default one, `unlimited{}` removes it.
///
/// Limits measure against the fleet. Unless the caller names all nodes of the cluster, the fleet is the nodes
/// in the window's ranking plus those that are out. In a window in which most nodes report nothing, that is
/// too few, and nodes may be taken back early; in a window in which none reports, limits are not asked and
/// only time passes.
///
/// @par Cost
/// of `decide`: the selection policy's, plus O(nodes + remembered log remembered); about 600 bytes plus the
/// identifiers for each node that has an exclusion, a strike or an open streak of findings, none for others.
/// Allocates nothing in the steady state.
/// @par Guarantees
/// deterministic (except for a random selection). Only allocation can throw; the last decision and all
/// exclusions then stand, and the same window can be decided on again.
/// @tparam NodeId as in the rankings
template <base::identifier NodeId, blacklist::selection_policy Selection = blacklist::slower_by,
          blacklist::exclusion_policy Exclusions = blacklist::probation<blacklist::escalating>,
          class... Limits>
    requires(blacklist::node_limit<Limits, NodeId> && ...)
class rolling_blacklister {
    using limit_row = detail::limits_or_default<Limits...>;
    using node_case = detail::node_case<NodeId>;

  public:
    /// Policies with the default limits.
    explicit rolling_blacklister(Selection selection = detail::over_windows<Selection>(),
                                 Exclusions exclusions = {})
        requires(std::default_initializable<Limits> && ...)
        : selection_(std::move(selection)), policy_(std::move(exclusions)) {}

    /// Policies and limits.
    rolling_blacklister(Selection selection, Exclusions exclusions, Limits... limits)
        requires(sizeof...(Limits) > 0)
        : selection_(std::move(selection)), policy_(std::move(exclusions)), limits_(std::move(limits)...) {}
    rolling_blacklister(rolling_blacklister const&) = default;
    rolling_blacklister(rolling_blacklister&&) = default;
    /// Copies the other blacklister, or changes nothing if an allocation fails.
    rolling_blacklister& operator=(rolling_blacklister const& other)
        requires std::is_move_assignable_v<Selection> && std::is_move_assignable_v<limit_row>
    {
        return *this = rolling_blacklister(other);
    }
    rolling_blacklister& operator=(rolling_blacklister&&) = default;
    ~rolling_blacklister() = default;

    /// Decides on a window.
    /// @param ranking of the tasks that ended in this window and in no earlier one: a score in two windows
    /// would count twice, and one from before an exclusion would count against a node on probation
    /// @param window its number, larger than any before; otherwise nothing happens: the evidence of a window
    /// counts once
    /// @return the decision, valid until the next one
    template <class JobId>
    blacklist_decision<NodeId> const& decide(node_ranking<NodeId, JobId> const& ranking,
                                             std::int64_t window) {
        return decide(ranking, window, nullptr);
    }
    /// Decides on a window, with all nodes that are in the cluster now. Others are forgotten unless the
    /// ranking contains them.
    /// @param ranking of the tasks that ended in this window
    /// @param window its number
    /// @param fleet every node, including idle and avoided ones, in any order
    template <class JobId>
    blacklist_decision<NodeId> const& decide(node_ranking<NodeId, JobId> const& ranking, std::int64_t window,
                                             std::span<NodeId const> fleet) {
        return decide(ranking, window, &fleet);
    }

    /// The last decision; empty before the first.
    [[nodiscard]] blacklist_decision<NodeId> const& decision() const& noexcept { return decision_; }
    void decision() const&& = delete; // keep the blacklist in a variable first

    /// Calls `visit(id, exclusion)` for every node with a remembered state, in order of when it was first
    /// remembered: store these before a restart.
    template <class Visit>
    void for_each_exclusion(Visit&& visit) const {
        for (std::uint32_t r = 0; r < records_.size(); ++r)
            if (records_[r].now != blacklist::exclusion{}) visit(ids_[r], records_[r].now);
    }

    /// The exclusion state of a node; `{}` if none is remembered.
    [[nodiscard]] blacklist::exclusion exclusion_of(typename interner<NodeId>::key_type id) const {
        auto const r = ids_.find(id);
        return r == interner<NodeId>::none ? blacklist::exclusion{} : records_[r].now;
    }

    /// Restores the state of a node after a restart. The next decision uses it; its verdict has no evidence
    /// until a window provides some. Continue the numbering of windows from where it was.
    /// @return `status::out_of_domain` and no change if no policy can have produced the exclusion
    status restore(typename interner<NodeId>::key_type id, blacklist::exclusion const& state) {
        bool const known = state.state == node_state::healthy || state.state == node_state::excluded ||
                           state.state == node_state::on_probation;
        if (!known || state.until < state.since || !detail::is_finite(state.probe_sum))
            return status::out_of_domain;
        detail::make_room_for_one(records_);
        auto const r = ids_.insert(id);
        if (r == records_.size()) records_.emplace_back();
        records_[r] = {};
        records_[r].now = state;
        return status::ok;
    }

    /// Forgets a node, for example because the machine is gone. The next decision knows nothing about it.
    void forget(typename interner<NodeId>::key_type id) {
        auto const r = ids_.find(id);
        if (r != interner<NodeId>::none) records_[r] = {};
    }

    /// Sets after how many windows without a score, counted from the end of its exclusion, a node is
    /// forgotten: it is gone, or on probation without ever getting tasks that can be judged. The default is
    /// 256.
    /// @pre `windows >= 1`
    void forget_after(std::int64_t windows) {
        STRAGGLE_EXPECTS(windows >= 1);
        forget_after_ = windows;
    }

    /// Sets how many consecutive windows share records: `window / slide` for sliding windows, otherwise 1.
    /// The evidence of a window on a remembered node is then fresh only once the windows have moved on by a
    /// whole length since the last fresh one, so that no score counts twice, and none from before an
    /// exclusion counts against a node on probation. (A node that is not remembered is judged every window.)
    /// @pre `windows >= 1`
    void windows_overlap(std::int64_t windows) {
        STRAGGLE_EXPECTS(windows >= 1);
        overlap_ = windows;
    }

  private:
    static constexpr std::uint32_t none = node_case::none;

    template <class JobId>
    blacklist_decision<NodeId> const& decide(node_ranking<NodeId, JobId> const& ranking, std::int64_t window,
                                             std::span<NodeId const> const* fleet) {
        if (decided_ && window <= decision_.window()) return decision_;
        candidates_.clear();
        blacklist::selection_note const note = selection_.select(ranking.nodes(), scratch_, candidates_);
        if (!candidates_.empty()) census_.take(ranking.nodes(), ranking.edges());

        hear(ranking, window);
        if (fleet)
            name_fleet(ranking, *fleet);
        else
            guess_fleet();
        if (fleet || ranking.fleet_size() > 0)
            ask_guards(blacklist::fleet_view<NodeId>(ranking, window, silent_));
        write(note, window);
        return decision_;
    }

    // Opens a case for every remembered node, and for every other node that this window makes worth
    // remembering.
    template <class JobId>
    void hear(node_ranking<NodeId, JobId> const& ranking, std::int64_t window) {
        cases_.clear();
        for (std::uint32_t r = 0; r < records_.size(); ++r) {
            node_case& c = cases_.emplace_back();
            c.id = &ids_[r];
            c.before = records_[r].now;
            c.after = records_[r];
            if (c.after.heard == detail::node_record::never_heard) c.after.heard = window;
        }
        // Weak nodes first, worst first: this order is remembered, and among exclusions of one window the
        // worst is released last.
        weak_.assign(ranking.nodes().size(), false);
        for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
            auto const& node = ranking.nodes()[candidates_[c].node];
            weak_[candidates_[c].node] = true;
            if (node_case* const at = hear(node.id, {node.n, node.mean, true, true}, c, window))
                at->after.against = detail::charge_of(node, candidates_[c], census_, Selection::name);
        }
        for (std::size_t k = 0; k < ranking.nodes().size(); ++k) {
            auto const& node = ranking.nodes()[k];
            if (!weak_[k]) hear(node.id, {node.n, node.mean, true, false}, none, window);
        }
        for (auto const& node : ranking.unranked())
            hear(node.id, {node.n, node.mean, false, false}, none, window);
        for (node_case& c : std::span(cases_).first(records_.size())) {
            if (c.silent) policy_.advance(c.after.now, {}, window);
            std::int64_t last = c.after.heard;
            if (c.is_out() && c.after.now.until > last) last = c.after.now.until;
            if (detail::windows_after(last, forget_after_) < window) drop(c);
        }
    }

    // The case of a ranked node, if there is anything to remember.
    node_case* hear(NodeId const& id, blacklist::window_evidence const& evidence, std::uint32_t candidate,
                    std::int64_t window) {
        auto const r = ids_.find(id);
        node_case* at = nullptr;
        if (r != interner<NodeId>::none) {
            at = &cases_[r];
            std::int64_t& judged = at->after.judged;
            blacklist::window_evidence heard = evidence;
            heard.fresh = judged == detail::node_record::never_heard ||
                          detail::windows_after(judged, overlap_) <= window;
            policy_.advance(at->after.now, heard, window);
            if (heard.fresh && evidence.n > 0) judged = window;
        } else {
            blacklist::exclusion fresh;
            policy_.advance(fresh, evidence, window);
            if (fresh == blacklist::exclusion{}) return nullptr;
            at = &cases_.emplace_back();
            at->id = &id;
            at->after.now = fresh;
            at->after.heard = at->after.judged = window;
        }
        if (evidence.n > 0) at->after.heard = window;
        at->candidate = candidate;
        at->silent = false;
        return at;
    }

    static void drop(node_case& c) noexcept {
        c.before = {};
        c.after = {};
    }

    // Without a node list, nodes that are out belong to the cluster, too.
    void guess_fleet() {
        silent_.clear();
        for (node_case const& c : cases_)
            if (c.silent && (c.was_out() || c.is_out())) silent_.push_back(c.id);
    }

    template <class JobId>
    void name_fleet(node_ranking<NodeId, JobId> const& ranking, std::span<NodeId const> fleet) {
        present_.clear();
        silent_.clear();
        for (auto const& node : ranking.nodes()) present_.insert(node.id);
        for (auto const& node : ranking.unranked()) present_.insert(node.id);
        for (NodeId const& id : fleet) {
            std::size_t const before = present_.size();
            present_.insert(id);
            if (present_.size() > before) silent_.push_back(&id);
        }
        for (node_case& c : cases_)
            if (c.silent && present_.find(*c.id) == interner<NodeId>::none) drop(c);
    }

    void ask_guards(blacklist::fleet_view<NodeId> const& fleet) {
        gather_out();
        turns_.arrange(std::span<node_case const>(cases_), order_);
        limits_.begin(fleet, candidates_.size());
        for (std::uint32_t i : order_) {
            node_case& c = cases_[i];
            c.spared_by = limits_.grant(*c.id, !c.was_out());
            if (c.spared_by.empty()) continue;
            c.after.now.strikes = c.before.strikes;
            detail::set_healthy(c.after.now);
        }
    }

    void gather_out() {
        order_.clear();
        for (std::uint32_t i = 0; i < cases_.size(); ++i)
            if (cases_[i].is_out() || !cases_[i].spared_by.empty()) order_.push_back(i);
    }

    [[nodiscard]] bool is_worse(std::uint32_t i, std::uint32_t j) const noexcept {
        double const a = cases_[i].after.against.mean, b = cases_[j].after.against.mean;
        return a > b || (!(b > a) && i < j);
    }

    // Builds the successor beside the current state, then swaps.
    void write(blacklist::selection_note note, std::int64_t window) {
        using access = detail::decision_access;
        next_ids_.clear();
        next_records_.clear();
        for (node_case const& c : cases_) {
            if (c.after.now == blacklist::exclusion{}) continue;
            next_ids_.insert(*c.id);
            next_records_.push_back(c.after);
        }
        gather_out();
        std::sort(order_.begin(), order_.end(), [this](std::uint32_t i, std::uint32_t j) {
            int const a = cases_[i].list(), b = cases_[j].list();
            return a != b ? a < b : is_worse(i, j);
        });
        access::begin(next_decision_, Selection::name, note, order_.size());
        std::size_t sizes[3] = {0, 0, 0};
        for (std::size_t place = 0; place < order_.size(); ++place) {
            node_case const& c = cases_[order_[place]];
            auto& v = access::write(next_decision_, place, *c.id, c.after.against, c.spared_by);
            v.strikes = c.after.now.strikes;
            v.since = static_cast<double>(c.after.now.since);
            v.until = static_cast<double>(c.after.now.until);
            ++sizes[c.list()];
        }
        access::place_in_time(next_decision_, Exclusions::name, window);
        access::end_of_lists(next_decision_, sizes[0], sizes[1], sizes[2]);
        std::swap(ids_, next_ids_);
        records_.swap(next_records_);
        std::swap(decision_, next_decision_);
        decided_ = true;
    }

    [[no_unique_address]] Selection selection_;
    [[no_unique_address]] Exclusions policy_;
    [[no_unique_address]] limit_row limits_;
    std::int64_t forget_after_ = 256;
    std::int64_t overlap_ = 1;
    bool decided_ = false;

    // The current state, and the memory in which its successor is built.
    interner<NodeId> ids_, next_ids_;
    std::vector<detail::node_record> records_, next_records_;
    blacklist_decision<NodeId> decision_, next_decision_;

    // Scratch.
    std::vector<blacklist::candidate> candidates_;
    std::vector<std::uint32_t> order_;
    std::vector<bool> weak_; // by ranked node
    std::vector<node_case> cases_;
    detail::guard_turns turns_;
    std::vector<NodeId const*> silent_;
    interner<NodeId> present_;
    blacklist::selection_scratch scratch_;
    detail::interval_census census_;
};

/// A `rolling_blacklister` with deduced policy and limit types: only the type of the node id is named.
/// @par Example
/// `auto list = rolling_blacklister_of<std::string>(dominated{}, hysteresis{}, one_per_domain{rack_of});`
template <base::identifier NodeId, blacklist::selection_policy Selection = blacklist::slower_by,
          blacklist::exclusion_policy Exclusions = blacklist::probation<blacklist::escalating>,
          class... Limits>
    requires(blacklist::node_limit<Limits, NodeId> && ...)
[[nodiscard]] auto rolling_blacklister_of(Selection selection = detail::over_windows<Selection>(),
                                          Exclusions exclusions = {}, Limits... limits) {
    return rolling_blacklister<NodeId, Selection, Exclusions, Limits...>(
        std::move(selection), std::move(exclusions), std::move(limits)...);
}

} // namespace straggle
