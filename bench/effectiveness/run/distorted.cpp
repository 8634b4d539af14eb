// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "distorted.hpp"

#include "../cluster/draw.hpp"

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace lab {

namespace {

enum purpose : std::uint64_t { of_ends = 41, of_reports = 42, of_clocks = 43 };

class distorted_policy final : public policy {
  public:
    distorted_policy(std::unique_ptr<policy> of, distortions const& how, std::uint64_t seed)
        : of_(std::move(of)), how_(how), seed_(seed) {}

    void on_start(truth const& knows) override { of_->on_start(knows); }
    void on_task_end(attempt_record const& ended, double now) override {
        reports_.erase({ended.job, ended.task, ended.number});
        attempt_record a = ended;
        a.start += ahead(a.node);
        a.end += ahead(a.node);
        double const late = how_.late_ends * draw(seed_, of_ends, a.job, a.task, a.number).uniform();
        coming_.emplace(now + late, a);
        pass_on(now);
    }
    void on_job_end(std::uint32_t job, double now) override { of_->on_job_end(job, now); }
    bool is_due(double now) override {
        pass_on(now);
        return of_->is_due(now);
    }
    void decide(cluster_view const& view, decisions& out) override {
        running_.assign(view.running.begin(), view.running.end());
        for (running_attempt& a : running_) distort(a);
        cluster_view seen = view;
        seen.running = running_;
        if (wants_.nodes.empty()) wants_.nodes = out.nodes;
        wants_.copies.clear();
        wants_.kills.clear();
        of_->decide(seen, wants_);
        if (++plans_ % how_.obeys != 0) return;
        out.nodes = wants_.nodes;
        if (how_.excludes_only) return;
        out.copies.insert(out.copies.end(), wants_.copies.begin(), wants_.copies.end());
        out.kills.insert(out.kills.end(), wants_.kills.begin(), wants_.kills.end());
    }
    std::uint32_t place(waiting_task const& t, std::span<std::uint32_t const> free, double now) override {
        return how_.excludes_only ? any : of_->place(t, free, now);
    }
    std::span<cause_claim const> claims() const override { return of_->claims(); }

  private:
    using attempt_key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    struct report {
        double last = 0; // the last one sent
        std::optional<double> progress{};
        double reported = 0; // of the last one that arrived
    };

    double ahead(std::uint32_t node) const { return how_.skew * draw(seed_, of_clocks, node).uniform(-1, 1); }
    void pass_on(double now) {
        while (!coming_.empty() && coming_.begin()->first <= now) {
            attempt_record const a = coming_.begin()->second;
            coming_.erase(coming_.begin());
            of_->on_task_end(a, now);
        }
    }
    void distort(running_attempt& a) {
        if (how_.lost_reports > 0) {
            report& r =
                reports_.try_emplace({a.job, a.task, a.number}, report{a.start, {}, a.start}).first->second;
            if (a.reported > r.last) {
                r.last = a.reported;
                draw arrives(seed_, of_reports, a.job, (std::uint64_t{a.task} << 32) + a.number,
                             static_cast<std::uint64_t>(a.reported * 1000));
                if (arrives.uniform() >= how_.lost_reports) {
                    r.progress = a.progress;
                    r.reported = a.reported;
                }
            }
            a.progress = r.progress;
            a.reported = r.reported;
        }
        a.start += ahead(a.node);
        a.reported += ahead(a.node);
    }

    std::unique_ptr<policy> of_;
    distortions how_;
    std::uint64_t seed_;
    std::uint64_t plans_ = 0;
    std::multimap<double, attempt_record> coming_;
    std::map<attempt_key, report> reports_;
    std::vector<running_attempt> running_;
    decisions wants_;
};

} // namespace

std::unique_ptr<policy> distorted(std::unique_ptr<policy> of, distortions const& how, std::uint64_t seed) {
    if (how == distortions{}) return of;
    return std::make_unique<distorted_policy>(std::move(of), how, seed);
}

} // namespace lab
