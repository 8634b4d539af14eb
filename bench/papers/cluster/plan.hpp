// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The input of a simulation: machines, what goes wrong with them, and the jobs that arrive. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cluster {

/// One machine.
struct node_spec {
    double speed = 1e9; ///< flop/s of a core
    std::uint32_t cores = 1;
    std::uint32_t slots = 2;
    double disk = 100e6;    ///< byte/s, reading and writing together
    double network = 125e6; ///< byte/s each way
};

/// What power machines draw: idle, and for each busy core.
struct power_spec {
    double idle = 65;
    double core = 17;
};

enum class fault_kind : std::uint8_t {
    cpu,    ///< `strength` endless loops compete for the cores
    memory, ///< cores run at 1 / `strength`, the disk at 1 / `disk_strength` of their speed, both with noise
};

/// A fault of a machine, from one time to another.
struct fault {
    std::uint32_t node = 0;
    fault_kind kind = fault_kind::cpu;
    double from = 0;
    double to = 1e18;
    double strength = 1;
    double disk_strength = 1;
    double noise = 0.3; ///< deviation of the logarithm of the slowdown, drawn anew every `breath` seconds
    double breath = 15;
};

/// The work of one task: it reads, fetches, computes and writes.
struct task_spec {
    double read = 0;  ///< bytes from the disk
    double fetch = 0; ///< bytes over the network, from another machine
    double flops = 0;
    double write = 0; ///< bytes to the disk
    double input = 1; ///< its size as a scheduler knows it, relative to its siblings
};

/// Tasks that may run at the same time; the next phase of a job begins when all of this one have finished.
struct phase_spec {
    std::vector<task_spec> tasks;
};

struct job_spec {
    std::string kind; ///< the workload
    double arrival = 0;
    std::vector<phase_spec> phases{};
};

struct plan {
    std::vector<node_spec> nodes;
    std::vector<fault> faults;
    std::vector<job_spec> jobs;     ///< in order of arrival
    double heartbeat = 1;           ///< between two rounds of the master, which learns of ends in them
    double report_interval = 3;     ///< between two progress reports of an attempt
    double launch = 1.5;            ///< before an attempt begins to work
    double attempt_noise = 0;       ///< deviation of the logarithm of what an attempt computes, anew for each
    double breath_noise = 0.03;     ///< of healthy machines: deviation of the logarithm of their speed
    double breath = 60;             ///< how long a machine keeps a speed
    bool shuffle_from_disk = false; ///< what a task fetches is read from the source's disk as it is sent
    power_spec power;
    std::uint64_t seed = 1;
};

} // namespace cluster
