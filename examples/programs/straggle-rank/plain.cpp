// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/csv.hpp"
#include "../common/text.hpp"
#include "output.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <tuple>

namespace straggle_rank {

using namespace program;

std::string_view common_domain(history const& h) {
    auto const& names = h.nodes.ids();
    if (names.size() < 2) return {};
    std::string_view const first = *names.begin();
    std::size_t shared = first.size();
    for (std::string const& name : names) {
        std::size_t same = 0;
        while (same < shared && same < name.size() &&
               name[name.size() - 1 - same] == first[first.size() - 1 - same])
            ++same;
        shared = same;
    }
    std::string_view const tail = first.substr(first.size() - shared);
    std::size_t const dot = tail.find('.');
    return dot == std::string_view::npos ? std::string_view{} : tail.substr(dot);
}

std::string name_within(history const& h, std::uint32_t node, std::string_view domain, std::size_t most,
                        std::string_view ellipsis) {
    std::string_view const name = h.nodes[node];
    std::string const text = printable(name);
    if (width(text) <= most || domain.empty()) return shortened(text, most, ellipsis);
    std::string const host = printable(name.substr(0, name.size() - domain.size())) + std::string(ellipsis);
    return shortened(host, most, ellipsis);
}

std::string in_words(rejected_records const& some) {
    return grouped(some.count) + " rejected: " + std::string(some.reason) + in_lines(some.lines, some.count) +
           (some.example.empty() ? "" : ": " + some.example);
}

std::vector<rejected_records> rejected(history const& h, ranking const& r) {
    std::vector<rejected_records> list;
    if (h.unparsable_number.count > 0)
        list.push_back({"unparsable_number", h.unparsable_number.count, h.unparsable_number.lines,
                        h.unparsable_number.example});
    for (std::size_t i = 0; i < straggle::record::rejection_count; ++i) {
        auto const reason = static_cast<straggle::rejection>(i);
        rejected_records entry{to_string(reason), r.attempts()[reason], {}};
        if (reason == straggle::rejection::not_finite) {
            entry.count += h.not_finite.count;
            entry.lines = h.not_finite.lines;
        }
        if (entry.count > 0) list.push_back(std::move(entry));
    }
    return list;
}

std::uint64_t jobs_without_input(history const& h) {
    std::vector<bool> without(h.jobs.size());
    std::visit(
        [&](auto const& attempts) {
            for (std::size_t i = 0; i < attempts.size() && i < h.inputs.size(); ++i)
                if (attempts[i].status() == straggle::attempt_status::success && attempts[i].job() &&
                    !(h.inputs[i] > 0))
                    without[*attempts[i].job()] = true;
        },
        h.attempts);
    return static_cast<std::uint64_t>(std::count(without.begin(), without.end(), true));
}

std::vector<ranking::node_type> slowest_first(ranking const& r) {
    std::vector<ranking::node_type> nodes(r.nodes().begin(), r.nodes().end());
    std::ranges::sort(nodes, [](auto const& a, auto const& b) {
        return std::tie(a.level, b.mean, a.seen) < std::tie(b.level, a.mean, b.seen);
    });
    return nodes;
}

void print_csv(std::ostream& out, result const& r) {
    auto const decision_on = [&](std::uint32_t node) -> std::string {
        if (r.decision.avoids(node)) return "avoid";
        for (verdict const& v : r.decision.spared())
            if (v.id == node) return "spared";
        return "keep";
    };
    out << "node,level,n,mean,sd,low,high,decision" << (r.expected ? ",weak_next\n" : "\n");
    auto const end_row = [&](std::uint32_t node) {
        if (r.expected == nullptr) return std::string("\n");
        double const p = r.expected->probability[node];
        return std::isnan(p) ? std::string(",\n") : "," + exact(p) + "\n";
    };
    for (auto const& node : slowest_first(r.ranking))
        out << csv::quoted(r.history.nodes[node.id], r.options.csv_safe) << ',' << node.level << ',' << node.n
            << ',' << exact(node.mean) << ',' << exact(node.sd) << ',' << exact(node.ci.low) << ','
            << exact(node.ci.high) << ',' << decision_on(node.id) << end_row(node.id);
    for (auto const& node : r.ranking.unranked())
        out << csv::quoted(r.history.nodes[node.id], r.options.csv_safe) << ",," << node.n << ",,,,,keep"
            << end_row(node.id);
}

} // namespace straggle_rank
