// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/progress_gap.hpp>

#include "jobs.hpp"

#include <support/seed.hpp>

using namespace straggle;
using namespace straggle_test;

namespace {

// Names every task, the last first, and says something.
struct everybody {
    static constexpr char const* name = "everybody";
    detect::detection_note detect(detect::job_view const& job, detect::detector_scratch& scratch,
                                  std::vector<detect::finding>& out) const {
        scratch.values.assign(3, 1.0);
        for (std::uint32_t i = static_cast<std::uint32_t>(job.running.size()); i-- > 0;)
            out.push_back({i, static_cast<double>(i), 5, 6});
        return detect::detection_note::cap_reached;
    }
};

job_data on_nodes(std::vector<detect::running_task> tasks, std::size_t nodes) {
    job_data job;
    job.running = std::move(tasks);
    job.nodes.resize(nodes);
    return job;
}

} // namespace

TEST_CASE("hierarchical: by hand") {
    // Speeds 0.1 0.3 | 0.2 | 0.05 0.25: nodes 0.2, 0.2, 0.15, mean 0.18333; 90 % of it is 0.165
    auto const job = on_nodes({{.progress = 0.1, .elapsed = 1, .node = 0},
                               {.progress = 0.3, .elapsed = 1, .node = 0},
                               {.progress = 0.2, .elapsed = 1, .node = 1},
                               {.progress = 0.05, .elapsed = 1, .node = 2},
                               {.progress = 0.25, .elapsed = 1, .node = 2}},
                              4);
    auto const a = ask(detect::hierarchical{everybody{}}, job);
    CHECK(a.tasks() == places{4, 3});
    CHECK(a.note == detect::detection_note::cap_reached); // what the base said
    CHECK(a.suspects[0] == detect::finding{4, 4, 5, 6});  // and its evidence
    CHECK(ask(detect::hierarchical{everybody{}, 0.8}, job).tasks().empty());
    CHECK(ask(detect::hierarchical{everybody{}, 1.1}, job).tasks() == places{4, 3, 2, 1, 0});
    // On its own the rule of the paper names more.
    CHECK(ask(detect::progress_gap{.gap = 0.05}, job).tasks() == places{3, 0});
    CHECK(ask(detect::hierarchical{detect::progress_gap{.gap = 0.05}}, job).tasks() == places{3});
}

TEST_CASE("hierarchical: the speed is in input, not in progress") {
    auto job =
        on_nodes({{.progress = 0.1, .elapsed = 1, .node = 0}, {.progress = 0.3, .elapsed = 1, .node = 1}}, 2);
    CHECK(ask(detect::hierarchical{everybody{}}, job).tasks() == places{0});
    job.running[0].input = 3;
    CHECK(ask(detect::hierarchical{everybody{}}, job).tasks().empty());
    job.running[0].input = 9;
    CHECK(ask(detect::hierarchical{everybody{}}, job).tasks() == places{1});
}

TEST_CASE("hierarchical: one node, no speed, nothing done") {
    CHECK(ask(detect::hierarchical{everybody{}}, on_nodes({}, 0)).suspects.empty());
    CHECK(ask(detect::hierarchical{everybody{}}, on_nodes({{.progress = 0.1, .elapsed = 9}}, 1))
              .suspects.empty());
    CHECK(ask(detect::hierarchical{everybody{}}, on_nodes({{.elapsed = 0}, {.elapsed = 0, .node = 1}}, 2))
              .suspects.empty());
    CHECK(ask(detect::hierarchical{everybody{}}, on_nodes({{.elapsed = 5}, {.elapsed = 5, .node = 1}}, 2))
              .suspects.empty());
    // Who has just begun does not make its node slow, and is on a slow node all the same.
    CHECK(ask(detect::hierarchical{everybody{}}, on_nodes({{.progress = 0.5, .elapsed = 1, .node = 0},
                                                           {.progress = 0.0, .elapsed = 0, .node = 0},
                                                           {.progress = 0.5, .elapsed = 1, .node = 1},
                                                           {.progress = 0.1, .elapsed = 1, .node = 2},
                                                           {.progress = 0.0, .elapsed = 0, .node = 2},
                                                           {.progress = 0.0, .elapsed = 0, .node = 3}},
                                                          4))
              .tasks() == places{4, 3});
    double const nan = std::nan("");
    CHECK(ask(detect::hierarchical{everybody{}}, on_nodes({{.progress = nan, .elapsed = 1, .node = 0},
                                                           {.progress = 0.5, .elapsed = 1, .node = 1},
                                                           {.progress = 0.1, .elapsed = 1, .node = 2}},
                                                          0)) // nor does the view have to list its nodes
              .tasks() == places{2});
}

TEST_CASE("hierarchical: names") {
    CHECK(detect::hierarchical<detect::progress_gap>::name == "hierarchical(progress_gap)");
    CHECK(detect::hierarchical<detect::hierarchical<detect::late>>::name ==
          "hierarchical(hierarchical(late))");
    CHECK(detect::hierarchical<everybody>::name == "hierarchical(everybody)");
}

TEST_CASE("hierarchical: as defined, on random jobs") {
    std::uint64_t const seed = seed_or(4);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::size_t found = 0, dropped = 0;
    for (int i = 0; i < 600; ++i) {
        job_data job = random_job(engine);
        detect::job_view const view = job.view();
        std::vector<double> performance;
        std::vector<double> of_node(view.nodes.size(), std::nan(""));
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n) {
            double sum = 0, count = 0;
            for (detect::running_task const& t : view.running) {
                if (t.node != n || !(t.elapsed > 0)) continue;
                sum += t.progress * t.input / t.elapsed;
                count += 1;
            }
            if (count > 0) performance.push_back(of_node[n] = sum / count);
        }
        double const mean = std::accumulate(performance.begin(), performance.end(), 0.0) /
                            static_cast<double>(performance.size());
        auto const base = ask(detect::late{.alpha = 0.5}, view);
        places wanted;
        bool close = false;
        for (auto const& s : base.suspects) {
            double const speed = of_node[view.running[s.task].node];
            close = close || std::fabs(speed - 0.9 * mean) < 1e-11 * mean;
            if (speed < 0.9 * mean) wanted.push_back(s.task);
        }
        if (close) continue;
        auto const a = ask(detect::hierarchical{detect::late{.alpha = 0.5}}, view);
        CHECK(a.tasks() == wanted);
        CHECK(a.note == base.note);
        found += wanted.size();
        dropped += base.suspects.size() - wanted.size();
    }
    CHECK(found > 500);
    CHECK(dropped > 500);
}

TEST_CASE("hierarchical allocates nothing the second time") {
    CHECK(allocations_of_second_look(detect::hierarchical{detect::late{}}, 14) == 0);
}
