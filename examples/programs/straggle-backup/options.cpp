// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "options.hpp"

#include "../common/command_line.hpp"
#include "../common/detectors.hpp"
#include "../common/text.hpp"

#include <regex>

namespace straggle_backup {

using namespace program;

namespace {

constexpr choices<profit_policy, 2> policies{{
    {"expected_gain", profit_policy::expected_gain},
    {"riski_2014", profit_policy::riski_2014},
}};
constexpr choices<gain_of, 2> gains{{
    {"job", gain_of::job},
    {"task", gain_of::task},
}};
constexpr choices<assignment_rule, 2> rules{{
    {"greedy", assignment_rule::greedy},
    {"optimal", assignment_rule::optimal},
}};
constexpr choices<output_format, 3> formats{{
    {"table", output_format::table},
    {"json", output_format::json},
    {"csv", output_format::csv},
}};
constexpr choices<running_format, 2> running_formats{{
    {"csv", running_format::csv},
    {"json", running_format::json_lines},
}};

constexpr char const* description =
    "Says for each late running task whether a copy on a different node is worth it, and on which.";

constexpr char const* before_detectors = R"(
HISTORY is what an engine wrote, as for straggle-rank, or CSV with a header (RFC 4180), one row per
attempt that has ended. Columns:
  job       group of sibling tasks that should take equally long (a stage, a map phase)     required
  node      where the attempt ran                                                           required
  start,end or duration; in the unit of the column's name (end_ms) or --time-unit           required
  status    success, succeeded, ok, true, 1, completed, done: a success; killed, cancelled:
            killed; anything else, and nothing: failed. Without this column all succeeded
  task      name of the task, unique in its job: only its first completion counts
  input     bytes or records read
  kind      what the job does; without it the part of its name after the last '/'
RUNNING is CSV with a header or JSON lines (*.json, *.jsonl, *.ndjson), a row or object per attempt
that runs. Columns or members:
  job, node, start                                                                          required
  task      rows of one task are its copies; without a name each row is a task
  progress  from 0 to 1; time: when it was reported (default: just now)
  input     as in HISTORY; kind: the same
  speculative  true for copies; without it every attempt of a task except the first is one
  copies    running attempts of the task, if it has only one row
A row without node and start is a waiting task. Without RUNNING: the attempts of HISTORY that ran at
--now. Ends after --now are ignored, so a whole history shows what would have been advised then.
NODES is CSV: node (required), slots, free, state, rack. Copies go to these nodes only. A state other
than healthy, up, ok, alive, ready, running, idle, mix(ed), alloc(ated), nothing or (on_)probation
keeps them away. If racks are given, the blacklist leaves one node of each in service.
An empty field is unknown. Bad records are counted by reason and left out.

Detectors (--detector NAME[:key=value,...]), times in seconds:
)";
constexpr char const* after_detectors = R"(  and for each      lag (of the job), task_lag, min_progress
node_aware, the default, knows how long similar tasks take and how slow nodes were in other jobs.

Examples:
  straggle-backup history.csv running.jsonl
  straggle-backup --nodes nodes.csv --avoid n7 --format json history.csv running.csv |
    jq -r '.suspects[] | select(.decision == "launch") | [.job, .task, .best.node] | @tsv'
  straggle-backup --now 1795232100000 history.csv        # what would have been advised then?
  squeue-to-json | straggle-backup --slots 4 --running-format json history.csv -

Exit status: 0 done, whether or not a copy is advised; 1 wrong usage; 2 the input cannot be read or is
not such a table; 3 the output cannot be written.)";

struct arguments {
    std::optional<std::string> from, join;
    std::string history, running, nodes, detector = "node_aware";
    std::vector<std::string> columns, running_columns, node_columns, avoid;
    std::optional<std::string> running_format, unit, now, kind_column, kind_pattern, policy, gain, assignment,
        format, launch, report_interval;
    std::optional<std::int64_t> slots, neighbors, copies_per_task; // signed, so that -1 is not a large number
    std::optional<double> resolution, drift, slot_price, least_win, most_copies, storm, reserve;
    bool no_blacklist = false, csv_safe = false, quiet = false;
};

void declare_input(CLI::App& app, arguments& a) {
    app.add_option("HISTORY", a.history, "attempts that have ended; - for standard input");
    app.add_option("--from", a.from, "format of HISTORY, as of straggle-rank (else guessed)")
        ->type_name("FORMAT");
    app.add_option("--join", a.join, "sacct's table, for a Nextflow trace without nodes")->type_name("FILE");
    app.add_option("RUNNING", a.running, "attempts that run; - for standard input");
    auto const input = "Input";
    app.add_option("--nodes", a.nodes, "the nodes and their slots (default: all in the other files)")
        ->type_name("NODES.csv")
        ->group(input);
    for (auto const& [name, list, file] : {std::tuple("--columns", &a.columns, "HISTORY"),
                                           std::tuple("--running-columns", &a.running_columns, "RUNNING"),
                                           std::tuple("--node-columns", &a.node_columns, "NODES")})
        app.add_option(name, *list, std::string("which column of ") + file + " is what: key=name,...")
            ->type_name("KEY=NAME,...")
            ->allow_extra_args(false)
            ->group(input);
    app.add_option("--running-format", a.running_format, "csv or json (default: by the name, else csv)")
        ->type_name("FORMAT")
        ->group(input);
    app.add_option("--time-unit", a.unit, "of the times: ns, us, ms or s (default: as in end_ms)")
        ->type_name("UNIT")
        ->group(input);
    app.add_option("--now", a.now, "in the unit of the starts (default: the latest time in the files)")
        ->type_name("TIME")
        ->group(input);
    app.add_option("--kind-column", a.kind_column, "column of both files with the kind of the job")
        ->type_name("NAME")
        ->group(input);
    app.add_option("--kind-pattern", a.kind_pattern,
                   "or a pattern for it in the name: group 1, or the whole match")
        ->type_name("REGEX")
        ->group(input);
}

void declare_nodes(CLI::App& app, arguments& a) {
    auto const nodes = "Nodes";
    app.add_option("--slots", a.slots, "of each node (default: the most attempts it ran at once)")
        ->type_name("N")
        ->group(nodes);
    app.add_option("--avoid", a.avoid, "no copies there; may be given several times")
        ->type_name("NODE")
        ->allow_extra_args(false)
        ->group(nodes);
    app.add_flag("--no-blacklist", a.no_blacklist, "do not avoid nodes that were slow in the history")
        ->group(nodes);
}

void declare_decision(CLI::App& app, arguments& a) {
    auto const late = "What is late";
    app.add_option("--detector", a.detector, "see below (default node_aware)")
        ->type_name("NAME[:KEY=VALUE,...]")
        ->group(late);
    app.add_option("--neighbors", a.neighbors, "similar tasks that make a prediction (default 10)")
        ->type_name("N")
        ->group(late);
    app.add_option("--report-interval", a.report_interval,
                   "time between reports of progress (default: a twentieth of the usual time)")
        ->type_name("LENGTH")
        ->group(late);

    app.add_option("--resolution", a.resolution, "error of a progress report (default 0.02)")
        ->type_name("SHARE")
        ->group(late);
    app.add_option("--drift", a.drift,
                   "how much the speed of a task changes; large: progress says little (default 0.3)")
        ->type_name("FACTOR")
        ->group(late);

    auto const worth = "What a copy is worth";
    app.add_option("--policy", a.policy, "expected_gain or riski_2014 (default expected_gain)")
        ->type_name("NAME")
        ->group(worth);
    app.add_option("--gain", a.gain,
                   "of the job, which waits for its last task, or of the task (default job)")
        ->type_name("OF")
        ->group(worth);
    app.add_option("--slot-price", a.slot_price, "of a second of a slot, in seconds of the job (default 0.1)")
        ->type_name("P")
        ->group(worth);
    app.add_option("--least-win", a.least_win, "a copy must win with this probability (default 0.5)")
        ->type_name("P")
        ->group(worth);
    app.add_option("--launch", a.launch, "time before a copy runs (default 0)")
        ->type_name("LENGTH")
        ->group(worth);

    auto const many = "How many copies";
    app.add_option("--assignment", a.assignment, "greedy or optimal (default optimal)")
        ->type_name("RULE")
        ->group(many);
    app.add_option("--copies-per-task", a.copies_per_task, "at a time (default 1)")
        ->type_name("N")
        ->group(many);
    app.add_option("--max-copies", a.most_copies,
                   "share of all slots that copies may take; one is always allowed (default 0.1)")
        ->type_name("F")
        ->group(many);
    app.add_option("--storm", a.storm,
                   "no copies if a larger share of the tasks of running jobs is suspect (default 0.3)")
        ->type_name("F")
        ->group(many);
    app.add_option("--reserve", a.reserve, "share of all slots reserved for copies (default: shared)")
        ->type_name("F")
        ->group(many);
}

void declare(CLI::App& app, arguments& a) {
    declare_input(app, a);
    declare_nodes(app, a);
    declare_decision(app, a);
    auto const output = "Output";
    app.add_option("--format", a.format, "table, json or csv (default table)")
        ->type_name("FORMAT")
        ->group(output);
    app.add_flag("--csv-safe", a.csv_safe, "in CSV, defuse names that a spreadsheet would run as formulas")
        ->group(output);
    app.add_flag("--quiet", a.quiet, "no progress bar")->group(output);
    add_version(app);
    app.footer(before_detectors + detector_help() + after_detectors);
}

// NaN is outside every range.
double within(std::string const& option, double x, double low, double high) {
    if (!(x >= low && x <= high))
        wrong(option, exact(x) + " is not from " + short_number(low) + " to " + short_number(high));
    return x;
}

std::uint32_t whole(std::string const& option, std::int64_t x, std::int64_t low) {
    if (x < low || x > 1'000'000)
        wrong(option, std::to_string(x) + " is not from " + std::to_string(low) + " to 1000000");
    return static_cast<std::uint32_t>(x);
}

double length(std::string const& option, std::string const& text) {
    return static_cast<double>(parse_length(option, text)) / 1000;
}

running_format format_of(std::string const& file) {
    for (std::string_view const end : {".json", ".jsonl", ".ndjson"})
        if (file.ends_with(end)) return running_format::json_lines;
    return running_format::csv;
}

void resolve_input(options& o, arguments const& a) {
    if (a.history.empty()) throw failure(exit_status::usage, "HISTORY is required (see --help)");
    o.history = a.history;
    if (a.from) o.from = parse_format(*a.from);
    o.join = a.join.value_or("");
    o.running = a.running;
    o.nodes = a.nodes;
    if ((o.history == "-") + (o.running == "-") + (o.nodes == "-") > 1)
        throw failure(exit_status::usage, "standard input cannot be two files at once");
    for (std::string const& c : a.columns) o.columns.override_with(c);
    for (std::string const& c : a.running_columns) o.running_columns.override_with(c, "--running-columns");
    for (std::string const& c : a.node_columns) o.node_columns.override_with(c, "--node-columns");
    if (a.kind_column) {
        o.columns.override_with("kind=" + *a.kind_column, "--kind-column");
        o.running_columns.override_with("kind=" + *a.kind_column, "--kind-column");
    }
    o.running_format = a.running_format
                           ? choose("--running-format", printable(*a.running_format), running_formats)
                           : format_of(o.running);
    if (a.unit) {
        o.unit = parse_time_unit(printable(*a.unit));
    }
    if (a.now) o.now = *a.now;
    if (a.now && a.now->empty()) wrong("--now", "it is empty");
    if (a.kind_pattern) {
        try {
            [[maybe_unused]] std::regex const check(*a.kind_pattern);
        } catch (std::regex_error const&) {
            wrong("--kind-pattern", "'" + printable(*a.kind_pattern) + "' is not a regular expression");
        }
        o.kind_pattern = a.kind_pattern;
    }
}

void resolve_decision(options& o, arguments const& a) {
    if (a.detector == "all") wrong("--detector", "choose one");
    static_cast<void>(make_contestant(a.detector, {})); // better reported before a long file is read
    o.detector = a.detector;
    if (a.neighbors) o.neighbors = whole("--neighbors", *a.neighbors, 1);
    if (a.report_interval) o.report_interval = length("--report-interval", *a.report_interval);
    if (a.resolution) o.resolution = within("--resolution", *a.resolution, 1e-6, 1);
    if (a.drift) o.drift = within("--drift", *a.drift, 0, 10);
    if (a.policy) o.policy = choose("--policy", printable(*a.policy), policies);
    if (o.policy == profit_policy::riski_2014)
        for (auto const& [name, given] :
             {std::pair("--slot-price", a.slot_price.has_value()),
              std::pair("--least-win", a.least_win.has_value()), std::pair("--gain", a.gain.has_value())})
            if (given) wrong(name, "riski_2014 does not use it");
    if (o.policy == profit_policy::riski_2014) o.gain = gain_of::task;
    if (a.gain) o.gain = choose("--gain", printable(*a.gain), gains);
    if (a.slot_price) o.slot_price = within("--slot-price", *a.slot_price, 0, 1e6);
    if (a.least_win) o.least_win = within("--least-win", *a.least_win, 0, 1);
    if (a.launch) o.launch = length("--launch", *a.launch);
    if (a.assignment) o.rule = choose("--assignment", printable(*a.assignment), rules);
    if (a.copies_per_task) o.copies_per_task = whole("--copies-per-task", *a.copies_per_task, 1);
    if (a.most_copies) o.most_copies = within("--max-copies", *a.most_copies, 0, 1);
    if (a.storm) o.storm = within("--storm", *a.storm, 0, 1);
    if (a.reserve) o.reserve = within("--reserve", *a.reserve, 0, 1);
}

options resolve(arguments const& a) {
    options o;
    resolve_input(o, a);
    resolve_decision(o, a);
    if (a.slots) o.slots = whole("--slots", *a.slots, 0);
    o.avoid = a.avoid;
    o.blacklist = !a.no_blacklist;
    if (a.format) o.format = choose("--format", printable(*a.format), formats);
    o.csv_safe = a.csv_safe;
    o.quiet = a.quiet;
    return o;
}

} // namespace

std::string_view to_string(profit_policy p) {
    return name_in(policies, p);
}
std::string_view to_string(assignment_rule r) {
    return name_in(rules, r);
}
std::string_view to_string(gain_of g) {
    return name_in(gains, g);
}

std::optional<options> parse_command_line(int argc, char const* const* argv) {
    CLI::App app(description, "straggle-backup");
    arguments a;
    declare(app, a);
    if (!parse(app, argc, argv)) return std::nullopt;
    return resolve(a);
}

} // namespace straggle_backup
