// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A yardstick, not a rival: knows how fast every node is now, how long tasks are and the distribution of
/// luck, but neither the luck of an attempt nor the future. It takes the fastest free node, waits where
/// waiting is shorter, and copies a task if the copy is expected to end first.
#include "free_slots.hpp"
#include "make_policy.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace lab {

namespace {

class oracle final : public policy {
  public:
    oracle(bool copies, bool places, bool deadlines = false)
        : copies_(copies), places_(places), deadlines_(deadlines) {}

    void on_start(truth const& knows) override { truth_ = &knows; }

    void decide(cluster_view const& view, decisions& out) override {
        waiting_ = view.waiting;
        nodes_ = view.nodes;
        see_new_jobs(view);
        free_.look(view, [this](std::uint32_t n) { return truth_->speed(n) > 0; });
        double busy = 0, slots = 0, capacity = 0;
        for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
            busy += nodes_[n].busy;
            slots += nodes_[n].away ? 0 : nodes_[n].slots;
            capacity += truth_->speed(n) * nodes_[n].slots * view.now;
        }
        // What others lose by a slot-second: next to nothing where slots idle, a second and more where tasks
        // wait, or soon will.
        bool const full = view.waiting > 0 || arrived_ > 0.9 * capacity;
        double const price = full ? 1.5 : 0.05 + 0.5 * busy / std::max(slots, 1.0);
        if (!copies_) return;
        for (job_view const& job : view.jobs) {
            if (free_.none()) return;
            for (running_attempt const& a : view.running.subspan(job.first, job.count)) {
                if (a.attempts > 1) continue;
                std::uint32_t const to = fastest(a.node);
                if (to == wait) break;
                std::optional<double> due;
                if (deadlines_ && job.deadline) due = *job.deadline - view.now;
                if (!pays(a, truth_->speed(a.node), truth_->speed(to), price, due)) continue;
                out.copies.push_back({a.job, a.task, to});
                free_.use(to);
            }
        }
    }

    std::uint32_t place(waiting_task const& t, std::span<std::uint32_t const> free, double now) override {
        if (!places_) return any;
        std::uint32_t best = 0;
        double speed = -1;
        for (std::uint32_t i = 0; i < free.size(); ++i)
            if (double const s = truth_->speed(free[i]); s > speed) {
                speed = s;
                best = i;
            }
        if (!(speed > 0)) return wait;
        // The time until one of the faster slots is free, if all waiting tasks go there and they can carry
        // the load.
        double fast = 0, fastest = 0;
        for (std::uint32_t n = 0; n < nodes_.size(); ++n)
            if (double const s = truth_->speed(n); s > 1.2 * speed && !nodes_[n].away) {
                fast += s * nodes_[n].slots;
                fastest = std::max(fastest, s);
            }
        double const work = truth_->work(t.job, t.task);
        bool const bear = arrived_ < 0.75 * fast * now;
        if (bear && (waiting_ + 1) * work / fast + work / fastest < work / speed) return wait;
        return best;
    }

  private:
    void see_new_jobs(cluster_view const& view) {
        for (job_view const& job : view.jobs) {
            if (!seen_.insert(job.job).second) continue;
            for (std::uint32_t t = 0; t < job.tasks; ++t) arrived_ += truth_->work(job.job, t);
        }
    }

    // Whether a copy shortens the task by more than it costs, over all luck that both may have. With a
    // deadline, only time after it counts, and missing it counts as much as four times the task.
    bool pays(running_attempt const& a, double here, double there, double price, std::optional<double> due) {
        double const work = truth_->work(a.job, a.task);
        if (!(here > 0)) return true;
        std::span<double const> const luck = truth_->luck(a.job);
        double const done = truth_->done(a) / work;
        auto const known = truth_->left(a);
        auto const from =
            static_cast<std::size_t>(std::upper_bound(luck.begin(), luck.end(), done) - luck.begin());
        if (!known && from == luck.size()) return false;
        constexpr std::size_t parts = 16;
        double rest = 0, first = 0; // means: of the remaining time, of when the first of the two ends,
        double gain = 0;            // of the worth of that
        auto const worth = [&](double end) {
            return !due ? end : end > *due ? end - std::max(*due, 0.0) + (*due > 0 ? 4 * work : 0.0) : 0.0;
        };
        for (std::size_t i = 0; i < parts; ++i) {
            double const r =
                known ? *known / here
                      : work * (luck[from + (2 * i + 1) * (luck.size() - from) / (2 * parts)] - done) / here;
            rest += r / parts;
            for (std::size_t k = 0; k < parts; ++k) {
                double const both = std::min(r, work * luck[(2 * k + 1) * luck.size() / (2 * parts)] / there);
                first += both / (parts * parts);
                gain += (worth(r) - worth(both)) / (parts * parts);
            }
        }
        return (due ? gain : rest - first) > price * first;
    }

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

    bool copies_, places_, deadlines_;
    truth const* truth_ = nullptr;
    std::uint32_t waiting_ = 0;
    std::span<node_view const> nodes_;
    free_slots free_;
    std::set<std::uint32_t> seen_; // jobs
    double arrived_ = 0;           // work
};

add_policy const
    added({"oracle", "knows true speeds and sizes, neither luck nor future; a yardstick", false,
           [](setup const&) -> std::unique_ptr<policy> { return std::make_unique<oracle>(true, true); }});
add_policy const
    due({"oracle_deadlines", "the oracle, its copies for deadlines", false,
         [](setup const&) -> std::unique_ptr<policy> { return std::make_unique<oracle>(true, true, true); },
         true});
add_policy const placements(
    {"oracle_places_only", "the oracle, without its copies", false,
     [](setup const&) -> std::unique_ptr<policy> { return std::make_unique<oracle>(false, true); }, true});

add_policy const copies(
    {"oracle_copies_only", "the oracle, tasks placed anywhere", false,
     [](setup const&) -> std::unique_ptr<policy> { return std::make_unique<oracle>(true, false); }, true});

} // namespace

} // namespace lab
