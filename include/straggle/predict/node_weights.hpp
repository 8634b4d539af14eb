// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which factors determine how long a task takes on this node? Weights for each node, which start as those of
/// the fleet and become its own as more of its tasks finish.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/storable.hpp>
#include <straggle/predict/weights.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::predict {

/// How the weights of nodes are learned.
struct node_weight_options {
    weight_options fit{.memory = 65536}; ///< of the fleet; except for the memory also of each node
    double node_memory = 16384;          ///< the memory of each node, in its own pairs; 0: nothing fades
    double prior_pairs = 2048;           ///< weight of the fleet's evidence, in pairs on the node
    std::size_t most_nodes = 4096;       ///< nodes with their own weights; all others use the fleet's
};

/// Learns the weights of factors, for each node and for the fleet.
///
/// Source: RiskI (Zheng et al. 2014, section 5.3), which weights factors differently on each node, by pairs
/// of its own tasks: nodes with slow disks depend on other factors than nodes with slow processors. Ours: the
/// weights of a node use its pairs and `prior_pairs` more that are on average like those of the fleet. They
/// start as the fleet's and become the node's own gradually; and the factor "which node" gets a weight. Among
/// pairs within a node that factor is constant, and would get none.
///
/// Measured in simulations of 20 nodes with 100 to 1000 tasks each, as the error of the time predicted for a
/// node: with the node's pairs alone, used from 128 on, it is 1.3 to 6 times that with the fleet's weights.
/// With 2048 prior pairs it is up to 25 % lower than with the fleet's if a few nodes differ from the rest in
/// both relevant factors and speed, up to 12 % higher if they differ in relevant factors only, and within 5 %
/// if half the nodes differ or none. Fewer prior pairs gain more if nodes differ, and lose more if they do
/// not. The fleet also gains from pairs within nodes: up to a third if a few nodes differ.
/// @par Example
/// `weights.observe(node, similarities, real); ... store.nearest(row, weights.weights_of(candidate), ...);`
/// @par Cost
/// for q factors a node takes 4 (q + 1)(q + 6) + 8 q bytes and about 200 besides its identifier: 0.8 kB for
/// 8, 2 kB for 16. A pair takes O(q^2), and at most three calls of `weight_fit::fit`, which become rare:
/// weights are refitted after each 1/16 more evidence. Allocates for new nodes only
/// @par Guarantees
/// deterministic; strong exception guarantee: only allocation can throw
/// @tparam NodeId text, or what can be hashed and compared
template <base::identifier NodeId>
class node_weights {
  public:
    /// Type of node names as arguments: `std::string_view` for text.
    using key_type = typename interner<owned_identifier_t<NodeId>>::key_type;

    /// Starts without pairs: all weights are equal.
    /// @pre as for `weight_fit`; `prior_pairs > 0` and finite, `node_memory` is 0 or at least 1, and finite
    explicit node_weights(std::size_t factors, node_weight_options const& options = {})
        : options_(options), fleet_(factors, options.fit) {
        STRAGGLE_EXPECTS(options.prior_pairs > 0 && detail::is_finite(options.prior_pairs));
        STRAGGLE_EXPECTS((options.node_memory == 0 || options.node_memory >= 1) &&
                         detail::is_finite(options.node_memory));
        fleet_weights_.assign(factors, 1 / static_cast<double>(factors));
    }
    node_weights(node_weights const&) = default;
    node_weights(node_weights&&) = default;
    /// Copies the other object, or changes nothing if an allocation fails.
    node_weights& operator=(node_weights const& other) { return *this = node_weights(other); }
    node_weights& operator=(node_weights&&) = default;
    ~node_weights() = default;

    /// Number of factors.
    [[nodiscard]] std::size_t factors() const noexcept { return fleet_.factors(); }
    /// Number of nodes with their own weights.
    [[nodiscard]] std::size_t nodes() const noexcept { return ids_.size(); }
    /// The evidence on the fleet.
    [[nodiscard]] weight_fit const& fleet() const noexcept { return fleet_; }
    /// The evidence on a node, or null.
    [[nodiscard]] weight_fit const* find(key_type node) const {
        auto const i = ids_.find(node);
        return i == ids_.none ? nullptr : &nodes_[i].fit;
    }
    /// Number of pairs on nodes that were used for the fleet only, because `most_nodes` others had taken the
    /// room.
    [[nodiscard]] std::uint64_t over_capacity() const noexcept { return over_capacity_; }

    /// Adds a pair of tasks that ran on different nodes, for the fleet.
    /// @return and preconditions as `weight_fit::observe`
    status observe(std::span<double const> similarities, double real) {
        scratch_.reserve(factors()); // everything that may throw comes first
        status const s = fleet_.observe(similarities, real);
        if (s != status::ok) return s;
        fit_fleet_if_due();
        fit_next_outdated();
        return s;
    }

    /// Adds a pair of tasks that both ran on `node`, for the node and for the fleet.
    ///
    /// Both kinds of pairs are needed: without this one nodes use the fleet's weights, without the other the
    /// factor "which node" gets none.
    /// @return and preconditions as `weight_fit::observe`
    status observe(key_type node, std::span<double const> similarities, double real) {
        STRAGGLE_EXPECTS(similarities.size() == factors());
        if (!weight_fit::accepts(similarities, real)) return fleet_.observe(similarities, real);
        scratch_.reserve(factors());
        std::uint32_t const i = place_of(node);
        fleet_.observe(similarities, real);
        fit_fleet_if_due();
        if (i == ids_.none) {
            ++over_capacity_;
        } else {
            entry& e = nodes_[i];
            e.fit.observe(similarities, real);
            if (is_due(e.fit, e.fitted)) fit_node(e);
        }
        fit_next_outdated();
        return status::ok;
    }

    /// The weights for tasks on a node; the fleet's for an unknown one. Valid until the next change.
    ///
    /// They are from the last fit, which is recent but not always after the last pair (see `fit`).
    /// @par Cost
    /// O(1), allocates nothing
    /// @par Guarantees
    /// many threads may call it as long as none modifies the object
    [[nodiscard]] std::span<double const> weights_of(key_type node) const {
        auto const i = ids_.find(node);
        return i == ids_.none || nodes_[i].epoch == never ? fleet_weights() : nodes_[i].weights;
    }
    /// The weights for tasks on an unknown node.
    [[nodiscard]] std::span<double const> fleet_weights() const noexcept {
        return detail::span_of(fleet_weights_);
    }
    /// Status of the last fit of the fleet's weights: see `weight_fit::fit`.
    [[nodiscard]] status fleet_status() const noexcept { return fleet_status_; }

    /// Refits all weights to everything observed so far.
    /// @par Cost
    /// `weight_fit::fit` for each node
    void fit() {
        scratch_.reserve(factors());
        fit_fleet();
        for (std::size_t i = 0; i < ids_.bound(); ++i)
            if (ids_.contains(static_cast<std::uint32_t>(i))) fit_node(nodes_[i]);
    }

    /// Forgets a node, whose tasks then use the fleet's weights; the fleet keeps what it learned from it.
    void forget(key_type node) {
        auto const i = ids_.find(node);
        if (i == ids_.none) return;
        ids_.erase(i);
        nodes_[i].clear();
    }
    /// Forgets all nodes and the fleet; keeps the memory.
    void clear() noexcept {
        ids_.clear();
        for (entry& e : nodes_) e.clear();
        fleet_.clear();
        over_capacity_ = 0;
        fit_fleet();
    }

    /// Merges another object with the same factors, and refits all weights.
    /// @pre `other.factors() == factors()`
    /// @par Cost
    /// O(factors^2) and `weight_fit::fit` for each node; there may be no room for a node of the other.
    /// Temporarily copies this object, for the strong guarantee
    void merge(node_weights const& other) {
        STRAGGLE_EXPECTS(other.factors() == factors());
        node_weights merged(*this);
        merged.take_in(other);
        *this = std::move(merged);
    }

    /// Appends what has been learned; not the options.
    /// @par Cost
    /// as many bytes as the nodes' memory, without the 200
    void write(byte_writer& out) const
        requires base::storable_identifier<NodeId>
    {
        out.tag(base::identifier_form<owned_identifier_t<NodeId>>);
        fleet_.write(out);
        out.varint(over_capacity_);
        out.count(ids_.size());
        for (std::uint32_t i = 0; i < ids_.bound(); ++i) {
            if (!ids_.contains(i)) continue;
            out.identifier(ids_[i]);
            nodes_[i].fit.write(out);
        }
    }
    /// Replaces what was learned with what `write` appended, and refits all weights; the options stay.
    /// @return as `weight_fit::restore`; also `status::wrong_kind` for another kind of identifiers, and
    /// `status::out_of_range` for more than `most_nodes`. Nothing has changed then
    status restore(byte_reader& in)
        requires base::storable_identifier<NodeId>
    {
        node_weights read(factors(), options_);
        in.tag(base::identifier_form<owned_identifier_t<NodeId>>);
        read.fleet_.restore(in);
        read.over_capacity_ = in.varint();
        std::size_t const nodes = in.count(8);
        if (nodes > options_.most_nodes) in.fail(status::out_of_range);
        owned_identifier_t<NodeId> id{};
        for (std::size_t k = 0; k < nodes && in.ok(); ++k) {
            in.identifier(id);
            std::uint32_t const i = read.place_of(id);
            if (in.ok() && read.ids_.size() != k + 1) in.fail(status::corrupt); // duplicate
            read.nodes_[i].fit.restore(in);
        }
        if (!in.ok()) return in.reason();
        read.fit();
        *this = std::move(read);
        return status::ok;
    }

  private:
    static constexpr std::uint64_t never = 0;

    struct entry {
        weight_fit fit;
        std::vector<double> weights;
        std::uint64_t fitted = 0;    // number of pairs at the last fit
        std::uint64_t epoch = never; // the fleet's fit used

        void clear() noexcept {
            fit.clear();
            fitted = 0;
            epoch = never;
        }
    };

    [[nodiscard]] weight_options of_a_node() const noexcept {
        weight_options options = options_.fit;
        options.memory = options_.node_memory;
        return options;
    }

    // Merges; after a failure the state is unspecified.
    void take_in(node_weights const& other) {
        for (std::uint32_t i = 0; i < other.ids_.bound(); ++i)
            if (other.ids_.contains(i)) place_of(other.ids_[i]);
        fleet_.merge(other.fleet_);
        over_capacity_ += other.over_capacity_;
        for (std::uint32_t i = 0; i < other.ids_.bound(); ++i) {
            if (!other.ids_.contains(i)) continue;
            auto const mine = ids_.find(other.ids_[i]);
            if (mine == ids_.none)
                over_capacity_ += other.nodes_[i].fit.pairs();
            else
                nodes_[mine].fit.merge(other.nodes_[i].fit);
        }
        fit();
    }

    // The index of a node, created if there is room.
    std::uint32_t place_of(key_type node) {
        auto const known = ids_.find(node);
        if (known != ids_.none || ids_.size() >= options_.most_nodes) return known;
        if (nodes_.size() <= ids_.size())
            nodes_.push_back({weight_fit(factors(), of_a_node()), std::vector<double>(factors())});
        return ids_.insert(node);
    }

    [[nodiscard]] static bool is_due(weight_fit const& fit, std::uint64_t fitted) noexcept {
        return static_cast<double>(fit.pairs() - fitted) * 16 >= fit.evidence();
    }

    void fit_fleet_if_due() {
        if (is_due(fleet_, fleet_fitted_)) fit_fleet();
    }
    void fit_fleet() {
        fleet_status_ = fleet_.fit(detail::span_of(fleet_weights_), scratch_);
        fleet_fitted_ = fleet_.pairs();
        ++epoch_;
        outdated_ = nodes_.size();
    }
    void fit_node(entry& e) {
        if (fleet_status_ == status::insufficient_evidence) // the fleet's pairs include those of the nodes
            std::copy(fleet_weights_.begin(), fleet_weights_.end(), e.weights.begin());
        else
            e.fit.fit(e.weights, scratch_, fleet_, options_.prior_pairs);
        e.fitted = e.fit.pairs();
        e.epoch = epoch_;
    }
    // Node fits use the fleet's evidence: refit one node at a time, so that no pair waits for all.
    void fit_next_outdated() {
        while (outdated_ != 0) {
            --outdated_;
            next_ = next_ + 1 < nodes_.size() ? next_ + 1 : 0;
            entry& e = nodes_[next_];
            if (e.epoch == epoch_ || !ids_.contains(static_cast<std::uint32_t>(next_))) continue;
            fit_node(e);
            return;
        }
    }

    node_weight_options options_;
    interner<owned_identifier_t<NodeId>> ids_;
    std::vector<entry> nodes_; // by index; unused entries are clear
    weight_fit fleet_;
    std::vector<double> fleet_weights_;
    weight_scratch scratch_;
    status fleet_status_ = status::insufficient_evidence;
    std::uint64_t fleet_fitted_ = 0; // number of pairs at the last fit
    std::uint64_t epoch_ = never + 1;
    std::size_t outdated_ = 0; // nodes to refit after a fit of the fleet
    std::size_t next_ = 0;     // the last node examined
    std::uint64_t over_capacity_ = 0;
};

} // namespace straggle::predict
