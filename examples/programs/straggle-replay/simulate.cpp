// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "simulate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace straggle_replay {

namespace {

constexpr std::uint32_t nodes = 16, slots = 4, jobs = 8, tasks = 120;
constexpr double heartbeat = 3; // seconds

class simulation {
  public:
    explicit simulation(std::uint64_t seed) : engine_(seed) {
        for (std::uint32_t n = 0; n < nodes; ++n) h.nodes.insert("node-" + std::to_string(n + 1));
        for (double& s : slowdown_) s = std::exp(0.04 * normal());
        slowdown_[3] = 1.5;
        slowdown_[8] = 1.8;
        slowdown_[13] = 2.4;
    }

    void run() {
        for (std::uint32_t j = 0; j < jobs; ++j) {
            if (j == jobs / 2) slowdown_[10] = 1.7;
            job(h.jobs.insert("job-" + std::to_string(j + 1)));
        }
    }

    history h;
    std::vector<report> reports;

  private:
    // The distributions of the standard library differ between vendors.
    double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }

    void job(std::uint32_t j) {
        double const usual = 35 + 30 * uniform();
        std::vector<double> free(std::size_t{nodes} * slots, now_);
        for (double& f : free) f += uniform(); // seconds until the scheduler reacts
        for (std::uint32_t task = 0; task < tasks; ++task) {
            double time = usual * std::exp(0.08 * normal());
            if (uniform() < 0.02) time *= 1.5 + 2 * uniform();
            double failed = 0; // when the previous attempt failed
            for (std::uint32_t number = 0;; ++number) {
                auto const slot = std::ranges::min_element(free) - free.begin();
                auto const node = static_cast<std::uint32_t>(slot) / slots;
                double& begin = free[static_cast<std::size_t>(slot)];
                begin = (std::max)(begin, failed);
                bool const fails = uniform() < 0.01;
                double const whole = time * slowdown_[node];
                double const took = fails ? whole * uniform() : whole;
                add(j, task, number, node, begin, took, whole, fails);
                begin += took + 0.5;
                failed = begin;
                now_ = (std::max)(now_, begin);
                if (!fails) break;
            }
        }
        now_ += 5;
    }

    void add(std::uint32_t j, std::uint32_t task, std::uint32_t number, std::uint32_t node, double begin,
             double took, double whole, bool fails) {
        attempt a;
        a.job = j;
        a.task = task;
        a.number = number;
        a.node = node;
        a.start = milliseconds(begin);
        a.end = milliseconds(begin + took);
        if (fails) a.status = straggle::attempt_status::failed;
        h.attempts.push_back(a);
        for (double at = heartbeat * uniform(); at < took; at += heartbeat) {
            double const done = at / whole + 0.005 * normal();
            double const per_cent = std::floor(100 * std::clamp(done, 0.0, 1.0));
            reports.push_back({j, task, number, milliseconds(begin + at), per_cent / 100});
        }
    }
    // Makes the last bits of a logarithm irrelevant.
    static moment milliseconds(double seconds) {
        return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    }

    std::mt19937_64 engine_;
    std::array<double, nodes> slowdown_{};
    double now_ = 0;
};

} // namespace

history simulate(std::uint64_t seed, bool with_input) {
    simulation s(seed);
    s.run();
    s.h.file = "simulation " + std::to_string(seed);
    s.h.progress_file = s.h.file;
    put_on_tape(s.h, s.reports, true, true, with_input);
    return std::move(s.h);
}

} // namespace straggle_replay
