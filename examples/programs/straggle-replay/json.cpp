// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/text.hpp"
#include "output.hpp"

#include <straggle/version.hpp>

namespace straggle_replay {

using namespace program;

namespace {

using nlohmann::ordered_json;

ordered_json or_null(straggle::outcome<double> const& x) {
    return x ? ordered_json(*x) : ordered_json(nullptr);
}

ordered_json options_json(options const& o) {
    return {{"usual", o.usual_seconds > 0 ? ordered_json{{"seconds", o.usual_seconds}}
                                          : ordered_json{{"quantile", o.quantile}}},
            {"usual_text", usual_text(o)},
            {"threshold", o.threshold},
            {"min_tasks", o.min_tasks},
            {"interval_ms", o.interval_ms > 0 ? ordered_json(o.interval_ms) : ordered_json(nullptr)},
            {"looks_text", looks_text(o)},
            {"inputs", o.with_input}};
}

ordered_json records_json(std::uint64_t unreadable, std::uint64_t seen, std::uint64_t used,
                          std::vector<rejected_records> const& rejected) {
    ordered_json reasons = ordered_json::object();
    for (rejected_records const& r : rejected) {
        ordered_json entry{{"count", r.count}};
        if (!r.lines.empty()) entry["first_lines"] = r.lines;
        reasons[std::string(r.reason)] = std::move(entry);
    }
    return {{"seen", seen + unreadable},
            {"used", used},
            {"rejected", seen + unreadable - used},
            {"rejected_by_reason", std::move(reasons)}};
}

ordered_json detector_json(scored const& s) {
    auto const& m = s.metrics;
    auto const& c = m.counts();
    return {{"detector", valid_utf8(s.detector)},
            {"tasks", c.judged()},
            {"undecided", c.undecided},
            {"stragglers", c.stragglers()},
            {"detected", c.detected()},
            {"caught", c.caught()},
            {"fakes", c.fakes},
            {"precision", or_null(m.precision())},
            {"precision_in_time", or_null(m.precision_in_time())},
            {"recall", or_null(m.recall())},
            {"recall_in_time", or_null(m.recall_in_time())},
            {"f1", or_null(m.f1())},
            {"f1_in_time", or_null(m.f1_in_time())},
            {"latency", or_null(m.detection_latency())},
            {"undetected_time", or_null(m.undetected_time())},
            {"fake_ratio", or_null(m.fake_positive_ratio())}};
}

} // namespace

ordered_json to_json(result const& r) {
    history const& h = r.history;
    recording const& tape = *h.tape;
    ordered_json detectors = ordered_json::array();
    for (scored const& s : r.detectors) detectors.push_back(detector_json(s));
    return {{"straggle", std::to_string(STRAGGLE_VERSION_MAJOR) + "." +
                             std::to_string(STRAGGLE_VERSION_MINOR) + "." +
                             std::to_string(STRAGGLE_VERSION_PATCH)},
            {"history", valid_utf8(h.file)},
            {"progress",
             h.progress_file.empty() ? ordered_json(nullptr) : ordered_json(valid_utf8(h.progress_file))},
            {"options", options_json(r.options)},
            {"jobs", tape.jobs()},
            {"nodes", tape.nodes()},
            {"looks", r.counts.looks},
            {"tasks",
             {{"seen", r.counts.tasks},
              {"judged", r.counts.judged},
              {"never_finished", r.counts.never_finished},
              {"original_failed", r.counts.original_failed},
              {"usual_unknown", r.counts.usual_unknown},
              {"undecided", undecided(r)}}},
            {"detectors", std::move(detectors)},
            {"attempts", records_json(h.no_attempts.count(), tape.attempts().seen, tape.attempts().used,
                                      rejected_attempts(h))},
            {"reports", records_json(h.no_reports.count(), tape.readings().seen, tape.readings().used,
                                     rejected_reports(h))}};
}

} // namespace straggle_replay
