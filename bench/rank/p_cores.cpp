// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// All P-Cores levels of a fleet against the literal algorithm 3, a graph library, and a sweep over one sort.
/// `BM_<shape>/<rival>/<nodes>`; every rival gives the same levels, which is checked before it is timed.

#include <straggle/rank/p_cores.hpp>

#include "../../tests/support/literal_p_cores.hpp"

#include <benchmark/benchmark.h>

#if STRAGGLE_BENCH_HAS_BOOST
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

struct fleet {
    std::vector<double> low;
    std::vector<double> high;
};

using levels = std::vector<std::uint32_t>;

double uniform(std::mt19937_64& g) {
    return static_cast<double>(g() >> 11) * 0x1p-53;
}
double normal(std::mt19937_64& g) {
    return std::sqrt(-2 * std::log(1 - uniform(g))) * std::cos(6.283185307179586 * uniform(g));
}

// ------------------------------------------------------------------------------------------------ shapes

// What DSB sees: node means N(0, 0.3), t-intervals of 30 tasks whose scores have deviation one.
fleet realistic(std::size_t n, std::uint64_t seed) {
    std::mt19937_64 g(seed);
    fleet f;
    for (std::size_t i = 0; i < n; ++i) {
        double const mean = 0.3 * normal(g);
        double const half = 2.0452 / std::sqrt(30.0) * (1 + 0.13 * normal(g));
        f.low.push_back(mean - std::fabs(half));
        f.high.push_back(mean + std::fabs(half));
    }
    return f;
}
// A uniform fleet except for one node in a hundred.
fleet few_slow(std::size_t n, std::uint64_t seed) {
    fleet f = realistic(n, seed);
    for (std::size_t i = 0; i < n; ++i) {
        double const shift = (i % 100 == 7 ? 3.0 : 0.0) - 0.8 * 0.5 * (f.low[i] + f.high[i]);
        f.low[i] += shift;
        f.high[i] += shift;
    }
    return f;
}
// Narrow intervals around random means; `overlap` is how many others one touches on average.
fleet narrow(std::size_t n, std::uint64_t seed, double overlap) {
    std::mt19937_64 g(seed);
    fleet f;
    for (std::size_t i = 0; i < n; ++i) {
        double const at = normal(g);
        f.low.push_back(at);
        f.high.push_back(at + overlap / static_cast<double>(n) * (0.5 + uniform(g)));
    }
    return f;
}
fleet hundred_levels(std::size_t n, std::uint64_t seed) {
    return narrow(n, seed, 0.06 * static_cast<double>(n));
}
fleet thousand_levels(std::size_t n, std::uint64_t seed) {
    return narrow(n, seed, 0.006 * static_cast<double>(n));
}
fleet many_levels(std::size_t n, std::uint64_t seed) {
    return narrow(n, seed, 1);
}
fleet points(std::size_t n, std::uint64_t seed) {
    return narrow(n, seed, 0);
}
fleet sorted_chain(std::size_t n, std::uint64_t) {
    fleet f;
    for (std::size_t i = 0; i < n; ++i) {
        f.low.push_back(static_cast<double>(i));
        f.high.push_back(static_cast<double>(i) + 0.5);
    }
    return f;
}
fleet falling_chain(std::size_t n, std::uint64_t seed) {
    fleet f = sorted_chain(n, seed);
    std::reverse(f.low.begin(), f.low.end());
    std::reverse(f.high.begin(), f.high.end());
    return f;
}
fleet identical(std::size_t n, std::uint64_t) {
    return {std::vector<double>(n, 0.25), std::vector<double>(n, 0.75)};
}
fleet identical_points(std::size_t n, std::uint64_t) {
    return {std::vector<double>(n, 0.25), std::vector<double>(n, 0.25)};
}
fleet nested(std::size_t n, std::uint64_t seed) {
    std::mt19937_64 g(seed);
    fleet f;
    for (std::size_t i = 0; i < n; ++i) {
        f.high.push_back(uniform(g));
        f.low.push_back(-f.high.back());
    }
    return f;
}
// Defeats tables with buckets of equal width: magnitudes from 1e-300 to 1e300, all levels.
fleet all_magnitudes(std::size_t n, std::uint64_t seed) {
    std::mt19937_64 g(seed);
    fleet f;
    for (std::size_t i = 0; i < n; ++i) {
        f.low.push_back(std::pow(10.0, 600 * uniform(g) - 300));
        f.high.push_back(f.low.back() * (1 + 0.1 / static_cast<double>(n)));
    }
    return f;
}

// Clusters of many nodes at 40 magnitudes, each far narrower than the distance to the next.
fleet clusters(std::size_t n, std::uint64_t seed) {
    std::mt19937_64 g(seed);
    fleet f;
    for (std::size_t i = 0; i < n; ++i) {
        double const centre = std::ldexp(1.0, static_cast<int>(g() % 40));
        f.low.push_back(centre * (1 + 1e-9 * uniform(g)));
        f.high.push_back(f.low.back() + centre * 1e-10 / static_cast<double>(n));
    }
    return f;
}

// ------------------------------------------------------------------------------------------------ rivals

struct straggle_levels {
    straggle::rank::p_cores cores{};

    void operator()(fleet const& f, levels& level) {
        auto const count = cores.levels(f.low, f.high, level);
        benchmark::DoNotOptimize(count);
    }
};

struct straggle_weakest {
    straggle::rank::p_cores cores{};

    void operator()(fleet const& f, levels& level) {
        auto const count = cores.weakest(f.low, f.high, level);
        benchmark::DoNotOptimize(count);
    }
};

// What one would write by hand: sort by High, running maximum of Low, one walk down. Keeps its memory too.
struct sort_sweep {
    struct key {
        double high;
        double low;
        std::uint32_t id;
    };
    std::vector<key> keys{};
    std::vector<std::uint32_t> best{};

    void operator()(fleet const& f, levels& level) {
        std::size_t const n = f.low.size();
        bool has_points = false;
        keys.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            keys[i] = {f.high[i], f.low[i], static_cast<std::uint32_t>(i)};
            has_points |= !(f.low[i] < f.high[i]);
        }
        auto const proper = [](key const& k) { return k.low < k.high; };
        if (has_points)
            std::sort(keys.begin(), keys.end(), [&](key const& a, key const& b) {
                return a.high < b.high || (a.high == b.high && proper(a) && !proper(b));
            });
        else
            std::sort(keys.begin(), keys.end(), [](key const& a, key const& b) { return a.high < b.high; });
        best.resize(n);
        std::uint32_t top = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            key const& t = keys[top];
            if (keys[i].low > t.low || (keys[i].low == t.low && proper(keys[i]) && !proper(t))) top = i;
            best[i] = top;
        }
        std::size_t left = n;
        for (std::uint32_t l = 0; left > 0; ++l) {
            key const t = keys[best[left - 1]];
            while (left > 0) {
                key const& k = keys[left - 1];
                if (k.high < t.low || (k.high == t.low && (proper(k) || proper(t)))) break;
                level[k.id] = l;
                --left;
            }
        }
    }
};

struct literal {
    std::vector<straggle_test::machine> machines{};

    void operator()(fleet const& f, levels& level) {
        machines.resize(f.low.size());
        for (std::size_t i = 0; i < f.low.size(); ++i) {
            machines[i].low = f.low[i];
            machines[i].high = f.high[i];
        }
        level = *straggle_test::literal_levels(machines, straggle_test::literal_rule::not_same_point);
    }
};

#if STRAGGLE_BENCH_HAS_BOOST
struct boost_graph {
    void operator()(fleet const& f, levels& level) {
        using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
        std::size_t const n = f.low.size();
        graph g(n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                if (straggle::rank::points_at(straggle::rank::edge_rule::closed, f.low[i], f.high[i],
                                              f.low[j], f.high[j]))
                    boost::add_edge(i, j, g);
        std::vector<std::size_t> order; // nodes that are pointed at come first
        order.reserve(n);
        boost::topological_sort(g, std::back_inserter(order));
        for (std::size_t const v : order) {
            std::uint32_t l = 0;
            for (auto [e, end] = boost::out_edges(v, g); e != end; ++e)
                l = (std::max)(l, level[boost::target(*e, g)] + 1);
            level[v] = l;
        }
    }
};
#endif

// ------------------------------------------------------------------------------------------------ registry

using maker = fleet (*)(std::size_t, std::uint64_t);

// Small fleets by the dozen, each different: on a single fleet the branch predictor would learn the outcome
// of every comparison by heart, which flatters code that branches on data.
std::vector<fleet> const& fleets(maker make, std::size_t n) {
    static std::map<std::pair<maker, std::size_t>, std::vector<fleet>> known;
    std::vector<fleet>& all = known[{make, n}];
    if (all.empty())
        for (std::uint64_t seed = 1;
             seed <= (std::max<std::size_t>)(1, (std::min<std::size_t>)(500, 300000 / n)); ++seed)
            all.push_back(make(n, seed));
    return all;
}

template <class Rival>
void run(benchmark::State& state, maker make) {
    auto const n = static_cast<std::size_t>(state.range(0));
    std::vector<fleet> const& all = fleets(make, n);
    Rival rival;
    levels level(n);
    if constexpr (!std::is_same_v<Rival, straggle_weakest>) {
        levels expected(n);
        sort_sweep{}(all[0], expected);
        rival(all[0], level);
        if (level != expected) return state.SkipWithError("wrong levels");
    }
    std::size_t next = 0;
    for (auto _ : state) {
        rival(all[next], level);
        benchmark::ClobberMemory();
        next = next + 1 < all.size() ? next + 1 : 0;
    }
    state.SetComplexityN(state.range(0));
}

template <class Rival>
void add(std::string const& name, maker make, std::int64_t most, benchmark::BigO complexity) {
    auto* const b = benchmark::RegisterBenchmark(
        name.c_str(), [make](benchmark::State& state) { run<Rival>(state, make); });
    for (std::int64_t n = 100; n <= most; n *= 10) b->Arg(n);
    b->Complexity(complexity);
}

int register_all() {
    struct shape {
        char const* name;
        maker make;
    };
    static constexpr shape shapes[] = {{"realistic", realistic},
                                       {"few_slow", few_slow},
                                       {"hundred_levels", hundred_levels},
                                       {"thousand_levels", thousand_levels},
                                       {"many_levels", many_levels},
                                       {"points", points},
                                       {"sorted_chain", sorted_chain},
                                       {"falling_chain", falling_chain},
                                       {"identical", identical},
                                       {"identical_points", identical_points},
                                       {"nested", nested},
                                       {"all_magnitudes", all_magnitudes},
                                       {"clusters", clusters}};
    for (shape const& s : shapes) {
        std::string const name = std::string("BM_") + s.name;
        add<straggle_levels>(name + "/straggle", s.make, 1000000, benchmark::oNLogN);
        add<sort_sweep>(name + "/sort_sweep", s.make, 1000000, benchmark::oNLogN);
        add<literal>(name + "/literal", s.make, 1000, benchmark::oNSquared);
#if STRAGGLE_BENCH_HAS_BOOST
        add<boost_graph>(name + "/boost_graph", s.make, 1000, benchmark::oNSquared);
#endif
        add<straggle_weakest>(name + "/straggle_weakest", s.make, 1000000, benchmark::oN);
    }
    return 0;
}

[[maybe_unused]] int const registered = register_all();

} // namespace
