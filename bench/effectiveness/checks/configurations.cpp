// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Rules of other systems decide as configurations of the mitigator what their independent implementations
/// decide: round by round, copy by copy. The cluster obeys the independent one, and both see the same.
#include "../cluster/engine.hpp"
#include "../policies/configuration.hpp"
#include "../policies/make_policy.hpp"
#include "../run/options.hpp"
#include "../scenarios/scenario.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace lab;

class side_by_side final : public policy {
  public:
    side_by_side(std::unique_ptr<policy> obeyed, std::unique_ptr<policy> other)
        : obeyed_(std::move(obeyed)), other_(std::move(other)) {}

    std::size_t rounds = 0, copies = 0, excluded = 0;
    std::size_t held_back = 0; // rounds with a decision that the loop's guard withholds
    std::size_t different = 0; // other rounds
    std::string first{};       // difference

    void on_task_end(attempt_record const& a, double now) override {
        obeyed_->on_task_end(a, now);
        other_->on_task_end(a, now);
    }
    void on_job_end(std::uint32_t job, double now) override {
        obeyed_->on_job_end(job, now);
        other_->on_job_end(job, now);
    }
    void decide(cluster_view const& view, decisions& out) override {
        if (obeyed_->is_due(view.now)) obeyed_->decide(view, out);
        said_.nodes.resize(view.nodes.size(), service::normal);
        said_.copies.clear();
        said_.kills.clear();
        other_->decide(view, said_);
        compare(view, out);
    }
    std::uint32_t place(waiting_task const& t, std::span<std::uint32_t const> free, double now) override {
        return obeyed_->place(t, free, now);
    }

  private:
    template <class Request>
    static auto sorted(std::vector<Request> const& requests) {
        std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> out;
        for (Request const& r : requests) out.push_back({r.job, r.task, r.node});
        std::sort(out.begin(), out.end());
        return out;
    }
    void compare(cluster_view const& view, decisions const& out) {
        ++rounds;
        copies += out.copies.size();
        for (service const s : out.nodes) excluded += s == service::none ? 1u : 0u;
        auto const alike = [&](std::size_t n) {
            return view.nodes[n].away || out.nodes[n] == said_.nodes[n];
        };
        bool nodes = true;
        for (std::size_t n = 0; n < out.nodes.size(); ++n) nodes = nodes && alike(n);
        if (sorted(out.copies) == sorted(said_.copies) && sorted(out.kills) == sorted(said_.kills) && nodes)
            return;
        auto const* const guarded = dynamic_cast<configuration const*>(other_.get());
        if (guarded != nullptr && guarded->is_held_back()) {
            ++held_back;
            return;
        }
        if (++different > 1) return;
        first = std::to_string(view.now) + ": " + describe(out) + "; configured: " + describe(said_);
    }
    static std::string describe(decisions const& d) {
        std::string out;
        for (auto const& [job, task, node] : sorted(d.copies))
            out += std::to_string(job) + '.' + std::to_string(task) + " on " + std::to_string(node) + ' ';
        for (std::size_t n = 0; n < d.nodes.size(); ++n)
            if (d.nodes[n] != service::normal) out += "without " + std::to_string(n) + ' ';
        return out;
    }

    std::unique_ptr<policy> obeyed_, other_;
    decisions said_;
};

void compare(char const* rule, char const* configuration, bool with_absences = true) {
    std::size_t compared = 0, rounds = 0, copies = 0, excluded = 0, held_back = 0;
    for (scenario const& s :
         read_scenarios(std::filesystem::path(LAB_FOLDER) / "scenarios" / "scenarios.csv")) {
        if (s.needs_histories() || s.nodes > 60 || (s.away > 0 && !with_absences) || compared == 24) continue;
        ++compared;
        plan p = make_plan(s, first_tuning_seed, {});
        p.jobs.resize(std::min<std::size_t>(p.jobs.size(), 25)); // to save time
        setup const where{
            .nodes = s.nodes, .slots = s.nodes * s.slots, .heartbeat = p.heartbeat, .seed = p.seed};
        side_by_side both(find_policy(rule).make(where), find_policy(configuration).make(where));
        run(p, both);
        CAPTURE(rule);
        CAPTURE(s.name);
        CAPTURE(both.first);
        CHECK(both.different == 0);
        rounds += both.rounds;
        copies += both.copies;
        excluded += both.excluded;
        held_back += both.held_back;
    }
    MESSAGE(std::string(rule) << ": " << compared << " scenarios, " << rounds << " rounds, " << copies
                              << " copies, " << excluded << " rounds of a node without service; " << held_back
                              << " rounds held back");
    CHECK(compared >= 20);
    CHECK(copies + excluded > 100);
    // The one difference: after a pause the loop's guard distrusts the clock until an attempt could have
    // ended.
    CHECK(held_back < 5);
}

TEST_CASE("rules decide as configurations of the mitigator as they do alone") {
    compare("late", "late_configured");
    compare("spark", "spark_configured");
    compare("spark4", "spark4_configured");
    compare("hadoop", "hadoop_configured");
    compare("flink", "flink_configured");
    compare("dsb_alone", "dsb", false); // only a mitigator's plan takes a node for present when it returns
}

} // namespace
