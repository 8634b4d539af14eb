// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "record_json.hpp"

#include "../common/text.hpp"
#include "exclusion.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::json;
using verdict_record = straggle::blacklist::logged_verdict<std::uint32_t>;

// Writes members one after the other.
class object_writer {
  public:
    object_writer(std::string& out, std::string_view head) : out_(out) { (out_ += '{').append(head); }
    ~object_writer() { out_ += '}'; }
    object_writer(object_writer const&) = delete;
    object_writer& operator=(object_writer const&) = delete;

    void raw(std::string_view key, std::string_view value) {
        if (out_.back() != '{') out_ += ',';
        ((out_ += '"').append(key) += "\":").append(value);
    }
    template <std::integral T>
    void number(std::string_view key, T value) {
        raw(key, std::to_string(value));
    }
    void number(std::string_view key, double value) {
        std::string text = exact(value);
        if (text == "-0") text = "-0.0"; // an integer would lose its sign
        raw(key, text);
    }
    // A name of the library: needs no escapes. Empty is null.
    void word(std::string_view key, std::string_view value) {
        raw(key, value.empty() ? "null" : '"' + std::string(value) + '"');
    }
    template <class Range, class Write>
    void list(std::string_view key, Range const& items, Write&& write) {
        raw(key, "[");
        bool first = true;
        for (auto const& item : items) {
            if (!first) out_ += ',';
            first = false;
            object_writer entry(out_, {});
            write(entry, item);
        }
        out_ += ']';
    }

  private:
    std::string& out_;
};

void write_verdicts(object_writer& line, std::string_view key, std::vector<verdict_record> const& verdicts,
                    std::span<std::string const> names) {
    line.list(key, verdicts, [names](object_writer& o, verdict_record const& v) {
        o.raw("node", names[v.id]);
        o.word("rule", v.rule);
        o.number("value", v.value);
        o.number("threshold", v.threshold);
        o.number("since", v.since);
        o.number("until", v.until);
        o.number("strikes", v.strikes);
        o.word("spared_by", v.spared_by);
        o.number("n", v.n);
        o.number("mean", v.mean);
        o.number("sd", v.sd);
        o.number("low", v.ci.low);
        o.number("high", v.ci.high);
        o.number("level", v.level);
        o.number("provably_faster", v.provably_faster);
        o.number("provably_slower", v.provably_slower);
    });
}

// Reading: every member has to be there, and to fit its type.
template <std::integral T>
T integer(json const& from, char const* key) {
    json const& value = from.at(key);
    if (!value.is_number_integer()) throw std::runtime_error(std::string(key) + " is no integer");
    bool const fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                 : std::in_range<T>(value.get<std::int64_t>());
    if (!fits) throw std::runtime_error(std::string(key) + " is out of range");
    return value.get<T>();
}
double real(json const& from, char const* key) {
    json const& value = from.at(key);
    if (!value.is_number()) throw std::runtime_error(std::string(key) + " is no number");
    return value.get<double>();
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
    if (!items.is_array()) throw std::runtime_error(std::string(key) + " is no list");
    std::vector<T> result;
    for (json const& item : items) result.push_back(read(item));
    return result;
}

// The value of an enumeration whose name is in the log.
template <class Enum, std::size_t N>
Enum named(json const& from, char const* key, std::array<Enum, N> const& values) {
    auto const& name = from.at(key).get_ref<std::string const&>();
    for (Enum const value : values)
        if (to_string(value) == name) return value;
    throw std::runtime_error(std::string(key) + " is '" + printable(name) + "'");
}

verdict_record verdict_from(json const& v, straggle::interner<std::string> const& names) {
    return {.id = node(v, names),
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
            .since = integer<std::int64_t>(v, "since"),
            .until = integer<std::int64_t>(v, "until")};
}

straggle::blacklist::exclusion sentence_from(json const& s) {
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

std::string record_line(decision_record const& r, std::span<std::string const> names, std::string_view head) {
    std::string out;
    {
        object_writer line(out, head);
        line.list("nodes", r.nodes, [names](object_writer& o, auto const& n) {
            o.raw("node", names[n.id]);
            o.number("n", n.n);
            o.number("mean", n.mean);
            o.number("sd", n.sd);
            o.number("low", n.ci.low);
            o.number("high", n.ci.high);
            o.number("level", n.level);
            o.number("seen", n.seen);
        });
        line.list("unranked", r.unranked, [names](object_writer& o, auto const& n) {
            o.raw("node", names[n.id]);
            o.number("n", n.n);
            o.number("mean", n.mean);
            o.number("seen", n.seen);
        });
        line.word("rule", r.rule);
        line.word("note", to_string(r.note));
        write_verdicts(line, "blacklisted", r.blacklisted, names);
        write_verdicts(line, "on_probation", r.on_probation, names);
        write_verdicts(line, "spared", r.spared, names);
        if (r.exclusions)
            line.list("exclusions", *r.exclusions, [names](object_writer& o, auto const& s) {
                o.raw("node", names[s.id]);
                o.word("state", to_string(s.state.state));
                o.number("strikes", s.state.strikes);
                o.number("since", s.state.since);
                o.number("until", s.state.until);
                o.number("weak_streak", s.state.weak_streak);
                o.number("good_streak", s.state.good_streak);
                o.number("probes", s.state.probes);
                o.number("probe_sum", s.state.probe_sum);
            });
    }
    return out;
}

decision_record record_from(json const& line, straggle::interner<std::string> const& names,
                            straggle::rank::edge_rule edges) {
    using straggle::blacklist::selection_note;
    decision_record r;
    r.window = integer<std::int64_t>(line, "window");
    r.edges = edges;
    r.nodes = list<straggle::ranked_node<std::uint32_t>>(line, "nodes", [&](json const& n) {
        return straggle::ranked_node<std::uint32_t>{.id = node(n, names),
                                                    .n = integer<std::uint64_t>(n, "n"),
                                                    .mean = real(n, "mean"),
                                                    .sd = real(n, "sd"),
                                                    .ci = {real(n, "low"), real(n, "high")},
                                                    .level = integer<std::uint32_t>(n, "level"),
                                                    .seen = integer<std::uint32_t>(n, "seen")};
    });
    r.unranked = list<straggle::unranked_node<std::uint32_t>>(line, "unranked", [&](json const& n) {
        return straggle::unranked_node<std::uint32_t>{.id = node(n, names),
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
    using sentence_record = straggle::blacklist::logged_exclusion<std::uint32_t>;
    r.exclusions = list<sentence_record>(
        line, "exclusions", [&](json const& s) { return sentence_record{node(s, names), sentence_from(s)}; });
    return r;
}

} // namespace straggle_rank
