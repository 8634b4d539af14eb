// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "decision_log.hpp"

#include "../common/text.hpp"
#include "json.hpp"
#include "output.hpp"
#include "record_json.hpp"

namespace straggle_rank {

using namespace program;

namespace {

using nlohmann::ordered_json;

ordered_json fleet_json(fleet const& f, std::span<std::string const> names) {
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
        ordered_json entry{{"node", names[i]}, {"slots", f.slots[i]}};
        if (!f.domains.empty()) entry["domain"] = valid_utf8(f.domains[i]);
        list.push_back(std::move(entry));
    }
    return list;
}

} // namespace

log_writer::log_writer(history const& h, options const& o, fleet const& f, window_calendar const& calendar)
    : file_(o.log),
      names_(distinct_names(f.names)),
      calendar_(calendar),
      by_attempts_(o.decides_by_slowdown()) {
    file_.stream() << ordered_json{{"straggle_log", decision_log_version},
                                   {"straggle", version()},
                                   {"file", valid_utf8(h.file)},
                                   {"time_unit", to_string(calendar.unit())},
                                   {"options", to_json(o)},
                                   {"fleet", fleet_json(f, names_)}}
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
        for (past_attempt const& a : w.ended) {
            ended.push_back({a.node, a.job, a.task ? ordered_json(*a.task) : ordered_json(nullptr), a.start,
                             a.end, static_cast<int>(a.status)});
            if (a.input > 0) ended.back().push_back(a.input);
        }
        ordered_json& running = line["running"] = ordered_json::array();
        for (running_attempt const& a : w.running) {
            running.push_back({a.node, a.job, a.start});
            if (a.input > 0) running.back().push_back(a.input);
        }
    }
    file_.stream() << line.dump() << '\n';
}

void log_writer::close() {
    file_.finish();
}

} // namespace straggle_rank
