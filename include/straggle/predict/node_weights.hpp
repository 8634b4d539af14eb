// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which factors tell how long a task takes on this node? Weights for each node, which begin as those of the
/// fleet and become its own as more of its tasks finish.
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
    weight_options fit{.memory = 65536}; ///< of the fleet; but for the memory also of each node
    double node_memory = 16384;          ///< the memory of each node, in its own pairs; 0: nothing fades
    double prior_pairs = 2048;           ///< as how many pairs on the node the evidence of the fleet counts
    std::size_t most_nodes = 4096;       ///< nodes with weights of their own; all others have the fleet's
};

/// Learns the weights of factors, for each node and for the fleet.
///
/// Source: RiskI (Zheng et al. 2014, section 5.3), which weighs factors differently on each node, by the
/// pairs of its own tasks: what matters where disks are slow is not what matters where processors are. Ours:
/// the weights of a node are those of its pairs and of `prior_pairs` more, on average like those of the
/// fleet. They begin as the fleet's and become the node's own without a step; and the factor "which node" has
/// a weight. Among pairs within a node that factor is the same for all, and would have none.
///
/// Measured in simulations of 20 nodes with 100 to 1000 tasks each, as the error of the time predicted for a
/// node: with the pairs of the node alone, used from 128 on, it is 1.3 to 6 times that with the fleet's
/// weights. With 2048 prior pairs it is up to 25 % less than with the fleet's where a few nodes differ from
/// the rest in what matters and in speed, up to 12 % more where they differ in what matters only, and within
/// 5 % where half the nodes differ or none. Fewer prior pairs gain more where nodes differ, and lose more
/// where they do not. The fleet gains from pairs within nodes, too: up to a third where a few nodes differ.
/// @par Example
/// `weights.observe(node, similarities, real); ... store.nearest(row, weights.weights_of(candidate), ...);`
/// @par Cost
/// for q factors a node takes 4 (q + 1)(q + 6) + 8 q bytes and some 200 beside its identifier: 0.8
/// kB for 8, 2 kB for 16. A pair takes O(q^2), and at most three times `weight_fit::fit`, which becomes rare:
/// weights are fitted anew after each 1/16 more evidence. No allocation but for new nodes
/// @par Guarantees
/// deterministic; strong exception guarantee: only allocation can throw
/// @tparam NodeId text, or what can be hashed and compared
template <base::identifier NodeId>
class node_weights {
  public:
    /// The node as it is asked for: `std::string_view` for text.
    using key_type = typename interner<owned_identifier_t<NodeId>>::key_type;

    /// Has seen no pair: all weights are equal.
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
    /// Becomes a copy, or changes nothing should an allocation fail.
    node_weights& operator=(node_weights const& other) { return *this = node_weights(other); }
    node_weights& operator=(node_weights&&) = default;
    ~node_weights() = default;

    /// How many factors there are.
    [[nodiscard]] std::size_t factors() const noexcept { return fleet_.factors(); }
    /// How many nodes have weights of their own.
    [[nodiscard]] std::size_t nodes() const noexcept { return ids_.size(); }
    /// What is known of the fleet.
    [[nodiscard]] weight_fit const& fleet() const noexcept { return fleet_; }
    /// What is known of a node, or null.
    [[nodiscard]] weight_fit const* find(key_type node) const {
        auto const i = ids_.find(node);
        return i == ids_.none ? nullptr : &nodes_[i].fit;
    }
    /// How many pairs on nodes were taken in for the fleet only, as there were `most_nodes` others.
    [[nodiscard]] std::uint64_t over_capacity() const noexcept { return over_capacity_; }

    /// Takes in a pair of tasks that ran on different nodes, for the fleet.
    /// @return and preconditions as `weight_fit::observe`
    status observe(std::span<double const> similarities, double real) {
        scratch_.reserve(factors()); // whatever may throw comes first
        status const s = fleet_.observe(similarities, real);
        if (s != status::ok) return s;
        fit_fleet_if_due();
        fit_next_outdated();
        return s;
    }

    /// Takes in a pair of tasks that both ran on `node`, for the node and for the fleet.
    ///
    /// Pairs of both kinds are needed: without this one nodes have the fleet's weights, without the other the
    /// factor "which node" has none.
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

    /// The weights for tasks on a node; the fleet's for one not known. Valid until something is changed.
    ///
    /// They are from the last time they were fitted: lately, but not always after the last pair (see `fit`).
    /// @par Cost
    /// O(1), allocates nothing
    /// @par Guarantees
    /// many threads may ask as long as none changes anything
    [[nodiscard]] std::span<double const> weights_of(key_type node) const {
        auto const i = ids_.find(node);
        return i == ids_.none || nodes_[i].epoch == never ? fleet_weights() : nodes_[i].weights;
    }
    /// The weights for tasks on a node of which nothing is known.
    [[nodiscard]] std::span<double const> fleet_weights() const noexcept {
        return detail::span_of(fleet_weights_);
    }
    /// How the fleet's weights came about: see `weight_fit::fit`.
    [[nodiscard]] status fleet_status() const noexcept { return fleet_status_; }

    /// Fits all weights to all that has been observed, now.
    /// @par Cost
    /// `weight_fit::fit` for each node
    void fit() {
        scratch_.reserve(factors());
        fit_fleet();
        for (std::size_t i = 0; i < ids_.bound(); ++i)
            if (ids_.contains(static_cast<std::uint32_t>(i))) fit_node(nodes_[i]);
    }

    /// Forgets a node, whose tasks then have the fleet's weights; what the fleet has learned from it stays.
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

    /// Takes in all that another one holds, of the same factors, and fits all weights.
    /// @pre `other.factors() == factors()`
    /// @par Cost
    /// O(factors^2) and `weight_fit::fit` for each node; a node of the other may find no room.
    /// Takes a copy of this one meanwhile, for the strong guarantee
    void merge(node_weights const& other) {
        STRAGGLE_EXPECTS(other.factors() == factors());
        node_weights merged(*this);
        merged.take_in(other);
        *this = std::move(merged);
    }

    /// Appends what has been learned; not the options.
    /// @par Cost
    /// as many bytes as the nodes take, without the 200
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
    /// Replaces what has been learned by what `write` has appended, and fits all weights; the options stay.
    /// @return as `weight_fit::restore`; `status::wrong_kind` for another kind of identifiers, too;
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
            if (in.ok() && read.ids_.size() != k + 1) in.fail(status::corrupt); // twice
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
        std::uint64_t fitted = 0;    // how many pairs it had when fitted
        std::uint64_t epoch = never; // which fit of the fleet it was fitted with

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

    // Merges; may be anything after a failure.
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

    // The index of a node, a new one if there is room.
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
        if (fleet_status_ == status::insufficient_evidence) // its pairs are those of the nodes, too
            std::copy(fleet_weights_.begin(), fleet_weights_.end(), e.weights.begin());
        else
            e.fit.fit(e.weights, scratch_, fleet_, options_.prior_pairs);
        e.fitted = e.fit.pairs();
        e.epoch = epoch_;
    }
    // Nodes are fitted with the fleet's evidence: one after the other, so that no pair has to wait for all.
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
    std::vector<entry> nodes_; // by index; those of no node are clear
    weight_fit fleet_;
    std::vector<double> fleet_weights_;
    weight_scratch scratch_;
    status fleet_status_ = status::insufficient_evidence;
    std::uint64_t fleet_fitted_ = 0; // how many pairs it had when fitted
    std::uint64_t epoch_ = never + 1;
    std::size_t outdated_ = 0; // nodes to look at after the fleet was fitted
    std::size_t next_ = 0;     // the one looked at last
    std::uint64_t over_capacity_ = 0;
};

} // namespace straggle::predict
