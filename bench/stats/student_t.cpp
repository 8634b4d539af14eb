// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Student-t quantiles against Boost.Math (default policy, which works in long double, and with
/// promote_double off) and GSL (those that are installed): whole degrees of freedom 1..200 with uniform p,
/// real ones log-uniform in 1..1000 with uniform p, and the critical value at 0.95 for 1..1000. Time per
/// quantile is items_per_second. Run with --benchmark_enable_random_interleaving=true
/// --benchmark_repetitions=9 and compare medians.

#include <straggle/stats/student_t.hpp>

#include <benchmark/benchmark.h>
#if STRAGGLE_BENCH_HAS_BOOST
#include <boost/math/distributions/students_t.hpp>
#endif
#if STRAGGLE_BENCH_HAS_GSL
#include <gsl/gsl_cdf.h>
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

struct arguments {
    std::vector<double> dof, p;
};

std::uint64_t next(std::uint64_t& state) {
    return state = state * 6364136223846793005u + 1442695040888963407u;
}
double unit(std::uint64_t& state) {
    return (static_cast<double>(next(state) >> 12) + 0.5) * 0x1p-52;
}

arguments whole_dof(std::size_t n) {
    arguments a;
    std::uint64_t state = 20240601;
    for (std::size_t i = 0; i < n; ++i) {
        a.dof.push_back(1 + std::floor(200 * unit(state)));
        a.p.push_back(unit(state));
    }
    return a;
}

arguments real_dof(std::size_t n) {
    arguments a;
    std::uint64_t state = 20240602;
    for (std::size_t i = 0; i < n; ++i) {
        a.dof.push_back(std::exp(unit(state) * std::log(1000.0)));
        a.p.push_back(unit(state));
    }
    return a;
}

arguments fixed_level(std::size_t n) {
    arguments a;
    for (std::size_t i = 0; i < n; ++i) {
        a.dof.push_back(static_cast<double>(i + 1));
        a.p.push_back(0.975);
    }
    return a;
}

struct straggle_general {
    double operator()(double p, double dof) const {
        return straggle::stats::student_t_quantile(p, dof).value_or(0);
    }
};
#if STRAGGLE_BENCH_HAS_BOOST
struct boost_default {
    double operator()(double p, double dof) const {
        return boost::math::quantile(boost::math::students_t(dof), p);
    }
};
struct boost_double {
    double operator()(double p, double dof) const {
        using namespace boost::math::policies;
        return boost::math::quantile(
            boost::math::students_t_distribution<double, policy<promote_double<false>>>(dof), p);
    }
};
#endif
#if STRAGGLE_BENCH_HAS_GSL
struct gsl {
    double operator()(double p, double dof) const { return gsl_cdf_tdist_Pinv(p, dof); }
};
#endif

template <class Rival, arguments (*Make)(std::size_t)>
void quantiles(benchmark::State& state) {
    arguments const a = Make(static_cast<std::size_t>(state.range(0)));
    Rival const rival;
    for (auto _ : state) {
        double sum = 0;
        for (std::size_t i = 0; i < a.p.size(); ++i) sum += rival(a.p[i], a.dof[i]);
        benchmark::DoNotOptimize(sum);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void critical(benchmark::State& state) {
    straggle::stats::student_t_critical const t{0.95};
    std::vector<std::uint64_t> dof;
    for (std::int64_t i = 1; i <= state.range(0); ++i) dof.push_back(static_cast<std::uint64_t>(i));
    for (auto _ : state) {
        benchmark::DoNotOptimize(dof.data());
        double sum = 0;
        for (std::uint64_t const n : dof) sum += t(n);
        benchmark::DoNotOptimize(sum);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void critical_construct(benchmark::State& state, double level) {
    auto const confidence = straggle::stats::confidence_level::from(level);
    for (auto _ : state) {
        straggle::stats::student_t_critical t(*confidence);
        benchmark::DoNotOptimize(t);
    }
}

} // namespace

#define STRAGGLE_BENCH_RIVAL(name, rival)                                                                    \
    BENCHMARK(quantiles<rival, whole_dof>)->Name("BM_quantile_whole_dof/" name)->Arg(1000);                  \
    BENCHMARK(quantiles<rival, real_dof>)->Name("BM_quantile_real_dof/" name)->Arg(1000);                    \
    BENCHMARK(quantiles<rival, fixed_level>)->Name("BM_critical_95/" name)->Arg(1000)

STRAGGLE_BENCH_RIVAL("straggle_general", straggle_general);
#if STRAGGLE_BENCH_HAS_BOOST
STRAGGLE_BENCH_RIVAL("boost", boost_default);
STRAGGLE_BENCH_RIVAL("boost_no_promote_double", boost_double);
#endif
#if STRAGGLE_BENCH_HAS_GSL
STRAGGLE_BENCH_RIVAL("gsl", gsl);
#endif
BENCHMARK(critical)->Name("BM_critical_95/straggle")->Arg(1000);
BENCHMARK_CAPTURE(critical_construct, common, 0.95)->Name("BM_critical_construct/common_level");
BENCHMARK_CAPTURE(critical_construct, other, 0.97)->Name("BM_critical_construct/other_level");
