// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "options.hpp"

#include "../common/command_line.hpp"
#include "../common/detectors.hpp"
#include "../common/number.hpp"
#include "../common/text.hpp"
#include "mitigator_rule.hpp"

#include <charconv>

namespace straggle_replay {

using namespace program;

namespace {

constexpr choices<output_format, 3> formats{{
    {"table", output_format::table},
    {"json", output_format::json},
    {"csv", output_format::csv},
}};

constexpr char const* description =
    "Replays a recorded history to straggler detectors, and measures how good each would have been.";

constexpr char const* before_detectors = R"(
HISTORY is what an engine wrote, a file or a folder, optionally compressed with gzip or zstd: see
docs/reference/formats.md. Or it is CSV with a header (RFC 4180), one row per attempt. Columns:
  job       group of sibling tasks that should take equally long (a stage, a map phase)     required
  task      name of the task, unique in its job                                             required
  node      where the attempt ran                                                           required
  start,end when; in the unit of the column's name (end_ms) or --time-unit                  required
  attempt   distinguishes attempts of a task. Without this column each row is a new one
  status    success, succeeded, ok, true, 1, completed, done: a success; killed, cancelled:
            killed; anything else, and nothing: failed. Without this column all succeeded
  input     bytes or records read, for --inputs
PROGRESS has a row per report: job, task, attempt, time, and progress from 0 to 1. Without it
only rules based on elapsed time are useful; the others see tasks that never report.
Bad records are counted by reason and left out.

At every scan each job is shown as a scheduler would have seen it then, and the detectors name the
tasks they suspect. Overlapping attempts of a task are an original and its copies; the original of the
run that succeeded first is judged, by its last report if it was killed because a copy won. Nothing of
the future is shown except the number of tasks of a job.

Detectors (--detector NAME[:key=value,...], more than once; default: all), times in seconds:
)";
constexpr char const* after_detectors =
    R"(  mitigator         the rule of a mitigator with its defaults; only if it is named
  and for each      lag (of the job), task_lag, min_progress
warm=1: the detector knows how slow nodes were in the jobs that had finished when the job began, and
the length of --usual. (Only node_aware uses it.)

Examples:
  straggle-replay --simulate 1
  straggle-replay history.csv progress.csv --report detectors.html
  straggle-replay --detector late:lag=20 --detector node_aware:warm=1 --usual 60s h.csv p.csv
  straggle-replay --format json history.csv.gz | jq '.detectors[] | {detector, recall}'

Exit status: 0 done; 1 wrong usage; 2 the input cannot be read or is not such a table; 3 the output
cannot be written.)";

struct arguments {
    std::string file, progress_file;
    std::optional<std::string> from, join, simulate, interval, usual, unit, format, report;
    std::vector<std::string> columns, progress_columns, detectors;
    std::optional<std::int64_t> min_tasks; // signed, so that -1 is not a large number
    std::optional<double> threshold;
    bool inputs = false, quiet = false;
};

void declare(CLI::App& app, arguments& a) {
    app.add_option("HISTORY", a.file, "the history; - for standard input")->type_name("FILE");
    app.add_option("PROGRESS", a.progress_file, "what its attempts reported; - for standard input")
        ->type_name("FILE");
    app.add_option("--from", a.from, "of HISTORY, as of straggle-rank (else guessed)")->type_name("FORMAT");
    app.add_option("--join", a.join, "sacct's table, for a Nextflow trace without nodes")->type_name("FILE");
    app.add_option("--simulate", a.simulate,
                   "simulate a cluster with slow nodes instead of reading a history")
        ->type_name("SEED");
    app.add_option("--columns", a.columns, "which column of HISTORY is what: key=name,...")
        ->type_name("KEY=NAME,...")
        ->allow_extra_args(false);
    app.add_option("--progress-columns", a.progress_columns, "the same for PROGRESS")
        ->type_name("KEY=NAME,...")
        ->allow_extra_args(false);
    app.add_option("--time-unit", a.unit, "of the times: ns, us, ms or s (default: as in end_ms)")
        ->type_name("UNIT");
    app.add_flag("--inputs", a.inputs, "show detectors how much each task read");

    auto const watching = "Replay";
    app.add_option("--detector", a.detectors, "see below (default all)")
        ->type_name("NAME[:KEY=VALUE,...]")
        ->allow_extra_args(false)
        ->group(watching);
    app.add_option("--interval", a.interval,
                   "between two scans (default 1s); 'events': at every event of a job")
        ->type_name("LENGTH")
        ->group(watching);

    auto const judging = "What is a straggler";
    app.add_option("--usual", a.usual,
                   "a quantile of the times in the job (default 0.5), or a length for all: 60s")
        ->type_name("Q|LENGTH")
        ->group(judging);
    app.add_option("--threshold", a.threshold, "longer than this many times the usual (default 1.2)")
        ->type_name("FACTOR")
        ->group(judging);
    app.add_option("--min-tasks", a.min_tasks, "jobs with fewer finished tasks are not judged (default 2)")
        ->type_name("N")
        ->group(judging);

    auto const output = "Output";
    app.add_option("--format", a.format, "table, json or csv (default table)")
        ->type_name("FORMAT")
        ->group(output);
    app.add_option("--report", a.report, "write a page with plots")->type_name("FILE.html")->group(output);
    app.add_flag("--quiet", a.quiet, "no progress bar")->group(output);
    add_version(app);
    app.footer(before_detectors + detector_help() + after_detectors);
}

void resolve_input(options& o, arguments const& a) {
    if (a.simulate) {
        if (!a.file.empty()) wrong("--simulate", "there is a HISTORY too");
        std::uint64_t seed = 0;
        auto const [end, fault] =
            std::from_chars(a.simulate->data(), a.simulate->data() + a.simulate->size(), seed);
        if (fault != std::errc{} || end != a.simulate->data() + a.simulate->size())
            wrong("--simulate", "'" + *a.simulate + "' is not a whole number from 0");
        o.simulated = seed;
    } else if (a.file.empty()) {
        throw failure(exit_status::usage, "HISTORY is required, or --simulate SEED (see --help)");
    }
    o.file = a.file;
    if (a.from) o.from = parse_format(*a.from);
    o.join = a.join.value_or("");
    o.progress_file = a.progress_file;
    if (o.file == "-" && o.progress_file == "-")
        throw failure(exit_status::usage, "standard input cannot be HISTORY and PROGRESS at once");
    for (std::string const& c : a.columns) o.columns.override_with(c);
    for (std::string const& c : a.progress_columns) o.progress_columns.override_with(c, "--progress-columns");
    if (a.unit) {
        o.unit = parse_time_unit(*a.unit);
    }
    o.with_input = a.inputs;
}

void resolve_usual(options& o, arguments const& a) {
    if (a.usual) {
        number const n = read_number(*a.usual);
        if (n.kind == number_kind::unreadable || n.kind == number_kind::missing) {
            o.usual_seconds = static_cast<double>(parse_length("--usual", *a.usual)) / 1000;
        } else {
            double quantile = -1;
            if (!program::detail::read_double(*a.usual, quantile) || !(quantile >= 0 && quantile <= 1))
                wrong("--usual", "'" + *a.usual + "' is neither from 0 to 1 nor a length such as 60s");
            o.quantile = quantile;
        }
    }
    if (a.threshold) {
        if (!(*a.threshold >= 1 && *a.threshold <= 1e6))
            wrong("--threshold", short_number(*a.threshold) + " is not from 1 to 1e6");
        o.threshold = *a.threshold;
    }
    if (a.min_tasks) {
        if (*a.min_tasks < 0) wrong("--min-tasks", std::to_string(*a.min_tasks) + " is negative");
        o.min_tasks = static_cast<std::uint64_t>(*a.min_tasks);
    }
}

options resolve(arguments const& a) {
    options o;
    resolve_input(o, a);
    resolve_usual(o, a);
    if (a.interval) o.interval_ms = *a.interval == "events" ? 0 : parse_length("--interval", *a.interval);
    for (std::string const& d : a.detectors) {
        if (d == "all")
            for (std::string& each : every_detector()) o.detectors.push_back(std::move(each));
        else
            o.detectors.push_back(d);
    }
    if (o.detectors.empty()) o.detectors = every_detector();
    // Errors in them are better reported before a long file is read.
    for (std::string const& d : o.detectors)
        if (d != mitigator_rule_name) static_cast<void>(make_contestant(d, known_of(o)));
    if (a.format) o.format = choose("--format", *a.format, formats);
    if (a.report) o.report = *a.report;
    o.quiet = a.quiet;
    return o;
}

} // namespace

std::optional<options> parse_command_line(int argc, char const* const* argv) {
    CLI::App app(description, "straggle-replay");
    arguments a;
    declare(app, a);
    if (!parse(app, argc, argv)) return std::nullopt;
    return resolve(a);
}

} // namespace straggle_replay
