// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of the detectors: lists of suspects, averages that leave equal numbers equal, and the names
/// of rules within rules.
#pragma once

#include <straggle/detect/detector.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace straggle::detail {

// The suspects from `first` on, ordered by a key; ties in the order of the running tasks.
template <class Key>
void lowest_first(std::vector<suspect>& out, std::size_t first, Key key) {
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
              [key](suspect const& a, suspect const& b) {
                  double const x = key(a), y = key(b);
                  return x < y || (!(y < x) && a.task < b.task);
              });
}
inline void lowest_first(std::vector<suspect>& out, std::size_t first) {
    lowest_first(out, first, [](suspect const& s) { return s.value; });
}
inline void highest_first(std::vector<suspect>& out, std::size_t first) {
    lowest_first(out, first, [](suspect const& s) { return -s.value; });
}

// Of the suspects from `first` on those that pass; their order stays.
template <class Pass>
void keep_suspects(std::vector<suspect>& out, std::size_t first, Pass pass) {
    auto const begin = out.begin() + static_cast<std::ptrdiff_t>(first);
    out.erase(std::remove_if(begin, out.end(), [&pass](suspect const& s) { return !pass(s); }), out.end());
}

// Four sums at once: a single one would wait for its last addition each time.
template <class Term>
double sum_of(std::size_t n, Term term) {
    double a = 0, b = 0, c = 0, d = 0;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += term(i);
        b += term(i + 1);
        c += term(i + 2);
        d += term(i + 3);
    }
    for (; i < n; ++i) a += term(i);
    return (a + b) + (c + d);
}

struct mean_and_deviation {
    double mean = 0;
    double deviation = 0; // of the population
};

// Of at least one number. Reckoned from the first on: equal numbers have just that mean, and no deviation.
inline mean_and_deviation mean_and_deviation_of(std::span<double const> x) {
    double const origin = x.front(), n = static_cast<double>(x.size());
    double const mean = origin + sum_of(x.size(), [&](std::size_t i) { return x[i] - origin; }) / n;
    double const squares = sum_of(x.size(), [&](std::size_t i) { return (x[i] - mean) * (x[i] - mean); });
    return {mean, std::sqrt(squares / n)};
}

// All tasks of the job; a view made by hand may not say.
constexpr std::uint64_t tasks_of(job_view const& job) noexcept {
    return (std::max)(job.tasks, static_cast<std::uint64_t>(job.running.size() + job.finished.size()));
}

// Running attempts beyond the first of each task.
inline std::uint64_t copies_of(job_view const& job) noexcept {
    std::uint64_t copies = 0;
    for (running_task const& t : job.running) copies += t.copies > 1 ? t.copies - 1 : 0;
    return copies;
}

// "outer(inner)"
template <auto const& Outer, class Inner>
struct name_within {
    static constexpr std::string_view outer{Outer}, inner{Inner::name};
    static constexpr auto text = [] {
        std::array<char, outer.size() + inner.size() + 2> t{};
        std::size_t at = 0;
        for (char const c : outer) t[at++] = c;
        t[at++] = '(';
        for (char const c : inner) t[at++] = c;
        t[at] = ')';
        return t;
    }();
};
template <auto const& Outer, class Inner>
inline constexpr std::string_view wrapped_name{name_within<Outer, Inner>::text.data(),
                                               name_within<Outer, Inner>::text.size()};

} // namespace straggle::detail
