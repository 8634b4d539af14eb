// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A scheduler that copies what a detector names, as soon as its share of the slots allows, and remembers
/// when it was named.
#pragma once

#include "../cluster/draw.hpp"
#include "../cluster/policy.hpp"
#include "../policies/free_places.hpp"
#include "../policies/phase_watch.hpp"
#include "../policies/told_usual_time.hpp"

#include <straggle/assign/reservation.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/detect/straggler_scan.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace evaluation {

/// What is known from earlier runs; empty: nothing.
struct history {
    std::vector<double> usual;    ///< time of each map on a good machine
    std::vector<double> slowdown; ///< of each machine
};

template <class Detector>
class detecting final : public cluster::policy {
  public:
    /// @param use_rows gives the detector the usual times of the running tasks, if it can use them
    template <class UseRows>
    detecting(Detector rule, straggle::assign::reservation slots, history const& known, std::uint64_t seed,
              UseRows use_rows)
        : scan_(std::move(rule)), slots_(slots), known_(known), random_(seed, 99) {
        use_rows(scan_.detector(), usual_of_row_);
    }

    void ended(cluster::attempt_record const& a, double) override {
        bool const told = a.phase == 0 && a.task < known_.usual.size();
        watch_.ended(a, told ? known_.usual[a.task] : 0);
    }
    void phase_over(std::uint32_t phase) override { watch_.forget(phase); }
    std::uint32_t task_slots(std::uint32_t n, cluster::node_view const& node) const override {
        return node.slots - slots_.reserved(shown(n, node));
    }
    bool copies_first() const override { return slots_.is_shared(); }

    void copies(cluster::cluster_view const& view, std::vector<cluster::copy_request>& out) override {
        std::vector<std::uint32_t> room;
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n)
            room.push_back(slots_.for_copies(shown(n, view.nodes[n]), view.waiting > 0));
        for (cluster::phase_view const& phase : view.phases) {
            if (phase.running.empty()) continue;
            tell(phase);
            for (auto const& s : scan_(watch_.look(phase, view.now))) {
                auto const& task = phase.running[s.row];
                named.try_emplace({phase.phase, task.task}, view.now);
                if (task.attempts > 1) continue;
                auto const node = choose(task, view, room);
                if (node == view.nodes.size()) continue;
                --room[node];
                out.push_back({phase.phase, task.task, node});
            }
        }
    }

    /// When a task was first named, by phase and task.
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> named;

  private:
    static straggle::assign::node_slots shown(std::uint32_t n, cluster::node_view const& node) {
        return {.slots = node.slots,
                .free = node.free(),
                .copies = node.copies,
                .before = std::uint64_t{n} * node.slots};
    }

    void tell(cluster::phase_view const& phase) {
        usual_of_row_.clear();
        if (phase.phase != 0) return;
        if (!known_.usual.empty())
            for (auto const& task : phase.running) usual_of_row_.push_back(known_.usual[task.task]);
        for (std::uint32_t n = 0; n < known_.slowdown.size(); ++n)
            watch_.set_slowdown(phase.phase, n, known_.slowdown[n]);
    }

    // Any machine, unless it is known which are fast.
    std::uint32_t choose(cluster::running_view const& task, cluster::cluster_view const& view,
                         std::vector<std::uint32_t> const& room) {
        std::vector<std::uint32_t> best;
        double least = 0;
        for (std::uint32_t n = 0; n < room.size(); ++n) {
            if (room[n] == 0 || std::find(task.nodes.begin(), task.nodes.end(), n) != task.nodes.end())
                continue;
            double const slow = known_.slowdown.empty() ? 1.0 : known_.slowdown[n] * (1 + view.nodes[n].used);
            if (best.empty() || slow < least) {
                best.clear();
                least = slow;
            }
            if (!(slow > least)) best.push_back(n);
        }
        if (best.empty()) return static_cast<std::uint32_t>(room.size());
        return best[straggle::base::uniform_below(random_, best.size())];
    }

    straggle::detect::straggler_scan<Detector> scan_;
    straggle::assign::reservation slots_;
    history known_;
    cluster::draw random_;
    policies::phase_watch watch_;
    std::vector<double> usual_of_row_;
};

} // namespace evaluation
