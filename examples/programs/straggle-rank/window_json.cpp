// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/csv.hpp"
#include "../common/text.hpp"
#include "json.hpp"
#include "output.hpp"
#include "window_output.hpp"

#include <ostream>

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::ordered_json;

class json_printer final : public window_printer {
  public:
    json_printer(history const& h, options const& o, window_calendar const& calendar)
        : h_(h), o_(o), calendar_(calendar), names_(distinct_names(h.nodes.ids())) {}

    void take(decided_window const& w) override {
        if (w.is_idle() && w.changes.empty()) return;
        ordered_json entry{{"window", w.number},
                           {"begin", ordered_json::parse(calendar_.begin(w.number))},
                           {"end", ordered_json::parse(calendar_.end(w.number))},
                           {"ranked", w.ranking.nodes().size()},
                           {"unranked", w.ranking.unranked().size()},
                           {"levels", w.ranking.levels()},
                           {"tasks", w.ranking.attempts().used},
                           {"blacklisted", names(w.decision.blacklisted())},
                           {"on_probation", names(w.decision.on_probation())},
                           {"spared", names(w.decision.spared())}};
        ordered_json& changes = entry["changes"] = ordered_json::array();
        for (change const& c : w.changes) changes.push_back(change_json(c));
        windows_ += windows_.empty() ? "\n" : ",\n";
        windows_ += entry.dump();
    }

    void print(std::ostream& out, result const& whole, timeline const& t) override {
        ordered_json nodes = ordered_json::array(), gaps = ordered_json::array();
        for (std::uint32_t node = 0; node < t.nodes.size(); ++node)
            nodes.push_back(node_json(node, t.nodes[node]));
        for (idle_gap const& gap : t.gaps)
            gaps.push_back({{"first_window", gap.first}, {"last_window", gap.last}, {"windows", gap.size()}});
        ordered_json const rest{{"straggle", version()},
                                {"file", valid_utf8(h_.file)},
                                {"options", to_json(o_)},
                                {"time_unit", to_string(calendar_.unit())},
                                {"first_window", t.first},
                                {"last_window", t.last},
                                {"decisions", t.decisions},
                                {"idle_windows", t.idle},
                                {"gaps", std::move(gaps)},
                                {"nodes", std::move(nodes)},
                                {"records", records_json(whole)},
                                {"failing_jobs", failing_jobs_json(whole)},
                                {"successes_without_end", t.untimed}};
        std::string text = rest.dump(1);
        text.resize(text.size() - 2); // "\n}"
        out << text << ",\n \"windows\": [" << windows_ << "]\n}\n";
    }

  private:
    [[nodiscard]] ordered_json names(std::span<verdict const> verdicts) const {
        ordered_json list = ordered_json::array();
        for (verdict const& v : verdicts) list.push_back(names_[v.id]);
        return list;
    }
    [[nodiscard]] ordered_json change_json(change const& c) const {
        ordered_json entry{
            {"node", names_[c.node]}, {"before", to_string(c.before)}, {"after", to_string(c.after)}};
        if (c.why == nullptr) return entry;
        verdict const& v = *c.why;
        entry["rule"] = v.rule;
        entry["value"] = v.value;
        entry["threshold"] = v.threshold;
        entry["slowdown"] = slowdown_json(v.slow);
        entry["causes"] = causes(v.causes);
        entry["since"] = c.since;
        entry["until"] = c.until;
        entry["strikes"] = v.strikes;
        entry["why"] = reason(v, o_);
        if (!v.spared_by.empty()) {
            entry["spared_by"] = v.spared_by;
            entry["spared_because"] = limit_reason(v.spared_by, o_);
        }
        return entry;
    }
    [[nodiscard]] ordered_json node_json(std::uint32_t node, node_account const& a) const {
        return {{"node", names_[node]},
                {"windows", a.windows},
                {"exclusions", a.exclusions},
                {"avoided", a.avoided},
                {"on_probation", a.on_probation},
                {"spared", a.spared},
                {"strikes", a.strikes},
                {"failures",
                 {{"attempts", a.failures.attempts},
                  {"failed", a.failures.failed},
                  {"low", a.failures.low},
                  {"high", a.failures.high},
                  {"elsewhere", a.failures.elsewhere}}},
                {"at_the_end", to_string(a.now)}};
    }

    history const& h_;
    options const& o_;
    window_calendar const& calendar_;
    std::vector<std::string> names_; // of nodes
    std::string windows_;            // of the array
};

// A row for each window and node with a task in it.
class csv_printer final : public window_printer {
  public:
    csv_printer(history const& h, options const& o, window_calendar const& calendar)
        : h_(h), safe_(o.csv_safe), calendar_(calendar) {}

    void take(decided_window const& w) override {
        std::vector<standing> where(h_.nodes.size(), standing::in_service);
        for (verdict const& v : w.decision.blacklisted()) where[v.id] = standing::avoided;
        for (verdict const& v : w.decision.on_probation()) where[v.id] = standing::on_probation;
        for (verdict const& v : w.decision.spared()) where[v.id] = standing::spared;
        std::string const head =
            std::to_string(w.number) + ',' + calendar_.begin(w.number) + ',' + calendar_.end(w.number) + ',';
        auto const row = [&](std::uint32_t node, std::string const& numbers) {
            rows_.append(head).append(csv::quoted(h_.nodes[node], safe_)).append(numbers);
            rows_.append(to_string(where[node])) += '\n';
        };
        for (auto const& node : w.ranking.nodes())
            row(node.id, ',' + std::to_string(node.level) + ',' + std::to_string(node.n) + ',' +
                             exact(node.mean) + ',' + exact(node.sd) + ',' + exact(node.ci.low) + ',' +
                             exact(node.ci.high) + ',');
        for (auto const& node : w.ranking.unranked()) row(node.id, ",," + std::to_string(node.n) + ",,,,,");
    }

    void print(std::ostream& out, result const&, timeline const&) override {
        out << "window,begin,end,node,level,n,mean,sd,low,high,decision\n" << rows_;
    }

  private:
    history const& h_;
    bool safe_;
    window_calendar const& calendar_;
    std::string rows_;
};

} // namespace

std::unique_ptr<window_printer> window_json(history const& h, options const& o,
                                            window_calendar const& calendar) {
    return std::make_unique<json_printer>(h, o, calendar);
}

std::unique_ptr<window_printer> window_csv(history const& h, options const& o,
                                           window_calendar const& calendar) {
    return std::make_unique<csv_printer>(h, o, calendar);
}

} // namespace straggle_rank
