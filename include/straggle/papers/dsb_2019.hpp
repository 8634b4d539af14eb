// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The papers to the letter, under their names. The library's own defaults need no preset: they are what
/// every part does when nothing is said.
///
/// | | `dsb_2019` | default | why the default differs |
/// |---|---|---|---|
/// | smallest job | 2 tasks | 5 tasks | two tasks always score +1 and -1: noise |
/// | deviation in the interval | population | sample | population makes it too short, 29 % at n = 2 |
/// | attempts that count | every success | first completion of a task | a second success is no new task |
/// | edge rule | closed | closed | the paper prints both `<=` and `<`; see `edge_rule` |
/// | who is weak | level 0 | `dominated{0.5}`; keepers: `clearly_dominated` | level 0 blames healthy nodes |
/// | limits | none | at most a fifth of the slots | a blacklist must not take a cluster down |
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::papers {

/// Dynamic server blacklisting as printed: X. Ouyang, C. Wang, J. Xu, Mitigating stragglers to avoid QoS
/// violation for time-critical applications through dynamic server blacklisting, Future Generation Computer
/// Systems 101 (2019), doi:10.1016/j.future.2019.07.017.
/// @par Example
/// `auto ranking = rank_nodes(attempts, fields, dsb_2019.ranking());`
/// `auto decision = dsb_2019.blacklist().decide(ranking);`
struct dsb_2019_preset {
    /// Equation 1, algorithm 2 and algorithm 3.
    [[nodiscard]] rank_options<> ranking(stats::confidence_level level = 0.95) const noexcept {
        return {.normalizer = rank::z_score{.min_tasks = 2},
                .interval_of_mean = stats::t_interval(level, stats::deviation_kind::population),
                .edges = rank::edge_rule::closed,
                .counted = completions::every_success};
    }
    /// *P-Cores without number* (section 4.2.3): all of level 0, no limit.
    [[nodiscard]] auto blacklist() const {
        return blacklister(blacklist::weakest_level{}, record::unlimited{});
    }
    /// *P-Cores with number* (section 4.2.4): at most k of level 0, the last places drawn by the engine.
    template <base::random_engine Engine>
    [[nodiscard]] auto blacklist(std::size_t k, Engine& engine) const {
        return blacklister(blacklist::top_k_intersection(k, engine), record::unlimited{});
    }
};

/// The DSB paper to the letter.
inline constexpr dsb_2019_preset dsb_2019{};

} // namespace straggle::papers
