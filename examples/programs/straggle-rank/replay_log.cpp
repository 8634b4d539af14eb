// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "replay_log.hpp"

#include "../common/failure.hpp"
#include "../common/text.hpp"
#include "json_numbers.hpp"
#include "record_json.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// No line of a log is nested deeply, and writing a deep one would take as much stack.
json parsed(std::string const& line) {
    return json::parse(line, [](int depth, json::parse_event_t, json const&) {
        if (depth > 16) throw std::runtime_error("too many brackets within each other");
        return true;
    });
}

// Everything that a keeper needs, from the log.
struct log_header {
    straggle_rank::options options;
    straggle_rank::fleet fleet;
    straggle::interner<std::string> names;
};

// Reads an optional member.
template <class Read>
auto optional_from(json const& from, char const* key, Read&& read) {
    json const& value = from.at(key);
    using result = std::optional<decltype(read(value, key))>;
    return value.is_null() ? result() : result(read(value, key));
}
std::string text(json const& value, char const*) {
    return value.get<std::string>();
}

// Checks shares and slots of limits.
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
    o.exclusions = parse_exclusions(from.at("exclusions").get<std::string>());
    o.windows = parse_lengths(from.at("window").get<std::string>(), from.at("slide").get<std::string>());
    json const& limits = from.at("limits");
    o.limits = {.max_fraction = optional_from(limits, "max_fraction", real_of),
                .max_nodes = optional_from(limits, "max_nodes", integer_of<std::size_t>),
                .min_healthy = optional_from(limits, "min_healthy", real_of),
                .domain = optional_from(limits, "domain", text),
                .fail_open = optional_from(limits, "fail_open", real_of)};
    check(o.limits.max_fraction, 0, 1, "max_fraction");
    check(o.limits.min_healthy, 0, 1e15, "min_healthy");
    check(o.limits.fail_open, 1e-9, 1, "fail_open");
    return o;
}

log_header header_from(json const& line) {
    if (integer_of<int>(line.at("straggle_log"), "straggle_log") != decision_log_version)
        throw std::runtime_error("written by another version of straggle-rank");
    log_header h;
    h.options = options_from(line.at("options"));
    for (json const& node : line.at("fleet")) {
        std::string const name = node.at("node").get<std::string>();
        h.names.insert(name);
        h.fleet.names.push_back(name);
        h.fleet.slots.push_back(real_of(node.at("slots"), "slots"));
        if (h.options.limits.domain) h.fleet.domains.push_back(node.at("domain").get<std::string>());
        check(h.fleet.slots.back(), 0, 1e300, "slots");
    }
    if (h.names.size() != h.fleet.names.size()) throw std::runtime_error("a node is twice in the fleet");
    return h;
}

// The name of a record's member in the log.
std::string name_in_log(std::string_view field) {
    return std::string(field == "id" ? "node" : field == "slow" ? "slowdown" : field);
}

// The member of a record that a difference names.
std::string value_at(ordered_json const& record, decision_difference const& d) {
    if (d.field == "count") return std::to_string(record.at(std::string(d.list)).size());
    ordered_json const& in = d.list.empty() ? record : record.at(std::string(d.list)).at(d.place);
    if (d.field == "ci") return in.at("low").dump() + " to " + in.at("high").dump();
    return in.at(name_in_log(d.field)).dump();
}

std::string difference_in_words(decision_difference const& d, logged_decision const& logged,
                                logged_decision const& again, std::span<std::string const> names) {
    ordered_json const a = record_json(logged, names), b = record_json(again, names);
    std::string where = "window " + std::to_string(logged.window) + ": ";
    if (!d.list.empty()) {
        where += d.list;
        ordered_json const& in = a.at(std::string(d.list));
        if (d.field != "count")
            where += "[" + std::to_string(d.place) + "] (" +
                     in.at(d.place).at("node").get_ref<std::string const&>() + ")";
        where += ": ";
    }
    return where + name_in_log(d.field) + " is " + value_at(a, d) + " in the log, " + value_at(b, d) +
           " when decided again";
}

std::uint32_t node_of_attempt(json const& from, std::size_t nodes) {
    std::uint32_t const node = integer_of<std::uint32_t>(from.at(0), "node of an attempt");
    if (node >= nodes) throw std::runtime_error("an attempt is of no node of the fleet");
    return node;
}

running_attempt running_from(json const& from, std::size_t nodes) {
    running_attempt a;
    a.node = node_of_attempt(from, nodes);
    a.job = integer_of<std::uint32_t>(from.at(1), "job of an attempt");
    a.start = real_of(from.at(2), "start of an attempt");
    if (from.size() > 3) a.input = real_of(from.at(3), "input of an attempt");
    return a;
}

past_attempt attempt_from(json const& from, std::size_t nodes) {
    past_attempt a;
    a.node = node_of_attempt(from, nodes);
    a.job = integer_of<std::uint32_t>(from.at(1), "job of an attempt");
    if (!from.at(2).is_null()) a.task = integer_of<std::uint32_t>(from.at(2), "task of an attempt");
    a.start = real_of(from.at(3), "start of an attempt");
    a.end = real_of(from.at(4), "end of an attempt");
    int const status = integer_of<int>(from.at(5), "status of an attempt");
    if (status < 0 || status > 2) throw std::runtime_error("an attempt has ended in no way that there is");
    a.status = static_cast<straggle::attempt_status>(status);
    if (from.size() > 6) a.input = real_of(from.at(6), "input of an attempt");
    return a;
}

// Repeats the decision from the attempts of a line. Returns the difference, in words; empty if none.
std::string decided_again(json const& line, log_header const& header, evidence& again) {
    for (json const& a : line.at("ended")) again.observe(attempt_from(a, header.fleet.names.size()));
    std::vector<running_attempt> running;
    for (json const& a : line.at("running")) running.push_back(running_from(a, header.fleet.names.size()));
    again.decide(real_of(line.at("now"), "now"), running);
    std::int64_t const window = integer_of<std::int64_t>(line.at("window"), "window");
    json const now = record_json(record_of(ranking{}, again.decision(), window), header.fleet.names);
    for (char const* const list : {"blacklisted", "on_probation", "spared"})
        if (now.at(list) != line.at(list))
            return "window " + std::to_string(window) + ": " + list + " is " + line.at(list).dump() +
                   " in the log, " + now.at(list).dump() + " when decided again";
    return {};
}

// The current line of a log.
struct log_line {
    std::string const& file;
    std::uint64_t number = 1;

    // Adds the line to its errors, which end the program; other errors pass unchanged.
    template <class Read>
    auto read(Read&& what) const -> decltype(what()) {
        try {
            return what();
        } catch (failure const& e) {
            refuse(e.what());
        } catch (std::bad_alloc const&) {
            throw;
        } catch (std::exception const& e) {
            refuse("not a log: " + std::string(e.what()));
        }
    }
    [[noreturn]] void refuse(std::string const& why) const {
        throw failure(exit_status::bad_input, file + ":" + std::to_string(number) + ": " + printable(why));
    }
};

} // namespace

replay_result replay_log(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw failure(exit_status::bad_input, file + ": " + std::strerror(errno));
    return replay_log(in, file);
}

replay_result replay_log(std::istream& in, std::string const& name) {
    log_line at{name};
    std::string line;
    if (!std::getline(in, line)) at.refuse("not a log: the file is empty");
    log_header const header = at.read([&] { return header_from(parsed(line)); });
    std::unique_ptr<keeper> const k = make_keeper(header.fleet, header.options, 0, 1, 0);
    evidence by_attempts(header.fleet, header.options, 0, 1000);
    replay_result result;
    while (std::getline(in, line)) {
        ++at.number;
        std::string difference; // in words; of the first only
        bool differs = false;
        if (header.options.decides_by_slowdown()) {
            difference = at.read([&] { return decided_again(parsed(line), header, by_attempts); });
            differs = !difference.empty();
        } else {
            logged_decision const record =
                at.read([&] { return record_from(parsed(line), header.names, header.options.edge); });
            auto const found = k->replay(record);
            if (!found)
                at.refuse("not a log: no window can look like this, or it is not after the one before");
            differs = found->has_value();
            if (differs && result.different == 0) {
                auto const nodes = straggle::rank::ranking_from<std::uint32_t, std::uint32_t>(
                    record.nodes, record.unranked, record.edges);
                difference = difference_in_words(**found, record, k->record(*nodes), header.fleet.names);
            }
        }
        ++result.decisions;
        if (differs && result.different++ == 0) result.first = printable(difference);
    }
    if (in.bad()) at.refuse("not a log: cannot be read");
    return result;
}

} // namespace straggle_rank
