// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Yardsticks for exclusions, not rivals: what exclusions could gain if weak nodes were known from their
/// first second. They know how fast every node is now and how much work has arrived, and only take nodes out
/// of service.
#include "make_policy.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

namespace lab {

namespace {

// The worst nodes are out, within the limit of the library and while the others can carry the work; other
// slow nodes are last resorts.
class oracle_nodes final : public policy {
  public:
    /// @param share of the slots that may be out
    /// @param bearable load on the remaining nodes
    oracle_nodes(double share, double bearable) : share_(share), bearable_(bearable) {}

    void on_start(truth const& knows) override { truth_ = &knows; }

    void decide(cluster_view const& view, decisions& out) override {
        see_new_jobs(view);
        order_.clear();
        speeds_.clear();
        double slots = 0, capacity = 0;
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n) {
            if (view.nodes[n].away) continue;
            double const speed = truth_->speed(n);
            order_.push_back(n);
            speeds_.push_back(speed);
            slots += view.nodes[n].slots;
            capacity += speed * view.nodes[n].slots;
        }
        out.nodes.assign(view.nodes.size(), service::normal);
        if (order_.empty()) return;
        auto const middle = speeds_.begin() + static_cast<std::ptrdiff_t>(speeds_.size() / 2);
        std::nth_element(speeds_.begin(), middle, speeds_.end());
        double const slow = *middle / 1.1;
        std::erase_if(order_, [&](std::uint32_t n) { return truth_->speed(n) >= slow; });
        std::sort(order_.begin(), order_.end(),
                  [this](std::uint32_t a, std::uint32_t b) { return truth_->speed(a) < truth_->speed(b); });
        double const rate = view.now > 0 ? arrived_ / view.now : 0;
        double taken = 0, left = capacity;
        for (std::uint32_t const n : order_) {
            double const mine = view.nodes[n].slots, speed = truth_->speed(n);
            bool const few =
                share_ > 0 && (taken + mine <= share_ * slots || (!(taken > 0) && 2 * mine <= slots));
            bool const is_out = few && (!(speed > 0) || rate < bearable_ * (left - speed * mine));
            out.nodes[n] = is_out ? service::none : service::last_resort;
            if (!is_out) continue;
            taken += mine;
            left -= speed * mine;
        }
    }

  private:
    void see_new_jobs(cluster_view const& view) {
        for (job_view const& job : view.jobs) {
            if (!seen_.insert(job.job).second) continue;
            for (std::uint32_t t = 0; t < job.tasks; ++t) arrived_ += truth_->work(job.job, t);
        }
    }

    double share_, bearable_;
    truth const* truth_ = nullptr;
    std::vector<std::uint32_t> order_;
    std::vector<double> speeds_;
    std::set<std::uint32_t> seen_; // jobs
    double arrived_ = 0;           // work
};

add_policy const exclusions(
    {"oracle_nodes_only", "excludes weak nodes from their first second, as far as limit and load allow",
     false, [](setup const&) -> std::unique_ptr<policy> { return std::make_unique<oracle_nodes>(0.2, 0.8); },
     true});
add_policy const resorts(
    {"oracle_resorts_only", "weak nodes are last resorts from their first second", false,
     [](setup const&) -> std::unique_ptr<policy> { return std::make_unique<oracle_nodes>(0, 0); }, true});

} // namespace

} // namespace lab
