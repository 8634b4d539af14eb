// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What RiskI remembers of tasks: what they were, where they ran, what ran beside them, how long they took.
#pragma once

#include "../cluster/policy.hpp"

#include <straggle/papers/riski_2014.hpp>
#include <straggle/predict/similar_tasks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace riski {

/// How many attempts ran on each machine, over time.
class occupancy {
  public:
    void note(cluster::cluster_view const& view) {
        moment next{view.now, std::vector<double>(view.nodes.size()), std::vector<double>(view.nodes.size())};
        for (std::size_t n = 0; n < view.nodes.size(); ++n) {
            next.used[n] = view.nodes[n].used;
            next.area[n] = moments_.empty() ? 0 : area(moments_.back(), n, view.now);
        }
        moments_.push_back(std::move(next));
    }
    /// Mean number of attempts on a machine over a time.
    double mean(std::uint32_t node, double from, double to) const {
        if (moments_.empty() || !(to > from)) return 1;
        return (area_until(node, to) - area_until(node, from)) / (to - from);
    }

  private:
    struct moment {
        double at;
        std::vector<double> used, area;
    };
    static double area(moment const& m, std::size_t node, double until) {
        return m.area[node] + m.used[node] * (until - m.at);
    }
    double area_until(std::uint32_t node, double t) const {
        auto const after = std::upper_bound(moments_.begin(), moments_.end(), t,
                                            [](double x, moment const& m) { return x < m.at; });
        return after == moments_.begin() ? 0 : area(*(after - 1), node, t);
    }

    std::vector<moment> moments_;
};

/// A remembered task. The factors are the paper's general ones (section 5.3), as far as tasks differ in them
/// here.
struct execution {
    std::uint32_t work = 0; ///< which job, and which phase of it
    std::uint32_t node = 0;
    double input = 1;
    double beside = 1; ///< attempts on the machine at the same time, itself among them
    double took = 0;
};

inline constexpr straggle::predict::task_profile profile{
    .node = &execution::node,
    .time = &execution::took,
    .factors = straggle::predict::factors(straggle::predict::categorical(&execution::work, "job"),
                                          straggle::predict::numeric(&execution::input, "input"),
                                          straggle::predict::numeric(&execution::beside, "beside"))};

/// The same where equal factors make one profile, as in the paper: the number of attempts beside it is a
/// whole number, and its size one of a few.
inline constexpr straggle::predict::task_profile profile_of_paper{
    .node = &execution::node,
    .time = &execution::took,
    .factors = straggle::predict::factors(
        straggle::predict::categorical(&execution::work, "job"),
        straggle::predict::numeric([](execution const& e) { return std::round(20 * e.input) / 20; }, "input"),
        straggle::predict::numeric([](execution const& e) { return std::round(e.beside); }, "beside"))};

/// The library's predictor: the ten most similar tasks.
struct similar_tasks {
    straggle::predict::similar_tasks<execution, std::remove_const_t<decltype(profile)>> model{
        profile, {.capacity = 20'000}};
    void observe(execution const& e) { model.observe(e); }
    auto predict(execution const& e, std::uint32_t node, straggle::predict::prediction_scratch& scratch) {
        return model.predict(e, node, scratch);
    }
    auto remaining(execution const& e, double elapsed, straggle::predict::prediction_scratch& scratch) {
        return model.remaining(e, e.node, elapsed, scratch);
    }
    double usual(execution const& e, straggle::predict::prediction_scratch& scratch) {
        return model.usual_time(e, scratch).value_or(0);
    }
};

/// The paper's predictor (algorithm 1): all times of the one most similar profile of the node.
/// @tparam Reading `corrected` or `as_printed`
template <class Reading>
struct most_similar_profile {
    straggle::papers::riski_2014::predictor<execution, std::remove_const_t<decltype(profile_of_paper)>,
                                            Reading>
        model{profile_of_paper};
    straggle::stats::empirical left; // its answers are valid until the next query
    void observe(execution const& e) { model.observe(e); }
    auto predict(execution const& e, std::uint32_t node, straggle::predict::prediction_scratch&) {
        return model.predict(e, node);
    }
    straggle::outcome<straggle::stats::empirical_view> remaining(execution const& e, double elapsed,
                                                                 straggle::predict::prediction_scratch&) {
        auto const times = model.remaining(e, e.node, elapsed);
        if (!times) return times.reason();
        std::vector<double> all;
        for (std::size_t i = 0; i < times->size(); ++i) all.push_back((*times)[i]);
        left.assign(all);
        return left.view();
    }
};

/// Learns from all attempts that finish.
template <class Tasks>
class history_with {
  public:
    /// @param kinds what each job is
    explicit history_with(std::vector<std::string> kinds) : kinds_(std::move(kinds)) {}

    void note(cluster::cluster_view const& view) { occupancy_.note(view); }
    /// @return what is remembered of the attempt
    execution describe(cluster::attempt_record const& a) {
        return {work_of(a.job, a.phase), a.node, a.input, occupancy_.mean(a.node, a.start, a.end), a.took()};
    }
    void ended(cluster::attempt_record const& a) {
        if (a.how == cluster::ending::finished) tasks.observe(describe(a));
    }
    /// A running task, with the number of others beside it so far.
    execution describe(std::uint32_t job, std::uint32_t phase, cluster::running_view const& t, double now) {
        return {work_of(job, phase), t.node, t.input, occupancy_.mean(t.node, t.start, now), 0};
    }

    Tasks tasks{};

  private:
    std::uint32_t work_of(std::uint32_t job, std::uint32_t phase) {
        std::string const& kind = kinds_[job];
        auto const name = works_.try_emplace(kind, static_cast<std::uint32_t>(works_.size())).first->second;
        return 2 * name + (first_phase_.try_emplace(job, phase).first->second == phase ? 0 : 1);
    }

    std::vector<std::string> kinds_;
    occupancy occupancy_;
    std::map<std::string, std::uint32_t> works_;
    std::map<std::uint32_t, std::uint32_t> first_phase_;
};

using history = history_with<similar_tasks>;
template <class Reading>
using history_of_paper = history_with<most_similar_profile<Reading>>;

} // namespace riski
