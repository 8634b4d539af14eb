// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "decision_log.hpp"

#include "../common/failure.hpp"
#include "../common/text.hpp"
#include "json.hpp"
#include "output.hpp"
#include "record_json.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int log_version = 2;

ordered_json fleet_json(fleet const& f, std::span<std::string const> names) {
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
        ordered_json entry{{"node", names[i]}, {"slots", f.slots[i]}};
        if (!f.domains.empty()) entry["domain"] = valid_utf8(f.domains[i]);
        list.push_back(std::move(entry));
    }
    return list;
}

// Everything a keeper needs, as a log says it.
struct log_header {
    straggle_rank::options options;
    straggle_rank::fleet fleet;
    straggle::interner<std::string> names;
};

template <class T>
std::optional<T> optional_from(json const& from, char const* key) {
    json const& value = from.at(key);
    return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

// Shares and slots that limits take.
void check(std::optional<double> const& value, double low, double high, char const* what) {
    if (value && !(*value >= low && *value <= high))
        throw std::runtime_error(std::string(what) + " is out of range");
}

options options_from(json const& from) {
    options o;
    o.selection = parse_selection(from.at("select").get<std::string>());
    std::string const deviation = from.at("deviation").get<std::string>();
    if (deviation == "population")
        o.deviation = straggle::stats::deviation_kind::population;
    else if (deviation != "sample")
        throw std::runtime_error("deviation is neither sample nor population");
    if (auto* const fdr = std::get_if<straggle::blacklist::dominated_fdr>(&o.selection))
        fdr->deviation = o.deviation;
    std::string const edge = from.at("edge").get<std::string>();
    if (edge == "open")
        o.edge = straggle::rank::edge_rule::open;
    else if (edge != "closed")
        throw std::runtime_error("edge is neither open nor closed");
    o.exclusions = parse_sentences(from.at("exclusions").get<std::string>());
    o.windows = parse_lengths(from.at("window").get<std::string>(), from.at("slide").get<std::string>());
    json const& limits = from.at("limits");
    o.limits = {.max_fraction = optional_from<double>(limits, "max_fraction"),
                .max_nodes = optional_from<std::size_t>(limits, "max_nodes"),
                .min_healthy = optional_from<double>(limits, "min_healthy"),
                .domain = optional_from<std::string>(limits, "domain"),
                .fail_open = optional_from<double>(limits, "fail_open")};
    check(o.limits.max_fraction, 0, 1, "max_fraction");
    check(o.limits.min_healthy, 0, 1e15, "min_healthy");
    check(o.limits.fail_open, 1e-9, 1, "fail_open");
    return o;
}

log_header header_from(json const& line) {
    if (line.at("straggle_log").get<int>() != log_version)
        throw std::runtime_error("written by another version of straggle-rank");
    log_header h;
    h.options = options_from(line.at("options"));
    for (json const& node : line.at("fleet")) {
        std::string const name = node.at("node").get<std::string>();
        h.names.insert(name);
        h.fleet.names.push_back(name);
        h.fleet.slots.push_back(node.at("slots").get<double>());
        if (h.options.limits.domain) h.fleet.domains.push_back(node.at("domain").get<std::string>());
        check(h.fleet.slots.back(), 0, 1e300, "slots");
    }
    if (h.names.size() != h.fleet.names.size()) throw std::runtime_error("a node is twice in the fleet");
    return h;
}

// The member of a record that a difference names.
std::string value_at(ordered_json const& record, decision_difference const& d) {
    if (d.field == "count") return std::to_string(record.at(std::string(d.list)).size());
    ordered_json const& in = d.list.empty() ? record : record.at(std::string(d.list)).at(d.place);
    if (d.field == "ci") return in.at("low").dump() + " to " + in.at("high").dump();
    return in.at(d.field == "id" ? "node" : std::string(d.field)).dump();
}

std::string in_words(decision_difference const& d, decision_record const& logged,
                     decision_record const& again, std::span<std::string const> names) {
    ordered_json const a = record_json(logged, names), b = record_json(again, names);
    std::string where = "window " + std::to_string(logged.window) + ": ";
    if (!d.list.empty()) {
        where += d.list;
        ordered_json const& in = a.at(std::string(d.list));
        if (d.field != "count")
            where += "[" + std::to_string(d.place) + "] (" +
                     printable(in.at(d.place).at("node").get_ref<std::string const&>()) + ")";
        where += ": ";
    }
    where += d.field == "id" ? "node" : d.field;
    return where + " is " + value_at(a, d) + " in the log, " + value_at(b, d) + " when decided again";
}

} // namespace

log_writer::log_writer(history const& h, options const& o, fleet const& f, window_calendar const& calendar)
    : file_(o.log),
      names_(distinct_names(f.names)),
      calendar_(calendar),
      by_attempts_(o.decides_by_slowdown()) {
    file_.stream() << ordered_json{{"straggle_log", log_version}, {"straggle", version()},
                                   {"file", valid_utf8(h.file)},  {"time_unit", to_string(calendar.unit())},
                                   {"options", to_json(o)},       {"fleet", fleet_json(f, names_)}}
                          .dump()
                   << '\n';
}

void log_writer::take(decided_window const& w) {
    ordered_json line{{"window", w.number},
                      {"begin", ordered_json::parse(calendar_.begin(w.number))},
                      {"end", ordered_json::parse(calendar_.end(w.number))}};
    line.update(record_json(w.keeper.record(w.ranking), names_));
    if (by_attempts_) {
        line["now"] = w.now;
        ordered_json& ended = line["ended"] = ordered_json::array();
        for (past_attempt const& a : w.ended)
            ended.push_back({a.node, a.job, a.task ? ordered_json(*a.task) : ordered_json(nullptr), a.start,
                             a.end, static_cast<int>(a.status)});
    }
    file_.stream() << line.dump() << '\n';
}

void log_writer::close() {
    file_.finish();
}

namespace {

past_attempt attempt_from(json const& from, std::size_t nodes) {
    past_attempt a;
    a.node = from.at(0).get<std::uint32_t>();
    if (a.node >= nodes) throw std::runtime_error("an attempt is of no node of the fleet");
    a.job = from.at(1).get<std::uint32_t>();
    if (!from.at(2).is_null()) a.task = from.at(2).get<std::uint32_t>();
    a.start = from.at(3).get<double>();
    a.end = from.at(4).get<double>();
    int const status = from.at(5).get<int>();
    if (status < 0 || status > 2) throw std::runtime_error("an attempt has ended in no way that there is");
    a.status = static_cast<straggle::attempt_status>(status);
    return a;
}

// Decides by the attempts of a line once more. What differs, in words; empty if nothing does.
std::string decided_again(json const& line, log_header const& header, evidence& again) {
    for (json const& a : line.at("ended")) again.observe(attempt_from(a, header.fleet.names.size()));
    again.decide(line.at("now").get<double>());
    std::int64_t const window = line.at("window").get<std::int64_t>();
    json const now =
        record_json(straggle::blacklist::record_of(ranking{}, again.decision(), window), header.fleet.names);
    for (char const* const list : {"blacklisted", "on_probation", "spared"})
        if (now.at(list) != line.at(list))
            return "window " + std::to_string(window) + ": " + list + " is " + line.at(list).dump() +
                   " in the log, " + now.at(list).dump() + " when decided again";
    return {};
}

} // namespace

replay_result replay_log(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw failure(exit_status::bad_input, file + ": " + std::strerror(errno));
    replay_result result;
    std::uint64_t number = 1;
    try {
        std::string line;
        if (!std::getline(in, line)) throw std::runtime_error("the file is empty");
        log_header const header = header_from(json::parse(line));
        std::unique_ptr<keeper> const k = make_keeper(header.fleet, header.options, 1, 0);
        evidence by_attempts(header.fleet, header.options, 1000);
        while (std::getline(in, line)) {
            ++number;
            if (header.options.decides_by_slowdown()) {
                std::string const difference = decided_again(json::parse(line), header, by_attempts);
                ++result.decisions;
                if (!difference.empty() && result.different++ == 0) result.first = difference;
                continue;
            }
            decision_record const record = record_from(json::parse(line), header.names, header.options.edge);
            auto const difference = k->replay(record);
            if (!difference)
                throw std::runtime_error("no window can look like this, or it is not after the one before");
            ++result.decisions;
            if (!*difference || result.different++ > 0) continue;
            auto const nodes = straggle::ranking_from<std::uint32_t, std::uint32_t>(
                record.nodes, record.unranked, record.edges);
            result.first = in_words(**difference, record, k->record(*nodes), header.fleet.names);
        }
        if (in.bad()) throw std::runtime_error("cannot be read");
    } catch (failure const& e) {
        throw failure(exit_status::bad_input, file + ":" + std::to_string(number) + ": " + e.what());
    } catch (std::bad_alloc const&) {
        throw;
    } catch (std::exception const& e) {
        throw failure(exit_status::bad_input,
                      file + ":" + std::to_string(number) + ": not a log: " + printable(e.what()));
    }
    return result;
}

} // namespace straggle_rank
