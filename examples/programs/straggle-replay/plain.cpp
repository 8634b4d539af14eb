// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/csv.hpp"
#include "../common/text.hpp"
#include "output.hpp"

#include <algorithm>
#include <ostream>

namespace straggle_replay {

using namespace program;

namespace {

template <class Fault, class Counts>
std::vector<rejected_records> rejected(left_out_rows const& rows, Counts const& counts, std::size_t reasons) {
    std::vector<rejected_records> list;
    if (rows.unparsable.count > 0)
        list.push_back({"unparsable_number", rows.unparsable.count, rows.unparsable.lines});
    if (rows.out_of_range.count > 0)
        list.push_back({"out_of_range", rows.out_of_range.count, rows.out_of_range.lines});
    for (std::size_t i = 0; i < reasons; ++i) {
        auto const reason = static_cast<Fault>(i);
        if (counts[reason] == 0) continue;
        auto const known = std::ranges::find(list, to_string(reason), &rejected_records::reason);
        if (known != list.end())
            known->count += counts[reason];
        else
            list.push_back({to_string(reason), counts[reason]});
    }
    return list;
}

std::string or_nothing(straggle::outcome<double> const& x) {
    return x ? exact(*x) : std::string();
}

} // namespace

std::string in_words(rejected_records const& some) {
    return grouped(some.count) + " rejected: " + std::string(some.reason) + in_lines(some.lines, some.count);
}

std::vector<rejected_records> rejected_attempts(history const& h) {
    return rejected<replaying::recording_fault>(h.no_attempts, h.tape->attempts(),
                                                replaying::recording_fault_count);
}
std::vector<rejected_records> rejected_reports(history const& h) {
    return rejected<replaying::reading_fault>(h.no_reports, h.tape->readings(),
                                              replaying::reading_fault_count);
}

std::uint64_t undecided(result const& r) {
    return r.detectors.empty() ? 0 : r.detectors.front().metrics.counts().undecided; // the same for all
}

std::string usual_text(options const& o) {
    if (o.usual_seconds > 0) return short_number(o.usual_seconds) + " s";
    if (o.quantile == 0.5) return "the median of its job";
    return "the quantile " + short_number(o.quantile) + " of its job";
}
std::string looks_text(options const& o) {
    return o.interval_ms > 0 ? "every " + length_text(o.interval_ms) : "whenever something happened";
}

void print_csv(std::ostream& out, result const& r) {
    out << "detector,tasks,undecided,stragglers,detected,caught,fakes,precision,precision_in_time,recall,"
           "recall_in_time,f1,f1_in_time,latency,undetected_time,fake_ratio\n";
    for (scored const& s : r.detectors) {
        auto const& m = s.metrics;
        auto const& c = m.counts();
        out << csv::quoted(s.detector) << ',' << c.judged() << ',' << c.undecided << ',' << c.stragglers()
            << ',' << c.detected() << ',' << c.caught() << ',' << c.fakes;
        for (auto const& x :
             {m.precision(), m.precision_in_time(), m.recall(), m.recall_in_time(), m.f1(), m.f1_in_time(),
              m.detection_latency(), m.undetected_time(), m.fake_positive_ratio()})
            out << ',' << or_nothing(x);
        out << '\n';
    }
}

} // namespace straggle_replay
