// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "job_days.hpp"

#include "../common/failure.hpp"

#include <cmath>

namespace straggle_rank {

using namespace program;

namespace {

// Milliseconds in one unit of the file's records.
double milliseconds_in_unit(history const& h, options const& o) {
    std::string const& column = h.end_column.empty() ? h.start_column : h.end_column;
    if (column.empty())
        throw failure(exit_status::bad_input,
                      h.file + " does not say when attempts started or ended (see --columns end=NAME)");
    double const unit = 1000 / static_cast<double>(per_second(unit_of_times(o.unit, h.file, column)));
    return h.attempts.index() == 0 ? unit / std::pow(10.0, h.places) : unit;
}

} // namespace

job_days::job_days(history const& h, options const& o) : days_(h.jobs.size()) {
    double const scale = milliseconds_in_unit(h, o) / static_cast<double>(o.future.day_ms);
    // A million years: more days indicate a broken clock, not a history.
    constexpr double far_out = 4e8;
    auto const note = [&](std::uint32_t job, auto const& time) {
        if (!time) return;
        double const day = std::floor(static_cast<double>(*time) * scale);
        if (!(std::fabs(day) < far_out)) return;
        auto const number = static_cast<std::int64_t>(day);
        if (!days_[job] || number < *days_[job]) days_[job] = number;
    };
    std::visit(
        [&](auto const& attempts) {
            for (auto const& a : attempts) {
                auto const job = a.job();
                if (!job) continue;
                note(*job, a.start());
                note(*job, a.end());
            }
        },
        h.attempts);
    bool any = false;
    for (auto const& day : days_) {
        if (!day) continue;
        first_ = any && first_ < *day ? first_ : *day;
        last_ = any && last_ > *day ? last_ : *day;
        any = true;
    }
    if (!any)
        throw failure(exit_status::bad_input,
                      h.file + ": no attempt with a known start or end: there are no days to learn from");
}

} // namespace straggle_rank
