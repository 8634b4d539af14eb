// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which machines to avoid: by a rolling_blacklister with any selection, or by what only an oracle knows. All
/// of them log every day which machines are out.
#pragma once

#include "../policies/blacklists.hpp"
#include "calendar.hpp"
#include "outlook.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ml_na {

/// Begins an entry if the last one is of another day.
inline policies::blacklist_log* new_entry(std::vector<policies::blacklist_log>& log, double now) {
    if (!log.empty() && day_at(log.back().from) == day_at(now)) return nullptr;
    log.push_back({.from = now});
    return &log.back();
}

/// A `policies::kept_blacklist` whose selection may ask what is expected, with a log by days.
template <class Selection>
class kept_by : public policies::kept_blacklist<Selection> {
    using base = policies::kept_blacklist<Selection>;

  public:
    /// @param window in seconds @param nodes in the cluster @param expects what the selection asks, or none
    kept_by(double window, std::uint32_t nodes, Selection selection, std::shared_ptr<outlook> expects)
        : base(window, nodes, std::move(selection)), expects_(std::move(expects)) {}

    void ended(cluster::attempt_record const& a, double now) {
        if (expects_) expects_->ended(a);
        base::ended(a, now);
    }
    void round(double now) {
        if (expects_) expects_->round(now);
        base::round(now);
        if (base::log.empty()) return;
        if (auto* const entry = new_entry(log, now)) base::write(*entry, now);
    }
    std::vector<policies::blacklist_log> log{};

  private:
    std::shared_ptr<outlook> expects_;
};

/// Avoids no machine; logs those that would be avoided by what is expected.
class only_expects : public policies::no_blacklist {
  public:
    only_expects(std::uint32_t nodes, std::shared_ptr<outlook> expects)
        : nodes_(nodes), expects_(std::move(expects)) {}

    void ended(cluster::attempt_record const& a, double) { expects_->ended(a); }
    void round(double now) {
        expects_->round(now);
        auto* const entry = new_entry(log, now);
        if (!entry) return;
        for (std::uint32_t n = 0; n < nodes_; ++n)
            if ((*expects_)(n).value_or(0) >= 0.5) entry->avoided.push_back(n);
    }

  private:
    std::uint32_t nodes_;
    std::shared_ptr<outlook> expects_;
};

/// The slowest machines of each day, except those that are not weak: at most a fifth of all, like the default
/// limit.
class told_blacklist {
  public:
    explicit told_blacklist(slowdown_by_day told) : told_(std::move(told)) {}

    void ended(cluster::attempt_record const&, double) {}
    void round(double now) {
        auto* const entry = new_entry(log, now);
        if (!entry) return;
        auto const slow = [&](std::uint32_t n) { return told_[n][day_at(now)]; };
        for (std::uint32_t n = 0; n < told_.size(); ++n)
            if (slow(n) >= weak_from) entry->avoided.push_back(n);
        std::ranges::sort(entry->avoided, std::ranges::greater{}, slow);
        if (entry->avoided.size() > told_.size() / 5) entry->avoided.resize(told_.size() / 5);
    }
    bool avoids(std::uint32_t node) const {
        return !log.empty() && std::ranges::count(log.back().avoided, node) > 0;
    }
    bool tries(std::uint32_t) const { return false; }
    std::vector<policies::blacklist_log> log{};

  private:
    slowdown_by_day told_;
};

/// Makes all days of a month alike. @param of summarizes a row of days
template <class Of>
slowdown_by_day by_month(slowdown_by_day told, Of of) {
    for (std::vector<double>& days : told)
        for (auto from = days.begin(); from != days.end(); from += days_per_month)
            std::fill_n(from, days_per_month, of(from, from + days_per_month));
    return told;
}

} // namespace ml_na
