// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of the detectors: sorted lists of suspects, averages that keep equal numbers equal, and names
/// of nested rules.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/rule_name.hpp>
#include <straggle/base/simd.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/detect/detail/key_sort.hpp>
#include <straggle/detect/detector.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Lowest key first; ties in the order of the running tasks.
template <class Key>
void sort_by_comparison(std::span<detect::finding> list, Key key) {
    std::sort(list.begin(), list.end(), [key](detect::finding const& a, detect::finding const& b) {
        double const x = key(a), y = key(b);
        return x < y || (!(y < x) && a.task < b.task);
    });
}

inline constexpr std::size_t few_suspects = 128; // compared faster than distributed

// Corrects the order within cells. `keys` are those of the list.
template <class Key>
void sort_within_cells(std::span<detect::finding> list, double const* keys, key_cells cell, Key key) {
    for (std::size_t i = 1; i < list.size(); ++i) {
        if (!(keys[i] < keys[i - 1])) continue;
        std::uint64_t const crowded = cell(keys[i]);
        std::size_t begin = i - 1;
        while (begin > 0 && cell(keys[begin - 1]) == crowded) --begin;
        while (i < list.size() && cell(keys[i]) == crowded) ++i;
        sort_by_comparison(list.subspan(begin, i - begin), key);
    }
}

// Sorts the suspects from `first` to `last`, lowest key first; ties stay in the order of the running tasks.
template <class Key>
void lowest_first(std::vector<detect::finding>& out, std::size_t first, std::size_t last,
                  detect::detector_scratch& scratch, Key key) {
    std::size_t const n = last - first, end = out.size();
    if (n < few_suspects) return sort_by_comparison(span_of(out).subspan(first, n), key);
    if (scratch.values.size() < n) scratch.values.resize(n);
    if (scratch.order.size() < n) scratch.order.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        scratch.values[i] = key(out[first + i]);
        scratch.order[i] = static_cast<std::uint32_t>(first + i);
    }
    key_cells const cell = cells_of(scratch.values.data(), n);
    if (cell.digits() == 0) return;
    keyed_tasks const sorted = order_by_cell(scratch, n, cell);
    // Via the end of the list: gathering in any order overlaps in the processor, swapping in place would not.
    out.resize(end + n);
    for (std::size_t i = 0; i < n; ++i) out[end + i] = out[sorted.tasks[i]];
    auto const to = [&](std::size_t i) { return out.begin() + static_cast<std::ptrdiff_t>(i); };
    std::copy(to(end), out.end(), to(first));
    out.resize(end);
    sort_within_cells(span_of(out).subspan(first, n), sorted.keys, cell, key);
}
template <class Key>
void lowest_first(std::vector<detect::finding>& out, std::size_t first, detect::detector_scratch& scratch,
                  Key key) {
    lowest_first(out, first, out.size(), scratch, key);
}

// The verdict of a rule on one task.
struct judgement {
    double value = 0;
    bool suspect = false; // never where the value is NaN
};
enum class worst { lowest, highest };
template <worst First>
struct signed_value { // the lowest value is the worst
    static constexpr double sign = First == worst::lowest ? 1.0 : -1.0;
    double operator()(detect::finding const& s) const noexcept { return sign * s.value; }
};

// Appends the tasks that `judge` suspects by their index, the worst value first; threshold and usual number
// come from `like`. Does not branch on the judgment, which would be mispredicted half of the time, and
// evaluates the value for suspects only. `judge(i)` may read `scratch.values` from `i` on, but no other
// scratch memory.
template <worst First, class Judge>
void name_suspects(detect::job_view const& job, detect::detector_scratch& scratch,
                   std::vector<detect::finding>& out, detect::finding like, Judge judge) {
    constexpr double sign = signed_value<First>::sign;
    std::size_t const tasks = job.running.size();
    if (scratch.values.size() < tasks) scratch.values.resize(tasks);
    if (scratch.order.size() < tasks) scratch.order.resize(tasks);
    keyed_tasks list{scratch.values.data(), scratch.order.data()};
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < tasks; ++i) {
        list.tasks[n] = i;
        n += judge(i).suspect ? 1u : 0u;
    }
    if (n == 0) return;
    for (std::size_t i = 0; i < n; ++i) list.keys[i] = sign * judge(list.tasks[i]).value;
    bool const few = n < few_suspects;
    key_cells const cell = cells_of(list.keys, n);
    if (!few) list = order_by_cell(scratch, n, cell);
    std::size_t const first = out.size();
    out.resize(first + n);
    detect::finding* const named = out.data() + first;
    for (std::size_t i = 0; i < n; ++i) { // member by member: copying `like` is ten times slower with GCC 12
        named[i].task = list.tasks[i];
        named[i].value = sign * list.keys[i];
        named[i].threshold = like.threshold;
        named[i].usual = like.usual;
    }
    constexpr signed_value<First> key;
    if (few)
        sort_by_comparison(span_of(named, n), key);
    else
        sort_within_cells(span_of(named, n), list.keys, cell, key);
}

// Keeps those suspects from `first` on that pass, in their order.
template <class Pass>
void keep_suspects(std::vector<detect::finding>& out, std::size_t first, Pass pass) {
    auto const begin = out.begin() + static_cast<std::ptrdiff_t>(first);
    out.erase(std::remove_if(begin, out.end(), [&pass](detect::finding const& s) { return !pass(s); }),
              out.end());
}

// Eight sums at once: a single sum would wait for its last addition each time.
template <class Term>
double sum_of(std::size_t n, Term term) {
    double a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        a += term(i);
        b += term(i + 1);
        c += term(i + 2);
        d += term(i + 3);
        e += term(i + 4);
        f += term(i + 5);
        g += term(i + 6);
        h += term(i + 7);
    }
    for (; i < n; ++i) a += term(i);
    return ((a + b) + (c + d)) + ((e + f) + (g + h));
}

// The same, bit for bit, over contiguous numbers.
// @param term of a number, or of several in one value
template <class Term, std::size_t... Part>
double sum_over(std::span<double const> x, Term term, std::index_sequence<Part...>) {
    simd::lanes sums[sizeof...(Part)]{};
    std::size_t i = 0;
    for (; i + 8 <= x.size(); i += 8)
        ((sums[Part] += term(simd::load(x.data() + i + Part * simd::lane_count))), ...);
    double s[8];
    std::memcpy(s, sums, sizeof s);
    for (; i < x.size(); ++i) s[0] += term(x[i]);
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}
template <class Term>
double sum_over(std::span<double const> x, Term term) {
    return sum_over(x, term, std::make_index_sequence<8 / simd::lane_count>());
}

struct mean_and_deviation {
    double mean = 0;
    double deviation = 0; // population standard deviation
};

// @pre x is not empty. Sums relative to the first number, so that equal numbers have exactly that mean and no
// deviation.
inline mean_and_deviation mean_and_deviation_of(std::span<double const> x) {
    double const origin = x.front(), n = static_cast<double>(x.size());
    double const mean =
        origin + sum_over(x, [origin](auto v) STRAGGLE_INLINE_LAMBDA { return v - origin; }) / n;
    double const squares = sum_over(x, [mean](auto v) STRAGGLE_INLINE_LAMBDA {
        auto const d = v - mean;
        return d * d;
    });
    return {mean, std::sqrt(squares / n)};
}

// All tasks of the job; a manually built view may lack the number.
constexpr std::uint64_t tasks_of(detect::job_view const& job) noexcept {
    return (std::max)(job.tasks, std::uint64_t{job.running.size() + job.finished.size()});
}

// Running attempts beyond the first of each task.
inline std::uint64_t copies_of(detect::job_view const& job) noexcept {
    std::uint64_t copies = 0;
    for (detect::running_task const& t : job.running) copies += t.copies > 1 ? t.copies - 1 : 0;
    return copies;
}

} // namespace straggle::detail
