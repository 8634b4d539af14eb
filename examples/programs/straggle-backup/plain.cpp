// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/csv.hpp"
#include "../common/text.hpp"
#include "output.hpp"

#include <ostream>

namespace straggle_backup {

using namespace program;

namespace {

using enum straggle::assign::backup_refusal;

std::string budget_reason(advice const& a, result const& r) {
    if (a.refused_by == "copies_per_task")
        return "as many copies of it run as may: " + std::to_string(a.task->attempts_running() - 1);
    if (a.refused_by == "suspect_share_limit")
        return "storm: " + counted(r.advised.suspects.size(), "suspect") + " among " +
               counted(r.advised.tasks, "task") + ", more than " + percent(r.options.storm) +
               "; too many to trust what they are compared with";
    if (a.refused_by == "speculative_cap")
        return "copies may take " + counted(static_cast<std::uint64_t>(r.advised.copy_limit), "slot") +
               " of " + grouped(r.cluster.slots) + ", and better ones do";
    return std::string(a.refused_by);
}

std::string percent_of(double share) {
    return fixed(100 * share, 0) + " %";
}

} // namespace

std::string time_text(double seconds) {
    auto const digits = [](double x) { return fixed(x, x < 9.95 ? 1 : 0); };
    if (seconds < 0.0995) return fixed(seconds * 1000, 0) + " ms";
    if (seconds < 119.5) return digits(seconds) + " s";
    if (seconds < 7170) return digits(seconds / 60) + " min";
    if (seconds < 172'000) return digits(seconds / 3600) + " h";
    return digits(seconds / 86400) + " d";
}

std::string reason(advice const& a, result const& r) {
    if (a.launch) {
        straggle::assign::backup_value const& v = a.best->value;
        return "gains " + time_text(v.gain) + " and costs " + time_text(v.cost) + ", the copy is " +
               percent_of(v.win_probability) + " likely to win";
    }
    switch (*a.reason) {
    case unknown_node:
    case same_node:
        return "every node runs it already";
    case excluded:
        return "every other node is to be avoided";
    case no_slot:
        return a.nodes[excluded] > 0 ? "no slot is free but on nodes that are to be avoided"
                                     : "no slot is free on any other node";
    case on_probation:
        return "only nodes on probation are left";
    case cannot_run:
        return "it cannot run on any other node that is free";
    case no_prediction:
        return "how long it would take elsewhere is not known";
    case not_profitable: {
        if (!a.best) break;
        straggle::assign::backup_value const& v = a.best->value;
        std::string const text =
            "a copy would gain " + time_text((std::max)(v.gain, 0.0)) + " and cost " + time_text(v.cost);
        return a.next_slowest > 0
                   ? text + "; the job still takes " + time_text(a.next_slowest) + " without it"
                   : text;
    }
    case unlikely_to_win:
        if (!a.best) break;
        return "a copy would win at " + percent_of(a.best->value.win_probability) + " only";
    case no_straggler:
        return "how long it will still take is not known";
    case may_not_copy:
        return "it must never run twice";
    case no_nodes:
        return "there is no other node";
    case slots_taken:
        return "the free slots go to copies that bring more";
    case over_limit:
        return budget_reason(a, r);
    }
    return std::string(to_string(*a.reason));
}

void print_csv(std::ostream& out, result const& r) {
    out << "job,task,node,attempts,elapsed_s,progress,usual_s,left_low_s,left_median_s,left_high_s,decision,"
           "reason,"
           "candidate,copy_low_s,copy_median_s,copy_high_s,gain_s,cost_s,profit_s,win_probability,runner_up,"
           "runner_up_profit_s\n";
    auto const range = [&](std::optional<time_range> const& t) {
        if (t)
            out << ',' << exact(t->low) << ',' << exact(t->median) << ',' << exact(t->high);
        else
            out << ",,,";
    };
    auto const or_nothing = [](std::optional<double> x) { return x ? exact(*x) : std::string(); };
    auto const quoted = [&](std::string_view text) { return csv::quoted(text, r.options.csv_safe); };
    auto const node = [&](std::optional<candidate> const& c) {
        return c ? quoted(r.names.nodes[r.cluster.nodes[c->node].id]) : std::string();
    };
    for (advice const& a : r.advised.suspects) {
        running_attempt const& runs = a.task->best();
        out << quoted(r.names.jobs[a.job]) << ','
            << (a.task->task ? quoted(r.names.tasks[*a.task->task]) : "") << ','
            << quoted(r.names.nodes[runs.node]) << ',' << a.task->attempts_running() << ','
            << exact(a.elapsed) << ',' << or_nothing(runs.progress) << ',' << or_nothing(a.usual);
        range(a.left);
        out << ',' << (a.launch ? "launch" : "no") << ',' << (a.reason ? to_string(*a.reason) : "") << ','
            << node(a.best);
        range(a.best ? std::optional(a.best->time) : std::nullopt);
        if (a.best) {
            straggle::assign::backup_value const& v = a.best->value;
            out << ',' << exact(v.gain) << ',' << exact(v.cost) << ',' << exact(v.profit) << ','
                << exact(v.win_probability);
        } else {
            out << ",,,,";
        }
        out << ',' << node(a.runner_up) << ','
            << (a.runner_up ? exact(a.runner_up->value.profit) : std::string()) << '\n';
    }
}

} // namespace straggle_backup
