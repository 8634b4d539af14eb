// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Limits: how many copies a cluster can bear, regardless of the value of each. Limits compose; a copy is
/// launched only if all of them admit it, and a straggler without a copy is reported with the limit that
/// refused it.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/token_bucket.hpp>
#include <straggle/record/cluster_load.hpp>
#include <straggle/record/limit.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::assign {

/// A requested copy.
struct backup_request {
    std::uint32_t straggler = 0; ///< index of the straggler
    /// Running attempts of the task, those on nodes that are not healthy counted as one; 0: it does not run.
    std::uint32_t attempts = 1;
};

/// A limit on copies: a `record::limit` that sees the `cluster_load` and is asked about a `backup_request`.
template <class Limit>
concept copy_limit = record::limit<Limit, cluster_load, backup_request>;

/// Limits the copies of a task at a time, besides the first attempt. The library's default limit, with one
/// copy, as in Hadoop and Spark. A task that does not run may start one more attempt. Reads only the attempts
/// of the task.
class copies_per_task {
  public:
    static constexpr std::string_view name = "copies_per_task";
    /// @param most maximum number of copies at a time
    explicit constexpr copies_per_task(std::uint32_t most = 1) noexcept : most_(most) {}

    constexpr void begin(cluster_load const&, std::size_t) noexcept {}
    [[nodiscard]] constexpr bool admits(backup_request const& r) const noexcept {
        return r.attempts <= most_;
    }
    constexpr void take(backup_request const&) noexcept {}

  private:
    std::uint32_t most_;
};

/// Limits copies to a fraction of all slots, including running copies. Reads `slots` and `copies`.
/// Source: the SpeculativeCap of LATE (Zaharia et al. 2008), 10 % of the slots.
class speculative_cap {
  public:
    static constexpr std::string_view name = "speculative_cap";
    /// @pre `fraction` is in [0, 1]
    explicit constexpr speculative_cap(double fraction = 0.1) : fraction_(fraction) {
        STRAGGLE_EXPECTS(fraction >= 0.0 && fraction <= 1.0);
    }

    constexpr void begin(cluster_load const& load, std::size_t) noexcept {
        limit_ = fraction_ * static_cast<double>(load.slots);
        copies_ = static_cast<double>(load.copies);
    }
    [[nodiscard]] constexpr bool admits(backup_request const&) const noexcept {
        return copies_ + 1 <= limit_ + 1e-9 * (limit_ + 1); // 0.1 * 30 is 3
    }
    constexpr void take(backup_request const&) noexcept { copies_ += 1; }

  private:
    double fraction_;
    double limit_ = 0;
    double copies_ = 0;
};

/// Refill rates and capacity of the bucket of a `retry_budget`.
struct retry_budget_options {
    double per_task = 0.05; ///< copies per task started: 0.05 is 5 % more attempts than tasks; at least 0
    double per_time = 0;    ///< copies per unit of the clock; at least 0
    double burst = 10;      ///< copies at once after a long time without any; at least 1
};

/// Limits the load that copies add in the long run: a token bucket, one token per copy, refilled by tasks
/// that start and by time. It starts full. A clock or a count that goes backwards, or is not a number, adds
/// nothing. Reads `started` and `now`.
///
/// Source: the retry limit of Finagle, and the limit on hedged requests of Dean and Barroso, The tail at
/// scale (2013). A copy costs one token however long it runs, so the best copies within the limit can be
/// found exactly.
class retry_budget {
  public:
    static constexpr std::string_view name = "retry_budget";
    /// @pre the limits are in their ranges, and finite
    explicit constexpr retry_budget(retry_budget_options limits = {})
        : limits_(limits), bucket_(limits.burst) {
        STRAGGLE_EXPECTS(limits.per_task >= 0.0 && detail::is_finite(limits.per_task));
        STRAGGLE_EXPECTS(limits.per_time >= 0.0 && detail::is_finite(limits.per_time));
        STRAGGLE_EXPECTS(limits.burst >= 1.0 && detail::is_finite(limits.burst));
    }

    constexpr void begin(cluster_load const& load, std::size_t) noexcept {
        if (begun_ && load.started > started_)
            bucket_.fill(limits_.per_task * static_cast<double>(load.started - started_));
        if (begun_ && detail::is_finite(load.now)) bucket_.fill(limits_.per_time * (load.now - now_));
        started_ = load.started;
        if (detail::is_finite(load.now)) now_ = load.now;
        begun_ = true;
    }
    [[nodiscard]] constexpr bool admits(backup_request const&) const noexcept { return bucket_.has_one(); }
    constexpr void take(backup_request const&) noexcept { bucket_.take_one(); }

  private:
    retry_budget_options limits_;
    detail::token_bucket bucket_;
    double now_ = 0;
    std::uint64_t started_ = 0;
    bool begun_ = false;
};

/// Admits no copy when too many running tasks are suspects: then either the baseline is wrong or the whole
/// cluster is slow, and copies would make it slower. Reads `running` and `suspects`.
class suspect_share_limit {
  public:
    static constexpr std::string_view name = "suspect_share_limit";
    /// @param above no copy is admitted with a larger share of suspects among the running tasks
    /// @pre `above` is in [0, 1]
    explicit constexpr suspect_share_limit(double above = 0.3) : above_(above) {
        STRAGGLE_EXPECTS(above >= 0.0 && above <= 1.0);
    }

    constexpr void begin(cluster_load const& load, std::size_t stragglers) noexcept {
        double const asked = static_cast<double>(stragglers), told = static_cast<double>(load.suspects);
        double const limit = above_ * static_cast<double>(load.running);
        storm_ = !((asked > told ? asked : told) <= limit + 1e-9 * (limit + 1));
    }
    [[nodiscard]] constexpr bool admits(backup_request const&) const noexcept { return !storm_; }
    constexpr void take(backup_request const&) noexcept {}

    /// Whether there were too many suspects at the last decision.
    [[nodiscard]] constexpr bool storm() const noexcept { return storm_; }

  private:
    double above_;
    bool storm_ = false;
};

} // namespace straggle::assign
