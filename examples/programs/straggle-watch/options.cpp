// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "options.hpp"

#include "../common/command_line.hpp"
#include "../common/failure.hpp"
#include "../common/length.hpp"
#include "../common/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace straggle_watch {

using namespace program;

namespace {

constexpr char const* description = "Reads the events of a cluster as JSON lines, and advises which nodes to "
                                    "avoid, and which tasks to run twice and where.";
constexpr char const* footer =
    "The lines are described in docs/reference/protocol.md. Without --socket and "
    "--follow they are read from standard\n"
    "input, and the answers go to standard output. Bad lines are counted and "
    "reported, and never end the program.\n"
    "\n"
    "Signals: TERM and INT write the state and end the program, HUP reopens the log.\n"
    "Exit status: 0 done, 1 wrong options, 2 input or state cannot be read or is "
    "in use, 3 answers cannot be written.";

struct arguments {
    std::optional<std::string> timer, lease_length, snapshot_every;
    std::optional<std::int64_t> most_nodes, most_running, longest_line, actions, most_connections;
    std::optional<std::string> actions_period;
    std::optional<double> left_alone, share_of_slots, least_slowdown, windows_per_error, first_exclusion,
        longest_exclusion;
};

std::size_t whole(char const* option, std::int64_t n, std::int64_t low, std::int64_t high) {
    if (n < low || n > high)
        wrong(option,
              std::to_string(n) + " is not from " + std::to_string(low) + " to " + std::to_string(high));
    return static_cast<std::size_t>(n);
}
double in_seconds(char const* option, std::string const& text) {
    return static_cast<double>(parse_length(option, text)) / 1000;
}

// Sets `to` if the option was given.
void between(char const* option, std::optional<double> const& given, double low, double high, double& to) {
    if (!given) return;
    if (!(*given >= low && *given <= high))
        wrong(option, exact(*given) + " is not from " + exact(low) + " to " + exact(high));
    to = *given;
}

void declare(CLI::App& app, options& o, arguments& a) {
    auto const input = "Input";
    auto* const socket =
        app.add_option("--socket", o.socket, "listen on a Unix socket, mode 0600, for this user only");
    socket->type_name("PATH")->group(input);
    app.add_option("--follow", o.follow, "read a growing file, even when it is rotated")
        ->type_name("FILE")
        ->group(input)
        ->excludes(socket);
    app.add_option("--timer", a.timer,
                   "decide this often, by this machine's clock: times are seconds since 1970")
        ->type_name("LENGTH")
        ->group(input);
    app.add_option("--longest-line", a.longest_line, "in bytes (default 4194304)")
        ->type_name("BYTES")
        ->group(input);
    app.add_option("--most-connections", a.most_connections, "at a time (default 64)")
        ->type_name("N")
        ->group(input);

    auto const decision = "Decisions";
    app.add_flag("--shadow", o.watch.shadow, "plans only say what would be done")->group(decision);
    app.add_option("--left-alone", a.left_alone,
                   "share of the jobs left alone, to measure the effect (default 0)")
        ->type_name("SHARE")
        ->group(decision);
    app.add_option("--actions", a.actions,
                   "most exclusions and copies within --actions-period (default: no limit)")
        ->type_name("N")
        ->group(decision);
    app.add_option("--actions-period", a.actions_period, "(default 1h)")
        ->type_name("LENGTH")
        ->group(decision);
    app.add_option("--most-nodes", a.most_nodes, "remembered at a time (default 65536)")
        ->type_name("N")
        ->group(decision);
    app.add_option("--most-running", a.most_running, "attempts at a time (default 1048576)")
        ->type_name("N")
        ->group(decision);

    auto const nodes =
        "Nodes (a window is as long as a task usually takes, or as the time between two decisions)";
    app.add_option("--share-of-slots", a.share_of_slots,
                   "largest share of the slots out at a time (default 0.2)")
        ->type_name("SHARE")
        ->group(nodes);
    app.add_option("--least-slowdown", a.least_slowdown,
                   "exclude only nodes that are slower than this (default 1.1)")
        ->type_name("TIMES")
        ->group(nodes);
    app.add_option("--windows-per-error", a.windows_per_error,
                   "if nothing is wrong, at most one exclusion in this many windows (default 1000)")
        ->type_name("N")
        ->group(nodes);
    app.add_option("--first-exclusion", a.first_exclusion,
                   "in windows; doubled with each relapse (default 5)")
        ->type_name("N")
        ->group(nodes);
    app.add_option("--longest-exclusion", a.longest_exclusion, "in windows (default 160)")
        ->type_name("N")
        ->group(nodes);
    app.add_flag("--probes-with-tasks", o.watch.mitigator.nodes.probes_with_tasks,
                 "nodes on probation get ordinary tasks, and stay there until one has ended")
        ->group(nodes);

    auto const state = "State";
    app.add_option("--state", o.state, "keep what was learned there across restarts and crashes")
        ->type_name("DIR")
        ->group(state);
    app.add_option("--snapshot-every", a.snapshot_every, "(default 10m)")->type_name("LENGTH")->group(state);
    app.add_option("--lease", o.lease, "file that all deciders of the cluster share: one of them decides")
        ->type_name("FILE")
        ->group(state);
    app.add_option("--lease-length", a.lease_length, "(default 30s)")->type_name("LENGTH")->group(state);

    auto const output = "Output";
    app.add_option("--log", o.log, "append plans, jobs and copies: straggle-report draws them")
        ->type_name("FILE")
        ->group(output);
    app.add_option("--metrics", o.metrics, "Prometheus text, replaced as a whole at most once a second")
        ->type_name("FILE")
        ->group(output);
    add_version(app);
    app.footer(footer);
}

} // namespace

std::optional<options> parse_command_line(int argc, char const* const* argv) {
    CLI::App app(description, "straggle-watch");
    options o;
    arguments a;
    declare(app, o, a);
    if (!parse(app, argc, argv)) return std::nullopt;
    auto& m = o.watch.mitigator;
    if (a.timer) o.timer = in_seconds("--timer", printable(*a.timer));
    if (a.lease_length) o.lease_length = in_seconds("--lease-length", printable(*a.lease_length));
    if (a.snapshot_every) o.snapshot_every = in_seconds("--snapshot-every", printable(*a.snapshot_every));
    if (a.longest_line)
        o.watch.longest_line = whole("--longest-line", *a.longest_line, 64, std::int64_t{1} << 30);
    if (a.most_connections) o.most_connections = whole("--most-connections", *a.most_connections, 1, 1000);
    if (a.most_nodes) m.most_nodes = whole("--most-nodes", *a.most_nodes, 1, 1 << 22);
    if (a.most_running) o.watch.most_running = whole("--most-running", *a.most_running, 1, 1 << 26);
    if (a.left_alone) {
        if (!(*a.left_alone >= 0 && *a.left_alone < 1))
            wrong("--left-alone", exact(*a.left_alone) + " is not from 0 to below 1");
        m.effects.left_alone = *a.left_alone;
    }
    if (a.actions_period && !a.actions) wrong("--actions-period", "means nothing without --actions");
    if (a.actions) {
        m.actions.most = whole("--actions", *a.actions, 1, std::int64_t{1} << 40);
        m.actions.period = in_seconds("--actions-period", printable(a.actions_period.value_or("1h")));
    }
    between("--share-of-slots", a.share_of_slots, 0, 1, m.nodes.share_of_slots);
    between("--least-slowdown", a.least_slowdown, 1, 1000, m.nodes.evidence.least_slowdown);
    between("--windows-per-error", a.windows_per_error, 1, 1e12, m.nodes.windows_per_error);
    between("--longest-exclusion", a.longest_exclusion, 1e-3, 1e9, m.nodes.longest_exclusion);
    m.nodes.first_exclusion = (std::min)(m.nodes.first_exclusion, m.nodes.longest_exclusion);
    between("--first-exclusion", a.first_exclusion, 1e-3, m.nodes.longest_exclusion, m.nodes.first_exclusion);
    o.watch.keeps_log = !o.log.empty();
    if (!o.lease.empty()) m.decider = 1; // the current holder, whom the file names
    return o;
}

} // namespace straggle_watch
