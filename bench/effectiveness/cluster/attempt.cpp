// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "attempt.hpp"

#include "speed.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

enum purpose : std::uint64_t { of_luck = 11, of_failure = 12, of_reports = 13, of_data = 14 };

draw draw_for(plan const& what, purpose p, attempt_record const& who) {
    return {what.seed, p, who.job, who.task, who.number};
}

// The progress that a task reports when a share of its work is done.
double shown_of(plan const& what, attempt const& a, double share, draw& noise) {
    switch (what.progress) {
    case progress_mode::noisy:
        return share * a.bias * std::exp(0.03 * noise.normal());
    case progress_mode::jumping:
        return std::min(share / 0.6, 1.0) * 0.9;
    case progress_mode::phased: {
        double shown = 0;
        for (double const phase : what.jobs[a.record.job].phases) {
            shown += std::clamp(share / phase, 0.0, 1.0) / 3;
            share -= phase;
        }
        return shown;
    }
    case progress_mode::exact:
    case progress_mode::absent:
        break;
    }
    return share;
}

} // namespace

attempt start_attempt(plan const& what, attempt_record const& who) {
    attempt a;
    a.record = who;
    draw luck = draw_for(what, of_luck, who), fate = draw_for(what, of_failure, who),
         reports = draw_for(what, of_reports, who);
    job_spec const& job = what.jobs[who.job];
    a.work = job.tasks[who.task].work * what.lucks[job.luck](luck);
    if (what.locality > 1 && // the same for all attempts of the task there
        draw(what.seed, of_data, who.job, who.task, who.node).uniform() < 0.3)
        a.work *= what.locality;
    node_spec const& node = what.nodes[who.node];
    double const begins = begin_of(what, who), chance = fate.uniform();
    bool const fails = chance < what.failures + what.preempted;
    double const share = fate.uniform();
    a.record.how = !fails ? ending::finished : chance < what.failures ? ending::failed : ending::killed;
    a.record.end = time_of(node, begins, fails ? a.work * share : a.work);
    for (time_span const& hole : node.holes) {
        double const fatal = std::max(who.start, hole.from) + what.hole_time;
        if (hole.to <= who.start || hole.from >= a.record.end || fatal >= a.record.end) continue;
        a.record.end = fatal;
        a.record.how = ending::failed;
    }
    for (time_span const& gone : node.away) {
        if (gone.from < who.start || gone.from >= a.record.end) continue;
        a.record.end = gone.from;
        a.record.how = ending::lost;
    }
    a.done_at = begins;
    a.bias = std::exp(0.1 * reports.normal());
    a.first_report = a.next_report = who.start + what.report_interval * (1 - reports.uniform());
    a.shown_at = who.start;
    return a;
}

double done_by(plan const& what, attempt& a, double time) {
    if (time > a.done_at) {
        a.done += work_between(what.nodes[a.record.node], a.done_at, time) / a.crowd;
        a.done_at = time;
    }
    return a.done;
}

void crowd(plan const& what, attempt& a, double time, double factor) {
    double const left = std::max(0.0, a.work - done_by(what, a, time));
    a.crowd = factor;
    a.record.end = time_of(what.nodes[a.record.node], std::max(a.done_at, time), left * factor);
}

void report(plan const& what, attempt& a, double now) {
    if (what.progress == progress_mode::absent || now < a.next_report) return;
    double const reports = std::floor((now - a.first_report) / what.report_interval);
    a.shown_at = a.first_report + reports * what.report_interval;
    a.next_report = a.shown_at + what.report_interval;
    draw noise(what.seed, of_reports, a.record.job, (std::uint64_t{a.record.task} << 32) + a.record.number,
               static_cast<std::uint64_t>(reports));
    double const shown = shown_of(what, a, std::min(done_by(what, a, a.shown_at) / a.work, 1.0), noise);
    a.shown = std::clamp(shown, a.shown.value_or(0), std::max(a.shown.value_or(0), 0.999));
}

} // namespace lab
