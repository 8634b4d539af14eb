// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Table "wins": whether copies win, for all pairs priced and for those launched.
#include "reliability.hpp"

#include <straggle/mitigate/speculator.hpp>

#include <vector>

namespace claims {

namespace {

using namespace straggle;
using speculator = mitigate::speculator<>;
using mitigate::copy_row;
using mitigate::place_row;
using mitigate::running_row;

// A planner that is obeyed, and one that prices all late tasks at no cost and is not, on jobs of 40 tasks on
// 20 nodes. The time that a copy would have taken is drawn anew for each pair that is priced.
struct luck {
    char const* name;
    double (*of_task)(engine&);
    double (*of_place)(engine&);
    bool reports; // its progress
};
std::array<reliability, 2> wins(luck const& l) {
    engine g(41), other(43);
    speculator planner;
    speculator all(all_priced());
    std::vector<place_row> places;
    for (std::uint32_t n = 0; n < 20; ++n) places.push_back({.row = n, .node = n, .slots = 4, .free = 2});
    std::vector<running_row> running;
    std::array<reliability, 2> out; // of all pairs, of copies
    for (std::uint64_t job = 0; job < 600; ++job) {
        double const at = 1000.0 * static_cast<double>(job);
        std::array<double, 40> own{}, took{}, copy_from{}, copy_end{}, claim{};
        std::array<bool, 40> told{};
        for (std::size_t i = 0; i < 40; ++i) {
            own[i] = 10 * l.of_task(g);
            took[i] = own[i] * l.of_place(g);
        }
        for (double age = 2; age < 300; age += 2) {
            running.clear();
            for (std::size_t i = 0; i < 40; ++i) {
                bool const copied = claim[i] > 0;
                double const end = copied ? (std::min)(took[i], copy_end[i]) : took[i];
                auto const node = std::uint32_t(i % 20);
                if (end <= age) {
                    if (told[i]) continue;
                    told[i] = true;
                    bool const won = copied && copy_end[i] < took[i];
                    for (speculator* p : {&planner, &all}) {
                        p->observe_ended({.job = job,
                                          .task = i,
                                          .kind = 1,
                                          .node = node,
                                          .start = at,
                                          .end = at + end,
                                          .how = won ? attempt_status::killed : attempt_status::success});
                        if (copied)
                            p->observe_ended({.job = job,
                                              .task = i,
                                              .kind = 1,
                                              .node = 19,
                                              .start = at + copy_from[i],
                                              .end = at + end,
                                              .how = won ? attempt_status::success : attempt_status::killed,
                                              .is_copy = true});
                    }
                    if (copied && job >= 100) out[1].add(job, claim[i], won);
                    continue;
                }
                auto const add = [&](bool is_copy, double start, double whole) {
                    running.push_back({.row = std::uint32_t(running.size()),
                                       .job = job,
                                       .task = i,
                                       .kind = 1,
                                       .node = is_copy ? 19u : node,
                                       .start = at + start,
                                       .attempts = copied ? 2u : 1u,
                                       .is_copy = is_copy});
                    if (!l.reports) return;
                    running.back().progress = (age - start) / whole;
                    running.back().reported = at + age;
                };
                add(false, 0, took[i]);
                if (copied) add(true, copy_from[i], copy_end[i] - copy_from[i]);
            }
            all.plan(at + age, running, places, {});
            for (copy_row const& c : all.copies()) {
                running_row const& t = running[c.task_row];
                if (job < 100 || t.is_copy || claim[t.task] > 0) continue;
                out[0].add(job, c.win_probability, age + own[t.task] * l.of_place(other) < took[t.task]);
            }
            planner.plan(at + age, running, places, {});
            for (copy_row const& c : planner.copies()) {
                std::uint64_t const i = running[c.task_row].task;
                if (claim[i] > 0) continue;
                claim[i] = c.win_probability;
                copy_from[i] = age;
                copy_end[i] = age + own[i] * l.of_place(g);
            }
        }
    }
    return out;
}

} // namespace

int print_wins() {
    reliability::head("what makes a task late");
    bool holds = true;
    for (luck const& l : {luck{"Pareto, of the place", even, pareto, false},
                          luck{"Pareto, of the place; progress", even, pareto, true},
                          luck{"bimodal, of the place", even, bimodal, false},
                          luck{"bimodal, of the place; progress", even, bimodal, true},
                          luck{"lognormal, half of it the task's", lognormal, lognormal, false},
                          luck{"bimodal, of the task", bimodal, lognormal, false},
                          luck{"bimodal, of the task; progress", bimodal, lognormal, true},
                          luck{"bimodal, of both", bimodal, bimodal, false}}) {
        auto const [priced, launched] = wins(l);
        holds = priced.print(std::string(l.name) + ": all priced") && holds;
        holds = launched.print(std::string(l.name) + ": launched") && holds;
    }
    return holds ? 0 : 1;
}

} // namespace claims
