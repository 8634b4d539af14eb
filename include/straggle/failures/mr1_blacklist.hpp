// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The tracker blacklists of Hadoop 1's JobTracker: per job, and across jobs.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/failures/attempt.hpp>
#include <straggle/failures/detail/keyed.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::failures {

/// Hadoop 1's settings, then its constants.
struct mr1_blacklist_options {
    std::uint32_t max_tracker_failures = 4;   ///< `mapred.max.tracker.failures`: of one job
    std::uint32_t max_tracker_blacklists = 4; ///< `mapred.max.tracker.blacklists`: jobs that avoided it
    double cluster_blacklist_percent = 0.25;  ///< share of the trackers that one job may avoid
    double average_blacklist_threshold = 0.5; ///< how far above the mean number of faults, relative to it
    double max_blacklist_percent = 0.5;       ///< share of the trackers that may be out across all jobs
    double update_faulty_tracker_interval = 86400; ///< seconds after which one fault is forgiven
    std::uint32_t max_nodes = 1 << 20;             ///< limit on nodes remembered
    std::size_t max_pairs = 1 << 20;               ///< limit on pairs of a job and a node
};

/// Why a tracker is out; it returns when no reason is left.
enum class mr1_reason : std::uint8_t {
    exceeding_failures = 1, ///< too many jobs avoided it
    node_unhealthy = 2,     ///< according to its health script
};

/// A job avoids trackers where too many of its tasks failed, at most a quarter of all trackers. A successful
/// job leaves a fault with each tracker that it avoided. A tracker with enough faults, 1.5 times the mean, is
/// out for all jobs, unless half of the cluster is. One fault is forgiven per day, and with it failures as a
/// reason.
///
/// Source: Hadoop 1.2, `JobTracker.FaultyTrackersInfo` and `JobInProgress`.
/// @par Cost
/// `observe` O(1) expected; `end_job` O(its trackers); `advance` O(nodes) at most
class mr1_blacklist {
  public:
    static constexpr std::string_view name = "mr1_blacklist";

    /// @param options settings
    explicit mr1_blacklist(mr1_blacklist_options const& options = {})
        : options_(options), nodes_(options.max_nodes), pairs_(options.max_pairs), jobs_(options.max_pairs) {}

    /// Sets the number of trackers in the cluster, including those that are out.
    void set_nodes(std::size_t known) noexcept { known_ = known; }
    /// Adds an attempt.
    void observe(attempt const& a) {
        if (a.as != attempt_status::failed) return;
        job_state* const job = jobs_.insert({a.job});
        if (job == nullptr || is_tolerant(*job)) return;
        count* const c = pairs_.insert({a.job, std::uint64_t{a.node} + 1});
        if (c == nullptr) return;
        if (c->failures == 0) job->nodes.push_back(a.node);
        if (++c->failures == options_.max_tracker_failures) ++job->flaky;
    }
    /// A job is over. A failed job blames no tracker.
    void end_job(std::uint64_t job, bool succeeded, double now) {
        job_state* const j = jobs_.find({job});
        if (j == nullptr) return;
        for (std::uint32_t const node : j->nodes) {
            detail::failure_key const key{job, std::uint64_t{node} + 1};
            bool const avoided = pairs_.find(key)->failures >= options_.max_tracker_failures;
            pairs_.erase(key);
            if (succeeded && avoided) add_fault(node, now);
        }
        jobs_.erase({job});
    }
    /// Reports the result of a node's health script.
    void report_health(std::uint32_t node, bool healthy, std::string_view report) {
        tracker* const t = nodes_.at(node);
        if (t == nullptr) return;
        t->report = report;
        for (char& c : t->report)
            if (c == '\n') c = ':';
        if (healthy) {
            remove(*t, mr1_reason::node_unhealthy);
        } else if (!has(t->reasons, mr1_reason::node_unhealthy)) {
            ++t->times_unhealthy;
            add(*t, mr1_reason::node_unhealthy);
        }
    }
    /// Forgives faults that are old enough.
    void advance(double now) {
        for (tracker& t : nodes_.all())
            if (t.faults > 0 && now - t.updated > options_.update_faulty_tracker_interval) {
                --t.faults;
                t.updated = now;
                remove(t, mr1_reason::exceeding_failures);
            }
    }

    /// Whether a tracker gets no work.
    [[nodiscard]] bool is_out(std::uint32_t node) const noexcept { return reasons(node) != 0; }
    /// Whether a job avoids a tracker.
    [[nodiscard]] bool is_out_for_job(std::uint32_t node, std::uint64_t job) const {
        job_state const* const j = jobs_.find({job});
        count const* const c = pairs_.find({job, std::uint64_t{node} + 1});
        return j != nullptr && c != nullptr && !is_tolerant(*j) &&
               c->failures >= options_.max_tracker_failures;
    }
    /// Why it is out: a set of `mr1_reason`, 0 if it is not out.
    [[nodiscard]] std::uint8_t reasons(std::uint32_t node) const noexcept {
        tracker const* const t = nodes_.find(node);
        return t != nullptr ? t->reasons : std::uint8_t{0};
    }
    /// Faults not forgiven yet.
    [[nodiscard]] std::uint32_t faults(std::uint32_t node) const noexcept {
        tracker const* const t = nodes_.find(node);
        return t != nullptr ? t->faults : 0;
    }
    /// Number of trackers that are out.
    [[nodiscard]] std::size_t blacklisted() const noexcept { return blacklisted_; }
    /// The last report of its health script, on one line with colons between the parts.
    [[nodiscard]] std::string_view report(std::uint32_t node) const noexcept {
        tracker const* const t = nodes_.find(node);
        return t != nullptr ? std::string_view(t->report) : std::string_view();
    }
    /// How many times it became unhealthy.
    [[nodiscard]] std::uint32_t times_unhealthy(std::uint32_t node) const noexcept {
        tracker const* const t = nodes_.find(node);
        return t != nullptr ? t->times_unhealthy : 0;
    }
    /// Number of observations dropped for lack of room.
    [[nodiscard]] std::uint64_t refused() const noexcept {
        return nodes_.refused() + pairs_.refused() + jobs_.refused();
    }

  private:
    struct tracker {
        std::uint8_t reasons = 0;
        std::uint32_t faults = 0, times_unhealthy = 0;
        double updated = 0;
        std::string report;
    };
    struct count {
        std::uint32_t failures = 0;
    };
    struct job_state {
        std::uint32_t flaky = 0;
        std::vector<std::uint32_t> nodes;
    };

    static constexpr bool has(std::uint8_t set, mr1_reason r) noexcept {
        return (set & static_cast<std::uint8_t>(r)) != 0;
    }
    void add(tracker& t, mr1_reason r) noexcept {
        if (t.reasons == 0) ++blacklisted_;
        t.reasons = static_cast<std::uint8_t>(t.reasons | static_cast<std::uint8_t>(r));
    }
    void remove(tracker& t, mr1_reason r) noexcept {
        if (t.reasons == static_cast<std::uint8_t>(r)) --blacklisted_;
        t.reasons = static_cast<std::uint8_t>(t.reasons & ~static_cast<unsigned>(r));
    }
    // A job that would avoid a quarter of the cluster avoids none of it.
    [[nodiscard]] bool is_tolerant(job_state const& job) const noexcept {
        return !(job.flaky < static_cast<double>(known_) * options_.cluster_blacklist_percent);
    }
    void add_fault(std::uint32_t node, double now) {
        tracker* const t = nodes_.at(node);
        if (t == nullptr) return;
        ++t->faults;
        t->updated = now;
        if (t->faults < options_.max_tracker_blacklists) return;
        double sum = 0;
        for (tracker const& other : nodes_.all()) sum += other.faults;
        double const mean = sum / static_cast<double>(known_ - blacklisted_);
        if (t->faults - mean > options_.average_blacklist_threshold * mean &&
            static_cast<double>(blacklisted_) < static_cast<double>(known_) * options_.max_blacklist_percent)
            add(*t, mr1_reason::exceeding_failures);
    }

    mr1_blacklist_options options_;
    detail::by_node<tracker> nodes_;
    detail::keyed<count> pairs_; // by job and node
    detail::keyed<job_state> jobs_;
    std::size_t known_ = 0, blacklisted_ = 0;
};

} // namespace straggle::failures
