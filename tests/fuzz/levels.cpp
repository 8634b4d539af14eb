// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
// Whatever the intervals: all levels are what peeling them off as algorithm 3 says comes to, with both edge
// rules, and the weakest are those of the first round; intervals that are none are refused.
// tests/property/numeric_corpora.cpp replays the corpus.

#include <straggle/rank/p_cores.hpp>

#include "../support/literal_p_cores.hpp"
#include "fuzzing.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace fuzz_levels {

using fuzzing::demand;

struct intervals {
    std::vector<double> low, high;
    bool sound = true;

    void add(double a, double b) {
        low.push_back(a);
        high.push_back(b);
        sound = sound && std::isfinite(a) && std::isfinite(b) && a <= b;
    }
};

// First a byte that says how the others are read, and whether all comes again further up: so there are many
// intervals, and few bytes.
inline intervals read(std::span<std::uint8_t const> bytes) {
    intervals all;
    if (bytes.empty()) return all;
    unsigned const how = bytes[0], times = 1 + (how >> 4);
    bytes = bytes.subspan(1);
    constexpr std::size_t most = 300;
    if (how % 2 != 0) { // a grid: many ties and points
        for (unsigned t = 0; t < times; ++t)
            for (std::size_t i = 0; i + 2 <= bytes.size() && all.low.size() < most; i += 2) {
                double const low = static_cast<double>(bytes[i] % 64) + 3.0 * t * (how & 2);
                all.add(low, low + static_cast<double>(bytes[i + 1] % 8));
            }
        return all;
    }
    auto const number = [&](std::size_t at) {
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < 8; ++k) bits |= std::uint64_t{bytes[at + k]} << (8 * k);
        return std::bit_cast<double>(bits);
    };
    for (std::size_t i = 0; i + 16 <= bytes.size() && all.low.size() < most; i += 16) {
        double a = number(i), b = number(i + 8);
        bool const swapped = (how & 4) == 0 && a > b; // so that most are intervals
        all.add(swapped ? b : a, swapped ? a : b);
    }
    return all;
}

inline void check(intervals const& all, straggle::rank::edge_rule rule, straggle_test::literal_rule literal) {
    std::size_t const n = all.low.size();
    straggle::rank::p_cores cores(rule);
    std::vector<std::uint32_t> level(n), weakest(n);
    auto const levels = cores.levels(all.low, all.high, level);
    auto const first = cores.weakest(all.low, all.high, weakest);
    if (!all.sound) {
        demand(!levels && levels.reason() == straggle::status::out_of_domain);
        demand(!first && first.reason() == straggle::status::out_of_domain);
        return;
    }
    demand(levels.has_value() && first.has_value());
    std::vector<straggle_test::machine> machines;
    for (std::size_t i = 0; i < n; ++i) machines.push_back({.low = all.low[i], .high = all.high[i]});
    auto const expected = straggle_test::literal_levels(machines, literal);
    demand(expected.has_value() && *expected == level);
    std::uint32_t most = 0;
    for (std::uint32_t const l : level) most = l + 1 > most ? l + 1 : most;
    demand(*levels == most);
    weakest.resize(*first);
    demand(weakest == straggle_test::literal_weakest(machines));
}

} // namespace fuzz_levels

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz_levels::intervals const all = fuzz_levels::read({data, size});
    fuzz_levels::check(all, straggle::rank::edge_rule::closed, straggle_test::literal_rule::not_same_point);
    fuzz_levels::check(all, straggle::rank::edge_rule::open, straggle_test::literal_rule::text);
    return 0;
}
