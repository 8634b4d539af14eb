// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Capacity guards: how much of a cluster may be taken out, whatever a policy thinks of its nodes. Guards
/// compose; a node is taken out only if every one of them admits it, and a spared node is reported with the
/// name of the guard that spared it.
#pragma once

#include <straggle/core/interner.hpp>
#include <straggle/node/ranking.hpp>

#include <concepts>
#include <optional>
#include <string_view>
#include <vector>

namespace straggle {

/// A limit on what may be taken out. Per decision the blacklister calls `begin(ranking, candidates)` once,
/// then `admits(id)` for each candidate, worst first, and `take(id)` for each that all guards admit. `name`
/// stands in the verdict of a spared node.
template <class Guard, class NodeId = std::uint64_t>
concept capacity_guard = std::move_constructible<Guard> &&
                         requires(Guard& guard, node_ranking<NodeId> const& ranking, NodeId const& id) {
                             guard.begin(ranking, std::size_t{});
                             { guard.admits(id) } -> std::same_as<bool>;
                             guard.take(id);
                             { Guard::name } -> std::convertible_to<std::string_view>;
                             requires !std::string_view(Guard::name).empty(); // it stands for "not spared"
                         };

/// A projection from a node's identifier to its number of slots.
template <class Slots, class NodeId>
concept slots_projection = requires(Slots const& slots, NodeId const& id) {
    { slots(id) } -> std::convertible_to<double>;
};

/// Every node counts as one slot.
struct one_slot {
    /// 1, whatever the node.
    template <class NodeId>
    constexpr double operator()(NodeId const&) const noexcept {
        return 1.0;
    }
};

namespace detail {

template <class Ranking, class Visit>
void for_each_node(Ranking const& ranking, Visit&& visit) {
    for (auto const& node : ranking.nodes()) visit(node.id);
    for (auto const& node : ranking.unranked()) visit(node.id);
}

template <class Ranking, class Slots>
double total_slots(Ranking const& ranking, Slots const& slots) {
    double total = 0;
    for_each_node(ranking, [&](auto const& id) { total += static_cast<double>(slots(id)); });
    return total;
}

// Sums of slots may be off by rounding where slots are fractions.
inline bool at_most_with_rounding(double x, double limit) noexcept {
    return x <= limit + 1e-9 * (limit + 1.0);
}

} // namespace detail

/// Admits everything; names the wish for no guard at all.
struct no_guard {
    static constexpr std::string_view name = "no_guard";
    template <class Ranking>
    void begin(Ranking const&, std::size_t) noexcept {}
    template <class NodeId>
    bool admits(NodeId const&) const noexcept {
        return true;
    }
    template <class NodeId>
    void take(NodeId const&) noexcept {}
};

/// A guard that is there or not, as a configuration says at run time.
/// @par Example
/// `blacklister{dominated{}, optional_guard<at_most>{limit}}` with a `std::optional<at_most> limit`
template <class Guard>
class optional_guard {
  public:
    static constexpr std::string_view name = Guard::name;

    /// @param guard nothing: everything is admitted
    explicit constexpr optional_guard(std::optional<Guard> guard = std::nullopt) : guard_(std::move(guard)) {}

    template <class Ranking>
    void begin(Ranking const& ranking, std::size_t candidates) {
        if (guard_) guard_->begin(ranking, candidates);
    }
    template <class NodeId>
    bool admits(NodeId const& id) const {
        return !guard_ || guard_->admits(id);
    }
    template <class NodeId>
    void take(NodeId const& id) {
        if (guard_) guard_->take(id);
    }

  private:
    std::optional<Guard> guard_;
};

/// At most k nodes.
class at_most {
  public:
    static constexpr std::string_view name = "at_most";
    /// @param k most nodes to take out
    explicit constexpr at_most(std::size_t k) noexcept : k_(k) {}

    template <class Ranking>
    void begin(Ranking const&, std::size_t) noexcept {
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

/// At most a fraction of all slots of the fleet; the library's default guard, with a fifth. The taken slots
/// never exceed the fraction: of 8 equal nodes a fifth is one node.
///
/// The fleet is every node of the ranking, ranked or not.
template <class Slots = one_slot>
class at_most_slot_fraction {
  public:
    static constexpr std::string_view name = "at_most_slot_fraction";

    /// @param fraction of the slots, in [0, 1]
    /// @param slots projection from a node's identifier to its slots
    explicit constexpr at_most_slot_fraction(double fraction = 0.2, Slots slots = {})
        : fraction_(fraction), slots_(std::move(slots)) {
        STRAGGLE_EXPECTS(fraction >= 0.0 && fraction <= 1.0);
    }

    template <class Ranking>
    void begin(Ranking const& ranking, std::size_t) {
        taken_ = 0;
        limit_ = fraction_ * detail::total_slots(ranking, slots_);
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

/// Keeps at least so many slots in service.
template <class Slots = one_slot>
class at_least_healthy_slots {
  public:
    static constexpr std::string_view name = "at_least_healthy_slots";

    /// @param slots_to_keep slots that must stay, in the unit of the projection
    /// @param slots projection from a node's identifier to its slots
    explicit constexpr at_least_healthy_slots(double slots_to_keep, Slots slots = {})
        : keep_(slots_to_keep), slots_(std::move(slots)) {
        STRAGGLE_EXPECTS(slots_to_keep >= 0.0);
    }

    template <class Ranking>
    void begin(Ranking const& ranking, std::size_t) {
        healthy_ = detail::total_slots(ranking, slots_);
    }
    template <class NodeId>
    bool admits(NodeId const& id) const {
        return detail::at_most_with_rounding(keep_, healthy_ - static_cast<double>(slots_(id)));
    }
    template <class NodeId>
    void take(NodeId const& id) {
        healthy_ -= static_cast<double>(slots_(id));
    }

  private:
    double keep_;
    [[no_unique_address]] Slots slots_;
    double healthy_ = 0;
};

/// Keeps at least one node per failure domain, such as a rack.
///
/// @tparam Key what a domain is kept as: `std::string` for names, an integer for numbers
/// @par Cost O(nodes) per decision; allocates nothing once all domains are known
template <class Domain, identifier Key = std::string>
class one_per_domain {
  public:
    static constexpr std::string_view name = "one_per_domain";

    /// @param domain projection from a node's identifier to its failure domain
    explicit one_per_domain(Domain domain) : domain_(std::move(domain)) {}

    template <class Ranking>
    void begin(Ranking const& ranking, std::size_t) {
        domains_.clear();
        healthy_.clear();
        detail::for_each_node(ranking, [this](auto const& id) {
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

/// Distrusts the measurement when too many nodes look weak at once: then nobody is taken out, until few look
/// weak again.
///
/// Source: Envoy's panic threshold turned round; the gap between the two shares keeps it from flapping.
class fail_open {
  public:
    static constexpr std::string_view name = "fail_open";

    /// @param above share of ranked nodes, in (0, 1]: with more candidates than that it opens
    /// @param below share in [0, above]: with fewer it closes again
    explicit constexpr fail_open(double above = 0.5, double below = 0.25) : above_(above), below_(below) {
        STRAGGLE_EXPECTS(above > 0.0 && above <= 1.0 && below >= 0.0 && below <= above);
    }

    template <class Ranking>
    void begin(Ranking const& ranking, std::size_t candidates) noexcept {
        std::size_t const ranked = ranking.nodes().size();
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

    /// True while nobody is taken out.
    [[nodiscard]] constexpr bool is_open() const noexcept { return open_; }

  private:
    double above_;
    double below_;
    bool open_ = false;
};

} // namespace straggle
