// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The input of a simulation: nodes, what goes wrong with them, and the jobs that arrive. Plain data; all
/// times in seconds, all work in seconds on a slot of speed 1.
#pragma once

#include "luck.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace lab {

struct time_span {
    double from = 0;
    double to = 0;
};

/// From a time on, a node takes this many times as long as by design.
struct speed_step {
    double from = 0;
    double slowdown = 1;
};

struct node_spec {
    std::uint32_t slots = 1;
    std::uint32_t machine_class = 0;
    std::uint32_t domain = 0;         ///< its rack
    double speed = 1;                 ///< of a slot, by design
    std::vector<speed_step> faults{}; ///< in order of time
    std::vector<time_span> away{};    ///< in order of time: absent, its tasks are lost
    std::vector<time_span> holes{};   ///< in order of time: all attempts fail
};

struct task_spec {
    double work = 1;  ///< without luck
    double input = 0; ///< its size as the scheduler knows it; 0: unknown
};

struct job_spec {
    double arrival = 0;
    std::uint32_t kind = 0; ///< jobs of the same work
    std::uint32_t luck = 0; ///< index into the plan's `lucks`
    std::vector<task_spec> tasks{};
    bool follows = false;    ///< a further stage: begins when the one before it in the plan is over
    bool is_service = false; ///< its time is not one of the job times
    double deadline = 0;     ///< when it has to end; 0: none
    std::array<double, 3> phases{1. / 3, 1. / 3, 1. / 3}; ///< shares of the work; each reports a third
};

/// How running attempts report progress.
enum class progress_mode : std::uint8_t {
    exact,
    noisy,   ///< off by a factor of each attempt, about 10 %, and by a little more in each report
    jumping, ///< 90 % when 60 % is done, then nothing until the end
    phased,  ///< three phases count equally, however long they take
    absent,
};

struct plan {
    std::vector<node_spec> nodes;
    std::vector<job_spec> jobs; ///< in order of arrival
    std::vector<luck_model> lucks{luck_model{}};
    double heartbeat = 1;       ///< between two rounds of the master, which learns of ends in them
    double report_interval = 2; ///< between two reports of an attempt
    double launch = 0;          ///< before an attempt begins to work
    double copy_start = 0;      ///< additional, for copies
    double failures = 0;        ///< share of attempts that fail at a random point
    double preempted = 0;       ///< share of attempts that others stop at a random point
    double hole_time = 1;       ///< time after which an attempt fails on a node where all do
    progress_mode progress = progress_mode::exact;
    double contention =
        0; ///< where all slots are busy all take so much longer; needs a cluster without holes,
    bool shares_link =
        false;           ///< absences and failures; true: all slots of the cluster instead of those of a node
    double locality = 1; ///< slowdown of a task on 30 % of the nodes
    std::uint32_t decide_every = 1; ///< heartbeats
    bool copies_first = false;      ///< copies are placed before waiting tasks
    bool classes_told = true;
    std::uint64_t seed = 1;
};

} // namespace lab
