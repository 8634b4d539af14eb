// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/text.hpp"
#include "output.hpp"

#include <straggle/assign/backup_fields.hpp>
#include <straggle/version.hpp>

#include <nlohmann/json.hpp>

#include <ostream>

namespace straggle_backup {

using namespace program;

namespace {

using nlohmann::ordered_json;

ordered_json or_null(std::optional<double> x) {
    return x ? ordered_json(*x) : ordered_json(nullptr);
}

ordered_json range_json(time_range const& t) {
    return {{"low", t.low}, {"median", t.median}, {"high", t.high}, {"samples", t.samples}};
}

ordered_json rows_json(std::string_view reason, unreadable_rows const& rows) {
    ordered_json entry{{"reason", reason}, {"count", rows.count}};
    if (!rows.lines.empty()) entry["first_lines"] = rows.lines;
    return entry;
}

class document {
  public:
    explicit document(result const& r) : r_(r), node_names_(distinct_names(r.names.nodes.ids())) {}

    [[nodiscard]] ordered_json make() const {
        ordered_json suspects = ordered_json::array();
        for (advice const& a : r_.advised.suspects) suspects.push_back(suspect_json(a));
        return {{"straggle", std::to_string(STRAGGLE_VERSION_MAJOR) + "." +
                                 std::to_string(STRAGGLE_VERSION_MINOR) + "." +
                                 std::to_string(STRAGGLE_VERSION_PATCH)},
                {"history", valid_utf8(r_.history.file)},
                {"running", valid_utf8(r_.now.file)},
                {"now", seconds(r_.now.now)},
                {"options", options_json()},
                {"suspects", std::move(suspects)},
                {"plan", plan_json()},
                {"nodes", nodes_json()},
                {"similar_tasks", model_json()},
                {"records", records_json()}};
    }

  private:
    [[nodiscard]] ordered_json node_name(std::size_t node) const {
        return node_names_[r_.cluster.nodes[node].id];
    }

    [[nodiscard]] ordered_json candidate_json(std::optional<candidate> const& c) const {
        if (!c) return nullptr;
        return {{"node", node_name(c->node)},
                {"time", range_json(c->time)},
                {"gain", c->value.gain},
                {"cost", c->value.cost},
                {"profit", c->value.profit},
                {"win_probability", c->value.win_probability},
                {"refusal", c->refusal ? ordered_json(to_string(*c->refusal)) : ordered_json(nullptr)}};
    }

    [[nodiscard]] ordered_json suspect_json(advice const& a) const {
        running_attempt const& runs = a.task->best();
        ordered_json nodes = ordered_json::array();
        for (running_attempt const& any : a.task->attempts) nodes.push_back(node_names_[any.node]);
        ordered_json left = a.left ? range_json(*a.left) : ordered_json(nullptr);
        if (a.left) left["from"] = to_string(a.from);
        return {{"job", valid_utf8(r_.names.jobs[a.job])},
                {"task", a.task->task ? ordered_json(valid_utf8(r_.names.tasks[*a.task->task])) : nullptr},
                {"node", node_names_[runs.node]},
                {"attempts", a.task->attempts_running()},
                {"attempts_on", std::move(nodes)},
                {"elapsed", a.elapsed},
                {"progress", or_null(runs.progress)},
                {"usual", or_null(a.usual)},
                {"detector", {{"value", a.why.value}, {"threshold", a.why.threshold}}},
                {"left", std::move(left)},
                {"next_slowest", a.next_slowest},
                {"decision", a.launch ? "launch" : "no"},
                {"reason", a.reason ? ordered_json(to_string(*a.reason)) : ordered_json(nullptr)},
                {"limit", a.refused_by.empty() ? ordered_json(nullptr) : ordered_json(a.refused_by)},
                {"why", valid_utf8(reason(a, r_))},
                {"best", candidate_json(a.best)},
                {"runner_up", candidate_json(a.runner_up)},
                {"candidates", counts_json(a.nodes)}};
    }

    static ordered_json counts_json(straggle::assign::node_counts const& counts) {
        ordered_json refused = ordered_json::object();
        for (std::size_t i = 0; i < straggle::assign::node_refusal_count; ++i)
            if (counts.refused[i] > 0)
                refused[std::string(to_string(static_cast<straggle::assign::backup_refusal>(i)))] =
                    counts.refused[i];
        return {{"acceptable", counts.acceptable}, {"refused", std::move(refused)}};
    }

    [[nodiscard]] ordered_json options_json() const {
        options const& o = r_.options;
        ordered_json all{{"detector", valid_utf8(o.detector)},
                         {"policy", to_string(o.policy)},
                         {"assignment", to_string(o.rule)},
                         {"gain", to_string(o.gain)},
                         {"launch", o.launch}};
        bool const priced = o.policy == profit_policy::expected_gain;
        all["slot_price"] = priced ? ordered_json(o.slot_price) : ordered_json(nullptr);
        all["least_win"] = priced ? ordered_json(o.least_win) : ordered_json(nullptr);
        all["neighbors"] = o.neighbors;
        all["copies_per_task"] = o.copies_per_task;
        all["max_copies"] = o.most_copies;
        all["storm"] = o.storm;
        all["reserve"] = o.reserve;
        all["blacklist"] = o.blacklist;
        return all;
    }

    [[nodiscard]] ordered_json plan_json() const {
        advised const& a = r_.advised;
        ordered_json limits = ordered_json::object();
        for (straggle::assign::limit_refusals const& b : a.limits) limits[std::string(b.limit)] = b.refused;
        return {{"copies", a.copies},
                {"copies_before", r_.now.copies},
                {"copy_limit", a.copy_limit},
                {"profit", a.profit},
                {"storm", a.storm},
                {"suspects", a.suspects.size()},
                {"running_tasks", r_.now.tasks},
                {"tasks_of_running_jobs", a.tasks},
                {"refused_by_budget", std::move(limits)},
                {"candidates", counts_json(a.nodes)},
                {"rounds", a.rounds}};
    }

    [[nodiscard]] ordered_json nodes_json() const {
        ordered_json list = ordered_json::array();
        for (std::size_t i = 0; i < r_.cluster.nodes.size(); ++i) {
            cluster_node const& n = r_.cluster.nodes[i];
            bool const excluded = n.why != exclusion::none;
            list.push_back({{"node", node_name(i)},
                            {"slots", n.slots},
                            {"free", n.free},
                            {"running", n.running},
                            {"state", to_string(n.state)},
                            {"excluded", excluded ? ordered_json(to_string(n.why)) : ordered_json(nullptr)},
                            {"slowdown", n.slowdown > 0 ? ordered_json(n.slowdown) : ordered_json(nullptr)}});
        }
        for (spared_node const& s : r_.cluster.spared)
            for (ordered_json& n : list)
                if (n["node"] == node_names_[s.id]) n["spared_by"] = s.limit;
        return list;
    }

    [[nodiscard]] ordered_json model_json() const {
        straggle::predict::calibration const& ranges = r_.model.ranges();
        auto const held = ranges.coverage();
        return {{"remembered", r_.model.size()},
                {"ranges_asked", ranges.recorded()},
                {"ranges_held", held ? ordered_json(*held) : ordered_json(nullptr)}};
    }

    [[nodiscard]] ordered_json records_json() const {
        ordered_json past = ordered_json::array(), running = ordered_json::array();
        for (std::size_t i = 0; i < past_fault_count; ++i)
            if (r_.history.faults[i].count > 0)
                past.push_back(rows_json(to_string(static_cast<past_fault>(i)), r_.history.faults[i]));
        for (std::size_t i = 0; i < fault_count; ++i)
            if (r_.now.faults[i].count > 0)
                running.push_back(rows_json(to_string(static_cast<fault>(i)), r_.now.faults[i]));
        return {{"history",
                 {{"rows", r_.history.rows},
                  {"ended", r_.history.attempts.size()},
                  {"later", r_.history.later + r_.history.running.size()},
                  {"rejected", std::move(past)}}},
                {"running",
                 {{"rows", r_.now.rows},
                  {"attempts", r_.now.attempts},
                  {"tasks", r_.now.tasks},
                  {"waiting", r_.now.waiting},
                  {"rejected", std::move(running)}}},
                {"nodes", {{"rows", r_.cluster.rows}, {"rejected", r_.cluster.rejected.count}}}};
    }

    result const& r_;
    std::vector<std::string> node_names_; // by index
};

} // namespace

void print_json(std::ostream& out, result const& r) {
    out << document(r).make().dump(1) << '\n';
}

} // namespace straggle_backup
