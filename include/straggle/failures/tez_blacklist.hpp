// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The node blacklist of Tez's application master.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/failures/attempt.hpp>
#include <straggle/failures/detail/keyed.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::failures {

/// Tez's settings.
struct tez_blacklist_options {
    bool node_blacklisting_enabled = true;       ///< `tez.am.node-blacklisting.enabled`
    std::uint32_t maxtaskfailures_per_node = 10; ///< `tez.am.maxtaskfailures.per.node`
    /// `tez.am.node-blacklisting.ignore-threshold-node-percent`; -1: never ignored.
    int ignore_threshold_node_percent = 33;
    std::uint32_t max_nodes = 1 << 20;  ///< limit on nodes remembered
    std::size_t max_attempts = 1 << 20; ///< limit on failed attempts remembered
};

/// The state of a node in Tez.
enum class tez_node_state : std::uint8_t {
    active,        ///< used
    blacklisted,   ///< not used
    forced_active, ///< would be blacklisted, but the list is ignored because it is too long
};

/// A node where too many distinct attempts failed is blacklisted, unless too large a share of the cluster
/// would be: then all of them are used again until the cluster has grown.
///
/// Source: Tez 0.10, `AMNodeTracker` and `AMNodeImpl`: nodes times percent over 100 is not rounded, and the
/// blacklist is ignored once it reaches that length.
/// @par Cost
/// every function O(1) expected
class tez_blacklist {
  public:
    static constexpr std::string_view name = "tez_blacklist";

    /// @param options settings
    explicit tez_blacklist(tez_blacklist_options options = {})
        : options_(options), nodes_(options.max_nodes), attempts_(options.max_attempts) {}

    /// Adds an attempt.
    void observe(attempt const& a) {
        if (!options_.node_blacklisting_enabled || a.as != attempt_status::failed) return;
        std::uint32_t* const failures = nodes_.at(a.node);
        if (failures == nullptr) return;
        if (a.id != no_task) {
            counted* const known = attempts_.insert({a.job, a.id});
            if (known == nullptr || known->already) return;
            known->already = true;
        }
        if (++*failures == options_.maxtaskfailures_per_node) ++blacklisted_;
        advance();
    }
    /// Sets the number of nodes in the cluster.
    void set_nodes(std::size_t known) noexcept {
        known_ = known;
        advance();
    }
    /// Decides again whether the blacklist is ignored.
    void advance(double = 0) noexcept {
        if (options_.ignore_threshold_node_percent == -1 || known_ == 0) return;
        ignored_ = static_cast<double>(blacklisted_) >=
                   static_cast<double>(known_) * options_.ignore_threshold_node_percent / 100;
    }
    /// The state of a node.
    [[nodiscard]] tez_node_state state(std::uint32_t node) const noexcept {
        std::uint32_t const* const failures = nodes_.find(node);
        if (failures == nullptr || *failures < options_.maxtaskfailures_per_node)
            return tez_node_state::active;
        return ignored_ ? tez_node_state::forced_active : tez_node_state::blacklisted;
    }
    /// Whether a node gets no work.
    [[nodiscard]] bool is_out(std::uint32_t node) const noexcept {
        return state(node) == tez_node_state::blacklisted;
    }
    /// Whether the list is ignored.
    [[nodiscard]] bool is_ignored() const noexcept { return ignored_; }
    /// Number of observations dropped for lack of room.
    [[nodiscard]] std::uint64_t refused() const noexcept { return nodes_.refused() + attempts_.refused(); }

  private:
    struct counted {
        bool already = false;
    };
    tez_blacklist_options options_;
    detail::by_node<std::uint32_t> nodes_; // failures
    detail::keyed<counted> attempts_;      // failed attempts
    std::size_t known_ = 0, blacklisted_ = 0;
    bool ignored_ = false;
};

} // namespace straggle::failures
