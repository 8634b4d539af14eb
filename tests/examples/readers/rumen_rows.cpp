// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The Rumen trace beside the project, row by row against the same jobs in a CSV that others made of it.

#include "support.hpp"

#include <support/shared_data.hpp>

#include <fstream>
#include <set>

using namespace readers_test;

TEST_CASE("readers: the Rumen trace gives the rows of its jobs") {
    auto const trace = straggle_test::shared_file("data/raw/hadoop-rumen-trace-1m.json.gz");
    auto const table = straggle_test::shared_file("data/hadoop-gridmix-a.csv");
    if (!trace || !table) return;
    auto const known = [](std::int64_t n) { return n < 0 ? std::string() : std::to_string(n); };
    std::set<std::string> jobs, from_trace, from_table;
    for (row const& a : read_files({trace->string()}).rows) {
        jobs.insert(a.job);
        from_trace.insert(a.job + ',' + a.task + ',' + std::to_string(a.number) + ',' + a.node + ',' +
                          known(a.start_ms) + ',' + known(a.end_ms) + ',' +
                          (a.end_state == readers::ending::success ? "success" : "other") + ",," +
                          known(a.input));
    }
    std::ifstream in(*table);
    for (std::string line; std::getline(in, line);) {
        if (line.ends_with('\r')) line.pop_back();
        if (jobs.contains(line.substr(0, line.find(',')))) from_table.insert(line);
    }
    CHECK(from_table.size() == 57);
    CHECK(from_trace == from_table);
}
