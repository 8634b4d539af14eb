// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Records as they come: of any type, with missing and wrong values.

#include <straggle/straggle.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

//! [record]
// As a resource manager writes them down.
enum class end_state : std::uint8_t { done, failed, preempted };
struct log_row {
    std::uint64_t application = 0;
    std::uint32_t stage = 0, task = 0;
    std::string host;
    std::chrono::sys_time<std::chrono::milliseconds> submitted, started;
    std::optional<std::chrono::sys_time<std::chrono::milliseconds>> finished; // empty: unknown
    end_state state = end_state::done;
};
//! [record]

//! [traits]
constexpr straggle::attempt_status how_it_ended(log_row const& row) {
    switch (row.state) {
    case end_state::done:
        return straggle::attempt_status::success;
    case end_state::failed:
        return straggle::attempt_status::failed;
    default:
        return straggle::attempt_status::killed;
    }
}

template <>
struct straggle::task_traits<log_row> {
    static constexpr attempt_fields fields{
        // Siblings are the tasks of a stage, not those of the application: they do the same work.
        .job = [](log_row const& r) { return r.application << 16 | r.stage; },
        .task = &log_row::task,
        .node = &log_row::host,
        .start = &log_row::started,
        .end = &log_row::finished,
        .status = how_it_ended};
};
//! [traits]

//! [dense]
// Small integers as identifiers: nothing is hashed.
struct sample {
    std::uint32_t job, node;
    double seconds;
};
constexpr straggle::attempt_fields of_sample{
    .job = &sample::job, .node = &sample::node, .duration = &sample::seconds};
//! [dense]

std::vector<log_row> a_log() {
    using namespace std::chrono_literals;
    std::vector<log_row> rows;
    std::chrono::sys_time<std::chrono::milliseconds> const noon{12h};
    for (std::uint32_t i = 0; i < 90; ++i) {
        std::chrono::milliseconds const took(4000 + i * 389 % 700 + (i % 3 == 2 ? 2500 : 0));
        rows.push_back({.application = 7,
                        .stage = i / 30,
                        .task = i % 30,
                        .host = std::string("h").append(std::to_string(i % 3)),
                        .submitted = noon,
                        .started = noon + 1s,
                        .finished = noon + 1s + took});
    }
    rows[4].state = end_state::failed;
    rows[5].state = end_state::preempted;
    rows[6].finished.reset();
    rows[7].finished = noon; // the clock was set back
    rows.push_back(rows[8]); // two successes of one task: the first counts
    return rows;
}

int main() {
    //! [rank]
    auto const rows = a_log();
    auto const ranking = straggle::rank_nodes(rows); // the fields are those of task_traits
    auto const& counts = ranking.attempts();
    std::cout << counts.seen << " rows: " << counts.used << " used, " << counts.failed << " failed, "
              << counts.killed << " killed, " << counts.superseded << " superseded\n";
    for (std::size_t i = 0; i < straggle::record::rejection_count; ++i)
        if (auto const reason = static_cast<straggle::rejection>(i); counts[reason] > 0)
            std::cout << "  " << counts[reason] << " rejected: " << to_string(reason) << '\n';
    for (auto const& node : ranking.level(0)) std::cout << "weakest: " << node.id << '\n';
    //! [rank]

    //! [bad]
    double const nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<sample> const samples{{0, 0, 1.0}, {0, 1, 1.5}, {0, 0, nan}, {0, 1, -2.0}, {1, 1, 3.0}};
    auto const few = straggle::rank_nodes(samples, of_sample);
    std::cout << few.attempts().used << " of " << few.attempts().seen << " samples used, "
              << few.attempts()[straggle::rejection::not_finite] << " not finite, "
              << few.attempts()[straggle::rejection::negative_duration] << " negative\n";
    for (auto const& job : few.degenerate_jobs())
        std::cout << "job " << job.id << " says nothing: " << to_string(job.reason) << '\n';
    std::cout << few.nodes().size() << " nodes ranked, " << few.unranked().size() << " without evidence\n";
    //! [bad]

    //! [outcome]
    straggle::outcome<double> const t = straggle::stats::student_t_quantile(0.975, 0.0); // there is no such t
    if (t)
        std::cout << *t << '\n';
    else
        std::cout << "no value: " << to_string(t.reason()) << '\n';
    //! [outcome]
}
