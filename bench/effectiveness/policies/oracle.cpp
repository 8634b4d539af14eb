// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A yardstick, not a rival: knows how fast every node is now, how long tasks are and what luck is like, but
/// neither the luck of an attempt nor the future. It takes the fastest free node, waits where waiting is
/// shorter, and copies a task where a copy is expected to end before it.
#include "free_slots.hpp"
#include "make_policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace lab {

namespace {

class oracle final : public policy {
  public:
    explicit oracle(setup const&) {}

    void on_start(truth const& knows) override { truth_ = &knows; }

    void decide(cluster_view const& view, decisions& out) override {
        waiting_ = view.waiting;
        nodes_ = view.nodes;
        free_.look(view, [this](std::uint32_t n) { return truth_->speed(n) > 0; });
        double busy = 0, slots = 0;
        for (node_view const& n : view.nodes) {
            busy += n.busy;
            slots += n.away ? 0 : n.slots;
        }
        // What others lose by a copy: nothing where slots idle, as much as the job wins where tasks wait.
        double const worth = view.waiting > 0 ? 2 : 1 + busy / std::max(slots, 1.0);
        for (job_view const& job : view.jobs) {
            if (free_.none()) return;
            if (job.waiting > 0 && !view.copies_first) continue;
            for (running_attempt const& a : view.running.subspan(job.first, job.count)) {
                if (a.attempts > 1) continue;
                std::uint32_t const to = fastest(a.node);
                if (to == wait) break;
                double const here = truth_->speed(a.node), there = truth_->speed(to);
                double const copy = truth_->work(a.job, a.task) / there;
                if (here > 0 && !(left(a) / here > worth * copy)) continue;
                out.copies.push_back({a.job, a.task, to});
                free_.use(to);
            }
        }
    }

    std::uint32_t place(waiting_task const& t, std::span<std::uint32_t const> free, double) override {
        std::uint32_t best = 0;
        double speed = -1;
        for (std::uint32_t i = 0; i < free.size(); ++i)
            if (double const s = truth_->speed(free[i]); s > speed) {
                speed = s;
                best = i;
            }
        if (!(speed > 0)) return wait;
        // Until one of the faster slots is free, if all that waits goes there.
        double fast = 0, fastest = 0;
        for (std::uint32_t n = 0; n < nodes_.size(); ++n)
            if (double const s = truth_->speed(n); s > 1.2 * speed && !nodes_[n].away) {
                fast += s * nodes_[n].slots;
                fastest = std::max(fastest, s);
            }
        double const work = truth_->work(t.job, t.task);
        if (fast > 0 && (waiting_ + 1) * work / fast + work / fastest < work / speed) return wait;
        return best;
    }

  private:
    std::uint32_t fastest(std::uint32_t but) const {
        std::uint32_t best = wait;
        double speed = 0;
        for (std::uint32_t const n : free_.nodes())
            if (double const s = truth_->speed(n); n != but && s > speed) {
                speed = s;
                best = n;
            }
        return best;
    }

    // The work that is left, on average over all luck that would have it still running.
    double left(running_attempt const& a) {
        std::span<double const> const luck = truth_->luck(a.job);
        std::vector<double>& above = sums_[luck.data()];
        if (above.empty()) {
            above.assign(luck.size() + 1, 0.0);
            for (std::size_t i = luck.size(); i > 0; --i) above[i - 1] = above[i] + luck[i - 1];
        }
        double const work = truth_->work(a.job, a.task), done = truth_->done(a) / work;
        auto const from =
            static_cast<std::size_t>(std::upper_bound(luck.begin(), luck.end(), done) - luck.begin());
        if (from == luck.size()) return 0;
        return work * (above[from] / static_cast<double>(luck.size() - from) - done);
    }

    truth const* truth_ = nullptr;
    std::uint32_t waiting_ = 0;
    std::span<node_view const> nodes_;
    free_slots free_;
    std::map<double const*, std::vector<double>> sums_;
};

add_policy const
    added({"oracle", "knows true speeds and sizes, neither luck nor future; a yardstick", false,
           [](setup const& s) -> std::unique_ptr<policy> { return std::make_unique<oracle>(s); }});

} // namespace

} // namespace lab
