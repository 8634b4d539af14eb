// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// straggle-rank: which nodes of a cluster are slow, from a recorded task history.

#include "../common/failure.hpp"
#include "../common/run.hpp"
#include "../common/text.hpp"
#include "decide.hpp"
#include "decision_log.hpp"
#include "output.hpp"
#include "replay_log.hpp"
#include "steps.hpp"
#include "timeline_picture.hpp"
#include "window_output.hpp"

#include <iostream>

#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace straggle_rank {

using namespace program;
namespace {

bool colors() {
    return isatty(STDOUT_FILENO) != 0;
}

void print(result const& r) {
    switch (r.options.format) {
    case output_format::table:
        print_table(std::cout, r, colors());
        break;
    case output_format::json:
        print_json(std::cout, r);
        break;
    case output_format::csv:
        print_csv(std::cout, r);
        break;
    }
    flush_output();
}

std::unique_ptr<window_printer> printer_of(history const& h, options const& o,
                                           window_calendar const& calendar) {
    if (o.format == output_format::json) return window_json(h, o, calendar);
    if (o.format == output_format::csv) return window_csv(h, o, calendar);
    return window_table(h, o, calendar, colors());
}

void run_windows(history& past, result const& whole, fleet const& cluster) {
    options const& o = whole.options;
    window_calendar const calendar = calendar_of(whole.history, o);
    if (std::string const wrong = complaint(whole.history, o); !wrong.empty())
        std::cerr << "straggle-rank: --window " << length_text(o.windows->window_ms) << ": " << wrong << '\n';
    auto const printer = printer_of(whole.history, o, calendar);
    std::vector<window_sink*> sinks{printer.get()};
    std::optional<log_writer> log;
    if (!o.log.empty()) sinks.push_back(&log.emplace(whole.history, o, cluster, calendar));
    std::optional<timeline_picture> picture;
    if (!o.report.empty()) sinks.push_back(&picture.emplace());
    timeline const t = follow(past, o, cluster, calendar, sinks, o.report.empty() && past.inputs.empty());
    if (log) log->close();
    if (picture) write_report(o.report, whole, picture->data(t, whole));
    printer->print(std::cout, whole, t);
    flush_output();
}

void learn_from(history const& past, options const& o) {
    learning const learned = learn(past, o);
    print_learning(std::cout, learned, past, o, write_model(o.future.learn, learned.model));
    flush_output();
}

int replay(std::string const& file) {
    replay_result const r = replay_log(file);
    if (r.different == 0)
        std::cout << counted(r.decisions, "decision") << ", all the same\n";
    else
        std::cout << r.first << '\n'
                  << grouped(r.different) << " of " << counted(r.decisions, "decision") << " differ\n";
    flush_output();
    return r.different == 0 ? 0 : 1;
}

// Why no record could be used.
std::string nothing_used(history const& past, ranking const& nodes) {
    if (past.log)
        return counted(past.log->attempts, "attempt") + " read, all rejected" +
               readers::reasons_of(*past.log);
    std::string text = past.unended == 0
                           ? "every record was rejected"
                           : counted(past.unended, "attempt") + " still running, and none that has ended";
    for (rejected_records const& some : rejected(past, nodes)) text += "; " + in_words(some);
    return text;
}

// Checks that the requested data exist.
void check(history const& past, ranking const& nodes, options const& o) {
    if (o.normalizer == normalizer::work_rate && !past.has_inputs)
        throw failure(exit_status::bad_input,
                      past.file +
                          ": --normalizer work_rate needs a column for the input (see --columns input=NAME)");
    if (o.asks_for_tasks && !past.has_tasks)
        throw failure(exit_status::bad_input,
                      past.file +
                          ": --first-completion needs a column for the task (see --columns task=NAME)");
    auto const& counts = nodes.attempts();
    if (past.rows > 0 && counts.used + counts.failed + counts.killed + counts.superseded == 0)
        throw failure(exit_status::bad_input, past.file + ": " + nothing_used(past, nodes));
}

void run(options o) {
    history past = read_history(o.files, {.columns = o.columns,
                                          .from = o.from,
                                          .join = o.join,
                                          .success = o.success,
                                          .needs_input = o.normalizer == normalizer::work_rate,
                                          .show_progress = !o.quiet && isatty(STDERR_FILENO) != 0});
    if (o.finds_window) o.windows = recommended_lengths(past, o);
    if (!o.future.learn.empty()) return learn_from(past, o);
    ranking const nodes = rank(past, o);
    check(past, nodes, o);
    fleet const cluster = fleet_of(past, o);
    std::vector<std::string> const names = distinct_names(cluster.names);
    std::optional<expectation> expected;
    if (!o.future.forecast.empty()) expected = expect(past, o);
    expectation const* const asked_for = expected ? &*expected : nullptr;
    whole_evidence const weighed = weigh(past, cluster, o,
                                         !o.windows && !o.causes && o.report.empty() && past.inputs.empty() &&
                                             o.format != output_format::table);
    decision const verdicts = o.decides_by_slowdown() && asked_for == nullptr
                                  ? weighed.decision
                                  : decide(nodes, cluster, o, asked_for);
    std::optional<lost_time> lost;
    if (o.causes) lost = lost_by_cause(past, weighed.slowdowns);
    result const all{o, past, nodes, verdicts, weighed, asked_for, lost ? &*lost : nullptr, &names};
    if (o.windows) return run_windows(past, all, cluster);
    if (!o.report.empty()) write_report(o.report, all);
    print(all);
}

int main_of(int argc, char const* const* argv) {
    return program::run("straggle-rank", [&] {
        if (std::optional<options> const o = parse_command_line(argc, argv)) {
            if (!o->replay.empty()) return replay(o->replay);
            if (!o->steps) {
                run(*o);
            } else {
                print_steps(std::cout, *o, !o->quiet && isatty(STDERR_FILENO) != 0);
                flush_output();
            }
        }
        return static_cast<int>(exit_status::done);
    });
}

} // namespace
} // namespace straggle_rank

int main(int argc, char** argv) {
#ifdef __GLIBC__
    // Returns the tables of a long history to the system at once. By default, glibc keeps ever larger ones
    // for itself.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
    return straggle_rank::main_of(argc, argv);
}
