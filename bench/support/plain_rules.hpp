// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Each rule as a scheduler would write it from its description, over its own tasks: a loop or two, a vector
/// of what was found, std::sort. They check nothing and report no threshold.
#pragma once

#include "scheduler_job.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace straggle_bench::plain {

/// A straggler: its place among the running tasks, and what the rule compared.
struct found {
    std::size_t task;
    double value;
};
using stragglers = std::vector<found>;

inline stragglers lowest_first(stragglers list) {
    std::sort(list.begin(), list.end(), [](found const& a, found const& b) {
        return a.value != b.value ? a.value < b.value : a.task < b.task;
    });
    return list;
}
inline stragglers highest_first(stragglers list) {
    std::sort(list.begin(), list.end(), [](found const& a, found const& b) {
        return a.value != b.value ? a.value > b.value : a.task < b.task;
    });
    return list;
}

inline double mean_of(std::vector<double> const& values) {
    double sum = 0;
    for (double const v : values) sum += v;
    return sum / static_cast<double>(values.size());
}

inline std::vector<double> times_of_done(scheduler_job const& job) {
    std::vector<double> times;
    times.reserve(job.done.size());
    for (done_task const& d : job.done) times.push_back(d.took);
    return times;
}

inline stragglers progress_gap(scheduler_job const& job, double gap) {
    double sum = 0;
    for (task const& t : job.running) sum += t.progress;
    double const threshold = sum / static_cast<double>(job.running.size()) - gap;
    stragglers list;
    for (std::size_t i = 0; i < job.running.size(); ++i)
        if (job.running[i].progress < threshold) list.push_back({i, job.running[i].progress});
    return lowest_first(std::move(list));
}

inline double rate_of(task const& t, double now) {
    return t.progress / (now - t.started);
}

inline stragglers late(scheduler_job const& job, double alpha) {
    std::vector<double> rates;
    rates.reserve(job.running.size());
    for (task const& t : job.running)
        if (t.started < job.now) rates.push_back(rate_of(t, job.now));
    double const mean = mean_of(rates);
    double squares = 0;
    for (double const r : rates) squares += (r - mean) * (r - mean);
    double const threshold = mean - alpha * std::sqrt(squares / static_cast<double>(rates.size()));
    stragglers list;
    for (std::size_t i = 0; i < job.running.size(); ++i) {
        task const& t = job.running[i];
        if (!(t.started < job.now)) continue;
        if (double const rate = rate_of(t, job.now); rate < threshold) list.push_back({i, rate});
    }
    return lowest_first(std::move(list));
}

inline stragglers hierarchical_late(scheduler_job const& job, double alpha, double share) {
    struct host {
        double speed = 0;
        std::size_t tasks = 0;
    };
    std::unordered_map<std::uint32_t, host> hosts;
    for (task const& t : job.running) {
        if (!(t.started < job.now)) continue;
        host& h = hosts[t.host];
        h.speed += t.progress * t.input / (job.now - t.started);
        ++h.tasks;
    }
    double sum = 0;
    for (auto& [id, h] : hosts) {
        h.speed /= static_cast<double>(h.tasks);
        sum += h.speed;
    }
    double const slow = share * sum / static_cast<double>(hosts.size());
    stragglers list = late(job, alpha);
    std::erase_if(list, [&](found const& f) { return !(hosts[job.running[f.task].host].speed < slow); });
    return list;
}

inline stragglers longer_than(scheduler_job const& job, double threshold) {
    stragglers list;
    for (std::size_t i = 0; i < job.running.size(); ++i)
        if (double const elapsed = job.now - job.running[i].started; elapsed > threshold)
            list.push_back({i, elapsed});
    return highest_first(std::move(list));
}

inline stragglers average_time(scheduler_job const& job, double factor) {
    return longer_than(job, factor * mean_of(times_of_done(job)));
}

inline stragglers over_median(scheduler_job const& job, double multiplier, double quantile) {
    if (static_cast<double>(job.done.size()) < quantile * static_cast<double>(job.tasks())) return {};
    std::vector<double> times = times_of_done(job);
    auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return longer_than(job, multiplier * *middle);
}

inline stragglers flink(scheduler_job const& job, double multiplier, double ratio, double lower_bound) {
    double const tasks = static_cast<double>(job.tasks());
    if (static_cast<double>(job.done.size()) < ratio * tasks) return {};
    std::vector<double> times;
    times.reserve(job.done.size());
    for (done_task const& d : job.done) times.push_back(d.took / d.input);
    auto const middle = times.begin() + static_cast<std::ptrdiff_t>(std::round(ratio * tasks) / 2);
    std::nth_element(times.begin(), middle, times.end());
    double const threshold = multiplier * *middle;
    stragglers list;
    for (std::size_t i = 0; i < job.running.size(); ++i) {
        double const elapsed = job.now - job.running[i].started, time = elapsed / job.running[i].input;
        if (elapsed >= lower_bound && time >= threshold) list.push_back({i, time});
    }
    return highest_first(std::move(list));
}

inline double time_left(task const& t, double now) {
    return (now - t.started) * ((1 - t.progress) / t.progress);
}

inline stragglers largest_gain(scheduler_job const& job) {
    double const replacement = mean_of(times_of_done(job));
    found best{0, 0};
    double most = 0;
    for (std::size_t i = 0; i < job.running.size(); ++i) {
        task const& t = job.running[i];
        if (t.attempts > 1 || !(t.progress > 0)) continue;
        double const left = time_left(t, job.now);
        if (left - replacement > most) {
            most = left - replacement;
            best = {i, left};
        }
    }
    return most > 0 ? stragglers{best} : stragglers{};
}

inline stragglers mantri(scheduler_job const& job, double delta, std::int32_t max_copies) {
    std::vector<double> times = times_of_done(job);
    std::sort(times.begin(), times.end());
    struct candidate {
        std::size_t task;
        double probability, left;
    };
    std::vector<candidate> candidates;
    for (std::size_t i = 0; i < job.running.size(); ++i) {
        task const& t = job.running[i];
        if (t.attempts >= max_copies || !(t.progress > 0)) continue;
        double const left = time_left(t, job.now), c = t.attempts;
        auto const shorter = std::lower_bound(times.begin(), times.end(), left * c / (c + 1));
        double const p = static_cast<double>(shorter - times.begin()) / static_cast<double>(times.size());
        if (p > delta) candidates.push_back({i, p, left});
    }
    std::sort(candidates.begin(), candidates.end(), [](candidate const& a, candidate const& b) {
        if (a.probability != b.probability) return a.probability > b.probability;
        return a.left != b.left ? a.left > b.left : a.task < b.task;
    });
    stragglers list;
    list.reserve(candidates.size());
    for (candidate const& c : candidates) list.push_back({c.task, c.probability});
    return list;
}

/// LATE in full, by quantiles: of the tasks with a low rate those that would end last, up to the cap.
inline stragglers late_with_caps(scheduler_job const& job, double slow_task, double cap, double lag) {
    std::vector<double> rates;
    rates.reserve(job.running.size());
    for (task const& t : job.running)
        if (t.started < job.now) rates.push_back(rate_of(t, job.now));
    double const place = slow_task * static_cast<double>(rates.size() - 1);
    auto const nth = rates.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(rates.begin(), nth, rates.end());
    double const above = *std::min_element(nth + 1, rates.end());
    double const threshold = *nth + (place - std::floor(place)) * (above - *nth);
    struct candidate {
        std::size_t task;
        double rate, order;
    };
    std::vector<candidate> candidates;
    std::size_t copies = 0;
    for (std::size_t i = 0; i < job.running.size(); ++i) {
        task const& t = job.running[i];
        copies += static_cast<std::size_t>(t.attempts - 1);
        double const elapsed = job.now - t.started;
        if (t.attempts > 1 || elapsed < lag) continue;
        if (double const rate = t.progress / elapsed; rate < threshold)
            candidates.push_back({i, rate, rate / std::max(1 - t.progress, 1e-4)});
    }
    std::sort(candidates.begin(), candidates.end(), [](candidate const& a, candidate const& b) {
        return a.order != b.order ? a.order < b.order : a.task < b.task;
    });
    stragglers list;
    for (candidate const& c : candidates) {
        if (static_cast<double>(copies++) >= cap * static_cast<double>(job.running.size())) break;
        list.push_back({c.task, c.rate});
    }
    return list;
}

} // namespace straggle_bench::plain
