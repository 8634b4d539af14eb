// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which machines to avoid: none, those that the DSB paper avoids, those that the library's defaults avoid.
#pragma once

#include "../cluster/draw.hpp"
#include "../cluster/policy.hpp"

#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/blacklist/windowed_blacklist.hpp>
#include <straggle/papers/dsb_2019.hpp>
#include <straggle/rank/monitor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace policies {

/// What a scheduler keeps of an attempt, as the library reads it. Siblings are the tasks of one phase.
inline constexpr straggle::attempt_fields attempt_fields{.job = &cluster::attempt_record::phase,
                                                         .task = &cluster::attempt_record::task,
                                                         .node = &cluster::attempt_record::node,
                                                         .start = &cluster::attempt_record::start,
                                                         .end = &cluster::attempt_record::end,
                                                         .status = [](cluster::attempt_record const& a) {
                                                             return a.how == cluster::ending::finished
                                                                        ? straggle::attempt_status::success
                                                                        : straggle::attempt_status::killed;
                                                         }};

/// The machines avoided, window by window.
struct blacklist_log {
    double from = 0;
    std::vector<std::uint32_t> avoided{};
    std::vector<std::uint32_t> on_probation{};
};

struct no_blacklist {
    void ended(cluster::attempt_record const&, double) {}
    void round(double) {}
    bool avoids(std::uint32_t) const { return false; }
    bool tries(std::uint32_t) const { return false; }
    std::vector<blacklist_log> log{};
};

/// Changes to the paper's blacklist.
struct dsb_changes {
    bool told_of_losers = false; ///< an attempt whose copy won counts with its time so far, a lower bound
    bool fills_up = false;       ///< P-Cores with number: from the next levels, if level 0 has fewer than k
};

/// Dynamic server blacklisting as printed: all nodes are ranked in every window, and the weakest level is
/// avoided in the next. The parts of `papers::dsb_2019::loop_of`, whose type depends on whether there is a
/// number.
class dsb_blacklist {
    using monitor = straggle::monitor<cluster::attempt_record, decltype(policies::attempt_fields)>;

  public:
    /// @param window in seconds @param k most nodes to avoid: P-Cores with number; without it, all of level 0
    dsb_blacklist(double window, std::optional<std::size_t> k, std::uint64_t seed, dsb_changes changed = {})
        : monitor_(policies::attempt_fields, {.window = window,
                                              .slide = 0,
                                              .ranking = straggle::papers::dsb_2019::ranking(),
                                              .baseline = straggle::score_baseline::window}),
          k_(k),
          changed_(changed),
          random_(seed, 77) {}

    void ended(cluster::attempt_record const& a, double now) {
        if (changed_.told_of_losers && a.how == cluster::ending::killed && !a.copy)
            monitor_.observe_censored(a, now);
        else
            monitor_.observe(a, now);
    }
    void round(double now) {
        std::int64_t const window = monitor_.window_number(now);
        if (window < 0 || window == window_) return;
        window_ = window;
        auto const& ranking = monitor_.rank(now);
        if (k_)
            straggle::papers::dsb_2019::blacklist(*k_, random_,
                                                  changed_.fills_up
                                                      ? straggle::blacklist::fill_from::next_levels
                                                      : straggle::blacklist::fill_from::level_0)
                .decide(ranking, decision_);
        else
            straggle::papers::dsb_2019::blacklist().decide(ranking, decision_);
        auto& entry = log.emplace_back();
        entry.from = now;
        for (auto const& v : decision_.blacklisted()) entry.avoided.push_back(v.id);
    }
    bool avoids(std::uint32_t node) const { return decision_.avoids(node); }
    bool tries(std::uint32_t) const { return false; }
    std::vector<blacklist_log> log{};

  private:
    monitor monitor_;
    std::optional<std::size_t> k_;
    dsb_changes changed_;
    cluster::draw random_;
    std::int64_t window_ = -1;
    straggle::blacklist_decision<std::uint32_t> decision_;
};

/// The library's defaults: `clearly_dominated`, exclusions with probation, never more than a fifth of the
/// slots. An attempt whose copy won counts with the time it took so far, a lower bound.
template <class Selection = straggle::blacklist::clearly_dominated>
class kept_blacklist {
    using monitor = straggle::monitor<cluster::attempt_record, decltype(policies::attempt_fields)>;
    using keeper = straggle::rolling_blacklister<std::uint32_t, Selection>;
    using watch = straggle::windowed_blacklist<monitor, keeper>;

  public:
    /// @param window in seconds @param nodes in the cluster @param selection which machines are weak
    kept_blacklist(double window, std::uint32_t nodes, Selection selection = {})
        : window_(window),
          watch_(std::make_unique<watch>(
              monitor(policies::attempt_fields, {.window = window, .slide = 0, .ranking = {}}),
              keeper(std::move(selection)))),
          fleet_(nodes) {
        std::iota(fleet_.begin(), fleet_.end(), 0u);
    }

    void ended(cluster::attempt_record const& a, double now) {
        if (a.how == cluster::ending::killed && !a.copy)
            watch_->observe_censored(a, now);
        else
            watch_->observe(a, now);
    }
    /// Whether a window has ended without a decision.
    bool is_due(double now) const {
        std::int64_t const window = window_at(now);
        return window >= 0 && window != last_;
    }
    void round(double now) {
        if (!is_due(now)) return;
        last_ = window_at(now);
        watch_->decide(now, fleet_);
        write(log.emplace_back(), now);
    }
    bool avoids(std::uint32_t node) const { return watch_->decision().avoids(node); }
    bool tries(std::uint32_t node) const { return watch_->decision().tries(node); }
    /// Writes which machines are out now.
    void write(blacklist_log& entry, double now) const {
        entry.from = now;
        for (auto const& v : watch_->decision().blacklisted()) entry.avoided.push_back(v.id);
        for (auto const& v : watch_->decision().on_probation()) entry.on_probation.push_back(v.id);
    }
    std::vector<blacklist_log> log{};

  private:
    std::int64_t window_at(double now) const {
        return static_cast<std::int64_t>(std::floor(now / window_)) - 1;
    }

    double window_;
    std::int64_t last_ = -1;
    std::unique_ptr<watch> watch_;
    std::vector<std::uint32_t> fleet_;
};

} // namespace policies
