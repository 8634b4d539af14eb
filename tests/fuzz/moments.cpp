// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
// Whatever is added, merged and taken back: the moments of ticks are those of 128-bit sums to the last bit,
// and the moments of reals those of two passes over the values, but for rounding.
// tests/property/numeric_corpora.cpp replays the corpus.

#include <straggle/stats/moments.hpp>
#include <straggle/stats/tick_moments.hpp>

#include "fuzzing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace fuzz_moments {

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

using fuzzing::demand;

// Sums of up to 2^32 values and of their squares, which take more than 128 bits: the two halves apart.
inline straggle::stats::tick_sums literal_sums(std::vector<std::int64_t> const& ticks) {
    wide sum = 0;
    unsigned_wide low = 0, high = 0;
    for (std::int64_t const t : ticks) {
        sum += t;
        unsigned_wide const square = static_cast<unsigned_wide>(wide{t} * t);
        low += static_cast<std::uint64_t>(square);
        high += square >> 64;
    }
    high += low >> 64;
    unsigned_wide const s = static_cast<unsigned_wide>(sum);
    return {ticks.size(),
            {static_cast<std::uint64_t>(s), static_cast<std::uint64_t>(s >> 64)},
            {{static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)},
             static_cast<std::uint64_t>(high >> 64)}};
}

struct two_passes {
    long double mean = 0, squares = 0, largest = 0;
    template <class T>
    explicit two_passes(std::vector<T> const& values) {
        for (T const v : values) {
            mean += static_cast<long double>(v) / static_cast<long double>(values.size());
            largest = (std::max)(largest, std::fabs(static_cast<long double>(v)));
        }
        for (T const v : values) {
            long double const off = static_cast<long double>(v) - mean;
            squares += off * off;
        }
    }
};

inline bool is_close(double x, long double expected, long double tolerance) {
    return std::fabs(static_cast<long double>(x) - expected) <= tolerance;
}

template <class Moments, class T>
void check(Moments const& m, std::vector<T> const& values, long double of_mean, long double relative) {
    demand(m.count() == values.size());
    if (values.empty()) return;
    two_passes const book(values);
    long double const n = static_cast<long double>(values.size());
    // Reference and result are sums of n numbers; what is no more than their rounding is nothing.
    long double const rounding = 1e-18L * n * book.largest;
    demand(is_close(m.mean(), book.mean, of_mean * book.largest + rounding));
    long double const tolerance = relative * book.squares + n * rounding * rounding;
    demand(is_close(m.sum_of_squared_deviations(), book.squares, tolerance));
    demand(is_close(m.population_variance(), book.squares / n, tolerance / n));
}

// Two accumulators, and a byte for what comes next.
inline void run(std::span<std::uint8_t const> bytes) {
    straggle::stats::tick_moments ticks[2];
    straggle::stats::basic_tick_moments<straggle::detail::portable_wide> portable[2];
    straggle::stats::moments reals[2];
    std::vector<std::int64_t> taken[2];
    std::vector<double> seen[2];
    std::size_t at = 0;
    auto const next = [&](std::size_t size) {
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < size && at < bytes.size(); ++k)
            bits |= std::uint64_t{bytes[at++]} << (8 * k);
        return bits;
    };
    while (at < bytes.size() && at < 4096) {
        std::uint64_t const what = next(1);
        std::size_t const to = what >> 7, other = 1 - to;
        if (what % 8 == 7 && taken[to].size() + taken[other].size() < 2000 &&
            seen[to].size() + seen[other].size() < 2000) { // nothing is taken back from reals
            ticks[to].merge(ticks[other]);
            portable[to].merge(portable[other]);
            reals[to].merge(reals[other]);
            taken[to].insert(taken[to].end(), taken[other].begin(), taken[other].end());
            seen[to].insert(seen[to].end(), seen[other].begin(), seen[other].end());
        } else if (what % 8 == 6 && !taken[to].empty()) {
            std::size_t const i = next(1) % taken[to].size();
            ticks[to].remove(taken[to][i]);
            portable[to].remove(taken[to][i]);
            taken[to].erase(taken[to].begin() + static_cast<std::ptrdiff_t>(i));
        } else if (what % 8 == 5) {
            std::vector<std::int64_t> some;
            for (std::uint64_t left = next(1) % 32; left > 0; --left)
                some.push_back(static_cast<std::int64_t>(next(1 + what % 4)));
            auto const value = [](std::int64_t t, std::size_t) { return t; };
            ticks[to].add_all(some, value);
            portable[to].add_all(some, value);
            taken[to].insert(taken[to].end(), some.begin(), some.end());
        } else {
            std::int64_t const t = static_cast<std::int64_t>(next(1 + what % 8)) << (what / 8 % 8);
            ticks[to].add(t);
            portable[to].add(t);
            taken[to].push_back(t);
            double const x = static_cast<double>(t) * 0.001;
            reals[to].add(x);
            seen[to].push_back(x);
        }
    }
    for (std::size_t to : {0u, 1u}) {
        demand(ticks[to].sums() == literal_sums(taken[to]));
        demand(portable[to].sums() == ticks[to].sums() && ticks[to].is_plausible());
        demand(straggle::stats::tick_moments::from(ticks[to].sums()) == ticks[to]);
        check(ticks[to], taken[to], 1e-15L, 1e-13L);
        // A sum of n reals is rounded n times.
        check(reals[to], seen[to], 3e-16L * static_cast<long double>(seen[to].size() + 8), 1e-12L);
    }
    straggle::stats::tick_moments both = ticks[0];
    both.merge(ticks[1]);
    both.unmerge(ticks[0]);
    demand(both == ticks[1]);
}

} // namespace fuzz_moments

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz_moments::run({data, size});
    return 0;
}
