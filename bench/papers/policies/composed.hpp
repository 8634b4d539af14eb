// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A scheduler made of two parts: one that avoids machines, one that copies tasks.
#pragma once

#include "blacklists.hpp"
#include "free_places.hpp"
#include "schedulers.hpp"

#include <straggle/assign/backup_fields.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace policies {

template <class Blacklist, class Speculation>
class composed final : public cluster::policy {
  public:
    composed(Blacklist blacklist, Speculation speculation)
        : blacklist_(std::move(blacklist)), speculation_(std::move(speculation)) {}

    void ended(cluster::attempt_record const& a, double now) override {
        blacklist_.ended(a, now);
        speculation_.ended(a);
    }
    void phase_over(std::uint32_t phase) override { speculation_.phase_over(phase); }
    void round(double now) override { blacklist_.round(now); }
    bool avoids(std::uint32_t node) const override {
        return blacklist_.avoids(node) || blacklist_.tries(node);
    }
    void copies(cluster::cluster_view const& view, std::vector<cluster::copy_request>& out) override {
        free_places free(view, [this](std::uint32_t n) { return !blacklist_.avoids(n); });
        speculation_.copies(
            view, free,
            [this](std::uint32_t n) {
                if (blacklist_.avoids(n)) return straggle::node_state::excluded;
                return blacklist_.tries(n) ? straggle::node_state::on_probation
                                           : straggle::node_state::healthy;
            },
            out);
        probe(view, free, out);
    }
    Blacklist const& blacklist() const { return blacklist_; }

  private:
    // A machine on probation has to show what it can do: one copy at a time, of a task that has just begun.
    void probe(cluster::cluster_view const& view, free_places& free,
               std::vector<cluster::copy_request>& out) {
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n) {
            if (!blacklist_.tries(n) || view.nodes[n].used > 0 || free.on(n) == 0) continue;
            for (cluster::phase_view const& phase : view.phases) {
                auto const youngest =
                    std::max_element(phase.running.begin(), phase.running.end(),
                                     [](auto const& a, auto const& b) { return a.start < b.start; });
                if (youngest == phase.running.end() || youngest->attempts > 1 || phase.waiting == 0) continue;
                free.take(n);
                out.push_back({phase.phase, youngest->task, n});
                break;
            }
        }
    }

    Blacklist blacklist_;
    Speculation speculation_;
};

/// A scheduler of both, with the log of which machines the first avoids.
template <class Blacklist, class Speculation>
scheduler compose(Blacklist blacklist, Speculation speculation) {
    auto made =
        std::make_unique<composed<Blacklist, Speculation>>(std::move(blacklist), std::move(speculation));
    auto const* log = &made->blacklist().log;
    return {std::move(made), log};
}

} // namespace policies
