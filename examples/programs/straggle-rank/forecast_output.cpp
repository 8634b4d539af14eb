// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/csv.hpp"
#include "../common/text.hpp"
#include "forecast.hpp"
#include "json.hpp"

#include <iomanip>
#include <ostream>

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::ordered_json;

// `2026-11-21` if days count from 1970, else their number.
std::string day_name(std::int64_t day, std::int64_t day_ms) {
    auto const text =
        day_ms == day_in_ms ? utc_text(static_cast<double>(day * day_in_ms), "%Y-%m-%d") : std::nullopt;
    return text ? *text : std::to_string(day);
}

ordered_json share(straggle::outcome<double> const& x) {
    return x ? ordered_json(*x) : ordered_json(nullptr);
}

std::string in_percent(straggle::outcome<double> const& x) {
    return x ? fixed(*x * 100, 1) + " %" : "unknown";
}

ordered_json judged(straggle::stats::confusion_matrix const& c) {
    return {{"accuracy", share(c.accuracy())},   {"precision", share(c.precision())},
            {"recall", share(c.recall())},       {"weak_found", c.true_positives},
            {"false_alarms", c.false_positives}, {"weak_missed", c.false_negatives},
            {"good_left_out", c.true_negatives}};
}

void print_json(std::ostream& out, learning const& l, history const& h, options const& o, std::size_t bytes) {
    ordered_json periods = ordered_json::array();
    for (learned_period const& p : l.periods)
        periods.push_back(
            {{"first_day", day_name(p.first_day, o.future.day_ms)},
             {"nodes", p.nodes},
             {"groups", p.groups},
             {"weak", p.found == straggle::status::ok ? ordered_json(p.weak) : ordered_json(nullptr)},
             {"status", to_string(p.found)}});
    ordered_json tested = nullptr;
    if (l.tested > 0)
        tested = {{"periods", l.tested},
                  {"forecast", judged(l.forecast)},
                  {"as_most_were", judged(l.majority)},
                  {"as_before", judged(l.repeat)},
                  {"better_than_before", l.model.is_useful()}};
    ordered_json const all{{"straggle", version()},
                           {"file", valid_utf8(h.file)},
                           {"model", valid_utf8(o.future.learn)},
                           {"bytes", bytes},
                           {"trees", l.model.trees.trees()},
                           {"day", length_text(o.future.day_ms)},
                           {"period", l.model.days},
                           {"look_back", l.model.features.look_back},
                           {"days", l.days},
                           {"days_left_out", l.days_left_out},
                           {"scores_without_day", l.scores_without_day},
                           {"examples", l.examples},
                           {"weak_examples", l.weak_examples},
                           {"periods", std::move(periods)},
                           {"tested", std::move(tested)}};
    out << all.dump(1) << '\n';
}

void print_csv(std::ostream& out, learning const& l, options const& o) {
    out << "first_day,nodes,groups,weak,status\n";
    for (learned_period const& p : l.periods)
        out << day_name(p.first_day, o.future.day_ms) << ',' << p.nodes << ',' << p.groups << ',' << p.weak
            << ',' << to_string(p.found) << '\n';
}

void print_row(std::ostream& out, std::string_view who, straggle::stats::confusion_matrix const& c) {
    out << "  " << std::left << std::setw(26) << who << std::right << std::setw(10)
        << in_percent(c.accuracy()) << std::setw(11) << in_percent(c.precision()) << std::setw(10)
        << in_percent(c.recall()) << '\n';
}

void print_text(std::ostream& out, learning const& l, options const& o, std::size_t bytes) {
    out << "Learned from " << counted(l.examples, "example") << ", " << grouped(l.weak_examples)
        << " of them of weak nodes, in " << counted(l.periods.size(), "period") << " of "
        << counted(l.model.days, "day") << ".\n\nFIRST DAY      NODES    WEAK\n";
    for (learned_period const& p : l.periods) {
        out << std::left << std::setw(12) << day_name(p.first_day, o.future.day_ms) << std::right
            << std::setw(8) << p.nodes << std::setw(8);
        if (p.found == straggle::status::ok)
            out << p.weak << "  of the weakest of " << p.groups << " groups\n";
        else
            out << '-' << "  no node stands out (" << to_string(p.found) << ")\n";
    }
    if (l.days_left_out > 0)
        out << "The first " << counted(l.days_left_out, "day")
            << " make no whole period and were left out.\n";
    if (l.scores_without_day > 0)
        out << counted(l.scores_without_day, "task") << " of jobs without a known time left out.\n";
    if (l.tested > 0) {
        out << "\nTested on " << counted(l.tested, "period") << ", each by those before it:\n  " << std::left
            << std::setw(26) << "" << std::right << std::setw(10) << "ACCURACY" << std::setw(11)
            << "PRECISION" << std::setw(10) << "RECALL" << '\n';
        print_row(out, "the forecast", l.forecast);
        print_row(out, "all are what most were", l.majority);
        print_row(out, "each is as it was before", l.repeat);
        if (!l.model.is_useful())
            out << "The forecast is no better than \"each is as it was before\": nothing will be decided by "
                   "it.\n";
    } else {
        out << "\nNot tested: that takes three periods in each of which nodes stand out.\n";
    }
    out << "\nWritten to " << printable(o.future.learn) << ": " << counted(l.model.trees.trees(), "tree")
        << ", " << counted(bytes, "byte") << ".\n";
}

} // namespace

void print_learning(std::ostream& out, learning const& l, history const& h, options const& o,
                    std::size_t bytes) {
    switch (o.format) {
    case output_format::json:
        return print_json(out, l, h, o, bytes);
    case output_format::csv:
        return print_csv(out, l, o);
    case output_format::table:
        return print_text(out, l, o, bytes);
    }
}

} // namespace straggle_rank
