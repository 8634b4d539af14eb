// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/page.hpp"
#include "json.hpp"
#include "timeline_picture.hpp"

#include <cmath>

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::ordered_json;

// Four decimals are more than a screen can show.
double rounded(double x) {
    return std::round(x * 1e4) / 1e4;
}

void add_boxes(ordered_json& nodes, result const& r) {
    std::vector<box> const all = boxes(r.history, r.options);
    std::size_t i = 0;
    for (auto const& node : slowest_first(r.ranking)) {
        box const& b = all[node.id];
        ordered_json& entry = nodes[i++];
        entry["id"] = node.id;
        entry["box"] = {rounded(b.low_whisker), rounded(b.q1), rounded(b.median), rounded(b.q3),
                        rounded(b.high_whisker)};
        ordered_json& outliers = entry["outliers"] = ordered_json::array();
        for (double score : b.outliers) outliers.push_back(rounded(score));
    }
}

void add_ids(ordered_json& verdicts, std::span<verdict const> from) {
    for (std::size_t i = 0; i < from.size(); ++i) verdicts[i]["id"] = from[i].id;
}

// The document of `--format json`, with boxes, and without the thousands of small jobs in some histories.
ordered_json page_data(result const& r) {
    ordered_json data = to_json(r);
    add_boxes(data["nodes"], r);
    add_ids(data["decision"]["blacklisted"], r.decision.blacklisted());
    add_ids(data["decision"]["spared"], r.decision.spared());
    constexpr std::size_t most = 200;
    data["jobs"]["degenerate_count"] = r.ranking.degenerate_jobs().size();
    ordered_json& degenerate = data["jobs"]["degenerate"];
    if (degenerate.size() > most)
        degenerate.erase(degenerate.begin() + static_cast<std::ptrdiff_t>(most), degenerate.end());
    return data;
}

} // namespace

void write_report(std::string const& file, result const& r, ordered_json timeline) {
    ordered_json data = page_data(r);
    data["timeline"] = std::move(timeline);
    write_page(file, data.dump());
}

void write_report(std::string const& file, result const& r) {
    write_report(file, r, nullptr);
}

} // namespace straggle_rank
