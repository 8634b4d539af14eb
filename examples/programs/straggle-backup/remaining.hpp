// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long a running task may still take: from the times of similar tasks on its node, from its reported
/// progress, and from the time it has run. docs/reference/assigning.md explains how the three are combined.
#pragma once

#include <straggle/stats/empirical.hpp>
#include <straggle/stats/student_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace straggle_backup {

/// The basis of an estimate.
enum class basis : std::uint8_t {
    similar,  ///< the similar tasks that took longer than this one has run, and one more
    both,     ///< similar tasks and its progress
    progress, ///< its progress alone: there are no similar tasks, or they contradict it
    age,      ///< the time it has run: by everything else it should have ended
};

[[nodiscard]] constexpr std::string_view to_string(basis b) {
    switch (b) {
    case basis::similar:
        return "similar";
    case basis::both:
        return "both";
    case basis::progress:
        return "progress";
    case basis::age:
        break;
    }
    return "age";
}

/// The progress reported by a task. Times in seconds.
struct progress_report {
    double at = 0;     ///< since it began
    double done = 0;   ///< from 0 to 1
    double may_be = 0; ///< possible age of the report
};

/// How certain each source is.
struct trust {
    double resolution = 0.02; ///< possible error of a report; as in `program::node_aware`
    /// The factor by which the speed of a task changes. Three times that of the detector: real tasks have
    /// phases, and with an uncertain remaining time it is better to wait a little longer with a copy.
    double drift = 0.3;
    double spread = 0.1;      ///< similar tasks differ by at least this factor, even if they never did
    double apart = 3;         ///< if further apart, in deviations, only progress is believed
    double unlikely = 0.01;   ///< evidence is ignored if it makes a running task less likely than this
    std::size_t samples = 20; ///< of estimates without similar tasks
    std::size_t repeats = 10; ///< samples that stand for one similar task
};

/// The distribution of the time left, and where it comes from.
struct time_left {
    straggle::stats::empirical times{};
    basis from = basis::similar;
};

namespace detail {

// The logarithm of a task's time.
struct log_time {
    double mean = 0, variance = 0;
};

[[nodiscard]] inline double normal_quantile(double p) {
    constexpr double normal = (std::numeric_limits<double>::max)(); // degrees of freedom
    return straggle::stats::student_t_quantile(p, normal).value_or(0);
}
[[nodiscard]] inline double normal_share_below(double z) {
    return std::erfc(-z * 0.70710678118654752) / 2;
}

// The estimate from a report, if the task continues at its pace.
[[nodiscard]] inline std::optional<log_time> read(progress_report const& r, trust const& how) {
    double const at = r.at, old = (std::min)(r.may_be, at);
    double const worked = r.may_be > at ? at * (at / r.may_be) / 2 : at - old / 2; // until the report
    if (!(worked > 0)) return std::nullopt;
    double const done = (std::max)(r.done, how.resolution), reading = how.resolution / done;
    double const rest = how.drift * (1 - r.done), stale = old / std::sqrt(12.0) / worked;
    return log_time{std::log(worked / done), reading * reading + rest * rest + stale * stale};
}

[[nodiscard]] inline log_time summary(std::vector<double> const& times, trust const& how) {
    double const n = static_cast<double>(times.size());
    double mean = 0, squares = 0;
    for (double const t : times) mean += std::log(t) / n;
    for (double const t : times) squares += (std::log(t) - mean) * (std::log(t) - mean);
    double const seen = n > 1 ? squares / (n - 1) : 0.0;
    return {mean, (std::max)(seen, how.spread * how.spread) * (1 + 1 / n)};
}

// Quantiles of the part of a log-normal distribution beyond `elapsed`, if it has any probability.
inline bool fill_beyond(std::vector<double>& out, log_time const& t, double elapsed, trust const& how) {
    double const sd = std::sqrt(t.variance);
    double const passed = elapsed > 0 ? normal_share_below((std::log(elapsed) - t.mean) / sd) : 0.0;
    if (!(1 - passed >= how.unlikely)) return false;
    for (std::size_t k = 0; k < how.samples; ++k) {
        double const share = (static_cast<double>(k) + 0.5) / static_cast<double>(how.samples);
        double const z = normal_quantile(passed + (1 - passed) * share);
        out.push_back((std::max)(std::exp(t.mean + sd * z) - elapsed, 0.0));
    }
    return true;
}

// Beyond `from`, on average for as long again: at any moment equally likely to end.
inline void fill_as_long_again(std::vector<double>& out, double from, double elapsed, std::size_t samples) {
    for (std::size_t k = 0; k < samples; ++k) {
        double const share = (static_cast<double>(k) + 0.5) / static_cast<double>(samples);
        out.push_back(from - elapsed - from * std::log(1 - share));
    }
}

// The similar tasks that took longer, and one more. Of n + 1 similar tasks each is equally likely to be the
// longest: this one exceeds all known ones once in n + 1 times. The longer it runs, the fewer others remain.
inline bool fill_from_similar(std::vector<double>& out, std::vector<double> const& times, double elapsed,
                              trust const& how) {
    double longest = elapsed;
    for (double const t : times) {
        longest = (std::max)(longest, t);
        if (t > elapsed) out.insert(out.end(), how.repeats, t - elapsed);
    }
    bool const any = !out.empty();
    fill_as_long_again(out, longest, elapsed, any ? how.repeats : how.samples);
    return any;
}

// Both, each weighted by its certainty; empty if they contradict each other.
[[nodiscard]] inline std::optional<log_time> combined(log_time const& usual, log_time const& told,
                                                      trust const& how) {
    double const both = usual.variance + told.variance, apart = told.mean - usual.mean;
    if (!(std::fabs(apart) <= how.apart * std::sqrt(both))) return std::nullopt;
    double const gain = usual.variance / both;
    return log_time{usual.mean + gain * apart, gain * told.variance};
}

} // namespace detail

/// How long a task may still take.
/// @param similar times of similar tasks on its node, none negative; may be empty
/// @param elapsed how long it has run
/// @param report its progress, if it has reported any
/// @return no times if there is neither a similar task nor a report
inline time_left find_time_left(straggle::stats::empirical_view const& similar, double elapsed,
                                std::optional<progress_report> const& report, trust const& how = {}) {
    time_left left;
    std::vector<double> times, rest;
    for (std::size_t i = 0; i < similar.size(); ++i) times.push_back((std::max)(similar[i], 1e-6));
    std::optional<detail::log_time> const told = report ? detail::read(*report, how) : std::nullopt;
    if (times.empty() && !told) return left;

    bool known = false;
    if (told && !times.empty()) {
        std::optional<detail::log_time> const both =
            detail::combined(detail::summary(times, how), *told, how);
        left.from = basis::both;
        known = both && detail::fill_beyond(rest, *both, elapsed, how);
    }
    if (!known && told) {
        left.from = basis::progress;
        known = detail::fill_beyond(rest, *told, elapsed, how);
    }
    if (!known && !told) {
        known = detail::fill_from_similar(rest, times, elapsed, how);
        left.from = known ? basis::similar : basis::age;
    } else if (!known) {
        left.from = basis::age;
        detail::fill_as_long_again(rest, elapsed, elapsed, how.samples);
    }
    left.times.assign(rest);
    return left;
}

} // namespace straggle_backup
