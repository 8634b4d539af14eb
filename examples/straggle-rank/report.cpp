// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "failure.hpp"
#include "json.hpp"
#include "report_parts.hpp"
#include "timeline_picture.hpp"

#include <cmath>
#include <fstream>

namespace straggle_rank {

namespace {

using nlohmann::ordered_json;

// Four decimals are more than any screen shows.
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

// The document of `--format json`, with boxes, and without the thousands of small jobs some histories have.
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

// JSON that cannot end the script element it stands in, whatever the nodes are called.
std::string for_script_element(ordered_json const& data) {
    std::string out;
    for (char c : data.dump()) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

void write_page(std::ostream& out, std::string_view data) {
    std::string_view page = report_page;
    auto const part = [&](std::string_view name) {
        if (name == "style") return report_style;
        if (name == "data") return data;
        if (name == "d3") return report_d3;
        if (name == "figures") return report_figures;
        return report_script;
    };
    while (!page.empty()) {
        std::size_t const open = page.find("{{");
        out << page.substr(0, open);
        if (open == std::string_view::npos) break;
        std::size_t const close = page.find("}}", open);
        out << part(page.substr(open + 2, close - open - 2));
        page.remove_prefix(close + 2);
    }
}

} // namespace

void write_report(std::string const& file, result const& r, ordered_json timeline) {
    if (!report_is_built_in)
        throw failure(exit_status::usage,
                      "--report: this program was built without D3 (Debian: libjs-d3), which draws the page");
    ordered_json data = page_data(r);
    data["timeline"] = std::move(timeline);
    std::ofstream out(file, std::ios::binary);
    if (out) write_page(out, for_script_element(data));
    if (!out.flush()) throw failure(exit_status::cannot_write, file + ": cannot be written");
}

void write_report(std::string const& file, result const& r) {
    write_report(file, r, nullptr);
}

} // namespace straggle_rank
