// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Dynamic server blacklisting, exactly as in the paper, as a configuration of the library's parts: its
/// ranking, both of its blacklists, and the loop that ranks every window from scratch, alone or in a
/// mitigator. The library's defaults need no preset: they apply when nothing is specified.
///
/// | | `papers::dsb_2019` | default | why the default differs |
/// |---|---|---|---|
/// | smallest job | 2 tasks | 5 tasks | two tasks always score +1 and -1: noise |
/// | deviation in the interval | population | sample | population makes it too short, 29 % at n = 2 |
/// | attempts that count | every success | first completion of a task | a second success is no new task |
/// | edge rule | closed | closed | the paper prints both `<=` and `<`; see `edge_rule` |
/// | which nodes are weak | level 0 | `slower_by{}` | level 0 blames healthy nodes |
/// | limits | none | at most a fifth of the slots | a blacklist must not take a cluster down |
/// | release | with every window | escalating, on probation | an avoided node has no evidence: it relapses |
///
/// Source: X. Ouyang, C. Wang, J. Xu, Mitigating stragglers to avoid QoS violation for time-critical
/// applications through dynamic server blacklisting, Future Generation Computer Systems 101 (2019),
/// doi:10.1016/j.future.2019.07.017.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/random.hpp>
#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/exclusion.hpp>
#include <straggle/blacklist/ranking_stage.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>
#include <straggle/blacklist/windowed_blacklist.hpp>
#include <straggle/evaluate/usual_time.hpp>
#include <straggle/rank/monitor.hpp>
#include <straggle/rank/monitor_options.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/p_cores.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/record/limit.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::papers::dsb_2019 {

/// Defines a straggler (section 3.1, there against the mean of its job): a task that takes more than 1.5
/// times the usual time.
inline constexpr evaluate::straggler_rule straggler{.threshold = 1.5};

/// Equation 1, algorithm 2 and algorithm 3, for `rank_nodes` and `monitor`.
/// @param level confidence of the intervals; the paper's is 0.95
/// @par Example
/// `auto ranking = rank_nodes(attempts, fields, papers::dsb_2019::ranking());`
[[nodiscard]] inline rank_options<> ranking(stats::confidence_level level = 0.95) noexcept {
    return {.normalizer = rank::z_score{.min_tasks = 2},
            .estimator = {stats::t_interval(level, stats::deviation_kind::population)},
            .ranker = rank::p_cores(rank::edge_rule::closed),
            .counted = completions::every_success};
}

/// *P-Cores without number* (section 4.2.3): all of level 0, no limit.
/// @par Example
/// `auto decision = papers::dsb_2019::blacklist().decide(ranking);`
[[nodiscard]] inline auto blacklist() {
    return blacklister(straggle::blacklist::weakest_level{}, record::unlimited{});
}

/// *P-Cores with number* (section 4.2.4): at most k nodes of level 0, the last places drawn with the engine.
/// @param k maximum number of nodes on the blacklist
/// @param engine must outlive the answer
/// @param where `next_levels` for k of 4 and 5 in figure 9, which may exceed level 0
template <base::random_engine Engine>
[[nodiscard]] auto blacklist(std::size_t k, Engine& engine,
                             straggle::blacklist::fill_from where = straggle::blacklist::fill_from::level_0) {
    return blacklister(straggle::blacklist::top_k_intersection(k, engine, where), record::unlimited{});
}

/// Algorithm 1 and *P-Cores without number*, or another selection: adds tasks as they end, and at the end of
/// each time window ranks all nodes by the tasks of that window and builds a new blacklist. Nothing is
/// remembered between windows: a node leaves the list by not being on the next one.
///
/// Source: algorithm 1 and section 4.2.4, last paragraph. A blacklisted node runs no new tasks, so it has no
/// scores in the next window, is on no level, and is released, weak or not: it stays only while its earlier
/// tasks still end there. `blacklist::probation` is the remedy. A window in which nothing was decided gets no
/// blacklist; the paper's loop sleeps for exactly one window.
/// @tparam Record the user's record of an attempt
/// @param fields maps the members of a record: an `attempt_fields` with an `end`
/// @param window the paper's TimeWindow
/// @param selection without or with number
/// @return a `windowed_blacklist`
/// @pre `window` is more than zero
/// @par Example
/// `auto loop = papers::dsb_2019::loop_of<attempt>(fields, 600);  loop.observe(ended);
/// for (auto const& v : loop.decide(now).blacklisted()) ...`
template <class Record, class Fields, class Selection = straggle::blacklist::weakest_level>
[[nodiscard]] auto loop_of(Fields fields, typename monitor<Record, Fields>::span_type window,
                           Selection selection = {}) {
    using monitor_type = monitor<Record, Fields>;
    STRAGGLE_EXPECTS(window > typename monitor_type::span_type{});
    return windowed_blacklist(
        monitor_type(std::move(fields),
                     {.window = window, .ranking = ranking(), .baseline = score_baseline::window}),
        rolling_blacklister_of<typename monitor_type::node_id>(
            std::move(selection), straggle::blacklist::rerank_every_window{}, record::unlimited{}));
}

/// The same as stage 1 of a mitigator: `mitigate::stages{.nodes = papers::dsb_2019::nodes(600)}`.
/// @param window the paper's TimeWindow, in the unit of the mitigator's times
/// @param selection without or with number
/// @pre `window` is more than zero
template <class Selection = straggle::blacklist::weakest_level>
[[nodiscard]] auto nodes(double window, Selection selection = {}) {
    return straggle::blacklist::ranking_stage(
        monitor_options<double>{.window = window, .ranking = ranking(), .baseline = score_baseline::window},
        rolling_blacklister_of<std::uint32_t>(
            std::move(selection), straggle::blacklist::rerank_every_window{}, record::unlimited{}));
}

} // namespace straggle::papers::dsb_2019
