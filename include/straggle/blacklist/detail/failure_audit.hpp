// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_decisions.hpp`: nodes that seem to fail their tasks, looked at once more
/// before they are blamed. What fails ends soon, what goes well is heard of late; and tasks of one job are
/// bad together.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/blacklist/detail/failure_watch.hpp>
#include <straggle/record/attempt_event.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Void = void>
class basic_failure_audit {
  public:
    // Weighs what is held against the nodes that `seems` names, by all that runs. `ended(job)`: attempts of a
    // job that are known to have ended well.
    template <class Seems, class Ended>
    void look(double now, std::span<running_attempt const> running, basic_failure_watch<Void> const& watch,
              Seems&& seems, Ended&& ended) {
        nodes_.clear();
        for (std::uint32_t n = 0; n < watch.size(); ++n)
            if (seems(n))
                nodes_.push_back({.node = n, .since = watch[n].failing_since, .took = watch[n].longest});
        if (nodes_.empty()) return;
        read_tasks(watch);
        for (job_facts& j : jobs_) j.well = static_cast<double>(ended(j.job));
        read_running(now, running, watch);
        for (node_facts& n : nodes_) weigh(n, watch);
    }
    // The logarithm of the evidence that a node fails its tasks; 0 for one that was not looked at.
    [[nodiscard]] double evidence(std::uint32_t node) const noexcept {
        node_facts const* const n = find(node);
        return n ? n->evidence : 0.0;
    }
    // The same if nothing but failing counts, for a node that does nothing else.
    [[nodiscard]] double evidence_of_all(std::uint32_t node) const noexcept {
        node_facts const* const n = find(node);
        return n ? n->evidence_of_all : 0.0;
    }

  private:
    struct node_facts {
        std::uint32_t node = 0;
        double since = 0, took = 0; // its last failures: since when, the longest
        double survivors = 0;       // began there later, and have run for longer than those
        double evidence = 0, evidence_of_all = 0;
    };
    struct job_facts {
        std::uint64_t job = 0;
        std::size_t first = 0, last = 0; // among the failures
        double took = 0;                 // the longest failure of a node that is looked at
        double failed = 0;               // attempts on nodes that are no suspects
        double well = 0;                 // ended well, or have run elsewhere for longer than `took`
    };
    struct failure {
        std::uint64_t job = 0;
        std::uint32_t node = 0;
        bool is_charged = false;
    };

    [[nodiscard]] node_facts const* find(std::uint32_t node) const noexcept {
        return const_cast<basic_failure_audit*>(this)->find(node); // NOLINT
    }
    [[nodiscard]] node_facts* find(std::uint32_t node) noexcept {
        auto const at = std::lower_bound(nodes_.begin(), nodes_.end(), node,
                                         [](node_facts const& f, std::uint32_t n) { return f.node < n; });
        return at != nodes_.end() && at->node == node ? &*at : nullptr;
    }
    [[nodiscard]] job_facts* job_of(std::uint64_t key) noexcept {
        auto const at = std::lower_bound(jobs_.begin(), jobs_.end(), key,
                                         [](job_facts const& f, std::uint64_t k) { return f.job < k; });
        return at != jobs_.end() && at->job == key ? &*at : nullptr;
    }

    void read_tasks(basic_failure_watch<Void> const& watch) {
        failures_.clear();
        jobs_.clear();
        for (failed_task const& t : watch.tasks())
            for (std::size_t k = 0; k < t.nodes; ++k)
                failures_.push_back({t.job, t.at[k].node, !t.withdrawn && watch.is_current(t.at[k])});
        std::sort(failures_.begin(), failures_.end(), [](failure const& a, failure const& b) {
            return a.job != b.job ? a.job < b.job : a.node < b.node;
        });
        for (std::size_t i = 0; i < failures_.size(); ++i) {
            failure const& f = failures_[i];
            if (jobs_.empty() || jobs_.back().job != f.job) jobs_.push_back({.job = f.job, .first = i});
            job_facts& j = jobs_.back();
            j.last = i + 1;
            if (!watch.is_apart(f.node)) j.failed += 1;
            if (node_facts const* const n = find(f.node)) j.took = (std::max)(j.took, n->took);
        }
    }
    void read_running(double now, std::span<running_attempt const> running,
                      basic_failure_watch<Void> const& watch) {
        double took = 0;
        for (node_facts const& n : nodes_) took = (std::max)(took, n.took);
        elsewhere_ = 0;
        for (running_attempt const& a : running) {
            double const age = now - a.start;
            bool const is_apart = watch.is_apart(a.node);
            if (!is_apart && age > took) elsewhere_ += 1;
            if (job_facts* const j = job_of(a.job); j && !is_apart && age > j->took) j->well += 1;
            if (node_facts* const n = find(a.node); n && age > n->took && !(a.start < n->since))
                n->survivors += 1;
        }
    }
    void weigh(node_facts& n, basic_failure_watch<Void> const& watch) const {
        node_failures const& f = watch[n.node];
        double const usual = watch.usual_rate_but(n.node), rare = watch.rare_rate(elsewhere_);
        double known = 0, all = 0;
        std::array<double, 2> logs{};
        // `rate` of a task of the job in question, where the node is as any other.
        auto const add = [&](double tasks, double rate_here, double rare_here) {
            for (std::size_t k = 0; k < logs.size(); ++k)
                logs[k] += tasks * std::log(failing_rate(k, usual) / rate_here);
            all += tasks * std::log(0.95 / rare_here);
        };
        for (job_facts const& j : jobs_) {
            auto const [first, last] = of_node(j, n.node);
            double charged = 0;
            for (std::size_t i = first; i < last; ++i) charged += failures_[i].is_charged ? 1 : 0;
            if (!(charged > 0)) continue;
            known += charged;
            double const own = watch.is_apart(n.node) ? 0.0 : static_cast<double>(last - first);
            double const failed = (std::max)(0.0, j.failed - own);
            // As rare as anything until it has failed elsewhere.
            double const rate = (0.025 + failed) / (1 + failed + j.well);
            add(1, usual, rare);
            add(charged - 1, (std::min)((std::max)(usual, 2 * rate), 0.95), (std::max)(rare, rate));
        }
        // Those whose task is not known, or no longer.
        add((std::max)(0.0, f.failed - known), usual, rare);
        double best = -1e300, sum = 0;
        for (std::size_t k = 0; k < logs.size(); ++k) {
            logs[k] += (f.succeeded + n.survivors) * std::log((1 - failing_rate(k, usual)) / (1 - usual));
            best = (std::max)(best, logs[k]);
        }
        for (double const l : logs) sum += std::exp(l - best);
        n.evidence = best + std::log(sum / static_cast<double>(logs.size()));
        n.evidence_of_all = n.survivors > 0 ? 0.0 : all;
    }
    [[nodiscard]] std::array<std::size_t, 2> of_node(job_facts const& j, std::uint32_t node) const {
        auto const begin = failures_.begin() + static_cast<std::ptrdiff_t>(j.first),
                   end = failures_.begin() + static_cast<std::ptrdiff_t>(j.last);
        auto const at =
            std::lower_bound(begin, end, node, [](failure const& f, std::uint32_t n) { return f.node < n; });
        auto behind = at;
        while (behind != end && behind->node == node) ++behind;
        return {static_cast<std::size_t>(at - failures_.begin()),
                static_cast<std::size_t>(behind - failures_.begin())};
    }

    std::vector<node_facts> nodes_; // that are looked at
    std::vector<job_facts> jobs_;   // of which something failed
    std::vector<failure> failures_; // by job and node
    double elsewhere_ = 0;          // attempts that have run for longer than any of the failures took
};

using failure_audit = basic_failure_audit<>;

} // namespace straggle::detail
