// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Capacity limits: how much of a cluster may be taken out, regardless of the policy. Limits compose; a node
/// is taken out only if all of them admit it, and a spared node is reported with the name of the limit that
/// spared it. Limits on time and demand are in `timed_limits.hpp`.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/blacklist/detail/slot_share.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/record/limit.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// The cluster as limits see it: the nodes in the ranking, and nodes that belong to the cluster but have no
/// task in this window.
/// @par Guarantees
/// views only; valid as long as the ranking and the identifiers it was made from
template <class NodeId>
class fleet_view {
  public:
    /// @param ranking of this window
    /// @param window its number; only differences between numbers matter
    /// @param silent nodes of the cluster that are not in the ranking
    template <class JobId>
    explicit fleet_view(node_ranking<NodeId, JobId> const& ranking, std::int64_t window = 0,
                        std::span<NodeId const* const> silent = {}) noexcept
        : nodes_(ranking.nodes()), unranked_(ranking.unranked()), silent_(silent), window_(window) {}

    /// The ranked nodes, as in the ranking.
    [[nodiscard]] std::span<ranked_node<NodeId> const> nodes() const noexcept { return nodes_; }
    /// The nodes without an interval, as in the ranking.
    [[nodiscard]] std::span<rank::unranked_node<NodeId> const> unranked() const noexcept { return unranked_; }
    /// The nodes that are not in the ranking: those avoided, or all others that the caller named.
    [[nodiscard]] std::span<NodeId const* const> silent() const noexcept { return silent_; }
    /// All nodes.
    [[nodiscard]] std::size_t fleet_size() const noexcept {
        return nodes_.size() + unranked_.size() + silent_.size();
    }
    /// The number of the window.
    [[nodiscard]] std::int64_t window() const noexcept { return window_; }

    /// Calls `visit(id)` for every node.
    template <class Visit>
    void for_each_id(Visit&& visit) const {
        for (auto const& node : nodes_) visit(node.id);
        for (auto const& node : unranked_) visit(node.id);
        for (NodeId const* id : silent_) visit(*id);
    }

  private:
    std::span<ranked_node<NodeId> const> nodes_;
    std::span<rank::unranked_node<NodeId> const> unranked_;
    std::span<NodeId const* const> silent_;
    std::int64_t window_;
};

/// A limit on what may be taken out: a `record::limit` that sees a `fleet_view` and is asked about nodes.
///
/// A blacklister asks about the candidates, worst first. A `rolling_blacklister` asks about nodes already out
/// before newcomers: first excluded nodes, then those on probation, the most recent exclusion first, so that
/// a shrinking limit releases the oldest. A newcomer comes earlier only if it is provably slower than one of
/// them; it takes that node's turn. To a blacklister, which has no memory, every node is new.
template <class Limit, class NodeId = std::uint64_t>
concept node_limit = record::limit<Limit, fleet_view<NodeId>, NodeId>;

/// A projection from a node's identifier to its number of slots.
template <class Slots, class NodeId>
concept slots_projection = requires(Slots const& slots, NodeId const& id) {
    { slots(id) } -> std::convertible_to<double>;
};

/// Every node counts as one slot.
struct one_slot {
    /// 1 for every node.
    template <class NodeId>
    constexpr double operator()(NodeId const&) const noexcept {
        return 1.0;
    }
};

} // namespace straggle::blacklist

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Fleet, class Slots>
double total_slots(Fleet const& fleet, Slots const& slots) {
    double total = 0;
    fleet.for_each_id([&](auto const& id) { total += static_cast<double>(slots(id)); });
    return total;
}

// Counts the slots left in service as nodes are taken out.
template <class Slots>
class slots_in_service {
  public:
    explicit constexpr slots_in_service(Slots slots) : slots_(std::move(slots)) {}

    template <class Fleet>
    void begin(Fleet const& fleet) {
        left_ = total_slots(fleet, slots_);
    }
    template <class NodeId>
    [[nodiscard]] bool can_spare(NodeId const& id, double keep) const {
        return at_most_with_rounding(keep, left_ - static_cast<double>(slots_(id)));
    }
    template <class NodeId>
    void take(NodeId const& id) {
        left_ -= static_cast<double>(slots_(id));
    }

  private:
    [[no_unique_address]] Slots slots_;
    double left_ = 0;
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// At most k nodes.
class at_most {
  public:
    static constexpr std::string_view name = "at_most";
    /// @param k maximum number of nodes to take out
    explicit constexpr at_most(std::size_t k) noexcept : k_(k) {}

    template <class Fleet>
    void begin(Fleet const&, std::size_t) noexcept {
        taken_ = 0;
    }
    template <class NodeId>
    bool admits(NodeId const&) const noexcept {
        return taken_ < k_;
    }
    template <class NodeId>
    void take(NodeId const&) noexcept {
        ++taken_;
    }

  private:
    std::size_t k_;
    std::size_t taken_ = 0;
};

/// At most a share of all slots of the fleet, except that in a fleet of three or more nodes one node may
/// always be taken if it holds at most half of them. The library's default limit, with a fifth: two of ten
/// equal nodes, one of three to nine, none of two. The same rule as `node_stage_options::share_of_slots`. A
/// share of 0 takes none.
///
/// The fleet is every node in the ranking, with or without an interval, and every node that is already out.
/// Nodes avoided or on probation count as taken.
template <class Slots = one_slot>
class share_of_slots {
  public:
    static constexpr std::string_view name = "share_of_slots";

    /// @param share of the slots, in [0, 1]
    /// @param slots projection from a node's identifier to its slots
    constexpr share_of_slots(double share, Slots slots) : share_(share), slots_(std::move(slots)) {
        STRAGGLE_EXPECTS(share >= 0.0 && share <= 1.0);
    }
    /// The same with the default projection. Not a default argument: clang would instantiate it even for a
    /// projection that cannot be default-constructed, such as a lambda with captures.
    explicit constexpr share_of_slots(double share = 0.2)
        requires std::default_initializable<Slots>
        : share_of_slots(share, Slots{}) {}

    template <class Fleet>
    void begin(Fleet const& fleet, std::size_t) {
        fleet_size_ = fleet.fleet_size();
        total_ = detail::total_slots(fleet, slots_);
        taken_ = 0;
        nodes_ = 0;
    }
    template <class NodeId>
    bool admits(NodeId const& id) const {
        return detail::is_in_share(share_, fleet_size_, total_, nodes_, taken_,
                                   static_cast<double>(slots_(id)));
    }
    template <class NodeId>
    void take(NodeId const& id) {
        taken_ += static_cast<double>(slots_(id));
        ++nodes_;
    }

  private:
    double share_;
    [[no_unique_address]] Slots slots_;
    double total_ = 0, taken_ = 0;
    std::size_t fleet_size_ = 0, nodes_ = 0;
};

/// At most a fraction of all slots of the fleet, like `share_of_slots`, but never exceeded: of eight equal
/// nodes a fifth is one node, of four it is none.
template <class Slots = one_slot>
class at_most_slot_fraction {
  public:
    static constexpr std::string_view name = "at_most_slot_fraction";

    /// @param fraction of the slots, in [0, 1]
    /// @param slots projection from a node's identifier to its slots
    constexpr at_most_slot_fraction(double fraction, Slots slots)
        : fraction_(fraction), slots_(std::move(slots)) {
        STRAGGLE_EXPECTS(fraction >= 0.0 && fraction <= 1.0);
    }
    /// The same with the default projection. Not a default argument: clang would instantiate it even for a
    /// projection that cannot be default-constructed, such as a lambda with captures.
    explicit constexpr at_most_slot_fraction(double fraction = 0.2)
        requires std::default_initializable<Slots>
        : at_most_slot_fraction(fraction, Slots{}) {}

    template <class Fleet>
    void begin(Fleet const& fleet, std::size_t) {
        taken_ = 0;
        limit_ = fraction_ * detail::total_slots(fleet, slots_);
    }
    template <class NodeId>
    bool admits(NodeId const& id) const {
        return detail::at_most_with_rounding(taken_ + static_cast<double>(slots_(id)), limit_);
    }
    template <class NodeId>
    void take(NodeId const& id) {
        taken_ += static_cast<double>(slots_(id));
    }

  private:
    double fraction_;
    [[no_unique_address]] Slots slots_;
    double limit_ = 0;
    double taken_ = 0;
};

/// Keeps at least the given number of slots in service.
template <class Slots = one_slot>
class at_least_healthy_slots {
  public:
    static constexpr std::string_view name = "at_least_healthy_slots";

    /// @param slots_to_keep slots that must stay, in the unit of the projection
    /// @param slots projection from a node's identifier to its slots
    constexpr at_least_healthy_slots(double slots_to_keep, Slots slots)
        : keep_(slots_to_keep), slots_(std::move(slots)) {
        STRAGGLE_EXPECTS(slots_to_keep >= 0.0);
    }
    /// The same with the default projection.
    explicit constexpr at_least_healthy_slots(double slots_to_keep)
        requires std::default_initializable<Slots>
        : at_least_healthy_slots(slots_to_keep, Slots{}) {}

    template <class Fleet>
    void begin(Fleet const& fleet, std::size_t) {
        slots_.begin(fleet);
    }
    template <class NodeId>
    bool admits(NodeId const& id) const {
        return slots_.can_spare(id, keep_);
    }
    template <class NodeId>
    void take(NodeId const& id) {
        slots_.take(id);
    }

  private:
    double keep_;
    [[no_unique_address]] detail::slots_in_service<Slots> slots_;
};

/// Keeps at least one node per failure domain, such as a rack.
///
/// @tparam Key type that stores a domain: `std::string` for names, an integer for numbers
/// @par Cost
/// O(nodes) per decision; allocates nothing once all domains are known
template <class Domain, // of a callable, which is handed over: one_per_domain{rack_of}
          base::identifier Key = std::string>
class one_per_domain {
  public:
    static constexpr std::string_view name = "one_per_domain";

    /// @param domain projection from a node's identifier to its failure domain
    explicit one_per_domain(Domain domain) : domain_(std::move(domain)) {}

    template <class Fleet>
    void begin(Fleet const& fleet, std::size_t) {
        domains_.clear();
        healthy_.clear();
        fleet.for_each_id([this](auto const& id) {
            std::uint32_t const d = domains_.insert(domain_(id));
            if (d == healthy_.size()) healthy_.push_back(0);
            ++healthy_[d];
        });
    }
    template <class NodeId>
    bool admits(NodeId const& id) const {
        return healthy_[domains_.find(domain_(id))] > 1;
    }
    template <class NodeId>
    void take(NodeId const& id) {
        --healthy_[domains_.find(domain_(id))];
    }

  private:
    Domain domain_;
    interner<Key> domains_;
    std::vector<std::size_t> healthy_;
};

/// Distrusts the measurement when too many nodes look weak at once: no node is taken out until few look weak
/// again.
///
/// Weakness is judged by this window alone: the share is that of the nodes named by the selection policy
/// among those ranked. While the limit is open, a `rolling_blacklister` releases all nodes, including those
/// excluded before; they keep their strikes and get none for the windows in which they were spared.
///
/// Source: Envoy's panic threshold, reversed; the gap between the two shares prevents flapping.
class fail_open {
  public:
    static constexpr std::string_view name = "fail_open";

    /// @param above share of ranked nodes, in (0, 1]: the limit opens when there are more candidates
    /// @param below share in [0, above]: the limit closes when there are fewer
    explicit constexpr fail_open(double above = 0.5, double below = 0.25) : above_(above), below_(below) {
        STRAGGLE_EXPECTS(above > 0.0 && above <= 1.0 && below >= 0.0 && below <= above);
    }

    template <class Fleet>
    void begin(Fleet const& fleet, std::size_t candidates) noexcept {
        std::size_t const ranked = fleet.nodes().size();
        if (ranked == 0) return;
        double const share = static_cast<double>(candidates) / static_cast<double>(ranked);
        open_ = open_ ? !(share < below_) : share > above_;
    }
    template <class NodeId>
    bool admits(NodeId const&) const noexcept {
        return !open_;
    }
    template <class NodeId>
    void take(NodeId const&) noexcept {}

    /// True while the limit keeps all nodes in service.
    [[nodiscard]] constexpr bool is_open() const noexcept { return open_; }

  private:
    double above_;
    double below_;
    bool open_ = false;
};

} // namespace straggle::blacklist
