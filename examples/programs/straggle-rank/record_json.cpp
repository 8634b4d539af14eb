// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "record_json.hpp"

#include "../common/text.hpp"
#include "exclusion.hpp"
#include "json_numbers.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using verdict_record = logged_verdict<std::uint32_t>;

// A name from the library; empty becomes null.
ordered_json word_or_null(std::string_view text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

template <class Range, class Write>
ordered_json list_of(Range const& items, Write&& write) {
    ordered_json list = ordered_json::array();
    for (auto const& item : items) list.push_back(write(item));
    return list;
}

// Unknown ones have no upper end, and JSON has no infinity.
ordered_json slowdown_numbers(straggle::slowdown const& s) {
    if (!s.is_known()) return nullptr;
    return {s.value, s.low, s.high, s.tasks};
}

ordered_json window_or_time(double x) {
    if (x == std::floor(x) && std::fabs(x) < 1e15) return static_cast<std::int64_t>(x);
    return x;
}

ordered_json verdicts_json(std::vector<verdict_record> const& verdicts, std::span<std::string const> names) {
    return list_of(verdicts, [names](verdict_record const& v) -> ordered_json {
        return {{"node", names[v.id]},
                {"state", to_string(v.state)},
                {"rule", word_or_null(v.rule)},
                {"value", v.value},
                {"threshold", v.threshold},
                {"slowdown", slowdown_numbers(v.slow)},
                {"causes", v.causes},
                {"since", window_or_time(v.since)},
                {"until", window_or_time(v.until)},
                {"strikes", v.strikes},
                {"spared_by", word_or_null(v.spared_by)},
                {"n", v.n},
                {"mean", v.mean},
                {"sd", v.sd},
                {"low", v.ci.low},
                {"high", v.ci.high},
                {"level", v.level},
                {"provably_faster", v.provably_faster},
                {"provably_slower", v.provably_slower}};
    });
}

// Reading: every member must exist and fit its type.
template <std::integral T>
T integer(json const& from, std::string const& key) {
    return integer_of<T>(from.at(key), key.c_str());
}
double real(json const& from, std::string const& key) {
    return real_of(from.at(key), key.c_str());
}
std::string word(json const& from, char const* key) {
    json const& value = from.at(key);
    return value.is_null() ? std::string() : value.get<std::string>();
}
std::uint32_t node(json const& from, straggle::interner<std::string> const& names) {
    auto const& name = from.at("node").get_ref<std::string const&>();
    std::uint32_t const id = names.find(name);
    if (id == straggle::interner<std::string>::none)
        throw std::runtime_error("'" + printable(name) + "' is not in the fleet of the first line");
    return id;
}
template <class T, class Read>
std::vector<T> list(json const& from, char const* key, Read&& read) {
    json const& items = from.at(key);
    if (!items.is_array()) throw std::runtime_error(std::string(key) + " is not a list");
    std::vector<T> result;
    for (json const& item : items) result.push_back(read(item));
    return result;
}

// The value of an enumeration by its name in the log.
template <class Enum, std::size_t N>
Enum named(json const& from, char const* key, std::array<Enum, N> const& values) {
    auto const& name = from.at(key).get_ref<std::string const&>();
    for (Enum const value : values)
        if (to_string(value) == name) return value;
    throw std::runtime_error(std::string(key) + " is '" + printable(name) + "'");
}

straggle::slowdown slowdown_from(json const& from) {
    if (from.is_null()) return {};
    if (!from.is_array() || from.size() != 4) throw std::runtime_error("slowdown is not a list of four");
    return {real_of(from[0], "slowdown"), real_of(from[1], "slowdown"), real_of(from[2], "slowdown"),
            integer_of<std::uint64_t>(from[3], "slowdown's tasks")};
}

verdict_record verdict_from(json const& v, straggle::interner<std::string> const& names) {
    using straggle::node_state;
    return {.id = node(v, names),
            .state = named(v, "state",
                           std::array{node_state::healthy, node_state::last_resort, node_state::on_probation,
                                      node_state::excluded, node_state::away}),
            .slow = slowdown_from(v.at("slowdown")),
            .causes = integer<std::uint8_t>(v, "causes"),
            .n = integer<std::uint64_t>(v, "n"),
            .mean = real(v, "mean"),
            .sd = real(v, "sd"),
            .ci = {real(v, "low"), real(v, "high")},
            .level = integer<std::uint32_t>(v, "level"),
            .provably_faster = integer<std::size_t>(v, "provably_faster"),
            .provably_slower = integer<std::size_t>(v, "provably_slower"),
            .value = real(v, "value"),
            .threshold = real(v, "threshold"),
            .rule = word(v, "rule"),
            .spared_by = word(v, "spared_by"),
            .strikes = integer<std::uint32_t>(v, "strikes"),
            .since = real(v, "since"),
            .until = real(v, "until")};
}

straggle::blacklist::exclusion exclusion_from(json const& s) {
    using straggle::node_state;
    return {.state = named(s, "state",
                           std::array{node_state::healthy, node_state::excluded, node_state::on_probation}),
            .strikes = integer<std::uint32_t>(s, "strikes"),
            .since = integer<std::int64_t>(s, "since"),
            .until = integer<std::int64_t>(s, "until"),
            .weak_streak = integer<std::uint32_t>(s, "weak_streak"),
            .good_streak = integer<std::uint32_t>(s, "good_streak"),
            .probes = integer<std::uint64_t>(s, "probes"),
            .probe_sum = real(s, "probe_sum")};
}

} // namespace

ordered_json record_json(logged_decision const& r, std::span<std::string const> names) {
    ordered_json line{{"window", r.window}};
    line["nodes"] = list_of(r.nodes, [names](auto const& n) -> ordered_json {
        return {{"node", names[n.id]}, {"n", n.n},        {"mean", n.mean},
                {"sd", n.sd},          {"low", n.ci.low}, {"high", n.ci.high},
                {"level", n.level},    {"seen", n.seen},  {"slowdown", slowdown_numbers(n.slow)}};
    });
    line["unranked"] = list_of(r.unranked, [names](auto const& n) -> ordered_json {
        return {{"node", names[n.id]}, {"n", n.n}, {"mean", n.mean}, {"seen", n.seen}};
    });
    line["rule"] = word_or_null(r.rule);
    line["note"] = to_string(r.note);
    line["blacklisted"] = verdicts_json(r.blacklisted, names);
    line["on_probation"] = verdicts_json(r.on_probation, names);
    line["spared"] = verdicts_json(r.spared, names);
    if (r.exclusions)
        line["exclusions"] = list_of(*r.exclusions, [names](auto const& s) -> ordered_json {
            return {{"node", names[s.id]},
                    {"state", to_string(s.state.state)},
                    {"strikes", s.state.strikes},
                    {"since", s.state.since},
                    {"until", s.state.until},
                    {"weak_streak", s.state.weak_streak},
                    {"good_streak", s.state.good_streak},
                    {"probes", s.state.probes},
                    {"probe_sum", s.state.probe_sum}};
        });
    return line;
}

logged_decision record_from(json const& line, straggle::interner<std::string> const& names,
                            straggle::rank::edge_rule edges) {
    using straggle::blacklist::selection_note;
    logged_decision r;
    r.window = integer<std::int64_t>(line, "window");
    r.edges = edges;
    r.nodes = list<straggle::ranked_node<std::uint32_t>>(line, "nodes", [&](json const& n) {
        return straggle::ranked_node<std::uint32_t>{.id = node(n, names),
                                                    .n = integer<std::uint64_t>(n, "n"),
                                                    .mean = real(n, "mean"),
                                                    .sd = real(n, "sd"),
                                                    .ci = {real(n, "low"), real(n, "high")},
                                                    .level = integer<std::uint32_t>(n, "level"),
                                                    .seen = integer<std::uint32_t>(n, "seen"),
                                                    .slow = slowdown_from(n.at("slowdown"))};
    });
    r.unranked = list<straggle::rank::unranked_node<std::uint32_t>>(line, "unranked", [&](json const& n) {
        return straggle::rank::unranked_node<std::uint32_t>{.id = node(n, names),
                                                            .n = integer<std::uint64_t>(n, "n"),
                                                            .mean = real(n, "mean"),
                                                            .seen = integer<std::uint32_t>(n, "seen")};
    });
    r.rule = word(line, "rule");
    r.excluding = excluding::name;
    r.note = named(line, "note",
                   std::array{selection_note::none, selection_note::all_overlap,
                              selection_note::too_few_nodes, selection_note::unreachable_threshold});
    auto const verdicts = [&](char const* key) {
        return list<verdict_record>(line, key, [&](json const& v) { return verdict_from(v, names); });
    };
    r.blacklisted = verdicts("blacklisted");
    r.on_probation = verdicts("on_probation");
    r.spared = verdicts("spared");
    using exclusion_record = logged_exclusion<std::uint32_t>;
    r.exclusions = list<exclusion_record>(line, "exclusions", [&](json const& s) {
        return exclusion_record{node(s, names), exclusion_from(s)};
    });
    return r;
}

} // namespace straggle_rank
