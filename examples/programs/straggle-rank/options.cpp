// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "options.hpp"

#include "../common/command_line.hpp"

#include <straggle/learn/forecast_model.hpp>

#include <algorithm>
#include <initializer_list>
#include <regex>
#include <sstream>

namespace straggle_rank {

using namespace program;

namespace {

constexpr choices<normalizer, 5> normalizers{{
    {"z", normalizer::z},
    {"robust", normalizer::robust},
    {"leave_one_out", normalizer::leave_one_out},
    {"ratio", normalizer::ratio},
    {"work_rate", normalizer::work_rate},
}};
constexpr choices<straggle::stats::deviation_kind, 2> deviations{{
    {"sample", straggle::stats::deviation_kind::sample},
    {"population", straggle::stats::deviation_kind::population},
}};
constexpr choices<straggle::rank::edge_rule, 2> edges{{
    {"closed", straggle::rank::edge_rule::closed},
    {"open", straggle::rank::edge_rule::open},
}};
constexpr choices<output_format, 3> formats{{
    {"table", output_format::table},
    {"json", output_format::json},
    {"csv", output_format::csv},
}};

constexpr char const* description =
    "Ranks the nodes of a cluster by how fast they ran the tasks of a recorded history, and lists those to "
    "avoid.";

constexpr char const* footer = R"(
FILE is what an engine wrote: sacct of Slurm (-P or --json), event logs of Spark, .jhist or Rumen's
traces of Hadoop, trace.txt of Nextflow, HAProxy's HTTP log, the joblog of GNU parallel, the log of
our Dask plugin or its task stream, the accounting of PBS, Grid Engine and LSF, HTCondor's event
log; optionally compressed with gzip or zstd. docs/reference/formats.md lists the fields that are
read. Or it is CSV with a header (RFC 4180), one row per attempt to run a task. Columns:
  job       group of sibling tasks that should take equally long (a stage, a map phase)     required
  node      where the attempt ran                                                           required
  start,end or duration, also as start_ms and so on (_s, _ms, _us, _ns); all in one unit    required
            Nanoseconds of 19 digits are exact, and so are nine decimal places
  status    success, succeeded, ok, true, 1, completed, done: a success; killed, cancelled:
            killed; anything else, and nothing: failed. Without this column all succeeded. With a
            start, no end, and running or nothing here, the attempt still runs
  task      name of the task, unique in its job: only its first completion counts
  input     bytes or records read, for --normalizer work_rate; also as input_bytes
  waited    time it waited for other tasks, as in barriers: only the rest is compared
  slots     of the node (default 1), for --max-fraction and --min-healthy
An empty field is unknown. Bad records are counted by reason and left out.

Which rank of a gang do the others wait for (--steps)? The ranks of an MPI program or of a training
job wait for each other in each step. One row for each rank, step and section. Columns:
  step      a whole number; rank: which worker                                              required
  duration or start,end of the section; or arrived: when the rank reached the barrier       required
  waited    how much of the duration it waited for other ranks
  node      where the rank runs (default: a node each); section: such as forward;
  stage     only ranks of one stage are compared
With --restart-cost and --steps-left it says whether to restart the gang with a different node.

Which nodes are weak (--select):
  slowdown:LEAST            tasks provably take more than LEAST times as long as elsewhere (default 1.1), or
                            do not end, or fail; by attempts, which add up over windows. The default
  slower_by:LEAST           the same by the ranking of each window alone
  dominated:Q[:MEAN]        significantly slower than a share Q of the other nodes, however slightly,
                            and with a mean of at least MEAN
  dominated_fdr:Q:ALPHA     the same, with the rate of false alarms in the fleet below ALPHA
  weakest_level             every node than which none is provably slower (the paper's)
  top_k:K[:SEED]            at most K of those (the paper's); SEED: its random fill
  median_mad:K[:LOW]        mean above the median by K deviations, and above LOW (HDFS)
  leave_top_k_out:K[:SIGMAS] at most K nodes clear of the rest (LogDevice)
  mean_plus_sigmas:K        mean above the fleet's by K deviations (Envoy, gRPC)

Presets: default; dsb_2019 = --min-tasks 2 --deviation population --every-success
  --select weakest_level --no-limits --exclusions rerank, the paper on dynamic server blacklisting to
  the letter. Options override a preset.

Decisions over time (--window): a window ends every --slide, and a decision follows. Lengths are
a number and ms, s, m, h or d; --window auto finds both from the history. A history is a recording:
these decisions were not obeyed, so the timeline shows what would have been decided, and a node that
would have been avoided still has evidence here. With --select slowdown, the default, the library
also decides for how long a node is avoided. For other policies --exclusions does, in
windows (default probation:3:1+escalating:1:16):
  escalating:BASE:MAX        BASE windows, doubled at every relapse up to MAX (default 1:16)
  rerank                     as long as it is weak (the paper's)
  probation:PROBES:ABOVE+... then a trial: weak if the mean of PROBES scores exceeds ABOVE (3:1)
  hysteresis:ENTER:LEAVE+... weak after ENTER weak windows in a row, well after LEAVE good ones (2:2)
hysteresis alone is hysteresis+probation+escalating, probation alone probation+escalating. If
windows overlap, no score counts twice: a node with an exclusion or a strike is judged again when the
window has moved by its whole length.

Which nodes will be weak: --learn cuts the history into periods of --period days, finds the nodes that
stand out in each, and learns what such nodes looked like in the period before. --forecast applies
the model to the last period of a history: nodes that are likely to be weak in the next one are
selected, too, after those of --select. A job belongs to the day of its first start. This is ML-NA, a machine
learning based node performance analyzer; its form of features is --look-back 0.

Examples:
  straggle-rank history.csv
  sacct -P -o JobID,NodeList,State,Start,End | straggle-rank -
  straggle-rank /var/log/spark/eventlog_v2_app-1 /var/log/spark/app-2.zstd
  straggle-rank --report nodes.html --columns start=begin,end=finish,node=host history.csv
  straggle-rank --format json history.csv.gz | jq -r '.decision.blacklisted[].node'
  straggle-rank --max-fraction 0.1 --domain '^(rack[0-9]+)-' history.csv
  straggle-rank --window 1h --slide 10m --report nodes.html --log decisions.jsonl history.csv
  straggle-rank --replay decisions.jsonl
  straggle-rank --steps --columns step=iteration,duration=seconds rank-*.csv
  straggle-rank --learn nodes.model --period 30 last-year.csv
  straggle-rank --forecast nodes.model last-month.csv

Exit status: 0 done, whether or not a node is to be avoided; 1 wrong usage, or --replay found a
difference; 2 the input cannot be read, is not such a table, or is too small to learn from; 3 the
output cannot be written.)";

// The arguments of the command line, to be applied to a preset.
struct arguments {
    std::string preset = "default";
    std::vector<std::string> files, columns;
    std::optional<std::string> from, join;
    std::vector<std::string> success;
    std::optional<std::string> normalizer, deviation, edge, select, format, domain, report;
    std::optional<std::string> window, slide, time_unit, exclusions, log, replay, learn, forecast, day;
    // Signed, so that -1 is not a large number.
    std::optional<std::int64_t> min_tasks, max_nodes, top, period, look_back, seed;
    std::optional<double> confidence, max_fraction, min_healthy, fail_open, least, restart_cost, steps_left;
    bool csv_safe = false, every_success = false, first_completion = false, no_limits = false, quiet = false,
         causes = false, steps = false;
};

void declare(CLI::App& app, arguments& a) {
    app.add_option("FILE", a.files, "the history, in files and folders; - for standard input");
    app.add_option("--from", a.from,
                   "csv, slurm, spark, hadoop, nextflow, haproxy, parallel, dask, pbs, sge, lsf,\n"
                   "htcondor (else guessed)")
        ->type_name("FORMAT");
    app.add_option("--join", a.join, "sacct's table, for a Nextflow trace without nodes")->type_name("FILE");
    app.add_option("--success", a.success, "one more status word in CSV that means success")
        ->type_name("WORD")
        ->allow_extra_args(false);
    app.add_option("--columns", a.columns,
                   "which column is what: key=name,...; key=#3 for the third of a\n"
                   "table without a header; job=name+name for names of two columns")
        ->type_name("KEY=NAME,...")
        ->allow_extra_args(false);
    app.add_flag("--steps", a.steps, "reports of steps of a gang, see below; with few other options");
    app.add_option("--restart-cost", a.restart_cost,
                   "with --steps: time to restart the gang, and work lost since its last\n"
                   "checkpoint, in the unit of the reports")
        ->type_name("TIME");
    app.add_option("--steps-left", a.steps_left, "with it: steps that the gang has still to do")
        ->type_name("N");
    auto const ranking = "Ranking";
    app.add_option("--preset", a.preset, "default or dsb_2019")->type_name("NAME")->group(ranking);
    app.add_option("--normalizer", a.normalizer, "z, robust, leave_one_out, ratio or work_rate (default z)")
        ->type_name("NAME")
        ->group(ranking);
    app.add_option("--min-tasks", a.min_tasks, "jobs with fewer tasks are not compared (default 5)")
        ->type_name("N")
        ->group(ranking);
    app.add_option("--confidence", a.confidence, "of the intervals (default 0.95)")
        ->type_name("P")
        ->group(ranking);
    app.add_option("--deviation", a.deviation, "sample or population (default sample)")
        ->type_name("KIND")
        ->group(ranking);
    app.add_option("--edge", a.edge, "closed: touching intervals are separate; or open (default closed)")
        ->type_name("RULE")
        ->group(ranking);
    auto* const every =
        app.add_flag("--every-success", a.every_success, "count every successful attempt")->group(ranking);
    app.add_flag("--first-completion", a.first_completion, "count the first one of a task (default)")
        ->excludes(every)
        ->group(ranking);

    auto const deciding = "Decision";
    app.add_option("--select", a.select, "which nodes are weak; see below (default slowdown:1.1)")
        ->type_name("POLICY")
        ->group(deciding);
    app.add_option("--max-fraction", a.max_fraction,
                   "most slots to take out (default 0.2); from three nodes on,\n"
                   "one may go that holds no more than half of them")
        ->type_name("F")
        ->group(deciding);
    app.add_option("--max-nodes", a.max_nodes, "most nodes to take out")->type_name("K")->group(deciding);
    app.add_option("--min-healthy", a.min_healthy, "least slots to keep")->type_name("M")->group(deciding);
    app.add_option("--domain", a.domain, "keep a node per failure domain: group 1, or all, of the match")
        ->type_name("REGEX")
        ->group(deciding);
    app.add_option("--fail-open", a.fail_open, "avoid no node if more than this share looks weak")
        ->type_name("F")
        ->group(deciding);
    app.add_flag("--no-limits", a.no_limits, "no limits except those given")->group(deciding);

    auto const over_time = "Decisions over time";
    app.add_option("--window", a.window, "decide on windows of this length: 10m, 1.5h, 7d, auto")
        ->type_name("LENGTH")
        ->group(over_time);
    app.add_option("--slide", a.slide, "a window ends this often (default: they do not overlap)")
        ->type_name("LENGTH")
        ->group(over_time);
    app.add_option("--time-unit", a.time_unit, "of the times: ns, us, ms or s (default: as in end_ms)")
        ->type_name("UNIT")
        ->group(over_time);
    app.add_option("--exclusions", a.exclusions,
                   "how long nodes are avoided; not with --select slowdown; see below")
        ->type_name("POLICY")
        ->group(over_time);
    app.add_option("--log", a.log, "write every decision and its evidence as JSON lines")
        ->type_name("FILE")
        ->group(over_time);
    app.add_option("--replay", a.replay, "make the decisions of a log again and compare; no other option")
        ->type_name("FILE")
        ->group(over_time);

    auto const future = "Forecast";
    app.add_option("--learn", a.learn, "learn which nodes become weak, and write the model; do not rank")
        ->type_name("MODEL")
        ->group(future);
    app.add_option("--period", a.period, "days of a period (default 30)")->type_name("N")->group(future);
    app.add_option("--day", a.day, "how long a day is (default 1d)")->type_name("LENGTH")->group(future);
    app.add_option("--look-back", a.look_back, "days that a feature covers, 0: all (default 3)")
        ->type_name("N")
        ->group(future);
    app.add_option("--seed", a.seed, "for grouping the nodes (default 1)")->type_name("N")->group(future);
    app.add_option("--forecast", a.forecast, "also select nodes that a model expects to be weak")
        ->type_name("MODEL")
        ->group(future);
    app.add_option("--least", a.least, "with at least this probability (default 0.5)")
        ->type_name("P")
        ->group(future);

    auto const output = "Output";
    app.add_option("--format", a.format, "table, json or csv (default table)")
        ->type_name("FORMAT")
        ->group(output);
    app.add_flag("--csv-safe", a.csv_safe, "in CSV, defuse names that a spreadsheet would run as formulas")
        ->group(output);
    app.add_option("--report", a.report, "write a page with plots")->type_name("FILE.html")->group(output);
    app.add_flag("--causes", a.causes, "which part of the lost time is due to nodes, input, crowds, bad luck")
        ->group(output);
    app.add_option("--top", a.top, "nodes in the table (default: all up to 40)")
        ->type_name("N")
        ->group(output);
    app.add_flag("--quiet", a.quiet, "no progress bar")->group(output);
    add_version(app);
    app.footer(footer);
}

options preset(std::string const& name) {
    options o;
    if (name == "dsb_2019") {
        o.preset = name;
        o.min_tasks = 2;
        o.deviation = straggle::stats::deviation_kind::population;
        o.counted = straggle::completions::every_success;
        o.selection_text = "weakest_level";
        o.selection = straggle::blacklist::weakest_level{};
        o.limits = {};
        o.exclusions = parse_exclusions("rerank");
    } else if (name != "default") {
        wrong("--preset", "'" + name + "' is not one of default, dsb_2019");
    }
    return o;
}

// NaN is outside every range.
double within(std::string const& option, double x, double low, double high) {
    if (!(x >= low && x <= high)) {
        std::ostringstream text;
        text << x << " is not from " << low << " to " << high;
        wrong(option, text.str());
    }
    return x;
}

std::uint64_t whole(std::string const& option, std::int64_t x) {
    if (x < 0) wrong(option, std::to_string(x) + " is negative");
    return static_cast<std::uint64_t>(x);
}

void override_ranking(options& o, arguments const& a) {
    if (a.normalizer) o.normalizer = choose("--normalizer", *a.normalizer, normalizers);
    if (a.min_tasks) o.min_tasks = whole("--min-tasks", *a.min_tasks);
    if (a.confidence) {
        if (!straggle::stats::confidence_level::from(*a.confidence))
            wrong("--confidence", "it must be between 0 and 1");
        o.confidence = *a.confidence;
    }
    if (a.deviation) o.deviation = choose("--deviation", *a.deviation, deviations);
    if (a.edge) o.edge = choose("--edge", *a.edge, edges);
    if (a.every_success) o.counted = straggle::completions::every_success;
    if (a.first_completion) o.counted = straggle::completions::first_of_task;
    o.asks_for_tasks = a.first_completion;
}

void override_decision(options& o, arguments const& a) {
    if (a.select) {
        o.selection = parse_selection(*a.select);
        o.selection_text = *a.select;
    }
    // Only rankings use scores other than the library's own.
    if (!a.select && o.decides_by_slowdown() && o.normalizer != normalizer::z) {
        o.selection = straggle::blacklist::slower_by{};
        o.selection_text = "slower_by:1.1";
    }
    if (auto* const fdr = std::get_if<straggle::blacklist::dominated_fdr>(&o.selection))
        fdr->deviation = o.deviation;
    if (a.no_limits) o.limits = {};
    if (a.max_fraction) o.limits.max_fraction = within("--max-fraction", *a.max_fraction, 0, 1);
    if (a.max_nodes) o.limits.max_nodes = whole("--max-nodes", *a.max_nodes);
    if (a.min_healthy) o.limits.min_healthy = within("--min-healthy", *a.min_healthy, 0, 1e15);
    if (a.fail_open) o.limits.fail_open = within("--fail-open", *a.fail_open, 1e-9, 1);
    if (a.domain) {
        try {
            [[maybe_unused]] std::regex const check(*a.domain);
        } catch (std::regex_error const&) {
            wrong("--domain", "'" + *a.domain + "' is not a regular expression");
        }
        o.limits.domain = a.domain;
    }
}

void override_windows(options& o, arguments const& a) {
    if (!a.window) {
        for (auto const& [name, value] : {std::pair("--slide", a.slide),
                                          std::pair("--exclusions", a.exclusions), std::pair("--log", a.log)})
            if (value) wrong(name, "needs --window");
        return;
    }
    o.finds_window = *a.window == "auto";
    if (o.finds_window && a.slide) wrong("--slide", "--window auto chooses it");
    if (!o.finds_window) o.windows = parse_lengths(*a.window, a.slide.value_or(*a.window));
    if (a.exclusions) o.exclusions = parse_exclusions(*a.exclusions);
    if (a.exclusions && o.decides_by_slowdown())
        wrong("--exclusions", "--select slowdown decides for how long; name another policy");
    if (a.log) o.log = *a.log;
    if (o.normalizer != normalizer::z)
        wrong("--normalizer", "with --window only z is possible: the others need all tasks of a job at once");
}

void override_future(options& o, arguments const& a) {
    future_options& f = o.future;
    for (auto const& [name, given] :
         {std::pair("--period", a.period.has_value()), std::pair("--day", a.day.has_value()),
          std::pair("--look-back", a.look_back.has_value()), std::pair("--seed", a.seed.has_value())})
        if (given && !a.learn) wrong(name, a.forecast ? "it is in the model: leave it out" : "needs --learn");
    if (a.least && !a.forecast) wrong("--least", "needs --forecast");
    if (a.time_unit && !a.window && !a.learn && !a.forecast)
        wrong("--time-unit", "needs --window, --learn or --forecast");
    if (a.time_unit) o.unit = parse_time_unit(*a.time_unit);
    if (a.learn && a.forecast) wrong("--learn", "not together with --forecast");
    if (a.window && a.learn) wrong("--learn", "not together with --window");
    if (a.window && a.forecast)
        wrong("--forecast", "it is for the days after the history: not together with --window");
    if (a.learn && a.report) wrong("--report", "not together with --learn");
    if (a.causes && (a.window || a.learn)) wrong("--causes", "not together with --window or --learn");
    if (a.learn && a.learn->empty()) wrong("--learn", "the name is empty");
    if (a.forecast && a.forecast->empty()) wrong("--forecast", "the name is empty");
    f.learn = a.learn.value_or("");
    f.forecast = a.forecast.value_or("");
    constexpr auto most = static_cast<double>(straggle::learn::forecast_model::most_days);
    if (a.period)
        f.days = static_cast<std::uint32_t>(within("--period", static_cast<double>(*a.period), 1, most));
    if (a.look_back)
        f.look_back =
            static_cast<std::size_t>(within("--look-back", static_cast<double>(*a.look_back), 0, most));
    if (a.seed) f.seed = whole("--seed", *a.seed);
    if (a.day) f.day_ms = parse_length("--day", *a.day);
    if (a.least) f.least = within("--least", *a.least, 0, 1);
}

// For `--replay` and `--steps`, which can be combined with few others.
void refuse_all_but(CLI::App const& app, std::initializer_list<std::string_view> few,
                    std::string const& option, std::string const& before, std::string const& after) {
    for (CLI::Option const* other : app.get_options([](CLI::Option const* o) { return o->count() > 0; }))
        if (std::find(few.begin(), few.end(), other->get_name()) == few.end())
            wrong(option, before + other->get_name() + after);
}

options resolve(arguments const& a) {
    if (a.files.empty() || a.files.front().empty())
        throw failure(exit_status::usage, "FILE is required (see --help)");
    options o = preset(a.preset);
    o.files = a.files;
    if (a.from) o.from = parse_format(*a.from);
    if (a.join) o.join = *a.join;
    o.success = a.success;
    o.steps = a.steps;
    if (a.restart_cost) o.restart_cost = within("--restart-cost", *a.restart_cost, 0, 1e300);
    if (a.steps_left) o.steps_left = within("--steps-left", *a.steps_left, 0, 1e15);
    for (std::string const& c : a.columns)
        a.steps ? o.step_columns.override_with(c) : o.columns.override_with(c);
    override_ranking(o, a);
    override_decision(o, a);
    override_windows(o, a);
    override_future(o, a);
    if (a.format) o.format = choose("--format", *a.format, formats);
    o.csv_safe = a.csv_safe;
    if (a.report) o.report = *a.report;
    if (a.top) o.top = whole("--top", *a.top);
    o.causes = a.causes;
    o.quiet = a.quiet;
    return o;
}

} // namespace

std::string_view to_string(normalizer n) {
    return name_in(normalizers, n);
}

std::optional<options> parse_command_line(int argc, char const* const* argv) {
    CLI::App app(description, "straggle-rank");
    arguments a;
    declare(app, a);
    if (!parse(app, argc, argv)) return std::nullopt;
    if (a.steps)
        refuse_all_but(
            app, {"FILE", "--steps", "--columns", "--format", "--quiet", "--restart-cost", "--steps-left"},
            "--steps", "not together with ", "");
    if (!a.steps && a.restart_cost) wrong("--restart-cost", "only with --steps");
    if (a.restart_cost.has_value() != a.steps_left.has_value())
        wrong("--restart-cost", "needs --steps-left, and the other way round");
    if (a.steps && a.format == "csv") wrong("--format", "with --steps it is table or json");
    if (!a.replay) return resolve(a);
    refuse_all_but(app, {"--replay", "--quiet"}, "--replay", "the log has all options: leave ", " out");
    options o;
    o.replay = *a.replay;
    return o;
}

} // namespace straggle_rank
