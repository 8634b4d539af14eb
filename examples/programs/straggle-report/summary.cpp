// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "summary.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace straggle_report {

namespace {

using json = nlohmann::ordered_json;
using simdjson::dom::element;

constexpr std::size_t most_moments = 800, most_nodes = 2000, most_spans = 2000, most_restarts = 200;

double number(element of, char const* key, double otherwise = 0) {
    double x = otherwise;
    return of[key].get(x) == simdjson::SUCCESS && std::isfinite(x) ? x : otherwise;
}
std::uint64_t count(element of, char const* key) {
    double const x = number(of, key);
    return x > 0 && x < 9e15 ? static_cast<std::uint64_t>(x) : 0;
}
std::string_view text(element of, char const* key) {
    std::string_view s;
    return of[key].get(s) == simdjson::SUCCESS ? s : std::string_view{};
}
// Text, or a whole number.
std::string name(element of, char const* key) {
    std::int64_t signed_number = 0;
    std::uint64_t large_number = 0;
    if (of[key].get(signed_number) == simdjson::SUCCESS) return std::to_string(signed_number);
    if (of[key].get(large_number) == simdjson::SUCCESS) return std::to_string(large_number);
    return std::string(text(of, key));
}
bool flag(element of, char const* key) {
    bool yes = false;
    return of[key].get(yes) == simdjson::SUCCESS && yes;
}
// Missing elements are null: an element without a document must not be accessed.
element part(element of, char const* key) {
    static simdjson::dom::parser parser;
    static element const nothing = parser.parse(std::string_view("null")).value_unsafe();
    element found;
    return of[key].get(found) == simdjson::SUCCESS ? found : nothing;
}

// Quantile of a sample, 0 for an empty one.
double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    auto const at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

} // namespace

bool summary::add(element line) {
    std::string_view const event = text(line, "event");
    if (event == "plan") {
        add_plan(line);
    } else if (event == "hello") {
        is_restart_ = plans_ != 0;
    } else if (event == "job") {
        double const start = number(line, "start");
        jobs_.add({start, number(line, "end") - start, flag(line, "left_alone")});
    } else if (event == "copy") {
        if (flag(line, "probe")) return ++probes_, true; // tries a node, and is not meant to win
        std::string const winner(text(line, "winner"));
        double const won = number(line, "won");
        ++(winner == "copy" ? copies_won_ : copies_lost_);
        time_won_ += won;
        copies_.add({name(line, "job"), name(line, "task"), name(line, "node"), name(line, "to"), winner,
                     number(line, "planned"), number(line, "end"), won});
    } else {
        return false;
    }
    return true;
}

// A task counts once, with its most likely cause in the last plan in which it was late.
void summary::add_late(element plan) {
    std::map<std::string, std::string> next;
    simdjson::dom::array late;
    if (plan["late"].get(late) == simdjson::SUCCESS)
        for (element const task : late) {
            std::string_view const cause = text(part(task, "cause"), "likeliest");
            constexpr std::string_view known[] = {"node", "input", "crowd", "kind", "itself"};
            if (std::find(std::begin(known), std::end(known), cause) == std::end(known)) continue;
            std::string const who = name(task, "job") + '\n' + name(task, "task") + '\n' +
                                    name(task, "attempt") + '\n' + name(task, "node");
            next.insert_or_assign(who, std::string(cause));
            late_.erase(who);
        }
    for (auto const& [who, cause] : late_) ++causes_[cause];
    late_.swap(next);
}

void summary::add_plan(element plan) {
    double const now = number(plan, "now", to_);
    if (plans_++ == 0) from_ = to_ = now;
    if (is_restart_ && restarts_.size() < most_restarts) restarts_.push_back(now);
    is_restart_ = false;
    if (now < to_) close(to_); // the clock went back: open spans end there
    to_ = (std::max)(to_, now);
    is_shadow_ = is_shadow_ || flag(plan, "shadow");
    element const fleet = part(plan, "fleet"), ended = part(plan, "ended"), load = part(plan, "load");
    most_nodes_ = (std::max)(most_nodes_, count(fleet, "nodes"));
    add_nodes(plan, now);
    add_late(plan);
    add_moment({.at = now,
                .mean = number(ended, "mean"),
                .longest = number(ended, "longest"),
                .ended = count(ended, "count"),
                .waiting = count(load, "waiting"),
                .running = count(load, "running"),
                .out = count(fleet, "excluded") + count(fleet, "on_probation"),
                .excluded = count(fleet, "excluded"),
                .plans = 1});
    simdjson::dom::array notes;
    if (plan["notes"].get(notes) == simdjson::SUCCESS)
        for (element const note : notes)
            if (notes_.size() < 100) ++notes_[std::string(text(note, "note"))];
    effects_ = simdjson::minify(part(plan, "effects"));
    counts_ = simdjson::minify(part(plan, "counts"));
}

void summary::add_nodes(element plan, double now) {
    element const would = part(plan, "would");
    simdjson::dom::array listed;
    if (!flag(plan, "shadow") || would["nodes"].get(listed) != simdjson::SUCCESS)
        if (plan["nodes"].get(listed) != simdjson::SUCCESS) return;
    std::set<std::string> open;
    for (element const n : listed) {
        std::string const id = name(n, "node"), state(text(n, "state"));
        if (state == "healthy" || id.empty()) continue;
        auto at = nodes_.find(id);
        if (at == nodes_.end()) {
            if (nodes_.size() >= most_nodes) {
                ++lost_spans_;
                continue;
            }
            at = nodes_.try_emplace(id).first;
        }
        open.insert(id);
        node& of = at->second;
        if (of.is_open && of.spans.back().state != state) {
            of.spans.back().to = now;
            of.is_open = false;
        }
        if (!of.is_open) {
            if (of.spans.size() >= most_spans) {
                ++lost_spans_;
                continue;
            }
            of.spans.push_back({now, now, state, "", 1});
            of.is_open = true;
        }
        of.spans.back().to = now;
        of.spans.back().reason = text(n, "reason");
        of.spans.back().slowdown = number(part(n, "slowdown"), "value", 1);
    }
    for (auto& [id, of] : nodes_)
        if (of.is_open && !open.contains(id)) {
            of.spans.back().to = now;
            of.is_open = false;
        }
}

void summary::close(double now) {
    for (auto& [name, of] : nodes_) {
        if (of.is_open) of.spans.back().to = now;
        of.is_open = false;
    }
}

// When there are too many moments, merges pairs of neighbors.
void summary::add_moment(moment const& m) {
    auto const merge = [](moment& to, moment const& from) {
        std::uint64_t const ended = to.ended + from.ended;
        if (ended != 0)
            to.mean =
                (to.mean * static_cast<double>(to.ended) + from.mean * static_cast<double>(from.ended)) /
                static_cast<double>(ended);
        to.ended = ended;
        to.longest = (std::max)(to.longest, from.longest);
        to.waiting = (std::max)(to.waiting, from.waiting);
        to.running = (std::max)(to.running, from.running);
        to.out = (std::max)(to.out, from.out);
        to.excluded = (std::max)(to.excluded, from.excluded);
        to.plans += from.plans;
        to.at = from.at;
    };
    if (!moments_.empty() && moments_.back().plans < per_moment_)
        merge(moments_.back(), m);
    else
        moments_.push_back(m);
    if (moments_.size() < most_moments) return;
    for (std::size_t i = 0; 2 * i + 1 < moments_.size(); ++i) {
        moments_[i] = moments_[2 * i];
        merge(moments_[i], moments_[2 * i + 1]);
    }
    moments_.resize(moments_.size() / 2);
    per_moment_ *= 2;
}

json summary::data(std::string_view title, std::uint64_t bad_lines) const {
    json nodes = json::array();
    for (auto const& [name, of] : nodes_) {
        json spans = json::array();
        for (span const& s : of.spans)
            spans.push_back({{"from", s.from},
                             {"to", s.to},
                             {"state", s.state},
                             {"slowdown", s.slowdown},
                             {"reason", s.reason}});
        nodes.push_back({{"node", name}, {"spans", std::move(spans)}});
    }
    json moments = json::array();
    for (moment const& m : moments_)
        moments.push_back({{"at", m.at},
                           {"ended", m.ended},
                           {"mean", m.mean},
                           {"longest", m.longest},
                           {"waiting", m.waiting},
                           {"running", m.running},
                           {"out", m.out},
                           {"excluded", m.excluded}});
    json jobs = json::array();
    std::vector<double> treated, alone;
    for (job const& j : jobs_.kept()) {
        jobs.push_back({{"start", j.start}, {"took", j.took}, {"left_alone", j.left_alone}});
        (j.left_alone ? alone : treated).push_back(j.took);
    }
    auto const times = [](std::vector<double> const& of) {
        return json{{"jobs", of.size()}, {"median", quantile(of, 0.5)}, {"high", quantile(of, 0.99)}};
    };
    json copies = json::array();
    for (copy const& c : copies_.kept())
        copies.push_back({{"job", c.job},
                          {"task", c.task},
                          {"node", c.node},
                          {"to", c.to},
                          {"winner", c.winner},
                          {"planned", c.planned},
                          {"end", c.end},
                          {"won", c.won}});
    std::map<std::string, std::uint64_t> causes = causes_;
    for (auto const& [who, cause] : late_) ++causes[cause];
    return {{"title", title},
            {"from", from_},
            {"to", to_},
            {"plans", plans_},
            {"shadow", is_shadow_},
            {"fleet", most_nodes_},
            {"nodes", std::move(nodes)},
            {"moments", std::move(moments)},
            {"jobs", std::move(jobs)},
            {"jobs_seen", jobs_.seen()},
            {"job_times", {{"treated", times(treated)}, {"left_alone", times(alone)}}},
            {"copies", std::move(copies)},
            {"races",
             {{"won", copies_won_}, {"lost", copies_lost_}, {"probes", probes_}, {"time_won", time_won_}}},
            {"late", causes},
            {"effects", json::parse(effects_, nullptr, false)},
            {"notes", notes_},
            {"restarts", restarts_},
            {"counts", json::parse(counts_, nullptr, false)},
            {"bad_lines", bad_lines},
            {"not_shown", lost_spans_}};
}

} // namespace straggle_report
