// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// ML-NA on nine made-up months of a cluster (nine_months.hpp): table I (how many groups), and table III for
// both kinds of forecast beside two baselines.
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>
#include <straggle/learn/weak_nodes.hpp>

#include "nine_months.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace straggle;

namespace {

using period = node_period<std::uint32_t>;

void print_history(std::vector<nine_months::record> const& all) {
    auto const c = nine_months::count_stragglers(all);
    std::printf(
        "history: %zu tasks, %zu jobs; %.1f %% of the tasks are stragglers, %.0f %% of the jobs have one\n\n",
        c.tasks, c.jobs, 100.0 * static_cast<double>(c.stragglers) / static_cast<double>(c.tasks),
        100.0 * static_cast<double>(c.jobs_hit) / static_cast<double>(c.jobs));
}

double percent(outcome<double> const& x) {
    return x ? 100 * *x : -1;
}

// Table III: a row per number of months learned from, a column per month tested; then who needs no learning.
void print_table(char const* title, std::vector<forecast_cell> const& table) {
    std::printf("%s: accuracy in %%\n\n| months learned from |", title);
    for (std::size_t m = 2; m <= nine_months::months; ++m) std::printf(" %zu |", m);
    std::printf(" all | precision | recall |\n|---|");
    for (std::size_t m = 2; m <= nine_months::months + 3; ++m) std::printf("---|");
    auto const row = [&](char const* name, auto const& keep, class_counts forecast_cell::* who) {
        std::printf("\n| %s |", name);
        class_counts all;
        for (std::size_t m = 1; m < nine_months::months; ++m) {
            class_counts here;
            for (forecast_cell const& c : table)
                if (c.first + c.count == m && keep(c)) here += c.*who;
            if (here.total() == 0)
                std::printf(" |");
            else
                std::printf(" %.1f |", percent(here.accuracy()));
            all += here;
        }
        std::printf(" %.1f |", percent(all.accuracy()));
        if (all.precision())
            std::printf(" %.0f |", percent(all.precision()));
        else
            std::printf(" |");
        std::printf(" %.0f |", percent(all.recall()));
    };
    for (std::size_t count = table.front().count; count < nine_months::months; ++count)
        row(
            std::to_string(count).c_str(), [count](forecast_cell const& c) { return c.count == count; },
            &forecast_cell::forecast);
    auto const any = [](forecast_cell const&) { return true; };
    row("any number", any, &forecast_cell::forecast);
    row("all are what most were", any, &forecast_cell::majority);
    row("as in the month before", any, &forecast_cell::repeat);
    std::printf("\n\n");
}

} // namespace

int main(int argc, char** argv) {
    auto const seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 3;
    auto const all = nine_months::make(seed);
    print_history(all);
    std::mt19937_64 engine(seed);
    weak_node_finder find;
    weak_nodes found;
    std::vector<period> periods, lately;
    for (std::uint32_t month = 0; month < nine_months::months; ++month) {
        auto const begins = std::ranges::lower_bound(all, month * 30, {}, &nine_months::record::day);
        auto const ends = std::ranges::lower_bound(all, (month + 1) * 30, {}, &nine_months::record::day);
        node_days<std::uint32_t> days(30);
        days.add_attempts(std::span(begins, ends), nine_months::fields,
                          [month](nine_months::record const& r) { return r.day - month * 30; });
        period p;
        auto const table = days.table(p.features);
        for (std::size_t row = 0; row < days.size(); ++row) p.nodes.push_back(days.node(row));
        status const s = find(table, engine, found);
        std::printf("month %u: %zu nodes; %s;", month + 1, days.size(), std::string(to_string(s)).c_str());
        for (auto const& t : found.tried) std::printf(" %zu:%.2f", t.groups, t.score);
        std::printf("; %zu groups, %.1f %% weak\n", found.groups.size(),
                    found.groups.empty() ? 0.0
                                         : 100.0 * found.groups[0].nodes / static_cast<double>(days.size()));
        p.weak = found.weak;
        periods.push_back(p);
        days.table(p.features, {.look_back = 3});
        lately.push_back(std::move(p));
    }
    std::printf("\n");
    auto const forecast = [](char const* title, std::vector<period> const& months, forecast_from from) {
        forecaster<std::uint32_t, boosted_trees_trainer> model(90, from);
        std::vector<forecast_cell> table;
        if (forecast_table(std::span<period const>(months), model, table) != status::ok) std::exit(1);
        print_table(title, table);
    };
    forecast("by the features of the month itself (ML-NA table III)", periods, forecast_from::same_period);
    forecast("by the features of the month before", periods, forecast_from::period_before);
    forecast("by the features of the month before, each of three days", lately, forecast_from::period_before);
}
