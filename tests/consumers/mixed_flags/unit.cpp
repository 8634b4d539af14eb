// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// One unit of the three: uses every kernel of the library, and nothing of it is in an unnamed namespace, so
// that a function which two units share is a weak symbol of both. UNIT is the name of its function.
#include "records.hpp"

#include <straggle/evaluate.hpp>
#include <straggle/learn.hpp>
#include <straggle/papers/dsb_2019.hpp>
#include <straggle/papers/evaluation_2019.hpp>
#include <straggle/papers/ml_na_2017.hpp>
#include <straggle/papers/riski_2014.hpp>
#include <straggle/straggle.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

results UNIT() {
    using namespace straggle;
    results out;
    std::vector<attempt> const attempts = attempts_of_a_cluster();
    attempt_fields const ticks{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};
    attempt_fields const reals{.job = &attempt::job,
                               .node = &attempt::host,
                               .duration = &attempt::seconds,
                               .input = &attempt::input};

    // stats
    for (double p : {0.9, 0.975, 0.999}) out.push_back(stats::student_t_quantile(p, 7.5).value_or(0));
    stats::student_t_critical const critical(0.95);
    out.push_back(critical(12));
    stats::empirical times;
    times.assign(std::vector<double>{3, 1, 2, 5, 4, 8});
    out.push_back(times.view().mean().value_or(0) + times.view().quantile(0.5).value_or(0));

    // rank
    auto const by_ticks = rank_nodes(attempts, ticks);
    auto const by_reals = rank_nodes(attempts, reals);
    auto const by_rate = rank_nodes(attempts, reals, rank_options{.normalizer = rank::work_rate<>{}});
    auto const robust = rank_nodes(attempts, reals, rank_options{.normalizer = rank::robust_z{}});
    for (auto const& node : by_ticks.nodes()) out.push_back(node.mean);
    for (auto const& node : by_reals.nodes()) out.push_back(node.ci.high);
    out.push_back(static_cast<double>(by_rate.nodes().size() + robust.nodes().size()));
    std::vector<double> low, high;
    for (std::size_t i = 0; i < 300; ++i) {
        low.push_back(static_cast<double>(i * 37 % 101));
        high.push_back(low.back() + 7);
    }
    std::vector<std::uint32_t> level(low.size());
    rank::p_cores cores;
    out.push_back(static_cast<double>(cores.levels(low, high, level).value_or(0)));

    // monitor, blacklist, mitigate
    auto watched = monitor_of<attempt>(ticks);
    for (attempt const& a : attempts) watched.observe(a);
    out.push_back(static_cast<double>(watched.rank().nodes().size()));
    blacklister chooser{blacklist::dominated{}, blacklist::at_most{2}};
    auto const decision = chooser.decide(by_ticks);
    out.push_back(static_cast<double>(decision.blacklisted().size()));
    blacklister top{blacklist::top_k_intersection(3)};
    (void)top.decide(by_ticks);
    rolling_blacklister<int> over_time;
    over_time.decide(by_ticks, 1);
    out.push_back(static_cast<double>(over_time.decision().blacklisted().size()));

    // What a blacklist decides by over time.
    node_stage decisions;
    std::vector<blacklist::node_row> fleet;
    for (std::uint32_t n = 0; n < 9; ++n) fleet.push_back({.node = n, .slots = 2});
    for (std::uint64_t i = 0; i < 900; ++i) {
        auto const node = static_cast<std::uint32_t>(i % 9);
        double const end = 100.0 * static_cast<double>(i / 60 + 1), took = node == 3 ? 90.0 : 30.0;
        decisions.observe({.node = node, .job = i / 60, .task = i, .start = end - took, .end = end}, end);
        if (i % 60 == 59) decisions.decide(end, {}, fleet, {});
    }
    out.push_back(static_cast<double>(decisions.verdicts().size()));

    // detect
    detect::job_progress<int, double> job(60);
    for (int i = 0; i < 40; ++i) job.observe(i % 8, 10.0 + i % 3, 1.0);
    std::vector<running_task> running;
    for (int i = 0; i < 20; ++i) running.push_back({i % 8, 0.05 * i, 90.0 - i % 5, 5.0 + i});
    job.running(running,
                running_fields{.node = &running_task::host,
                               .start = &running_task::started,
                               .progress = &running_task::progress},
                100.0);
    detect::straggler_scan late{detect::late{}};
    detect::straggler_scan mantri{detect::mantri{}};
    detect::straggler_scan over_median{detect::over_median{}};
    out.push_back(static_cast<double>(late(job.view()).size() + mantri(job.view()).size() +
                                      over_median(job.view()).size()));

    // predict
    auto history = predict::similar_tasks_of<attempt>(
        predict::task_profile{.node = &attempt::node,
                              .time = &attempt::seconds,
                              .factors = predict::factors(predict::numeric(&attempt::input, "input"))},
        {.capacity = 1000});
    for (attempt const& a : attempts) history.observe(a);
    if (auto const predicted = history.predict(attempts.front(), 1))
        out.push_back(predicted->mean().value_or(0));

    // assign
    assign::assigner planner{assign::expected_gain{}, assign::optimal_assignment{}};
    std::vector<machine> const machines{{10, 2}, {11, 1}, {12, 3}};
    out.push_back(planner
                      .choose(running,
                              assign::straggler_fields{.runs_on = &running_task::host,
                                                       .remaining = &running_task::left},
                              machines,
                              assign::backup_node_fields{.node = &machine::id, .free = &machine::free},
                              [](running_task const&, machine const& m) { return 2.0 + 0.1 * m.id; })
                      .profit);

    // mitigate: a node three times as slow, tasks that run there, decisions every minute
    auto all_in_one = mitigator_of<ended_task, live_task, machine>(
        attempt_fields{.job = &ended_task::job,
                       .task = &ended_task::task,
                       .node = &ended_task::node,
                       .start = &ended_task::start,
                       .end = &ended_task::end},
        running_fields{.job = &live_task::job,
                       .task = &live_task::task,
                       .node = &live_task::node,
                       .start = &live_task::start,
                       .progress = &live_task::progress},
        node_fields{.node = &machine::id, .slots = &machine::free});
    std::vector<machine> const hosts{{0, 4}, {1, 4}, {2, 4}, {3, 4}, {4, 4}, {5, 4}};
    for (int minute = 1; minute <= 20; ++minute) {
        double const now = 60.0 * minute;
        std::vector<live_task> live;
        for (int t = 0; t < 24; ++t) {
            double const took = t % 6 == 3 ? 150 + t : 50 + t % 5;
            if (now > took) all_in_one.observe({minute, t, t % 6, now - took, now - 1}, now);
            if (t % 3 == 0) live.push_back({minute, 100 + t, t % 6, now - 50, t % 6 == 3 ? 0.1 : 0.8});
        }
        auto const& plan = all_in_one.decide(now, live, hosts, {.waiting = 2});
        out.push_back(static_cast<double>(plan.copies().size() + plan.kills().size()));
        for (auto const& n : plan.nodes()) out.push_back(n.slow.value);
        out.push_back(static_cast<double>(all_in_one.rank_places(live.front(), hosts).size()));
    }

    // papers
    auto loop = papers::dsb_2019::loop_of<ended_task>(attempt_fields{.job = &ended_task::job,
                                                                     .node = &ended_task::node,
                                                                     .start = &ended_task::start,
                                                                     .end = &ended_task::end},
                                                      100.0);
    for (int t = 0; t < 90; ++t) {
        double const end = 2.0 * t, took = t % 9 == 3 ? 30.0 + t % 4 : 10.0 + t % 4;
        loop.observe(ended_task{t / 30, t, t % 9, end - took, end});
    }
    out.push_back(static_cast<double>(loop.decide(150.0).blacklisted().size()));
    detect::straggler_scan default_rule{papers::evaluation_2019::hadoop_default{}};
    detect::straggler_scan printed{papers::evaluation_2019::late_as_printed{}};
    detect::straggler_scan hierarchical{papers::evaluation_2019::hierarchical{}};
    out.push_back(static_cast<double>(default_rule(job.view()).size() + printed(job.view()).size() +
                                      hierarchical(job.view()).size()));
    auto risk = papers::riski_2014::predictor_of<attempt>(
        predict::task_profile{.node = &attempt::node,
                              .time = &attempt::seconds,
                              .factors = predict::factors(predict::numeric(&attempt::input, "input"))});
    for (attempt const& a : attempts) risk.observe(a);
    if (auto const predicted = risk.predict(attempts.front(), 1))
        out.push_back(predicted->mean().value_or(0));
    papers::riski_2014::assigner<> one_after_the_other;
    out.push_back(one_after_the_other
                      .choose(running,
                              assign::straggler_fields{.runs_on = &running_task::host,
                                                       .remaining = &running_task::left},
                              machines,
                              assign::backup_node_fields{.node = &machine::id, .free = &machine::free},
                              [](running_task const&, machine const& m) { return 2.0 + 0.1 * m.id; })
                      .profit);

    // learn
    std::vector<double> table;
    std::vector<std::uint8_t> labels;
    for (int i = 0; i < 400; ++i) {
        for (int c = 0; c < 4; ++c) table.push_back((i * (c + 3) % 17) + (i % 2) * c);
        labels.push_back(static_cast<std::uint8_t>(i % 2));
    }
    learn::feature_matrix<double> const rows(table, 4);
    learn::boosted_trees_trainer trees;
    if (trees.fit(rows, labels) == status::ok) out.push_back(trees.predict(rows.row(3)));
    learn::kmeans groups;
    std::mt19937_64 engine(7);
    learn::clustering found;
    if (groups.fit(rows) == status::ok && groups.group(3, engine, found) == status::ok)
        out.push_back(found.inertia);
    return out;
}
