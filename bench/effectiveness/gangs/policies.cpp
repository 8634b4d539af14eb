// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// When a node of a gang is replaced: never, by the library, or by an oracle.
#include "gang.hpp"

#include <straggle/gang/step_watch.hpp>

#include <optional>
#include <stdexcept>

namespace lab {

namespace {

gang_result run_library(gang_plan const& plan) {
    gang_job job(plan);
    gang_result out;
    auto watch = straggle::gang::step_watch_of<step_report>(
        straggle::gang::step_fields{.step = &step_report::step,
                                    .rank = &step_report::rank,
                                    .node = &step_report::node,
                                    .section = &step_report::section,
                                    .duration = &step_report::duration,
                                    .waited = &step_report::waited});
    std::vector<step_report> reports;
    while (!job.over()) {
        reports.clear();
        job.step(&reports);
        for (step_report const& r : reports) watch.observe(r);
        watch.close(reports.front().step);
        for (auto const& slow : watch.stragglers()) {
            out.named = true;
            auto const change =
                watch.replace(slow.rank, {.restart = plan.what.restart,
                                          .since_checkpoint = job.since_checkpoint(),
                                          .steps_left = static_cast<double>(job.steps_left())});
            if (!change.is_worth || !job.replace(slow.rank)) continue;
            watch.restart();
            break;
        }
    }
    out.time = job.now();
    out.replaced = job.replaced();
    return out;
}

double end_of(gang_job job) {
    while (!job.over()) job.step(nullptr);
    return job.now();
}
// The same with a different node for a rank, from now on or from the next checkpoint on.
double end_without(gang_job job, std::uint32_t rank, bool at_checkpoint) {
    while (at_checkpoint && !job.over() && !job.is_saved()) job.step(nullptr);
    if (!job.over()) job.replace(rank);
    return end_of(job);
}

// Knows which node is slow from its first second on, and the future: replaces it if the job then ends earlier
// than if it did so after the next checkpoint, or never.
gang_result run_oracle(gang_plan const& plan) {
    gang_job job(plan);
    std::vector<double> before(plan.what.ranks, 1);
    while (!job.over()) {
        std::optional<std::uint32_t> worst;
        double best = -1;
        for (std::uint32_t r = 0; r < plan.what.ranks; ++r) {
            double const slow = job.slowdown_of(r);
            bool const is_due = slow > 1 && (job.is_saved() || slow > before[r]);
            before[r] = slow;
            if (!is_due) continue;
            if (best < 0) best = end_of(job);
            double const now = end_without(job, r, false);
            if (!(now < best) || (!job.is_saved() && end_without(job, r, true) < now)) continue;
            best = now;
            worst = r;
        }
        if (worst && job.replace(*worst)) before[*worst] = 1;
        job.step(nullptr);
    }
    return {job.now(), job.replaced(), false};
}

} // namespace

gang_result run_gang(gang_plan const& plan, std::string_view policy) {
    if (policy == "library") return run_library(plan);
    if (policy == "oracle") return run_oracle(plan);
    if (policy != "nothing") throw std::runtime_error("no policy of gangs is called " + std::string(policy));
    return {end_of(gang_job(plan)), 0, false};
}

} // namespace lab
