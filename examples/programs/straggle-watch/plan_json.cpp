// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "plan_json.hpp"

#include "sent_name.hpp"
#include "watch.hpp"

#include <straggle/mitigate/reason.hpp>
#include <straggle/version.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace straggle_watch {

namespace {

using json = nlohmann::ordered_json; // a number that is not finite becomes null
namespace mitigate = straggle::mitigate;

std::string line_of(json const& j) {
    return j.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}
json name_or_null(std::optional<std::string> const& s) {
    return s ? name_json(*s) : json();
}
// JSON has no infinity, and the schema requires a number.
double finite(double x, double otherwise) {
    return std::isfinite(x) ? x : otherwise;
}

json why_json(straggle::comparison const& c) {
    if (c.rule.empty()) return nullptr;
    return {{"rule", c.rule},
            {"value", finite(c.value, 0)},
            {"threshold", finite(c.threshold, 0)},
            {"usual", finite(c.usual, 0)}};
}
json time_json(mitigate::time_range const& t) {
    return {{"low", finite(t.low, 0)}, {"middle", finite(t.middle, 0)}, {"high", finite(t.high, 0)}};
}

json node_json(mitigate::planned_node const& n, std::string const& name, double now) {
    json causes = json::array();
    constexpr std::array<std::pair<straggle::blacklist::cause, char const*>, 4> words{
        {{straggle::blacklist::cause::slow, "slow"},
         {straggle::blacklist::cause::hung, "hung"},
         {straggle::blacklist::cause::failing, "failing"},
         {straggle::blacklist::cause::denied, "denied"}}};
    for (auto const& [cause, word] : words)
        if (straggle::blacklist::has(n.causes, cause)) causes.push_back(word);
    bool const ends = n.left > 0 && std::isfinite(n.left);
    return {{"node", name_json(name)},
            {"state", straggle::to_string(n.state)},
            {"slowdown",
             {{"value", finite(n.slow.value, 1)},
              {"low", finite(n.slow.low, 0)},
              {"high", n.slow.high},
              {"tasks", n.slow.tasks}}},
            {"why", why_json(n.why)},
            {"causes", std::move(causes)},
            {"strikes", n.strikes},
            {"probe_slots", n.probe_slots},
            {"since", now - finite(n.lasted, 0)},
            {"until", ends ? json(now + n.left) : json()},
            {"spared_by", straggle::blacklist::to_string(n.spared_by)},
            {"reason", mitigate::reason(n)}};
}

json nodes_json(plan_line const& line, text_map<char>& listed) {
    json nodes = json::array();
    text_map<char> next;
    for (mitigate::planned_node const& n : line.plan.nodes()) {
        std::string const& name = line.told.nodes()[n.row].name;
        bool const is_healthy =
            n.state == straggle::node_state::healthy && n.spared_by == straggle::blacklist::spared::no;
        if (!is_healthy) next.try_emplace(name);
        if (line.lists_all || !is_healthy || listed.contains(name))
            nodes.push_back(node_json(n, name, line.now));
    }
    listed = std::move(next);
    return nodes;
}

json cause_json(straggle::detect::late_cause const& c) {
    if (!c.is_known()) return nullptr;
    json probability, times;
    for (std::size_t i = 0; i < straggle::detect::late_by_count; ++i) {
        std::string const by(to_string(static_cast<straggle::detect::late_by>(i)));
        probability[by] = finite(c.probability[i], 0);
        times[by] = finite(c.times[i], 1);
    }
    return {{"likeliest", to_string(c.likeliest())},
            {"probability", std::move(probability)},
            {"times", std::move(times)}};
}

json attempt_json(running_attempt const& row) {
    return {{"job", name_json(row.job)},
            {"task", name_or_null(row.task)},
            {"attempt", name_or_null(row.attempt)},
            {"node", name_json(row.node)}};
}

json late_json(plan_line const& line) {
    json late = json::array();
    for (mitigate::planned_suspect const& s : line.plan.suspects()) {
        late.push_back(attempt_json(line.told.running(s.row)));
        late.back().update(
            {{"left", time_json(s.left)}, {"cause", cause_json(s.cause)}, {"reason", mitigate::reason(s)}});
    }
    return late;
}

json jobs_json(plan_line const& line) {
    json jobs = json::array();
    for (mitigate::planned_job const& j : line.plan.jobs())
        jobs.push_back({{"job", name_json(line.told.running(j.row).job)},
                        {"deadline", line.now + finite(j.deadline, 0)},
                        {"weight", finite(j.weight, 1)},
                        {"end", j.is_known ? time_json(j.end) : json()},
                        {"miss_probability", j.miss_probability},
                        {"least_probability", j.least_probability},
                        {"lost", j.is_lost()},
                        {"copies", j.copies},
                        {"planned", j.planned},
                        {"reason", mitigate::reason(j)}});
    return jobs;
}

json copies_json(plan_line const& line) {
    json copies = json::array();
    for (mitigate::planned_copy const& c : line.plan.copies()) {
        copies.push_back(attempt_json(line.told.running(c.row)));
        copies.back().update({{"to", name_json(line.told.nodes()[c.node_row].name)},
                              {"left", time_json(c.left)},
                              {"there", time_json(c.there)},
                              {"win_probability", finite(c.win_probability, 0)},
                              {"gain", finite(c.gain, 0)},
                              {"cost", finite(c.cost, 0)},
                              {"probe", c.is_probe},
                              {"why", why_json(c.why)},
                              {"cause", cause_json(c.cause)},
                              {"reason", mitigate::reason(c)}});
    }
    return copies;
}

json kills_json(plan_line const& line) {
    json kills = json::array();
    for (mitigate::planned_kill const& k : line.plan.kills()) {
        kills.push_back(attempt_json(line.told.running(k.row)));
        kills.back()["reason"] = mitigate::reason(k);
    }
    return kills;
}

json fleet_json(plan_line const& line) {
    std::array<std::uint64_t, straggle::record::node_state_count> states{};
    for (mitigate::planned_node const& n : line.plan.nodes()) ++states[static_cast<std::size_t>(n.state)];
    std::int64_t slots = 0, busy = 0;
    for (told_node const& n : line.told.nodes())
        if (n.condition != straggle::record::condition::away) {
            slots += n.all_slots();
            busy += (std::min)(n.busy_slots(), n.all_slots());
        }
    json fleet{{"nodes", line.plan.nodes().size()}, {"slots", slots}, {"busy", busy}};
    for (std::size_t s = 0; s < states.size(); ++s)
        fleet[std::string(straggle::to_string(static_cast<straggle::node_state>(s)))] = states[s];
    return fleet;
}

json effects_json(plan_line const& line) {
    json effects = json::array();
    for (std::size_t i = 0; i < mitigate::action_kind_count; ++i) {
        auto const kind = static_cast<mitigate::action_kind>(i);
        mitigate::effect const e = line.mitigator.effect_of(kind);
        if (e.treated == 0 && !e.is_stopped) continue;
        effects.push_back({{"action", mitigate::to_string(kind)},
                           {"value", finite(e.value, 1)},
                           {"low", finite(e.low, 0)},
                           {"high", e.high},
                           {"treated", e.treated},
                           {"alone", e.alone},
                           {"stopped", e.is_stopped}});
    }
    return effects;
}

} // namespace

std::string plan_json(plan_line const& line, text_map<char>& listed) {
    json nodes = nodes_json(line, listed), copies = copies_json(line), kills = kills_json(line);
    json gangs = line.gangs_told.list(line.lists_all, line.is_on);
    json notes = json::array(), would = nullptr;
    for (mitigate::plan_note const n : line.plan.notes())
        notes.push_back({{"note", mitigate::to_string(n)}, {"reason", mitigate::reason(n)}});
    if (line.shadow) {
        would = {{"nodes", std::move(nodes)},
                 {"copies", std::move(copies)},
                 {"kills", std::move(kills)},
                 {"gangs", std::move(gangs)}};
        nodes = copies = kills = gangs = json::array();
    }
    auto const& c = line.counts;
    ended_times const& e = line.ended;
    double const mean = e.count == 0 ? 0 : e.sum / static_cast<double>(e.count);
    return line_of(
        {{"event", "plan"},
         {"protocol", 1},
         {"number", line.totals.plans},
         {"now", line.now},
         {"shadow", line.shadow},
         {"on", line.is_on},
         {"nodes", std::move(nodes)},
         {"copies", std::move(copies)},
         {"kills", std::move(kills)},
         {"gangs", std::move(gangs)},
         {"late", late_json(line)},
         {"jobs", jobs_json(line)},
         {"notes", std::move(notes)},
         {"would", std::move(would)},
         {"fleet", fleet_json(line)},
         {"load", {{"running", line.told.running().size()}, {"waiting", line.load.waiting}}},
         {"ended", {{"count", e.count}, {"mean", finite(mean, 0)}, {"longest", finite(e.longest, 0)}}},
         {"effects", effects_json(line)},
         {"counts",
          {{"lines", line.totals.lines},
           {"bad_lines", line.totals.bad_lines()},
           {"seen", c.attempts.seen},
           {"used", c.attempts.used},
           {"failed", c.attempts.failed},
           {"killed", c.attempts.killed},
           {"rejected", c.attempts.total_rejected()},
           {"other_clock", c.other_clock},
           {"no_room", c.no_room},
           {"decisions", c.decisions},
           {"steps", line.gangs_told.used},
           {"gangs_dropped", line.gangs_told.dropped}}}});
}

void append_places(std::string& out, places_answer const& answer) {
    json places = json::array();
    for (auto const& [node, time] : answer.places)
        places.push_back({{"node", name_json(node)}, {"time", finite(time, 0)}});
    out += line_of({{"event", "places"},
                    {"request", answer.request ? name_json(*answer.request) : json()},
                    {"job", name_json(answer.job)},
                    {"left_alone", answer.left_alone},
                    {"places", std::move(places)}});
}

void append_fault(std::string& out, std::uint64_t line, line_fault const& what) {
    out += line_of(
        {{"event", "fault"}, {"line", line}, {"fault", to_string(what.what)}, {"detail", what.detail}});
}

std::string hello_json(bool shadow, bool is_decider, std::uint64_t plans, bool restored) {
    std::string const version = std::to_string(STRAGGLE_VERSION_MAJOR) + "." +
                                std::to_string(STRAGGLE_VERSION_MINOR) + "." +
                                std::to_string(STRAGGLE_VERSION_PATCH);
    return line_of({{"event", "hello"},
                    {"protocol", 1},
                    {"program", "straggle-watch"},
                    {"version", version},
                    {"shadow", shadow},
                    {"decider", is_decider},
                    {"plans", plans},
                    {"restored", restored}});
}

} // namespace straggle_watch
