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

std::string in_words(rejected_records const& some) {
    return grouped(some.count) + " rejected: " + std::string(some.reason) + in_lines(some.lines, some.count);
}

std::vector<rejected_records> rejected(history const& h, ranking const& r) {
    std::vector<rejected_records> list;
    if (h.unparsable_number.count > 0)
        list.push_back({"unparsable_number", h.unparsable_number.count, h.unparsable_number.lines});
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
