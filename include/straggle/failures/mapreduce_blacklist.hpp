// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The node blacklist of Hadoop MapReduce's application master.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/failures/attempt.hpp>
#include <straggle/failures/detail/keyed.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::failures {

/// Hadoop's settings.
struct mapreduce_blacklist_options {
    bool node_blacklisting_enable = true;          ///< `yarn.app.mapreduce.am.job.node-blacklisting.enable`
    std::uint32_t maxtaskfailures_per_tracker = 3; ///< `mapreduce.job.maxtaskfailures.per.tracker`
    /// `yarn.app.mapreduce.am.job.node-blacklisting.ignore-threshold-node-percent`; -1: never ignored.
    int ignore_threshold_node_percent = 33;
    std::uint32_t max_nodes = 1 << 20; ///< limit on nodes remembered
};

/// A node where too many attempts of a job failed gets no more of them, until so large a share of the cluster
/// is blacklisted that the whole blacklist is ignored. One object per job. Nothing else ever releases a node.
///
/// Source: Hadoop 3.3, `RMContainerRequestor`, including its reports to the resource manager: each
/// `heartbeat` returns the changes since the last one, then checks the size of the cluster.
/// @par Cost
/// `observe` O(1), `heartbeat` O(blacklisted nodes) when the list is switched on or off
class mapreduce_blacklist {
  public:
    static constexpr std::string_view name = "mapreduce_blacklist";

    /// The report to the resource manager.
    struct changes {
        std::span<std::uint32_t const> additions; ///< nodes to avoid
        std::span<std::uint32_t const> removals;  ///< nodes to use again
    };

    /// @param options settings
    explicit mapreduce_blacklist(mapreduce_blacklist_options options = {})
        : options_(options), nodes_(options.max_nodes) {}

    /// Adds an attempt.
    void observe(attempt const& a) {
        if (!options_.node_blacklisting_enable || a.as != attempt_status::failed) return;
        tracked_node* const n = nodes_.at(a.node);
        if (n == nullptr || n->is_blacklisted) return;
        if (++n->failures < options_.maxtaskfailures_per_tracker) return;
        n->is_blacklisted = true;
        blacklisted_.push_back(a.node);
        if (!ignored_) additions_.push_back(a.node);
    }
    /// Sets the number of nodes in the cluster.
    void set_nodes(std::size_t known) noexcept { known_ = known; }
    /// Decides again whether the blacklist is ignored.
    void advance(double = 0) {
        if (!options_.node_blacklisting_enable || options_.ignore_threshold_node_percent == -1 || known_ == 0)
            return;
        bool const ignore = 100 * blacklisted_.size() / known_ >=
                            static_cast<std::size_t>(options_.ignore_threshold_node_percent);
        if (ignore && !ignored_) {
            additions_.clear();
            removals_.assign(blacklisted_.begin(), blacklisted_.end());
        } else if (!ignore && ignored_) {
            removals_.clear();
            additions_.assign(blacklisted_.begin(), blacklisted_.end());
        }
        ignored_ = ignore;
    }
    /// Returns the changes and checks the cluster again. Valid until the next call.
    /// @param known number of nodes in the cluster
    changes heartbeat(std::size_t known) {
        sent_additions_.swap(additions_);
        sent_removals_.swap(removals_);
        additions_.clear();
        removals_.clear();
        set_nodes(known);
        advance();
        return {sent_additions_, sent_removals_};
    }

    /// Whether a node gets no work.
    [[nodiscard]] bool is_out(std::uint32_t node) const noexcept { return !ignored_ && is_blacklisted(node); }
    /// Whether a node is on the list, ignored or not.
    [[nodiscard]] bool is_blacklisted(std::uint32_t node) const noexcept {
        auto const* const n = nodes_.find(node);
        return n != nullptr && n->is_blacklisted;
    }
    /// Whether the list is ignored.
    [[nodiscard]] bool is_ignored() const noexcept { return ignored_; }
    /// Number of nodes on the list.
    [[nodiscard]] std::size_t size() const noexcept { return blacklisted_.size(); }
    /// Number of observations dropped for lack of room.
    [[nodiscard]] std::uint64_t refused() const noexcept { return nodes_.refused(); }

  private:
    struct tracked_node {
        std::uint32_t failures = 0;
        bool is_blacklisted = false;
    };
    mapreduce_blacklist_options options_;
    detail::by_node<tracked_node> nodes_;
    std::vector<std::uint32_t> blacklisted_, additions_, removals_, sent_additions_, sent_removals_;
    std::size_t known_ = 0;
    bool ignored_ = false;
};

} // namespace straggle::failures
