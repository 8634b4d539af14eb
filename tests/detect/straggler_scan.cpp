// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/assigner.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/straggler_scan.hpp>

#include "jobs.hpp"

#include <chrono>
#include <string>

using namespace straggle;
using namespace straggle_test;
using namespace std::chrono_literals;

namespace {

//! [task]
struct task {
    std::string host;
    double done;
    std::chrono::seconds started;
};
constexpr running_fields fields{.node = &task::host, .start = &task::started, .progress = &task::done};
//! [task]

} // namespace

TEST_CASE("straggler_scan: from the user's tasks to names") {
    std::vector<task> const tasks{{"a", 0.8, 0s},  {"b", 0.9, 0s},  {"c", 0.2, 0s},
                                  {"a", 0.7, 10s}, {"c", 0.1, 20s}, {"b", 0.5, 40s}};
    std::string found;
    std::uint32_t rows = 0;
    //! [scan]
    straggle::detect::job_progress<std::string, std::chrono::seconds> job(20);
    straggle::detect::straggler_scan scan{straggle::detect::hierarchical{straggle::detect::late{}}};

    job.running(tasks, fields, 100s);
    for (auto const& [row, left, why] : scan(job.view(), tasks)) found += row->host + " ";
    //! [scan]
    CHECK(found == "c c ");
    CHECK(scan.note() == detect::detection_note::none);
    CHECK(scan.findings().size() == 2);
    CHECK(scan.findings()[0].task == 4);
    CHECK(scan.name() == "hierarchical(late)");
    CHECK(allocations_during([&] {
              job.running(tasks, fields, 101s);
              rows = 0;
              for (auto const& s : scan(job.view())) rows += s.row;
          }) == 0);
    CHECK(rows == 4 + 2);
}

TEST_CASE("straggler_scan: an assigner takes suspects as they are") {
    struct host {
        std::string name;
        int free;
    };
    auto const seconds_there = [](task const&, host const&) { return 120.0; };
    std::vector<task> const tasks{{"a", 0.8, 0s}, {"b", 0.9, 0s}, {"c", 0.2, 0s}, {"a", 0.7, 10s}};
    std::vector<host> const hosts{{"b", 1}, {"c", 4}};
    straggle::detect::job_progress<std::string, std::chrono::seconds> job(20);
    straggle::detect::straggler_scan scan{straggle::detect::late{}};
    straggle::assign::assigner assigner;
    job.running(tasks, fields, 100s);
    //! [assign]
    straggle::assign::backup_node_fields const of_host{.node = &host::name, .free = &host::free};
    auto const suspects = scan(job.view(), tasks);
    auto const& plan =
        assigner.choose(suspects, fields, hosts, of_host,
                        [&](auto const& suspect, host const& h) { return seconds_there(*suspect.row, h); });
    //! [assign]
    REQUIRE(suspects.size() == 1);
    REQUIRE(plan.choices.size() == 1);
    assign::backup_choice const& choice = plan.choices[0];
    CHECK(suspects[choice.straggler].row->host == "c");
    REQUIRE(choice.copy);
    CHECK(hosts[choice.copy->node].name == "b");
    CHECK(choice.copy->value.win_probability == 1); // 400 s are left, a copy takes 120 s
    CHECK(choice.nodes[assign::backup_refusal::same_node] == 1);
}

TEST_CASE("straggler_scan: each answer replaces the one before") {
    detect::straggler_scan scan{detect::over_median{}};
    job_data job = running({{0.1, 20}, {0.1, 30}});
    job.finished.assign(6, 10.0);
    CHECK(scan(job.view()).size() == 2);
    CHECK(scan(job.view()).size() == 2);
    CHECK(scan.findings()[0].task == 1);
    scan.detector().multiplier = 2.5;
    CHECK(scan(job.view()).size() == 1);
    CHECK(std::as_const(scan).detector().multiplier == 2.5);
    job.finished.clear();
    CHECK(scan(job.view()).empty());
    CHECK(scan.note() == detect::detection_note::too_few_finished);
    detect::straggler_scan<detect::late> usual;
    CHECK(usual(job.view()).empty());
    CHECK(usual.note() == detect::detection_note::none);
}
