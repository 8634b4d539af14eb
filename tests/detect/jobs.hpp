// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Jobs for the tests of detectors: made by hand or at random, and what a detector says of them.
#pragma once

#include <straggle/detect/detector.hpp>

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace straggle_test {

/// What a `job_view` looks at.
struct job_data {
    std::vector<straggle::detect::running_task> running;
    std::vector<double> finished; ///< in any order
    std::vector<double> inputs;   ///< of the finished tasks; empty: 1 each
    std::vector<straggle::detect::job_node> nodes;
    std::uint64_t tasks = 0;
    std::uint64_t slots = 0;
    double age = 0;

    /// Valid until the data change.
    straggle::detect::job_view view() {
        if (inputs.empty()) inputs.assign(finished.size(), 1.0);
        per_input_.resize(finished.size());
        for (std::size_t i = 0; i < finished.size(); ++i) per_input_[i] = finished[i] / inputs[i];
        sorted_ = finished;
        std::ranges::sort(sorted_);
        std::ranges::sort(per_input_);
        straggle::detect::job_view v;
        v.running = running;
        v.finished = sorted_;
        v.finished_per_input = per_input_;
        v.finished_input = std::accumulate(inputs.begin(), inputs.end(), 0.0);
        v.nodes = nodes;
        double const n = static_cast<double>(finished.size());
        if (!finished.empty()) v.mean_finished = std::accumulate(sorted_.begin(), sorted_.end(), 0.0) / n;
        for (double const t : sorted_) v.sd_finished += (t - v.mean_finished) * (t - v.mean_finished) / n;
        v.sd_finished = std::sqrt(v.sd_finished);
        v.tasks = std::max(tasks, std::uint64_t{running.size() + finished.size()});
        v.slots = slots;
        v.age = age;
        return v;
    }

  private:
    std::vector<double> sorted_, per_input_;
};

/// What a detector said.
struct answer {
    straggle::detect::detection_note note = straggle::detect::detection_note::none;
    std::vector<straggle::detect::finding> suspects;

    [[nodiscard]] std::vector<std::uint32_t> tasks() const {
        std::vector<std::uint32_t> t;
        for (auto const& s : suspects) t.push_back(s.task);
        return t;
    }
};
using places = std::vector<std::uint32_t>;

/// Asks a detector. What stood in the output before it must still stand there.
template <class Detector>
answer ask(Detector detector, straggle::detect::job_view const& view) {
    straggle::detect::detector_scratch scratch;
    scratch.values = {7, 8, 9}; // left over from something else
    scratch.node_values = {3};
    scratch.order = {1, 2};
    straggle::detect::finding const before{9, 1, 2, 3};
    std::vector<straggle::detect::finding> out{before};
    answer a;
    a.note = detector.detect(view, scratch, out);
    REQUIRE_FALSE(out.empty());
    CHECK(out.front() == before);
    a.suspects.assign(out.begin() + 1, out.end());
    return a;
}
template <class Detector>
answer ask(Detector detector, job_data job) {
    return ask(std::move(detector), job.view());
}

/// A job with these running tasks: {progress, elapsed}.
inline job_data running(std::initializer_list<std::pair<double, double>> tasks) {
    job_data job;
    for (auto const& [progress, elapsed] : tasks)
        job.running.push_back({.progress = progress,
                               .elapsed = elapsed,
                               .row = static_cast<std::uint32_t>(job.running.size())});
    job.nodes.resize(1);
    return job;
}

/// A job at random, with ties, tasks that have just begun or done nothing, and now and then nothing at all.
inline job_data random_job(std::mt19937_64& engine) {
    auto const below = [&](std::uint64_t n) { return engine() % n; };
    auto const unit = [&] { return std::uniform_real_distribution<double>(0.0, 1.0)(engine); };
    job_data job;
    std::size_t const nodes = 1 + below(8), running = below(4) == 0 ? below(4) : below(60);
    std::size_t const finished = below(3) == 0 ? below(3) : below(80);
    bool const coarse = below(2) == 0, inputs = below(2) == 0;
    job.nodes.resize(nodes);
    for (std::size_t i = 0; i < running; ++i) {
        straggle::detect::running_task t;
        t.progress = coarse ? static_cast<double>(below(5)) / 4.0 : unit();
        t.elapsed = coarse ? static_cast<double>(below(4)) * 10.0 : 40.0 * unit();
        if (below(10) == 0) t.progress = 0;
        if (below(10) == 0) t.elapsed = 0;
        if (inputs) t.input = static_cast<double>(1 + below(4));
        t.node = static_cast<std::uint32_t>(below(nodes));
        t.row = static_cast<std::uint32_t>(i);
        t.copies = below(5) == 0 ? 2 : 1;
        job.running.push_back(t);
    }
    for (std::size_t i = 0; i < finished; ++i) {
        double const time = coarse ? static_cast<double>(1 + below(3)) * 10.0 : 1.0 + 30.0 * unit();
        job.finished.push_back(time);
        job.inputs.push_back(inputs ? static_cast<double>(1 + below(4)) : 1.0);
        auto& node = job.nodes[below(nodes)];
        ++node.finished;
        node.total_time += time;
    }
    job.tasks = running + finished + below(3) * below(30);
    job.age = 100.0 * unit();
    return job;
}

/// Checks an answer against the definition "suspect iff beyond the threshold".
/// @param value what the definition gives for a task; NaN if it cannot be judged
/// @param sign 1 where high values are suspect, -1 where low ones are
template <class Value>
void check_definition(answer const& a, std::size_t tasks, Value value, long double threshold, int sign) {
    std::vector<bool> named(tasks, false);
    for (auto const& s : a.suspects) {
        REQUIRE(s.task < tasks);
        CHECK_FALSE(named[s.task]);
        named[s.task] = true;
        CHECK(s.value == doctest::Approx(static_cast<double>(value(s.task))).epsilon(1e-12));
        CHECK(s.threshold == doctest::Approx(static_cast<double>(threshold)).epsilon(1e-9));
    }
    for (std::uint32_t i = 0; i < tasks; ++i) {
        long double const v = value(i);
        // On the threshold but for rounding: either way is right.
        if (std::fabs(v - threshold) <= 1e-11L * (std::fabs(v) + std::fabs(threshold))) continue;
        CHECK(named[i] == (static_cast<long double>(sign) * (v - threshold) > 0));
    }
    for (std::size_t i = 1; i < a.suspects.size(); ++i) {
        auto const &x = a.suspects[i - 1], &y = a.suspects[i];
        bool const in_order = sign * x.value > sign * y.value || (x.value == y.value && x.task < y.task);
        CHECK(in_order);
    }
}

/// For reckoning the definition with more digits than the library has.
constexpr long double wide(double x) {
    return static_cast<long double>(x);
}

/// The population's mean and deviation, by the book.
struct book_moments {
    long double mean = 0, deviation = 0;
    explicit book_moments(std::vector<long double> const& x) {
        long double const n = static_cast<long double>(x.size());
        for (long double const v : x) mean += v / n;
        for (long double const v : x) deviation += (v - mean) * (v - mean) / n;
        deviation = std::sqrt(deviation);
    }
};

inline constexpr long double not_known = std::numeric_limits<long double>::quiet_NaN();

/// Allocations of a second look at the same jobs, with the memory of the first.
template <class Detector>
std::size_t allocations_of_second_look(Detector detector, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::vector<job_data> jobs;
    for (int i = 0; i < 20; ++i) jobs.push_back(random_job(engine));
    std::vector<straggle::detect::job_view> views;
    for (auto& job : jobs) views.push_back(job.view());
    straggle::detect::detector_scratch scratch;
    std::vector<straggle::detect::finding> out;
    auto const look = [&] {
        for (auto const& view : views) {
            out.clear();
            (void)detector.detect(view, scratch, out);
        }
    };
    look();
    return allocations_during(look);
}

} // namespace straggle_test
