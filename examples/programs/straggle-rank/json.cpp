// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "json.hpp"

#include "../common/text.hpp"

#include <straggle/version.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <tuple>

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(std::optional<T> const& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json jobs_json(result const& r) {
    ordered_json degenerate = ordered_json::array();
    for (auto const& job : r.ranking.degenerate_jobs())
        degenerate.push_back({{"job", valid_utf8(r.history.jobs[job.id])},
                              {"attempts", job.attempts},
                              {"reason", to_string(job.reason)}});
    ordered_json jobs{{"usable", r.ranking.usable_jobs()}, {"degenerate", std::move(degenerate)}};
    if (r.options.normalizer == normalizer::work_rate) jobs["without_input"] = jobs_without_input(r.history);
    return jobs;
}

// For a node: what attempts show.
void add_weighed(ordered_json& entry, result const& r, std::uint32_t node) {
    straggle::blacklist::failure_rate const& f = r.weighed.failures[node];
    entry["slowdown"] = slowdown_json(r.weighed.slowdowns[node]);
    entry["failures"] = {{"attempts", f.attempts}, {"failed", f.failed}, {"tasks", f.tasks},
                         {"low", f.low},           {"high", f.high},     {"elsewhere", f.elsewhere}};
}

ordered_json verdicts_json(result const& r, std::span<verdict const> verdicts) {
    ordered_json list = ordered_json::array();
    for (verdict const& v : verdicts) {
        ordered_json entry{{"node", r.names()[v.id]},
                           {"slowdown", slowdown_json(v.slow)},
                           {"causes", causes(v.causes)},
                           {"rule", v.rule},
                           {"value", v.value},
                           {"threshold", v.threshold},
                           {"why", reason(v, r.ranking, r.options)}};
        if (!v.rule.empty() && v.n > 0 && v.sd > 0)
            entry.update({{"n", v.n},
                          {"mean", v.mean},
                          {"sd", v.sd},
                          {"low", v.ci.low},
                          {"high", v.ci.high},
                          {"level", v.level},
                          {"provably_faster", v.provably_faster},
                          {"provably_slower", v.provably_slower}});
        if (v.spared_by.empty())
            entry["spared_by"] = nullptr;
        else
            entry["spared_by"] = v.spared_by;
        if (!v.spared_by.empty()) entry["spared_because"] = limit_reason(v.spared_by, r.options);
        list.push_back(std::move(entry));
    }
    return list;
}

ordered_json decision_json(result const& r) {
    return {{"rule", r.decision.rule()},
            {"note", to_string(r.decision.note())},
            {"remark", remark(r.decision, r.ranking)},
            {"blacklisted", verdicts_json(r, r.decision.blacklisted())},
            {"spared", verdicts_json(r, r.decision.spared())}};
}

// The most likely first.
ordered_json forecast_json(std::span<std::string const> names, expectation const& e) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t node = 0; node < e.probability.size(); ++node)
        if (!std::isnan(e.probability[node])) nodes.push_back(node);
    std::ranges::sort(nodes, [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(-e.probability[a], a) < std::tuple(-e.probability[b], b);
    });
    ordered_json list = ordered_json::array();
    for (std::uint32_t const node : nodes)
        list.push_back({{"node", names[node]}, {"probability", e.probability[node]}});
    return {{"model", valid_utf8(e.file)},
            {"day", length_text(e.day_ms)},
            {"period", e.days},
            {"days_known", e.days_known},
            {"least", e.least},
            {"better_than_before", e.is_useful},
            {"nodes", std::move(list)}};
}

ordered_json nodes_json(result const& r) {
    ordered_json list = ordered_json::array();
    for (auto const& node : slowest_first(r.ranking))
        list.push_back({{"node", r.names()[node.id]},
                        {"n", node.n},
                        {"mean", node.mean},
                        {"sd", node.sd},
                        {"low", node.ci.low},
                        {"high", node.ci.high},
                        {"level", node.level}}),
            add_weighed(list.back(), r, node.id);
    for (auto const& node : r.ranking.unranked())
        list.push_back({{"node", r.names()[node.id]},
                        {"n", node.n},
                        {"mean", nullptr},
                        {"sd", nullptr},
                        {"low", nullptr},
                        {"high", nullptr},
                        {"level", nullptr}}),
            add_weighed(list.back(), r, node.id);
    return list;
}

} // namespace

ordered_json slowdown_json(straggle::slowdown const& s) {
    if (s.is_known()) return {{"value", s.value}, {"low", s.low}, {"high", s.high}, {"tasks", s.tasks}};
    if (s.value > 1) return {{"at_least", s.value}, {"running", s.tasks}};
    return nullptr;
}

ordered_json failing_jobs_json(result const& r) {
    ordered_json list = ordered_json::array();
    for (straggle::blacklist::failing_job const& j : r.weighed.failing_jobs)
        list.push_back({{"job", valid_utf8(r.history.jobs[static_cast<std::uint32_t>(j.job)])},
                        {"failed", j.failed},
                        {"nodes", j.nodes},
                        {"ended_well", j.ended_well}});
    return list;
}

std::string version() {
    return std::to_string(STRAGGLE_VERSION_MAJOR) + "." + std::to_string(STRAGGLE_VERSION_MINOR) + "." +
           std::to_string(STRAGGLE_VERSION_PATCH);
}

ordered_json to_json(options const& o) {
    ordered_json all{
        {"preset", o.preset},
        {"normalizer", to_string(o.normalizer)},
        {"min_tasks", o.min_tasks},
        {"confidence", o.confidence},
        {"deviation", o.deviation == straggle::stats::deviation_kind::sample ? "sample" : "population"},
        {"edge", to_string(o.edge)},
        {"counted", o.counted == straggle::completions::every_success ? "every_success" : "first_completion"},
        {"select", valid_utf8(o.selection_text)},
        {"limits",
         {{"max_fraction", or_null(o.limits.max_fraction)},
          {"max_nodes", or_null(o.limits.max_nodes)},
          {"min_healthy", or_null(o.limits.min_healthy)},
          {"domain", o.limits.domain ? ordered_json(valid_utf8(*o.limits.domain)) : ordered_json(nullptr)},
          {"fail_open", or_null(o.limits.fail_open)}}},
    };
    if (o.windows) {
        all["window"] = length_text(o.windows->window_ms);
        all["slide"] = length_text(o.windows->slide_ms);
        all["exclusions"] = o.exclusions.text();
    }
    return all;
}

ordered_json records_json(result const& r) {
    auto const& counts = r.ranking.attempts();
    ordered_json reasons = ordered_json::object();
    std::uint64_t total = 0;
    for (rejected_records const& rejected : rejected(r.history, r.ranking)) {
        ordered_json entry{{"count", rejected.count}};
        if (!rejected.lines.empty()) entry["first_lines"] = rejected.lines;
        reasons[std::string(rejected.reason)] = std::move(entry);
        total += rejected.count;
    }
    return {{"seen", r.history.rows},
            {"used", counts.used},
            {"scored", r.ranking.scored_attempts()},
            {"failed", counts.failed},
            {"killed", counts.killed},
            {"superseded", counts.superseded},
            {"running", r.history.unended},
            {"not_compared", r.weighed.not_compared},
            {"ends_coincide", r.weighed.ends_coincide},
            {"rejected", total},
            {"rejected_by_reason", std::move(reasons)}};
}

ordered_json reading_json(readers::reading_report const& report) {
    ordered_json files = ordered_json::array(), reasons = ordered_json::object();
    for (readers::file_report const& file : report.files) {
        ordered_json entry{{"file", valid_utf8(file.name)},
                           {"format", file.how ? ordered_json(to_string(*file.how)) : ordered_json(nullptr)},
                           {"attempts", file.attempts}};
        if (!file.remark.empty()) entry["remark"] = valid_utf8(file.remark);
        files.push_back(std::move(entry));
    }
    for (std::size_t i = 0; i < readers::reason_count; ++i) {
        auto const why = static_cast<readers::reason>(i);
        if (report[why].count == 0) continue;
        ordered_json first = ordered_json::array();
        for (auto const& at : report[why].first) {
            ordered_json place{{"file", at.file}};
            if (at.line > 0) place["line"] = at.line;
            first.push_back(std::move(place));
        }
        reasons[std::string(to_string(why))] = {
            {"count", report[why].count}, {"damage", is_damage(why)}, {"first", std::move(first)}};
    }
    return {{"files", std::move(files)},
            {"attempts", report.attempts},
            {"running", report.running},
            {"speculative", report.speculative},
            {"not_attempts", std::move(reasons)}};
}

ordered_json to_json(result const& r) {
    ordered_json all{{"straggle", version()},
                     {"file", valid_utf8(r.history.file)},
                     {"options", to_json(r.options)},
                     {"decision", decision_json(r)},
                     {"levels", r.ranking.levels()},
                     {"nodes", nodes_json(r)},
                     {"nodes_without_success", r.history.nodes.size() - r.ranking.fleet_size()},
                     {"records", records_json(r)},
                     {"jobs", jobs_json(r)},
                     {"failing_jobs", failing_jobs_json(r)}};
    if (r.history.log) all["reading"] = reading_json(*r.history.log);
    if (r.lost != nullptr) all["causes"] = causes_json(*r.lost);
    if (r.expected != nullptr) all["forecast"] = forecast_json(r.names(), *r.expected);
    return all;
}

void print_json(std::ostream& out, result const& r) {
    out << to_json(r).dump(1) << '\n';
}

} // namespace straggle_rank
