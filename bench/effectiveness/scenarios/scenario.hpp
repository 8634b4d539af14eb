// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A cluster and its work as one row of the frozen table (scenarios.csv), and what a seed makes of it.
#pragma once

#include "../cluster/plan.hpp"
#include "../run/distorted.hpp"
#include "histories.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lab {

/// What is the same in all rows of the frozen table, but not in drawn scenarios.
struct regime {
    double task_sigma = 0, luck_sigma = 0; ///< of the durations `lognormal`: of the task, of the attempt
    double heartbeat = 1. / 30;            ///< in usual tasks
    double reports = 2;                    ///< heartbeats between two reports of an attempt
    double launch = 1. / 50;               ///< in usual tasks, before an attempt begins to work
    double node_spread = 0.01;             ///< healthy nodes differ: deviation of the logarithm
    double burst = 0;                      ///< share of jobs that come together with the one before
    double fault_share = 0;                ///< of the nodes, for the fault `some`
    double fault_factor = 1;               ///< slowdown of these
    double fault_tasks = 0;         ///< lasts this many usual tasks, pauses three times as long; 0: for good
    double contention = 0;          ///< on a full node or link: slowdown minus 1
    bool shares_link = false;       ///< contention is of the whole cluster, not of a node
    double locality = 1;            ///< slowdown where the data are not: on 30 % of the nodes
    std::uint32_t decide_every = 1; ///< heartbeats
    std::uint32_t kinds = 6;        ///< of jobs
    double tasks = 2500;            ///< at least
    double waves = 20;              ///< tasks per slot, at least
    std::uint32_t stages = 1;       ///< of a job, one after the other; each is a job of a kind of its own
    double copy_start = 0;          ///< seconds before a copy begins to work
    double swing = 0;               ///< arrivals go up and down within each hour by this share
    double service = 0;             ///< share of the slots that one job occupies all the time
    double preempted = 0;           ///< share of attempts
    std::uint32_t lives = 1; ///< number of nodes, with different names, that take the same place in turn
    distortions seen{};      ///< between cluster and policy
};

/// One row. The words are those of the table; `make_plan` shows what they mean.
struct scenario {
    std::string name;
    std::uint32_t nodes = 0;
    std::uint32_t slots = 0; ///< of each node
    std::uint32_t generations = 1;
    std::string durations;
    std::string fault;
    double load = 0; ///< work offered, relative to what all nodes could do at their design speed
    std::uint32_t min_tasks = 0, max_tasks = 0; ///< of a job
    double task_seconds = 0;                    ///< of a usual task on a usual slot
    progress_mode progress = progress_mode::exact;
    bool copies_first = false;
    bool classes_told = false;
    double failures = 0; ///< share of attempts
    double away = 0;     ///< share of the time that a node is absent
    regime more{};
    bool is_held_out = false; ///< not to be looked at while anything is tuned
    bool needs_histories() const { return durations == "history"; }
};

/// Reads a table: of 15 columns, or with two more, `name=value` of the regime and whether it is held out.
/// @throws std::runtime_error with file and line if it is not one
std::vector<scenario> read_scenarios(std::filesystem::path const& file);

/// Draws a scenario from broad ranges: fleets, loads, durations, jobs, faults, progress, decisions.
/// @param seed and `number` identify it; the same everywhere
scenario draw_scenario(std::uint64_t seed, std::uint64_t number);
/// Scenarios at the edge of those ranges, or beyond.
std::vector<scenario> edge_scenarios();
/// All of a scenario, as `name=value` separated by commas.
std::string describe(scenario const& what);

/// Everything that happens in a scenario, except for the policy: the same everywhere for a seed.
plan make_plan(scenario const& what, std::uint64_t seed, histories const& seen);

/// Gives jobs a deadline: a multiple of the time that they usually take alone on a healthy cluster, the
/// median over luck, after their arrival.
/// @param every every n-th job, drawn; 1: all
void give_deadlines(plan& to, double factor, std::uint32_t every);

/// The load relative to what the nodes can really do while jobs arrive: faults and absences deducted.
double healthy_load(scenario const& what, plan const& made);

} // namespace lab
