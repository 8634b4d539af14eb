// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "timeline_picture.hpp"

#include "../common/text.hpp"
#include "window_output.hpp"

#include <algorithm>
#include <cmath>

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::ordered_json;

// The number of readable rows; fleets up to that size are shown in full, and the worst others fill up to
// `usual`.
constexpr std::size_t most_rows = 100;
constexpr std::size_t usual_rows = 30;

// Three decimals are more than a screen can show.
double rounded_mean(double x) {
    return std::round(x * 1e3) / 1e3;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - static_cast<std::int64_t>(a % b < 0);
}

// The nodes that get a row: those that were weak, then the slowest others.
std::vector<std::uint32_t> rows_of(timeline const& t, result const& whole) {
    std::vector<std::uint32_t> rows = once_weak(t, whole.history);
    std::size_t const most = t.nodes.size() <= most_rows ? most_rows : (std::max)(rows.size(), usual_rows);
    rows.resize((std::min)(rows.size(), most_rows));
    auto nodes = slowest_first(whole.ranking);
    std::ranges::sort(nodes, [](auto const& a, auto const& b) {
        return a.mean > b.mean || (a.mean == b.mean && a.seen < b.seen);
    });
    for (auto const& node : nodes)
        if (rows.size() < (std::min)(most, most_rows) && !t.nodes[node.id].was_weak())
            rows.push_back(node.id);
    for (auto const& node : whole.ranking.unranked())
        if (rows.size() < (std::min)(most, most_rows) && t.nodes[node.id].windows > 0 &&
            !t.nodes[node.id].was_weak())
            rows.push_back(node.id);
    return rows;
}

ordered_json stays_json(std::vector<stay const*> const& stays, result const& whole) {
    ordered_json list = ordered_json::array();
    for (stay const* s : stays) {
        ordered_json entry{{"where", to_string(s->where)}, {"first", s->first}, {"last", s->last},
                           {"strikes", s->strikes},        {"until", s->until}, {"why", s->why}};
        if (!s->spared_by.empty()) entry["because"] = limit_reason(s->spared_by, whole.options);
        list.push_back(std::move(entry));
    }
    return list;
}

} // namespace

void timeline_picture::take(decided_window const& w) {
    if (w.is_idle()) return;
    auto const [at, is_new] = columns_.try_emplace(floor_div(w.number, windows_per_column_));
    column now;
    for (auto const& node : w.ranking.nodes())
        now.push_back({node.n, node.mean, node.ci.low, node.ci.high, node.id, true});
    for (auto const& node : w.ranking.unranked())
        if (node.n > 0) now.push_back({node.n, node.mean, 0, 0, node.id, false});
    std::ranges::sort(now, {}, &cell::node);
    merge(at->second, now);
    if (columns_.size() > most_columns) halve();
}

// Adds the cells of a later column; a column of several windows has a mean and no interval.
void timeline_picture::merge(column& into, column const& later) {
    if (into.empty()) {
        into = later;
        return;
    }
    column both;
    auto a = into.begin();
    auto b = later.begin();
    while (a != into.end() || b != later.end()) {
        if (b == later.end() || (a != into.end() && a->node < b->node)) {
            both.push_back(*a++);
        } else if (a == into.end() || b->node < a->node) {
            both.push_back(*b++);
        } else {
            double const n = static_cast<double>(a->n + b->n);
            both.push_back({a->n + b->n, a->mean + (b->mean - a->mean) * (static_cast<double>(b->n) / n), 0,
                            0, a->node, false});
            ++a, ++b;
        }
    }
    into = std::move(both);
}

void timeline_picture::halve() {
    windows_per_column_ *= 2;
    std::map<std::int64_t, column> fewer;
    for (auto& [number, cells] : columns_) merge(fewer[floor_div(number, 2)], cells);
    columns_ = std::move(fewer);
}

ordered_json timeline_picture::data(timeline const& t, result const& whole) const {
    std::vector<std::uint32_t> const rows = rows_of(t, whole);
    std::vector<std::size_t> row_of(t.nodes.size(), rows.size());
    std::vector<std::vector<stay const*>> stays(rows.size() + 1);
    ordered_json nodes = ordered_json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) row_of[rows[i]] = i;
    for (stay const& s : t.stays) stays[row_of[s.node]].push_back(&s);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        node_account const& a = t.nodes[rows[i]];
        nodes.push_back({{"node", valid_utf8(whole.history.nodes[rows[i]])},
                         {"windows", a.windows},
                         {"exclusions", a.exclusions},
                         {"avoided", a.avoided},
                         {"on_probation", a.on_probation},
                         {"spared", a.spared},
                         {"strikes", a.strikes},
                         {"now", to_string(a.now)},
                         {"stays", stays_json(stays[i], whole)},
                         {"cells", ordered_json::array()}});
    }
    ordered_json columns = ordered_json::array();
    for (auto const& [number, cells] : columns_) {
        for (cell const& c : cells) {
            if (row_of[c.node] == rows.size()) continue;
            ordered_json entry{columns.size(), c.n, rounded_mean(c.mean)};
            if (c.has_interval) {
                entry.push_back(rounded_mean(c.low));
                entry.push_back(rounded_mean(c.high));
            }
            nodes[row_of[c.node]]["cells"].push_back(std::move(entry));
        }
        columns.push_back(number);
    }
    std::uint64_t once = 0, with_tasks = 0;
    for (node_account const& a : t.nodes) {
        once += static_cast<std::uint64_t>(a.was_weak());
        with_tasks += static_cast<std::uint64_t>(a.windows > 0);
    }
    return {{"window", length_text(t.calendar.lengths().window_ms)},
            {"slide", length_text(t.calendar.lengths().slide_ms)},
            {"window_ms", t.calendar.lengths().window_ms},
            {"slide_ms", t.calendar.lengths().slide_ms},
            {"first", t.first},
            {"last", t.last},
            {"idle", t.idle},
            {"windows_per_column", windows_per_column_},
            {"columns", std::move(columns)},
            {"fleet", with_tasks},
            {"once_weak", once},
            {"rows", std::move(nodes)}};
}

} // namespace straggle_rank
