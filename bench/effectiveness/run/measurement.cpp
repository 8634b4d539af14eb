// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "measurement.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace lab {

namespace {

template <class Number>
void read(std::string const& cell, Number& value, int base = 10) {
    char const* const end = cell.data() + cell.size();
    std::from_chars_result r;
    if constexpr (std::is_floating_point_v<Number>)
        r = std::from_chars(cell.data(), end, value);
    else
        r = std::from_chars(cell.data(), end, value, base);
    if (r.ec != std::errc{} || r.ptr != end) throw std::runtime_error("not a number: " + cell);
}

} // namespace

measurement measure(result const& of) {
    measurement m;
    std::vector<double> times = of.job_times;
    std::sort(times.begin(), times.end());
    std::size_t const n = times.size();
    auto const rank = static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(n)));
    m.jobs = n;
    m.mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(n);
    m.median = (times[(n - 1) / 2] + times[n / 2]) / 2;
    m.p99 = times[std::max<std::size_t>(rank, 1) - 1];
    m.useful = of.useful;
    m.wasted = of.wasted;
    m.attempts = of.attempts;
    m.copies = of.copies;
    m.won = of.won;
    m.healthy_out = of.healthy_out / 3600;
    m.weak_out = of.weak_out / 3600;
    m.weak = of.weak / 3600;
    m.makespan = of.makespan;
    m.first_wait = of.first_wait;
    m.decisions = of.decisions;
    m.decision_us = of.decisions > 0 ? of.decision_time * 1e6 / static_cast<double>(of.decisions) : 0;
    m.stuck = of.stuck;
    m.digest = of.digest;
    m.due = of.due;
    m.missed = of.missed;
    m.others = of.others;
    return m;
}

std::string to_row(measurement const& m) {
    char numbers[512];
    std::snprintf(
        numbers, sizeof numbers,
        ",%llu,%llu,%.6g,%.6g,%.6g,%.6g,%.6g,%llu,%llu,%llu,%.6g,%.6g,%.6g,%.6g,%.6g,%llu,%.4g,%.4g,%d,"
        "%016llx,%llu,%llu,%.6g",
        static_cast<unsigned long long>(m.seed), static_cast<unsigned long long>(m.jobs), m.mean, m.median,
        m.p99, m.useful, m.wasted, static_cast<unsigned long long>(m.attempts),
        static_cast<unsigned long long>(m.copies), static_cast<unsigned long long>(m.won), m.healthy_out,
        m.weak_out, m.weak, m.makespan, m.first_wait, static_cast<unsigned long long>(m.decisions),
        m.decision_us, m.healthy_load, m.stuck ? 1 : 0, static_cast<unsigned long long>(m.digest),
        static_cast<unsigned long long>(m.due), static_cast<unsigned long long>(m.missed), m.others);
    return m.scenario + ',' + m.policy + numbers;
}

measurement from_row(std::string const& row) {
    std::vector<std::string> c;
    std::istringstream in(row);
    for (std::string cell; std::getline(in, cell, ',');) c.push_back(cell);
    if (c.size() != 25) throw std::runtime_error("not a row of results: " + row);
    measurement m;
    m.scenario = c[0];
    m.policy = c[1];
    int stuck = 0;
    read(c[2], m.seed);
    read(c[3], m.jobs);
    double* const first[] = {&m.mean, &m.median, &m.p99, &m.useful, &m.wasted};
    for (std::size_t i = 0; i < 5; ++i) read(c[4 + i], *first[i]);
    read(c[9], m.attempts);
    read(c[10], m.copies);
    read(c[11], m.won);
    double* const second[] = {&m.healthy_out, &m.weak_out, &m.weak, &m.makespan, &m.first_wait};
    for (std::size_t i = 0; i < 5; ++i) read(c[12 + i], *second[i]);
    read(c[17], m.decisions);
    read(c[18], m.decision_us);
    read(c[19], m.healthy_load);
    read(c[20], stuck);
    read(c[21], m.digest, 16);
    read(c[22], m.due);
    read(c[23], m.missed);
    read(c[24], m.others);
    m.stuck = stuck != 0;
    return m;
}

comparison compare(std::vector<double> const& with, std::vector<double> const& base) {
    double const n = static_cast<double>(with.size());
    double const a = std::accumulate(with.begin(), with.end(), 0.0);
    double const b = std::accumulate(base.begin(), base.end(), 0.0);
    double const ratio = a / b;
    double squares = 0;
    for (std::size_t i = 0; i < with.size(); ++i) {
        double const off = with[i] - ratio * base[i];
        squares += off * off;
    }
    comparison c{ratio - 1, std::numeric_limits<double>::infinity()};
    if (with.size() > 1) c.half_width = 1.96 * std::sqrt(n / (n - 1) * squares) / b;
    return c;
}

} // namespace lab
