// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "table.hpp"

#include "../common/csv.hpp"
#include "../common/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <ostream>
#include <tuple>
#include <vector>

namespace straggle_mpi {

namespace {

using ranking = shard::ranking_type;

std::string exact(double x) {
    std::array<char, 32> text{};
    auto const [end, fault] =
        std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::general, 17);
    return {text.data(), end};
}

std::string padded(std::string text, std::size_t columns) {
    std::size_t const used = program::width(text);
    return used < columns ? text.append(columns - used, ' ') : text;
}

std::string right(std::string const& text, std::size_t columns) {
    return text.size() < columns ? std::string(columns - text.size(), ' ') + text : text;
}

nlohmann::ordered_json number_json(std::string const& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json::parse(text);
}

// A node as it is printed: fields after the name and the level, empty if unknown.
struct row {
    std::string name;
    std::string level;
    std::array<std::string, 5> numbers;
};
constexpr std::array<std::string_view, 5> number_names{"n", "mean", "sd", "low", "high"};

std::vector<row> rows_of(ranking const& r) {
    std::vector<ranking::node_type const*> ranked;
    for (auto const& node : r.nodes()) ranked.push_back(&node);
    std::ranges::sort(ranked, [](auto const* a, auto const* b) {
        return std::tie(a->level, b->mean, a->id) < std::tie(b->level, a->mean, b->id);
    });
    std::vector<row> rows;
    rows.reserve(ranked.size() + r.unranked().size());
    for (auto const* node : ranked)
        rows.push_back({node->id,
                        std::to_string(node->level),
                        {std::to_string(node->n), exact(node->mean), exact(node->sd), exact(node->ci.low),
                         exact(node->ci.high)}});
    auto const ranked_rows = static_cast<std::ptrdiff_t>(rows.size());
    for (auto const& node : r.unranked()) rows.push_back({node.id, "", {std::to_string(node.n)}});
    std::ranges::sort(rows.begin() + ranked_rows, rows.end(), {}, &row::name);
    return rows;
}

void print_text(std::ostream& out, std::vector<row> const& rows) {
    std::size_t name_width = 4;
    for (row const& r : rows) name_width = (std::max)(name_width, program::width(program::printable(r.name)));
    constexpr std::array<std::size_t, 5> widths{12, 26, 26, 26, 26};
    out << "level  " << padded("node", name_width);
    for (std::size_t i = 0; i < widths.size(); ++i) out << right(std::string(number_names[i]), widths[i]);
    out << '\n';
    for (row const& r : rows) {
        out << right(r.level.empty() ? "-" : r.level, 5) << "  "
            << padded(program::printable(r.name), name_width);
        for (std::size_t i = 0; i < widths.size(); ++i)
            out << right(r.numbers[i].empty() ? "-" : r.numbers[i], widths[i]);
        out << '\n';
    }
}

void print_json(std::ostream& out, std::vector<row> const& rows) {
    std::vector<std::string> names;
    for (row const& r : rows) names.push_back(r.name);
    names = program::distinct_names(names);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        nlohmann::ordered_json node{{"level", number_json(rows[at].level)}, {"node", names[at]}};
        for (std::size_t i = 0; i < number_names.size(); ++i)
            node[number_names[i]] = number_json(rows[at].numbers[i]);
        out << node.dump() << '\n';
    }
}

void print_csv(std::ostream& out, std::vector<row> const& rows, bool safe) {
    out << "level,node";
    for (std::string_view name : number_names) out << ',' << name;
    out << '\n';
    for (row const& r : rows) {
        out << r.level << ',' << csv::quoted(r.name, safe);
        for (std::string const& number : r.numbers) out << ',' << number;
        out << '\n';
    }
}

} // namespace

void print_nodes(std::ostream& out, ranking const& r, options const& how) {
    std::vector<row> const rows = rows_of(r);
    switch (how.format) {
    case output_format::text:
        return print_text(out, rows);
    case output_format::json:
        return print_json(out, rows);
    case output_format::csv:
        return print_csv(out, rows, how.csv_safe);
    }
}

} // namespace straggle_mpi
