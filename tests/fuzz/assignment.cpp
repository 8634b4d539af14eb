// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
// Whatever the profits: the optimal assignment brings what trying everything brings, the greedy one at least
// half of that, and no node gets more than it has room for.
// tests/property/numeric_corpora.cpp replays the corpus.

#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/assign/optimal_assignment.hpp>

#include "fuzzing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace fuzz_assignment {

using fuzzing::demand;

struct table {
    std::vector<std::uint32_t> first{0}, column, room;
    std::vector<double> value, second;
    [[nodiscard]] straggle::assign::assignable_pairs view() const { return {first, column, value, second}; }
};

// The first byte has the sizes, then there is one per column for its room and one per pair, with a few bits
// for what kind of a number it is.
inline table read(std::span<std::uint8_t const> bytes) {
    table t;
    std::size_t at = 0;
    auto const next = [&]() -> unsigned { return at < bytes.size() ? bytes[at++] : 0; };
    unsigned const sizes = next(), rows = sizes % 8, columns = 1 + sizes / 8 % 6, kind = sizes / 64;
    for (unsigned c = 0; c < columns; ++c) t.room.push_back(next() % 4);
    for (unsigned r = 0; r < rows; ++r) {
        for (std::uint32_t c = 0; c < columns; ++c) {
            unsigned const x = next();
            if (x % 8 == 0) continue; // no such pair
            double value = x;
            if (kind == 1) value = x % 4 + 1; // ties
            if (kind == 2) value = std::ldexp(x, static_cast<int>(next() % 64) - 32);
            if (kind == 3) value = 1 + x * 0x1p-50;
            t.column.push_back(c);
            t.value.push_back(value);
            t.second.push_back(static_cast<double>(x % 3) / 2);
        }
        t.first.push_back(static_cast<std::uint32_t>(t.column.size()));
    }
    return t;
}

// The best that rows from one on can bring.
inline double best_from(table const& t, std::size_t row, std::vector<std::uint32_t>& room) {
    if (row + 1 == t.first.size()) return 0;
    double best = best_from(t, row + 1, room);
    for (std::uint32_t i = t.first[row]; i < t.first[row + 1]; ++i) {
        if (room[t.column[i]] == 0) continue;
        --room[t.column[i]];
        best = (std::max)(best, t.value[i] + best_from(t, row + 1, room));
        ++room[t.column[i]];
    }
    return best;
}

// Of an assignment that is one.
inline double sum_of(table const& t, std::vector<straggle::assign::assigned_pair> const& assigned) {
    std::vector<std::uint32_t> room = t.room;
    std::vector<bool> has(t.first.size() - 1, false);
    double sum = 0;
    for (auto const& a : assigned) {
        demand(a.row < has.size() && !has[a.row] && a.pair >= t.first[a.row] && a.pair < t.first[a.row + 1]);
        has[a.row] = true;
        demand(room[t.column[a.pair]]-- > 0);
        sum += t.value[a.pair];
    }
    return sum;
}

template <class Solver>
double solved(table const& t, std::size_t limit) {
    Solver solve;
    std::vector<straggle::assign::assigned_pair> out{{9, 9}};
    std::size_t admitted = 0;
    solve(t.view(), t.room, out, [&](std::uint32_t) { return admitted < limit && (++admitted, true); });
    demand(out.size() == admitted);
    std::vector<straggle::assign::assigned_pair> again;
    solve(t.view(), t.room, again); // in the same memory
    demand(limit < t.first.size() || again == out);
    return sum_of(t, out);
}

} // namespace fuzz_assignment

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace fuzz_assignment;
    table const t = read({data, size});
    std::vector<std::uint32_t> room = t.room;
    double const best = best_from(t, 0, room), rounding = 1e-12 * best;
    std::size_t const rows = t.first.size() - 1;
    double const optimal = solved<straggle::assign::optimal_assignment>(t, rows + 1);
    demand(std::fabs(optimal - best) <= rounding);
    double const greedy = solved<straggle::assign::greedy_assignment>(t, rows + 1);
    demand(greedy <= best + rounding && greedy >= best / 2 - rounding);
    demand(solved<straggle::assign::assignment_in_turn>(t, rows + 1) <= best + rounding);
    // Within a limit no more than without, and no less with more of it.
    double before = 0;
    for (std::size_t limit = 0; limit <= rows; ++limit) {
        double const within = solved<straggle::assign::optimal_assignment>(t, limit);
        demand(within >= before - rounding && within <= best + rounding);
        before = within;
    }
    return 0;
}
