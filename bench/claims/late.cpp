// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Table "late": which tasks are late, with each kind of progress and without any.
#include "reliability.hpp"

#include <straggle/mitigate/speculator.hpp>

#include <vector>

namespace claims {

namespace {

using namespace straggle;
using speculator = mitigate::speculator<>;
using mitigate::place_row;
using mitigate::running_row;

// What an attempt reports when a share of its work is done.
double shown(int kind, double share, double bias, engine& g) {
    switch (kind) {
    case 1: // noisy
        return (std::min)(share * bias * std::exp(0.03 * normal(g)), 0.999);
    case 2: // jumping: soon at 0.9, where it stays
        return (std::min)(share / 0.6, 1.0) * 0.9;
    case 3: { // three phases that count equally, and take 0.2, 0.3 and 0.5 of the time
        double out = 0;
        for (double const phase : {0.2, 0.3, 0.5}) {
            out += std::clamp(share / phase, 0.0, 1.0) / 3;
            share -= phase;
        }
        return out;
    }
    default:
        return share;
    }
}
struct found {
    double right = 0, wrong = 0, missed = 0;
    [[nodiscard]] double f1() const { return 2 * right / (2 * right + wrong + missed); }
};
// Jobs of 40 tasks without copies. A task is found if it is suspected while it runs, and slow if it takes 1.5
// times the median of its job.
found late(int kind, bool use_progress, double (*next)(engine&)) {
    engine g(11), noise(12);
    speculator planner({.use_progress = use_progress});
    std::vector<place_row> const places{{.slots = 1000, .free = 500}};
    std::vector<running_row> running;
    found out;
    for (std::uint64_t job = 0; job < 400; ++job) {
        double const at = 1000.0 * static_cast<double>(job);
        std::array<double, 40> took{}, bias{}, sorted{}, last{};
        std::array<bool, 40> told{}, suspected{};
        for (std::size_t i = 0; i < 40; ++i) {
            took[i] = 10 * next(g);
            bias[i] = std::exp(0.1 * normal(noise));
        }
        sorted = took;
        std::sort(sorted.begin(), sorted.end());
        for (double age = 1; age < sorted.back(); age += 1) {
            running.clear();
            for (std::uint64_t i = 0; i < 40; ++i) {
                if (took[i] <= age) {
                    if (!told[i])
                        planner.observe_ended(
                            {.job = job, .task = i, .kind = 1, .start = at, .end = at + took[i]});
                    told[i] = true;
                    continue;
                }
                running.push_back({.row = std::uint32_t(i), .job = job, .task = i, .kind = 1, .start = at});
                if (kind == 5 || (kind == 4 && i % 2 == 0)) continue;
                last[i] = (std::max)(last[i], shown(kind, age / took[i], bias[i], noise));
                running.back().progress = last[i];
                running.back().reported = at + age;
            }
            planner.plan(at + age, running, places, {});
            for (auto const& s : planner.suspects()) suspected[s.row] = true;
        }
        if (job < 50) continue; // still learning
        double const slow = 1.5 * (sorted[19] + sorted[20]) / 2;
        for (std::size_t i = 0; i < 40; ++i) {
            out.right += took[i] > slow && suspected[i] ? 1 : 0;
            out.wrong += took[i] <= slow && suspected[i] ? 1 : 0;
            out.missed += took[i] > slow && !suspected[i] ? 1 : 0;
        }
    }
    return out;
}
double two_nodes(engine& g) { // a tenth runs on nodes that are twice as slow
    return lognormal(g) * (uniform(g) < 0.1 ? 2 : 1);
}

} // namespace

int print_late() {
    std::printf("| progress | times | precision | recall | F1 | F1 without progress "
                "|\n|---|---|---:|---:|---:|---:|\n");
    bool holds = true;
    constexpr std::array names{"exact", "noisy", "jumping", "phased", "of every other task"};
    struct family {
        char const* name;
        double (*next)(engine&);
    };
    for (family const& f :
         {family{"lognormal, a tenth twice as slow", two_nodes},
          family{"one in ten takes four times as long", bimodal}, family{"Pareto 1.8", pareto}}) {
        double const without = late(5, true, f.next).f1();
        for (int kind = 0; kind < 5; ++kind) {
            found const a = late(kind, true, f.next);
            std::printf("| %s | %s | %.3f | %.3f | %.3f | %.3f |\n", names[static_cast<std::size_t>(kind)],
                        f.name, a.right / (a.right + a.wrong), a.right / (a.right + a.missed), a.f1(),
                        without);
            std::fflush(stdout);
            holds = holds && a.f1() >= without - 0.02;
        }
    }
    return holds ? 0 : 1;
}

} // namespace claims
